"""Edits: what counts as one, what is refused when the fuel is spent, what is traced; and that every pass edits so."""

from __future__ import annotations

import io
import re
from collections.abc import Generator
from pathlib import Path

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Operation

from lamina.dialects import edit
from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.tir.facts import walk_with_facts
from lamina.dialects.tir.ops import ForOp
from lamina.ir.pipeline import run_pipeline
from lamina.opt_tool.command import run
from lamina.passes.base import Context, ModulePass

ROOT = Path(__file__).parents[2]
EDITORS = ("passes", "backends", "dialects/schedule")
"""Whose files change programs."""
BY_THEMSELVES = {"passes/rules", "passes/tir/arithmetic"}
"""The engine of rules, which counts firings; and what its rules take the place of."""


@pytest.fixture(autouse=True)
def unlimited() -> Generator[None]:
    yield
    edit.limit(None)
    edit.trace(None)


def numbers(*values: int) -> tuple[ModuleOp, list[Operation]]:
    ops: list[Operation] = [arith.ConstantOp.from_int_and_width(v, i32) for v in values]
    for op, value in zip(ops, values, strict=True):
        op.results[0].name_hint = f"n{value}"
    return ModuleOp(ops), ops


def left(module: ModuleOp) -> list[str | None]:
    return [op.results[0].name_hint for op in module.ops]


# -- counting ------------------------------------------------------------------------------------------------


def test_each_edit_counts_and_those_of_a_transaction_count_as_one() -> None:
    module, (a, b, c, d) = numbers(1, 2, 3, 4)
    before = edit.edits_made()
    edit.erase(a)
    with edit.transaction():
        edit.erase(b)
        with edit.transaction(c):
            edit.erase(c)
    assert edit.edits_made() - before == 2 and left(module) == ["n4"]
    with edit.transaction():
        pass
    assert edit.edits_made() - before == 2
    with edit.transaction(d):
        edit.erase(d)
    assert edit.edits_made() - before == 3


def test_an_edit_beyond_the_fuel_changes_nothing() -> None:
    module, (a, b, c) = numbers(1, 2, 3)
    edit.limit(2)
    with edit.transaction():
        edit.erase(a)
        edit.erase(b)
    edit.change(c)
    assert edit.is_spent()
    for refused in (lambda: edit.erase(c), lambda: edit.transaction().__enter__(), lambda: edit.change(c)):
        with pytest.raises(edit.FuelSpentError):
            refused()
    assert left(module) == ["n3"]


def test_what_an_error_ends_is_no_transaction_any_more() -> None:
    _, (a, b) = numbers(1, 2)
    with pytest.raises(KeyError), edit.transaction(a):
        raise KeyError
    before = edit.edits_made()
    edit.erase(a)
    edit.erase(b)
    assert edit.edits_made() - before == 2


class Eraser(ModulePass):
    """Erases every op, last first, and makes one in vain before each."""

    name = "eraser"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in reversed(list(op.ops)):
            arith.AddiOp(each.results[0], each.results[0])
            edit.forget_detached(op)
            edit.erase(each)


def test_a_pass_ends_with_the_fuel_and_each_edit_has_its_line() -> None:
    module, _ = numbers(1, 2, 3)
    said = io.StringIO()
    edit.limit(2)
    edit.trace(said)
    run_pipeline(module, Context(), [Eraser()])
    assert left(module) == ["n1"]
    assert not list(module.body.block.first_op.results[0].uses)  # type: ignore[union-attr]
    rows = said.getvalue().splitlines()
    assert [re.sub(r":\d+", ":N", row) for row in rows] == [
        "test_edit.py:N  arith.constant %n3 erased",
        "test_edit.py:N  arith.constant %n2 erased",
        "eraser: 2 edits",
        "       2  test_edit.py:N",
    ]


# -- edits -----------------------------------------------------------------------------------------------------


def test_what_replaces_an_op_takes_over_its_uses_and_its_name() -> None:
    module, (a,) = numbers(1)
    sum_ = arith.AddiOp(a.results[0], a.results[0])
    module.body.block.add_op(sum_)
    new = arith.ConstantOp.from_int_and_width(2, i32)
    edit.replace(a, new)
    assert list(module.ops) == [new, sum_] and set(sum_.operands) == {new.result}
    assert new.result.name_hint == "n1"
    edit.erase(sum_)
    edit.drop_dead(new)
    assert not list(module.ops)


def test_what_is_used_is_not_dead() -> None:
    module, (a, b) = numbers(1, 2)
    total = arith.AddiOp(a.results[0], a.results[0])
    module.body.block.add_op(total)
    edit.drop_dead(a, b)
    assert list(module.ops) == [a, total]
    edit.drop_dead(total)
    assert not list(module.ops)


