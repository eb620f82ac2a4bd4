"""Quantised tensors in a graph: integers that carry what they stand for, and the table of ATen's operators on them.

    moves("flatten", "reshape", ...)            the elements are as before: the float operator, on integers
    in_floats("gt", ...)                        the float operator on real numbers
    @on_quantized("cat")                        what is said by itself; the arguments are those of the float operator
    def cat(b: AtenBuilder, tensors: Sequence[Value], dim: int = 0) -> Value: ...

Rows stand in `convert_quantized*.py`. Operators of torch's namespace `quantized` stand in the table of all others
(`@aten_op("quantized.conv2d")`); functions of one tensor are tables of bytes (`convert_quantized_functions.py`).

The arithmetic is that of torch's kernels for x86 (FBGEMM, and ATen's vectors of AVX-512), float32 in their order:

    quantize        saturate(rint(x * (1 / scale) + zero_point)), the product and the sum rounded once
    dequantize      (q - zero_point) * scale
    others          saturate(rint(x * (1 / scale)) + zero_point): a half goes to the even step, not the even integer

ATen's own kernels compute the last elements of a tensor, fewer than a vector has, as `quantize` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lamina.dialects.dtypes import integer_range
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.graph import AtenCall
from lamina.frontends.aten.quantization import PackedWeights, Quantization
from lamina.frontends.aten.table import Converter, by_table
from lamina.frontends.builder import Value

NAMESPACE = "quantized."


class QuantizedValue(Value):
    """The integers of a quantised tensor, with what they stand for."""

    __slots__ = ("channels_last", "integers", "quantization")

    def __init__(self, integers: Value, quantization: Quantization, channels_last: bool = False) -> None:
        super().__init__(integers.shape, integers.dtype, ssa=integers.ssa, array=integers.array, name=integers.name)
        self.integers = integers
        """The tensor as one of integers, which says nothing of scales."""
        self.quantization = quantization
        self.channels_last = channels_last and len(integers.shape) == 4
        """Whether torch has the channels of images last in memory here: some of its kernels round otherwise then."""

    def like(self, integers: Value, quantization: Quantization | None = None) -> QuantizedValue:
        """Integers that lie in memory as these do, and stand for the same if nothing is said."""
        return QuantizedValue(integers, quantization or self.quantization, self.channels_last)

    def __str__(self) -> str:
        return f"quantised {super().__str__()}"


@dataclass(frozen=True)
class _Row:
    convert: Converter
    whole: bool
    """Whether it takes the call and its arguments as they are."""


_ROWS: dict[str, _Row] = {}


def on_quantized(*names: str, whole: bool = False) -> Callable[[Converter], Converter]:
    """Registers what an operator does with quantised tensors: its arguments are those of the float operator.

    With `whole` it is given the call, the list of its arguments and those by name.
    """

    def register(convert: Converter) -> Converter:
        for name in names:
            if name in _ROWS:
                raise TypeError(f"{name} has two converters of quantised tensors")
            _ROWS[name] = _Row(convert, whole)
        return convert

    return register


def takes_quantized(call: AtenCall, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether an operator of ATen's is given a quantised tensor."""
    if call.packet.startswith(NAMESPACE):
        return False
    return any(isinstance(v, QuantizedValue) for v in _leaves([*args, *kwargs.values()]))


def _leaves(values: Sequence[Any]) -> Iterator[Any]:
    for v in values:
        if isinstance(v, (list, tuple)):
            yield from _leaves(v)  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield v


