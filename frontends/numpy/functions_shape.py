"""NumPy's functions that change shapes, join arrays and cut them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from lamina.errors import UsageError
from lamina.frontends.builder import Value
from lamina.frontends.numpy.builder import NumpyBuilder
from lamina.frontends.numpy.table import implements


def normal_axis(b: NumpyBuilder, axis: Any, rank: int) -> int:
    """An axis counted from the front. Raises UsageError as NumPy does."""
    found = int(b.known(axis, "an axis"))
    if not -rank <= found < rank:
        raise UsageError(f"axis {found} is out of bounds for an array of {rank} axes", where=b.where)
    return found % rank


def normal_axes(b: NumpyBuilder, axes: Any, rank: int) -> list[int]:
    """Axes counted from the front, in their order; None is all of them."""
    if axes is None:
        return list(range(rank))
    given: list[Any] = list(axes) if isinstance(axes, (tuple, list)) else [axes]  # pyright: ignore[reportUnknownArgumentType]
    return [normal_axis(b, a, rank) for a in given]


def extents(b: NumpyBuilder, shape: Any) -> tuple[int, ...]:
    """A shape that a user gives: an integer, or integers in a tuple, list or array."""
    known: Any = b.known(shape, "a shape")
    if isinstance(known, (list, tuple)):
        known = [b.known(e, "an extent") for e in known]  # pyright: ignore[reportUnknownVariableType]
    return tuple(int(e) for e in np.atleast_1d(np.asarray(known)))


@implements("reshape", view=True)
def reshape(b: NumpyBuilder, a: Value, shape: Any = None, order: str = "C", *, copy: Any = None) -> Value:
    wanted = list(extents(b, shape))
    size = prod(a.shape)
    if -1 in wanted:
        rest = prod(e for e in wanted if e != -1)
        wanted[wanted.index(-1)] = size // rest if rest else 0
    if prod(wanted) != size or any(e < 0 for e in wanted):
        raise UsageError(f"cannot reshape an array of size {size} into shape {extents(b, shape)}", where=b.where)
    if order == "F":
        turned = b.reshape(b.transpose(a, list(range(a.rank))[::-1]), wanted[::-1])
        return b.transpose(turned, list(range(turned.rank))[::-1])
    return b.reshape(a, wanted)


@implements("ravel", view=True)
def ravel(b: NumpyBuilder, a: Any, order: str = "C") -> Value:
    return reshape(b, b.tensor(a), (prod(b.tensor(a).shape),), "F" if order == "F" else "C")


@implements("transpose", "permute_dims", view=True)
def transpose(b: NumpyBuilder, a: Value, axes: Any = None) -> Value:
    order = list(range(a.rank))[::-1] if axes is None else normal_axes(b, axes, a.rank)
    if sorted(order) != list(range(a.rank)):
        raise UsageError(f"axes {axes} are not those of an array of {a.rank} axes", where=b.where)
    return b.transpose(a, order)


@implements("matrix_transpose", view=True)
def matrix_transpose(b: NumpyBuilder, x: Value) -> Value:
    return b.swapped(x)


@implements("swapaxes", view=True)
def swapaxes(b: NumpyBuilder, a: Value, axis1: int, axis2: int) -> Value:
    return b.swapped(a, normal_axis(b, axis1, a.rank), normal_axis(b, axis2, a.rank))


@implements("moveaxis", view=True)
def moveaxis(b: NumpyBuilder, a: Value, source: Any, destination: Any) -> Value:
    sources, destinations = normal_axes(b, source, a.rank), normal_axes(b, destination, a.rank)
    order = [axis for axis in range(a.rank) if axis not in sources]
    for to, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(to, axis)
    return b.transpose(a, order)


@implements("rollaxis", view=True)
def rollaxis(b: NumpyBuilder, a: Value, axis: int, start: int = 0) -> Value:
    moved = normal_axis(b, axis, a.rank)
    to = start + a.rank if start < 0 else start
    order = [k for k in range(a.rank) if k != moved]
    order.insert(to - (moved < to), moved)
    return b.transpose(a, order)


@implements("expand_dims", view=True)
def expand_dims(b: NumpyBuilder, a: Value, axis: Any) -> Value:
    added = normal_axes(b, axis, a.rank + (len(axis) if isinstance(axis, (tuple, list)) else 1))  # pyright: ignore[reportUnknownArgumentType]
    rest = iter(a.shape)
    return b.reshape(a, [1 if k in added else next(rest) for k in range(a.rank + len(added))])


@implements("squeeze", view=True)
def squeeze(b: NumpyBuilder, a: Value, axis: Any = None) -> Value:
    gone = [k for k, e in enumerate(a.shape) if e == 1] if axis is None else normal_axes(b, axis, a.rank)
    if any(a.shape[k] != 1 for k in gone):
        raise UsageError(f"an axis of {axis} has more than one element in shape {a.shape}", where=b.where)
    return b.reshape(a, [e for k, e in enumerate(a.shape) if k not in gone])


@implements("broadcast_to")
def broadcast_to(b: NumpyBuilder, array: Any, shape: Any, subok: bool = False) -> Value:
    value, wanted = b.tensor(array), extents(b, shape)
    try:
        fits = np.broadcast_shapes(value.shape, wanted) == wanted
    except ValueError:
        fits = False
    if not fits:
        raise UsageError(f"shape {value.shape} cannot be broadcast to {wanted}", where=b.where)
    return b.broadcast(value, wanted)


@implements("broadcast_arrays")
def broadcast_arrays(b: NumpyBuilder, *args: Any, subok: bool = False) -> tuple[Value, ...]:
    return tuple(b.spread(*(b.tensor(a) for a in args)))


@implements("atleast_1d", "atleast_2d", "atleast_3d")
def _atleast(b: NumpyBuilder, *arys: Any) -> Any:
    rank = int(b.function[-2])
    made = [b.aten(f"atleast_{rank}d", b.tensor(a)) for a in arys]
    return made[0] if len(made) == 1 else tuple(made)


@implements("copy")
def copy(b: NumpyBuilder, a: Any, order: str = "K", subok: bool = False) -> Value:
    return b.tensor(a)


@implements("astype")
def astype(b: NumpyBuilder, x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Value:
    return b.cast(b.tensor(x), b.dtype_of(dtype, ""))


@implements("zeros_like", "ones_like", "empty_like", "full_like")
def full_like(
    b: NumpyBuilder, a: Any, *args: Any, dtype: Any = None, fill_value: Any = None, order: str = "K",
    subok: bool = True, shape: Any = None, device: Any = None,
) -> Value:  # fmt: skip
    like = b.tensor(a)
    name = b.function.rpartition(".")[2]
    rest = list(args)
    number: Any = 1 if name == "ones_like" else 0
    if name == "full_like":
        number = rest.pop(0) if rest else fill_value
    kind = b.dtype_of(rest[0] if rest else dtype, like.dtype)
    wanted = like.shape if shape is None else extents(b, shape)
    if isinstance(number, Value):
        return b.broadcast(b.cast(number, kind), wanted)
    return b.splat(b.tensor(number, kind).array[()], wanted)  # type: ignore[index]


# -- joined ----------------------------------------------------------------------------------------


def _all(b: NumpyBuilder, arrays: Any) -> list[Value]:
    """The arrays of a list, or the parts of one array."""
    if isinstance(arrays, Value):
        return [b.aten("select", arrays, 0, k) for k in range(arrays.shape[0])]
    return [b.tensor(a) for a in arrays]


@implements("concatenate")
def concatenate(b: NumpyBuilder, arrays: Any, axis: Any = 0, *, dtype: Any = None, casting: str = "same_kind") -> Value:
    parts = _all(b, arrays)
    if axis is None:
        parts = [b.reshape(p, (prod(p.shape),)) for p in parts]
    at = normal_axis(b, axis or 0, parts[0].rank)
    kind = None if dtype is None else b.dtype_of(dtype, "")
    for p in parts:
        if p.rank != parts[0].rank or any(
            e != f for k, (e, f) in enumerate(zip(p.shape, parts[0].shape, strict=True)) if k != at
        ):
            shapes = ", ".join(str(p.shape) for p in parts)
            raise UsageError(f"arrays of shapes {shapes} do not fit along axis {at}", where=b.where)
    return b.aten("cat", b.alike(*parts, dtype=kind), at)


@implements("stack")
def stack(b: NumpyBuilder, arrays: Any, axis: int = 0, *, dtype: Any = None, casting: str = "same_kind") -> Value:
    parts = _all(b, arrays)
    if len({p.shape for p in parts}) > 1:
        raise UsageError("all arrays must have the same shape", where=b.where)
    at = normal_axis(b, axis, parts[0].rank + 1)
    return concatenate(b, [expand_dims(b, p, at) for p in parts], at, dtype=dtype)


@implements("vstack", "hstack", "dstack", "column_stack")
def _stacked(b: NumpyBuilder, tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Value:
    kind = None if dtype is None else b.dtype_of(dtype, "")
    return b.aten(b.function.rpartition(".")[2], b.alike(*_all(b, tup), dtype=kind))


@implements("append")
def append(b: NumpyBuilder, arr: Any, values: Any, axis: Any = None) -> Value:
    return concatenate(b, [b.tensor(arr), b.tensor(values)], axis)


@implements("block")
def block(b: NumpyBuilder, arrays: Any) -> Value:
    def depth(x: Any) -> int:
        return 1 + max(map(depth, x)) if isinstance(x, list) else 0  # pyright: ignore[reportUnknownArgumentType]

    most = depth(arrays)

    def join(x: Any, level: int) -> Value:
        if not isinstance(x, list):
            value = b.tensor(x)
            return b.reshape(value, (*[1] * (rank - value.rank), *value.shape))
        return concatenate(b, [join(e, level + 1) for e in x], level - most)  # pyright: ignore[reportUnknownVariableType]

    def ranks(x: Any) -> int:
        return max(map(ranks, x)) if isinstance(x, list) else b.tensor(x).rank  # pyright: ignore[reportUnknownArgumentType]

    rank = max(most, ranks(arrays))
    return join(arrays, 0)


@implements("tile")
def tile(b: NumpyBuilder, A: Any, reps: Any) -> Value:
    value, counts = b.tensor(A), list(extents(b, reps))
    counts = [1] * (value.rank - len(counts)) + counts
    value = b.reshape(value, (*[1] * (len(counts) - value.rank), *value.shape))
    return b.aten("tile", value, counts)


@implements("repeat")
def repeat(b: NumpyBuilder, a: Any, repeats: Any, axis: Any = None) -> Value:
    value = b.tensor(a)
    if axis is None:
        value = b.reshape(value, (prod(value.shape),))
    at = normal_axis(b, axis or 0, value.rank)
    counts = np.broadcast_to(np.asarray(b.known(repeats, "how often something is repeated")), (value.shape[at],))
    return taken_by(b, value, np.repeat(np.arange(value.shape[at]), counts), at)


def taken_by(b: NumpyBuilder, x: Value, places: Any, axis: int) -> Value:
    """The elements of an axis at places that are known now."""
    if not len(places) or 0 in x.shape:
        return b.zeros((*x.shape[:axis], len(places), *x.shape[axis + 1 :]), x.dtype)
    return b.op("take", x, b.constant(np.asarray(places, np.int64)), axis=axis, mode="clip")


# -- cut -------------------------------------------------------------------------------------------


@implements("split", "array_split", view=True)
def split(b: NumpyBuilder, ary: Value, indices_or_sections: Any, axis: int = 0) -> list[Value]:
    at = normal_axis(b, axis, ary.rank)
    extent = ary.shape[at]
    given = b.known(indices_or_sections, "the places of a split")
    if isinstance(given, (int, np.integer)):
        if extent % given and not b.function.endswith("array_split"):
            raise UsageError(f"{extent} elements are not {given} equal parts", where=b.where)
        places = np.array_split(np.arange(extent), int(given))  # pyright: ignore[reportUnknownArgumentType]
        bounds = [(int(p[0]), int(p[-1]) + 1) if len(p) else (0, 0) for p in places]
    else:
        ends = [0, *(slice(int(e)).indices(extent)[1] for e in given), extent]
        bounds = [(s, max(s, e)) for s, e in zip(ends, ends[1:], strict=False)]
    return [_between(b, ary, at, s, e) for s, e in bounds]


def _between(b: NumpyBuilder, x: Value, axis: int, begin: int, end: int) -> Value:
    if begin == end:
        return b.zeros((*x.shape[:axis], 0, *x.shape[axis + 1 :]), x.dtype)
    return b.slice(x, axis, begin, end)


@implements("hsplit", "vsplit", "dsplit", view=True)
def split_along(b: NumpyBuilder, ary: Value, indices_or_sections: Any) -> list[Value]:
    axis = {"hsplit": 1 if ary.rank > 1 else 0, "vsplit": 0, "dsplit": 2}[b.function.rpartition(".")[2]]
    return split(b, ary, indices_or_sections, axis)


@implements("unstack", view=True)
def unstack(b: NumpyBuilder, x: Value, /, *, axis: int = 0) -> tuple[Value, ...]:
    at = normal_axis(b, axis, x.rank)
    return tuple(b.aten("select", x, at, k) for k in range(x.shape[at]))


# -- turned and moved ------------------------------------------------------------------------------


@implements("flip", view=True)
def flip(b: NumpyBuilder, m: Value, axis: Any = None) -> Value:
    return b.aten("flip", m, normal_axes(b, axis, m.rank))


@implements("fliplr", view=True)
def fliplr(b: NumpyBuilder, m: Value) -> Value:
    return b.aten("flip", m, [1])


@implements("flipud", view=True)
def flipud(b: NumpyBuilder, m: Value) -> Value:
    return b.aten("flip", m, [0])


@implements("rot90", view=True)
def rot90(b: NumpyBuilder, m: Value, k: int = 1, axes: Sequence[int] = (0, 1)) -> Value:
    return b.aten("rot90", m, k, list(axes))


@implements("roll")
def roll(b: NumpyBuilder, a: Any, shift: Any, axis: Any = None) -> Value:
    value = b.tensor(a)
    shifts = list(extents(b, shift))
    if axis is None:
        flat = b.reshape(value, (prod(value.shape),))
        return b.reshape(b.aten("roll", flat, [sum(shifts)], [0]), value.shape)
    axes = normal_axes(b, axis, value.rank)
    if len(shifts) != len(axes):
        shifts, axes = (shifts * len(axes), axes) if len(shifts) == 1 else (shifts, axes * len(shifts))
    return b.aten("roll", value, shifts, axes)


PAD_MODES = {"reflect": "reflect", "symmetric": "symmetric", "edge": "edge", "wrap": "wrap"}
"""Modes of `numpy.pad` that repeat elements, by the arguments of what makes them of places."""


@implements("pad")
def pad(b: NumpyBuilder, array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Value:
    value = b.tensor(array)
    if isinstance(pad_width, dict):
        given: dict[int, Any] = pad_width  # pyright: ignore[reportUnknownVariableType]
        by_axis = {normal_axis(b, a, value.rank): w for a, w in given.items()}
        pad_width = [by_axis.get(a, 0) for a in range(value.rank)]
        pad_width = [(w, w) if isinstance(w, int) else w for w in pad_width]
    widths = np.broadcast_to(np.asarray(pad_width), (value.rank, 2)).tolist()
    if mode == "empty":
        mode = "constant"
    if mode == "constant":
        return _padded(b, value, widths, kwargs.pop("constant_values", 0))
    if mode not in PAD_MODES:
        raise b.unsupported(f"the mode {mode!r} of padding is not supported", f"constant, {', '.join(PAD_MODES)}")
    for axis, (before, after) in enumerate(widths):
        if before or after:
            places = np.pad(np.arange(value.shape[axis]), (before, after), PAD_MODES[mode], **kwargs)  # type: ignore[call-overload]
            value = taken_by(b, value, places, axis)
    return value


def _padded(b: NumpyBuilder, x: Value, widths: list[list[int]], number: Any) -> Value:
    """A tensor with numbers around it: one number, or one for each side of each axis."""
    if isinstance(number, Value):
        number = b.known(number, "the number of a padding")
    numbers = np.broadcast_to(np.asarray(number), (x.rank, 2))
    if x.rank and (numbers == numbers.flat[0]).all():
        flat = [w for pair in widths[::-1] for w in pair]
        return b.aten("constant_pad_nd", x, flat, numbers.flat[0].item())
    for axis, (before, after) in enumerate(widths):
        parts = [x]
        for count, at in ((before, 0), (after, len(parts))):
            if count:
                shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
                filled = b.splat(b.tensor(numbers[axis][bool(at)].item(), x.dtype).array[()], shape)  # type: ignore[index]
                parts = [filled, *parts] if not at else [*parts, filled]
        x = b.aten("cat", parts, axis) if len(parts) > 1 else x
    return x


@implements("shape")
def shape(b: NumpyBuilder, a: Any) -> tuple[int, ...]:
    return b.tensor(a).shape


@implements("ndim")
def ndim(b: NumpyBuilder, a: Any) -> int:
    return b.tensor(a).rank


@implements("size")
def size(b: NumpyBuilder, a: Any, axis: Any = None) -> int:
    found = b.tensor(a).shape
    return prod(found[k] for k in normal_axes(b, axis, len(found)))


@implements("meshgrid")
def meshgrid(
    b: NumpyBuilder, *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Value, ...]:
    axes = [b.tensor(x) for x in xi]
    axes = [b.reshape(x, (prod(x.shape),)) for x in axes]
    rank = len(axes)
    order = [1, 0, *range(2, rank)] if indexing == "xy" and rank > 1 else list(range(rank))
    placed = [b.reshape(x, tuple(x.shape[0] if k == order[n] else 1 for k in range(rank))) for n, x in enumerate(axes)]
    return tuple(placed if sparse else b.spread(*placed))


@implements("lib.stride_tricks.sliding_window_view")
def sliding_window_view(
    b: NumpyBuilder, x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Value:
    value = b.tensor(x)
    sizes = extents(b, window_shape)
    axes = normal_axes(b, axis, value.rank)
    for a, n in zip(axes, sizes, strict=True):
        if n > value.shape[a]:
            raise UsageError(f"a window of {n} is larger than axis {a} of shape {value.shape}", where=b.where)
        value = b.aten("unfold", value, a, n, 1)
    return value
