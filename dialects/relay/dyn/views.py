"""relay.dyn.reshape, tile, broadcast_to, expand_dims, squeeze and strided_slice: the new shape is an operand.

    %s = relay.shape_of %y : (tensor<?x4xf32>) -> tensor<2xi32>
    %z = relay.dyn.reshape %x, %s : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x4xf32>

Each is, once the operand is known, the op of the same name without `dyn` (`value_dependent.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from xdsl.irdl import PropertyDef

from lamina.dialects.relay.base import fitting
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.value_dependent import BecomesStatic, Static

OPEN = -1
"""An extent that no type tells."""


def op_named(name: str) -> type[RelayOp]:
    """The class of an op that is known to exist."""
    from lamina.dialects.relay import find_op

    found = find_op(name)
    assert found is not None
    return found


def count_of(vector: TensorInfo, what: str) -> int:
    """The length of a vector of integers. Raises TypeMismatch for anything else."""
    check_dtype(vector.dtype, INTEGERS)
    if len(vector.shape) != 1:
        raise TypeMismatch(f"{what} is a vector, got shape {vector.shape}")
    return vector.shape[0]


def one_number(operand: TensorInfo, what: str) -> None:
    """Raises TypeMismatch unless the operand is one integer."""
    check_dtype(operand.dtype, INTEGERS)
    if operand.shape not in ((), (1,)):
        raise TypeMismatch(f"{what} is one integer, got shape {operand.shape}")


class BecomesTwin(BecomesStatic):
    """Base of the ops relay.dyn.X that are relay.X with attributes as operands: those in NEEDED, of the same name."""

    NEEDED: ClassVar[tuple[int, ...]] = (1,)
    RENAMED: ClassVar[Mapping[str, str]] = {}
    """The attributes of operands that are called otherwise."""

    @classmethod
    def static(cls, types: Sequence[TensorInfo], values: Mapping[int, Array], **attrs: Any) -> Static:
        twin = op_named(cls.name.replace("relay.dyn.", "relay."))
        names = [name for name, _ in cls.get_irdl_definition().operands]
        for n in cls.NEEDED:
            name = cls.RENAMED.get(names[n], names[n])
            attrs[name] = _as_attribute(values[n], twin.known_attributes()[name])
        return Static(twin, tuple(n for n in range(len(names)) if n not in cls.NEEDED), attrs)


def _as_attribute(array: Array, definition: PropertyDef) -> Any:
    """The numbers of an array as the attribute has them, in a list or one alone."""
    numbers: list[Any] = array.reshape(-1).tolist()
    listed = fitting(definition, to_attribute(tuple(numbers)))
    found = fitting(definition, to_attribute(numbers[0])) if listed is None else listed
    assert found is not None
    return from_attribute(found)


class DynamicOp(BecomesTwin):
    """One with one result."""

    result = result_def(TensorType)


@irdl_op_definition
class DynReshapeOp(DynamicOp, fusion_kind=OpPattern.INJECTIVE):
    """relay.reshape to a shape that is computed: -1 is what remains, 0 copies the extent unless `allowzero`."""

    name = "relay.dyn.reshape"
    data = operand_def(TensorType)
    newshape = operand_def(TensorType)
    allowzero = bool_prop(False)

    @staticmethod
    def infer_type(data: TensorInfo, newshape: TensorInfo, allowzero: bool) -> TensorInfo:
        return TensorInfo((OPEN,) * count_of(newshape, "newshape"), data.dtype)


@irdl_op_definition
class DynTileOp(DynamicOp, fusion_kind=OpPattern.INJECTIVE):
    """relay.tile as often as is computed."""

    name = "relay.dyn.tile"
    data = operand_def(TensorType)
    reps = operand_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, reps: TensorInfo) -> TensorInfo:
        count = count_of(reps, "reps")
        # Axes in front of `reps` are not repeated.
        kept = data.shape[: len(data.shape) - count] if count < len(data.shape) else ()
        return TensorInfo((*kept, *(OPEN,) * count), data.dtype)


@irdl_op_definition
class DynBroadcastToOp(DynamicOp, fusion_kind=OpPattern.BROADCAST):
    """relay.broadcast_to a shape that is computed."""

    name = "relay.dyn.broadcast_to"
    data = operand_def(TensorType)
    shape = operand_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, shape: TensorInfo) -> TensorInfo:
        count = count_of(shape, "shape")
        if count < len(data.shape):
            raise TypeMismatch(f"a shape of {count} extents for data of rank {len(data.shape)}")
        # Whatever is not 1 stays what it is.
        known = [e if e != 1 else OPEN for e in data.shape]
        return TensorInfo((*(OPEN,) * (count - len(known)), *known), data.dtype)


@irdl_op_definition
class DynExpandDimsOp(DynamicOp, fusion_kind=OpPattern.INJECTIVE):
    """relay.expand_dims at a place that is computed."""

    name = "relay.dyn.expand_dims"
    data = operand_def(TensorType)
    axis = operand_def(TensorType)
    num_newaxis = int_prop(1)

    @staticmethod
    def infer_type(data: TensorInfo, axis: TensorInfo, num_newaxis: int) -> TensorInfo:
        one_number(axis, "axis")
        if num_newaxis < 0:
            raise TypeMismatch(f"num_newaxis is {num_newaxis}")
        return TensorInfo((OPEN,) * (len(data.shape) + num_newaxis), data.dtype)


@irdl_op_definition
class DynSqueezeOp(DynamicOp, renamed={"axes": "axis"}, fusion_kind=OpPattern.INJECTIVE):
    """relay.squeeze of axes that are computed."""

    name = "relay.dyn.squeeze"
    data = operand_def(TensorType)
    axes = operand_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, axes: TensorInfo) -> TensorInfo:
        count = count_of(axes, "axes")
        if not 0 < count <= len(data.shape):
            raise TypeMismatch(f"{count} axes of a tensor of rank {len(data.shape)}")
        return TensorInfo((OPEN,) * (len(data.shape) - count), data.dtype)


@irdl_op_definition
class DynStridedSliceOp(DynamicOp, needed=(1, 2, 3), fusion_kind=OpPattern.INJECTIVE):
    """relay.strided_slice whose bounds are computed, for the leading axes; `slice_mode` as there."""

    name = "relay.dyn.strided_slice"
    data = operand_def(TensorType)
    begin = operand_def(TensorType)
    end = operand_def(TensorType)
    strides = operand_def(TensorType)
    slice_mode = str_prop("end")

    @staticmethod
    def infer_type(
        data: TensorInfo, begin: TensorInfo, end: TensorInfo, strides: TensorInfo, slice_mode: str
    ) -> TensorInfo:
        count = count_of(begin, "begin")
        if count_of(end, "end") != count or count_of(strides, "strides") != count:
            raise TypeMismatch(f"begin, end and strides have {count}, {end.shape[0]} and {strides.shape[0]} numbers")
        if count > len(data.shape):
            raise TypeMismatch(f"{count} bounds for a tensor of rank {len(data.shape)}")
        return TensorInfo((*(OPEN,) * count, *data.shape[count:]), data.dtype)
