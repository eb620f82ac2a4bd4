"""Boxes chosen class by class, and the best of all classes: vision.regular_non_max_suppression, as TFLite detects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.row_loops import in_parallel, statements
from lamina.dialects.relay.shape.sort import sorted_rows
from lamina.dialects.relay.vision.nms import Suppression, chosen_of_classes, chosen_ref, overlap_ref

if TYPE_CHECKING:
    from lamina.dialects.relay.row_loops import Place

_LARGEST = 1 << 24


@irdl_op_definition
class RegularNonMaxSuppressionOp(RelayOp):
    """The `max_detections` best of the boxes [N, B, 4] = (y0, x0, y1, x1) that are chosen for each class by its scores
    [N, B, C]: at least `score_threshold`, at most `max_detections_per_class`, none of which overlaps a better one by
    more than `iou_threshold`. The last `num_classes` of the C classes count, the first of them is class 0.

    Results are the boxes [N, M, 4], their classes [N, M], their scores [N, M], the best first, and how many there are
    [N]; the rest is 0. Boxes whose corners are the wrong way round overlap nothing.
    """

    name = "relay.vision.regular_non_max_suppression"
    NO_GRADIENT: ClassVar[str] = "which boxes stay changes in steps"

    boxes = operand_def(TensorType)
    scores = operand_def(TensorType)
    max_detections_per_class = int_prop()
    max_detections = int_prop()
    num_classes = int_prop()
    iou_threshold = float_prop()
    score_threshold = float_prop()
    outputs = var_result_def(TensorType)

    @staticmethod
    def infer_type(
        boxes: TensorInfo, scores: TensorInfo, *, max_detections_per_class: int, max_detections: int, num_classes: int,
        iou_threshold: float, score_threshold: float,
    ) -> tuple[TensorInfo, ...]:  # fmt: skip
        check_dtype(boxes.dtype, ("float32",))
        check_dtype(scores.dtype, ("float32",))
        if len(boxes.shape) != 3 or len(scores.shape) != 3 or boxes.shape[:2] != scores.shape[:2]:
            raise TypeMismatch(f"boxes {boxes.shape} and scores {scores.shape}, expects (N, B, 4) and (N, B, C)")
        if boxes.shape[2] != 4 or 0 in (*boxes.shape, *scores.shape):
            raise TypeMismatch(f"boxes {boxes.shape} and scores {scores.shape}, expects (N, B, 4) and (N, B, C)")
        if not 1 <= num_classes <= scores.shape[2]:
            raise TypeMismatch(f"num_classes {num_classes} of the {scores.shape[2]} that have scores")
        for what, given in (
            ("max_detections", max_detections), ("max_detections_per_class", max_detections_per_class),
        ):  # fmt: skip
            if not 1 <= given <= _LARGEST:
                raise TypeMismatch(f"{what} {given} is out of range")
        rows = (boxes.shape[0], max_detections)
        return (
            TensorInfo((*rows, 4), "float32"),
            TensorInfo(rows, "float32"),
            TensorInfo(rows, "float32"),
            TensorInfo(rows[:1], "int32"),
        )

    @staticmethod
    def te_compute(
        boxes: Tensor, scores: Tensor, *, max_detections_per_class: int, max_detections: int, num_classes: int,
        iou_threshold: float, score_threshold: float,
    ) -> list[Tensor]:  # fmt: skip
        batch, count, every = scores.shape
        first = every - num_classes

        def class_row(n: Index, c: Index, b: Index) -> Scalar:
            return scores[n, b, c + first]

        of_classes = te.compute([batch, num_classes, count], class_row, "nms_scores")

        def terms(_: list[Buffer]) -> Suppression:
            limit = te.const(min(max_detections_per_class, count), "int32")
            return Suppression(
                limit, lambda value: value >= score_threshold, lambda common: common > iou_threshold, ordered=True
            )

        chosen, totals = chosen_of_classes(boxes, of_classes, [], terms)

        def score_of(n: Index, k: Index) -> Scalar:
            """The score of choice k of image n, all classes in a row; below all others where there is none."""
            c, j = k // count, k % count
            value = of_classes[n, c, te.clamped(chosen[n, c, j], count)]
            there = te.cast(te.cast(j, "int64"), "int32") < totals[n, c]
            return te.select(there, value, -float("inf"))

        ranked = te.compute([batch, num_classes * count], score_of, "nms_chosen_scores")
        (best,) = sorted_rows(ranked, 1, False, num_classes * count, [("indices", "int32")], "nms_best")
        return _detections(boxes, chosen, totals, ranked, best, max_detections)

    @staticmethod
    def np_ref(
        boxes: Array, scores: Array, *, max_detections_per_class: int, max_detections: int, num_classes: int,
        iou_threshold: float, score_threshold: float,
    ) -> tuple[Array, ...]:  # fmt: skip
        rows = (len(boxes), max_detections)
        places, classes = np.zeros((*rows, 4), np.float32), np.zeros(rows, np.float32)
        values, totals = np.zeros(rows, np.float32), np.zeros(rows[:1], np.int32)
        for n, image in enumerate(boxes):
            found: list[tuple[float, int, int]] = []
            for c in range(num_classes):
                line = scores[n, :, c + scores.shape[2] - num_classes]

                def clash(a: int, box: int, of: Array = image) -> bool:
                    return overlap_ref(of[a], of[box], ordered=True) > np.float32(iou_threshold)

                def admitted(box: int, of: Array = line) -> bool:
                    return of[box] >= np.float32(score_threshold)

                order = np.argsort(-line, kind="stable")
                for box in chosen_ref(order, admitted, max_detections_per_class, clash):
                    found.append((float(line[box]), c, box))
            found = sorted(found, key=lambda f: -f[0])[:max_detections]
            totals[n] = len(found)
            for r, (value, c, box) in enumerate(found):
                places[n, r], classes[n, r], values[n, r] = image[box], c, value
        return places, classes, values, totals

    @staticmethod
    def samples() -> list[Sample]:
        given = {"max_detections_per_class": 3, "max_detections": 4, "num_classes": 2, "iou_threshold": 0.2}

        def one(n: int, b: int, c: int, error: str | None = None, **attrs: Any) -> Sample:
            every = {**given, "score_threshold": 0.3, **attrs}
            return sample((n, b, 4), (n, b, c), attrs=every, ranges=((0.0, 1.0), (0.0, 1.0)), error=error)

        return [
            one(1, 9, 3),
            one(2, 7, 2),
            one(2, 12, 4, num_classes=4, max_detections=20),
            one(1, 1, 1, num_classes=1),
            one(1, 6, 2, iou_threshold=0.0, score_threshold=0.0),
            one(1, 6, 2, iou_threshold=1.0, max_detections_per_class=100),
            one(1, 5, 3, score_threshold=2.0),
            one(3, 8, 3, max_detections=1),
            one(1, 5, 1, error="num_classes 2 of the 1 that have scores"),
            one(1, 5, 2, max_detections=0, error="max_detections 0 is out of range"),
            one(1, 0, 2, error="expects (N, B, 4) and (N, B, C)"),
            sample((1, 3, 4), (1, 4, 2), attrs={**given, "score_threshold": 0.0}, error="expects (N, B, 4) and"),
            sample(((1, 3, 4), "float64"), (1, 3, 2), attrs={**given, "score_threshold": 0.0}, error="got float64"),
        ]


def _detections(
    boxes: Tensor, chosen: Tensor, totals: Tensor, ranked: Tensor, best: Tensor, max_detections: int
) -> list[Tensor]:
    """The results of the op, from the places `best` of the choices of all classes, the best first, in `ranked`."""
    batch, num_classes, count = chosen.shape
    every = num_classes * count

    def image(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer], place: Place) -> None:
        (n,) = place
        (b, found, many, values, of_all), (places, classes, scores, detected) = ins, outs
        total = ib.allocate("int32", (1,), "nms_total")
        total[0] = 0
        with ib.for_range(0, num_classes, "c") as c:
            total[0] = te.minimum(total[0] + many[n, c], max_detections)
        detected[n] = total[0]
        with ib.for_range(0, max_detections, "r") as r:
            at = te.clamped(of_all[n, te.clamped(te.cast(r, "int64"), every)], every)
            number = te.safe_floordiv(at, te.const(count, "int64"))
            box = te.clamped(
                found[n, te.clamped(number, num_classes), te.safe_floormod(at, te.const(count, "int64"))], count
            )
            there = te.cast(te.cast(r, "int64"), "int32") < total[0]
            with ib.for_range(0, 4, "k") as k:
                places[n, r, k] = te.select(there, b[n, box, k], 0.0)
            classes[n, r] = te.select(there, te.cast(number, "float32"), 0.0)
            scores[n, r] = te.select(there, values[n, at], 0.0)

    rows = (batch, max_detections)
    return statements.extern(
        [(*rows, 4), rows, rows, rows[:1]],
        [boxes, chosen, totals, ranked, best],
        in_parallel((batch,), image),
        "nms_detections",
        ["float32", "float32", "float32", "int32"],
    )
