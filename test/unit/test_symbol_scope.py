"""Passes on modules with symbols: what they ask of extents is answered, and looked at afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import pytest
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from lamina.dialects.attributes import ExtentsAttr
from lamina.dialects.index.symbols import SymbolRange, Symbols, current_symbols, with_symbols
from lamina.dialects.infos import hint_of, is_always, surely_equal, surely_same, tensor_info
from lamina.errors import UnsupportedError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import apply_pass
from lamina.passes.base import Context, ModulePass
from lamina.passes.rules.pattern_conditions import python_value, value_info

TEXT = """
builtin.module attributes {
  relay.symbols = {p = #relay.symbol<min = 0, max = 64>, s = #relay.symbol<min = 1, max = 512>}} {
  func.func @main(%x: tensor<?x?x8xf32, #relay.dims<p + s, s, _>>) -> tensor<?x?x8xf32, #relay.dims<p + s, s, _>> {
    %0 = relay.nn.relu %x : tensor<?x?x8xf32, #relay.dims<p + s, s, _>>
    func.return %0 : tensor<?x?x8xf32, #relay.dims<p + s, s, _>>
  }
}
"""
Shape = tuple[int, ...]
Question = Callable[[Shape], bool]


@dataclass(frozen=True)
class Asking(ModulePass):
    """Asks something of the shape of the argument of @main."""

    name = "asking"
    question: ClassVar[Question]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        (main,) = (f for f in op.ops if isinstance(f, FuncOp))
        answers.append(type(self).question(tuple(tensor_info(main.body.block.args[0].type).shape)))


answers: list[bool] = []


def asked(question: Question) -> bool:
    """The answer of a pass. Raises UnsupportedError."""
    Asking.question = staticmethod(question)
    apply_pass(Asking(), LaminaContext(), parse_text(LaminaContext(), TEXT, "asked.mlir"))
    return answers.pop()


CONDITIONS: list[tuple[Question, str]] = [
    (lambda shape: shape[1] >= 8, "s >= 8"),
    (lambda shape: shape[0] == 64, r"p \+ s != 64"),
    (lambda shape: shape[1] % 4 == 0, "s mod 4"),
    (lambda shape: len(range(shape[1])) > 0, "s == "),
]


@pytest.mark.parametrize(("question", "condition"), CONDITIONS)
def test_what_holds_for_some_sizes_only_is_refused(question: Question, condition: str) -> None:
    with pytest.raises(UnsupportedError, match=f"asking: .* would be right only where {condition}"):
        asked(question)
    answers.clear()
    assert current_symbols() is None


ANSWERS: list[tuple[Question, bool]] = [
    (lambda shape: shape[1] == 1, False),
    (lambda shape: shape[0] != 1, True),
    (lambda shape: shape[1] > 1, True),
    (lambda shape: shape[1] <= 1, False),
    (lambda shape: shape[0] * shape[1] == 0, False),
    (lambda shape: shape[0] == shape[1], False),
    (lambda shape: shape[1] <= 512, True),
    (lambda shape: shape[2] == 8, True),
    (lambda shape: shape[0] - shape[1] >= 0, True),
    (lambda shape: hint_of(shape[1]) >= 8, True),
    (lambda shape: is_always(shape[1], 64), False),
    (lambda shape: surely_equal(shape[0], shape[1]), False),
    (lambda shape: surely_same(shape, (*shape[:2], 8)), True),
]


@pytest.mark.parametrize(("question", "answer"), ANSWERS)
def test_what_holds_for_all_sizes_is_answered(question: Question, answer: bool) -> None:
    """An extent that may be 0 or 1 counts as neither: what is done with any extent is right for these, too."""
    assert asked(question) is answer


def test_outside_of_passes_an_extent_may_be_one() -> None:
    symbols = Symbols({"s": SymbolRange(1, 512)})
    assert (symbols.extent("s") == 1) is False
    assert [str(g) for g in symbols.guards] == ["s >= 2"]


def test_rules_answer_for_the_module_at_hand() -> None:
    """The same types and attributes in modules of other ranges: what was asked of one says nothing of the other."""
    rows = parse_text(LaminaContext(), TEXT, "rows.mlir").body.block.first_op.body.block.args[0].type  # type: ignore
    shape = ExtentsAttr(ArrayAttr([StringAttr("s"), StringAttr("8")]))
    for most in (512, 1):
        with with_symbols(Symbols({"p": SymbolRange(0, 64), "s": SymbolRange(1, most)})) as symbols:
            extent, number = value_info(rows).shape[1], python_value(shape)[0]
            assert is_always(extent, 1) is is_always(number, 1) is (most == 1)
            assert most == 1 or (extent == 1) is False and [str(g) for g in symbols.guards] == ["s >= 2"]
