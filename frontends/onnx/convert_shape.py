"""Shapes and the tensors made of them: reshapes, transposes, joins, constants."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import ceil, prod
from typing import Any

import numpy as np

from lamina.dialects.infos import is_always, is_symbolic, surely_equal
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.registry import onnx_op


@onnx_op("Reshape")
def reshape(n: Node, b: Builder) -> Value:
    """0 copies an extent (unless allowzero), one -1 takes what is left."""
    x = n.input(0)
    wanted = list(n.attr("shape", ())) if n.version < 5 else n.ints(1, "the shape")
    shape: list[int] = []
    for axis, extent in enumerate(wanted):
        if not is_symbolic(extent) and extent == 0 and not n.attr("allowzero", 0):
            if axis >= x.rank:
                raise n.fail(f"shape {wanted} copies axis {axis} of a tensor of rank {x.rank}")
            extent = x.shape[axis]
        if extent < -1:
            raise n.fail(f"shape {wanted} has the extent {extent}")
        shape.append(extent)
    if shape.count(-1) > 1:
        raise n.fail(f"shape {wanted} leaves more than one extent open (-1)")
    size = prod(x.shape)
    if -1 in shape:
        rest = prod(e for e in shape if e != -1)
        if not rest or size % rest:
            raise n.fail(f"{size} elements of shape {list(x.shape)} do not fill shape {wanted}")
        shape[shape.index(-1)] = size // rest
    if prod(shape) != size:
        raise n.fail(f"{size} elements of shape {list(x.shape)} do not fill shape {wanted}")
    return b.op("reshape", x, newshape=shape, allowzero=True)


@onnx_op("Flatten")
def flatten(n: Node, b: Builder) -> Value:
    x = n.input(0)
    axis = n.attr("axis", 1)
    axis = axis if axis == x.rank else n.axis(axis, x.rank)
    if axis == 1 and x.rank > 0:
        return b.op("nn.batch_flatten", x)
    return b.op("reshape", x, newshape=[prod(x.shape[:axis]), prod(x.shape[axis:])], allowzero=True)


@onnx_op("Transpose")
def transpose(n: Node, b: Builder) -> Value:
    x = n.input(0)
    perm = list(n.attr("perm", range(x.rank)[::-1]))
    if sorted(perm) != list(range(x.rank)):
        raise n.fail(f"perm {perm} is no permutation of {x.rank} axes")
    return b.op("transpose", x, axes=perm)


@onnx_op("Squeeze")
def squeeze(n: Node, b: Builder) -> Value:
    x = n.input(0)
    given = n.attr("axes", None) if n.version < 13 else (n.ints(1, "axes") if n.has(1) else None)
    axes = [a for a, e in enumerate(x.shape) if e == 1] if given is None else n.axes(given, x.rank)
    for a in axes:
        if x.shape[a] != 1:
            raise n.fail(f"axis {a} has extent {x.shape[a]}, only extents of 1 can be squeezed")
    return b.op("squeeze", x, axis=sorted(axes)) if axes else x


@onnx_op("Unsqueeze")
def unsqueeze(n: Node, b: Builder) -> Value:
    x = n.input(0)
    given = n.attr("axes", ()) if n.version < 13 else n.ints(1, "axes")
    axes = sorted(n.axes(given, x.rank + len(given)))
    for a in axes:  # ascending: each is a place in the final shape
        x = b.op("expand_dims", x, axis=a)
    return x


@onnx_op("Concat")
def concat(n: Node, b: Builder) -> Value:
    values = n.values()
    if not values:
        raise n.fail("there are no inputs")
    axis = n.axis(n.attr("axis", 1), values[0].rank)
    return values[0] if len(values) == 1 else b.op("concatenate", *values, axis=axis)


@onnx_op("Split")
def split(n: Node, b: Builder) -> Sequence[Value]:
    """Extents by attribute (until opset 13) or input, else equal parts; num_outputs may leave a smaller last one."""
    x = n.input(0)
    axis = n.axis(n.attr("axis", 0), x.rank)
    extent, count = x.shape[axis], len(n.outputs)
    if "split" in n.attrs:
        sizes = list(n.attrs["split"])
    elif n.has(1):
        sizes = n.ints(1, "split")
    else:
        parts = n.attr("num_outputs", count)
        if parts != count or parts < 1:
            raise n.fail(f"num_outputs is {parts}, the node has {count} outputs")
        if n.version < 18 and extent % parts:
            raise n.fail(f"axis {axis} of extent {extent} does not split into {parts} equal parts")
        equal = n.version < 18 or is_always(extent % parts, 0)
        size = extent // parts if equal else -(-extent // parts)
        sizes = [max(0, min(size, extent - k * size)) for k in range(parts)]
    if sum(sizes) != extent or min(sizes, default=0) < 0 or len(sizes) != count:
        raise n.fail(f"parts {sizes} do not make up axis {axis} of extent {extent} in {count} outputs")
    if count == 1:
        return [x]
    places = list(accumulate(sizes[:-1]))
    return b.ops("split", x, indices_or_sections=places, axis=axis)


@onnx_op("Expand")
def expand(n: Node, b: Builder) -> Value:
    """Broadcasts both ways: an extent of 1 in the wanted shape keeps the input's."""
    x = n.input(0)
    wanted = n.ints(1, "the shape")
    rank = max(x.rank, len(wanted))
    old = [1] * (rank - x.rank) + list(x.shape)
    new = [1] * (rank - len(wanted)) + wanted
    shape: list[int] = []
    for o, w in zip(old, new, strict=True):
        if w < 0 or not (surely_equal(o, w) or is_always(o, 1) or is_always(w, 1) or o == w):
            raise n.fail(f"shape {list(x.shape)} does not expand to {wanted}")
        shape.append(w if is_always(o, 1) else o)
    b.check_size(shape, x.dtype)
    return b.broadcast(x, shape)


