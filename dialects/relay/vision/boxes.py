"""Rows of boxes with a score, and perhaps a class: vision.get_valid_counts keeps those with a good score,
vision.non_max_suppression those that overlap none with a better one.

A row of `data` [N, B, E] holds the class at `id_index` (none where that is negative), the score at `score_index` and
two opposite corners from `coord_start` on. A row of -1 is no box.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.row_loops import empty, in_parallel, statements
from lamina.dialects.relay.shape.sort import sorted_rows
from lamina.dialects.relay.vision.nms import WIDE_FLOATS, number_at, one_number, overlap, overlap_ref

if TYPE_CHECKING:
    from lamina.dialects.relay.row_loops import Place


def _check_rows(data: TensorInfo, score_index: int, id_index: int) -> None:
    """Raises TypeMismatch for what are no rows of boxes."""
    check_dtype(data.dtype, WIDE_FLOATS)
    if len(data.shape) != 3:
        raise TypeMismatch(f"data has shape {data.shape}, expects rows of boxes (N, B, E)")
    if not 0 <= score_index < data.shape[2] or not id_index < data.shape[2]:
        raise TypeMismatch(
            f"score_index {score_index} and id_index {id_index} are no places in rows of {data.shape[2]} numbers"
        )


def _integer(i: Index) -> Scalar:
    return te.cast(te.cast(i, "int64"), "int32")


@irdl_op_definition
class GetValidCountsOp(RelayOp):
    """The rows whose score is above `score_threshold`, and whose class is not negative, come first: how many there are
    [N], the rows with -1 behind them [N, B, E], and where each of them was [N, B], -1 behind them."""

    name = "relay.vision.get_valid_counts"
    NO_GRADIENT: ClassVar[str] = "which boxes stay changes in steps"

    data = operand_def(TensorType)
    score_threshold = operand_def(TensorType)
    id_index = int_prop(0)
    score_index = int_prop(1)
    outputs = var_result_def(TensorType)

    @staticmethod
    def infer_type(
        data: TensorInfo, score_threshold: TensorInfo, *, id_index: int, score_index: int
    ) -> tuple[TensorInfo, ...]:
        _check_rows(data, score_index, id_index)
        one_number(score_threshold, "score_threshold", *WIDE_FLOATS)
        return TensorInfo(data.shape[:1], "int32"), data, TensorInfo(data.shape[:2], "int32")

    @staticmethod
    def te_compute(data: Tensor, score_threshold: Tensor, *, id_index: int, score_index: int) -> list[Tensor]:
        batch, count, length = data.shape

        def image(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer], place: Place) -> None:
            (n,) = place
            (x, least), (total, rows, indices) = ins, outs
            total[n] = 0
            with ib.for_range(0, count, "j") as j:
                with ib.for_range(0, length, "k") as k:
                    rows[n, j, k] = -1.0
                indices[n, j] = -1
            with ib.for_range(0, count, "j") as j:
                good = x[n, j, score_index] > te.cast(number_at(least), data.dtype)
                if id_index >= 0:
                    good = good & (x[n, j, id_index] >= 0.0)
                # Rows that are no good are written where the next that is will be, and it overwrites them.
                at = te.clamped(total[n], count)
                with ib.for_range(0, length, "k") as k:
                    rows[n, at, k] = te.select(good, x[n, j, k], -1.0)
                indices[n, at] = te.select(good, _integer(j), -1)
                total[n] = total[n] + te.cast(good, "int32")

        shapes, dtypes = [data.shape[:1], data.shape, data.shape[:2]], ["int32", data.dtype, "int32"]
        if 0 in data.shape[:2]:
            return [_zeros(s, d) for s, d in zip(shapes, dtypes, strict=True)]
        return statements.extern(shapes, [data, score_threshold], in_parallel((batch,), image), "valid_counts", dtypes)

    @staticmethod
    def np_ref(data: Array, score_threshold: Array, *, id_index: int, score_index: int) -> tuple[Array, ...]:
        good = data[:, :, score_index] > score_threshold.reshape(-1)[0]
        if id_index >= 0:
            good &= data[:, :, id_index] >= 0
        total, order = good.sum(1), np.argsort(~good, axis=1, kind="stable")
        kept = np.arange(data.shape[1], dtype=np.int64) < total[:, None]
        rows = np.where(kept[:, :, None], np.take_along_axis(data, order[:, :, None], 1), np.asarray(-1, data.dtype))
        return total.astype(np.int32), rows, np.where(kept, order, -1).astype(np.int32)

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, ...], least: float = 0.0, error: str | None = None, **kw: Any) -> Sample:
            dtype = kw.pop("dtype", "float32")
            scalar = (kw.pop("scalar", ()), kw.pop("threshold", dtype))
            return sample((shape, dtype), scalar, attrs=kw, ranges=(None, (least, least)), error=error)

        return [
            one((2, 7, 6)),
            one((1, 9, 5), id_index=-1, score_index=0, scalar=(1,)),
            one((3, 4, 6), least=9.0),
            one((3, 4, 6), least=-9.0, id_index=-1),
            one((1, 1, 6)),
            one((2, 5, 7), id_index=2, score_index=6),
            one((2, 5, 6), dtype="float64", least=0.5),
            one((2, 0, 6)),
            one((2, 7), error="expects rows of boxes"),
            one((2, 7, 6), score_index=6, error="score_index 6 and id_index 0 are no places in rows of 6"),
            one((2, 7, 6), scalar=(2,), error="score_threshold has shape (2,), expects one number"),
            one((2, 7, 6), dtype="int32", error="got int32"),
        ]


def _zeros(shape: tuple[int, ...], dtype: str) -> Tensor:
    return empty(shape, dtype, "no_boxes")


@irdl_op_definition
class NonMaxSuppressionOp(RelayOp):
    """Of the first `valid_count` [N] rows of each image, best score first and `top_k` at most where that is positive,
    those stay that have a positive score and overlap none of a better row that stays by `iou_threshold` or more,
    rows of another class left alone unless `force_suppress`; at most `max_output_size` where that is not negative.

    The results are where the rows that stay were, by `indices` [N, B], with -1 behind them, and how many they are
    [N, 1]; without `return_indices` the rows themselves, in order of their scores, with -1 for those that go, which
    `invalid_to_bottom` puts behind the others. A threshold that is not positive lets all rows stay, in their order.
    """

    name = "relay.vision.non_max_suppression"
    NO_GRADIENT: ClassVar[str] = "which boxes stay changes in steps"

    data = operand_def(TensorType)
    valid_count = operand_def(TensorType)
    indices = operand_def(TensorType)
    max_output_size = operand_def(TensorType)
    iou_threshold = operand_def(TensorType)
    force_suppress = bool_prop(False)
    top_k = int_prop(-1)
    coord_start = int_prop(2)
    score_index = int_prop(1)
    id_index = int_prop(0)
    return_indices = bool_prop(True)
    invalid_to_bottom = bool_prop(False)
    outputs = var_result_def(TensorType)

    @staticmethod
    def infer_type(
        data: TensorInfo, valid_count: TensorInfo, indices: TensorInfo, max_output_size: TensorInfo,
        iou_threshold: TensorInfo, **attrs: Any,
    ) -> tuple[TensorInfo, ...]:  # fmt: skip
        _check_rows(data, attrs["score_index"], attrs["id_index"])
        if not 0 <= attrs["coord_start"] <= data.shape[2] - 4:
            raise TypeMismatch(f"coord_start {attrs['coord_start']} leaves no four numbers of {data.shape[2]}")
        if valid_count != TensorInfo(data.shape[:1], "int32"):
            raise TypeMismatch(f"valid_count is {valid_count}, expects {TensorInfo(data.shape[:1], 'int32')}")
        if indices != TensorInfo(data.shape[:2], "int32"):
            raise TypeMismatch(f"indices are {indices}, expects {TensorInfo(data.shape[:2], 'int32')}")
        if 0 in data.shape:
            raise TypeMismatch(f"there are no boxes in {data.shape}")
        one_number(max_output_size, "max_output_size", "int32", "int64")
        one_number(iou_threshold, "iou_threshold", data.dtype)
        if attrs["return_indices"]:
            return TensorInfo(data.shape[:2], "int32"), TensorInfo((data.shape[0], 1), "int32")
        return (data,)

    @staticmethod
    def te_compute(
        data: Tensor, valid_count: Tensor, indices: Tensor, max_output_size: Tensor, iou_threshold: Tensor,
        **attrs: Any,
    ) -> list[Tensor]:  # fmt: skip
        batch, count, length = data.shape
        start, score, class_ = attrs["coord_start"], attrs["score_index"], attrs["id_index"]
        top_k = attrs["top_k"]
        order = _by_score(data, valid_count, score)

        def image(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer], place: Place) -> None:
            (n,) = place
            x, many, sorted_, most, least = ins
            rows, found = outs
            valid = te.minimum(te.maximum(many[n], 0), count)
            kept = te.select((valid > top_k) & te.const(top_k > 0, "bool"), te.const(max(top_k, 0), "int32"), valid)
            threshold, limit = number_at(least), te.cast(number_at(most), "int64")
            suppresses = threshold > 0.0
            tally = ib.allocate("int64", (1,), "nms_tally")
            hit = ib.allocate("int32", (1,), "nms_hit")
            tally[0] = 0
            with ib.for_range(0, count, "j") as j:
                source = te.select(suppresses, sorted_[n, j], _integer(j))
                there = _integer(j) < te.select(suppresses, kept, valid)
                with ib.for_range(0, length, "e") as e:
                    rows[n, j, e] = te.select(there, x[n, te.clamped(source, count), e], -1.0)
                found[n, j] = te.select(there, source, -1)
            with ib.for_range(0, te.select(suppresses, valid, 0), "j") as j:
                box = [rows[n, j, start + k] for k in range(4)]
                full = te.equal(tally[0], limit)
                scored = rows[n, j, score] > 0.0
                looks = te.equal(full, te.const(False, "bool")) & scored
                hit[0] = 0
                with ib.for_range(0, te.select(looks, _integer(j), 0), "k") as k:
                    clash = overlap(box, [rows[n, k, start + c] for c in range(4)]) >= threshold
                    clash = clash & (rows[n, k, score] > 0.0)
                    if class_ >= 0:
                        clash = clash & (rows[n, k, class_] >= 0.0)
                        if not attrs["force_suppress"]:
                            clash = clash & te.equal(rows[n, j, class_], rows[n, k, class_])
                    hit[0] = hit[0] | te.cast(clash, "int32")
                goes = full | te.equal(hit[0], 1)
                with ib.for_range(0, length, "e") as e:
                    rows[n, j, e] = te.select(goes, -1.0, rows[n, j, e])
                found[n, j] = te.select(goes, -1, found[n, j])
                stays = te.equal(goes, te.const(False, "bool"))
                tally[0] = tally[0] + te.cast(stays & scored, "int64")

        rows, found = statements.extern(
            [data.shape, (batch, count)],
            [data, valid_count, order, max_output_size, iou_threshold],
            in_parallel((batch,), image),
            "nms_rows",
            [data.dtype, "int32"],
        )
        if attrs["return_indices"]:
            return _places(found, indices)
        return [_at_the_top(rows)] if attrs["invalid_to_bottom"] else [rows]

    @staticmethod
    def np_ref(
        data: Array, valid_count: Array, indices: Array, max_output_size: Array, iou_threshold: Array, **attrs: Any
    ) -> tuple[Array, ...]:
        start, score, class_ = attrs["coord_start"], attrs["score_index"], attrs["id_index"]
        limit, threshold = int(max_output_size.reshape(-1)[0]), iou_threshold.reshape(-1)[0]
        rows, found = np.full_like(data, -1), np.full(data.shape[:2], -1, np.int32)
        for n, image in enumerate(data):
            valid = int(np.clip(valid_count[n], 0, len(image)))
            if threshold <= 0:
                rows[n, :valid], found[n, :valid] = image[:valid], np.arange(valid)
                continue
            order = np.argsort(-image[:valid, score], kind="stable")
            order = order[: attrs["top_k"]] if 0 < attrs["top_k"] < valid else order
            staying: list[Any] = []
            for j, source in enumerate(order):
                row = image[source]
                if len(staying) == limit:
                    break
                if row[score] > 0:
                    rivals = [
                        r
                        for r in staying
                        if class_ < 0 or (r[class_] >= 0 and (attrs["force_suppress"] or r[class_] == row[class_]))
                    ]
                    boxes = [r[start : start + 4] for r in rivals]
                    if any(overlap_ref(row[start : start + 4], b) >= threshold for b in boxes):
                        continue
                    staying.append(row)
                rows[n, j], found[n, j] = row, source
        if not attrs["return_indices"]:
            if attrs["invalid_to_bottom"]:
                for n, image in enumerate(rows):
                    kept = image[image[:, 0] >= 0]
                    rows[n] = np.concatenate([kept, np.full((len(image) - len(kept), image.shape[1]), -1)])
            return (rows,)
        places, totals = np.full_like(found, -1), np.zeros((len(data), 1), np.int32)
        for n in range(len(found)):
            origins = np.take(indices[n], found[n][found[n] >= 0])
            there = origins[origins >= 0]
            places[n, : len(there)], totals[n] = there, len(there)
        return places, totals

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            shape: tuple[int, ...] = (2, 9, 6), most: int = -1, iou: float = 0.2, error: str | None = None, **kw: Any
        ) -> Sample:
            dtype, many = kw.pop("dtype", "float32"), kw.pop("many", (0, shape[1]))
            scalar = kw.pop("scalar", ())
            return sample(
                (shape, dtype),
                (shape[:1], "int32"),
                (kw.pop("places", shape[:2]), "int32"),
                (scalar, kw.pop("integer", "int32")),
                (scalar, dtype),
                attrs=kw,
                ranges=((-0.2, 1.0), many, (0, 50), (most, most), (iou, iou)),
                error=error,
            )

        rows: dict[str, Any] = {"return_indices": False}
        return [
            one(),
            one(many=(9, 9), force_suppress=True),
            one(many=(9, 9), id_index=-1, top_k=4, scalar=(1,)),
            one(many=(9, 9), id_index=-1, most=2, integer="int64"),
            one(many=(9, 9), most=0),
            one(iou=0.0),
            one(iou=0.0, **rows),
            one((1, 12, 5), id_index=-1, score_index=0, coord_start=1, many=(12, 12), **rows),
            one((1, 12, 7), id_index=6, score_index=4, coord_start=0, many=(12, 12), force_suppress=True, **rows),
            one(many=(7, 9), id_index=-1, invalid_to_bottom=True, **rows),
            one(many=(9, 9), force_suppress=True, most=1, invalid_to_bottom=True, **rows),
            one((1, 1, 6), many=(1, 1)),
            one(dtype="float64", many=(9, 9), top_k=100),
            one(coord_start=3, error="coord_start 3 leaves no four numbers of 6"),
            one(places=(2, 8), error="indices are"),
            one(score_index=-1, error="score_index -1 and id_index 0 are no places"),
            one((2, 0, 6), error="there are no boxes"),
            one(scalar=(3,), error="max_output_size has shape (3,), expects one number"),
            one(dtype="float16", error="got float16"),
        ]


def _by_score(data: Tensor, valid_count: Tensor, score: int) -> Tensor:
    """The places [N, B] of the rows of each image, best score first, those behind the valid ones last."""

    def key(n: Index, j: Index) -> Scalar:
        value = data[n, j, score]
        there = (_integer(j) < valid_count[n]) & (value > -float("inf"))
        return te.select(there, value, -float("inf"))

    batch, count, _ = data.shape
    keys = te.compute([batch, count], key, "nms_keys")
    (order,) = sorted_rows(keys, 1, False, count, [("indices", "int32")], "nms_order")
    return order


def _places(found: Tensor, indices: Tensor) -> list[Tensor]:
    """The former places of the boxes that stay, and the number of these."""
    batch, count = found.shape

    def image(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer], place: Place) -> None:
        (n,) = place
        (boxes, origin), (places, total) = ins, outs
        total[n, 0] = 0
        with ib.for_range(0, count, "j") as j:
            places[n, j] = -1
        with ib.for_range(0, count, "j") as j:
            box = boxes[n, j]
            value = te.select(box >= 0, origin[n, te.clamped(box, count)], -1)
            places[n, te.clamped(total[n, 0], count)] = te.select(value >= 0, value, -1)
            total[n, 0] = total[n, 0] + te.cast(value >= 0, "int32")

    shapes, body = [(batch, count), (batch, 1)], in_parallel((batch,), image)
    return statements.extern(shapes, [found, indices], body, "nms_places", ["int32", "int32"])


def _at_the_top(rows: Tensor) -> Tensor:
    """The rows that do not begin with a negative number first, then rows of -1."""
    batch, count, length = rows.shape

    def image(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer], place: Place) -> None:
        (n,) = place
        (x,), (y,) = ins, outs
        total = ib.allocate("int32", (1,), "nms_total")
        total[0] = 0
        with ib.for_range(0, count, "j") as j, ib.for_range(0, length, "e") as e:
            y[n, j, e] = -1.0
        with ib.for_range(0, count, "j") as j:
            stays = x[n, j, 0] >= 0.0
            with ib.for_range(0, length, "e") as e:
                y[n, te.clamped(total[0], count), e] = te.select(stays, x[n, j, e], -1.0)
            total[0] = total[0] + te.cast(stays, "int32")

    (moved,) = statements.extern([rows.shape], [rows], in_parallel((batch,), image), "nms_at_the_top", [rows.dtype])
    return moved
