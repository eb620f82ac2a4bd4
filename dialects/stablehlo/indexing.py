"""StableHLO's ops at places that the program computes."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, TensorType
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.infos import TensorInfo
from lamina.dialects.stablehlo.attributes import GatherRoles, ScatterRoles
from lamina.dialects.stablehlo.base import GenericHlo, HloOp, TextKey, parse_operands


@irdl_op_definition
class DynamicSliceOp(HloOp):
    """A slice of a size at a place, which is moved so that all of it is inside."""

    name = "stablehlo.dynamic_slice"
    KEYS: ClassVar = (TextKey("sizes", "slice_sizes", "ints"),)
    operand = operand_def(TensorType)
    start_indices = var_operand_def(TensorType)
    slice_sizes = prop_def(DenseArrayBase)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        sizes, x = self.ints("slice_sizes"), types[0]
        _check_starts(x, types[1:])
        if len(sizes) != len(x.shape) or any(not 0 <= n <= e for n, e in zip(sizes, x.shape, strict=True)):
            raise ValueError(f"sizes = {list(sizes)} of {x}")
        return TensorInfo(sizes, x.dtype)

    def evaluate(self, *arrays: Any) -> Any:
        sizes, x = self.ints("slice_sizes"), arrays[0]
        return x[clamped(x.shape, sizes, [int(s) for s in arrays[1:]])]


@irdl_op_definition
class DynamicUpdateSliceOp(HloOp):
    """The operand with a slice at a place replaced; the slice is moved so that all of it is inside."""

    name = "stablehlo.dynamic_update_slice"
    operand = operand_def(TensorType)
    update = operand_def(TensorType)
    start_indices = var_operand_def(TensorType)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        x, update = types[:2]
        _check_starts(x, types[2:])
        if update.dtype != x.dtype or len(update.shape) != len(x.shape):
            raise ValueError(f"the update is {update}")
        if any(n > e for n, e in zip(update.shape, x.shape, strict=True)):
            raise ValueError(f"the update is {update}")
        return x

    def evaluate(self, *arrays: Any) -> Any:
        x = arrays[0].copy()
        x[clamped(x.shape, arrays[1].shape, [int(s) for s in arrays[2:]])] = arrays[1]
        return x


def _check_starts(x: TensorInfo, starts: tuple[TensorInfo, ...]) -> None:
    if len(starts) != len(x.shape) or any(s.shape or s.dtype.startswith("float") for s in starts):
        raise ValueError(f"{len(starts)} numbers for {len(x.shape)} dimensions, or one is no integer")


def clamped(shape: tuple[int, ...], sizes: tuple[int, ...], starts: list[int]) -> tuple[slice, ...]:
    """The slices of a size at a place, moved inside."""
    places = [min(max(s, 0), e - n) for s, e, n in zip(starts, shape, sizes, strict=True)]
    return tuple(slice(p, p + n) for p, n in zip(places, sizes, strict=True))


@irdl_op_definition
class HloGatherOp(GenericHlo):
    """Slices of the operand at places that `start_indices` has."""

    name = "stablehlo.gather"
    operand = operand_def(TensorType)
    start_indices = operand_def(TensorType)
    dimension_numbers = prop_def(GatherRoles)
    slice_sizes = prop_def(Attribute)
    indices_are_sorted = opt_prop_def(IntegerAttr)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        x, indices = types
        roles, sizes = self.dimension_numbers, self.ints("slice_sizes")
        offset, vector = roles.of("offset_dims"), roles.of("index_vector_dim")
        dropped: set[int] = {*roles.of("collapsed_slice_dims"), *roles.of("operand_batching_dims")}
        check_dims(
            x, roles.of("start_index_map"), *(roles.of(n) for n in ("collapsed_slice_dims", "operand_batching_dims"))
        )
        if len(sizes) != len(x.shape) or any(not 0 <= n <= e for n, e in zip(sizes, x.shape, strict=True)):
            raise ValueError(f"slice_sizes = {list(sizes)} of {x}")
        if any(sizes[d] > 1 for d in dropped):
            raise ValueError("a dimension of more than one element is collapsed")
        check_vector(indices, vector, len(roles.of("start_index_map")))
        batch = [e for d, e in enumerate(indices.shape) if d != vector]
        window = [e for d, e in enumerate(sizes) if d not in dropped]
        if len(offset) != len(window) or len(set(offset)) != len(offset):
            raise ValueError(f"offset_dims = {list(offset)} for slices of {len(window)} dimensions")
        return TensorInfo(interleaved(batch, window, offset), x.dtype)


@irdl_op_definition
class ScatterOp(GenericHlo):
    """The inputs with updates joined to their elements at the places of `scatter_indices`."""

    name = "stablehlo.scatter"
    inputs = var_operand_def(TensorType)
    scatter_dimension_numbers = prop_def(ScatterRoles)
    indices_are_sorted = opt_prop_def(IntegerAttr)
    unique_indices = opt_prop_def(IntegerAttr)
    update_computation = region_def()
    result = var_result_def(TensorType)

    @property
    def count(self) -> int:
        """The number of inputs: there are as many updates, and one tensor of places."""
        return (len(self.operands) - 1) // 2

    def result_info(self, *types: TensorInfo) -> list[TensorInfo]:
        from lamina.dialects.stablehlo.control import check_region
        from lamina.dialects.stablehlo.reduce import scalars

        n, roles = self.count, self.scatter_dimension_numbers
        if n < 1 or len(types) != 2 * n + 1:
            raise ValueError(f"{len(types)} operands are no inputs, indices and updates")
        x, indices, update = types[0], types[n], types[n + 1]
        one = scalars(self.operand_types[:n])
        check_region(self.update_computation, [*one, *one], one, "the region")
        window, vector = roles.of("update_window_dims"), roles.of("index_vector_dim")
        names = ("inserted_window_dims", "input_batching_dims")
        check_dims(x, roles.of("scatter_dims_to_operand_dims"), *(roles.of(m) for m in names))
        check_vector(indices, vector, len(roles.of("scatter_dims_to_operand_dims")))
        dropped = {d for m in names for d in roles.of(m)}
        check_dims(update, window)
        batch = [e for d, e in enumerate(indices.shape) if d != vector]
        rest = [e for d, e in enumerate(update.shape) if d not in window]
        kept = [e for d, e in enumerate(x.shape) if d not in dropped]
        sizes: list[int] = [update.shape[d] for d in window]
        if rest != batch or len(kept) != len(sizes) or any(a > b for a, b in zip(sizes, kept, strict=True)):
            raise ValueError(f"updates {update} do not fit")
        return list(types[:n])


def check_dims(x: TensorInfo, *lists: tuple[int, ...]) -> None:
    """Check lists of dimensions. Raises ValueError for one that is not there, or twice in its list."""
    for dims in lists:
        if len(set(dims)) != len(dims) or any(not 0 <= d < len(x.shape) for d in dims):
            raise ValueError(f"the dimensions {list(dims)} of {x}")


def check_vector(indices: TensorInfo, vector: int, count: int) -> None:
    """Check that the places have a number for each dimension. Raises ValueError."""
    rank = len(indices.shape)
    if not 0 <= vector <= rank or (indices.shape[vector] if vector < rank else 1) != count:
        raise ValueError(f"index_vector_dim = {vector} of {indices} for {count} dimensions")
    if indices.dtype.startswith(("float", "bfloat", "bool")):
        raise ValueError(f"indices are integers, not {indices.dtype}")


def interleaved(batch: list[int], window: list[int], offset: tuple[int, ...]) -> tuple[int, ...]:
    """The extents of batches and windows, these at the places `offset`."""
    rest, inside = iter(batch), iter(window)
    rank = len(batch) + len(window)
    if any(not 0 <= d < rank for d in offset):
        raise ValueError(f"offset_dims = {list(offset)} of {rank}")
    return tuple(next(inside) if d in offset else next(rest) for d in range(rank))


@irdl_op_definition
class ChloTopKOp(HloOp):
    """The k largest elements of each row, and their places: `chlo.top_k(%x, k = 2) : t -> (t, t)`."""

    name = "chlo.top_k"
    operand = operand_def(TensorType)
    k = prop_def(IntegerAttr)
    values = result_def(TensorType)
    indices = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> list[TensorInfo]:
        (x,), k = types, self.number("k")
        if not x.shape or not 0 <= k <= x.shape[-1]:
            raise ValueError(f"k = {k} of {x}")
        shape = (*x.shape[:-1], k)
        return [TensorInfo(shape, x.dtype), TensorInfo(shape, "int32")]

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            printer.print_ssa_value(self.operand)
            printer.print_string(f", k = {self.number('k')}")
        self.print_dict(printer, {"k"})
        printer.print_string(" : ")
        printer.print_attribute(self.operand.type)
        printer.print_string(" -> (")
        printer.print_list(self.result_types, printer.print_attribute)
        printer.print_string(")")

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        from xdsl.dialects.builtin import i64

        with parser.in_parens():
            (operand,) = parse_operands(parser)[:1] or [parser.parse_unresolved_operand()]
            parser.parse_punctuation(",")
            parser.parse_keyword("k")
            parser.parse_punctuation("=")
            k = IntegerAttr(parser.parse_integer(True, True), i64)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        parser.parse_punctuation("->")
        types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        value = parser.resolve_operand(operand, type_)
        return cls.create(operands=[value], result_types=types, properties={"k": k}, attributes=attributes)