def of_quantized(b: AtenBuilder, call: AtenCall, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The results of an operator on quantised tensors. Raises UnsupportedError where no row of theirs has its name."""
    row = _ROWS.get(call.packet)
    if row is None:
        raise b.unsupported(f"{call.target} of quantised tensors is not supported", "dequantize before it")
    return row.convert(b, call, args, kwargs) if row.whole else row.convert(b, *args, **kwargs)


def moves(*names: str, keeps_format: bool = False) -> None:
    """Operators that move or choose elements: the float operator on integers, which stand for what they stood for.

    With `keeps_format` images whose channels lie last in memory stay so.
    """

    def convert(b: AtenBuilder, call: AtenCall, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        x = per_tensor(b, args[0])
        made = by_table(b, call, [x.integers, *args[1:]], kwargs)
        return _standing_for(x, keeps_format and x.channels_last, made)

    on_quantized(*names, whole=True)(convert)


def _standing_for(x: QuantizedValue, channels_last: bool, made: Any) -> Any:
    if isinstance(made, Value):  # beside the elements, a maximum has its places
        return QuantizedValue(made, x.quantization, channels_last) if made.dtype == x.dtype else made
    return type(made)(_standing_for(x, channels_last, m) for m in made)


def in_floats(*names: str) -> None:
    """Operators whose results are not quantised: the float operator on real numbers."""

    def convert(b: AtenBuilder, call: AtenCall, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        real = [dequantize(b, a) if isinstance(a, QuantizedValue) else a for a in args]
        return by_table(b, call, real, kwargs)

    on_quantized(*names, whole=True)(convert)


# -- operands and results --------------------------------------------------------------------------


def quantized(b: AtenBuilder, x: Any) -> QuantizedValue:
    """An operand that must be quantised. Raises InputError."""
    if not isinstance(x, QuantizedValue):
        raise b.fail(f"takes a quantised tensor, got {x}"[:200], "quantise it before")
    return x


def per_tensor(b: AtenBuilder, x: Any) -> QuantizedValue:
    """An operand that must be quantised, with one scale."""
    found = quantized(b, x)
    if found.quantization.is_per_axis:
        raise b.unsupported("data with a scale for each channel are not supported", "quantise them by tensor")
    return found


def packed(b: AtenBuilder, given: Any, *kinds: str) -> PackedWeights:
    """An operand that must be packed weights of some kinds. Raises InputError."""
    if not isinstance(given, PackedWeights) or given.kind not in kinds:
        raise b.fail("takes packed weights of another kind", "is the file whole?")
    return given


def quantization(b: AtenBuilder, scale: Any, zero_point: Any, axis: int | None = None) -> Quantization:
    """Scale and zero point as arguments: numbers, or constants; lists of them along an axis.

    Raises UnsupportedError for those that are computed at run time, InputError for what is no scale.
    """
    scales, zeros = _numbers(b, scale), _numbers(b, zero_point)
    try:
        if axis is None:
            return Quantization.of(scales.reshape(()), zeros.reshape(()))
        return Quantization.of(scales, zeros, axis)
    except ValueError as e:
        raise b.fail(str(e)) from None


def _numbers(b: AtenBuilder, given: Any) -> Any:
    if isinstance(given, Value):
        if given.array is None:
            raise b.unsupported("a scale or zero point is computed at run time", "use static quantisation")
        return given.array
    return np.asarray(given)


def scale_of(q: Quantization) -> Any:
    """The scale as the kernels have it, float32."""
    return q.scale.astype(np.float32)


def constants(b: AtenBuilder, q: Quantization) -> tuple[Value, Value]:
    """Scale and zero point as the quantised ops take them: float32 and int32."""
    zeros = q.zero_point.astype(np.int32)
    # Weights have a list of equal zero points, which passes know better as one.
    one = zeros.size and (zeros == zeros.flat[0]).all()
    return b.shared_constant(scale_of(q)), b.shared_constant(zeros.flat[0] if one else zeros)


def quantize(b: AtenBuilder, x: Value, q: Quantization, dtype: str) -> QuantizedValue:
    """Real numbers as integers, as quantize_per_tensor has it, and quantize_per_channel."""
    axis = -1 if q.axis is None else b.axis(q.axis, x.rank)
    made = b.op("qnn.quantize", x, *constants(b, q), axis=axis, out_dtype=dtype, rounding="FBGEMM")
    return QuantizedValue(made, q)


def dequantize(b: AtenBuilder, x: QuantizedValue) -> Value:
    """The real numbers, float32."""
    axis = -1 if x.quantization.axis is None else x.quantization.axis
    return b.op("qnn.dequantize", x.integers, *constants(b, x.quantization), axis=axis)


def fused_real(b: AtenBuilder, x: QuantizedValue) -> Value:
    """The real numbers as ATen's vectors compute them: q * scale - scale * zero_point, fused into one rounding."""
    scale = scale_of(x.quantization)
    made = b.mul(b.cast(x.integers, "float32"), b.constant(scale))
    offset = -scale * np.float32(x.quantization.zero_point)
    return b.add(made, b.constant(offset)) if offset else made


def stepped(
    b: AtenBuilder, steps: Value, q: Quantization, dtype: str, least: float | None = None, most: float | None = None
) -> Value:
    """Numbers of steps of a scale, float32, as integers: rounded to even, then the zero point, within two bounds."""
    zero, (low, high) = int(q.zero_point), integer_range(dtype)
    low, high = low if least is None else max(low, int(least)), high if most is None else min(high, int(most))
    # Bounds come first: far outside of them a float is no int32.
    y = b.op("clip", b.op("round", steps), a_min=float(low - zero), a_max=float(high - zero))
    y = b.cast(y, "int32")
    return b.cast(b.add(y, b.constant(np.int32(zero))) if zero else y, dtype)


def integer(q: Quantization, dtype: str, number: float) -> int:
    """A real number as an integer of a quantised tensor."""
    inverse = np.float64(np.float32(1) / scale_of(q))
    made = np.rint(np.float32(np.float64(np.float32(number)) * inverse + float(q.zero_point)))
    return int(np.clip(made, *integer_range(dtype)))


def table(x: QuantizedValue, function: Callable[[Any], Any], q: Quantization, after: bool = True) -> Any:
    """A function of float32 arrays as integers of a scale, for each integer that `x` may have, in their order.

    The zero point is added after the rounding, as by ATen's vectors, or before it.
    """
    with np.errstate(all="ignore"):
        return _table(x, function, q, after)


def _table(x: QuantizedValue, function: Callable[[Any], Any], q: Quantization, after: bool) -> Any:
    low, high = integer_range(x.dtype)
    given, scale, zero = np.arange(low, high + 1), scale_of(x.quantization), x.quantization.zero_point
    if after:
        real = (given * np.float64(scale) - np.float64(scale * np.float32(zero))).astype(np.float32)
    else:
        real = (given - zero).astype(np.float32) * scale
    made = np.asarray(function(real), np.float32)
    inverse, to = np.float32(1) / scale_of(q), np.float64(q.zero_point)
    steps = np.rint(made * inverse) + to if after else np.rint((made * np.float64(inverse) + to).astype(np.float32))
    return np.clip(steps, low, high).astype(x.dtype)
