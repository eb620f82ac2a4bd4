"""StableHLO's ops that move elements, and its constants."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.infos import TensorInfo, TypeMismatch
from lamina.dialects.lazy import np
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.dialects.relay.base import sample
from lamina.dialects.relay.core import has_special_float
from lamina.dialects.rules.op_protocol import Sample
from lamina.dialects.stablehlo.base import ElementOp, HloOp, TextKey, TypeOnlyOp, parse_operands


@irdl_op_definition
class HloConstantOp(HloOp):
    """A constant, whose values stand in the text."""

    name = "stablehlo.constant"
    value = prop_def(DenseIntOrFPElementsAttr)
    output = result_def(TensorType)
    traits = traits_def(Pure(), ConstantLike())

    def verify_(self) -> None:
        if self.value.type != self.output.type:
            raise VerifyException(f"value of type {self.value.type} for a result of type {self.output.type}")

    def print(self, printer: Printer) -> None:
        rest = self.attributes
        if rest:
            printer.print_string(" ")
            printer.print_attr_dict(rest)
        printer.print_string(" ")
        number = self.value
        if number.is_splat() and has_special_float(number):
            # In bits, with MLIR's capital letters.
            bits = number.data.data[: itemsize(dtype_name(number.get_element_type()))][::-1].hex().upper()
            printer.print_string(f"dense<0x{bits}> : ")
            printer.print_attribute(number.type)
        elif has_special_float(number):
            printer.print_string(f'dense<"0x{number.data.data.hex().upper()}"> : ')
            printer.print_attribute(number.type)
        else:
            printer.print_attribute(number)

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        if parser.parse_optional_keyword("dense") is None:
            parser.raise_error("expected dense<...>", position, parser.pos)
        value = parser.parse_dense_int_or_fp_elements_attr(None)
        return cls.create(properties={"value": value}, result_types=[value.type], attributes=attributes)


@irdl_op_definition
class IotaOp(HloOp):
    """Each element is its place along a dimension."""

    name = "stablehlo.iota"
    KEYS: ClassVar = (TextKey("dim", "iota_dimension", "int"),)
    iota_dimension = prop_def(IntegerAttr)
    output = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        info = self.info()
        if not 0 <= self.number("iota_dimension") < len(info.shape):
            raise IndexError(f"there is no dimension {self.number('iota_dimension')}")
        return info

    def evaluate(self, *arrays: Any) -> Any:
        info, dim = self.info(), self.number("iota_dimension")
        if prod(info.shape) > 4096:
            return None
        places = np.arange(info.shape[dim]).astype(numpy_dtype(info.dtype))
        return np.broadcast_to(places.reshape([-1 if d == dim else 1 for d in range(len(info.shape))]), info.shape)


@irdl_op_definition
class HloReshapeOp(HloOp):
    """The elements in their order, under another shape."""

    name = "stablehlo.reshape"
    operand = operand_def(TensorType)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        shape = self.info().shape
        if prod(shape) != prod(types[0].shape):
            raise ValueError(f"{prod(shape)} elements are asked for")
        return TensorInfo(shape, types[0].dtype)

    def evaluate(self, *arrays: Any) -> Any:
        return arrays[0].reshape(self.info().shape)


@irdl_op_definition
class BroadcastInDimOp(HloOp):
    """Operand's dimension n becomes `dims[n]`; along others, and where it has one element, it is repeated."""

    name = "stablehlo.broadcast_in_dim"
    KEYS: ClassVar = (TextKey("dims", "broadcast_dimensions", "ints"),)
    operand = operand_def(TensorType)
    broadcast_dimensions = prop_def(DenseArrayBase)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        shape, dims, (x,) = self.info().shape, self.ints("broadcast_dimensions"), types
        if len(dims) != len(x.shape) or len(set(dims)) != len(dims):
            raise ValueError(f"dims = {list(dims)} for {len(x.shape)} dimensions")
        for extent, dim in zip(x.shape, dims, strict=True):
            if not 0 <= dim < len(shape) or extent not in (1, shape[dim]):
                raise ValueError(f"a dimension of {extent} elements does not become dimension {dim} of {list(shape)}")
        return TensorInfo(shape, x.dtype)

    def evaluate(self, *arrays: Any) -> Any:
        shape, dims, (x,) = self.info().shape, self.ints("broadcast_dimensions"), arrays
        if x.size == 1 and prod(shape) > 1:
            return None  # the number is the constant
        order = sorted(range(x.ndim), key=lambda d: dims[d])
        spread = [1] * len(shape)
        for d in order:
            spread[dims[d]] = x.shape[d]
        return np.broadcast_to(x.transpose(order).reshape(spread), shape)


