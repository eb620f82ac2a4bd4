"""Passes that fail in the ways a pass can fail."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.test import TestOp
from xdsl.passes import ModulePass

from lamina.errors import LaminaError, UnsupportedError
from lamina.ir.context import LaminaContext


def _adds(module: ModuleOp) -> list[AddiOp]:
    return [o for o in module.walk() if isinstance(o, AddiOp)]


@dataclass(frozen=True)
class Crash(ModulePass):
    name = "faulty-crash"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise IndexError("no such thing")


@dataclass(frozen=True)
class Refuse(ModulePass):
    name = "faulty-refuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for add in _adds(op):
            raise LaminaError("arith.addi: sums are not wanted", op=add, hint="subtract")


@dataclass(frozen=True)
class Unsupported(ModulePass):
    name = "faulty-unsupported"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise UnsupportedError("cannot do this yet", op=_adds(op)[0])


@dataclass(frozen=True)
class Reorder(ModulePass):
    """Leaves IR in which a use comes before its definition."""

    name = "faulty-reorder"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        first, *_, last = _adds(op)
        first.detach()
        assert last.parent is not None
        last.parent.insert_op_after(first, last)


@dataclass(frozen=True)
class Forget(ModulePass):
    """Inserts an op without a location."""

    name = "faulty-forget"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.body.block.add_op(TestOp())


@dataclass(frozen=True)
class Talk(ModulePass):
    name = "faulty-talk"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        assert isinstance(ctx, LaminaContext)
        for add in _adds(op):
            ctx.warn("a sum is slow", add)
            ctx.remark("it has two operands", add)
