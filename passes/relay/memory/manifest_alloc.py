"""relay-manifest-alloc: kernels write into memory that the program itself provides.

Before:
    %y = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
After:
    %size = relay.constant dense<32> : tensor<i64>
    ...
    %storage = relay.memory.alloc_storage %size, %shape, %alignment : tensor<1xi64>
    %y = relay.memory.alloc_tensor %storage, %offset, %shape : (tensor<1xi64>) -> tensor<8xf32>
    relay.vm.invoke_tvm_op %f(%x) into (%y) : (tensor<8xf32>) -> tensor<8xf32>

Each result of a kernel gets a storage of its own. Extents that are unknown are those of an operand of the same shape,
`vm.shape_of` at run time; a call whose results' extents no operand has stays, and the machine provides for it. A kernel
that only reshapes is `vm.reshape_tensor`, which moves nothing. Functions that are no kernels and external compilers'
stay. Assumes `relay-fuse-ops`; what comes behind must keep the order of ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp, make_constant
from lamina.dialects.relay.elementwise.arithmetic import MultiplyOp
from lamina.dialects.relay.functional.memory import AllocStorageOp, AllocTensorOp
from lamina.dialects.relay.functional.vm import CallLoweredOp, InvokeTvmOp, ReshapeTensorOp, VmShapeOfOp
from lamina.dialects.relay.reduce.reductions import ProdOp
from lamina.dialects.relay.value_types import UNNAMED, extents, is_dynamic
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location
from lamina.passes.relay.fusion.fuse_ops import fusible_blocks

ALIGNMENT = 64


@dataclass(frozen=True)
class ManifestAlloc(ModulePass):
    """Kernels write into memory that the program itself provides."""

    name = "relay-manifest-alloc"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp) and "Compiler" not in function.attributes:
                for block in fusible_blocks(function):
                    allocate(block)


def allocate(block: Block) -> int:
    """Make the calls of kernels in a block write into memory of the program: how many were changed."""
    rewriter = _Allocation(block)
    calls = [op for op in block.ops if isinstance(op, (CallOp, CallLoweredOp))]
    done = 0
    for op in calls:
        with edit.transaction():
            done += rewriter.call(op)
    return done


@dataclass
class _Allocation:
    block: Block
    constants: dict[tuple[int, ...] | int, SSAValue] = field(default_factory=dict[Any, SSAValue])
    """Vectors and numbers that there are already."""

    def call(self, call: CallOp | CallLoweredOp) -> bool:
        function = call.callee.owner
        if isinstance(call, CallOp) and not (isinstance(function, FnOp) and _is_kernel(function)):
            return False
        if [v.type for v in call.arguments] != list(cast(Any, call.callee.type).inputs):
            return False
        if isinstance(function, FnOp) and _only_reshapes(function) and not is_dynamic(call.result_types[0]):
            self._reshape(call)
            return True
        sources = [self._source(t, call.arguments) for t in call.result_types]
        if any(s is None for s in sources):
            return False
        outs = [self._tensor(cast(Any, r.type), s, call) for r, s in zip(call.results, sources, strict=True)]
        self._add(InvokeTvmOp.make(call.callee, call.arguments, outs), call)
        self._replace(call, outs)
        return True

    def _source(self, type_: Attribute, arguments: Sequence[SSAValue]) -> SSAValue | bool | None:
        """The source of a result's extents: in its type (True), in an operand's shape, or nowhere."""
        if not isinstance(type_, TensorType):
            return None
        wanted = extents(cast("TensorType[Any]", type_))
        if DYNAMIC_INDEX not in type_.get_shape():
            return True
        if UNNAMED in wanted:
            return None
        tensors = [a for a in arguments if isinstance(a.type, TensorType)]
        return next((a for a in tensors if extents(cast(Any, a.type)) == wanted), None)

    def _tensor(self, type_: TensorType[Attribute], source: SSAValue | bool | None, call: Operation) -> SSAValue:
        dtype = dtype_name(type_.element_type)
        width = itemsize(dtype)
        if isinstance(source, SSAValue):
            shape = self._add(VmShapeOfOp.make(source), call)
            count = self._add(ProdOp.make(shape), call)
            size = self._add(MultiplyOp.make(count, self._constant(width, call)), call)
        else:
            shape = self._constant(type_.get_shape(), call)
            size = self._constant(width * prod(type_.get_shape()), call)
        storage = self._add(AllocStorageOp.make(size, shape, self._constant(ALIGNMENT, call), dtype), call)
        storage.name_hint = "storage"
        return self._add(AllocTensorOp.make(storage, self._constant(0, call), shape, type_), call)

    def _reshape(self, call: CallOp | CallLoweredOp) -> None:
        shape = cast("TensorType[Any]", call.result_types[0]).get_shape()
        new = ReshapeTensorOp.make(call.arguments[0], self._constant(shape, call), newshape=shape)
        self._replace(call, [self._add(new, call)])

    def _constant(self, value: tuple[int, ...] | int, call: Operation) -> SSAValue:
        found = self.constants.get(value)
        if found is None:
            constant = make_constant(np.array(value, np.int64), None, "")
            found = self.constants[value] = self._add(constant, call)
        return found

    def _add(self, op: Operation, call: Operation) -> Any:
        inherit_location(op, call)
        edit.insert_before(call, op)
        return op.results[0] if op.results else None

    def _replace(self, call: CallOp | CallLoweredOp, values: Sequence[SSAValue]) -> None:
        function = call.callee.owner
        edit.replace(call, values)
        if isinstance(function, FnOp) and function.result.first_use is None:
            edit.erase(function)


def _is_kernel(function: FnOp) -> bool:
    return "Primitive" in function.attributes and "Compiler" not in function.attributes


def _only_reshapes(function: FnOp) -> bool:
    """Whether a function gives the elements of its one parameter under another shape."""
    value: SSAValue = function.body.block.args[0] if len(function.body.block.args) == 1 else function.result
    for op in function.body.block.ops:
        if isinstance(op, RelayOp) and op.RESHAPES and op.operands[0] is value:
            value = op.results[0]
        elif not isinstance(op, ConstantOp) and op is not function.body.block.last_op:
            return False
    return function.returned == (value,) and isinstance(value.owner, RelayOp)
