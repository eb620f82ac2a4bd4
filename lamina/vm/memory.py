"""Memory that programs manage themselves, as the virtual machine has it: storages of bytes, tensors that lie in them.

A tensor in a storage is an array over the storage's bytes: the array keeps them as long as the machine holds it, so
`memory.kill` of a storage forgets the storage and all that lies in it. What is used after that is found before a
function runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.dtypes import dtype_name, numpy_dtype
from lamina.dialects.relay.base import attrs_of
from lamina.dialects.relay.functional.debug import DebugOp
from lamina.dialects.relay.functional.memory import AllocStorageOp, AllocTensorOp, KillOp
from lamina.dialects.relay.functional.vm import ReshapeTensorOp, VmShapeOfOp
from lamina.dialects.relay.value_types import accepts, dynamic_tensor
from lamina.errors import InputError
from lamina.vm.debugging import debug

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]
    Values: TypeAlias = dict[SSAValue, Any]


def fresh_bytes(size: int) -> Array:
    """Memory of the process, with whatever is in it."""
    return np.empty(size, np.uint8)


class Storage:
    """Memory of `memory.alloc_storage`, aligned."""

    __slots__ = ("memory",)

    def __init__(self, size: int, alignment: int) -> None:
        raw = fresh_bytes(size + alignment)
        start = -raw.ctypes.data % alignment
        self.memory = raw[start : start + size]


def _alloc_storage(op: Operation, values: Values) -> None:
    assert isinstance(op, AllocStorageOp)
    size, alignment = int(values[op.size]), int(values[op.alignment])
    if size < 0:
        raise InputError(f"a storage of {size} bytes", op=op)
    if alignment < 1 or alignment & (alignment - 1):
        raise InputError(f"the alignment {alignment} is no power of two", op=op)
    values[op.result] = Storage(size, alignment)


def _alloc_tensor(op: Operation, values: Values) -> None:
    assert isinstance(op, AllocTensorOp)
    storage: Storage = values[op.storage]
    offset, shape = int(values[op.offset]), tuple(int(e) for e in values[op.shape])
    type_: Any = op.result.type
    actual = dynamic_tensor(shape, dtype_name(type_.element_type))
    if min(shape, default=0) < 0 or not accepts(type_, actual, names=False):
        raise InputError(f"the shape {list(shape)} is not that of {type_}", op=op)
    dtype = numpy_dtype(dtype_name(type_.element_type))
    end = offset + dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    if offset < 0 or end > storage.memory.size:
        raise InputError(f"bytes {offset} to {end} are not in a storage of {storage.memory.size} bytes", op=op)
    place: Any = storage.memory[offset:end]
    if place.ctypes.data % dtype.itemsize:
        raise InputError(f"the offset {offset} is no place for a {dtype}", op=op)
    values[op.result] = place.view(dtype).reshape(shape)


def _kill(op: Operation, values: Values) -> None:
    for value in _lying_in(cast(KillOp, op).to_free):
        values.pop(value, None)


def _lying_in(value: SSAValue) -> Iterator[SSAValue]:
    """A value, and if it is a storage the tensors that it holds under all their shapes."""
    yield value
    for use in value.uses:
        if isinstance(use.operation, (AllocTensorOp, ReshapeTensorOp)) and use.index == 0:
            yield from _lying_in(use.operation.result)


def _shape_of(op: Operation, values: Values) -> None:
    assert isinstance(op, VmShapeOfOp)
    values[op.result] = np.array(values[op.operands[0]].shape, numpy_dtype(op.dtype.data))


def _reshape_tensor(op: Operation, values: Values) -> None:
    assert isinstance(op, ReshapeTensorOp)
    wanted: tuple[int, ...] = attrs_of(op)["newshape"]
    given = tuple(int(e) for e in values[op.shape])
    if any(w not in (-1, g) for w, g in zip(wanted, given, strict=True)):
        raise InputError(f"vm.reshape_tensor: the shape is {list(given)}, newshape {list(wanted)}", op=op)
    try:
        values[op.result] = np.reshape(values[op.data], given)
    except ValueError:
        shape = values[op.data].shape
        raise InputError(f"vm.reshape_tensor: {list(shape)} does not fill {list(given)}", op=op) from None


def _debug(op: Operation, values: Values) -> None:
    assert isinstance(op, DebugOp)
    values[op.result] = debug(op, values)


ON_VALUES: dict[type[Operation], Callable[[Operation, Values], None]] = {
    AllocStorageOp: _alloc_storage,
    AllocTensorOp: _alloc_tensor,
    KillOp: _kill,
    VmShapeOfOp: _shape_of,
    ReshapeTensorOp: _reshape_tensor,
    DebugOp: _debug,
}
"""Ops that the virtual machine runs itself, with a function that adds their results to the values of a run."""


def check_kills(block: Block) -> None:
    """Check that nothing is used after it was killed. Raises InputError."""
    killed: set[SSAValue] = set()
    for op in block.ops:
        if killed:
            for inner in op.walk() if op.regions else (op,):
                for operand in inner.operands:
                    if operand in killed:
                        what = f"%{operand.name_hint}" if operand.name_hint else "a value"
                        raise InputError(f"{op.name} uses {what} after it was killed", op=op)
        if isinstance(op, KillOp):
            killed.update(_lying_in(op.to_free))
