"""relay-manifest-lifetimes: storage is given back after the last use of what lies in it.

Before:
    %storage = relay.memory.alloc_storage %size, %shape, %alignment : tensor<1xi64>
    %y = relay.memory.alloc_tensor %storage, %offset, %shape : (tensor<1xi64>) -> tensor<8xf32>
    relay.vm.invoke_tvm_op %f(%x) into (%y) : (tensor<8xf32>) -> tensor<8xf32>
    relay.vm.invoke_tvm_op %g(%y) into (%z) : (tensor<8xf32>) -> tensor<8xf32>
After:
    ...
    relay.vm.invoke_tvm_op %g(%y) into (%z) : (tensor<8xf32>) -> tensor<8xf32>
    relay.memory.kill %storage : !relay.storage

A tensor that is returned, or that a call, a closure, a cell or a data type is given, may live on: its storage is not
given back, and goes with the last value that refers to it. Assumes `relay-manifest-alloc`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.functional.adt import MatchOp
from lamina.dialects.relay.functional.control import IfOp
from lamina.dialects.relay.functional.debug import DebugOp
from lamina.dialects.relay.functional.memory import AllocStorageOp, AllocTensorOp, KillOp
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.dialects.relay.functional.vm import InvokeTvmOp, ReshapeTensorOp
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location
from lamina.passes.relay.fusion.fuse_ops import fusible_blocks

PARTS = (AllocTensorOp, ReshapeTensorOp, DebugOp, TupleOp, TupleGetItemOp)
"""Ops whose result lies in the same memory as their operands."""
READS = (RelayOp, InvokeTvmOp)
"""Ops that use memory only until they end."""


@dataclass(frozen=True)
class ManifestLifetimes(ModulePass):
    """Storage is given back after the last use of what lies in it."""

    name = "relay-manifest-lifetimes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp):
                for block in fusible_blocks(function):
                    end_lifetimes(block)


def end_lifetimes(block: Block) -> int:
    """Give back the storages that a block allocates: how many."""
    found = lifetimes(block)
    for storage, last in found.items():
        kill = KillOp.make(storage.result)
        inherit_location(kill, last)
        edit.insert_after(last, kill)
    return len(found)


def lifetimes(block: Block) -> dict[AllocStorageOp, Operation]:
    """The storages of a block that nothing gives back and nothing keeps, with the op that is the last to use each."""
    walk = _Walk()
    for op in block.ops:
        if isinstance(op, AllocStorageOp):
            walk.last[op] = op
            walk.within[op.result] = frozenset((op,))
        walk.visit(op, op)
    return {storage: last for storage, last in walk.last.items() if storage not in walk.kept}


@dataclass
class _Walk:
    within: dict[SSAValue, frozenset[AllocStorageOp]] = field(default_factory=dict[SSAValue, frozenset[AllocStorageOp]])
    """The storages that a value lies in."""
    last: dict[AllocStorageOp, Operation] = field(default_factory=dict[AllocStorageOp, Operation])
    kept: set[AllocStorageOp] = field(default_factory=set[AllocStorageOp])
    """Storages that something else may refer to when the block is over."""

    def visit(self, op: Operation, place: Operation) -> None:
        """Take note of an op, which stands in the block as `place` or inside of it."""
        touched = self._storages(op.operands)
        self.last.update(dict.fromkeys(touched, place))
        if type(op) in PARTS:
            self.within.update(dict.fromkeys(op.results, touched))
        elif isinstance(op, (IfOp, MatchOp)):
            # What a choice is made by is read; a match also hands out what lies inside.
            self.kept |= touched
            for region in op.regions:
                for inner in region.block.ops:
                    self.visit(inner, place)
        elif not isinstance(op, READS):
            self.kept |= touched

    def _storages(self, values: Iterable[SSAValue]) -> frozenset[AllocStorageOp]:
        return frozenset(s for v in values for s in self.within.get(v, ()))
