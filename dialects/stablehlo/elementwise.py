"""StableHLO's ops on elements, each with its oracle in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.dtypes import bits_of
from lamina.dialects.infos import TensorInfo, TypeMismatch
from lamina.dialects.lazy import np
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.dialects.relay.base import sample
from lamina.dialects.relay.families import ALL, BOOL, FLOATS, INTEGERS, NUMBERS, SIGNED, check_dtype
from lamina.dialects.rules.op_protocol import Sample
from lamina.dialects.stablehlo.attributes import ComparisonDirection, ComparisonType
from lamina.dialects.stablehlo.base import ElementOp, HloOp, element, parse_operands

BITS = INTEGERS + BOOL
ORDERED = NUMBERS + BOOL


class ElementwiseHlo(ElementOp):
    """Operands of one type, which is the result's, or of its shape."""

    SHORT: ClassVar = True
    DTYPES: ClassVar[tuple[str, ...]] = FLOATS
    RESULT_DTYPE: ClassVar[str | None] = None
    RANGES: ClassVar[tuple[Any, ...] | None] = None
    result = result_def(TensorType)

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        for other in types[1:]:
            if other != types[0]:
                raise TypeMismatch(f"takes operands of one type, got {types[0]} and {other}")
        return TensorInfo(types[0].shape, cls.RESULT_DTYPE or check_dtype(types[0].dtype, cls.DTYPES))

    @classmethod
    def samples(cls) -> list[Sample]:
        n = cls.operand_count() or 1
        shapes = ((2, 3, 5), (7,), (), (1, 4))
        return [
            sample(*[(shape, d)] * n, ranges=cls.RANGES, finite=finite)
            for d in cls.DTYPES
            for shape in shapes
            for finite in ((True, False) if d in FLOATS and cls.RANGES is None else (True,))
        ]


class UnaryHlo(ElementwiseHlo):
    """One operand. The header of a class gives its oracle."""

    x = operand_def(TensorType)

    def __init_subclass__(cls, np_ref: Callable[..., Any] | None = None, **facts: Any) -> None:
        super().__init_subclass__(**facts, **({"np_ref": np_ref} if np_ref else {}))


class BinaryHlo(ElementwiseHlo):
    """Two operands."""

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)

    def __init_subclass__(cls, np_ref: Callable[..., Any] | None = None, **facts: Any) -> None:
        super().__init_subclass__(**facts, **({"np_ref": np_ref} if np_ref else {}))


def _unary(name: str, title: str, oracle: Callable[[Any], Any], **facts: Any) -> type[UnaryHlo]:
    """The class of an op of one operand by its name, what it computes, and its oracle."""
    return declared(UnaryHlo, name, title, oracle, facts)


def _binary(name: str, title: str, oracle: Callable[[Any, Any], Any], **facts: Any) -> type[BinaryHlo]:
    """The class of an op of two operands."""
    return declared(BinaryHlo, name, title, oracle, facts)


def declared(base: Any, name: str, title: str, oracle: Callable[..., Any], facts: dict[str, Any]) -> Any:
    word = "".join(part.capitalize() for part in name.replace(".", "_").split("_")) + "Op"
    members = {"__doc__": f"y = {title}.", "__module__": __name__, "name": name}
    return irdl_op_definition(type(base)(word, (base,), members, np_ref=oracle, **facts))


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """NumPy's choice between two arrays."""
    numpy: Any = np
    return numpy.where(condition, yes, no)


def _truncated(a: Any, b: Any, quotient: bool) -> Any:
    """Quotients and remainders of integers as StableHLO has them; those by zero are whatever the oracle gives."""
    safe: Any = choose(b == 0, b.dtype.type(1), b)
    magnitude: Any = np.abs(a) // np.abs(safe)
    sign: Any = choose((a < 0) == (safe < 0), 1, -1).astype(a.dtype)
    found = (magnitude * sign).astype(a.dtype)
    return found if quotient else (a - found * safe).astype(a.dtype)


def _divide(a: Any, b: Any) -> Any:
    return a / b if a.dtype.kind not in "iu" else _truncated(a, b, True)


def _remainder(a: Any, b: Any) -> Any:
    return np.fmod(a, b) if a.dtype.kind not in "iu" else _truncated(a, b, False)


def _inside(x: Any, count: Any) -> Any:
    """Whether counts of places leave something of a number."""
    return (count >= 0) & (count.astype(np.int64) < 8 * x.dtype.itemsize)


def _shifted_left(a: Any, b: Any) -> Any:
    return choose(_inside(a, b), np.left_shift(a, choose(_inside(a, b), b, 0)), 0).astype(a.dtype)


def _shifted_right(a: Any, b: Any) -> Any:
    last = np.asarray(8 * a.dtype.itemsize - 1, a.dtype)
    return np.right_shift(a, choose(_inside(a, b), b, last))


