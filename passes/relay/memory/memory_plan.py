"""relay-memory-plan: storages of a block become one, in which tensors that do not live together share bytes.

Before:
    %a = relay.memory.alloc_storage %size, %shape, %alignment : tensor<1xi64>
    %x = relay.memory.alloc_tensor %a, %zero, %shape : (tensor<1xi64>) -> tensor<8xf32>
    %b = relay.memory.alloc_storage %size, %shape, %alignment : tensor<1xi64>
    %y = relay.memory.alloc_tensor %b, %zero, %shape : (tensor<1xi64>) -> tensor<8xf32>
    relay.vm.invoke_tvm_op %f(%x) into (%y) : (tensor<8xf32>) -> tensor<8xf32>
    relay.memory.kill %a : !relay.storage
After:
    %storage = relay.memory.alloc_storage %total, %shape, %alignment {dtype = "uint8"} : tensor<1xi64>
    %x = relay.memory.alloc_tensor %storage, %zero, %shape : (tensor<1xi64>) -> tensor<8xf32>
    %y = relay.memory.alloc_tensor %storage, %offset, %shape : (tensor<1xi64>) -> tensor<8xf32>

Only what is given back in the block and has a size that is known is moved, and only where there are several of them.
A storage takes the smallest gap that storages given back before it have left. Unlike TVM's pass of this name, which
lays the tensors of a region side by side, it uses bytes again. Assumes `relay-manifest-lifetimes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.dialects import func
from xdsl.ir import Block

from lamina.dialects import edit
from lamina.dialects.relay.core import ConstantOp, make_constant
from lamina.dialects.relay.functional.memory import AllocStorageOp, AllocTensorOp, KillOp, known_numbers
from lamina.passes.arena import Arena
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location
from lamina.passes.relay.fusion.fuse_ops import fusible_blocks


@dataclass(frozen=True)
class MemoryPlan(ModulePass):
    """Storages of a block become one, in which tensors that do not live together share bytes."""

    name = "relay-memory-plan"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp):
                for block in fusible_blocks(function):
                    for device in {o.virtual_device.data: None for o in block.ops if isinstance(o, AllocStorageOp)}:
                        with edit.transaction():
                            plan(block, device)


@dataclass(frozen=True)
class _Placed:
    """A storage whose size, uses and end are known."""

    alloc: AllocStorageOp
    size: int
    alignment: int
    tensors: tuple[AllocTensorOp, ...]
    kill: KillOp


def plan(block: Block, device: str) -> int:
    """Put the storages of a block on a device into one: how many were moved."""
    candidates = [o for o in block.ops if isinstance(o, AllocStorageOp) and o.virtual_device.data == device]
    placed = [p for p in map(_placed, candidates) if p is not None]
    if len(placed) < 2:
        return 0
    alignment = max(p.alignment for p in placed)
    begun = {p.alloc: p for p in placed}
    ended = {p.kill: p for p in placed}
    arena, offsets = Arena(), dict[AllocStorageOp, int]()

    def room(p: _Placed) -> int:
        return max(-(-p.size // alignment), 1) * alignment

    for op in block.ops:
        if isinstance(op, AllocStorageOp) and op in begun:
            offsets[op] = arena.take(room(begun[op]))
        elif isinstance(op, KillOp) and op in ended:
            arena.give(offsets[ended[op].alloc], room(ended[op]))
    storage = _storage(block, placed, arena.size, alignment, device)
    last = [op for op in block.ops if op in ended][-1]
    kill = KillOp.make(storage.result)
    inherit_location(kill, last)
    edit.insert_after(last, kill)
    read = dict.fromkeys(v.owner for p in placed for op in (p.alloc, *p.tensors) for v in op.operands)
    for tensor in (t for p in placed for t in p.tensors):
        _move(tensor, storage, offsets)
    edit.erase_all(p.kill for p in placed)
    edit.erase_all(p.alloc for p in placed)
    edit.erase_all(o for o in read if isinstance(o, ConstantOp) and o.result.first_use is None)
    return len(placed)


def _placed(alloc: AllocStorageOp) -> _Placed | None:
    """A storage that may be moved, None for any other."""
    users = [use.operation for use in alloc.result.uses]
    tensors = tuple(u for u in users if isinstance(u, AllocTensorOp))
    kills = [u for u in users if isinstance(u, KillOp) and u.parent is alloc.parent]
    size, alignment = known_numbers(alloc.size), known_numbers(alloc.alignment)
    if size is None or alignment is None or len(kills) != 1 or len(users) != len(tensors) + 1:
        return None
    if any(known_numbers(t.offset) is None for t in tensors):
        return None
    return _Placed(alloc, size[0], alignment[0], tensors, kills[0])


def _storage(block: Block, placed: list[_Placed], size: int, alignment: int, device: str) -> AllocStorageOp:
    """One storage where the first one stands."""
    first = placed[0].alloc
    total, shape, multiple = (make_constant(np.array(v, np.int64), None, "") for v in (size, [size], alignment))
    storage = AllocStorageOp.make(total.result, shape.result, multiple.result, "uint8", device)
    storage.result.name_hint = "storage"
    for op in (total, shape, multiple, storage):
        inherit_location(op, first)
        edit.insert_before(first, op)
    return storage


def _move(tensor: AllocTensorOp, storage: AllocStorageOp, offsets: Mapping[AllocStorageOp, int]) -> None:
    """Let a tensor lie in the one storage, where its own has its place."""
    before, own = known_numbers(tensor.offset), tensor.storage.owner
    assert before is not None and isinstance(own, AllocStorageOp) and tensor.parent is not None
    offset = make_constant(np.array(before[0] + offsets[own], np.int64), None, "")
    inherit_location(offset, tensor)
    edit.insert_before(tensor, offset)
    tensor.operands[0] = storage.result
    tensor.operands[1] = offset.result
