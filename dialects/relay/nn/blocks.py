"""Ops that move blocks between space and depth (channels), or between space and batch."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.layout import extents, parse_layout
from lamina.dialects.relay.windows import LARGEST, per_axis

# -- space and depth -------------------------------------------------------------------------------


def _image(data: TensorInfo, block_size: int, layout: str) -> dict[str, int]:
    """The extents of N, C, H and W. Raises TypeMismatch for other axes or a block of no size."""
    if sorted(a.letter for a in parse_layout(layout)) != ["C", "H", "N", "W"]:
        raise TypeMismatch(f"layout {layout!r} must be an order of the axes N, C, H, W")
    if not 1 <= block_size < LARGEST:
        raise TypeMismatch(f"block_size {block_size} is out of range, it must be at least 1")
    return extents(layout, data.shape)


@irdl_op_definition
class DepthToSpaceOp(Injective, layouts=("layout",)):
    """[N, b*b*C, H, W] -> [N, C, H*b, W*b]: channels become blocks of b x b pixels.

    Pixel (r, s) of a block comes from channel (r*b + s)*C + c in mode DCR (depth, column, row), from
    c*b*b + r*b + s in mode CRD.
    """

    name = "relay.nn.depth_to_space"
    data = operand_def()
    block_size = int_prop()
    layout = str_prop("NCHW")
    mode = str_prop("DCR")

    @staticmethod
    def infer_type(data: TensorInfo, *, block_size: int, layout: str, mode: str) -> TensorInfo:
        if mode not in ("DCR", "CRD"):
            raise TypeMismatch(f"mode {mode!r} is neither 'DCR' nor 'CRD'")
        of = _image(data, block_size, layout)
        if of["C"] % block_size**2:
            raise TypeMismatch(f"{of['C']} channels are no multiple of the {block_size**2} pixels of a block")
        sizes = of | {"C": of["C"] // block_size**2, "H": of["H"] * block_size, "W": of["W"] * block_size}
        return TensorInfo(tuple(sizes[a] for a in layout), data.dtype)

    @staticmethod
    def np_ref(data: NDArray[Any], *, block_size: int, layout: str, mode: str) -> NDArray[Any]:
        b = block_size
        n, c, h, w = (x := np.transpose(data, [layout.index(a) for a in "NCHW"])).shape
        if mode == "DCR":
            x = x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
        else:
            x = x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
        return np.transpose(x.reshape(n, c // (b * b), h * b, w * b), ["NCHW".index(a) for a in layout])

    @staticmethod
    def te_compute(data: Tensor, *, block_size: int, layout: str, mode: str) -> Tensor:
        b, of = block_size, extents(layout, data.shape)
        channels = of["C"] // (b * b)
        sizes = of | {"C": channels, "H": of["H"] * b, "W": of["W"] * b}

        def element(*i: Index) -> Any:
            at: dict[str, Any] = dict(zip(layout, i, strict=True))
            pixel = at["H"] % b * b + at["W"] % b
            at["C"] = pixel * channels + at["C"] if mode == "DCR" else at["C"] * (b * b) + pixel
            at["H"], at["W"] = at["H"] // b, at["W"] // b
            return data[tuple(at[a] for a in layout)]

        return te.compute([sizes[a] for a in layout], element, "depth_to_space")

    @staticmethod
    def samples() -> list[Sample]:
        x = (1, 8, 2, 3)
        return [
            sample(x, attrs={"block_size": 2}),
            sample(x, attrs={"block_size": 2, "mode": "CRD"}),
            sample((2, 9, 1, 5), attrs={"block_size": 3}),
            sample((2, 18, 3, 1), attrs={"block_size": 3, "mode": "CRD"}),
            sample((1, 3, 2, 12), attrs={"block_size": 2, "layout": "NHWC"}),
            sample((1, 3, 2, 12), attrs={"block_size": 2, "layout": "NHWC", "mode": "CRD"}),
            sample((1, 3, 3, 3), attrs={"block_size": 1}),
            sample(((1, 4, 1, 1), "float64"), attrs={"block_size": 2}),
            sample(((1, 4, 3, 2), "int8"), attrs={"block_size": 2}),
            sample((1, 6, 2, 2), attrs={"block_size": 2}, error="6 channels are no multiple of the 4 pixels"),
            sample(x, attrs={"block_size": 0}, error="block_size 0 is out of range"),
            sample(x, attrs={"block_size": 2, "mode": "RCD"}, error="mode 'RCD' is neither 'DCR' nor 'CRD'"),
            sample((8, 2, 3), attrs={"block_size": 2}, error="layout 'NCHW' has 4 axes, the tensor rank 3"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return picked(DepthToSpaceOp, grads, operands, attrs)


@irdl_op_definition
class SpaceToDepthOp(Injective, layouts=("layout",)):
    """[N, C, H*b, W*b] -> [N, b*b*C, H, W]: pixel (r, s) of each block becomes channel (r*b + s)*C + c."""

    name = "relay.nn.space_to_depth"
    data = operand_def()
    block_size = int_prop()
    layout = str_prop("NCHW")

    @staticmethod
    def infer_type(data: TensorInfo, *, block_size: int, layout: str) -> TensorInfo:
        of = _image(data, block_size, layout)
        if of["H"] % block_size or of["W"] % block_size:
            raise TypeMismatch(f"an image of {of['H']} x {of['W']} has no whole blocks of {block_size}")
        sizes = of | {"C": of["C"] * block_size**2, "H": of["H"] // block_size, "W": of["W"] // block_size}
        return TensorInfo(tuple(sizes[a] for a in layout), data.dtype)

    @staticmethod
    def np_ref(data: NDArray[Any], *, block_size: int, layout: str) -> NDArray[Any]:
        b = block_size
        n, c, h, w = (x := np.transpose(data, [layout.index(a) for a in "NCHW"])).shape
        x = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
        return np.transpose(x.reshape(n, c * b * b, h // b, w // b), ["NCHW".index(a) for a in layout])

    @staticmethod
    def te_compute(data: Tensor, *, block_size: int, layout: str) -> Tensor:
        b, of = block_size, extents(layout, data.shape)
        sizes = of | {"C": of["C"] * b * b, "H": of["H"] // b, "W": of["W"] // b}

        def element(*i: Index) -> Any:
            at: dict[str, Any] = dict(zip(layout, i, strict=True))
            pixel = at["C"] // max(of["C"], 1)
            at["H"], at["W"] = at["H"] * b + pixel // b, at["W"] * b + pixel % b
            at["C"] = at["C"] % max(of["C"], 1)
            return data[tuple(at[a] for a in layout)]

        return te.compute([sizes[a] for a in layout], element, "space_to_depth")

    @staticmethod
    def samples() -> list[Sample]:
        x = (1, 2, 4, 6)
        return [
            sample(x, attrs={"block_size": 2}),
            sample((2, 1, 3, 9), attrs={"block_size": 3}),
            sample((1, 5, 3, 3), attrs={"block_size": 3}),
            sample((1, 4, 6, 3), attrs={"block_size": 2, "layout": "NHWC"}),
            sample((3, 2, 2, 1), attrs={"block_size": 1}),
            sample((1, 1, 2, 2), attrs={"block_size": 2}),
            sample(((1, 3, 4, 4), "float64"), attrs={"block_size": 4}),
            sample(((1, 3, 4, 2), "int8"), attrs={"block_size": 2}),
            sample((1, 2, 3, 4), attrs={"block_size": 2}, error="an image of 3 x 4 has no whole blocks of 2"),
            sample(x, attrs={"block_size": -2}, error="block_size -2 is out of range"),
            sample(x, attrs={"block_size": 2, "layout": "NCHW8c"}, error="must be an order of the axes N, C, H, W"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return picked(SpaceToDepthOp, grads, operands, attrs)


# -- space and batch -------------------------------------------------------------------------------


def _blocks(data: TensorInfo, block_shape: Sequence[int], widths: Sequence[int], what: str) -> list[tuple[int, int]]:
    """(before, after) of each blocked axis. Raises TypeMismatch where the lists do not fit the tensor."""
    rank = len(block_shape)
    if not rank or len(data.shape) < 1 + rank:
        raise TypeMismatch(
            f"block_shape has {rank} numbers, a tensor of rank {len(data.shape)} takes 1 to its rank - 1"
        )
    per_axis(block_shape, rank, "block")
    if len(widths) != 2 * rank:
        raise TypeMismatch(f"{what} has {len(widths)} numbers, expects {2 * rank}")
    per_axis(widths, 2 * rank, what, 0)
    return list(zip(widths[::2], widths[1::2], strict=True))


@irdl_op_definition
class SpaceToBatchNdOp(Injective):
    """[N, s0, s1, ..., rest] -> [b0*b1*...*N, s0'/b0, s1'/b1, ..., rest]: padded space in blocks, the places of a block
    as batch.

    `paddings` is [before, after] of axis 1, then of axis 2, ... with `pad_value`; the batch of place (p0, p1, ...) is
    (p0*b1 + p1)*N + n.
    """

    name = "relay.nn.space_to_batch_nd"
    data = operand_def()
    block_shape = ints_prop()
    paddings = ints_prop()
    pad_value = float_prop(0.0)

    @staticmethod
    def infer_type(
        data: TensorInfo, *, block_shape: Sequence[int], paddings: Sequence[int], pad_value: float
    ) -> TensorInfo:
        shape = [data.shape[0] * prod(block_shape), *data.shape[1:]] if data.shape else []
        for axis, ((before, after), b) in enumerate(
            zip(_blocks(data, block_shape, paddings, "paddings"), block_shape, strict=True), 1
        ):
            padded = before + data.shape[axis] + after
            if padded % b:
                raise TypeMismatch(f"axis {axis}, padded to {padded}, has no whole blocks of {b}")
            shape[axis] = padded // b
        if not is_float(data.dtype) and pad_value != int(pad_value):
            raise TypeMismatch(f"pad_value {pad_value} is no {data.dtype}")
        return TensorInfo(tuple(shape), data.dtype)

    @staticmethod
    def np_ref(
        data: NDArray[Any], *, block_shape: Sequence[int], paddings: Sequence[int], pad_value: float
    ) -> NDArray[Any]:
        rank, n = len(block_shape), data.shape[0]
        widths = [(0, 0), *zip(paddings[::2], paddings[1::2], strict=True)]
        widths += [(0, 0)] * (data.ndim - len(widths))
        x = np.pad(data, widths, constant_values=np.asarray(pad_value).astype(data.dtype))
        rest = x.shape[1 + rank :]
        split = [e for s, b in zip(x.shape[1:], block_shape, strict=False) for e in (s // b, b)]
        x = x.reshape(n, *split, *rest)
        order = [*range(2, 2 * rank + 1, 2), 0, *range(1, 2 * rank, 2), *range(2 * rank + 1, x.ndim)]
        return x.transpose(order).reshape(n * prod(block_shape), *split[::2], *rest)

    @staticmethod
    def te_compute(data: Tensor, *, block_shape: Sequence[int], paddings: Sequence[int], pad_value: float) -> Tensor:
        rank, n = len(block_shape), data.shape[0]
        shape = [n * prod(block_shape), *data.shape[1:]]
        for axis, b in enumerate(block_shape, 1):
            shape[axis] = (paddings[2 * axis - 2] + data.shape[axis] + paddings[2 * axis - 1]) // b
        value = pad_value if is_float(data.dtype) else int(pad_value)

        def element(*i: Index) -> Any:
            place = i[0] // max(n, 1)
            at: list[Any] = [i[0] % max(n, 1), *i[1:]]
            inside: list[Any] = []
            for axis in reversed(range(1, rank + 1)):
                b = block_shape[axis - 1]
                at[axis] = i[axis] * b + place % b - paddings[2 * axis - 2]
                place = place // b
                inside += [at[axis] >= 0, at[axis] < data.shape[axis]]
            return te.if_then_else(te.all(*inside), data[tuple(at)], te.const(value, data.dtype))

        return te.compute(shape, element, "space_to_batch_nd")

    @staticmethod
    def samples() -> list[Sample]:
        x = (2, 4, 6, 3)
        none = {"block_shape": [2, 2], "paddings": [0, 0, 0, 0]}
        return [
            sample(x, attrs=none),
            sample(x, attrs={"block_shape": [2, 3], "paddings": [0, 0, 2, 1]}),
            sample((1, 5, 4, 2), attrs={"block_shape": [3, 1], "paddings": [1, 0, 0, 0], "pad_value": -1.5}),
            sample((3, 7), attrs={"block_shape": [4], "paddings": [0, 1]}),
            sample((1, 3, 3, 3), attrs={"block_shape": [2, 2, 2], "paddings": [1, 0, 0, 1, 1, 2]}),
            sample((1, 1), attrs={"block_shape": [1], "paddings": [0, 0]}),
            sample(((2, 3, 5), "int32"), attrs={"block_shape": [2], "paddings": [0, 1], "pad_value": 7.0}),
            sample(((2, 4, 4), "float64"), attrs={"block_shape": [2, 4], "paddings": [0, 0, 0, 0]}),
            sample(x, attrs={"block_shape": [3, 2], "paddings": [0, 0, 0, 0]}, error="axis 1, padded to 4, has no"),
            sample(x, attrs={"block_shape": [2, 2], "paddings": [0, 0]}, error="paddings has 2 numbers, expects 4"),
            sample((4,), attrs={"block_shape": [2], "paddings": [0, 0]}, error="a tensor of rank 1 takes"),
            sample(x, attrs={"block_shape": [0, 2], "paddings": [0] * 4}, error="block 0 is out of range"),
            sample(x, attrs={"block_shape": [2, 2], "paddings": [-2, 0, 0, 0]}, error="paddings -2 is out of range"),
        ]

    @staticmethod
    def relay_grad(
        grads: Values,
        operands: Values,
        results: Values,
        *,
        block_shape: Sequence[int],
        paddings: Sequence[int],
        pad_value: float,
    ) -> Gradients:
        return [r.nn.batch_to_space_nd(grads[0], block_shape=block_shape, crops=paddings)]


@irdl_op_definition
class BatchToSpaceNdOp(Injective):
    """[b0*b1*...*N, s0, s1, ..., rest] -> [N, s0*b0 - crops, s1*b1 - crops, ..., rest]: the inverse of
    nn.space_to_batch_nd. `crops` is [from the front, from the end] of axis 1, then of axis 2, ..."""

    name = "relay.nn.batch_to_space_nd"
    data = operand_def()
    block_shape = ints_prop()
    crops = ints_prop()

    @staticmethod
    def infer_type(data: TensorInfo, *, block_shape: Sequence[int], crops: Sequence[int]) -> TensorInfo:
        cuts = _blocks(data, block_shape, crops, "crops")
        if data.shape[0] % prod(block_shape):
            raise TypeMismatch(
                f"a batch of {data.shape[0]} is no multiple of the {prod(block_shape)} places of a block"
            )
        shape = [data.shape[0] // prod(block_shape), *data.shape[1:]]
        for axis, ((front, end), b) in enumerate(zip(cuts, block_shape, strict=True), 1):
            shape[axis] = data.shape[axis] * b - front - end
            if shape[axis] < 0:
                raise TypeMismatch(f"crops {front} and {end} from axis {axis} of {data.shape[axis] * b}")
        return TensorInfo(tuple(shape), data.dtype)

    @staticmethod
    def np_ref(data: NDArray[Any], *, block_shape: Sequence[int], crops: Sequence[int]) -> NDArray[Any]:
        rank, n = len(block_shape), data.shape[0] // prod(block_shape)
        space, rest = data.shape[1 : 1 + rank], data.shape[1 + rank :]
        x = data.reshape(*block_shape, n, *space, *rest)
        pairs = [a for d in range(rank) for a in (rank + 1 + d, d)]
        x = x.transpose([rank, *pairs, *range(2 * rank + 1, x.ndim)])
        x = x.reshape(n, *(s * b for s, b in zip(space, block_shape, strict=True)), *rest)
        cuts = [slice(f, s - e) for f, e, s in zip(crops[::2], crops[1::2], x.shape[1:], strict=False)]
        return x[(slice(None), *cuts)]

    @staticmethod
    def te_compute(data: Tensor, *, block_shape: Sequence[int], crops: Sequence[int]) -> Tensor:
        rank, n = len(block_shape), data.shape[0] // prod(block_shape)
        shape = [n, *data.shape[1:]]
        for axis, b in enumerate(block_shape, 1):
            shape[axis] = data.shape[axis] * b - crops[2 * axis - 2] - crops[2 * axis - 1]

        def element(*i: Index) -> Any:
            at: list[Any] = list(i)
            batch: Any = 0
            for axis in range(1, rank + 1):
                b = block_shape[axis - 1]
                place = i[axis] + crops[2 * axis - 2]
                at[axis] = place // b
                batch = place % b + batch * b
            at[0] = i[0] + batch * n
            return data[tuple(at)]

        return te.compute(shape, element, "batch_to_space_nd")

    @staticmethod
    def samples() -> list[Sample]:
        x = (8, 2, 3, 3)
        return [
            sample(x, attrs={"block_shape": [2, 2], "crops": [0, 0, 0, 0]}),
            sample(x, attrs={"block_shape": [2, 4], "crops": [1, 0, 3, 2]}),
            sample((6, 3, 1, 2), attrs={"block_shape": [3, 1], "crops": [2, 3, 0, 0]}),
            sample((4, 7), attrs={"block_shape": [4], "crops": [0, 1]}),
            sample((8, 1, 2, 3), attrs={"block_shape": [2, 2, 2], "crops": [0, 1, 1, 0, 2, 2]}),
            sample((1, 1), attrs={"block_shape": [1], "crops": [0, 0]}),
            sample(((4, 3, 5), "int32"), attrs={"block_shape": [2], "crops": [0, 1]}),
            sample(((16, 1, 1), "float64"), attrs={"block_shape": [2, 4], "crops": [0, 0, 0, 0]}),
            sample((3, 2), attrs={"block_shape": [2], "crops": [0, 0]}, error="a batch of 3 is no multiple of the 2"),
            sample((4, 2), attrs={"block_shape": [2], "crops": [3, 2]}, error="crops 3 and 2 from axis 1 of 4"),
            sample((4, 2), attrs={"block_shape": [2], "crops": [0]}, error="crops has 1 numbers, expects 2"),
            sample((4,), attrs={"block_shape": [], "crops": []}, error="block_shape has 0 numbers"),
        ]

    @staticmethod
    def relay_grad(
        grads: Values, operands: Values, results: Values, *, block_shape: Sequence[int], crops: Sequence[int]
    ) -> Gradients:
        return [r.nn.space_to_batch_nd(grads[0], block_shape=block_shape, paddings=crops)]
