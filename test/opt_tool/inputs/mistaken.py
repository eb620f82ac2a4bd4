"""Ops, rules and passes with a mistake each, as somebody writes them for `opt-tool --load`; marks say where it is."""

from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect, Operation
from xdsl.irdl import irdl_op_definition
from xdsl.passes import ModulePass

from lamina.dialects.relay.families import Elementwise
from lamina.passes.rules.rewriting import Rules


@irdl_op_definition
class MeaningOp(Elementwise):
    """Its element is a mistake."""

    name = "mistaken.meaning"

    @staticmethod
    def te_element(x: Any) -> Any:
        return x.nothing  # te_element

    @staticmethod
    def np_ref(x: Any) -> Any:
        return x


@irdl_op_definition
class VerifierOp(Elementwise):
    """Its verifier is a mistake."""

    name = "mistaken.verifier"

    @staticmethod
    def te_element(x: Any) -> Any:
        return x

    @staticmethod
    def np_ref(x: Any) -> Any:
        return x

    def verify_(self) -> None:
        raise IndexError("out of range")  # verifier


rules = Rules("mistaken-rule")


@rules.lower(MeaningOp)
def lowered(op: Operation) -> bool:
    """Before: mistaken.meaning   After: nothing else"""
    return op.results[1].name_hint is None  # rule


@dataclass(frozen=True)
class Rule(ModulePass):
    name = "mistaken-rule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rules.apply(op)


@dataclass(frozen=True)
class ByHand(ModulePass):
    name = "mistaken-pass"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for found in op.walk():
            if found.name == "mistaken.meaning":
                self.change(found)

    def change(self, found: Operation) -> None:
        found.attributes["lanes"] = dict[str, Any]()["lanes"]  # pass


@dataclass(frozen=True)
class CalledWrongly(ModulePass):
    name = "mistaken-call"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rules.apply(None)  # type: ignore[arg-type]  # call


MISTAKEN = Dialect("mistaken", [MeaningOp, VerifierOp])
