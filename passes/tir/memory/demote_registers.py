"""Put register buffers into memory where machine code has no register that an index could choose.

Elements of a register buffer are SSA values, so each access names its elements by numbers: loops that stay loops
cannot index one, and the phases of a kernel (a parallel loop, what stands before it, what stands after it) are
functions of their own, which share no values. Such a buffer becomes one of scope `local`, on the stack, or of scope
`global` where phases share it. It does what LLVM's reg2mem does, for buffers; run it when it is settled which loops
are unrolled.

Before:
    %t = tir.alloc "t" scope "register" : memref<4xf32>
    tir.for %i = 0 to 4 "t.i" {
      %x = tir.load %X[%i] : memref<4xf32>
      tir.store %x, %t[%i] : memref<4xf32> }
After:
    %t = tir.alloc "t" scope "local" : memref<4xf32>
    (and the loop as it was)
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.index_map import LANE
from lamina.dialects.index.linear import Atom
from lamina.dialects.tir.memory import AccessOp, AllocOp
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.passes.base import Context, ModulePass
from lamina.passes.tir.threads.phases import phases_of


@dataclass(frozen=True)
class DemoteRegistersPass(ModulePass):
    name = "tir-demote-registers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                _demote(func)


def _demote(func: FuncOp) -> None:
    registers = [op for op in all_ops(func) if type(op) is AllocOp and op.scope.data == "register"]
    shared = _shared_by_phases(func, registers) if registers else set[AllocOp]()
    for alloc in registers:
        if alloc in shared:
            edit.change(alloc)
            alloc.properties["scope"] = StringAttr("global")
        elif not indexed_by_numbers(alloc):
            edit.change(alloc)
            alloc.properties["scope"] = StringAttr("local")


def indexed_by_numbers(alloc: AllocOp) -> bool:
    """Whether unrolled loops, lanes and constants alone say which elements of a buffer its accesses name."""
    users = [use.operation for use in alloc.result.uses]
    return all(isinstance(u, AccessOp) and all(_is_number(d) for f in u.forms() for d in f.dims()) for u in users)


def _is_number(dim: Atom) -> bool:
    if not isinstance(dim, SSAValue):
        return dim == LANE
    loop = dim.owner.parent_op() if isinstance(dim.owner, Block) else None
    return isinstance(loop, ForOp) and (loop.is_unrolled or loop.kind.data == "vectorized")


def _shared_by_phases(func: FuncOp, registers: list[AllocOp]) -> set[AllocOp]:
    """The buffers that another phase uses than the one they stand in, or a parallel loop that they stand outside of."""
    groups = phases_of(func)
    if len(groups) < 2:
        return set()
    home: dict[Operation, int] = {op: n for n, group in enumerate(groups) for op in group}

    def phase(op: Operation) -> int:
        while op not in home:
            parent = op.parent_op()
            assert parent is not None
            op = parent
        return home[op]

    return {a for a in registers if any(phase(use.operation) != phase(a) for use in a.result.uses)}
