"""Fourier's transform of real and imaginary parts: dft, and stft of windows of a signal.

Both are sums over the definition, O(n^2); the sines and cosines come from a table of one turn.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.elements import dft_gradients
from lamina.dialects.relay.row_loops import empty

REALS = ("float32", "float64")


def turn(count: int, dtype: str) -> tuple[Tensor, Tensor]:
    """cos and sin of i / count of a turn: `turns` as tensor expressions."""

    def part(i: Index, is_sine: bool) -> Scalar:
        place = te.cast(i, "int64")
        half = te.minimum(place, count - place)
        quarter = te.minimum(half * 2, count - half * 2)
        swapped = quarter * 4 > count
        angle = te.cast(te.select(swapped, count - quarter * 2, quarter * 2), "float64") * (math.pi / 2 / count)
        c, s = te.cos(angle), te.sin(angle)
        size = te.select(swapped, c, s) if is_sine else te.select(swapped, s, c)
        return te.cast(te.select(place * 2 > count if is_sine else half * 4 > count, -size, size), dtype)

    def cosine(i: Index) -> Scalar:
        return part(i, False)

    def sine(i: Index) -> Scalar:
        return part(i, True)

    return te.compute((count,), cosine, "turn_cos"), te.compute((count,), sine, "turn_sin")


def turns(count: int) -> tuple[Array, Array]:
    """cos and sin of i / count of a turn for i = 0 ... count - 1, float64.

    The angles are folded to at most an eighth of a turn in integers: what is 0 or +-1 is so, and what is symmetric is
    symmetric to the bit.
    """
    place = np.arange(count, dtype=np.int64)
    half = np.minimum(place, count - place)
    quarter = np.minimum(half * 2, count - half * 2)
    swapped = quarter * 4 > count
    angle = np.where(swapped, count - quarter * 2, quarter * 2) * (math.pi / 2 / count)
    c, s = np.cos(angle), np.sin(angle)
    cos, sin = np.where(swapped, s, c), np.where(swapped, c, s)
    return np.where(half * 4 > count, -cos, cos), np.where(place * 2 > count, -sin, sin)


def at_product(table: Tensor, row: Index, column: Any) -> Scalar:
    """The table at row * column, which goes round and round."""
    product = te.cast(row, "int64") * te.cast(column, "int64")
    return table[te.truncmod(product, te.const(table.shape[0], "int64"))]


@irdl_op_definition
class DftOp(RelayOp):
    """The discrete Fourier transform along the last axis: real parts, imaginary parts. With `inverse` the other way,
    divided by the number of elements."""

    name = "relay.dft"

    re_data = operand_def(TensorType)
    im_data = operand_def(TensorType)
    inverse = bool_prop(False)
    re_result = result_def(TensorType)
    im_result = result_def(TensorType)

    @staticmethod
    def infer_type(re_data: TensorInfo, im_data: TensorInfo, inverse: bool) -> tuple[TensorInfo, TensorInfo]:
        check_dtype(same_dtype(re_data, im_data), REALS)
        if re_data.shape != im_data.shape or not re_data.shape:
            raise TypeMismatch(f"real parts of shape {re_data.shape}, imaginary ones of {im_data.shape}")
        return re_data, im_data

    @staticmethod
    def te_compute(re_data: Tensor, im_data: Tensor, inverse: bool) -> tuple[Tensor, Tensor]:
        count, dtype = re_data.shape[-1], re_data.dtype
        if not count:
            return empty(re_data.shape, dtype, "dft_re"), empty(re_data.shape, dtype, "dft_im")
        cos, sin = turn(count, dtype)
        sign = 1.0 if inverse else -1.0

        def part(real: bool) -> Tensor:
            k: IterVar = te.reduce_axis(count, "k")

            def term(*i: Index) -> Any:
                place = (*i[:-1], k.index())
                c, s = at_product(cos, i[-1], k.index()), at_product(sin, i[-1], k.index()) * sign
                re, im = re_data[place], im_data[place]
                return te.sum(re * c - im * s if real else re * s + im * c, axis=k)

            total = te.compute(re_data.shape, term, "dft_re" if real else "dft_im")
            return te.compute(total.shape, lambda *i: total[i] / count, "dft_scaled") if inverse else total

        return part(True), part(False)

    @staticmethod
    def np_ref(re_data: Array, im_data: Array, inverse: bool) -> tuple[Array, Array]:
        values = re_data.astype(np.complex128) + 1j * im_data.astype(np.float64)
        if not values.size:
            return re_data, im_data
        found = np.fft.ifft(values, axis=-1) if inverse else np.fft.fft(values, axis=-1)
        return found.real.astype(re_data.dtype), found.imag.astype(re_data.dtype)

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, ...], dtype: str = "float32", **kw: Any) -> Sample:
            return sample((shape, dtype), (shape, dtype), attrs=kw)

        return [
            one((8,)),
            one((8,), inverse=True),
            one((3, 7)),
            one((2, 3, 5), inverse=True),
            one((1,)),
            one((2, 1), inverse=True),
            one((17,), "float64"),
            one((3, 33), "float64", inverse=True),
            one((3, 0)),
            sample((3,), (4,), error="real parts of shape (3,), imaginary ones of (4,)"),
            sample(((3,), "float16"), ((3,), "float16"), error="got float16"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, inverse: bool) -> Gradients:
        return dft_gradients(grads, results, inverse)


@irdl_op_definition
class StftOp(Opaque):
    """The Fourier transform of windows of each row of `data` (batch, length), `hop_length` apart, as (batch, frequency,
    window, 2), real parts first. With `onesided` the frequencies up to half, `normalized` divides by sqrt(n_fft)."""

    name = "relay.stft"
    NO_GRADIENT: ClassVar[str] = "frames are taken for analysis; write it by dft"

    data = operand_def(TensorType)
    window = operand_def(TensorType)
    n_fft = int_prop()
    hop_length = int_prop()
    win_length = int_prop()
    normalized = bool_prop(False)
    onesided = bool_prop(True)

    @staticmethod
    def infer_type(
        data: TensorInfo,
        window: TensorInfo,
        n_fft: int,
        hop_length: int,
        win_length: int,
        normalized: bool,
        onesided: bool,
    ) -> TensorInfo:
        check_dtype(same_dtype(data, window), REALS)
        if len(data.shape) != 2 or window.shape != (win_length,):
            raise TypeMismatch(f"signals of shape {data.shape}, and a window of shape {window.shape} for {win_length}")
        if not 1 <= win_length <= n_fft <= data.shape[1] or hop_length < 1:
            raise TypeMismatch(
                f"n_fft {n_fft}, win_length {win_length} and hop_length {hop_length} for {data.shape[1]} elements"
            )
        rows = n_fft // 2 + 1 if onesided else n_fft
        return TensorInfo((data.shape[0], rows, (data.shape[1] - n_fft) // hop_length + 1, 2), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, window: Tensor, **attrs: Any) -> Tensor:
        infos = TensorInfo(data.shape, data.dtype), TensorInfo(window.shape, window.dtype)
        shape = StftOp.infer_type(*infos, **attrs).shape
        n_fft, hop, count = attrs["n_fft"], attrs["hop_length"], attrs["win_length"]
        cos, sin = turn(n_fft, data.dtype)

        def part(table: Tensor, name: str) -> Tensor:
            k: IterVar = te.reduce_axis(count, "k")

            def term(b: Index, row: Index, column: Index) -> Any:
                value = window[k.index()] * data[b, column * hop + k.index()]
                return te.sum(value * at_product(table, row, k.index()), axis=k)

            return te.compute(shape[:3], term, name)

        re, im = part(cos, "stft_re"), part(sin, "stft_im")
        scale = 1.0 / math.sqrt(n_fft) if attrs["normalized"] else 1.0

        def element(b: Index, row: Index, column: Index, which: Index) -> Any:
            real = te.equal(te.cast(which, "int64"), 0)
            return te.select(real, re[b, row, column], -im[b, row, column]) * scale

        return te.compute(shape, element, "stft")

    @staticmethod
    def np_ref(
        data: Array, window: Array, n_fft: int, hop_length: int, win_length: int, normalized: bool, onesided: bool
    ) -> Array:
        padded = np.zeros(n_fft)
        padded[:win_length] = window
        starts = range(0, data.shape[1] - n_fft + 1, hop_length)
        frames = np.stack([data[:, s : s + n_fft] * padded for s in starts], axis=1)
        found = np.fft.rfft(frames, axis=-1) if onesided else np.fft.fft(frames, axis=-1)
        found = np.swapaxes(found, 1, 2) / (math.sqrt(n_fft) if normalized else 1.0)
        return np.stack([found.real, found.imag], axis=-1).astype(data.dtype)

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, int], n_fft: int, hop: int, win: int, dtype: str = "float32", **kw: Any) -> Sample:
            error = kw.pop("error", None)
            attrs = {"n_fft": n_fft, "hop_length": hop, "win_length": win, **kw}
            return sample((shape, dtype), ((win,), dtype), attrs=attrs, error=error)

        return [
            one((1, 16), 8, 4, 8),
            one((2, 19), 8, 3, 8),
            one((2, 19), 7, 2, 7),
            one((1, 16), 8, 4, 6),
            one((1, 16), 8, 4, 8, onesided=False),
            one((2, 16), 8, 8, 8, normalized=True),
            one((1, 9), 9, 1, 9, onesided=False, normalized=True),
            one((1, 1), 1, 1, 1),
            one((3, 20), 8, 4, 5, "float64"),
            one((1, 16), 17, 4, 8, error="n_fft 17, win_length 8 and hop_length 4 for 16 elements"),
            one((1, 16), 8, 0, 8, error="hop_length 0"),
            one((1, 16), 8, 4, 8, "float16", error="got float16"),
            sample((1, 16), (5,), attrs={"n_fft": 8, "hop_length": 4, "win_length": 8}, error="a window of shape (5,)"),
        ]