@onnx_op("Tile")
def tile(n: Node, b: Builder) -> Value:
    x = n.input(0)
    if n.version < 6:  # repeats of one axis
        reps = [1] * x.rank
        reps[n.axis(int(n.array(2, "the axis").reshape(-1)[0]), x.rank)] = int(n.array(1, "tiles").reshape(-1)[0])
    else:
        reps = n.ints(1, "repeats")
    if len(reps) != x.rank or min(reps, default=0) < 0:
        raise n.fail(f"repeats {reps} do not fit rank {x.rank}")
    b.check_size([e * r for e, r in zip(x.shape, reps, strict=True)], x.dtype)
    return b.op("tile", x, reps=reps)


@onnx_op("Pad")
def pad(n: Node, b: Builder) -> Value:
    """All befores, then all afters; an input since opset 11, for some axes only since opset 18."""
    x = n.input(0)
    pads = list(n.attr("pads", n.attr("paddings", ()))) if n.version < 11 else n.ints(1, "pads")
    value = float(n.attr("value", 0.0)) if n.version < 11 else 0.0
    if n.has(2):
        given = n.array(2, "the padding value")
        if given.size != 1:
            raise n.fail("the padding value must be a scalar")
        value = float(given.reshape(-1)[0])
    axes = n.axes(n.ints(3, "axes"), x.rank) if n.has(3) else list(range(x.rank))
    if len(pads) != 2 * len(axes):
        raise n.fail(f"pads has {len(pads)} numbers, expects {2 * len(axes)}")
    width = [0] * 2 * x.rank
    for k, a in enumerate(axes):
        width[2 * a], width[2 * a + 1] = pads[k], pads[len(axes) + k]
    mode = n.attr("mode", "constant")
    if mode not in ("constant", "edge", "reflect", "wrap"):
        raise n.unsupported(f"padding mode {mode!r} is not supported")
    if mode == "wrap":
        return _wrapped(n, b, x, width)
    b.check_size([max(0, width[2 * a] + e + width[2 * a + 1]) for a, e in enumerate(x.shape)], x.dtype)
    return b.op("nn.pad", x, pad_width=width, pad_value=value, pad_mode=mode)


def _wrapped(n: Node, b: Builder, x: Value, width: list[int]) -> Value:
    """The tensor repeated on both sides; what negative numbers cut off is cut off before."""
    for a in range(x.rank):
        before, extent, after = width[2 * a], x.shape[a], width[2 * a + 1]
        if not before and not after:
            continue
        kept = np.arange(max(-before, 0), extent - max(-after, 0))
        if not kept.size:
            raise n.fail(f"pads {before} and {after} do not fit axis {a} of extent {extent}")
        b.check_size([*x.shape[:a], before + extent + after, *x.shape[a + 1 :]], x.dtype)
        places = kept[np.arange(-max(before, 0), kept.size + max(after, 0)) % kept.size]
        x = b.op("take", x, b.constant(places), axis=a, mode="clip")
    return x


