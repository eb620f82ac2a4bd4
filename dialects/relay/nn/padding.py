"""Padding, dilation and flattening: ops that only move elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.windows import per_axis

_MODES = ("constant", "edge", "reflect")


@irdl_op_definition
class PadOp(Injective):
    """Extends a tensor: `pad_width` is [before, after] of axis 0, then of axis 1, ... (negative numbers crop).

    `pad_mode` constant puts `pad_value` there, edge repeats the border, reflect mirrors at it without repeating it.
    """

    name = "relay.nn.pad"
    data = operand_def()
    pad_width = ints_prop()
    pad_value = float_prop(0.0)
    pad_mode = str_prop("constant")

    @staticmethod
    def infer_type(data: TensorInfo, *, pad_width: Sequence[int], pad_value: float, pad_mode: str) -> TensorInfo:
        if pad_mode not in _MODES:
            raise TypeMismatch(f"pad_mode {pad_mode!r} is none of {', '.join(_MODES)}")
        if len(pad_width) != 2 * len(data.shape):
            raise TypeMismatch(f"pad_width has {len(pad_width)} numbers, rank {len(data.shape)} needs twice the rank")
        if not is_float(data.dtype) and pad_value != int(pad_value):
            raise TypeMismatch(f"pad_value {pad_value} is no {data.dtype}")
        shape: list[int] = []
        for axis, extent in enumerate(data.shape):
            before, after = pad_width[2 * axis], pad_width[2 * axis + 1]
            if before + extent + after < 0 or -before > extent or -after > extent:
                raise TypeMismatch(f"pad_width crops {-before} and {-after} from axis {axis} of {extent}")
            least = 1 if pad_mode == "edge" else max(before, after) + 1
            if pad_mode != "constant" and max(before, after) > 0 and extent < least:
                raise TypeMismatch(
                    f"{pad_mode} padding of {max(before, after)} needs more than axis {axis} of {extent}"
                )
            shape.append(before + extent + after)
        return TensorInfo(tuple(shape), data.dtype)

    @staticmethod
    def np_ref(data: NDArray[Any], *, pad_width: Sequence[int], pad_value: float, pad_mode: str) -> NDArray[Any]:
        widths = list(zip(pad_width[::2], pad_width[1::2], strict=True))
        cut = tuple(slice(max(-b, 0), e - max(-a, 0)) for (b, a), e in zip(widths, data.shape, strict=True))
        grow = [(max(b, 0), max(a, 0)) for b, a in widths]
        if pad_mode != "constant":
            # Cropping comes last: what is mirrored is the whole tensor.
            keep = tuple(
                slice(max(-b, 0), max(b, 0) + e + max(a, 0) - max(-a, 0))
                for (b, a), e in zip(widths, data.shape, strict=True)
            )
            return np.pad(data, grow, mode=pad_mode)[keep]  # type: ignore[call-overload]
        return np.pad(data[cut], grow, constant_values=np.asarray(pad_value).astype(data.dtype))

    @staticmethod
    def te_compute(data: Tensor, *, pad_width: Sequence[int], pad_value: float, pad_mode: str) -> Tensor:
        before, after = pad_width[::2], pad_width[1::2]
        if pad_mode == "constant":
            value = pad_value if is_float(data.dtype) else int(pad_value)
            shape = [b + e + a for b, e, a in zip(before, data.shape, after, strict=True)]

            def constant(*i: Index) -> Any:
                inner = [p - b for p, b in zip(i, before, strict=True)]
                if not inner:
                    return data[()]
                inside = [c for p, e in zip(inner, data.shape, strict=True) for c in (p >= 0, p < e)]
                return te.if_then_else(te.all(*inside), data[tuple(inner)], te.const(value, data.dtype))

            return te.compute(shape, constant, "pad")
        x = data
        for axis in range(data.ndim):
            if before[axis] or after[axis]:
                x = _extend(x, axis, before[axis], after[axis], pad_mode)
        return x if x is not data else te.compute(data.shape, lambda *i: data[i], "pad")

    @staticmethod
    def samples() -> list[Sample]:
        x = (2, 3, 4)
        return [
            sample(x, attrs={"pad_width": [0, 0, 1, 2, 3, 0]}),
            sample(x, attrs={"pad_width": [1, 1, 0, 0, 0, 1], "pad_value": 2.5}),
            sample(x, attrs={"pad_width": [0, 0, -1, 1, 2, -2]}),
            sample(x, attrs={"pad_width": [0, 3, 1, 2, 3, 0], "pad_mode": "edge"}),
            sample(x, attrs={"pad_width": [1, 0, 1, 2, 3, 2], "pad_mode": "reflect"}),
            sample((5,), attrs={"pad_width": [-1, 3], "pad_mode": "reflect"}),
            sample((1,), attrs={"pad_width": [2, 2], "pad_value": -1.0}),
            sample(((3, 2), "int32"), attrs={"pad_width": [1, 0, 0, 1], "pad_value": 7.0}),
            sample(((3,), "float64"), attrs={"pad_width": [0, 0], "pad_mode": "edge"}),
            sample(x, attrs={"pad_width": [1, 1]}, error="pad_width has 2 numbers"),
            sample(x, attrs={"pad_width": [0] * 6, "pad_mode": "wrap"}, error="pad_mode 'wrap' is none of"),
            sample((2,), attrs={"pad_width": [2, 0], "pad_mode": "reflect"}, error="reflect padding of 2 needs more"),
            sample((2,), attrs={"pad_width": [-3, 2]}, error="pad_width crops 3"),
        ]

    @staticmethod
    def relay_grad(
        grads: Values, operands: Values, results: Values, *, pad_width: Sequence[int], pad_value: float, pad_mode: str
    ) -> Gradients:
        if pad_mode == "constant":
            return [r.nn.pad(grads[0], pad_width=[-w for w in pad_width])]
        return picked(PadOp, grads, operands, {"pad_width": pad_width, "pad_value": pad_value, "pad_mode": pad_mode})


def _extend(x: Tensor, axis: int, before: int, after: int, mode: str) -> Tensor:
    """One axis extended by its border (edge), or by its mirror image without the border (reflect) or with it
    (symmetric)."""
    extent = x.shape[axis]
    shape = [e if n != axis else before + e + after for n, e in enumerate(x.shape)]

    def element(*i: Index) -> Any:
        def at(position: Any) -> Any:
            return x[tuple(position if n == axis else p for n, p in enumerate(i))]

        p = i[axis] - before
        again = 1 if mode == "symmetric" else 0
        first, last = (0, extent - 1) if mode == "edge" else (-again - p, 2 * (extent - 1) + again - p)
        return te.if_then_else(p < 0, at(first), te.if_then_else(p < extent, at(p), at(last)))

    return te.compute(shape, element, "pad")


@irdl_op_definition
class MirrorPadOp(Injective):
    """Extends a tensor by its mirror image: in mode SYMMETRIC the border is repeated, in mode REFLECT it is not.
    `pad_width` is [before, after] of axis 0, then of axis 1, ..."""

    name = "relay.nn.mirror_pad"
    data = operand_def()
    mode = str_prop("SYMMETRIC")
    pad_width = ints_prop()

    @staticmethod
    def infer_type(data: TensorInfo, *, mode: str, pad_width: Sequence[int]) -> TensorInfo:
        if mode not in ("SYMMETRIC", "REFLECT"):
            raise TypeMismatch(f"mode {mode!r} is neither 'SYMMETRIC' nor 'REFLECT'")
        if len(pad_width) != 2 * len(data.shape):
            raise TypeMismatch(f"pad_width has {len(pad_width)} numbers, rank {len(data.shape)} needs twice the rank")
        shape: list[int] = []
        for axis, extent in enumerate(data.shape):
            before, after = pad_width[2 * axis : 2 * axis + 2]
            if min(before, after) < 0:
                raise TypeMismatch(f"pad_width {min(before, after)} is out of range, it must be at least 0")
            most = extent if mode == "SYMMETRIC" else max(extent - 1, 0)
            if max(before, after) > most:
                raise TypeMismatch(
                    f"{mode} padding of {max(before, after)} is more than the {most} elements to mirror in axis {axis}"
                )
            shape.append(before + extent + after)
        return TensorInfo(tuple(shape), data.dtype)

    @staticmethod
    def np_ref(data: NDArray[Any], *, mode: str, pad_width: Sequence[int]) -> NDArray[Any]:
        widths = list(zip(pad_width[::2], pad_width[1::2], strict=True))
        return np.pad(data, widths, mode="symmetric" if mode == "SYMMETRIC" else "reflect")

    @staticmethod
    def te_compute(data: Tensor, *, mode: str, pad_width: Sequence[int]) -> Tensor:
        x = data
        for axis in range(data.ndim):
            before, after = pad_width[2 * axis : 2 * axis + 2]
            if before or after:
                x = _extend(x, axis, before, after, mode.lower())
        return x if x is not data else te.compute(data.shape, lambda *i: data[i], "mirror_pad")

    @staticmethod
    def samples() -> list[Sample]:
        x = (2, 3, 4)
        reflect = {"mode": "REFLECT"}
        return [
            sample(x, attrs={"pad_width": [0, 0, 1, 2, 3, 0]}),
            sample(x, attrs={"pad_width": [2, 1, 3, 3, 0, 4]}),
            sample(x, attrs={"pad_width": [1, 0, 1, 2, 3, 2], **reflect}),
            sample((1,), attrs={"pad_width": [1, 1]}),
            sample((1,), attrs={"pad_width": [0, 0], **reflect}),
            sample((5, 1), attrs={"pad_width": [4, 4, 0, 0], **reflect}),
            sample(((3, 2), "int32"), attrs={"pad_width": [1, 0, 0, 1]}),
            sample(((3,), "float64"), attrs={"pad_width": [0, 2], **reflect}),
            sample(((4,), "bool"), attrs={"pad_width": [3, 1]}),
            sample((2,), attrs={"pad_width": [2, 0], **reflect}, error="REFLECT padding of 2 is more than the 1"),
            sample((2,), attrs={"pad_width": [0, 3]}, error="SYMMETRIC padding of 3 is more than the 2"),
            sample((2,), attrs={"pad_width": [-1, 0]}, error="pad_width -1 is out of range"),
            sample(x, attrs={"pad_width": [1, 1]}, error="pad_width has 2 numbers"),
            sample((2,), attrs={"pad_width": [0, 0], "mode": "reflect"}, error="mode 'reflect' is neither"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return picked(MirrorPadOp, grads, operands, attrs)


@irdl_op_definition
class DilateOp(Injective):
    """Spreads a tensor: `strides[axis] - 1` elements `dilation_value` between each two neighbours."""

    name = "relay.nn.dilate"
    x = operand_def()
    strides = ints_prop()
    dilation_value = float_prop(0.0)

    @staticmethod
    def infer_type(x: TensorInfo, *, strides: Sequence[int], dilation_value: float) -> TensorInfo:
        rank = len(x.shape)
        if len(strides) != rank:
            raise TypeMismatch(f"strides has {len(strides)} numbers, expects {rank}")
        per_axis(strides, rank, "stride")
        if not is_float(x.dtype) and dilation_value != int(dilation_value):
            raise TypeMismatch(f"dilation_value {dilation_value} is no {x.dtype}")
        return TensorInfo(tuple(max((e - 1) * s + 1, 0) for e, s in zip(x.shape, strides, strict=True)), x.dtype)

    @staticmethod
    def np_ref(x: NDArray[Any], *, strides: Sequence[int], dilation_value: float) -> NDArray[Any]:
        shape = [max((e - 1) * s + 1, 0) for e, s in zip(x.shape, strides, strict=True)]
        y = np.full(shape, dilation_value, x.dtype)
        y[tuple(slice(None, None, s) for s in strides)] = x
        return y

    @staticmethod
    def te_compute(x: Tensor, *, strides: Sequence[int], dilation_value: float) -> Tensor:
        shape = [max((e - 1) * s + 1, 0) for e, s in zip(x.shape, strides, strict=True)]
        value = dilation_value if is_float(x.dtype) else int(dilation_value)

        def element(*i: Index) -> Any:
            there = [(p % s).equals(0) for p, s in zip(i, strides, strict=True) if s > 1]
            found = x[tuple(p // s for p, s in zip(i, strides, strict=True))]
            return te.if_then_else(te.all(*there), found, te.const(value, x.dtype)) if there else found

        return te.compute(shape, element, "dilate")

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3, 4), attrs={"strides": [1, 2, 3]}),
            sample((3, 5), attrs={"strides": [2, 1], "dilation_value": -1.5}),
            sample((7,), attrs={"strides": [4], "dilation_value": 2.0}),
            sample((1, 1), attrs={"strides": [5, 2]}),
            sample((3,), attrs={"strides": [1]}),
            sample((), attrs={"strides": []}),
            sample(((2, 3), "int32"), attrs={"strides": [2, 2], "dilation_value": 7.0}),
            sample(((4,), "float64"), attrs={"strides": [3]}),
            sample((0, 2), attrs={"strides": [2, 2]}),
            sample((2, 3), attrs={"strides": [2]}, error="strides has 1 numbers, expects 2"),
            sample((2,), attrs={"strides": [0]}, error="stride 0 is out of range"),
            sample(
                ((2,), "int8"), attrs={"strides": [2], "dilation_value": 0.5}, error="dilation_value 0.5 is no int8"
            ),
        ]

    @staticmethod
    def relay_grad(
        grads: Values, operands: Values, results: Values, *, strides: Sequence[int], dilation_value: float
    ) -> Gradients:
        shape = shape_of(results[0])
        return [r.strided_slice(grads[0], begin=[0] * len(shape), end=shape, strides=strides)] if shape else grads


@irdl_op_definition
class BatchFlattenOp(Injective, reshapes=True):
    """[N, a, b, ...] -> [N, a*b*...]."""

    name = "relay.nn.batch_flatten"
    data = operand_def()

    @staticmethod
    def infer_type(data: TensorInfo) -> TensorInfo:
        if not data.shape:
            raise TypeMismatch("input has rank 0, expects a batch axis")
        return TensorInfo((data.shape[0], prod(data.shape[1:])), data.dtype)

    @staticmethod
    def np_ref(data: NDArray[Any]) -> NDArray[Any]:
        return data.reshape(data.shape[0], prod(data.shape[1:]))

    @staticmethod
    def te_compute(data: Tensor) -> Tensor:
        def element(n: Index, flat: Index) -> Any:
            at: list[Any] = []
            step = prod(data.shape[1:])
            rest = flat
            for extent in data.shape[1:]:
                step //= max(extent, 1)
                at.append(rest // step if step > 1 else rest)
                rest = rest % step if step > 1 else rest * 0
            return data[(n, *at)]

        return te.compute((data.shape[0], prod(data.shape[1:])), element, "batch_flatten")

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3, 4, 5)),
            sample((1, 7)),
            sample((3,)),
            sample((1, 1, 1)),
            sample((4, 1, 5)),
            sample(((2, 3, 3), "int32")),
            sample(((5, 2), "float64")),
            sample(((2, 2, 1, 3), "bool")),
            sample((), error="input has rank 0"),
        ]

    relay_grad = vjp(lambda dy, x, y: reshaped(dy, x))