@irdl_op_definition
class HloTransposeOp(ElementOp):
    """Dimension n of the result is dimension `dims[n]` of the operand."""

    name = "stablehlo.transpose"
    KEYS: ClassVar = (TextKey("dims", "permutation", "ints"),)
    operand = operand_def(TensorType)
    permutation = prop_def(DenseArrayBase)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(x: TensorInfo, permutation: tuple[int, ...]) -> TensorInfo:
        if sorted(permutation) != list(range(len(x.shape))):
            raise TypeMismatch(f"dims = {list(permutation)} is no order of {len(x.shape)} dimensions")
        return TensorInfo(tuple(x.shape[d] for d in permutation), x.dtype)

    @staticmethod
    def np_ref(x: Any, permutation: tuple[int, ...]) -> Any:
        return np.transpose(x, permutation)

    @staticmethod
    def samples() -> list[Sample]:
        cases = [((2, 3, 4), (2, 0, 1)), ((2, 3), (1, 0)), ((5,), (0,)), ((1, 2, 3), (0, 2, 1))]
        return [sample(s, attrs={"permutation": p}) for s, p in cases]


@irdl_op_definition
class HloReverseOp(ElementOp):
    """The elements in the other order along some dimensions."""

    name = "stablehlo.reverse"
    SHORT: ClassVar = True
    KEYS: ClassVar = (TextKey("dims", "dimensions", "ints"),)
    operand = operand_def(TensorType)
    dimensions = prop_def(DenseArrayBase)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(x: TensorInfo, dimensions: tuple[int, ...]) -> TensorInfo:
        if len(set(dimensions)) != len(dimensions) or any(not 0 <= d < len(x.shape) for d in dimensions):
            raise TypeMismatch(f"dims = {list(dimensions)} of {len(x.shape)} dimensions")
        return x

    @staticmethod
    def np_ref(x: Any, dimensions: tuple[int, ...]) -> Any:
        return np.flip(x, dimensions)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample(s, attrs={"dimensions": d})
            for s, d in (((2, 3), (1,)), ((2, 3), (0, 1)), ((4,), (0,)), ((3, 1, 2), ()))
        ]


