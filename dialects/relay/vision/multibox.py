"""The boxes of a single-shot detector: vision.multibox_prior lays them out, vision.multibox_transform_loc moves them to
where a network says objects are."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.row_loops import in_parallel, statements
from lamina.dialects.relay.vision.nms import WIDE_FLOATS

if TYPE_CHECKING:
    from lamina.dialects.relay.row_loops import Place


def _clipped(x: Scalar) -> Scalar:
    return te.minimum(te.maximum(x, 0.0), 1.0)


@irdl_op_definition
class MultiboxPriorOp(Opaque):
    """For each pixel of `data` [N, C, H, W], in rows, one box for each of `sizes` and one of the first size for each of
    the `ratios` but the first: y[0, box] = (x0, y0, x1, y1) of a picture from 0 to 1.

    The centre of pixel (i, j) is ((i + offsets[0]) * steps[0], (j + offsets[1]) * steps[1]); a step that is not
    positive is 1 / H or 1 / W. A size is the height, and the width in the same pixels; a ratio is that of the width to
    the height at the same area. `clip` cuts off what lies outside the picture.
    """

    name = "relay.vision.multibox_prior"

    data = operand_def(TensorType)
    sizes = floats_prop((1.0,))
    ratios = floats_prop((1.0,))
    steps = floats_prop((-1.0, -1.0))
    offsets = floats_prop((0.5, 0.5))
    clip = bool_prop(False)

    @staticmethod
    def infer_type(
        data: TensorInfo, *, sizes: tuple[float, ...], ratios: tuple[float, ...], steps: tuple[float, ...],
        offsets: tuple[float, ...], clip: bool,
    ) -> TensorInfo:  # fmt: skip
        check_dtype(data.dtype, WIDE_FLOATS)
        if len(data.shape) != 4 or 0 in data.shape[2:]:
            raise TypeMismatch(f"data has shape {data.shape}, expects images [N, C, H, W]")
        if not sizes or not ratios or min(ratios) <= 0:
            raise TypeMismatch(f"sizes {list(sizes)} and ratios {list(ratios)}, expects one or more, ratios positive")
        if len(steps) != 2 or len(offsets) != 2:
            raise TypeMismatch(f"steps {list(steps)} and offsets {list(offsets)}, expects two numbers each: y and x")
        boxes = data.shape[2] * data.shape[3] * (len(sizes) + len(ratios) - 1)
        return TensorInfo((1, boxes, 4), data.dtype)

    @staticmethod
    def te_compute(
        data: Tensor, *, sizes: tuple[float, ...], ratios: tuple[float, ...], steps: tuple[float, ...],
        offsets: tuple[float, ...], clip: bool,
    ) -> Tensor:  # fmt: skip
        height, width = data.shape[2:]
        halves = [(s / 2, s * height / width / 2) for s in sizes]
        for ratio in ratios[1:]:
            halves.append((sizes[0] / sqrt(ratio) / 2, sizes[0] * height / width * sqrt(ratio) / 2))
        count = len(halves)
        by = [s if s > 0 else 1.0 / e for s, e in zip(steps, (height, width), strict=True)]

        def element(n: Index, b: Index, k: Index) -> Scalar:
            def number(i: Index) -> Scalar:
                return te.cast(te.cast(i, "int64"), data.dtype)

            centres = [
                (number(b // (width * count)) + offsets[0]) * by[0],
                (number(b // count % width) + offsets[1]) * by[1],
            ]
            reach = [te.const(h, data.dtype) for h in halves[-1]]
            for box, half in list(enumerate(halves))[-2::-1]:
                reach = [te.select((b % count).equals(box), h, r) for h, r in zip(half, reach, strict=True)]
            across = (k % 2).equals(0)
            centre, half = te.select(across, centres[1], centres[0]), te.select(across, reach[1], reach[0])
            corner = te.select(k < 2, centre - half, centre + half)
            return _clipped(corner) if clip else corner

        return te.compute([1, height * width * count, 4], element, "multibox_prior")

    @staticmethod
    def np_ref(
        data: Array, *, sizes: tuple[float, ...], ratios: tuple[float, ...], steps: tuple[float, ...],
        offsets: tuple[float, ...], clip: bool,
    ) -> Array:  # fmt: skip
        height, width = data.shape[2:]
        steps = tuple(s if s > 0 else 1 / e for s, e in zip(steps, (height, width), strict=True))
        y: Array = (np.arange(height, dtype=np.float64) + offsets[0]) * steps[0]
        x: Array = (np.arange(width, dtype=np.float64) + offsets[1]) * steps[1]
        # Sides of all boxes: the sizes at ratio 1, the first size at the others.
        side = np.asarray([*sizes, *[sizes[0]] * (len(ratios) - 1)])
        root = np.sqrt(np.asarray([*[1.0] * len(sizes), *ratios[1:]]))
        high, wide = side / root, side * root * (height / width)
        centres = np.stack(np.broadcast_arrays(x[None, :, None], y[:, None, None]), -1)
        reach = np.stack([wide, high], -1) / 2
        boxes = np.concatenate([centres - reach, centres + reach], -1).reshape(1, -1, 4)
        return (np.clip(boxes, 0, 1) if clip else boxes).astype(data.dtype)

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, ...] = (1, 2, 3, 5), error: str | None = None, **attrs: Any) -> Sample:
            return sample((shape, attrs.pop("dtype", "float32")), attrs=attrs, error=error)

        return [
            one(),
            one(sizes=(0.5, 0.25, 0.1), ratios=(1.0, 2.0, 0.5)),
            one(sizes=(0.3,), ratios=(3.0, 0.25), clip=True),
            one((2, 1, 4, 1), sizes=(0.2, 0.4), steps=(0.3, 0.1)),
            one((1, 1, 1, 1), offsets=(0.0, 1.0)),
            one((1, 3, 1, 7), sizes=(0.9,), clip=True, offsets=(0.25, 0.75), steps=(-1.0, 0.5)),
            one(dtype="float64", ratios=(1.0, 4.0)),
            one((0, 0, 2, 2), sizes=(0.7, 0.1)),
            one((2, 3, 4), error="expects images [N, C, H, W]"),
            one(dtype="int32", error="got int32"),
            one(ratios=(1.0, -2.0), error="expects one or more, ratios positive"),
            one(sizes=(), error="expects one or more, ratios positive"),
            one(steps=(1.0,), error="expects two numbers each: y and x"),
        ]

    relay_grad = vjp(lambda dy, x, y: None)


@irdl_op_definition
class MultiboxTransformLocOp(RelayOp):
    """Of each box the class with the highest probability in `cls_prob` [N, C, B], and where `loc_pred` [N, 4 B] says it
    lies with respect to `anchor` [1, B, 4].

    Boxes of the background, which is class 0, are left out, also those of a probability below `threshold`. The results
    are rows (class - 1, probability, x0, y0, x1, y1) [N, B, 6] with -1 behind them, and how many there are [N]. The
    centre moves by loc_pred * variances of the anchor's width and height, which grow by the exponential of that; `clip`
    keeps corners between 0 and 1. With `keep_background` class 0 takes part, nothing is left out, and the class is
    given as it is.
    """

    name = "relay.vision.multibox_transform_loc"
    NO_GRADIENT: ClassVar[str] = "which boxes stay changes in steps"

    cls_prob = operand_def(TensorType)
    loc_pred = operand_def(TensorType)
    anchor = operand_def(TensorType)
    clip = bool_prop(True)
    threshold = float_prop(0.01)
    variances = floats_prop((0.1, 0.1, 0.2, 0.2))
    keep_background = bool_prop(False)
    outputs = var_result_def(TensorType)

    @staticmethod
    def infer_type(
        cls_prob: TensorInfo, loc_pred: TensorInfo, anchor: TensorInfo, *, variances: tuple[float, ...], **_: Any
    ) -> tuple[TensorInfo, ...]:
        check_dtype(same_dtype(cls_prob, loc_pred, anchor), WIDE_FLOATS)
        if len(cls_prob.shape) != 3 or 0 in cls_prob.shape:
            raise TypeMismatch(f"cls_prob has shape {cls_prob.shape}, expects (N, C, B), none of them 0")
        batch, _classes, boxes = cls_prob.shape
        if loc_pred.shape != (batch, 4 * boxes) or anchor.shape != (1, boxes, 4):
            raise TypeMismatch(
                f"loc_pred {loc_pred.shape} and anchor {anchor.shape}, expects ({batch}, {4 * boxes}) and "
                f"(1, {boxes}, 4)"
            )
        if len(variances) != 4:
            raise TypeMismatch(f"variances has {len(variances)} numbers, expects 4")
        return TensorInfo((batch, boxes, 6), cls_prob.dtype), TensorInfo((batch,), "int32")

    @staticmethod
    def te_compute(
        cls_prob: Tensor, loc_pred: Tensor, anchor: Tensor, *, clip: bool, threshold: float,
        variances: tuple[float, ...], keep_background: bool,
    ) -> list[Tensor]:  # fmt: skip
        batch, classes, count = cls_prob.shape
        dtype = cls_prob.dtype

        def image(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer], place: Place) -> None:
            (n,) = place
            (p, loc, box), (rows, total) = ins, outs
            best = ib.allocate(dtype, (2,), "best_class")
            total[n] = 0
            with ib.for_range(0, count, "j") as j, ib.for_range(0, 6, "e") as e:
                rows[n, j, e] = -1.0
            with ib.for_range(0, count, "j") as j:
                best[0] = -1.0
                best[1] = 0.0
                with ib.for_range(0 if keep_background else 1, classes, "c") as c:
                    better = p[n, c, j] > best[0]
                    best[1] = te.select(better, te.cast(te.cast(c, "int64"), dtype), best[1])
                    best[0] = te.select(better, p[n, c, j], best[0])
                class_ = te.select(best[0] < threshold, 0.0, best[1])
                stays = class_ >= 0.0 if keep_background else class_ > 0.0
                sides = [box[0, j, k + 2] - box[0, j, k] for k in (0, 1)]
                middles = [(box[0, j, k] + box[0, j, k + 2]) / 2.0 for k in (0, 1)]
                moved = [loc[n, j * 4 + k] * variances[k] * sides[k] + middles[k] for k in (0, 1)]
                halves = [te.exp(loc[n, j * 4 + 2 + k] * variances[2 + k]) * sides[k] / 2.0 for k in (0, 1)]
                corners = [moved[0] - halves[0], moved[1] - halves[1], moved[0] + halves[0], moved[1] + halves[1]]
                row = [class_ if keep_background else class_ - 1.0, best[0]]
                row += [_clipped(c) for c in corners] if clip else corners
                # A row that goes is written where the next that stays will be, and overwritten by it.
                at = te.clamped(total[n], count)
                for e, value in enumerate(row):
                    rows[n, at, e] = te.select(stays, value, -1.0)
                total[n] = total[n] + te.cast(stays, "int32")

        shapes, body = [(batch, count, 6), (batch,)], in_parallel((batch,), image)
        return statements.extern(shapes, [cls_prob, loc_pred, anchor], body, "multibox", [dtype, "int32"])

    @staticmethod
    def np_ref(
        cls_prob: Array, loc_pred: Array, anchor: Array, *, clip: bool, threshold: float,
        variances: tuple[float, ...], keep_background: bool,
    ) -> tuple[Array, ...]:  # fmt: skip
        batch, classes, count = cls_prob.shape
        first = 0 if keep_background else 1
        candidates = cls_prob[:, first:].astype(np.float64)
        if first < classes:
            score, kind = candidates.max(1), candidates.argmax(1) + first
        else:
            score, kind = np.full((batch, count), -1.0), np.zeros((batch, count), int)
        kind = np.where((score < threshold) | (score <= -1), 0, kind)
        low, high = anchor[..., :2].astype(np.float64), anchor[..., 2:].astype(np.float64)
        move = loc_pred.reshape(batch, count, 2, 2) * np.reshape(variances, (2, 2))
        centre = move[:, :, 0] * (high - low) + (low + high) / 2
        half = np.exp(move[:, :, 1]) * (high - low) / 2
        corners = np.concatenate([centre - half, centre + half], -1)
        corners = np.clip(corners, 0, 1) if clip else corners
        rows = np.concatenate([(kind - first)[..., None], score[..., None], corners], -1)
        out, totals = np.full((batch, count, 6), -1, cls_prob.dtype), np.zeros(batch, np.int32)
        for n in range(batch):
            there = rows[n][kind[n] >= first]
            out[n, : len(there)], totals[n] = there, len(there)
        return out, totals

    @staticmethod
    def samples() -> list[Sample]:
        def one(n: int, c: int, b: int, error: str | None = None, **attrs: Any) -> Sample:
            dtype = attrs.pop("dtype", "float32")
            return sample(
                ((n, c, b), dtype),
                ((n, 4 * b), dtype),
                ((1, attrs.pop("anchors", b), 4), dtype),
                attrs=attrs,
                ranges=((0.0, 1.0), (-2.0, 2.0), (0.0, 1.0)),
                error=error,
            )

        return [
            one(1, 3, 5),
            one(2, 4, 7, clip=False),
            one(2, 2, 9, threshold=0.5),
            one(1, 3, 5, variances=(1.0, 0.5, 0.25, 0.125)),
            one(2, 3, 6, keep_background=True),
            one(2, 3, 6, keep_background=True, threshold=0.7),
            one(1, 1, 4),
            one(1, 2, 1, threshold=2.0),
            one(2, 3, 5, dtype="float64"),
            one(1, 3, 5, anchors=4, error="expects (1, 20) and (1, 5, 4)"),
            one(1, 3, 5, variances=(1.0,), error="variances has 1 numbers, expects 4"),
            one(1, 3, 0, error="expects (N, C, B), none of them 0"),
            one(1, 3, 5, dtype="int32", error="got int32"),
        ]
