"""The pictures: an example's text before and after a primitive or a pass, or beside what is made of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.ir import Attribute, Operation

from lamina.dialects.schedule.ops import ScheduleOp, in_order
from lamina.dialects.schedule.primitive import PrimitiveOp
from lamina.dialects.tir.ops import FuncOp
from lamina.errors import InputError
from lamina.ir.context import LaminaContext
from lamina.ir.registry import PassFile
from tools.reference.declarations import ROOT, IncompleteReference
from tools.reference.examples import (
    TESTS,
    Example,
    examples_in,
    mentions,
    passes_of,
    run,
    text_of,
)
from tools.reference.trimming import changes, whole

PRIMITIVES = TESTS / "dialects" / "te" / "schedule"
LOWERED = {"te": "te-to-tir", "tir": "tir-to-llvm"}
"""The pass that shows the meaning of an op of a dialect, where its example runs no pass of its own."""
MOST_ELEMENTS = 17
"""Of an array that the interpreter takes or gives, so many are shown."""


def fenced(title: str, lines: Sequence[str], language: str = "mlir") -> list[str]:
    """A titled block of code."""
    return [title, "", f"```{language}", *lines, "```", ""]


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _examples(path: Path) -> tuple[Example, ...]:
    if not path.is_file():
        raise IncompleteReference(f"{_shown(path)} is missing; it is the example")
    found = examples_in(path)
    if not found:
        raise IncompleteReference(f"{_shown(path)} has no RUN line `opt-tool %s ...` that must succeed")
    return found


# -- schedule primitives -------------------------------------------------------------------------------------------


def _state(example: Example, applied: int) -> list[str]:
    """The loops when so many primitives have been applied."""
    ctx = example.context()
    module = example.parse(ctx)
    what = f"{_shown(example.path)} after {applied} primitives"
    run(module, ctx, passes_of(f"te-to-tir{{stop-after={applied}}}"), what)
    return text_of(module, ctx)


def _places(module: ModuleOp, name: str) -> list[tuple[ScheduleOp, int]]:
    """The schedules of a module in which a primitive stands, and its position there."""
    return [
        (schedule, n)
        for schedule in module.ops
        if isinstance(schedule, ScheduleOp)
        for n, op in enumerate(schedule.body.block.ops)
        if op.name == name
    ]


def _change(example: Example, primitives: Sequence[Operation], at: int) -> tuple[int, list[str], list[str]]:
    """The primitive whose effect is the picture of the one `at` a place, the loops before it and after it.

    It is the one there, or, where it only gives handles, numbers or names, the first that takes these and changes
    something.
    """
    op = primitives[at]
    names = {a for a in op.properties.values() if isinstance(a, StringAttr)}
    for n, other in enumerate(primitives[at:], at):
        takes = (
            any(v in op.results for v in other.operands) if op.results else bool(names & {*other.properties.values()})
        )
        if n > at and not takes:
            continue
        so_far = len(list(in_order(primitives[:n])))
        before, after = _state(example, so_far), _state(example, so_far + len(list(in_order([other]))))
        if before != after:
            return n, before, after
    raise IncompleteReference(f"{_shown(example.path)}: neither {op.name} nor what uses it changes anything")


def primitive_picture(op: type[PrimitiveOp]) -> list[str]:
    """Source and schedule of the example, the loops right before the primitive and right after it.

    Handles, names and draws change nothing: their picture is the first primitive that uses them.
    """
    name = op.name
    path = PRIMITIVES / f"{name.partition('.')[2]}.mlir"
    for example in _examples(path):
        ctx = example.context()
        module = example.parse(ctx)
        places = _places(module, name)
        if not places:
            continue
        source = text_of(module, ctx)
        schedule, at = places[0]
        primitives = list(schedule.body.block.ops)
        shown, before, after = _change(example, primitives, at)
        lines = [f"{example.link}{': ' + example.caption if example.caption else ''}", ""]
        lines += fenced("Program and schedule:", whole(source))
        used = f"`{_line(source, schedule, primitives[shown])}`"
        if shown > at:
            lines += [f"By itself it changes no loop; {used} uses it.", ""]
        old, new = changes(before, after)
        return lines + fenced("Before:", old) + fenced(f"After {used}:", new)
    raise IncompleteReference(f"{_shown(path)} holds no {name}")


def _line(source: Sequence[str], schedule: ScheduleOp, op: Operation) -> str:
    """The line of a primitive in the printed schedule."""
    name = schedule.func.root_reference.data
    start = next(n for n, row in enumerate(source) if re.match(rf"\s*te\.schedule @{re.escape(name)}\b", row))
    position = list(schedule.body.block.ops).index(op)
    return source[start + 1 + position].strip()


# -- ops -----------------------------------------------------------------------------------------------------------


def op_picture(name: str) -> list[str]:
    """The example of an op, printed after a round trip, and what the last pipeline of its RUN lines makes of it."""
    dialect, _, word = name.partition(".")
    path = TESTS / "dialects" / dialect / f"{word.replace('.', '_')}.mlir"
    for example in _examples(path):
        ctx = example.context()
        module = example.parse(ctx)
        if not any(o.name == name for o in module.walk()):
            continue
        of_main = all(isinstance(o.parent_op(), MainOp) for o in module.walk() if o.name == name)
        source = text_of(module, ctx)
        _check_round_trip(example, source)
        numbers = interpreted(module, _shown(path))
        pipeline = ([p for p in example.pipelines if p] or [LOWERED[dialect]])[-1]
        run(module, ctx, passes_of(pipeline), f"{_shown(path)}, -p {pipeline}")
        made = text_of(module, ctx)
        result = _without_functions(made) if of_main else _without_entries(made)
        lines = [f"{example.link}{': ' + example.caption if example.caption else ''}", ""]
        lines += fenced("Read, verified and printed:", whole(source))
        lines += fenced("By the interpreter:", numbers, "text") if numbers else []
        return lines + fenced(f"After `-p {pipeline}`:", whole(result))
    raise IncompleteReference(f"{_shown(path)} holds no {name} that verifies")


def _check_round_trip(example: Example, source: list[str]) -> None:
    ctx: LaminaContext = example.context()
    again = Example(example.path, "\n".join(source), example.pipelines)
    if text_of(again.parse(ctx), ctx) != source:
        raise IncompleteReference(f"{_shown(example.path)}: what is printed reads back as something else")


def interpreted(module: ModuleOp, what: str) -> list[str]:
    """The results of the interpreter for each kernel of known sizes, on 1, 2, 3, ... in every buffer that it reads."""
    import numpy as np

    from lamina.dialects.scalar.oracles import element_dtype
    from lamina.interpreters.tir_interpreter import run_tir_func
    from lamina.interpreters.tir_memory import output_range

    rows: list[str] = []
    for func in module.ops:
        if not isinstance(func, FuncOp):
            continue
        args = func.body.block.args
        types = [cast(MemRefType[Attribute], a.type) for a in args if a.type.name == MemRefType.name]
        if len(types) != len(args) or any(DYNAMIC_INDEX in t.get_shape() for t in types):
            continue
        start, end = output_range(func)
        inputs = [
            np.arange(1, 1 + int(np.prod(t.get_shape())), dtype=element_dtype(t)).reshape(t.get_shape())
            for t in types[:start]
        ]
        try:
            outputs = run_tir_func(func, inputs)
        except InputError as e:
            raise IncompleteReference(f"{what}, run by the interpreter: {e}") from e
        names = [a.name_hint or "_" for a in args]
        values = [*zip(names, inputs, strict=False), *zip(names[start:end], outputs, strict=True)]
        rows += [f"@{func.sym_name.data}  {name} = {_elements(array)}" for name, array in values]
    return rows


def _elements(array: Any) -> str:
    """The elements of an array in order; a long one is cut."""
    flat = [f"{float(v):g}" for v in array.reshape(-1)]
    return ", ".join(flat if len(flat) <= MOST_ELEMENTS else [*flat[: MOST_ELEMENTS - 1], "..."])


def _without_functions(lines: list[str]) -> list[str]:
    """The lines of an llvm module that matter for an op of @main: the program table and its rows."""
    kept: list[str] = []
    skipping = ""
    for row in lines:
        head = re.match(r"(\s*)llvm\.func ", row)
        if head and not skipping:
            skipping = head[1] + "}"
            continue
        if not skipping:
            kept.append(row)
        elif row == skipping:
            skipping = ""
    return kept


def _without_entries(lines: list[str]) -> list[str]:
    """An llvm module without the functions that only unpack arguments for a `.body`, which show nothing of the op."""
    bodies = {m[1] for row in lines if (m := re.search(r"llvm\.func internal @([\w.]+)\.body\(", row))}
    kept: list[str] = []
    skipping = ""
    for row in lines:
        entry = re.match(r"(\s*)llvm\.func @(\w+)\(", row)
        if entry and entry[2] in bodies:
            skipping = entry[1] + "}"
        if not skipping:
            kept.append(row)
        elif row == skipping:
            skipping = ""
    return kept


# -- passes --------------------------------------------------------------------------------------------------------


def pass_folder(file: PassFile) -> Path:
    """The folder of the lit tests of a pass: `test/` mirrors the tree."""
    stem = file.path.stem
    if file.level == "backend":
        return TESTS / "backends" / file.path.parent.parent.name / stem
    return TESTS / "passes" / stem if file.level == "stair" else TESTS / "passes" / file.level / stem


def pass_change(file: PassFile) -> tuple[Example, str, list[str], list[str]]:
    """The first test of a pass, by file name, in which it changes something: pipeline, text before and after it."""
    folder = pass_folder(file)
    tests = sorted(folder.glob("*.mlir"))
    if not tests:
        raise IncompleteReference(f"{file.name}: {_shown(folder)} holds no test; one that fires is the example")
    for path in tests:
        for example in examples_in(path):
            for pipeline in example.pipelines:
                passes = passes_of(pipeline)
                at = next((n for n, p in enumerate(passes) if p.name == file.name), None)
                if at is None:
                    continue
                what = f"{_shown(path)}, -p {pipeline}"
                ctx = example.context()
                module = example.parse(ctx)
                run(module, ctx, passes[:at], what)
                before = text_of(module, ctx)
                run(module, ctx, passes[at : at + 1], what)
                after = text_of(module, ctx)
                if before != after:
                    return example, pipeline, before, after
    raise IncompleteReference(f"{file.name}: it changes nothing in the tests of {_shown(folder)}")


def pass_picture(file: PassFile) -> list[str]:
    """The change that a pass makes to its example; of a stair, which changes everything, both texts."""
    example, pipeline, before, after = pass_change(file)
    lines = [f"{example.link}{': ' + example.caption if example.caption else ''}", ""]
    old, new = changes(before, after) if file.level != "stair" else (whole(before), whole(_without_entries(after)))
    given = "" if pipeline == file.name else f", run as `-p '{pipeline}'`"
    return lines + fenced(f"Before{given}:", old) + fenced("After:", new)


def works_on_tir(file: PassFile) -> bool:
    """Whether a pass reads or writes tir; of those that the name does not tell, the example does."""
    if file.level == "tir":
        return True
    if file.level not in ("stair", "backend"):
        return False
    _, _, before, after = pass_change(file)
    return any("tir.func" in row for row in (*before, *after))


@cache
def _printed(folder: Path) -> tuple[str, ...]:
    """All lines of the examples of a folder, as they are printed."""
    rows: list[str] = []
    for path in sorted(folder.glob("*.mlir")):
        for example in examples_in(path):
            ctx = example.context()
            rows += text_of(example.parse(ctx), ctx)
    return tuple(rows)


def lines_with(op: str, folder: Path) -> list[str]:
    """The forms in which the tests of a folder write an op: numbers, names and strings taken for the same."""
    forms: dict[str, str] = {}
    for row in _printed(folder):
        text = row.strip()
        if mentions(text, op):
            shape = re.sub(r'%\w+|#\w+(\.\w+)*<.*?>|@\w+|"[^"]*"|(memref|tensor|vector)<.*?>|-?\b\d+\b', "_", text)
            forms.setdefault(re.sub(r"_(, _)+", "_", shape), text)
    return list(forms.values())
