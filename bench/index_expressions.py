"""Divisions that are left in the index expressions of the light models' kernels, and whether bounds decide them.

    python bench/index_expressions.py [MODEL...] [--json FILE]

Every `floordiv` and `mod` of the final TIR, in indices, guards, loop bounds and conditions, is evaluated over the
iterations that reach it: all points of the box of its variables that satisfy the bounds and conditions around it, or
10^6 random ones and the corners where there are more. That is independent of the simplifier. A division that has one
quotient at all points should not be there; the command fails if there is one, or one that samples cannot tell.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr, VectorType
from xdsl.ir import Operation

from lamina.dialects.index.accesses import value_range
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import MAX_EXTENT, Atom, Division, Linear, Range, linear_text
from lamina.dialects.schedule.nest.edits import own_forms
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.ops import AccessOp, ConditionOp, ForOp, FuncOp, IndexOp

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test"))

POINTS = 10**6
SIZES = (0, 1, 2, 3, 7, 63, 64, 65, 1000, 1 << 20)
"""Values that stand for a size that is known only when the kernel is called."""


class Found(NamedTuple):
    """A division, where it stands, and what is known of its quotient there."""

    kernel: str
    text: str
    verdict: str
    """`varies`, `constant`, `never` where no iteration reaches it, `sampled` where no two samples differ."""


# -- what stands where -------------------------------------------------------------------------------------------


def conditions_at(op: Operation) -> list[Condition]:
    """The conditions that hold where an op runs: bounds of loops and conditions around it, and its own guard."""
    found = op.conditions() if isinstance(op, AccessOp) else []
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            found += [Condition(b - Linear.dim(parent.var) - 1) for b in parent.min_bounds()]
        elif isinstance(parent, ConditionalBase):
            found += parent.conditions()
        parent = parent.parent_op()
    return found


def lanes_of(op: Operation) -> int | None:
    """The number of values that the lane takes in the forms of an op; None without lanes."""
    if isinstance(op, AccessOp):
        return op.lanes
    type_ = op.results[0].type if isinstance(op, IndexOp | ConditionOp) else None
    return type_.get_shape()[0] if isinstance(type_, VectorType) else None


def divisions(form: Linear) -> Iterator[Division]:
    """Every division of a form, also inside others."""
    for atom in form.terms:
        if isinstance(atom, tuple):
            yield atom
            yield from divisions(atom[1])


# -- evaluation --------------------------------------------------------------------------------------------------


def domain(dims: Sequence[Atom], bounds: dict[Atom, Range]) -> tuple[dict[Atom, np.ndarray[Any, Any]], bool]:
    """Points of a box, one array for each dimension, and whether these are all of them."""
    choices = [
        np.array(SIZES) if bounds[d][1] == MAX_EXTENT else np.arange(bounds[d][0], bounds[d][1] + 1) for d in dims
    ]
    count = 1
    for c in choices:
        count *= len(c)
    sizes = any(bounds[d][1] == MAX_EXTENT for d in dims)
    if count <= POINTS:
        grid = np.meshgrid(*choices, indexing="ij")
        return {d: g.reshape(-1) for d, g in zip(dims, grid, strict=True)}, not sizes
    random = np.random.default_rng(0)
    columns = {d: random.choice(c, POINTS) for d, c in zip(dims, choices, strict=True)}
    for column, c in zip(columns.values(), choices, strict=True):
        ends = random.random(POINTS) < 0.2  # a corner, an edge or a face of the box
        column[ends] = random.choice(c[[0, -1]], int(ends.sum()))
    return columns, False


def verdict(division: Division, around: Sequence[Condition], lanes: int | None) -> str:
    """The verdict on a division's quotient by the conditions of the iterations that reach it."""
    dims = dict.fromkeys(division[1].dims())
    relevant: list[Condition] = []
    waiting = list(around)
    while True:
        linked = [c for c in waiting if any(d in dims for d in c.form.dims())]
        if not linked:
            break
        waiting = [c for c in waiting if c not in linked]
        relevant += linked
        dims.update(dict.fromkeys(d for c in linked for d in c.form.dims()))
    bounds: dict[Atom, Range] = {}
    for d in dims:
        known = (0, (lanes or 1) - 1) if d == LANE else value_range(d)
        if known is None:
            return "varies"  # an index that was read from memory
        bounds[d] = known
    points, complete = domain(list(dims), bounds)
    holds: Any = True
    for c in relevant:
        value = c.form.evaluate(points)
        holds = holds & ((value == 0) if c.equal else (value >= 0))
    quotients = np.asarray(division[1].evaluate(points) // division[2])
    quotients = quotients[np.broadcast_to(holds, quotients.shape)]
    if not quotients.size:
        return "never" if complete else "sampled"
    if quotients.min() != quotients.max():
        return "varies"
    return "constant" if complete else "sampled"


def check_kernel(func: FuncOp) -> Iterator[Found]:
    """Every division of a kernel."""
    known: dict[Any, str] = {}
    for op in func.walk():
        lanes = lanes_of(op)
        around: list[Condition] | None = None
        for form in own_forms(op):
            for division in divisions(form):
                if around is None:
                    around = conditions_at(op)
                key = (division, lanes, tuple(around))
                if key not in known:
                    known[key] = verdict(division, around, lanes)
                text = f"{op.name} {linear_text(Linear({division: 1}), _name)}"
                yield Found(func.sym_name.data, text, known[key])


def _name(atom: Atom) -> str:
    bounds = value_range(atom)
    name = getattr(atom, "name_hint", None) or str(atom)
    return name if bounds is None else f"{name}<{bounds[1] + 1}>"


def check_module(module: ModuleOp) -> list[Found]:
    """Every division of every kernel of a module."""
    return [found for op in module.ops if isinstance(op, FuncOp) for found in check_kernel(op)]


# -- models ------------------------------------------------------------------------------------------------------


def final_tir(path: Path) -> ModuleOp:
    """The module of a model as `tir-to-llvm` gets it."""
    from lamina import load
    from lamina.backends.cpu.jit import host_target
    from lamina.dialects.target import TARGET
    from lamina.driver.pipelines import Pipeline
    from lamina.ir.context import LaminaContext

    model = load(path)
    model.module.attributes[TARGET] = host_target(1)
    model.module.attributes["lamina.params"] = StringAttr("weights.safetensors")
    ctx = LaminaContext()
    ctx.params = model.params
    Pipeline(3).run(model.module, ctx, until="tir")
    return model.module


def main() -> int:
    import models

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=list(models.LIGHT_MODELS), metavar="MODEL")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    unknown = [m for m in arguments.models if m not in models.LIGHT_MODELS]
    if unknown:
        parser.error(f"no model {unknown[0]!r}; there are {', '.join(models.LIGHT_MODELS)}")
    report: dict[str, dict[str, int]] = {}
    wrong = 0
    print(
        f"{'model':<16}{'kernels':>8}{'accesses':>9}{'divisions':>10}{'vary':>7}{'constant':>9}{'unclear':>8}{'s':>7}"
    )
    for name in arguments.models:
        start = perf_counter()
        module = final_tir(models.light_path(name))
        kernels = sum(isinstance(op, FuncOp) for op in module.ops)
        accesses = sum(isinstance(op, AccessOp) for op in module.walk())
        found = check_module(module)
        counts = Counter(f.verdict for f in found)
        constant, unclear = counts["constant"] + counts["never"], counts["sampled"]
        wrong += constant + unclear
        report[name] = {"kernels": kernels, "accesses": accesses, "divisions": len(found), **counts}
        seconds = perf_counter() - start
        print(
            f"{name:<16}{kernels:>8}{accesses:>9}{len(found):>10}{counts['varies']:>7}{constant:>9}{unclear:>8}"
            f"{seconds:>7.1f}"
        )
        for f in [f for f in found if f.verdict != "varies"][:20]:
            print(f"    {f.verdict}: {f.text} in @{f.kernel}")
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
