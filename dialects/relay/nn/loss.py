"""Losses: how far predictions are from what they should be."""

from __future__ import annotations

from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.norms import nll_loss_gradients
from lamina.dialects.relay.shape.indexing import INDEX_DTYPES

# -- cross entropy ---------------------------------------------------------------------------------


class _CrossEntropy(Opaque, precision=Precision.NEVER):
    """-sum(x * y) / N of predictions x and targets y [N, C], as a tensor of rank 0."""

    x = operand_def()
    y = operand_def()

    @staticmethod
    def infer_type(x: TensorInfo, y: TensorInfo) -> TensorInfo:
        dtype = check_dtype(same_dtype(x, y), FLOATS)
        if len(x.shape) != 2 or x.shape != y.shape:
            raise TypeMismatch(f"predictions and targets must both be [N, C], they are {x.shape} and {y.shape}")
        return TensorInfo((), dtype)

    @classmethod
    def counted_element(cls, x: Scalar) -> Scalar:
        """The contribution of an element of the predictions."""
        return x

    @classmethod
    def te_compute(cls, x: Tensor, y: Tensor) -> Tensor:
        n, c = te.reduce_axis(x.shape[0], "n"), te.reduce_axis(x.shape[1], "c")

        def column(i: Index) -> Any:
            return te.sum(cls.counted_element(x[n, i]) * y[n, i], n)

        # Classes are neighbours: their sums are made side by side, and added at the end.
        columns = te.compute((x.shape[1],), column, "class_sum")
        total = te.compute((), lambda: te.sum(columns[c], c), "total")
        return te.compute((), lambda: -total[()] / float(x.shape[0]), "cross_entropy")

    @classmethod
    def samples(cls) -> list[Sample]:
        positive = ((0.01, 1.0), (0.0, 1.0))
        return [
            sample((3, 5), (3, 5), ranges=positive),
            sample((1, 1), (1, 1), ranges=positive),
            sample((7, 1), (7, 1), ranges=positive),
            sample((1, 33), (1, 33), ranges=positive),
            sample((4, 10), (4, 10), ranges=((0.5, 3.0), (-1.0, 1.0))),
            sample(((3, 17), "float64"), ((3, 17), "float64"), ranges=positive),
            sample(((5, 3), "float64"), ((5, 3), "float64"), ranges=positive),
            sample((2, 64), (2, 64), ranges=positive),
            sample((3, 5), (3, 4), error="must both be [N, C], they are (3, 5) and (3, 4)"),
            sample((5,), (5,), error="must both be [N, C]"),
            sample((3, 5), ((3, 5), "float64"), error="operand types differ"),
            sample(((3, 5), "int32"), ((3, 5), "int32"), error="got int32"),
        ]