# -- the walk with facts -----------------------------------------------------------------------------------------


def loops() -> tuple[ModuleOp, ForOp, ForOp]:
    outer, inner = ForOp.make(4, "i"), ForOp.make(2, "j")
    outer.body.block.add_op(inner)
    inner.body.block.add_ops(numbers(1)[1][0:0])
    return ModuleOp([outer, *(op.clone() for op in numbers(7)[1])]), outer, inner


def test_the_walk_knows_the_bounds_that_hold_inside() -> None:
    module, outer, inner = loops()
    inner.set_min_bounds([Linear.dim(outer.var) + 1])
    deep = arith.ConstantOp.from_int_and_width(1, i32)
    inner.body.block.add_op(deep)
    known = {op: facts for op, facts in walk_with_facts(module.body.block)}
    assert list(known)[:3] == [outer, inner, deep]
    assert known[deep].at_least(Linear.dim(outer.var) - Linear.dim(inner.var))
    assert not known[inner].at_least(Linear.dim(outer.var) - constant(1))


def test_the_walk_goes_on_with_what_takes_the_place_of_an_op() -> None:
    module, outer, inner = loops()
    deep = arith.ConstantOp.from_int_and_width(1, i32)
    inner.body.block.add_op(deep)
    met: list[str] = []
    for op, _ in walk_with_facts(module.body.block):
        met.append(op.name)
        if op is outer or op is inner:
            edit.dissolve(op)
        elif op is deep:
            edit.erase(op)
    assert met == ["tir.for", "tir.for", "arith.constant", "arith.constant"]
    assert len(list(module.ops)) == 1


# -- every pass ------------------------------------------------------------------------------------------------


def test_programs_are_changed_by_no_other_way() -> None:
    """Ops are erased and taken out by the functions of `dialects/edit.py`, which count them."""
    wrong = [
        f"{path.relative_to(ROOT)}:{n}: {row.strip()}"
        for room in EDITORS
        for path in sorted((ROOT / room).rglob("*.py"))
        if not any(path.is_relative_to(ROOT / other) for other in BY_THEMSELVES)
        for n, row in enumerate(path.read_text("utf-8").splitlines(), 1)
        if re.search(r"\.detach\(|\.insert_ops?_(before|after)\(|(?<!edit|self)\.erase\(", row)
    ]
    assert not wrong, "\n".join(wrong)


STARTED = re.compile(r"// RUN:\s*opt-tool %s -p ([\w-]+(?:\{[^}]*\})?) \|")
NOT_YET = {
    "tir-expand-math", "tir-fuse-multiply-add", "tir-merge-selects", "tir-rescale-integers", "tir-round-quotients",
}  # fmt: skip
"""They are to become rules."""


def alone() -> list[tuple[str, Path]]:
    """The lit tests of passes that stand alone, each with its pass and the options of that."""
    found: list[tuple[str, Path]] = []
    for room in ("test/passes", "test/backends"):
        for path in sorted((ROOT / room).rglob("*.mlir")):
            match = STARTED.match(path.read_text("utf-8"))
            if match is not None and match[1] not in NOT_YET:
                found.append((match[1], path))
    return found


def cases() -> list[tuple[str, Path]]:
    """Of each pass, with each of its options, the first of these tests."""
    found: dict[str, Path] = {}
    for pass_, path in alone():
        found.setdefault(pass_, path)
    return sorted(found.items())


def opt_tool(*arguments: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    status = run(arguments, "", out, err)
    assert status == 0, err.getvalue()
    return out.getvalue()


@pytest.mark.parametrize(("pass_", "path"), cases(), ids=lambda x: x if isinstance(x, str) else x.stem)
def test_a_pass_edits_as_often_as_it_may_and_leaves_a_valid_program(pass_: str, path: Path) -> None:
    before = edit.edits_made()
    whole = opt_tool(str(path), "-p", pass_)
    edits = edit.edits_made() - before
    untouched = opt_tool(str(path))
    assert edits or whole == untouched, "it edits, and none of it is counted"
    assert opt_tool(str(path), "-p", pass_, "--fuel=0") == untouched
    assert opt_tool(str(path), "-p", pass_, f"--fuel={edits}") == whole
    for some in {1, edits // 2, edits - 1} & set(range(1, edits)):
        opt_tool(str(path), "-p", pass_, f"--fuel={some}")


@pytest.mark.slow
def test_without_fuel_no_pass_changes_anything() -> None:
    """On all of these tests: an edit that is not counted is made all the same."""
    made = [str(path) for pass_, path in alone() if opt_tool(str(path), "-p", pass_, "--fuel=0") != opt_tool(str(path))]
    assert not made, "\n".join(made)