@onnx_op("DepthToSpace")
def depth_to_space(n: Node, b: Builder) -> Value:
    x, size, mode = n.input(0), n.attr("blocksize"), n.attr("mode", "DCR")
    if x.rank != 4 or size < 1 or x.shape[1] % (size * size):
        raise n.fail(f"blocksize {size} does not fit")
    batch, channels, h, w = x.shape
    c = channels // (size * size)
    parts, axes = ((batch, size, size, c, h, w), (0, 3, 4, 1, 5, 2))
    if mode == "CRD":
        parts, axes = ((batch, c, size, size, h, w), (0, 1, 4, 2, 5, 3))
    y = b.op("transpose", b.reshape(x, parts), axes=list(axes))
    return b.reshape(y, (batch, c, h * size, w * size))


@onnx_op("SpaceToDepth")
def space_to_depth(n: Node, b: Builder) -> Value:
    x, size = n.input(0), n.attr("blocksize")
    if x.rank != 4 or size < 1 or x.shape[2] % size or x.shape[3] % size:
        raise n.fail(f"blocksize {size} does not fit")
    batch, c, h, w = x.shape
    axes = [0, 1, 3, 5, 2, 4] if n.attr("mode", "DCR") == "CRD" else [0, 3, 5, 1, 2, 4]
    y = b.op("transpose", b.reshape(x, (batch, c, h // size, size, w // size, size)), axes=axes)
    return b.reshape(y, (batch, c * size * size, h // size, w // size))


# -- constants -------------------------------------------------------------------------------------


@onnx_op("Constant")
def constant(n: Node, b: Builder) -> Value:
    name = n.outputs[0] if n.outputs else ""
    if "value" in n.attrs:
        return b.tensor(n.attrs["value"], name)
    if "value_string" in n.attrs or "value_strings" in n.attrs:
        one = n.attrs.get("value_string")
        given = [one] if one is not None else list(n.attrs["value_strings"])
        codes = np.array([b.strings.code(s) for s in given], np.int64).reshape(() if one is not None else (-1,))
        return b.held(b.constant(codes, name=name), "string")
    for key, dtype in (
        ("value_float", np.float32), ("value_floats", np.float32), ("value_int", np.int64), ("value_ints", np.int64)
    ):  # fmt: skip
        if key in n.attrs:
            return b.constant(np.asarray(n.attrs[key], dtype), name=name)
    raise n.unsupported("sparse constants are not supported")


@onnx_op("ConstantOfShape")
def constant_of_shape(n: Node, b: Builder) -> Value:
    shape = tuple(n.ints(0, "the shape"))
    number: Any = np.float32(0)
    if "value" in n.attrs:
        value = b.tensor(n.attrs["value"])
        assert value.array is not None
        if value.array.size != 1:
            raise n.fail(f"value has {value.array.size} elements, expects 1")
        number = value.array.reshape(-1)[0]
    return b.splat(number, shape, n.outputs[0] if n.outputs else "")


@onnx_op("Shape")
def shape_of(n: Node, b: Builder) -> Value:
    x = n.input(0)
    return b.numbers(x.shape[n.attr("start", 0) : n.attr("end", x.rank)])


@onnx_op("Size")
def size_of(n: Node, b: Builder) -> Value:
    return b.reshape(b.numbers([prod(n.input(0).shape)]), ())


@onnx_op("Range")
def range_of(n: Node, b: Builder) -> Value:
    start, stop, step = (n.array(i, what) for i, what in enumerate(("the start", "the limit", "the step")))
    if start.size != 1 or stop.size != 1 or step.size != 1:
        raise n.fail("start, limit and step must be scalars")
    if not step.reshape(-1)[0]:
        raise n.fail("the step is 0")
    first, last, by = start.reshape(-1)[0], stop.reshape(-1)[0], step.reshape(-1)[0]
    if start.dtype.kind in "iuO":
        whole = [n if is_symbolic(n) else int(n) for n in (first, last, by)]
        return b.counted(*whole, dtype=n.input(1).dtype)
    count = max(0, ceil((float(last) - float(first)) / float(by)))
    b.check_size((count,), str(start.dtype))
    values = [first + by * k for k in range(count)] if count <= 64 else first + by * np.arange(count)
    return b.constant(np.asarray(values).astype(start.dtype))


@onnx_op("EyeLike")
def eye_like(n: Node, b: Builder) -> Value:
    from lamina.dialects.dtypes import numpy_dtype
    from lamina.frontends.onnx.tensors import dtype_of

    x = n.input(0)
    if x.rank != 2:
        raise n.fail("input must be a matrix")
    dtype = dtype_of(n.attrs["dtype"], n.where) if "dtype" in n.attrs else x.dtype
    b.check_size(x.shape, dtype)
    return b.constant(np.eye(*x.shape, k=n.attr("k", 0), dtype=np.float32).astype(numpy_dtype(dtype)))