def _logically_shifted(a: Any, b: Any) -> Any:
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    bits = a.astype(unsigned)
    moved = np.right_shift(bits, choose(_inside(a, b), b, 0).astype(unsigned))
    return choose(_inside(a, b), moved, 0).astype(unsigned).astype(a.dtype)


def _bit_count(x: Any, leading: bool) -> Any:
    width = 8 * x.dtype.itemsize
    bits = x.astype(np.dtype(f"u{x.dtype.itemsize}")).astype(np.uint64)
    places: Any = np.arange(width, dtype=np.uint64)
    ones: Any = (bits[..., None] >> places) & np.uint64(1)
    if not leading:
        return ones.sum(-1).astype(x.dtype)
    highest = choose(ones != 0, np.arange(width), -1).max(-1)
    return (width - 1 - highest).astype(x.dtype)


def exact(function: str) -> Callable[[Any], Any]:
    """A function of NumPy computed in float64, or in the operand's type where that is wider."""
    return lambda x: getattr(np, function)(x.astype(np.float64) if x.dtype.itemsize < 8 else x).astype(x.dtype)


def _sign(x: Any) -> Any:
    numpy: Any = np
    return numpy.sign(x)


def _logistic(x: Any) -> Any:
    return (1 / (1 + np.exp(-x.astype(np.float64)))).astype(x.dtype)


def _rsqrt(x: Any) -> Any:
    return (1 / np.sqrt(x.astype(np.float64))).astype(x.dtype)


def _atan2(a: Any, b: Any) -> Any:
    return np.arctan2(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)


def _rounded_away(x: Any) -> Any:
    size: Any = np.abs(x)
    whole: Any = np.floor(size)
    return choose(np.isfinite(x), np.copysign(whole + (size - whole >= 0.5), x), x).astype(x.dtype)


# fmt: off
AbsOp = _unary("stablehlo.abs", "the magnitude of x", lambda x: np.abs(x), dtypes=FLOATS + SIGNED)
CbrtOp = _unary("stablehlo.cbrt", "the cube root of x", exact("cbrt"))
CeilOp = _unary("stablehlo.ceil", "the next whole number not below x", lambda x: np.ceil(x))
ClzOp = _unary("stablehlo.count_leading_zeros", "the zeros before the highest bit that is one",
    lambda x: _bit_count(x, True), dtypes=INTEGERS)
CosineOp = _unary("stablehlo.cosine", "cos(x)", exact("cos"))
ExponentialOp = _unary("stablehlo.exponential", "e^x", exact("exp"))
ExponentialMinusOneOp = _unary("stablehlo.exponential_minus_one", "e^x - 1, exactly near 0", exact("expm1"))
FloorOp = _unary("stablehlo.floor", "the next whole number not above x", lambda x: np.floor(x))
IsFiniteOp = _unary("stablehlo.is_finite", "whether x is neither NaN nor infinite", lambda x: np.isfinite(x),
    result_dtype="bool", short=False)
LogOp = _unary("stablehlo.log", "ln(x)", exact("log"))
LogPlusOneOp = _unary("stablehlo.log_plus_one", "ln(1 + x), exactly near 0", exact("log1p"))
LogisticOp = _unary("stablehlo.logistic", "1 / (1 + e^-x)", lambda x: _logistic(x))
NegateOp = _unary("stablehlo.negate", "-x", lambda x: -x, dtypes=NUMBERS)
NotOp = _unary("stablehlo.not", "bit by bit, the other one", lambda x: ~x, dtypes=BITS)
PopcntOp = _unary("stablehlo.popcnt", "the number of bits that are one",
    lambda x: _bit_count(x, False), dtypes=INTEGERS)
RoundAwayOp = _unary("stablehlo.round_nearest_afz", "the nearest whole number, halves away from 0",
    lambda x: _rounded_away(x))
RoundEvenOp = _unary("stablehlo.round_nearest_even", "the nearest whole number, halves to the even one",
    lambda x: np.rint(x))
RsqrtOp = _unary("stablehlo.rsqrt", "1 / sqrt(x)", lambda x: _rsqrt(x))
SignOp = _unary("stablehlo.sign", "-1, 0 or 1 with the sign of x", lambda x: _sign(x), dtypes=FLOATS + SIGNED)
SineOp = _unary("stablehlo.sine", "sin(x)", exact("sin"))
SqrtOp = _unary("stablehlo.sqrt", "the square root of x", exact("sqrt"))
TanOp = _unary("stablehlo.tan", "tan(x)", exact("tan"), ranges=((-1.4, 1.4),))
TanhOp = _unary("stablehlo.tanh", "tanh(x)", exact("tanh"))
AddOp = _binary("stablehlo.add", "lhs + rhs; of booleans whether one holds", lambda a, b: a + b, dtypes=ALL)
AndOp = _binary("stablehlo.and", "bit by bit, whether both are one", lambda a, b: a & b, dtypes=BITS)
Atan2Op = _binary("stablehlo.atan2", "the angle of the point (rhs, lhs)", lambda a, b: _atan2(a, b), dtypes=FLOATS)
DivideOp = _binary("stablehlo.divide", "lhs / rhs; of integers towards 0", _divide, dtypes=NUMBERS,
    ranges=((-8.0, 8.0), (1.0, 8.0)))
