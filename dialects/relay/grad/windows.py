"""Gradients of convolutions, pools and resized images.

    y = conv(x, w):    dx = conv_transpose(dy, w)    dw = the weight gradient of x and dy
    y = conv_transpose(x, w): the same with x and y in each other's place

In the orders NC.. and OI.. of axes; other orders are transposed around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.windows import pairs, per_axis

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def reordered(value: Any, old: str, new: str) -> Any:
    """A value whose axes are in the order `old`, in the order `new`."""
    return value if old == new else r.transpose(value, axes=[old.index(a) for a in new])


class _Windows:
    """The numbers of a convolution, one for each spatial axis."""

    def __init__(self, attrs: dict[str, Any], spatial: str) -> None:
        rank = len(spatial)
        self.spatial = spatial
        self.rank = rank
        self.strides = tuple(per_axis(attrs["strides"], rank, "stride"))
        self.dilation = tuple(per_axis(attrs["dilation"], rank, "dilation"))
        self.before, self.after = pairs(attrs["padding"], rank)
        self.groups: int = attrs["groups"]

    @property
    def attrs(self) -> dict[str, Any]:
        """As attributes of an op."""
        padding = (*self.before, *self.after)
        return {"strides": self.strides, "dilation": self.dilation, "padding": padding, "groups": self.groups}

    def convolved(self, x: Any, w: Any) -> Any:
        """The convolution."""
        return getattr(r.nn, f"conv{self.rank}d")(x, w, **self.attrs)

    def spread(self, dy: Any, w: Any, shape: Sequence[int]) -> Any:
        """The transposed convolution whose result has a shape."""
        more = [
            extent + b + a - (k - 1) * d - 1 - (n - 1) * s
            for extent, b, a, k, d, n, s in zip(
                shape[2:], self.before, self.after, shape_of(w)[2:], self.dilation, shape_of(dy)[2:], self.strides,
                strict=True,
            )
        ]  # fmt: skip
        return getattr(r.nn, f"conv{self.rank}d_transpose")(dy, w, output_padding=more, **self.attrs)

    def into_weight(self, x: Any, dy: Any, kernel: Sequence[int]) -> Any:
        """dw[o, c, k] = sum over n and y of dy[n, o, y] * x[n, c, y*stride + k*dilation - pad]."""
        if self.rank == 2:
            return r.nn.conv2d_backward_weight(dy, x, kernel_size=tuple(kernel), **self.attrs)
        if self.rank == 1:
            flat = {
                "strides": (1, *self.strides), "dilation": (1, *self.dilation), "groups": self.groups,
                "padding": (0, *self.before, 0, *self.after),
            }  # fmt: skip
            image = (r.expand_dims(v, axis=2) for v in (dy, x))
            return r.squeeze(r.nn.conv2d_backward_weight(*image, kernel_size=(1, *kernel), **flat), axis=(2,))
        # A convolution over the batch: channels are its batch, taps its places.
        swapped = (1, 0, *range(2, 2 + self.rank))
        parts: list[Any] = []
        for data, grad in zip(self._grouped(x), self._grouped(dy), strict=True):
            found = getattr(r.nn, f"conv{self.rank}d")(
                r.transpose(data, axes=swapped), r.transpose(grad, axes=swapped),
                strides=self.dilation, dilation=self.strides, padding=(*self.before, *self.after),
            )  # fmt: skip
            axes = tuple(range(2, 2 + self.rank))
            found = r.strided_slice(found, begin=(0,) * self.rank, end=tuple(kernel), axes=axes)
            parts.append(r.transpose(found, axes=swapped))
        return parts[0] if len(parts) == 1 else r.concatenate(*parts, axis=0)

    def _grouped(self, value: Any) -> list[Any]:
        """The channels of each group."""
        if self.groups == 1:
            return [value]
        return list(r.split(value, indices_or_sections=self.groups, axis=1))


def convolution_gradients(grad: Any, operands: Values, attrs: dict[str, Any]) -> list[Any]:
    """Of nn.conv1d, 2d and 3d."""
    x, w = operands
    spatial = {3: "W", 4: "HW", 5: "DHW"}[rank_of(x)]
    plain, kernel = "NC" + spatial, "OI" + spatial
    x_layout, w_layout = attrs["data_layout"] or plain, attrs["kernel_layout"] or kernel
    windows = _Windows(attrs, spatial)
    dy = reordered(in_dtype(grad, x), attrs["out_layout"] or x_layout, plain)
    first, weight = reordered(x, x_layout, plain), reordered(w, w_layout, kernel)
    into_x = windows.spread(dy, weight, shape_of(first))
    into_w = windows.into_weight(first, dy, shape_of(weight)[2:])
    return [reordered(into_x, plain, x_layout), reordered(into_w, kernel, w_layout)]


def transposed_gradients(grad: Any, operands: Values, attrs: dict[str, Any]) -> list[Any]:
    """Of nn.conv1d_transpose, 2d and 3d."""
    x, w = operands
    spatial = {3: "W", 4: "HW", 5: "DHW"}[rank_of(x)]
    # In two dimensions I counts the channels of the data, in others O does.
    plain, kernel = "NC" + spatial, ("IO" if len(spatial) == 2 else "OI") + spatial
    windows = _Windows(attrs, spatial)
    dy = reordered(in_dtype(grad, x), attrs["out_layout"] or attrs["data_layout"], plain)
    first, weight = reordered(x, attrs["data_layout"], plain), reordered(w, attrs["kernel_layout"], kernel)
    # What output_padding adds beyond a stride no element of the data reaches.
    more = per_axis(attrs["output_padding"], len(spatial), "output_padding", 0)
    crops = [m - m % s for m, s in zip(more, windows.strides, strict=True)]
    if any(crops):
        dy = r.nn.pad(dy, pad_width=[0] * 4 + [v for crop in crops for v in (0, -crop)])
    into_x = windows.convolved(dy, weight)
    into_w = windows.into_weight(dy, first, shape_of(weight)[2:])
    return [reordered(into_x, plain, attrs["data_layout"]), reordered(into_w, kernel, attrs["kernel_layout"])]


def weight_gradient_gradients(grad: Any, operands: Values, attrs: dict[str, Any]) -> list[Any]:
    """Of nn.conv2d_backward_weight, which is linear in both operands."""
    dy, x = operands
    windows = _Windows(attrs, "HW")
    weight = reordered(in_dtype(grad, x), attrs["kernel_layout"], "OIHW")
    first, given = reordered(x, attrs["data_layout"], "NCHW"), reordered(dy, attrs["grad_layout"], "NCHW")
    into_dy = windows.convolved(first, weight)
    into_x = windows.spread(given, weight, shape_of(first))
    return [reordered(into_dy, "NCHW", attrs["grad_layout"]), reordered(into_x, "NCHW", attrs["data_layout"])]


# -- pools -----------------------------------------------------------------------------------------


def max_pool_gradient(grad: Any, x: Any, spatial: str, attrs: dict[str, Any]) -> Any:
    """Of nn.max_pool1d, 2d and 3d: the maximum over a box is that over its sides, one after the other."""
    return _pool_gradient(grad, x, spatial, attrs, r.nn.max_pool2d_grad, r.nn.max_pool2d)


def avg_pool_gradient(grad: Any, x: Any, spatial: str, attrs: dict[str, Any]) -> Any:
    """Of nn.avg_pool1d, 2d and 3d: how many taps lie inside is a product over the axes."""
    return _pool_gradient(grad, x, spatial, attrs, r.nn.avg_pool2d_grad, r.nn.avg_pool2d)


def _pool_gradient(grad: Any, x: Any, spatial: str, attrs: dict[str, Any], gradient: Any, pool: Any) -> Any:
    if spatial == "HW":
        return gradient(grad, x, **attrs)
    shape = shape_of(x)
    axes = [attrs["layout"].index(a) for a in spatial]
    order = [a for a in range(len(shape)) if a not in axes] + axes
    back = [order.index(a) for a in range(len(shape))]
    rank = len(spatial)
    before, after = pairs(attrs["padding"], rank)
    numbers = {n: tuple(per_axis(attrs[n], rank, n)) for n in ("pool_size", "strides", "dilation")}
    common = {n: a for n, a in attrs.items() if n in ("ceil_mode", "count_include_pad")}

    def over(first: int, count: int) -> dict[str, Any]:
        """The attributes of pooling `count` of the axes as an image, whose rows are single where it is one."""
        axes, single = slice(first, first + count), (1,) * (2 - count)
        found = {n: (*v[axes], *single) for n, v in numbers.items()}
        none = (0,) * (2 - count)
        return {**found, **common, "padding": (*before[axes], *none, *after[axes], *none)}

    def pooled(data: Any) -> Any:
        moved = r.transpose(data, axes=order)
        extents = list(shape_of(moved)[-rank:])
        outer = shape_of(moved)[:-rank]
        lead = 1
        for e in outer:
            lead *= e
        if rank == 1:
            image = pool(to_shape(moved, (1, lead, extents[0], 1)), **over(0, 1))
            extents = [shape_of(image)[2]]
        else:
            image = pool(to_shape(moved, (1, lead * extents[0], *extents[1:])), **over(1, 2))
            height, width = shape_of(image)[2:]
            image = pool(to_shape(image, (1, lead, extents[0], height * width)), **over(0, 1))
            extents = [shape_of(image)[2], height, width]
        return r.transpose(to_shape(image, (*outer, *extents)), axes=back)

    return through(pooled, [grad], [x])[0]


def _region(place: int, extent: int, size: int) -> tuple[int, int]:
    """The beginning and the end of a region of an adaptive pool."""
    return place * extent // size, -(-(place + 1) * extent // size)


def adaptive_avg_gradient(grad: Any, x: Any, axes: Sequence[int], sizes: Sequence[int]) -> Any:
    """Of the means of regions: on each axis the transpose of the matrix that takes them."""
    for axis, size in zip(axes, sizes, strict=True):
        extent = shape_of(x)[axis]
        matrix = np.zeros((extent, size), dtype_of(x))
        for place in range(size):
            first, end = _region(place, extent, size)
            matrix[first:end, place] = 1.0 / (end - first)
        grad = transformed(grad, axis, matrix)
    return grad


def adaptive_max_gradients(grads: Values, operands: Values, axes: Sequence[int], sizes: Sequence[int]) -> list[Any]:
    """Of the maxima of regions, of one axis after the other."""

    def plain(x: Any) -> Any:
        for axis, size in zip(axes, sizes, strict=True):
            extent = shape_of(x)[axis]
            regions = [_region(place, extent, size) for place in range(size)]
            parts = [
                r.max(r.strided_slice(x, begin=(a,), end=(b,), axes=(axis,)), axis=(axis,), keepdims=True)
                for a, b in regions
            ]
            x = r.concatenate(*parts, axis=axis)
        return x

    return through(plain, grads, operands)


# -- images ----------------------------------------------------------------------------------------


def resize_gradients(grads: Values, operands: Values, resize: Any, line: Any, attrs: dict[str, Any]) -> list[Any]:
    """Of a resized image: on each axis the transpose of the matrix that resizes it, as the oracle of `line` tells."""
    (x,) = operands
    grad = in_dtype(grads[0], x)
    rank, one_axis = len(resize.AXES), _oracle(line)
    layout: str = attrs["layout"]
    for n, letter in enumerate(resize.AXES):
        axis = layout.index(letter)
        extent: int = shape_of(x)[axis]
        size: int = attrs["size"][n]
        given = {"size": (size,), "roi": (attrs["roi"][n], attrs["roi"][rank + n]), "layout": "NCW"}
        fixed = {"extrapolation_value": 0.0, "out_dtype": "float64"}
        found = one_axis(np.eye(extent)[None], **{**attrs, **given, **fixed})
        grad = transformed(grad, axis, found[0].astype(dtype_of(x)))
    return [grad]


def _oracle(op_type: Any) -> Callable[..., Array]:
    return op_type.np_ref


def affine_grid_gradients(grads: Values, target_shape: Sequence[int]) -> list[Any]:
    """The matrices' is the product of the gradient with the places of the grid."""
    count, directions, height, width = shape_of(grads[0])
    y, x = np.meshgrid(*(np.linspace(-1, 1, e) for e in target_shape), indexing="ij")
    grid = np.stack([x, y, np.ones_like(x)]).reshape(3, -1).astype(dtype_of(grads[0]))
    return [r.nn.dense(to_shape(grads[0], (count, directions, height * width)), constant(grid))]
