"""layout_transform: between plain and blocked layouts, such as NCHW and NCHW16c or OIHW and OIHW16i32o.

Layout strings are explained in `layout.py`. A split axis whose extent is no multiple of the block is padded with
zeros; on the way back `channels` says how much of axis C is real. The auto-scheduler's strings say extents as well and
split axes as often as they like: `1n8c4c` is 32 channels in blocks of 4.
"""

from __future__ import annotations

import re
from math import prod
from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.layout import block_of, extents, parse_layout, plain, stored_shape


def real_extents(src_layout: str, shape: tuple[int, ...], channels: int) -> dict[str, int]:
    """The extent of every axis as the model knows it. Raises TypeMismatch where `channels` does not fit."""
    found = extents(src_layout, shape)
    if channels:
        stored, block = found.get("C"), block_of(src_layout, "C")
        if stored is None:
            raise TypeMismatch(f"channels is {channels}, layout {src_layout!r} has no axis C")
        if not stored - block < channels <= stored:
            raise TypeMismatch(f"channels is {channels}, the tensor stores {stored} in blocks of {block}")
        found["C"] = channels
    return found


@irdl_op_definition
class LayoutTransformOp(Injective, exact=True):
    """The tensor in `dst_layout`; `channels`: the real extent of axis C where `src_layout` pads it (0: all of it)."""

    name = "relay.layout_transform"

    data = operand_def(TensorType)
    src_layout = str_prop()
    dst_layout = str_prop()
    channels = int_prop(0)

    @staticmethod
    def infer_type(data: TensorInfo, src_layout: str, dst_layout: str, channels: int) -> TensorInfo:
        if sorted(plain(src_layout)) != sorted(plain(dst_layout)):
            raise TypeMismatch(f"layouts {src_layout!r} and {dst_layout!r} have different axes")
        return TensorInfo(stored_shape(dst_layout, real_extents(src_layout, data.shape, channels)), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, src_layout: str, dst_layout: str, channels: int) -> Tensor:
        real = real_extents(src_layout, data.shape, channels)

        def element(*i: Index) -> Any:
            place: dict[str, Any] = {letter: 0 for letter in real}
            for axis, index in zip(parse_layout(dst_layout), i, strict=True):
                letter = axis.letter.upper()
                scale = 1 if axis.block else block_of(dst_layout, letter)
                place[letter] = index * scale + place[letter]
            read: list[Any] = []
            for axis in parse_layout(src_layout):
                block = block_of(src_layout, axis.letter.upper())
                whole = place[axis.letter.upper()]
                read.append(whole % block if axis.block else whole // block)
            inside = te.all(*(place[letter] < extent for letter, extent in real.items()))
            return te.if_then_else(inside, data[tuple(read)], te.const(0, data.dtype))

        return te.compute(stored_shape(dst_layout, real), element, "layout_transform")

    @staticmethod
    def np_ref(data: Array, src_layout: str, dst_layout: str, channels: int) -> Array:
        source, target = parse_layout(src_layout), parse_layout(dst_layout)
        letters = plain(src_layout)
        # To the plain order of the source: outer and inner parts side by side, then merged.
        names = [a.letter for a in source]
        order = [names.index(n) for letter in letters for n in (letter, letter.lower()) if n in names]
        real = real_extents(src_layout, data.shape, channels)
        merged = np.transpose(data, order).reshape([extents(src_layout, data.shape)[letter] for letter in letters])
        merged = merged[tuple(slice(real[letter]) for letter in letters)]
        # To the target: padded to whole blocks, split, and put in order.
        blocks = {letter: block_of(dst_layout, letter) for letter in letters}
        missing = [(0, -real[letter] % blocks[letter]) for letter in letters]
        # Without anything to add it would be a copy all the same, and weights are large.
        merged = np.pad(merged, missing) if any(more for _, more in missing) else merged
        shape = [
            e for n, letter in zip(merged.shape, letters, strict=True) for e in (n // blocks[letter], blocks[letter])
        ]
        parts = [n for letter in letters for n in (letter, letter.lower())]
        wanted = [a.letter for a in target]
        unsplit = [n for n in parts if n not in wanted]
        split = np.transpose(merged.reshape(shape), [parts.index(n) for n in wanted + unsplit])
        return split.reshape(split.shape[: len(wanted)])

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            shape: tuple[int, ...],
            src_layout: str,
            dst_layout: str,
            dtype: str = "float32",
            error: str | None = None,
            **kw: int,
        ) -> Sample:
            attrs = {"src_layout": src_layout, "dst_layout": dst_layout, **kw}
            return sample((shape, dtype), attrs=attrs, error=error)

        return [
            one((1, 32, 3, 5), "NCHW", "NCHW16c"),
            one((1, 20, 3, 3), "NCHW", "NCHW8c"),
            one((1, 2, 3, 5, 16), "NCHW16c", "NCHW"),
            one((2, 2, 3, 1, 16), "NCHW16c", "NCHW", channels=19),
            one((1, 3, 2, 2, 8), "NCHW8c", "NCHW16c", channels=20),
            one((1, 3, 4, 5), "NCHW", "NHWC"),
            one((2, 4, 5, 3), "NHWC", "NCHW4c"),
            one((40, 20, 1, 3), "OIHW", "OIHW16i32o"),
            one((2, 2, 3, 1, 4, 8), "OIHW4i8o", "OIHW"),
            one((1, 1, 1, 1), "NCHW", "NCHW16c"),
            one((7,), "C", "C4c", "float64"),
            one((2, 5), "NC", "CN", "int32"),
            one((2, 5), "NC", "NC2c", "int8"),
            one((1, 32, 3, 5), "NCHW", "NCW16c", error="layouts 'NCHW' and 'NCW16c' have different axes"),
            one((1, 32, 3), "NCHW", "NHWC", error="layout 'NCHW' has 4 axes, the tensor rank 3"),
            one((1, 2, 3, 5, 8), "NCHW16c", "NCHW", error="layout 'NCHW16c' has blocks of 16, the tensor 8"),
            one((1, 2, 3, 5, 16), "NCHW16c", "NCHW", channels=16, error="channels is 16, the tensor stores 32"),
            one((1, 2), "N?", "NC", error="layout 'N?' is malformed"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        (x,) = operands
        moved = r.layout_transform(places_of(x, 1), **attrs)
        return [scattered(grads[0], moved, x, absent=True)]


def scheduled_axes(layout: str) -> list[tuple[int, str]]:
    """Extent and name of each axis of an auto-scheduler's layout. Raises TypeMismatch for another string."""
    if not re.fullmatch(r"(?:[1-9][0-9]*[A-Za-z_]+)+", layout):
        raise TypeMismatch(f"layout {layout!r} is no list of extents and names, such as '1n8c4c'")
    return [(int(extent), name) for extent, name in re.findall(r"([0-9]+)([A-Za-z_]+)", layout)]


@irdl_op_definition
class AutoSchedulerLayoutTransformOp(Injective):
    """The tensor with axes split and in the order of `dst_layout`, which gives extents: `4c8c` is c in blocks of 8."""

    name = "relay.auto_scheduler_layout_transform"

    data = operand_def(TensorType)
    src_layout = str_prop()
    dst_layout = str_prop()

    @staticmethod
    def infer_type(data: TensorInfo, src_layout: str, dst_layout: str) -> TensorInfo:
        source, target = scheduled_axes(src_layout), scheduled_axes(dst_layout)
        if tuple(e for e, _ in source) != data.shape:
            raise TypeMismatch(f"layout {src_layout!r} is not that of a tensor of shape {data.shape}")
        names = [name for _, name in source]
        if len(set(names)) != len(names):
            raise TypeMismatch(f"layout {src_layout!r} names an axis twice")
        if {name for _, name in target} != set(names):
            raise TypeMismatch(f"layouts {src_layout!r} and {dst_layout!r} have different axes")
        for extent, name in source:
            if prod(e for e, n in target if n == name) != extent:
                raise TypeMismatch(f"axis {name} of {extent} is not what {dst_layout!r} splits")
        return TensorInfo(tuple(e for e, _ in target), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, src_layout: str, dst_layout: str) -> Tensor:
        target = scheduled_axes(dst_layout)

        def element(*i: Index) -> Any:
            place: dict[str, Any] = {}
            for (extent, name), index in zip(target, i, strict=True):
                place[name] = place[name] * extent + index if name in place else index
            return data[tuple(place[name] for _, name in scheduled_axes(src_layout))]

        return te.compute(tuple(e for e, _ in target), element, "auto_scheduler_layout_transform")

    @staticmethod
    def np_ref(data: Array, src_layout: str, dst_layout: str) -> Array:
        target = scheduled_axes(dst_layout)
        parts = [n for _, name in scheduled_axes(src_layout) for n, (_, other) in enumerate(target) if other == name]
        split = data.reshape([target[n][0] for n in parts])
        return np.transpose(split, [parts.index(n) for n in range(len(target))])

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            shape: tuple[int, ...], src_layout: str, dst_layout: str, dtype: str = "float32", error: str | None = None
        ) -> Sample:
            return sample((shape, dtype), attrs={"src_layout": src_layout, "dst_layout": dst_layout}, error=error)

        return [
            one((1, 6, 4), "1n6c4w", "1n3c4w2c"),
            one((2, 12), "2n12c", "2c2n3c2c"),
            one((3, 5), "3h5w", "5w3h"),
            one((8,), "8x", "2x2x2x", "int32"),
            one((1, 1), "1n1c", "1c1n1c"),
            one((4, 6, 3, 3), "4ff6rc3ry3rx", "2ff3rc3ry3rx2rc2ff"),
            one((7, 5), "7A5b_c", "7A5b_c", "float64"),
            one((4, 9), "4i9j", "3j4i3j", "int8"),
            one((2, 3), "2n3c", "3n2c", error="axis n of 2 is not what '3n2c' splits"),
            one((2, 3), "2n4c", "2n4c", error="layout '2n4c' is not that of a tensor of shape (2, 3)"),
            one((2, 3), "2n3n", "2n3n", error="layout '2n3n' names an axis twice"),
            one((2, 3), "2n3c", "2n3d", error="layouts '2n3c' and '2n3d' have different axes"),
            one((2, 3), "NC", "2n3c", error="layout 'NC' is no list of extents and names, such as '1n8c4c'"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        (x,) = operands
        return [scattered(grads[0], r.auto_scheduler_layout_transform(places_of(x), **attrs), x)]