MaximumOp = _binary("stablehlo.maximum", "the larger one, NaN if one is", lambda a, b: np.maximum(a, b), dtypes=ORDERED)
MinimumOp = _binary("stablehlo.minimum", "the smaller one, NaN if one is", lambda a, b: np.minimum(a, b),
    dtypes=ORDERED)
MultiplyOp = _binary("stablehlo.multiply", "lhs * rhs; of booleans whether both hold", lambda a, b: a * b, dtypes=ALL)
OrOp = _binary("stablehlo.or", "bit by bit, whether one is one", lambda a, b: a | b, dtypes=BITS)
PowerOp = _binary("stablehlo.power", "lhs^rhs", lambda a, b: np.power(a, b), ranges=((0.1, 3.0), (-2.0, 2.0)))
RemainderOp = _binary("stablehlo.remainder", "lhs - trunc(lhs / rhs) * rhs", _remainder, dtypes=NUMBERS,
    ranges=((-8.0, 8.0), (1.0, 8.0)))
ShiftLeftOp = _binary("stablehlo.shift_left", "lhs * 2^rhs, 0 where no bit is left", _shifted_left, dtypes=INTEGERS)
ShiftRightArithmeticOp = _binary("stablehlo.shift_right_arithmetic", "lhs / 2^rhs, filled up with the sign",
    _shifted_right, dtypes=SIGNED)
ShiftRightLogicalOp = _binary("stablehlo.shift_right_logical", "the bits of lhs moved down by rhs, filled up with 0",
    _logically_shifted, dtypes=INTEGERS)
SubtractOp = _binary("stablehlo.subtract", "lhs - rhs", lambda a, b: a - b, dtypes=NUMBERS)
XorOp = _binary("stablehlo.xor", "bit by bit, whether just one is one", lambda a, b: a ^ b, dtypes=BITS)
# fmt: on


# -- choices ------------------------------------------------------------------------------------------


@irdl_op_definition
class HloSelectOp(ElementOp):
    """y = on_true where the condition holds, else on_false; the condition may be one for all."""

    name = "stablehlo.select"
    pred = operand_def(TensorType)
    on_true = operand_def(TensorType)
    on_false = operand_def(TensorType)
    result = result_def(TensorType)

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        pred, yes, no = types
        if yes != no or pred.dtype != "bool" or pred.shape not in ((), yes.shape):
            raise TypeMismatch(f"takes a condition and two operands of one type, got {pred}, {yes} and {no}")
        return yes

    @staticmethod
    def np_ref(pred: Any, on_true: Any, on_false: Any) -> Any:
        return choose(pred, on_true, on_false)

    @staticmethod
    def samples() -> list[Sample]:
        return [sample((s, "bool"), (shape, d), (shape, d)) for d in ALL for shape in ((3, 4), ()) for s in ((), shape)]

    def print_types(self, printer: Printer) -> None:
        printer.print_list([self.pred.type, self.result.type], printer.print_attribute)

    @classmethod
    def parse_types(cls, parser: Parser, count: int) -> tuple[list[Attribute], list[Attribute]]:
        first = parser.parse_type()
        if not isinstance(first, TensorType):
            return list(first.inputs.data), list(first.outputs.data)  # type: ignore[attr-defined]
        parser.parse_punctuation(",")
        second = parser.parse_type()
        return [first, second, second], [second]


@irdl_op_definition
class HloClampOp(ElementOp):
    """y = min(max(operand, min), max); bounds are of the operand's shape, or one for all."""

    name = "stablehlo.clamp"
    SHORT: ClassVar = True
    low = operand_def(TensorType)
    operand = operand_def(TensorType)
    high = operand_def(TensorType)
    result = result_def(TensorType)

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        low, x, high = types
        for bound in (low, high):
            if bound.dtype != x.dtype or bound.shape not in ((), x.shape):
                raise TypeMismatch(f"takes bounds of the operand's type, got {low}, {x} and {high}")
        check_dtype(x.dtype, NUMBERS)
        return x

    @staticmethod
    def np_ref(low: Any, operand: Any, high: Any) -> Any:
        return np.minimum(np.maximum(operand, low), high)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((low, d), ((3, 4), d), (high, d), ranges=((0.0, 2.0), (0.0, 8.0), (2.0, 6.0)))
            for d in NUMBERS
            for low, high in (((), ()), ((3, 4), (3, 4)), ((), (3, 4)))
        ]


