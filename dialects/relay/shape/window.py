"""Ops that see a tensor through windows or from its end: sliding_window, contrib_reverse_reshape."""

from __future__ import annotations

from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.shape.views import reshape_sample, resolve_shape


@irdl_op_definition
class SlidingWindowOp(Opaque):
    """Every window of `window_shape` on the dimensions from `axis` on, `strides` apart: first the place of the window,
    then the place in it."""

    name = "relay.sliding_window"

    data = operand_def(TensorType)
    axis = int_prop()
    window_shape = ints_prop()
    strides = ints_prop()

    @staticmethod
    def infer_type(data: TensorInfo, axis: int, window_shape: tuple[int, ...], strides: tuple[int, ...]) -> TensorInfo:
        if not data.shape:
            raise TypeMismatch("a tensor of rank 0 has no windows")
        first = normalize_axis(axis, len(data.shape))
        slid = data.shape[first:]
        if not len(slid) == len(window_shape) == len(strides):
            raise TypeMismatch(
                f"a window of {len(window_shape)} dimensions and {len(strides)} strides for {len(slid)} dimensions"
            )
        for extent, window, stride in zip(slid, window_shape, strides, strict=True):
            if not 1 <= window <= extent or stride < 1:
                raise TypeMismatch(f"a window of {window} with stride {stride} on an extent of {extent}")
        counts = ((e - w) // s + 1 for e, w, s in zip(slid, window_shape, strides, strict=True))
        return TensorInfo((*data.shape[:first], *counts, *window_shape), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, axis: int, window_shape: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
        first = normalize_axis(axis, data.ndim)
        shape = SlidingWindowOp.infer_type(TensorInfo(data.shape, data.dtype), axis, window_shape, strides).shape

        def element(*i: Index) -> Any:
            places = zip(i[first : data.ndim], strides, i[data.ndim :], strict=True)
            return data[(*i[:first], *(p * s + w for p, s, w in places))]

        return te.compute(shape, element, "sliding_window")

    @staticmethod
    def np_ref(data: Array, axis: int, window_shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
        axes = tuple(range(axis % data.ndim, data.ndim))
        windows = np.lib.stride_tricks.sliding_window_view(data, window_shape, axes)
        cuts = [slice(None)] * data.ndim
        for a, s in zip(axes, strides, strict=True):
            cuts[a] = slice(None, None, s)
        return np.copy(windows[tuple(cuts)])

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            shape: tuple[int, ...], axis: int, window: tuple[int, ...], strides: tuple[int, ...], **kw: Any
        ) -> Sample:
            dtype = kw.pop("dtype", "float32")
            return sample((shape, dtype), attrs={"axis": axis, "window_shape": window, "strides": strides}, **kw)

        return [
            one((7,), 0, (3,), (1,)),
            one((7,), 0, (3,), (2,)),
            one((2, 3, 9, 8), 2, (3, 4), (2, 1)),
            one((2, 3, 9, 8), 1, (3, 4, 2), (1, 2, 3)),
            one((2, 3, 9), -1, (9,), (5,)),
            one((4, 5), -2, (1, 5), (1, 1)),
            one((1,), 0, (1,), (1,)),
            one((3, 8), 1, (3,), (2,), dtype="int32"),
            one((3, 8), 1, (3,), (4,), dtype="bool"),
            one((7,), 0, (8,), (1,), error="a window of 8 with stride 1 on an extent of 7"),
            one((7,), 0, (3,), (0,), error="a window of 3 with stride 0"),
            one((7, 7), 0, (3,), (1,), error="a window of 1 dimensions and 1 strides for 2 dimensions"),
            one((7,), 1, (3,), (1,), error="axis 1 is out of range for rank 1"),
            one((), 0, (), (), error="rank 0"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return picked(SlidingWindowOp, grads, operands, attrs)


def reversed_shape(shape: tuple[int, ...], newshape: tuple[int, ...], allowzero: bool) -> tuple[int, ...]:
    """`resolve_shape` with both read from their ends. Raises TypeMismatch as it does, and for -4."""
    if -4 in newshape:
        raise TypeMismatch(f"newshape {list(newshape)}: -4 has no meaning from the end")
    return resolve_shape(shape[::-1], newshape[::-1], allowzero)[::-1]


@irdl_op_definition
class ContribReverseReshapeOp(Injective, reshapes=True):
    """As `reshape`, but the special extents 0, -1, -2 and -3 are worked out from the last to the first."""

    name = "relay.contrib_reverse_reshape"

    data = operand_def(TensorType)
    newshape = ints_prop()
    allowzero = bool_prop(False)

    @staticmethod
    def infer_type(data: TensorInfo, newshape: tuple[int, ...], allowzero: bool) -> TensorInfo:
        return TensorInfo(reversed_shape(data.shape, newshape, allowzero), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, newshape: tuple[int, ...], allowzero: bool) -> Tensor:
        return te.reshape(data, reversed_shape(data.shape, newshape, allowzero), "reverse_reshape")

    @staticmethod
    def np_ref(data: Array, newshape: tuple[int, ...], allowzero: bool) -> Array:
        old, new = list(data.shape), list[int]()
        for entry in reversed(newshape):
            if entry == -3:
                new.append(old.pop() * old.pop())
            elif entry == -2:
                new, old = new + old[::-1], []
            else:
                last = old.pop() if old else 0
                new.append(last if entry == 0 and not allowzero else entry)
        return np.reshape(data, new[::-1])

    @staticmethod
    def samples() -> list[Sample]:
        return [
            reshape_sample((10, 5, 4), -1, 0),
            reshape_sample((10, 5, 4), -1, 0, 4),
            reshape_sample((2, 3, 4, 5), -2, -3),
            reshape_sample((2, 3, 4, 5), -3, -3),
            reshape_sample((6, 4), 2, 3, 0),
            reshape_sample((7,), -1),
            reshape_sample((1,), dtype="int64"),
            reshape_sample((), 1, dtype="bool"),
            reshape_sample((3, 0), 7, 0, allowzero=True, dtype="float64"),
            reshape_sample((3, 4), 5, 0, error="do not fill"),
            reshape_sample((3, 4), -4, 1, 3, 4, error="-4 has no meaning from the end"),
        ]

    relay_grad = vjp(lambda dy, x, y: reshaped(dy, x))
