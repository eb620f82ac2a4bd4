"""Ops that run between kernels: `vm.invoke_tvm_op`, `vm.shape_of`, `vm.reshape_tensor`, and `call_lowered`.

    %n = relay.vm.shape_of %x : (tensor<?x8xf32>) -> tensor<2xi64>
    %y = relay.vm.reshape_tensor %x, %n {newshape = [16]} : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<16xf32>
    relay.vm.invoke_tvm_op %f(%x) into (%t) : (tensor<2x8xf32>) -> tensor<2x8xf32>
    %z = relay.call_lowered %f(%x) : (tensor<2x8xf32>) -> tensor<2x8xf32>

A kernel is a `relay.fn` with the attribute Primitive, or a function of the module. `call_lowered` gives new tensors,
`vm.invoke_tvm_op` writes into those that it is given (`memory.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType
from xdsl.irdl import AttrSizedOperandSegments
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.relay.core import FnOp, FunctionCall, GlobalOp, ProgramOp, parse_function_type
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.functional.memory import AllocTensorOp
from lamina.dialects.relay.shape.values import ExtentsOf
from lamina.dialects.relay.shape.views import resolve_shape


@irdl_op_definition
class VmShapeOfOp(ExtentsOf):
    """The extents of a tensor as a vector of `dtype`, found without a kernel."""

    name = "relay.vm.shape_of"
    dtype = str_prop("int64")


@irdl_op_definition
class ReshapeTensorOp(Opaque):
    """The same elements under another shape, without a copy. `newshape` may have one -1; `shape` has its extents."""

    name = "relay.vm.reshape_tensor"

    data = operand_def(TensorType)
    shape = operand_def(TensorType)
    newshape = ints_prop()

    @classmethod
    def infer_types(
        cls, operand_types: Sequence[Attribute], properties: Properties, values: Sequence[SSAValue] = ()
    ) -> tuple[Attribute, ...]:
        data, shape = operand_types
        if is_vector_of_unknown_length(shape) and "newshape" in properties:
            shape = tensor_type((len(from_attribute(properties["newshape"])),), "int64")
        return super().infer_types((data, shape), properties, values)

    @staticmethod
    def infer_type(data: TensorInfo, shape: TensorInfo, newshape: tuple[int, ...]) -> TensorInfo:
        if shape.dtype != "int64" or len(shape.shape) != 1 or shape.shape[0] != len(newshape):
            raise TypeMismatch(f"shape is one int64 vector of {len(newshape)} extents, as newshape has, got {shape}")
        if min(newshape, default=0) < -1:
            raise TypeMismatch(f"newshape {list(newshape)} has an extent below -1")
        return TensorInfo(resolve_shape(data.shape, newshape, True), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, shape: Tensor, newshape: tuple[int, ...]) -> Tensor:
        return te.reshape(data, resolve_shape(data.shape, newshape, True), "reshape_tensor")

    @staticmethod
    def np_ref(data: Array, shape: Array, newshape: tuple[int, ...]) -> Array:
        return np.reshape(data, newshape)

    @staticmethod
    def samples() -> list[Sample]:
        def one(old: tuple[int, ...], *newshape: int, dtype: str = "float32", **kw: Any) -> Sample:
            return sample((old, dtype), ((len(newshape),), "int64"), attrs={"newshape": newshape}, **kw)

        return [
            one((2, 3, 5), 6, 5),
            one((7,), 7, 1, dtype="int32"),
            one((4, 9), -1),
            one((12,), 3, -1, 2),
            one((), 1, 1),
            one((3, 11), 11, 3, dtype="int8"),
            one((4, 2), 8, dtype="bool"),
            one((1, 1)),
            one((0, 3), 0, 5, dtype="float64"),
            one((2, 3), 4, error="6 elements of shape (2, 3) do not fill newshape [4]"),
            one((2, 3), -2, error="newshape [-2] has an extent below -1"),
            sample((6,), (2,), attrs={"newshape": (2, 3)}, error="shape is one int64 vector of 2 extents"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **_: Any) -> Gradients:
        return [to_shape(grads[0], shape_of(operands[0])), None]


@irdl_op_definition
class CallLoweredOp(FunctionCall, ProgramOp):
    """Calls a kernel. It gives new tensors."""

    name = "relay.call_lowered"

    def verify_(self) -> None:
        super().verify_()
        verify_kernel(self.callee)


@irdl_op_definition
class InvokeTvmOp(ProgramOp):
    """Calls a kernel that writes its results into tensors of `memory.alloc_tensor`, and gives none."""

    name = "relay.vm.invoke_tvm_op"
    callee = operand_def(FunctionType)
    ins = var_operand_def()
    outs = var_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @staticmethod
    def make(callee: SSAValue, ins: Sequence[SSAValue], outs: Sequence[SSAValue]) -> InvokeTvmOp:
        return InvokeTvmOp.build(operands=[callee, ins, outs])

    def function(self) -> FnOp | None:
        """The called function where it is known here."""
        owner = self.callee.owner
        return owner if isinstance(owner, FnOp) else None

    def verify_(self) -> None:
        type_ = self.callee.type
        assert isinstance(type_, FunctionType)
        verify_kernel(self.callee)
        given = tuple(v.type for v in self.ins), tuple(v.type for v in self.outs)
        if given != (type_.inputs.data, type_.outputs.data):
            raise VerifyException(f"the operands and destinations do not fit the callee {type_}")
        for n, out in enumerate(self.outs):
            if not isinstance(out.owner, AllocTensorOp):
                raise VerifyException(f"destination {n} is no tensor of relay.memory.alloc_tensor")
            if out in tuple(self.outs)[:n]:
                raise VerifyException(f"destination {n} is a destination already")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.callee)
        for word, values in (("(", self.ins), (") into (", self.outs)):
            printer.print_string(word)
            printer.print_list(values, printer.print_ssa_value)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.callee.type)

    @classmethod
    def parse(cls, parser: Parser) -> InvokeTvmOp:
        callee = parser.parse_unresolved_operand()
        ins = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        parser.parse_keyword("into")
        outs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parse_function_type(parser)
        for what, values, types in (("operands", ins, type_.inputs), ("destinations", outs, type_.outputs)):
            if len(values) != len(types):
                parser.raise_error(f"{len(values)} {what} but {len(types)} types of them", position, parser.pos)
        return cls.build(
            operands=[
                parser.resolve_operand(callee, type_),
                parser.resolve_operands(ins, type_.inputs.data, position),
                parser.resolve_operands(outs, type_.outputs.data, position),
            ],
            attributes=attributes,
        )


def is_vector_of_unknown_length(type_: Attribute) -> bool:
    """Whether a type is `tensor<?xi64>`, with a name for the extent or without."""
    if not isinstance(type_, TensorType):
        return False
    vector = cast("TensorType[Attribute]", type_)
    return vector.get_shape() == (DYNAMIC_INDEX,) and vector.element_type == i64


def verify_kernel(callee: SSAValue) -> None:
    """Check that a called function is a kernel. Raises VerifyException."""
    owner = callee.owner
    known = isinstance(owner, Operation) and (
        isinstance(owner, GlobalOp) or (isinstance(owner, FnOp) and "Primitive" in owner.attributes)
    )
    if not known:
        raise VerifyException("calls a kernel: a relay.fn with the attribute Primitive, or a relay.global")
