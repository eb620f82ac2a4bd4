"""A roofline as one HTML file: a picture in SVG and a table, no script, nothing from the network."""

from __future__ import annotations

from html import escape
from math import ceil, floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lamina.roofline.table import Dot, Roofline

WIDTH, HEIGHT = 1000, 560
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 20, 50

STYLE = """
:root { color-scheme: light dark; --back: #ffffff; --ink: #1b1f24; --faint: #8a929c; --grid: #e4e7eb; --dot: #1f6feb;
  --slow: #d1242f; --roof: #57606a; }
@media (prefers-color-scheme: dark) { :root { --back: #0d1117; --ink: #e6edf3; --faint: #8b949e; --grid: #21262d;
  --dot: #58a6ff; --slow: #ff7b72; --roof: #b1bac4; } }
body { background: var(--back); color: var(--ink); font: 14px/1.45 system-ui, sans-serif; margin: 2em auto;
  max-width: 1040px; padding: 0 1em; }
svg { width: 100%; height: auto; }
svg text { fill: var(--ink); font-size: 12px; }
.grid { stroke: var(--grid); } .roof { stroke: var(--roof); stroke-width: 1.5; fill: none; }
.near { stroke-dasharray: 5 4; } svg .faint { fill: var(--faint); }
.dot { fill: var(--dot); fill-opacity: .55; stroke: var(--dot); } .slow { fill: var(--slow); stroke: var(--slow); }
.dot:hover { fill-opacity: 1; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
td, th { text-align: right; padding: 2px 8px; border-bottom: 1px solid var(--grid); }
td:last-child, th:last-child { text-align: left; word-break: break-word; } p { color: var(--faint); }
"""


