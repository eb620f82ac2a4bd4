"""te.decl_tensor_intrin: an instruction by what it computes, and the statements that do it.

    def gemv(m, l):
        a, b = te.placeholder((l,), name="a"), te.placeholder((m, l), name="b")
        k = te.reduce_axis((0, l), name="k")
        c = te.compute((m,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")

        def statements(ins, outs):
            def update():
                ib = tir.ir_builder.create()
                ...
                return ib.get()
            return None, reset(), update()          # body, reduce_reset, reduce_update

        return te.decl_tensor_intrin(c.op, statements, name="gemv")

The statements are not trusted: `te-to-tir` compares them with the description before it uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.ir import Block

from lamina.dialects.te import build
from lamina.dialects.te.extern import buffer_of
from lamina.dialects.te.indices import current_scope
from lamina.dialects.te.ir_builder import Buffer, IRBuilder
from lamina.dialects.te.ir_builder import _to_tir as to_tir  # pyright: ignore[reportPrivateUsage]
from lamina.dialects.te.ops import FuncOp, ReturnOp
from lamina.dialects.te.tensor_intrin import TensorIntrinOp
from lamina.dialects.tir.ops import FuncOp as KernelOp
from lamina.te.buffers import check_binds
from lamina.te.expr import fail
from lamina.te.function import build_function
from lamina.te.mistakes import checked_function
from lamina.te.statements import Pointer, StatementBlocks, building_blocks
from lamina.te.tensor import ComputeOp, Operation, PlaceholderOp


class TensorIntrin:
    """A declared instruction; `ir` is its te.tensor_intrin."""

    def __init__(self, name: str, op: Operation, ir: TensorIntrinOp) -> None:
        self.name = name
        self.op = op
        self.ir = ir


def decl_tensor_intrin(
    op: Operation,
    fcompute: Callable[..., Any],
    name: str = "tensor_intrin",
    binds: Any = None,
    scalar_params: Any = None,
    default_buffer_params: Any = None,
) -> TensorIntrin:
    """An instruction that computes what `op` does. `fcompute(ins, outs)` gives its statements, built by `ir_builder`.

    These are the body, or body, reset and update of a reduction, of which the body or the reset may be None. `binds`
    are demands on the memory of its tensors (`buffers.py`). Raises LaminaError for an operation that is no single
    compute of placeholders.
    """
    if not isinstance(op, ComputeOp) or not all(isinstance(t.op, PlaceholderOp) for t in op.input_tensors):
        raise fail("decl_tensor_intrin takes one compute of placeholders")
    checked_function(fcompute, 2, f"the statements of intrinsic {name!r}")
    inputs = op.input_tensors
    output = op.output(0)
    check_binds(binds, [*inputs, output], f"intrinsic {name!r}", parts=True)
    desc = build_function([output], [*inputs, output], "desc").func
    types = [buffer_of(t) for t in (*desc.function_type.inputs, *desc.function_type.outputs)]
    names = [*(a.name_hint for a in desc.body.block.args), _result_name(desc)]
    operands = [Pointer(None, t.shape, t.dtype, t.name) for t in (*inputs, output)]

    def start() -> tuple[Block, Any]:
        block = Block(arg_types=types)
        for arg, hint in zip(block.args, names, strict=True):
            arg.name_hint = hint
        for operand, arg in zip(operands, block.args, strict=True):
            operand.buffer = Buffer(arg)
        return block, IRBuilder()

    with build.building(Block()), building_blocks(StatementBlocks(current_scope(), start)):
        made = fcompute(operands[:-1], operands[-1:])
    blocks = list(cast("Sequence[Any]", made)) if isinstance(made, (tuple, list)) else [made]
    if len(blocks) not in (1, 2, 3) or not all(b is None or isinstance(b, Block) for b in blocks):
        raise fail(f"intrinsic {name!r}: its function gives statements (ib.get()): body, or body, reset and update")
    variants = ("body", "reset", "update")
    reduces = bool(op.reduce_axis)
    kernels: list[KernelOp] = []
    for variant, block in zip(variants, blocks, strict=False):
        if block is not None and (variant != "body" or len(blocks) == 1 or not reduces):
            kernels.append(_kernel(variant, block, types))
    return TensorIntrin(name, op, TensorIntrinOp.make(name, desc, kernels))


def _result_name(desc: FuncOp) -> str:
    last = desc.body.block.last_op
    assert isinstance(last, ReturnOp)
    return last.values[0].name_hint or "out"


def _kernel(variant: str, block: Block, types: Sequence[Any]) -> KernelOp:
    """Statements as a function; a reset's takes the result alone."""
    to_tir(block)
    first = len(types) - 1 if variant == "reset" else 0
    kernel = KernelOp.make(variant, list(types[first:]), 1)
    for old, new in zip(list(block.args)[first:], kernel.body.block.args, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    if any(arg.first_use is not None for arg in list(block.args)[:first]):
        raise fail("the reset of an intrinsic uses its result alone")
    for op in list(block.ops):
        op.detach()
        kernel.body.block.add_op(op)
    return kernel
