"""Extents as numbers, and tensors of which nothing but the shape is given."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from lamina.dialects.dtypes import is_float, numpy_dtype
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.convert_shape import stack
from lamina.frontends.aten.graph import DType
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value

# -- extents ---------------------------------------------------------------------------------------


@aten_op("sym_size.int", "size.int")
def size(b: AtenBuilder, self: Value, dim: int) -> int:
    return self.shape[b.axis(dim, self.rank)]


@aten_op("size", "sym_size", "sym_size.default")
def sizes(b: AtenBuilder, self: Value) -> list[int]:
    return list(self.shape)


@aten_op("sym_numel", "numel")
def numel(b: AtenBuilder, self: Value) -> int:
    return prod(self.shape)


@aten_op("sym_storage_offset")
def storage_offset(b: AtenBuilder, self: Value) -> int:
    return 0


@aten_op("sym_stride.int", "stride.int")
def stride(b: AtenBuilder, self: Value, dim: int) -> int:
    return prod(self.shape[b.axis(dim, self.rank) + 1 :])


# -- tensors from nothing --------------------------------------------------------------------------


@aten_op("full", "zeros", "ones", "empty", "empty_strided", "empty_permuted")
def full(b: AtenBuilder, size: Any, fill_value: Any = None, *, dtype: DType | None = None, **_: Any) -> Value:
    """Zeros also for what is empty."""
    assert b.call is not None
    kind = b.call.packet
    number = {"zeros": 0, "ones": 1, "full": fill_value}.get(kind, 0)
    if isinstance(number, Value):
        return b.broadcast(b.tensor(number, b.dtype(dtype, number.dtype)), b.ints(size))
    usual = (
        "float32" if kind != "full" or isinstance(number, float) else "bool" if isinstance(number, bool) else "int64"
    )
    return b.filled(number, b.ints(size), b.dtype(dtype, usual))


@aten_op("full_like", "zeros_like", "ones_like", "empty_like")
def full_like(b: AtenBuilder, self: Value, fill_value: Any = None, *, dtype: DType | None = None, **_: Any) -> Value:
    assert b.call is not None
    number = {"ones_like": 1, "full_like": fill_value}.get(b.call.packet, 0)
    wanted = b.dtype(dtype, self.dtype)
    if isinstance(number, Value):
        return b.broadcast(b.tensor(number, wanted), self.shape)
    return b.filled(number, self.shape, wanted)


@aten_op("new_full", "new_zeros", "new_ones", "new_empty", "new_empty_strided")
def new_full(
    b: AtenBuilder, self: Value, size: Any, fill_value: Any = None, *, dtype: DType | None = None, **_: Any
) -> Value:
    assert b.call is not None
    number = {"new_ones": 1, "new_full": fill_value}.get(b.call.packet, 0)
    wanted = b.dtype(dtype, self.dtype)
    if isinstance(number, Value):
        return b.broadcast(b.tensor(number, wanted), b.ints(size))
    return b.filled(number, b.ints(size), wanted)


@aten_op("tensor", "as_tensor")
def tensor(b: AtenBuilder, data: Any, *, dtype: DType | None = None, **_: Any) -> Value:
    """A tensor of numbers in lists, or of another one; numbers are int64, bool or float32 unless a type is given."""
    if isinstance(data, Value):
        return data if dtype is None else b.cast(data, dtype.name)
    flat = list(_numbers(data))
    if any(isinstance(v, Value) for v in flat):
        raise b.unsupported("numbers of tensors in a list are not supported", "use torch.stack")
    usual = "bool" if flat and all(isinstance(v, bool) for v in flat) else "int64"
    usual = "float32" if not flat or any(isinstance(v, float) for v in flat) else usual
    return b.constant(np.asarray(data, numpy_dtype(b.dtype(dtype, usual))))


def _numbers(data: Any) -> Iterator[Any]:
    """The numbers in nested lists."""
    if isinstance(data, (list, tuple)):
        for v in data:  # pyright: ignore[reportUnknownVariableType]
            yield from _numbers(v)
    else:
        yield data


@aten_op("scalar_tensor")
def scalar_tensor(b: AtenBuilder, s: Any, *, dtype: DType | None = None, **_: Any) -> Value:
    return b.tensor(s, b.dtype(dtype, "float32"))


@aten_op("arange")
def arange(b: AtenBuilder, *bounds: Any, dtype: DType | None = None, step: Any = None, **_: Any) -> Value:
    """By its end; by start and end; by start, end and step."""
    numbers = [b.number(v, "a bound") for v in bounds]
    start, end, by = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    by = by if step is None else b.number(step, "the step")
    usual = "float32" if any(isinstance(v, float) for v in (start, end, by)) else "int64"
    wanted = b.dtype(dtype, usual)
    if not any(isinstance(v, float) for v in (start, end, by)):
        return b.tensor(b.counted(start, end, by), wanted)
    count = max(0, int(np.ceil((float(end) - float(start)) / float(by))))
    b.check_size((count,), wanted)
    return b.tensor(b.constant(start + np.arange(count) * by), wanted)


@aten_op("linspace", "logspace")
def linspace(
    b: AtenBuilder, start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: DType | None = None, **_: Any
) -> Value:
    assert b.call is not None
    if any(isinstance(v, Value) and v.array is None for v in (start, end)):
        low, high = (b.reshape(b.tensor(v, "float64"), ()) for v in (start, end))
        places = np.linspace(0, 1, int(steps))
        points = b.add(b.mul(low, b.constant(1 - places)), b.mul(high, b.constant(places)))
        if b.call.packet == "logspace":
            points = b.op("power", b.tensor(float(base), "float64"), points)
        chosen = b.dtype(dtype, "float32")
        return b.tensor(points if is_float(chosen) else b.op("trunc", points), chosen)
    first, last = b.number(start, "the start"), b.number(end, "the end")
    line = np.linspace(float(first), float(last), int(steps))
    if b.call.packet == "logspace":
        line = float(base) ** line
    wanted = b.dtype(dtype, "float32")
    return b.tensor(b.constant(line if is_float(wanted) else np.trunc(line)), wanted)


@aten_op("eye")
def eye(b: AtenBuilder, n: Any, m: Any = None, *, dtype: DType | None = None, **_: Any) -> Value:
    return b.tensor(
        b.constant(np.eye(int(n), None if m is None else int(m), dtype=np.float32)), b.dtype(dtype, "float32")
    )


@aten_op("tril_indices", "triu_indices")
def triangle_indices(
    b: AtenBuilder, row: int, col: int, offset: int = 0, *, dtype: DType | None = None, **_: Any
) -> Value:
    assert b.call is not None
    kind = np.tril_indices if b.call.packet == "tril_indices" else np.triu_indices
    return b.tensor(b.constant(np.stack(kind(row, offset, col)).astype(np.int64)), b.dtype(dtype, "int64"))


@aten_op("vander", "linalg_vander")
def vander(b: AtenBuilder, x: Value, N: Any = None, increasing: bool | None = None) -> Value:
    """Powers of a vector's elements beside each other."""
    assert b.call is not None
    count = (x.shape or (1,))[-1] if N is None else int(N)
    rises = increasing if increasing is not None else b.call.packet == "linalg_vander"
    base = x if b.call.packet == "vander" or is_float(x.dtype) else b.tensor(x, "int64")
    base = base if base.rank else b.reshape(base, (1,))
    columns = [b.filled(1, base.shape, base.dtype)]
    for _ in range(1, count):
        columns.append(b.mul(columns[-1], base))
    columns = columns[:count]
    return stack(b, columns if rises else columns[::-1], -1) if columns else b.zeros((*base.shape, 0), base.dtype)
