"""Machine intrinsics in tir: one table says what each takes, needs and means; `tir.intrinsic` names a row of it.

    %s = tir.intrinsic "llvm.x86.avx512.vpdpbusd.512"(%acc, %a, %b)
           : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
    %w = tir.bitcast %four : vector<4xi8> to i32

An intrinsic that LLVM cannot select for the target kills the process, so only rows of the table exist, each with the
features that it needs. The interpreters compute a row's `meaning`; `tir-to-llvm` and the LLVM emitter read the
rest. `tir.bitcast` gives the same bits another type, also another number of lanes; lanes lie in memory order, the
lowest bits first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    IntegerType,
    StringAttr,
    VectorType,
    bf16,
    f32,
    f64,
    i8,
    i16,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.lazy import np
from lamina.errors import did_you_mean

__all__ = ["INTRINSICS", "BitcastOp", "Intrinsic", "IntrinsicOp"]

Meaning = Callable[..., Any]


class Intrinsic(NamedTuple):
    """A row of the table. The name is LLVM's."""

    name: str
    operands: tuple[Attribute, ...]
    result: Attribute
    features: tuple[str, ...]
    """The features that the target must have, in LLVM's words."""
    meaning: Meaning
    """The value on numpy arrays, integers held signed."""
    summary: str
    settings: tuple[tuple[Attribute, int], ...] = ()
    """The other arguments of LLVM's intrinsic, the same in all calls: integers, and vectors of zeros."""

    def missing(self, has: Callable[[str], bool]) -> list[str]:
        """The features that a target lacks."""
        return [f for f in self.features if not has(f)]


# -- meanings ------------------------------------------------------------------------------------------------------


def _dot_bytes(acc: Any, a: Any, b: Any) -> Any:
    """acc[i] + sum over j < 4 of unsigned a[4i + j] * signed b[4i + j], without saturation."""
    products = a.view(np.uint8).astype(np.int32) * b.astype(np.int32)
    return acc + products.reshape(-1, 4).sum(axis=1, dtype=np.int32)


def _dot_words(acc: Any, a: Any, b: Any) -> Any:
    """acc[i] + sum over j < 2 of signed a[2i + j] * signed b[2i + j]; the sum wraps."""
    products = a.astype(np.int64) * b.astype(np.int64)
    return acc + products.reshape(-1, 2).sum(axis=1).astype(np.int32)


def _without_denormals(x: Any) -> Any:
    where: Any = np.where
    return where(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), x)


def _dot_bfloats(acc: Any, a: Any, b: Any) -> Any:
    """The odd product is added first, then the even one, each fused; denormal operands and sums are zero."""
    wide_a, wide_b = (_without_denormals(x.astype(np.float32)).astype(np.float64) for x in (a, b))
    total = _without_denormals(acc)
    for parity in (1, 0):
        exact = wide_a[parity::2] * wide_b[parity::2] + total.astype(np.float64)
        total = _without_denormals(exact.astype(np.float32))
    return total


def _fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c; no wider type of numpy's is sure to hold the sum of doubles, so these go through fractions."""
    if a.dtype == np.float32:
        return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(np.float32)
    return np.array([_fma_double(*lane) for lane in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)])


def _fma_double(a: float, b: float, c: float) -> float:
    from fractions import Fraction
    from math import isfinite

    if not (isfinite(a) and isfinite(b) and isfinite(c)):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:  # the sign of zero
        return a * b + c
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


def _nearest(x: Any) -> Any:
    """The nearest integer, halves to the even one; the least there is for what 32 bits do not hold."""
    whole = np.rint(x.astype(np.float64))
    fits = np.abs(whole + 0.5) < 2.0**31
    return np.where(fits, np.where(fits, whole, 0).astype(np.int64), -(2**31)).astype(np.int32)


def _scaled(a: Any, b: Any) -> Any:
    """a * 2^floor(b), rounded once; infinite b as the product says."""
    known = np.isfinite(b)
    powers = np.clip(np.floor(np.where(known, b, 0)), -2000, 2000).astype(np.int32)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.ldexp(a.astype(np.float64), powers).astype(np.float32)
        return np.where(known, scaled, a * np.exp2(np.where(known, 0, b))).astype(np.float32)


# -- the table -----------------------------------------------------------------------------------------------------


def _vector(lanes: int, element: Attribute) -> VectorType:
    return VectorType(element, [lanes])


def _dot(
    name: str, lanes: int, factor: Attribute, acc: Attribute, feature: str, meaning: Meaning, text: str
) -> Intrinsic:
    """A dot product within each lane of the accumulators, `lanes` of them."""
    group = itemsize(dtype_name(acc)) // itemsize(dtype_name(factor))
    wide, narrow = _vector(lanes, acc), _vector(lanes * group, factor)
    features = (feature,) if lanes == 16 else (feature, "avx512vl")
    return Intrinsic(f"{name}.{32 * lanes}", (wide, narrow, narrow), wide, features, meaning, text)


def _fused(lanes: int, element: Attribute, feature: str) -> Intrinsic:
    type_ = _vector(lanes, element)
    bits = 8 * itemsize(dtype_name(element))
    return Intrinsic(f"llvm.fma.v{lanes}f{bits}", (type_,) * 3, type_, (feature,), _fma, "a * b + c, rounded once")


def _rounded(lanes: int, feature: str) -> Intrinsic:
    name = f"llvm.lrint.v{lanes}i32.v{lanes}f32"
    text = "the nearest integers, halves to the even one"
    return Intrinsic(name, (_vector(lanes, f32),), _vector(lanes, i32), (feature,), _nearest, text)


