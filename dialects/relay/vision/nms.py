"""Boxes chosen class by class so that they do not overlap: vision.all_class_non_max_suppression and
vision.regular_non_max_suppression.

Of the boxes of a class the one with the highest score is taken, then the next that overlaps none of those taken by more
than a threshold, and so on. The overlap of two boxes is their common area as a part of the area that they cover.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.image.sampling import one_of
from lamina.dialects.relay.row_loops import each_place, in_parallel, statements
from lamina.dialects.relay.shape.sort import sorted_rows

if TYPE_CHECKING:
    from lamina.dialects.relay.row_loops import Place

WIDE_FLOATS = ("float32", "float64")


def overlap(a: list[Scalar], b: list[Scalar], ordered: bool = False) -> Scalar:
    """The overlap of two boxes, each given by two opposite corners; 0 where they cover nothing. `ordered` says that the
    first corner is the lesser one: a box for which it is not covers nothing."""
    if ordered:
        lows, highs = (a[:2], b[:2]), (a[2:], b[2:])
    else:
        lows = tuple([te.minimum(p[k], p[k + 2]) for k in (0, 1)] for p in (a, b))
        highs = tuple([te.maximum(p[k], p[k + 2]) for k in (0, 1)] for p in (a, b))
    areas = [(highs[n][0] - lows[n][0]) * (highs[n][1] - lows[n][1]) for n in (0, 1)]
    sides = [te.maximum(te.minimum(highs[0][k], highs[1][k]) - te.maximum(lows[0][k], lows[1][k]), 0.0) for k in (0, 1)]
    common = sides[0] * sides[1]
    covered = areas[0] + areas[1] - common
    counts = (covered > 0.0) if not ordered else (areas[0] > 0.0) & (areas[1] > 0.0)
    return te.select(counts, common / te.select(counts, covered, 1.0), 0.0)


def overlap_ref(a: Array, b: Array, ordered: bool = False) -> Any:
    """The same of two arrays, rounded as they are."""
    corners = [p if ordered else np.concatenate([np.minimum(p[:2], p[2:]), np.maximum(p[:2], p[2:])]) for p in (a, b)]
    first, second = corners
    areas = [np.prod(p[2:] - p[:2]) for p in corners]
    common = np.prod(np.maximum(np.minimum(first[2:], second[2:]) - np.maximum(first[:2], second[:2]), 0))
    if (min(areas) if ordered else areas[0] + areas[1] - common) <= 0:
        return 0.0
    return common / (areas[0] + areas[1] - common)


@dataclass(frozen=True)
class Suppression:
    """The terms on which boxes of one class are chosen: how many at most, by the score of each, by the overlap of two;
    `ordered` is that of `overlap`."""

    limit: Scalar
    admits: Callable[[Scalar], Scalar]
    clashes: Callable[[Scalar], Scalar]
    ordered: bool = False


def chosen_of_classes(
    boxes: Tensor, scores: Tensor, numbers: Sequence[Tensor], terms_of: Callable[[list[Buffer]], Suppression]
) -> list[Tensor]:
    """Numbers [N, C, B] of the boxes [N, B, 4] that are chosen for each class by its scores [N, C, B], and how many
    they are [N, C]: best first, those that clash with none chosen before.

    `terms_of` makes the terms of the buffers of `numbers`.
    """
    batch, classes, count = scores.shape
    (order,) = sorted_rows(scores, 2, False, count, [("indices", "int32")], "nms_order")

    def row(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer], place: Place) -> None:
        n, c = place
        (b, s, o, *rest), (chosen, total) = ins, outs
        terms = terms_of(rest)
        hit = ib.allocate("int32", (1,), "nms_hit")
        total[n, c] = 0

        def common(one: Scalar, other: Scalar) -> Scalar:
            first, second = ([b[n, te.clamped(box, count), k] for k in range(4)] for box in (one, other))
            return overlap(first, second, terms.ordered)

        with ib.for_range(0, count, "k") as k:
            chosen[n, c, k] = 0
        with ib.for_range(0, count, "j") as j:
            box = o[n, c, j]
            taken = total[n, c]
            open_ = terms.admits(s[n, c, te.clamped(box, count)]) & (taken < terms.limit)
            hit[0] = 0
            with ib.for_range(0, te.select(open_, taken, 0), "k") as k:
                hit[0] = hit[0] | te.cast(terms.clashes(common(chosen[n, c, k], box)), "int32")
            # No more are chosen than were looked at: the next place is within the row, and nothing stands there.
            chosen[n, c, te.clamped(taken, count)] = box
            total[n, c] = taken + te.cast(open_ & te.equal(hit[0], 0), "int32")

    shapes, body = [(batch, classes, count), (batch, classes)], in_parallel((batch, classes), row)
    return statements.extern(shapes, [boxes, scores, order, *numbers], body, "nms_chosen", ["int32", "int32"])


def chosen_ref(order: Any, admitted: Any, limit: int, clash: Any) -> list[int]:
    """The same of the candidates of one class, over a list."""
    found: list[int] = []
    for box in order:
        if admitted(box) and len(found) < limit and not any(clash(k, box) for k in found):
            found.append(int(box))
    return found


def one_number(t: TensorInfo, what: str, *dtypes: str) -> None:
    """Raises TypeMismatch where an operand is not one number of such a type."""
    if t.shape not in ((), (1,)):
        raise TypeMismatch(f"{what} has shape {t.shape}, expects one number")
    check_dtype(t.dtype, dtypes)


def number_at(buffer: Buffer) -> Scalar:
    """The one number of an operand."""
    return buffer[(0,) * len(buffer.shape)]


@irdl_op_definition
class AllClassNonMaxSuppressionOp(RelayOp):
    """The boxes [N, B, 4] chosen for each image and each class by their scores [N, C, B]: those above
    `score_threshold`, at most `max_output_boxes_per_class` (all where it is not positive), that overlap none chosen
    before by more than `iou_threshold`. A box is two opposite corners, whichever.

    In format onnx the results are rows (image, class, box) in [N * C * B, 3], and how many of them there are; in format
    tensorflow rows (class, box) in [N, C * B, 2], their scores, and how many there are for each image. Further rows are
    0. (TVM also leaves out boxes that overlap by just the threshold.)
    """

    name = "relay.vision.all_class_non_max_suppression"
    NO_GRADIENT: ClassVar[str] = "which boxes stay changes in steps"

    boxes = operand_def(TensorType)
    scores = operand_def(TensorType)
    max_output_boxes_per_class = operand_def(TensorType)
    iou_threshold = operand_def(TensorType)
    score_threshold = operand_def(TensorType)
    output_format = str_prop("onnx")
    outputs = var_result_def(TensorType)

    @staticmethod
    def infer_type(
        boxes: TensorInfo, scores: TensorInfo, most: TensorInfo, iou: TensorInfo, score: TensorInfo, *,
        output_format: str,
    ) -> tuple[TensorInfo, ...]:  # fmt: skip
        check_dtype(same_dtype(boxes, scores), WIDE_FLOATS)
        one_of("output_format", output_format, ("onnx", "tensorflow"))
        if len(boxes.shape) != 3 or len(scores.shape) != 3 or boxes.shape[2] != 4:
            raise TypeMismatch(f"boxes {boxes.shape} and scores {scores.shape}, expects (N, B, 4) and (N, C, B)")
        batch, classes, count = scores.shape
        if boxes.shape[:2] != (batch, count) or count == 0:
            raise TypeMismatch(f"boxes {boxes.shape} and scores {scores.shape}, expects (N, B, 4) and (N, C, B)")
        one_number(most, "max_output_boxes_per_class", "int32", "int64")
        one_number(iou, "iou_threshold", boxes.dtype)
        one_number(score, "score_threshold", boxes.dtype)
        if output_format == "onnx":
            return TensorInfo((batch * classes * count, 3), "int64"), TensorInfo((1,), "int64")
        every = classes * count
        return (
            TensorInfo((batch, every, 2), "int64"),
            TensorInfo((batch, every), boxes.dtype),
            TensorInfo((batch,), "int64"),
        )

    @staticmethod
    def te_compute(
        boxes: Tensor, scores: Tensor, most: Tensor, iou: Tensor, score: Tensor, *, output_format: str
    ) -> list[Tensor]:
        count = scores.shape[2]

        def terms(numbers: list[Buffer]) -> Suppression:
            overlaps, least = number_at(numbers[1]), number_at(numbers[2])
            limit = te.cast(te.minimum(te.cast(number_at(numbers[0]), "int64"), count), "int32")
            limit = te.select(limit > 0, limit, count)
            return Suppression(limit, lambda value: value > least, lambda common: common > overlaps)

        chosen, totals = chosen_of_classes(boxes, scores, [most, iou, score], terms)
        if output_format == "onnx":
            return _all_rows(chosen, totals)
        return _rows_of_images(chosen, totals, scores)

    @staticmethod
    def np_ref(
        boxes: Array, scores: Array, most: Array, iou: Array, score: Array, *, output_format: str
    ) -> tuple[Array, ...]:
        batch, classes, count = scores.shape
        limit = int(most.reshape(-1)[0])
        least, overlaps = score.reshape(-1)[0], iou.reshape(-1)[0]
        images: list[list[tuple[int, int]]] = []
        for n in range(batch):
            images.append([])
            for c in range(classes):

                def admitted(box: int, row: Array = scores[n, c]) -> bool:
                    return row[box] > least

                def clash(a: int, box: int, of: Array = boxes[n]) -> bool:
                    return overlap_ref(of[a], of[box]) > overlaps

                order = np.argsort(-scores[n, c], kind="stable")
                found = chosen_ref(order, admitted, limit if limit > 0 else count, clash)
                images[-1] += [(c, box) for box in found]
        if output_format == "onnx":
            rows = np.zeros((batch * classes * count, 3), np.int64)
            listed = [(n, *row) for n, image in enumerate(images) for row in image]
            rows[: len(listed)] = np.reshape(listed, (-1, 3))
            return rows, np.asarray([len(listed)], np.int64)
        places = np.zeros((batch, classes * count, 2), np.int64)
        values = np.zeros((batch, classes * count), scores.dtype)
        for n, image in enumerate(images):
            places[n, : len(image)] = np.reshape(image, (-1, 2))
            values[n, : len(image)] = [scores[(n, *row)] for row in image]
        return places, values, np.asarray([len(image) for image in images], np.int64)

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            n: int, c: int, b: int, most: int = 3, iou: float = 0.3, least: float = -1.0, dtype: str = "float32",
            scalar: tuple[int, ...] = (), integer: str = "int32", error: str | None = None, **attrs: Any,
        ) -> Sample:  # fmt: skip
            return sample(
                ((n, b, 4), dtype),
                ((n, c, b), dtype),
                (scalar, integer),
                (scalar, dtype),
                (scalar, dtype),
                attrs=attrs,
                ranges=((0.0, 1.0), (-2.0, 2.0), (most, most), (iou, iou), (least, least)),
                error=error,
            )

        return [
            one(1, 1, 9),
            one(2, 3, 7, scalar=(1,)),
            one(2, 3, 7, most=0, iou=0.05),
            one(1, 2, 12, most=-1, iou=0.0),
            one(1, 2, 12, most=100, iou=1.0, least=-5.0, integer="int64"),
            one(1, 1, 1),
            one(1, 2, 5, least=9.0),
            one(2, 2, 8, dtype="float64", least=0.5),
            one(2, 3, 6, output_format="tensorflow"),
            one(1, 1, 5, most=0, output_format="tensorflow"),
            one(2, 1, 5, least=3.0, output_format="tensorflow"),
            one(1, 2, 0, error="expects (N, B, 4) and (N, C, B)"),
            one(1, 1, 5, scalar=(2,), error="max_output_boxes_per_class has shape (2,), expects one number"),
            one(1, 1, 5, integer="float32", error="got float32"),
            one(1, 1, 5, dtype="float16", error="got float16"),
            one(1, 1, 5, output_format="pytorch", error="output_format 'pytorch' is none of onnx, tensorflow"),
        ]


def _all_rows(chosen: Tensor, totals: Tensor) -> list[Tensor]:
    """The choices of all classes one after the other, as (image, class, box)."""
    batch, classes, count = chosen.shape

    def body(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
        boxes, many, (rows, total) = ins[0], ins[1], outs
        every = batch * classes * count
        total[0] = 0
        with ib.for_range(0, every, "r") as r, ib.for_range(0, 3, "k") as k:
            rows[r, k] = 0

        def append(place: Place) -> None:
            n, c = place
            with ib.for_range(0, te.minimum(te.maximum(many[n, c], 0), count), "k") as k:
                at = te.clamped(total[0], every)
                rows[at, 0] = te.cast(n, "int64")
                rows[at, 1] = te.cast(c, "int64")
                rows[at, 2] = te.cast(boxes[n, c, k], "int64")
                total[0] = total[0] + 1

        each_place(ib, (batch, classes), append)

    shapes = [(batch * classes * count, 3), (1,)]
    if 0 in shapes[0]:
        return [te.compute(s, lambda *_: te.const(0, "int64"), "nms_rows") for s in shapes]
    return statements.extern(shapes, [chosen, totals], body, "nms_rows", ["int64", "int64"])


def _rows_of_images(chosen: Tensor, totals: Tensor, scores: Tensor) -> list[Tensor]:
    """The choices of each image's classes one after the other, as (class, box), and their scores."""
    batch, classes, count = chosen.shape
    every = classes * count

    def image(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer], place: Place) -> None:
        (n,) = place
        boxes, many, s = ins
        rows, values, total = outs
        total[n] = 0
        with ib.for_range(0, every, "r") as r:
            rows[n, r, 0] = 0
            rows[n, r, 1] = 0
            values[n, r] = 0.0
        with ib.for_range(0, classes, "c") as c:
            with ib.for_range(0, te.minimum(te.maximum(many[n, c], 0), count), "k") as k:
                at = te.clamped(total[n], every)
                box = boxes[n, c, k]
                rows[n, at, 0] = te.cast(c, "int64")
                rows[n, at, 1] = te.cast(box, "int64")
                values[n, at] = s[n, c, te.clamped(box, count)]
                total[n] = total[n] + 1

    shapes, body = [(batch, every, 2), (batch, every), (batch,)], in_parallel((batch,), image)
    return statements.extern(shapes, [chosen, totals, scores], body, "nms_rows", ["int64", scores.dtype, "int64"])
