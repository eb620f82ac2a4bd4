"""Each kernel of a program against the machine's limits: what part of its roof it reaches, and the time that it loses.

roofline = Roofline.of(exe.record(inputs), measured(exe.target), "net.onnx")
print(roofline.table())          the kernels that lose most first
roofline.save("net.html")        the same as a picture

The roof of a kernel is the least time in which this machine could do its operations and move its bytes
(`kernel_costs.py` says what counts, `roofs.py` how the limits are measured).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.errors import InputError
from lamina.measure.timing import columns

if TYPE_CHECKING:
    from lamina.measure.kernel_profile import KernelTime, Recording
    from lamina.roofline.roofs import Roofs


@dataclass(frozen=True)
class Dot:
    """A kernel and its roof."""

    time: KernelTime
    least: float | None
    """Seconds; None where nobody knows what the kernel has to do."""
    limit: str
    """`compute`, or the level of memory that takes most of the time."""

    @property
    def fraction(self) -> float | None:
        """Of the roof; above 1 where the data came from nearer than assumed."""
        return None if self.least is None or not self.time.seconds else self.least / self.time.seconds

    @property
    def lost(self) -> float:
        """Seconds above the roof."""
        return 0.0 if self.least is None else max(self.time.seconds - self.least, 0.0)

    @property
    def bytes(self) -> int:
        return self.time.kernel.weights + self.time.kernel.data

    @property
    def intensity(self) -> float | None:
        """Operations for each byte."""
        operations = self.time.kernel.operations
        return None if operations is None or not self.bytes else operations / self.bytes

    def plain(self) -> dict[str, Any]:
        kernel = self.time.kernel
        return {
            "nodes": kernel.nodes, "kernel": kernel.symbol, "shapes": kernel.shapes, "seconds": self.time.seconds,
            "operations": kernel.operations, "weights_bytes": kernel.weights, "data_bytes": kernel.data,
            "least_seconds": self.least, "limit": self.limit, "fraction": self.fraction,
        }  # fmt: skip


@dataclass(frozen=True)
class Roofline:
    """The kernels of a program, those that lose most time first."""

    name: str
    cpu: str
    roofs: Roofs
    dots: tuple[Dot, ...]

    @staticmethod
    def of(recording: Recording, roofs: Roofs, name: str, cpu: str = "") -> Roofline:
        all_weights = sum(k.weights for k in recording.kernels)
        dots: list[Dot] = []
        for time in recording.profile():
            kernel = time.kernel
            if kernel.operations is None:
                dots.append(Dot(time, None, ""))
                continue
            dots.append(Dot(time, *roofs.seconds(kernel.operations, kernel.weights, kernel.data, all_weights)))
        return Roofline(name, cpu, roofs, tuple(sorted(dots, key=lambda d: (-d.lost, -d.time.seconds))))

    @property
    def seconds(self) -> float:
        return sum(d.time.seconds for d in self.dots)

    @property
    def least(self) -> float:
        """The time at the roofs, of the kernels that have one."""
        return sum(d.least or 0.0 for d in self.dots)

    def limits(self) -> str:
        """The roofs in one line."""
        parts = [f"{level.name} {level.bandwidth / 1e9:,.0f} GB/s" for level in self.roofs.levels]
        threads = "1 thread" if self.roofs.threads == 1 else f"{self.roofs.threads} threads"
        return f"{threads}: {self.roofs.operations / 1e9:,.1f} Gop/s; {', '.join(parts)}"

    def table(self, limit: int | None = None) -> str:
        """The roofs, and of each kernel its time, what is lost of it, the fraction of its roof and what limits it."""
        head = ("us", "lost us", "of roof", "Gop/s", "GB/s", "op/byte", "limit", "nodes")
        rows = [self._row(d) for d in self.dots[:limit]]
        left = self.dots[len(rows) :]
        if left:
            lost, time = sum(d.lost for d in left), sum(d.time.seconds for d in left)
            rows.append((_us(time), _us(lost), "", "", "", "", "", f"({len(left)} more)"))
        known = sum(d.time.seconds for d in self.dots if d.least is not None)
        part = f"{self.least / known:.0%}" if known else ""
        rows.append((_us(self.seconds), _us(sum(d.lost for d in self.dots)), part, "", "", "", "", "total"))
        return f"{self.limits()}\n{columns([head, *rows])}"

    @staticmethod
    def _row(dot: Dot) -> Sequence[str]:
        time = dot.time
        if dot.least is None:
            return (_us(time.seconds), "", "", "", "", "", "", time.nodes)
        rate = f"{time.rate / 1e9:.1f}" if time.rate else "-"
        moved = f"{dot.bytes / time.seconds / 1e9:.1f}" if time.seconds else "-"
        intensity = "-" if dot.intensity is None else f"{dot.intensity:.1f}"
        return (
            _us(time.seconds),
            _us(dot.lost),
            f"{dot.fraction or 0:.0%}",
            rate,
            moved,
            intensity,
            dot.limit,
            time.nodes,
        )

    def plain(self) -> dict[str, Any]:
        """All figures, for JSON."""
        levels = [{"name": v.name, "bytes_per_second": v.bandwidth} for v in self.roofs.levels]
        roofs = {"operations_per_second": self.roofs.operations, "levels": levels}
        return {"seconds": self.seconds, "roofs": roofs, "kernels": [d.plain() for d in self.dots]}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture as one HTML file. Raises InputError where the disk does not allow it."""
        from lamina.roofline.page import page

        try:
            Path(path).write_text(page(self), "utf-8", newline="\n")
        except OSError as e:
            raise InputError(f"cannot write: {e.strerror or e}", where=str(path)) from None


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f}"
