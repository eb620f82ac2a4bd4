"""Memory that a program manages itself: `relay-manifest-alloc` makes it so, `lamina.vm.vm` runs it.

    %s = relay.memory.alloc_storage %size, %shape, %alignment {dtype = "float32"} : tensor<2xi64>
    %t = relay.memory.alloc_tensor %s, %offset, %shape {dtype = "float32"} : (tensor<2xi64>) -> tensor<2x8xf32>
    relay.vm.invoke_tvm_op %f(%x) into (%t) : (tensor<2x8xf32>) -> tensor<2x8xf32>
    relay.memory.kill %s : !relay.storage

Sizes and places are values: constants where they are known, else computed. A tensor of `alloc_tensor` holds nothing
until a kernel has written into it. These ops stay in their order, and so does what reads the tensors: the passes that
make them are the last on their level.
"""

from __future__ import annotations

from typing import ClassVar, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.irdl import AnyOf, BaseAttr, EqAttrConstraint, ParsePropInAttrDict
from xdsl.traits import MemoryAllocEffect, MemoryFreeEffect
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.relay.core import ProgramOp, constant_value
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.value_types import StorageType, accepts, dynamic_tensor

COUNT = tensor_type((), "int64")
"""The type of a size, an alignment or an offset."""
EXTENTS = TensorType.constr(EqAttrConstraint(i64))


def known_numbers(value: SSAValue) -> tuple[int, ...] | None:
    """The integers of a value that is a constant in the text, None for any other."""
    attr = constant_value(value)
    if not isinstance(attr, DenseIntOrFPElementsAttr):
        return None
    return tuple(int(cast(int, v)) for v in attr.get_values())


def verify_extents(shape: SSAValue, result: Attribute) -> None:
    """Check the vector of a tensor's extents against its type. Raises VerifyException."""
    type_ = cast("TensorType[Attribute]", result)
    extents = type_.get_shape()
    given = cast("TensorType[Attribute]", shape.type).get_shape()
    if given != (len(extents),):
        raise VerifyException(f"the shape is one vector of {len(extents)} extents for {result}, got {shape.type}")
    known = known_numbers(shape)
    if known is not None and not accepts(result, dynamic_tensor(known, dtype_name(type_.element_type)), names=False):
        raise VerifyException(f"the shape {list(known)} is not that of {result}")


@irdl_op_definition
class AllocStorageOp(ProgramOp):
    """`size` bytes at a multiple of `alignment`, which may be for a tensor of `shape` and `dtype`."""

    name = "relay.memory.alloc_storage"
    DEVICES: ClassVar[tuple[str, ...]] = ("cpu",)

    size = operand_def(COUNT)
    shape = operand_def(EXTENTS)
    alignment = operand_def(COUNT)
    dtype = prop_def(StringAttr, default_value=StringAttr("float32"))
    virtual_device = prop_def(StringAttr, default_value=StringAttr("cpu"))
    result = result_def(StorageType)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "$size `,` $shape `,` $alignment attr-dict `:` type($shape)"

    @staticmethod
    def make(
        size: SSAValue, shape: SSAValue, alignment: SSAValue, dtype: str, virtual_device: str = "cpu"
    ) -> AllocStorageOp:
        properties: dict[str, Attribute] = {"dtype": StringAttr(dtype), "virtual_device": StringAttr(virtual_device)}
        return AllocStorageOp.create(
            operands=[size, shape, alignment], result_types=[StorageType()], properties=properties
        )

    def verify_(self) -> None:
        verify_dtype(self.dtype.data)
        if self.virtual_device.data.partition(":")[0] not in self.DEVICES:
            raise VerifyException(f"storage is on {' or '.join(self.DEVICES)}, not on {self.virtual_device.data!r}")
        size, alignment = known_numbers(self.size), known_numbers(self.alignment)
        if size is not None and size[0] < 0:
            raise VerifyException(f"a storage of {size[0]} bytes")
        if alignment is not None and (alignment[0] < 1 or alignment[0] & (alignment[0] - 1)):
            raise VerifyException(f"the alignment {alignment[0]} is no power of two")


@irdl_op_definition
class AllocTensorOp(ProgramOp):
    """A tensor in a storage, `offset` bytes from its start. The type, `const_shape` and `assert_shape` say the same."""

    name = "relay.memory.alloc_tensor"

    storage = operand_def(StorageType)
    offset = operand_def(COUNT)
    shape = operand_def(EXTENTS)
    dtype = prop_def(StringAttr, default_value=StringAttr("float32"))
    const_shape = opt_prop_def(DenseArrayBase.constr(i64))
    assert_shape = opt_prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "$storage `,` $offset `,` $shape attr-dict `:` `(` type($shape) `)` `->` type($result)"

    @staticmethod
    def make(storage: SSAValue, offset: SSAValue, shape: SSAValue, result: TensorType[Attribute]) -> AllocTensorOp:
        dtype = StringAttr(dtype_name(result.element_type))
        return AllocTensorOp.create(
            operands=[storage, offset, shape], result_types=[result], properties={"dtype": dtype}
        )

    def verify_(self) -> None:
        verify_dtype(self.dtype.data)
        type_ = self.result.type
        if type_.element_type != ir_type(self.dtype.data):
            raise VerifyException(f"a tensor of {self.dtype.data} is no {type_}")
        verify_extents(self.shape, type_)
        for name, stated in (("const_shape", self.const_shape), ("assert_shape", self.assert_shape)):
            if stated is not None and stated.get_values() != type_.get_shape():
                raise VerifyException(f"{name} {list(stated.get_values())} is not that of {type_}")
        offset = known_numbers(self.offset)
        if offset is not None and offset[0] < 0:
            raise VerifyException(f"the offset {offset[0]} lies before the storage")


@irdl_op_definition
class KillOp(ProgramOp):
    """Gives a storage back, or forgets a tensor. Neither it nor what lies in it is used after this."""

    name = "relay.memory.kill"
    to_free = operand_def(AnyOf((BaseAttr(StorageType), BaseAttr(TensorType))))

    traits = traits_def(MemoryFreeEffect())
    assembly_format = "$to_free attr-dict `:` type($to_free)"

    @staticmethod
    def make(to_free: SSAValue) -> KillOp:
        return KillOp.create(operands=[to_free])


def verify_dtype(dtype: str) -> None:
    """Check that an element type has a name that is known. Raises VerifyException."""
    try:
        ir_type(dtype)
    except (KeyError, ValueError):
        raise VerifyException(f"there is no element type {dtype!r}") from None