@irdl_op_definition
class CrossEntropyOp(_CrossEntropy):
    """-sum(log(x) * y) / N of probabilities x and targets y [N, C], as a tensor of rank 0."""

    name = "relay.nn.cross_entropy"

    @classmethod
    def counted_element(cls, x: Scalar) -> Scalar:
        return te.log(x)

    @staticmethod
    def np_ref(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        return np.array(-np.mean(np.sum(np.log(x) * y, axis=1)), x.dtype)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        x, y = operands
        share = r.divide(grads[0], -float(shape_of(x)[0]))
        return [r.multiply(r.divide(y, x), share), r.multiply(r.log(x), share)]


@irdl_op_definition
class CrossEntropyWithLogitsOp(_CrossEntropy):
    """-sum(x * y) / N of logarithms of probabilities x and targets y [N, C], as a tensor of rank 0."""

    name = "relay.nn.cross_entropy_with_logits"

    @staticmethod
    def np_ref(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        return np.array(-np.mean(np.sum(x * y, axis=1)), x.dtype)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        x, y = operands
        share = r.divide(grads[0], -float(shape_of(x)[0]))
        return [r.multiply(y, share), r.multiply(x, share)]


# -- negative log likelihood -----------------------------------------------------------------------


@irdl_op_definition
class NllLossOp(OutFusable, precision=Precision.NEVER):
    """-predictions[n, t, d...] * weights[t] with the class t = targets[n, d...]: predictions [N, C, d...], targets
    [N, d...], weights [C]; or predictions [C] with a target of rank 0.

    A target equal to `ignore_index` counts nothing; any other is clamped to the classes. reduction `none` gives a loss
    for each target, `sum` their sum, `mean` their sum over that of their weights.
    """

    name = "relay.nn.nll_loss"
    predictions = operand_def()
    targets = operand_def()
    weights = operand_def()
    reduction = str_prop("mean")
    ignore_index = int_prop(-100)

    @staticmethod
    def infer_type(
        predictions: TensorInfo, targets: TensorInfo, weights: TensorInfo, *, reduction: str, ignore_index: int
    ) -> TensorInfo:
        dtype = check_dtype(same_dtype(predictions, weights), FLOATS)
        check_dtype(targets.dtype, INDEX_DTYPES)
        if reduction not in ("none", "sum", "mean"):
            raise TypeMismatch(f"reduction {reduction!r} is none of none, sum, mean")
        shape = predictions.shape
        if not shape:
            raise TypeMismatch("predictions of rank 0 have no classes")
        place = min(len(shape) - 1, 1)
        if shape[place] < 1:
            raise TypeMismatch("predictions have no classes")
        if weights.shape != (shape[place],):
            raise TypeMismatch(f"weights have shape {weights.shape} for {shape[place]} classes")
        if targets.shape != (*shape[:place], *shape[place + 1 :]):
            raise TypeMismatch(f"predictions have shape {shape}, targets {targets.shape}")
        return TensorInfo(targets.shape if reduction == "none" else (), dtype)

    @staticmethod
    def np_ref(
        predictions: NDArray[Any],
        targets: NDArray[Any],
        weights: NDArray[Any],
        *,
        reduction: str,
        ignore_index: int,
    ) -> NDArray[Any]:
        wide = np.promote_types(predictions.dtype, np.float32) if predictions.dtype.kind == "f" else np.float32
        place = min(predictions.ndim - 1, 1)
        t = targets.astype(np.int64)
        one_hot = np.clip(t, 0, len(weights) - 1)[..., None] == np.arange(len(weights))
        one_hot = np.moveaxis(one_hot & (t != ignore_index)[..., None], -1, place)
        along = weights.astype(wide).reshape([-1 if a == place else 1 for a in range(predictions.ndim)])
        weight = np.sum(np.where(one_hot, along, 0), axis=place)
        loss = -np.sum(np.where(one_hot, predictions.astype(wide) * along, 0), axis=place)
        if reduction == "sum":
            loss = loss.sum()
        elif reduction == "mean":
            loss = loss.sum() / weight.sum()
        return np.asarray(loss).astype(predictions.dtype)

    @staticmethod
    def te_compute(
        predictions: Tensor, targets: Tensor, weights: Tensor, *, reduction: str, ignore_index: int
    ) -> Tensor:
        place = min(predictions.ndim - 1, 1)
        classes = weights.shape[0]

        def counted(at: tuple[Any, ...], value: Any) -> Any:
            """`value` of the class, 0 where the target is to be ignored."""
            t = te.cast(targets[at], "int64")
            return te.select(te.not_equal(t, ignore_index), value(te.clamped(t, classes)), 0.0)

        def loss(*at: Any) -> Any:
            def element(t: Scalar) -> Scalar:
                return -predictions[(*at[:place], t, *at[place:])] * weights[t]

            return counted(at, element)

        def weight_of(*at: Any) -> Any:
            return counted(at, weights.__getitem__)

        if reduction == "none":
            return te.compute(targets.shape, loss, "nll_loss")

        def total(element: Any, name: str) -> Tensor:
            each = te.compute(targets.shape, element, name)
            loops = [te.reduce_axis(e, f"k{n}") for n, e in enumerate(targets.shape)]
            if not loops:
                return each
            return te.compute((), lambda: te.sum(each[tuple(loops)], loops), f"{name}_sum")

        losses = total(loss, "nll_loss")
        if reduction == "sum":
            return losses
        weight = total(weight_of, "weight")
        return te.compute((), lambda: losses[()] / weight[()], "nll_loss_mean")

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            shape: tuple[int, ...],
            dtype: str = "float32",
            index: str = "int32",
            last: float | None = None,
            error: str | None = None,
            **attrs: Any,
        ) -> Sample:
            place = min(len(shape) - 1, 1)
            targets = (*shape[:place], *shape[place + 1 :])
            high = shape[place] - 1 if last is None else last
            ranges = (None, (0.0, high), (0.5, 2.0))
            return sample(
                (shape, dtype), (targets, index), ((shape[place],), dtype), attrs=attrs, ranges=ranges, error=error
            )

        return [
            one((4, 5)),
            one((4, 5), reduction="none"),
            one((4, 5), reduction="sum"),
            one((3, 4, 2, 3), reduction="mean", ignore_index=1),
            one((3, 4, 7), reduction="none", ignore_index=2, index="int64"),
            one((2, 3, 1, 5), reduction="sum", ignore_index=0),
            one((6,)),
            one((5,), reduction="none", index="int64"),
            one((1, 1)),
            one((9, 3), "float64", reduction="none"),
            one((3, 4), last=9.0, reduction="none", index="uint8"),
            one((4, 5), reduction="max", error="reduction 'max' is none of none, sum, mean"),
            one((4, 5), index="float32", error="got float32"),
            sample((4, 5), ((3,), "int32"), (5,), error="predictions have shape (4, 5), targets (3,)"),
            sample((4, 5), ((4,), "int32"), (4,), error="weights have shape (4,) for 5 classes"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, reduction: str, ignore_index: int) -> Gradients:
        return nll_loss_gradients(grads, operands, reduction, ignore_index)
