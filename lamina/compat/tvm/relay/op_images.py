"""TVM's functions on random numbers and on boxes that take plain numbers where the operators take tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.compat.tvm.relay.op_functions import op_function
from lamina.frontends.tvm_text.expr import Constant, Expr, const


def _number(value: Any, dtype: str) -> Expr:
    return value if isinstance(value, Expr) else const(value, dtype)


# -- random numbers ------------------------------------------------------------------------------------


def threefry_key(seed: int) -> Constant:
    """The key that a seed stands for."""
    from lamina.dialects.relay.random.threefry import threefry_key as key

    return const(key(seed), "uint64")


def threefry_generate(key: Any, shape: Sequence[int]) -> Any:
    """The key to use next, and numbers of 64 random bits."""
    return op_function("random.threefry_generate")(key, shape)


def uniform(key: Any, shape: Sequence[int], dtype: str = "float32", low: Any = 0.0, high: Any = 1.0) -> Any:
    """The key to use next, and numbers between two bounds."""
    return op_function("random.uniform")(key, _number(low, dtype), _number(high, dtype), shape, dtype)


def normal(key: Any, shape: Sequence[int], dtype: str = "float32", mean: Any = 0.0, scale: Any = 1.0) -> Any:
    """The key to use next, and numbers distributed normally."""
    return op_function("random.normal")(key, _number(mean, dtype), _number(scale, dtype), shape, dtype)


# -- boxes ---------------------------------------------------------------------------------------------


def get_valid_counts(data: Any, score_threshold: Any, id_index: int = 0, score_index: int = 1) -> Any:
    """The number of boxes with a score above the threshold, the boxes with these first, and their former indices."""
    least = _number(score_threshold, "float32")
    return op_function("vision.get_valid_counts")(data, least, id_index, score_index)


def non_max_suppression(
    data: Any, valid_count: Any, indices: Any, max_output_size: Any = -1, iou_threshold: Any = 0.5,
    force_suppress: bool = False, top_k: int = -1, coord_start: int = 2, score_index: int = 1, id_index: int = 0,
    return_indices: bool = True, invalid_to_bottom: bool = False,
) -> Any:  # fmt: skip
    """The boxes that overlap none with a better score."""
    return op_function("vision.non_max_suppression")(
        data,
        valid_count,
        indices,
        _number(max_output_size, "int32"),
        _number(iou_threshold, "float32"),
        force_suppress,
        top_k,
        coord_start,
        score_index,
        id_index,
        return_indices,
        invalid_to_bottom,
    )


def all_class_non_max_suppression(
    boxes: Any, scores: Any, max_output_boxes_per_class: Any = -1, iou_threshold: Any = -1.0,
    score_threshold: Any = -1.0, output_format: str = "onnx",
) -> Any:  # fmt: skip
    """The boxes of each class that overlap none with a better score."""
    return op_function("vision.all_class_non_max_suppression")(
        boxes,
        scores,
        _number(max_output_boxes_per_class, "int32"),
        _number(iou_threshold, "float32"),
        _number(score_threshold, "float32"),
        output_format,
    )


IMAGE_COMPOSITES: dict[str, Any] = {
    "random.threefry_key": threefry_key,
    "random.threefry_generate": threefry_generate,
    "random.uniform": uniform,
    "random.normal": normal,
    "vision.get_valid_counts": get_valid_counts,
    "vision.non_max_suppression": non_max_suppression,
    "vision.all_class_non_max_suppression": all_class_non_max_suppression,
}
"""By the names that operators have, or would have."""
