"""Values that kernels use where tir-to-llvm has them: each phase of a kernel is a function of its own.

`explicit_indices` makes an op of a loop variable that is stored or computed with. `self_contained` copies what is
computed outside of a parallel loop, or of what stands between two, to where it is used. `phases_of`
says which the phases are.
"""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops, operands_of
from lamina.dialects.index.linear import Linear
from lamina.dialects.tir.calls import CallOp
from lamina.dialects.tir.launch import LaunchOp
from lamina.dialects.tir.memory import AccessOp, AllocOp, StoreOp
from lamina.dialects.tir.ops import BlockOp, ConditionOp, ForOp, FuncOp, IfOp, IndexOp
from lamina.dialects.tir.team import TeamOp
from lamina.errors import InputError
from lamina.passes.base import inherit_location

_TAKE_INDICES = (ForOp, IfOp, BlockOp, AllocOp, IndexOp, ConditionOp, AccessOp, CallOp, LaunchOp)


@cache
def _values(cls: type[Operation]) -> int | None:
    """The number of operands that are values, not indices: the first ones; None for all."""
    return int(issubclass(cls, StoreOp)) if issubclass(cls, _TAKE_INDICES) else None


def explicit_indices(func: FuncOp) -> None:
    """Before: `tir.store %i, %y[%i]`    After: `%n = tir.index [%i] : index`, `tir.store %n, %y[%i]`"""
    with edit.transaction():
        for op in all_ops(func):
            for n, value in enumerate(operands_of(op)):
                if type(value) is BlockArgument and type(value.type) is IndexType:
                    values = _values(type(op))
                    if values is not None and n >= values:
                        break
                    index = IndexOp.of(Linear.dim(value))
                    inherit_location(index, op)
                    edit.insert_before(op, index)
                    op.operands[n] = index.result


def phases_of(func: FuncOp) -> list[list[Operation]]:
    """The top-level ops of a function in groups, each parallel loop and each team alone."""
    groups: list[list[Operation]] = []
    serial: list[Operation] = []
    for op in func.body.block.ops:
        if isinstance(op, TeamOp) or (isinstance(op, ForOp) and op.kind.data == "parallel"):
            if serial:
                groups.append(serial)
            groups.append([op])
            serial = []
        else:
            serial.append(op)
    if serial or not groups:
        groups.append(serial)
    return groups


def self_contained(groups: list[list[Operation]]) -> None:
    """Let no phase use what another computes; those that do nothing else go.

    Raises InputError for what cannot be computed again.
    """
    if len(groups) < 2:
        return
    home = {op: n for n, ops in enumerate(groups) for op in ops}
    for n, ops in enumerate(groups):
        copies: dict[SSAValue, SSAValue] = {}
        new: list[Operation] = []
        for top in list(ops):
            for op in top.walk():
                for k, value in enumerate(op.operands):
                    owner = value.owner
                    if isinstance(owner, Block) or isinstance(owner, AllocOp) or home.get(owner, n) == n:
                        continue
                    op.operands[k] = _again(owner, value, copies, new, op)
        only = ops[0] if ops else None
        if isinstance(only, ForOp) and only.kind.data == "parallel":
            first = only.body.block.first_op
            if first is None:
                only.body.block.add_ops(new)
            else:
                edit.insert_before(first, *new)
        else:
            first = ops[0]
            edit.insert_before(first, *new)
            ops[:0] = new
    groups[:] = [ops for ops in groups if not all(is_side_effect_free(op) for op in ops)] or [[]]


def _again(
    owner: Operation, value: SSAValue, copies: dict[SSAValue, SSAValue], new: list[Operation], user: Operation
) -> SSAValue:
    """The value computed once more; what it needs, too."""
    if value in copies:
        return copies[value]
    pending = [owner]
    while pending:
        op = pending[-1]
        if op.results and op.results[0] in copies:
            pending.pop()
            continue
        if not is_side_effect_free(op) or op.regions:
            raise InputError(
                f"tir-to-llvm: {op.name} stands outside of a parallel loop, but what it gives is used in another part "
                "of the kernel; compute it there",
                op=user,
            )
        needed = [v.owner for v in op.operands if isinstance(v.owner, Operation) and v not in copies]
        if needed:
            pending += needed
            continue
        pending.pop()
        new.append(op.clone(copies))
    return copies[value]
