"""Quantised tensors in a graph: integers that carry what they stand for, and the table of ATen's operators on them.

    moves("flatten", "reshape", ...)            the elements are as before: the float operator, on integers
    in_floats("mean", ...)                      the float operator, its result quantised as the operand was
    @on_quantized("cat")                        what is said by itself; the arguments are those of the float operator
    def cat(b: AtenBuilder, tensors: Sequence[Value], dim: int = 0) -> Value: ...

Operators of torch's namespace `quantized` stand in the table of all others (`@aten_op("quantized.conv2d")`).

The arithmetic is that of torch's kernels for x86 (FBGEMM, and ATen's own vectors of AVX-512), in float32 in their order:

    quantize        saturate(rint(x * (1 / scale)) + zero_point)
    dequantize      (q - zero_point) * scale
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.graph import AtenCall
from lamina.frontends.aten.quantization import PackedWeights, Quantization
from lamina.frontends.aten.table import Converter, by_table
from lamina.frontends.builder import Value

NAMESPACE = "quantized."


class QuantizedValue(Value):
    """The integers of a quantised tensor, with what they stand for."""

    __slots__ = ("integers", "quantization")

    def __init__(self, integers: Value, quantization: Quantization) -> None:
        super().__init__(
            integers.shape, integers.dtype, ssa=integers.ssa, array=integers.array, name=integers.name
        )  # fmt: skip
        self.integers = integers
        """The tensor as one of integers, which says nothing of scales."""
        self.quantization = quantization

    def __str__(self) -> str:
        return f"quantised {super().__str__()}"


@dataclass(frozen=True)
class _Row:
    convert: Converter
    moves: bool = False


_ROWS: dict[str, _Row] = {}


def on_quantized(*names: str) -> Callable[[Converter], Converter]:
    """Registers what an operator does with quantised tensors: its arguments are those of the float operator."""

    def register(convert: Converter) -> Converter:
        for name in names:
            if name in _ROWS:
                raise TypeError(f"{name} has two converters of quantised tensors")
            _ROWS[name] = _Row(convert)
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
    return row.convert(b, call, args, kwargs) if row.moves else row.convert(b, *args, **kwargs)


def moves(*names: str) -> None:
    """Operators that move or choose elements: the float operator on integers, which stand for what they stood for."""

    def convert(b: AtenBuilder, call: AtenCall, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        x = quantized(b, args[0])
        if x.quantization.is_per_axis:
            raise b.unsupported(f"{call.target} of a tensor with a scale for each channel is not supported")
        made = by_table(b, call, [x.integers, *args[1:]], kwargs)
        return _standing_for(x.quantization, made)

    _ROWS.update({name: _Row(convert, moves=True) for name in names})


def in_floats(*names: str) -> None:
    """Operators that are computed on real numbers; the result has the scale and zero point of the operand."""

    def convert(b: AtenBuilder, call: AtenCall, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        x = quantized(b, args[0])
        return quantize(b, by_table(b, call, [dequantize(b, x), *args[1:]], kwargs), x.quantization, x.dtype)

    _ROWS.update({name: _Row(convert, moves=True) for name in names})


def _standing_for(quantization: Quantization, made: Any) -> Any:
    if isinstance(made, Value):
        return QuantizedValue(made, quantization)
    return type(made)(_standing_for(quantization, m) for m in made)


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
    found = [_numbers(b, v) for v in (scale, zero_point)]
    if axis is None:
        found = [v.reshape(()) for v in found]
    try:
        return Quantization.of(*found, axis)
    except ValueError as e:
        raise b.fail(str(e)) from None


def _numbers(b: AtenBuilder, given: Any) -> Any:
    if isinstance(given, Value):
        if given.array is None:
            raise b.unsupported("a scale or zero point is computed at run time", "use static quantisation")
        return given.array
    return np.asarray(given)


def limits(dtype: str) -> tuple[int, int]:
    """The least and the greatest integer of a quantised tensor."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def scale_of(q: Quantization) -> Any:
    """The scale as the kernels have it, float32."""
    return q.scale.astype(np.float32)


def constants(b: AtenBuilder, q: Quantization) -> tuple[Value, Value]:
    """Scale and zero point as the quantised ops take them: float32 and int32."""
    zeros = q.zero_point.astype(np.int32)
    # Weights have a list of equal zero points, which passes know better as one.
    one = zeros.size and (zeros == zeros.flat[0]).all()
    return b.constant(scale_of(q)), b.constant(np.int32(zeros.flat[0]) if one else zeros)


def quantize(b: AtenBuilder, x: Value, q: Quantization, dtype: str) -> QuantizedValue:
    """Real numbers as integers."""
    axis = -1 if q.axis is None else b.axis(q.axis, x.rank)
    made = b.op("qnn.quantize", x, *constants(b, q), axis=axis, out_dtype=dtype, rounding="FBGEMM")
    return QuantizedValue(made, q)


def dequantize(b: AtenBuilder, x: QuantizedValue) -> Value:
    """The real numbers, float32."""
    axis = -1 if x.quantization.axis is None else x.quantization.axis
    return b.op("qnn.dequantize", x.integers, *constants(b, x.quantization), axis=axis)