@irdl_op_definition
class SliceOp(ElementOp):
    """The elements from `start_indices` to before `limit_indices`, by `strides`: `[1:7:2, 0:4]`."""

    name = "stablehlo.slice"
    operand = operand_def(TensorType)
    start_indices = prop_def(DenseArrayBase)
    limit_indices = prop_def(DenseArrayBase)
    strides = prop_def(DenseArrayBase)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(
        x: TensorInfo, start_indices: tuple[int, ...], limit_indices: tuple[int, ...], strides: tuple[int, ...]
    ) -> TensorInfo:
        if not len(start_indices) == len(limit_indices) == len(strides) == len(x.shape):
            raise TypeMismatch(f"cuts {len(start_indices)} dimensions of {len(x.shape)}")
        for a, b, step, extent in zip(start_indices, limit_indices, strides, x.shape, strict=True):
            if not (0 <= a <= b <= extent and step > 0):
                raise TypeMismatch(f"{a}:{b}:{step} is no slice of {extent} elements")
        cuts = zip(start_indices, limit_indices, strides, strict=True)
        return TensorInfo(tuple(-((a - b) // step) for a, b, step in cuts), x.dtype)

    @staticmethod
    def np_ref(x: Any, start_indices: tuple[int, ...], limit_indices: tuple[int, ...], strides: tuple[int, ...]) -> Any:
        return x[tuple(slice(a, b, s) for a, b, s in zip(start_indices, limit_indices, strides, strict=True))]

    @staticmethod
    def samples() -> list[Sample]:
        cases = [
            ((7, 4), (1, 0), (6, 4), (2, 1)),
            ((5,), (2,), (5,), (1,)),
            ((3, 3, 3), (0, 1, 2), (3, 3, 3), (1, 2, 1)),
        ]
        keys = ("start_indices", "limit_indices", "strides")
        return [sample(s, attrs=dict(zip(keys, rest, strict=True))) for s, *rest in cases]

    def print_operands(self, printer: Printer) -> None:
        super().print_operands(printer)
        cuts = zip(*(self.ints(n) for n in ("start_indices", "limit_indices", "strides")), strict=True)
        texts = [f"{a}:{b}" if s == 1 else f"{a}:{b}:{s}" for a, b, s in cuts]
        printer.print_string(f" [{', '.join(texts)}]")

    def print_rest(self, printer: Printer, shown: set[str]) -> None:
        super().print_rest(printer, {"start_indices", "limit_indices", "strides"})

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        operands = parse_operands(parser)

        def cut() -> tuple[int, int, int]:
            start = parser.parse_integer(True, True)
            parser.parse_punctuation(":")
            limit = parser.parse_integer(True, True)
            return start, limit, parser.parse_integer(True, True) if parser.parse_optional_punctuation(":") else 1

        cuts = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, cut)
        names = ("start_indices", "limit_indices", "strides")
        properties: dict[str, Attribute] = {
            name: DenseArrayBase.from_list(i64, [c[n] for c in cuts]) for n, name in enumerate(names)
        }
        return cls.parse_rest(parser, operands, properties)


@irdl_op_definition
class HloConcatenateOp(HloOp):
    """The operands one behind the other along a dimension."""

    name = "stablehlo.concatenate"
    KEYS: ClassVar = (TextKey("dim", "dimension", "int"),)
    inputs = var_operand_def(TensorType)
    dimension = prop_def(IntegerAttr)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        dim, first = self.number("dimension"), types[0]
        if not 0 <= dim < len(first.shape):
            raise IndexError(f"there is no dimension {dim}")
        for t in types:
            if (
                t.dtype != first.dtype
                or t.shape[:dim] + t.shape[dim + 1 :] != first.shape[:dim] + first.shape[dim + 1 :]
            ):
                raise ValueError("the operands differ in another dimension, or in the element type")
        return TensorInfo((*first.shape[:dim], sum(t.shape[dim] for t in types), *first.shape[dim + 1 :]), first.dtype)

    def evaluate(self, *arrays: Any) -> Any:
        return np.concatenate(arrays, self.number("dimension"))


@irdl_op_definition
class HloPadOp(HloOp):
    """A value before, between and behind the elements of each dimension; fewer where `low` or `high` is negative."""

    name = "stablehlo.pad"
    KEYS: ClassVar = (
        TextKey("low", "edge_padding_low", "ints"),
        TextKey("high", "edge_padding_high", "ints"),
        TextKey("interior", "interior_padding", "ints"),
    )
    operand = operand_def(TensorType)
    padding_value = operand_def(TensorType)
    edge_padding_low = prop_def(DenseArrayBase)
    edge_padding_high = prop_def(DenseArrayBase)
    interior_padding = prop_def(DenseArrayBase)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        x, value = types
        low, high, between = (self.ints(k.attribute) for k in self.KEYS)
        if value != TensorInfo((), x.dtype) or not len(low) == len(high) == len(between) == len(x.shape):
            raise ValueError("the padding value is no scalar of the operand's type, or a list has another length")
        if min(between, default=0) < 0:
            raise ValueError("interior is negative")
        shape = tuple(a + b + n + max(n - 1, 0) * i for n, a, b, i in zip(x.shape, low, high, between, strict=True))
        if min(shape, default=0) < 0:
            raise ValueError(f"nothing is left: {list(shape)}")
        return TensorInfo(shape, x.dtype)

    def evaluate(self, *arrays: Any) -> Any:
        x, value = arrays
        low, high, between = (self.ints(k.attribute) for k in self.KEYS)
        if min((*low, *high), default=0) < 0 or any(between):
            return None
        return np.pad(x, list(zip(low, high, strict=True)), constant_values=value)


@irdl_op_definition
class OptimizationBarrierOp(TypeOnlyOp):
    """Its operands; XLA moves nothing across it."""

    name = "stablehlo.optimization_barrier"
    operand = var_operand_def(TensorType)
    result = var_result_def(TensorType)
