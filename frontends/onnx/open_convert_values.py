"""Operators whose results are as large as their inputs' elements say.

%p = relay.argwhere %x : (tensor<4x3xf32>) -> tensor<?x2xi32>
%y = relay.dyn.reshape %x, %shape : (tensor<12xf32>, tensor<2xi64>) -> tensor<?x?xf32>
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from lamina.dialects.dtypes import numpy_dtype
from lamina.dialects.relay import find_op
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import AnyValue, Builder, Node
from lamina.frontends.onnx.extents import Extent, number_of
from lamina.frontends.onnx.generalise import generalised
from lamina.frontends.onnx.open_attributes import FAR, counted
from lamina.frontends.onnx.open_values import (
    OpenValue,
    dims_of,
    emit,
    emitted,
    unknown,
    vector,
)
from lamina.frontends.onnx.registry import open_op

Tensor: TypeAlias = "Value | OpenValue"


def tensor(n: Node, i: int) -> Tensor:
    """An input that is a tensor, its extents known or not."""
    value = n.any(i)
    if not isinstance(value, Value | OpenValue):
        raise n.fail(f"input {i} is {value}, no tensor")
    return value


def through(b: Builder, op_name: str, *values: Tensor, **attrs: Any) -> Tensor:
    """The one result of `relay.<name>`, with what is known of its extents."""
    found = generalised(b, values, lambda t, given: t.op(op_name, *given, **attrs))  # type: ignore[arg-type]
    assert found is not None and isinstance(found[0], Value | OpenValue)
    return found[0]


def flat(b: Builder, x: Tensor) -> Tensor:
    """All elements in a row."""
    return x if len(dims_of(x)) == 1 else through(b, "reshape", x, newshape=[-1])


def of_type(b: Builder, x: Tensor, dtype: str) -> Tensor:
    """The tensor with elements of another type."""
    return x if x.dtype == dtype else through(b, "cast", x, dtype=dtype)


def whole_numbers(n: Node, b: Builder, i: int, what: str) -> Tensor:
    """An input that is a vector of integers, as int64."""
    x = tensor(n, i)
    dims = dims_of(x)
    if numpy_dtype(x.dtype).kind not in "iu" or len(dims) > 1:
        raise n.fail(f"{what} must be a list of integers, is {x}")
    if not all(isinstance(d, int) for d in dims):
        raise n.unsupported(f"how many numbers {what} has is known at run time only")
    x = of_type(b, x, "int64")
    return x if dims else through(b, "reshape", x, newshape=[1])


def length_of(x: Tensor) -> int:
    """The length of a vector from `whole_numbers`."""
    (length,) = dims_of(x)
    assert isinstance(length, int)
    return length


def scalar(n: Node, b: Builder, i: int, what: str) -> Tensor:
    """An input that is one number, in shape [1]."""
    x = tensor(n, i)
    if dims_of(x) not in ((), (1,)):
        raise n.fail(f"{what} must be one number, is {x}")
    return x if dims_of(x) else through(b, "reshape", x, newshape=[1])


# -- what is found ---------------------------------------------------------------------------------


def _places(b: Builder, condition: Tensor) -> Tensor:
    """The places where a tensor is not zero: int64[?, rank]."""
    return of_type(b, emitted(b, "argwhere", condition), "int64")


@open_op("NonZero")
def non_zero(n: Node, b: Builder) -> AnyValue:
    x = tensor(n, 0)
    if not dims_of(x):
        x = through(b, "reshape", x, newshape=[1])
    return through(b, "transpose", _places(b, x), axes=[1, 0])


@open_op("Compress")
def compress(n: Node, b: Builder) -> AnyValue:
    """The slices of an axis, or the elements, whose condition holds."""
    x, condition = tensor(n, 0), tensor(n, 1)
    if len(dims_of(condition)) != 1:
        raise n.fail("the condition is no vector")
    if "axis" not in n.attrs:
        x, axis = flat(b, x), 0
    else:
        axis = n.axis(n.attr("axis"), len(dims_of(x)))
    places = through(b, "reshape", _places(b, condition), newshape=[-1])
    return through(b, "take", x, places, axis=axis, mode="clip")


@open_op("Unique")
def unique(n: Node, b: Builder) -> list[AnyValue]:
    """The different elements, or slices of an axis: which, where each comes first, which one each is, how often."""
    x = tensor(n, 0)
    attrs: dict[str, Any] = {"is_sorted": bool(n.attr("sorted", 1)), "return_counts": True}
    if "axis" in n.attrs:
        op_name, attrs["axis"] = "unique_slices", n.axis(n.attr("axis"), len(dims_of(x)))
    else:
        op_name, x = "unique", flat(b, x)
    op_type = find_op(f"relay.{op_name}")
    assert op_type is not None
    values, first, inverse, _, counts = emit(b, op_type, [x], attrs)
    indices = [of_type(b, unknown(b, v, "int32"), "int64") for v in (first, inverse, counts)]
    return [unknown(b, values, x.dtype), *indices]


@open_op("NonMaxSuppression")
def non_max_suppression(n: Node, b: Builder) -> AnyValue:
    """The rows that are chosen of all that could be; how many these are is a result of the op."""
    boxes, scores = tensor(n, 0), tensor(n, 1)
    if len(dims_of(boxes)) != 3 or len(dims_of(scores)) != 3:
        raise n.fail("expects boxes [N, B, 4] and scores [N, C, B]")

    def limit(i: int, what: str, default: Any, dtype: str) -> Tensor:
        if not n.has(i):
            return b.constant(np.asarray(default, numpy_dtype(dtype)))
        return through(b, "reshape", of_type(b, scalar(n, b, i, what), dtype), newshape=[])

    limits = [
        limit(2, "max_output_boxes_per_class", 0, "int64"),
        limit(3, "iou_threshold", 0.0, boxes.dtype),
        limit(4, "score_threshold", -np.inf, boxes.dtype),
    ]
    if n.attr("center_point_box", 0):
        found = generalised(b, [boxes], _corners)
        assert found is not None and isinstance(found[0], Value | OpenValue)
        boxes = found[0]
    op_type = find_op("relay.vision.all_class_non_max_suppression")
    assert op_type is not None
    ssas = emit(b, op_type, [boxes, scores, *limits], {})
    chosen, total = unknown(b, ssas[0], "int64"), unknown(b, ssas[1], "int64")
    # The op takes 0 for no limit, ONNX for none at all.
    some = through(b, "cast", through(b, "greater", limits[0], b.constant(np.int64(0))), dtype="int64")
    total = through(b, "multiply", total, some)
    zero, one = b.constant(np.array([0], np.int64)), b.constant(np.array([1], np.int64))
    return emitted(b, "dyn.strided_slice", chosen, zero, total, one)


def _corners(b: Builder, given: Any) -> Value:
    """Boxes by two corners (y0, x0, y1, x1) of such by centre and size (x, y, w, h)."""
    x, y, w, h = b.ops("split", given[0], indices_or_sections=4, axis=2)
    half = b.scalar(0.5, x)
    dx, dy = b.op("multiply", w, half), b.op("multiply", h, half)
    corners = [b.op(kind, v, d) for kind in ("subtract", "add") for v, d in ((y, dy), (x, dx))]
    return b.op("concatenate", *corners, axis=2)


# -- shapes that are computed ----------------------------------------------------------------------


@open_op("Reshape")
def reshape(n: Node, b: Builder) -> AnyValue:
    shape = whole_numbers(n, b, 1, "the shape")
    return emitted(b, "dyn.reshape", tensor(n, 0), shape, allowzero=bool(n.attr("allowzero", 0)))


def _shape_of(b: Builder, x: Tensor, rank: int) -> Value:
    """The extents behind as many ones as make up a rank: int64[rank]."""
    dims = dims_of(x)
    return vector(b, [1] * (rank - len(dims)) + [number_of(d) for d in dims])


@open_op("Expand")
def expand(n: Node, b: Builder) -> AnyValue:
    """Broadcasts both ways: of two extents the one that is not 1, and the op refuses others while it runs."""
    x, shape = tensor(n, 0), whole_numbers(n, b, 1, "the shape")
    length, rank = length_of(shape), max(length_of(shape), len(dims_of(x)))
    if length < rank:
        shape = through(b, "concatenate", b.constant(np.ones(rank - length, np.int64)), shape, axis=0)
    old, one = _shape_of(b, x, rank), b.constant(np.int64(1))
    wanted = through(b, "where", through(b, "equal", shape, one), old, shape)
    return emitted(b, "dyn.broadcast_to", x, wanted)


@open_op("ConstantOfShape")
def constant_of_shape(n: Node, b: Builder) -> AnyValue:
    shape = whole_numbers(n, b, 0, "the shape")
    number: Any = np.float32(0)
    if "value" in n.attrs:
        value = b.tensor(n.attrs["value"])
        assert value.array is not None
        number = value.array.reshape(-1)[0]
    return emitted(b, "dyn.full", b.constant(number), shape, dtype=str(np.asarray(number).dtype))


@open_op("Range")
def range_of(n: Node, b: Builder) -> AnyValue:
    """(limit - start) / step numbers, rounded up, none where that is negative."""
    start, limit, step = (scalar(n, b, i, what) for i, what in enumerate(("the start", "the limit", "the step")))
    span = through(b, "subtract", limit, start)
    if numpy_dtype(start.dtype).kind in "iu":
        whole = through(b, "negative", through(b, "floor_divide", through(b, "negative", span), step))
    else:
        whole = through(b, "ceil", through(b, "divide", span, step))
    length = through(b, "maximum", of_type(b, whole, "int64"), b.constant(np.array([0], np.int64)))
    return counted(b, start, length, step)


@open_op("Tile")
def tile(n: Node, b: Builder) -> AnyValue | None:
    if n.version < 6:
        return None
    x, repeats = tensor(n, 0), whole_numbers(n, b, 1, "repeats")
    if length_of(repeats) != len(dims_of(x)):
        raise n.fail(f"there are {length_of(repeats)} repeats for rank {len(dims_of(x))}")
    return emitted(b, "dyn.tile", x, repeats)


@open_op("Slice", first=True)
def slice_of(n: Node, b: Builder) -> AnyValue | None:
    """Bounds mean what they mean in Python, whatever the extents are; going down there is an element to begin at."""
    if n.version < 10:
        return None
    x = tensor(n, 0)
    bounds = [tensor(n, i) for i in (1, 2)]
    rank, count = len(dims_of(x)), dims_of(bounds[0])[:1]
    given = [n.any(i) if n.has(i) else None for i in (3, 4)]
    axes_of, steps_of = (v.array if isinstance(v, Value) else None for v in given)
    if (given[0] is not None and axes_of is None) or (given[1] is not None and steps_of is None):
        return None
    if not count or not isinstance(count[0], int):
        return None
    axes = n.axes([int(a) for a in axes_of], rank) if axes_of is not None else list(range(count[0]))
    steps = [int(s) for s in steps_of] if steps_of is not None else [1] * count[0]
    if 0 in steps or len(axes) != count[0] or len(steps) != count[0]:
        return None
    known = [v.array for v in bounds]
    before = known[0] is None or any(s < 0 and v < -1 for s, v in zip(steps, known[0].tolist(), strict=True))
    clamped = before and min(steps) < 0
    if known[0] is not None and known[1] is not None and not clamped:
        begin, end = ([max(-FAR, min(int(v), FAR)) for v in a] for a in (known[0], known[1]))
        return through(b, "strided_slice", x, begin=begin, end=end, strides=steps, axes=axes)
    if any(isinstance(v, OpenValue) for v in bounds) and all(
        v.array is not None or (isinstance(v, OpenValue) and v.entries is not None) for v in bounds
    ):
        return None  # expressions of extents, which the ordinary converter finds again
    if clamped:
        bounds[0] = _from_an_element(b, x, of_type(b, bounds[0], "int64"), axes, steps)
    columns: list[Tensor] = [_spread(b, of_type(b, v, "int64"), axes, f) for v, f in zip(bounds, (0, FAR), strict=True)]
    strides = [1] * (max(axes) + 1)
    for a, s in zip(axes, steps, strict=True):
        strides[a] = s
    return emitted(b, "dyn.strided_slice", x, *columns, b.constant(np.array(strides, np.int64)))


def _from_an_element(b: Builder, x: Tensor, begin: Tensor, axes: Sequence[int], steps: Sequence[int]) -> Tensor:
    """The beginning of slices that go down: at the first element where that is before it. Python has nothing there."""
    first = through(b, "negative", vector(b, [number_of(dims_of(x)[a]) for a in axes]))
    down = b.constant(np.array(steps) < 0)
    return through(b, "where", down, through(b, "maximum", begin, first), begin)


def _spread(b: Builder, values: Tensor, axes: list[int], rest: int) -> Tensor:
    """Numbers for some axes as numbers for all up to the last of them."""
    padded = through(b, "concatenate", values, b.constant(np.array([rest], np.int64)), axis=0)
    places = [axes.index(a) if a in axes else len(axes) for a in range(max(axes) + 1)]
    return through(b, "take", padded, b.constant(np.array(places, np.int64)), axis=0, mode="clip")


@open_op("TopK")
def top_k(n: Node, b: Builder) -> list[AnyValue]:
    """As many as there are for a number above, and none for 0, which the op takes for all."""
    x, count = tensor(n, 0), of_type(b, scalar(n, b, 1, "the number of elements"), "int64")
    rank = len(dims_of(x))
    axis = n.axis(n.attr("axis", -1), rank)
    op_type = find_op("relay.dyn.topk")
    assert op_type is not None
    some = through(b, "maximum", count, b.constant(np.array([1], np.int64)))
    attrs = {"axis": axis, "is_ascend": not n.attr("largest", 1), "dtype": "int64"}
    ssas = emit(b, op_type, [x, some], attrs)
    ends = _spread(b, count, [axis], FAR)
    zeros, ones = (b.constant(np.full(axis + 1, v, np.int64)) for v in (0, 1))
    found = [unknown(b, s, d) for s, d in zip(ssas, (x.dtype, "int64"), strict=True)]
    return [emitted(b, "dyn.strided_slice", f, zeros, ends, ones) for f in found]


@open_op("OneHot")
def one_hot(n: Node, b: Builder) -> AnyValue:
    """Negative indices count from the end of `depth`."""
    indices, depth, values = tensor(n, 0), of_type(b, scalar(n, b, 1, "the depth"), "int64"), tensor(n, 2)
    rank = len(dims_of(indices)) + 1
    axis = n.axis(n.attr("axis", -1), rank)
    whole = of_type(b, indices, "int64")
    counted_ = through(b, "add", whole, through(b, "reshape", depth, newshape=[]))
    places = through(b, "where", through(b, "less", whole, b.constant(np.int64(0))), counted_, whole)
    off, on = (
        through(b, "reshape", through(b, "strided_slice", values, begin=[k], end=[k + 1]), newshape=[]) for k in (0, 1)
    )
    return emitted(b, "dyn.one_hot", places, on, off, depth, axis=-1 if axis == rank - 1 else axis)


@open_op("Pad")
def pad(n: Node, b: Builder) -> AnyValue | None:
    """All befores, then all afters, for all axes or for some that are known."""
    if n.version < 11:
        return None
    x, pads = tensor(n, 0), whole_numbers(n, b, 1, "pads")
    rank = len(dims_of(x))
    given = n.any(3) if n.has(3) else None
    if given is not None and given.array is None:  # type: ignore[union-attr]
        return None
    axes = n.axes([int(a) for a in given.array], rank) if given is not None else list(range(rank))  # type: ignore[union-attr]
    mode = n.attr("mode", "constant")
    if length_of(pads) != 2 * len(axes) or mode not in ("constant", "edge", "reflect"):
        return None
    padded = through(b, "concatenate", pads, b.constant(np.zeros(1, np.int64)), axis=0)
    none = 2 * len(axes)
    order = [[axes.index(a), len(axes) + axes.index(a)] if a in axes else [none, none] for a in range(rank)]
    width = through(b, "take", padded, b.constant(np.array(order, np.int64)), axis=0, mode="clip")
    value: Tensor = b.constant(np.zeros((), numpy_dtype(x.dtype)))
    if n.has(2):
        value = through(b, "reshape", scalar(n, b, 2, "the padding value"), newshape=[])
    return emitted(b, "dyn.nn.pad", x, width, value, pad_mode=mode)


@open_op("Split")
def split(n: Node, b: Builder) -> list[AnyValue] | None:
    """Parts whose extents are computed: each ends where the next one begins."""
    if not n.has(1):
        return None
    x, sizes = tensor(n, 0), whole_numbers(n, b, 1, "split")
    axis = n.axis(n.attr("axis", 0), len(dims_of(x)))
    count = len(n.outputs)
    if length_of(sizes) != count:
        raise n.fail(f"there are {length_of(sizes)} parts for {count} outputs")
    ends = through(b, "cumsum", sizes, axis=0, dtype="int64")
    starts = through(b, "subtract", ends, sizes)
    one = _spread(b, b.constant(np.array([1], np.int64)), [axis], 1)
    results: list[AnyValue] = []
    for k in range(count):
        cut = [through(b, "strided_slice", v, begin=[k], end=[k + 1]) for v in (starts, ends)]
        bounds = [_spread(b, v, [axis], rest) for v, rest in zip(cut, (0, FAR), strict=True)]
        results.append(emitted(b, "dyn.strided_slice", x, *bounds, one))
    return results


@open_op("Trilu")
def triangle(n: Node, b: Builder) -> AnyValue:
    """Of each matrix the elements whose column is not below (or not above) the row, moved by k; the rest is zero."""
    x = tensor(n, 0)
    rank = len(dims_of(x))
    if rank < 2:
        raise n.fail("input must have rank 2 or more")
    k = of_type(b, scalar(n, b, 1, "k"), "int64") if n.has(1) else b.constant(np.array([0], np.int64))
    rows, columns = (_count_to(b, dims_of(x)[a]) for a in (rank - 2, rank - 1))
    moved = through(b, "add", through(b, "expand_dims", rows, axis=1), k)
    kept = through(b, "greater_equal" if n.attr("upper", 1) else "less_equal", columns, moved)
    return through(b, "where", kept, x, b.constant(np.zeros((), numpy_dtype(x.dtype))))


def _count_to(b: Builder, dim: int | Extent) -> Tensor:
    """0, 1, ... below an extent."""
    if isinstance(dim, int):
        return b.constant(np.arange(dim))
    zero, one = (b.constant(np.array([v], np.int64)) for v in (0, 1))
    return counted(b, zero, vector(b, [number_of(dim)]), one)


@open_op("EyeLike")
def eye_like(n: Node, b: Builder) -> AnyValue:
    from lamina.frontends.onnx.tensors import dtype_of

    x = tensor(n, 0)
    if len(dims_of(x)) != 2:
        raise n.fail("input must be a matrix")
    dtype = dtype_of(n.attrs["dtype"], n.where) if "dtype" in n.attrs else x.dtype
    rows, columns = (_count_to(b, d) for d in dims_of(x))
    moved = through(b, "add", through(b, "expand_dims", rows, axis=1), b.constant(np.int64(n.attr("k", 0))))
    return of_type(b, through(b, "equal", columns, moved), dtype)
