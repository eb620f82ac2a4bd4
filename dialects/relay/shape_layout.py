"""layout_transform: between plain and blocked layouts, such as NCHW and NCHW16c or OIHW and OIHW16i32o.

Layout strings are explained in `layout.py`. A split axis whose extent is no multiple of the block is padded with
zeros; on the way back `channels` says how much of axis C is real.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from lamina.dialects.lazy import np, te
from lamina.dialects.relay.base import OpPattern, RelayOp, Sample, TensorInfo, TypeMismatch, sample
from lamina.dialects.relay.families import int_prop, str_prop
from lamina.dialects.relay.gradients import places_of, r, scattered
from lamina.dialects.relay.layout import block_of, extents, parse_layout, plain, stored_shape

if TYPE_CHECKING:
    from lamina.dialects.relay.families import Array
    from lamina.dialects.relay.gradients import Gradients, Values
    from lamina.dialects.te.build import Index, Tensor


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
class LayoutTransformOp(RelayOp):
    """The tensor in `dst_layout`; `channels`: the real extent of axis C where `src_layout` pads it (0: all of it)."""

    name = "relay.layout_transform"
    FUSION_KIND: ClassVar[OpPattern] = OpPattern.INJECTIVE

    data = operand_def(TensorType)
    src_layout = str_prop()
    dst_layout = str_prop()
    channels = int_prop(0)
    result = result_def(TensorType)

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
        merged = np.pad(merged, [(0, -real[letter] % blocks[letter]) for letter in letters])
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
