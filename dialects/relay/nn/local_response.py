"""Local response normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.norms import lrn_gradients
from lamina.dialects.relay.layout import LayoutChoice, block_of, extents, parse_layout


@irdl_op_definition
class LrnOp(Opaque, precision=Precision.NEVER, along_axis=True):
    """Local response normalisation: y[c] = x[c] / (bias + alpha/size * sum of x[c+j]^2)^beta, where j runs from
    -floor((size-1)/2) to ceil((size-1)/2) on `axis` (ONNX's definition).

    With layout "NCHW16c" the channels are those of the blocks together; lanes beyond the last one must be zero.
    """

    name = "relay.nn.lrn"
    data = operand_def()
    size = int_prop(5)
    axis = int_prop(1)
    bias = float_prop(2.0)
    alpha = float_prop(1e-5)
    beta = float_prop(0.75)
    layout = str_prop("NCHW")

    @staticmethod
    def infer_type(data: TensorInfo, *, size: int, axis: int, layout: str, **_: Any) -> TensorInfo:
        extents(layout, data.shape)
        if size < 1:
            raise TypeMismatch(f"size {size} is out of range, it must be at least 1")
        channel = normalize_axis(axis, len(data.shape))
        blocks = [a.letter for a in parse_layout(layout) if a.block]
        if blocks and (channel != 1 or blocks != ["c"]):
            raise TypeMismatch(f"layout {layout!r} normalises axis 1 in blocks of channels, not axis {axis}")
        return TensorInfo(data.shape, check_dtype(data.dtype, FLOATS))

    @staticmethod
    def np_ref(
        data: NDArray[Any], *, size: int, axis: int, bias: float, alpha: float, beta: float, layout: str
    ) -> NDArray[Any]:
        x = data
        if len(parse_layout(layout)) == 5:
            n, c, h, w, b = data.shape
            x = np.moveaxis(data, 4, 2).reshape(n, c * b, h, w)
        before, after = (size - 1) // 2, size // 2
        rows = np.moveaxis(x * x, axis, 0)
        extent = rows.shape[0]
        total = np.stack([rows[max(0, c - before) : c + after + 1].sum(axis=0) for c in range(extent)])
        base = data.dtype.type(bias) + data.dtype.type(alpha / size) * np.moveaxis(total, 0, axis)
        y = x / np.power(base, data.dtype.type(beta))
        if x is data:
            return y
        n, c, h, w, b = data.shape
        return np.moveaxis(y.reshape(n, c, b, h, w), 2, 4)

    @staticmethod
    def te_compute(
        data: Tensor, *, size: int, axis: int, bias: float, alpha: float, beta: float, layout: str
    ) -> Tensor:
        channel = normalize_axis(axis, data.ndim)
        block = block_of(layout, "C") if data.ndim == 5 else 1
        k = te.reduce_axis(size, "k")
        before = (size - 1) // 2
        extent = data.shape[channel] * block

        def square(*i: Index) -> Any:
            at: list[Any] = list(i)
            c = (i[channel] * block + i[-1] if block > 1 else i[channel]) + k - before
            at[channel] = c // block if block > 1 else c
            if block > 1:
                at[-1] = c % block
            x = te.if_then_else(te.all(c >= 0, c < extent), data[tuple(at)], 0.0)
            return te.sum(x * x, [k])

        total = te.compute(data.shape, square, "lrn_squares")
        return te.compute(data.shape, lambda *i: data[i] / _power(total[i] * (alpha / size) + bias, beta), "lrn")

    @staticmethod
    def infer_layout(layouts: Sequence[str], types: Sequence[TensorInfo] = (), **attrs: Any) -> LayoutChoice:
        plain = attrs["layout"]
        offered = layouts[0] if layouts and layouts[0] else plain
        block = block_of(offered, "C")
        blocked = offered == f"NCHW{block}c" and attrs["axis"] in (1, -3) and plain == "NCHW"
        # Lanes beyond the last channel are squared too; whole blocks have none.
        whole = len(types) == 1 and len(types[0].shape) == 4 and types[0].shape[1] % block == 0
        kept = offered if blocked and whole else plain
        return LayoutChoice((kept,), kept, {"layout": kept, "axis": 1 if kept != plain else attrs["axis"]})

    @staticmethod
    def samples() -> list[Sample]:
        x = (1, 7, 3, 2)
        return [
            sample(x),
            sample(x, attrs={"size": 3, "alpha": 0.5}),
            sample(x, attrs={"size": 4, "alpha": 0.5, "bias": 1.0}),
            sample(x, attrs={"size": 3, "axis": -1, "alpha": 0.3, "beta": 0.5}),
            sample(x, attrs={"size": 1, "alpha": 2.0, "beta": 1.0}),
            sample(x, attrs={"size": 9, "alpha": 1.0, "beta": 0.3}),
            sample((1, 1, 1, 1), attrs={"alpha": 1.0}),
            sample((1, 2, 3, 2, 16), attrs={"alpha": 0.5, "layout": "NCHW16c"}),
            sample((1, 7, 3, 2, 1), attrs={"size": 3, "alpha": 0.5, "layout": "NCHW1c"}),
            sample((x, "float64"), attrs={"alpha": 1.0}),
            sample(x, attrs={"size": 0}, error="size 0 is out of range"),
            sample((1, 7, 3), error="layout 'NCHW' has 4 axes, the tensor rank 3"),
            sample((1, 2, 3, 2, 16), attrs={"axis": 2, "layout": "NCHW16c"}, error="normalises axis 1 in blocks"),
            sample((1, 8, 3, 2, 4), attrs={"layout": "NCHW4w"}, error="normalises axis 1 in blocks"),
        ]

    @staticmethod
    def relay_grad(
        grads: Values,
        operands: Values,
        results: Values,
        *,
        size: int,
        axis: int,
        bias: float,
        alpha: float,
        beta: float,
        layout: str,
    ) -> Gradients:
        return lrn_gradients(grads, operands, size, axis, bias, alpha, beta)


def _power(x: Scalar, exponent: float) -> Scalar:
    """x ** exponent; the exponents that networks use are square roots, which are exact and fast."""
    if exponent == 1.0:
        return x
    if exponent == 0.5:
        return te.sqrt(x)
    if exponent == 0.75:
        root = te.sqrt(x)
        return root * te.sqrt(root)
    return te.power(x, exponent)
