"""`tvm.instrument`: what watches passes. The hooks are given modules of Relay's functions, and print Relay's text.

What runs below the graph is given as the module of our IR that it is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from lamina.compat.tvm.imports import NO_FOLDER
from lamina.ir import instrument as ours
from lamina.ir.instrument import PassInfo, PassTimingInstrument
from lamina.ir.tvm_names import missing

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.dialects.relay.params import ParamStore

__path__ = NO_FOLDER

_store: ContextVar[ParamStore | None] = ContextVar("weights", default=None)


BELOW = ("te.", "tir.", "llvm.")
"""Dialects of functions that Relay's text has no words for."""


@contextmanager
def weights_from(store: ParamStore) -> Generator[None]:
    """While it lasts, modules that are looked at have their weights in the store."""
    before = _store.set(store)
    try:
        yield
    finally:
        _store.reset(before)


def looked_at(module: ModuleOp) -> Any:
    """A module as Relay's functions, of now: it may change, what is looked at does not."""
    from lamina.compat.tvm.ir_module import IRModule

    return IRModule.of_ir(module.clone(), _store.get())


class PassInstrument(ours.PassInstrument):
    """The hooks; every one does nothing here."""

    def view(self, module: ModuleOp, info: PassInfo) -> Any:
        lowered = any(op.name.startswith(BELOW) for op in module.body.block.ops)
        return module if lowered else looked_at(module)


class PassPrintingInstrument(PassInstrument, ours.PassPrintingInstrument):
    """Prints the module before and after the passes of the given names."""


class PrintBeforeAll(PassInstrument, ours.PrintBeforeAll):
    """Prints the module before every pass."""


class PrintAfterAll(PassInstrument, ours.PrintAfterAll):
    """Prints the module after every pass."""


def pass_instrument(pi_cls: type[Any]) -> Callable[..., ours.PassInstrument]:
    """Makes a class with some of the hooks an instrument."""
    if issubclass(pi_cls, ours.PassInstrument):
        return pi_cls
    made: Any = ours.pass_instrument(pi_cls)
    return type(pi_cls.__name__, (made, PassInstrument), {"__doc__": pi_cls.__doc__, "view": PassInstrument.view})


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, globals())


__all__ = [
    "PassInfo", "PassInstrument", "PassPrintingInstrument", "PassTimingInstrument", "PrintAfterAll",
    "PrintBeforeAll", "looked_at", "pass_instrument", "weights_from",
]  # fmt: skip