@irdl_op_definition
class CompareOp(ElementwiseHlo):
    """Whether the operands stand in a relation."""

    name = "stablehlo.compare"
    SHORT: ClassVar = False
    DTYPES: ClassVar = ALL
    RESULT_DTYPE: ClassVar = "bool"
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    comparison_direction = prop_def(ComparisonDirection)
    compare_type = opt_prop_def(ComparisonType)

    @staticmethod
    def np_ref(lhs: Any, rhs: Any, comparison_direction: str, compare_type: str | None = None) -> Any:
        names = {
            "EQ": "equal",
            "NE": "not_equal",
            "GE": "greater_equal",
            "GT": "greater",
            "LE": "less_equal",
            "LT": "less",
        }
        if compare_type == "TOTALORDER":
            lhs, rhs = total_order(lhs), total_order(rhs)
        return getattr(np, names[comparison_direction])(lhs, rhs)

    def print_operands(self, printer: Printer) -> None:
        printer.print_string(f" {self.comparison_direction.data}, ")
        printer.print_list(self.operands, printer.print_ssa_value)
        if self.compare_type is not None:
            printer.print_string(f", {self.compare_type.data}")

    def print_rest(self, printer: Printer, shown: set[str]) -> None:
        super().print_rest(printer, {"comparison_direction", "compare_type"})

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        properties: dict[str, Attribute] = {
            "comparison_direction": ComparisonDirection(ComparisonDirection.parse_parameter(parser))
        }
        parser.parse_punctuation(",")
        operands = parse_operands(parser)
        if parser.parse_optional_punctuation(","):
            properties["compare_type"] = ComparisonType(ComparisonType.parse_parameter(parser))
        return cls.parse_rest(parser, operands, properties)


def total_order(x: Any) -> Any:
    """Integers in the order of floats in which -0 is below 0 and NaNs are at the ends."""
    bits = x.view(np.dtype(f"i{x.dtype.itemsize}"))
    return choose(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


# -- types --------------------------------------------------------------------------------------------


@irdl_op_definition
class ConvertOp(HloOp):
    """The numbers in another element type; floats go towards 0 to integers, and what is not 0 is true."""

    name = "stablehlo.convert"
    SHORT: ClassVar = True
    operand = operand_def(TensorType)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        return TensorInfo(types[0].shape, element(self.result.type))

    def evaluate(self, *arrays: Any) -> Any:
        (x,) = arrays
        dtype = element(self.result.type)
        if x.dtype.kind not in "iub" and dtype not in FLOATS and dtype != "bool":
            return None  # what is out of range is the machine's matter
        return (x != 0) if dtype == "bool" else x.astype(numpy_dtype(dtype))


@irdl_op_definition
class BitcastConvertOp(HloOp):
    """The bits in another element type."""

    name = "stablehlo.bitcast_convert"
    operand = operand_def(TensorType)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo | None:
        dtype = element(self.result.type)
        here, there = bits_of(types[0].dtype), bits_of(dtype)
        return TensorInfo(types[0].shape, dtype) if here == there else None

    def evaluate(self, *arrays: Any) -> Any:
        (x,) = arrays
        dtype = numpy_dtype(element(self.result.type))
        if dtype.itemsize != x.dtype.itemsize or "bool" in (str(dtype), str(x.dtype)):
            return None
        return x.reshape(-1).view(dtype).reshape(x.shape)


@irdl_op_definition
class ReducePrecisionOp(HloOp):
    """Floats rounded to fewer bits, in the same type: `format = e5m10`."""

    name = "stablehlo.reduce_precision"
    SHORT: ClassVar = True
    operand = operand_def(TensorType)
    exponent_bits = prop_def(Attribute)
    mantissa_bits = prop_def(Attribute)
    result = result_def(TensorType)

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        return types[0]

    def print(self, printer: Printer) -> None:
        self.print_operands(printer)
        printer.print_string(f", format = e{self.number('exponent_bits')}m{self.number('mantissa_bits')}")
        self.print_rest(printer, {"exponent_bits", "mantissa_bits"})

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        from re import fullmatch

        from xdsl.dialects.builtin import IntegerAttr, i32

        operands = parse_operands(parser)
        parser.parse_punctuation(",")
        parser.parse_keyword("format")
        parser.parse_punctuation("=")
        position = parser.pos
        match = fullmatch(r"e([0-9]{1,3})m([0-9]{1,3})", parser.parse_identifier())
        if match is None:
            parser.raise_error("expected a format, e5m10", position, parser.pos)
        bits = {"exponent_bits": IntegerAttr(int(match[1]), i32), "mantissa_bits": IntegerAttr(int(match[2]), i32)}
        return cls.parse_rest(parser, operands, dict[str, Attribute](bits))