class _Axes:
    """Logarithmic axes: operations for each byte, operations a second."""

    def __init__(self, roofline: Roofline) -> None:
        roofs = roofline.roofs
        drawn = [d for d in roofline.dots if d.time.rate and d.intensity]
        slowest = min(level.bandwidth for level in roofs.levels)
        rates = [d.time.rate or 1.0 for d in drawn]
        right = max([d.intensity or 1.0 for d in drawn] + [4 * roofs.operations / slowest])
        self.x0 = floor(min([log10(d.intensity or 1.0) for d in drawn] + [-1.0]))
        self.x1 = ceil(log10(right))
        self.y1 = log10(roofs.operations) + 0.3
        self.y0 = floor(min([log10(r) for r in rates] + [log10(roofs.operations) - 2.0]))

    def x(self, intensity: float) -> float:
        part = (log10(intensity) - self.x0) / (self.x1 - self.x0)
        return LEFT + min(max(part, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    def y(self, rate: float) -> float:
        part = (log10(rate) - self.y0) / (self.y1 - self.y0)
        return HEIGHT - BOTTOM - min(max(part, 0.0), 1.0) * (HEIGHT - TOP - BOTTOM)


def page(roofline: Roofline) -> str:
    """The whole file."""
    name = escape(roofline.name)
    cpu = f" on {escape(roofline.cpu)}" if roofline.cpu else ""
    undrawn = sum(1 for d in roofline.dots if not (d.time.rate and d.intensity))
    note = f" {undrawn} kernels without arithmetic are in the table alone." if undrawn else ""
    known = sum(d.time.seconds for d in roofline.dots if d.least is not None)
    part = f", {roofline.least / known:.0%} of it at the roofs" if known else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Roofline of {name}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{name}</h1>
<p>{escape(roofline.limits())}{cpu}. {roofline.seconds * 1e3:.3f} ms in {len(roofline.dots)} kernels{part}.</p>
{_picture(roofline)}
<p>A dot is a kernel, its area the time that it takes; red ones are below half of their roof. Point at one for its
name.{note}</p>
{_table(roofline)}
</body>
</html>
"""


def _picture(roofline: Roofline) -> str:
    axes, roofs = _Axes(roofline), roofline.roofs
    lines = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Roofline">']
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for power in range(axes.x0, axes.x1 + 1):
        x = axes.x(10.0**power)
        lines.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>')
        lines.append(f'<text class="faint" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{10.0**power:g}</text>')
    for power in range(axes.y0, floor(axes.y1) + 1):
        y = axes.y(10.0**power)
        lines.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
        label = f"{10.0 ** (power - 9):g}"
        lines.append(f'<text class="faint" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    middle = (LEFT + right) / 2
    lines.append(f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">operations for each byte</text>')
    turned = f'transform="rotate(-90 16 {HEIGHT / 2})"'
    lines.append(f'<text x="16" y="{HEIGHT / 2}" text-anchor="middle" {turned}>Gop/s</text>')
    peak = axes.y(roofs.operations)
    lines.append(f'<line class="roof" x1="{LEFT}" y1="{peak:.1f}" x2="{right}" y2="{peak:.1f}"/>')
    top = f"{roofs.operations / 1e9:.1f} Gop/s"
    lines.append(f'<text x="{right - 4}" y="{peak - 6:.1f}" text-anchor="end">{top}</text>')
    for number, level in enumerate(roofs.levels):
        ridge = roofs.operations / level.bandwidth
        # From where the line enters the picture.
        start = max(10.0**axes.x0, 10.0**axes.y0 / level.bandwidth)
        x, y = axes.x(start), axes.y(start * level.bandwidth)
        kind = "roof" if level is roofs.levels[-1] else "roof near"
        lines.append(f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{axes.x(ridge):.1f}" y2="{peak:.1f}"/>')
        at = start * 10 ** (0.12 + 0.06 * number)
        text = f"{level.name} {level.bandwidth / 1e9:.0f} GB/s"
        lines.append(f'<text x="{axes.x(at) + 4:.1f}" y="{axes.y(at * level.bandwidth) - 5:.1f}">{text}</text>')
    # The small ones last: they would vanish behind others.
    for dot in sorted(roofline.dots, key=lambda d: -d.time.seconds):
        if dot.time.rate and dot.intensity:
            lines.append(_circle(dot, axes, dot.time.seconds / (roofline.seconds or 1.0)))
    return "\n".join([*lines, "</svg>"])


def _circle(dot: Dot, axes: _Axes, share: float) -> str:
    radius = 3 + 40 * share**0.5
    slow = " slow" if dot.fraction is not None and dot.fraction < 0.5 else ""
    title = escape(f"{dot.time.nodes}\n{_said(dot)}\n{dot.time.kernel.symbol}\n{dot.time.kernel.shapes}")
    x, y = axes.x(dot.intensity or 1.0), axes.y(dot.time.rate or 1.0)
    return f'<circle class="dot{slow}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"><title>{title}</title></circle>'


def _said(dot: Dot) -> str:
    rate = f", {dot.time.rate / 1e9:.1f} Gop/s" if dot.time.rate else ""
    limit = f", {dot.fraction:.0%} of its roof ({dot.limit})" if dot.fraction is not None else ""
    return f"{dot.time.seconds * 1e6:,.1f} us{rate}{limit}"


def _table(roofline: Roofline) -> str:
    head = ("us", "lost us", "of roof", "Gop/s", "op/byte", "limit", "nodes")
    rows = ["<table>", f"<tr>{''.join(f'<th>{h}</th>' for h in head)}</tr>"]
    for dot in roofline.dots:
        known = dot.least is not None
        cells = [
            f"{dot.time.seconds * 1e6:,.1f}",
            f"{dot.lost * 1e6:,.1f}" if known else "",
            f"{dot.fraction:.0%}" if dot.fraction is not None else "",
            f"{dot.time.rate / 1e9:.1f}" if dot.time.rate else "",
            f"{dot.intensity:.1f}" if dot.intensity is not None else "",
            dot.limit,
            dot.time.nodes,
        ]
        title = escape(f"{dot.time.kernel.symbol}\n{dot.time.kernel.shapes}", quote=True)
        rows.append(f'<tr title="{title}">{"".join(f"<td>{escape(c)}</td>" for c in cells)}</tr>')
    return "\n".join([*rows, "</table>"])