def _scale(lanes: int) -> Intrinsic:
    type_, bits = _vector(lanes, f32), 32 * lanes
    features = ("avx512f",) if lanes == 16 else ("avx512f", "avx512vl")
    # Where the mask has no bit, the lane is that of a third vector; of the widest one the rounding may be another.
    settings = [(type_, 0), (IntegerType(max(lanes, 8)), -1), *([(i32, 4)] if lanes == 16 else [])]
    name, text = f"llvm.x86.avx512.mask.scalef.ps.{bits}", "a * 2^floor(b), rounded once"
    return Intrinsic(name, (type_, type_), type_, features, _scaled, text, tuple(settings))


_BYTES = "acc[i] + the dot product of 4 unsigned with 4 signed bytes"
_WORDS = "acc[i] + the dot product of 2 with 2 signed 16-bit integers"
_BFLOATS = "acc[i] + the dot product of 2 with 2 bfloat16 numbers"

_ROWS: list[Intrinsic] = [
    *(_dot("llvm.x86.avx512.vpdpbusd", n, i8, i32, "avx512vnni", _dot_bytes, _BYTES) for n in (4, 8, 16)),
    *(_dot("llvm.x86.avx512.vpdpwssd", n, i16, i32, "avx512vnni", _dot_words, _WORDS) for n in (4, 8, 16)),
    *(_dot("llvm.x86.avx512bf16.dpbf16ps", n, bf16, f32, "avx512bf16", _dot_bfloats, _BFLOATS) for n in (4, 8, 16)),
    *(_fused(n, f32, "avx512f" if n == 16 else "fma") for n in (4, 8, 16)),
    *(_fused(n, f64, "avx512f" if n == 8 else "fma") for n in (2, 4, 8)),
    *(_rounded(n, "avx512f" if n == 16 else "avx") for n in (4, 8, 16)),
    *map(_scale, (4, 8, 16)),
]

INTRINSICS: dict[str, Intrinsic] = {row.name: row for row in _ROWS}
"""Every intrinsic that tir may name."""


# -- ops -----------------------------------------------------------------------------------------------------------


@irdl_op_definition
class IntrinsicOp(IRDLOperation):
    """One machine instruction of the table, on vectors: `tir.intrinsic "llvm.fma.v8f32"(%a, %b, %c) : (...) -> ...`."""

    name = "tir.intrinsic"

    intrinsic = prop_def(StringAttr)
    arguments = var_operand_def()
    result = result_def()
    traits = traits_def(Pure())

    @staticmethod
    def make(name: str, *arguments: SSAValue) -> IntrinsicOp:
        """Raises KeyError for a name that is not in the table."""
        row = INTRINSICS[name]
        return IntrinsicOp.create(
            operands=list(arguments), properties={"intrinsic": StringAttr(name)}, result_types=[row.result]
        )

    @property
    def row(self) -> Intrinsic:
        return INTRINSICS[self.intrinsic.data]

    def verify_(self) -> None:
        row = INTRINSICS.get(self.intrinsic.data)
        if row is None:
            hint = did_you_mean(self.intrinsic.data, list(INTRINSICS)) or f"there is {', '.join(INTRINSICS)}"
            raise VerifyException(f"unknown intrinsic '{self.intrinsic.data}'; {hint}")
        given = FunctionType.from_lists([v.type for v in self.arguments], [self.result.type])
        wanted = FunctionType.from_lists(list(row.operands), [row.result])
        if given != wanted:
            raise VerifyException(f"'{row.name}' is of type {wanted}, not {given}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.intrinsic.data)
        with printer.in_parens():
            printer.print_list(self.arguments, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists([v.type for v in self.arguments], [self.result.type]))

    @classmethod
    def parse(cls, parser: Parser) -> IntrinsicOp:
        name = parser.parse_str_literal("the intrinsic's name")
        operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        extra = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType) or len(type_.outputs) != 1:
            parser.raise_error("an intrinsic is of a function type with one result", position)
        resolved = parser.resolve_operands(operands, type_.inputs.data, parser.pos)
        return cls.create(
            operands=resolved,
            properties={"intrinsic": StringAttr(name)},
            attributes=extra,
            result_types=list(type_.outputs),
        )


def _bits(type_: Attribute) -> int | None:
    """The bits that a value takes; None for a type that has none of its own, or no whole bytes."""
    lanes = 1
    if isinstance(type_, VectorType):
        vector = cast("VectorType[Attribute]", type_)
        (lanes,) = vector.get_shape() if vector.get_num_dims() == 1 else (0,)
        type_ = vector.element_type
    if isinstance(type_, IndexType) or type_ == IntegerType(1):
        return None
    try:
        return 8 * itemsize(dtype_name(type_)) * lanes or None
    except ValueError:
        return None


@irdl_op_definition
class BitcastOp(IRDLOperation):
    """The same bits as another type: `tir.bitcast %w : vector<16xi32> to vector<64xi8>`."""

    name = "tir.bitcast"

    value = operand_def()
    result = result_def()
    assembly_format = "$value attr-dict `:` type($value) `to` type($result)"
    traits = traits_def(Pure())

    @staticmethod
    def make(value: SSAValue, type_: Attribute) -> BitcastOp:
        return BitcastOp.create(operands=[value], result_types=[type_])

    def verify_(self) -> None:
        given, wanted = _bits(self.value.type), _bits(self.result.type)
        if given is None or given != wanted:
            raise VerifyException(f"{self.value.type} and {self.result.type} do not take the same whole bytes")


# -- for interpreters ----------------------------------------------------------------------------------------------


def evaluate_intrinsic(op: Operation, *operands: Any) -> Any:
    """The value of a tir.intrinsic on numpy arrays."""
    assert isinstance(op, IntrinsicOp)
    return op.row.meaning(*operands)
