"""TVM's signatures of ops on images and boxes, where they differ from Relay's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from lamina.te.expr import const, fail
from lamina.te.tensor import Tensor, compute
from lamina.topi.calls import call_relay


def _scalar(value: Any, dtype: str, name: str) -> Tensor:
    """A number as a tensor of rank 0."""
    return value if isinstance(value, Tensor) else compute((), lambda: const(value, dtype), name)


def _pair(value: Any) -> list[int]:
    listed: list[Any] = list(cast("Sequence[Any]", value)) if isinstance(value, (list, tuple)) else [value, value]
    return [int(v) for v in listed]


def _resize(rank: int, layout_of_images: str) -> Callable[..., Tensor]:
    def resize(
        data: Tensor, roi: Any, size: Sequence[Any], layout: str = layout_of_images, method: str = "linear",
        coordinate_transformation_mode: str = "half_pixel", rounding_method: str = "", bicubic_alpha: float = -0.5,
        bicubic_exclude: Any = 0, extrapolation_value: Any = 0.0, out_dtype: Any = None, output_shape: Any = None,
    ) -> Tensor:  # fmt: skip
        if output_shape is not None:
            raise fail(f"topi.image.resize{rank}d: the output shape follows from size; leave output_shape out")
        return call_relay(
            f"image.resize{rank}d",
            data,
            size=[int(e) for e in size],
            roi=[float(v) for v in roi] if roi is not None else None,
            layout=layout,
            method=method.lower(),
            coordinate_transformation_mode=coordinate_transformation_mode,
            rounding_method=rounding_method,
            cubic_alpha=float(bicubic_alpha),
            cubic_exclude=int(bicubic_exclude),
            extrapolation_value=float(extrapolation_value or 0.0),
            out_dtype=out_dtype,
        )

    return resize


def crop_and_resize(
    data: Tensor, boxes: Tensor, box_indices: Tensor, crop_size: Sequence[Any], layout: str = "NCHW",
    method: str = "bilinear", extrapolation_value: Any = None, out_dtype: Any = None,
) -> Tensor:  # fmt: skip
    """Windows of images, resized: data [N, C, H, W], boxes [B, 4], box_indices [B] -> [B, C, *crop_size].

    A box is (y0, x0, y1, x1), where 0 and 1 are the centres of the outer pixels. `method` is bilinear or
    nearest_neighbor; `extrapolation_value` stands outside the image.
    """
    return call_relay(
        "image.crop_and_resize",
        data,
        boxes,
        box_indices,
        crop_size=[int(e) for e in crop_size],
        layout=layout,
        method=method.lower(),
        extrapolation_value=float(extrapolation_value or 0.0),
        out_dtype=out_dtype,
    )


def _roi_align(layout: str) -> Callable[..., Tensor]:
    def roi_align(
        data: Tensor, rois: Tensor, pooled_size: Any, spatial_scale: float, mode: Any, sample_ratio: int = -1
    ) -> Tensor:
        """`mode` is avg or 0, max or 1."""
        word = {0: "avg", 1: "max", b"avg": "avg", b"max": "max"}.get(mode, mode)
        return call_relay(
            "vision.roi_align",
            data,
            rois,
            pooled_size=_pair(pooled_size),
            spatial_scale=float(spatial_scale),
            sample_ratio=sample_ratio,
            layout=layout,
            mode=word,
        )

    return roi_align


def _roi_pool(layout: str) -> Callable[..., Tensor]:
    def roi_pool(data: Tensor, rois: Tensor, pooled_size: Any, spatial_scale: float) -> Tensor:
        given = {"pooled_size": _pair(pooled_size), "spatial_scale": float(spatial_scale)}
        return call_relay("vision.roi_pool", data, rois, layout=layout, **given)

    return roi_pool


def get_valid_counts(data: Tensor, score_threshold: Any = 0, id_index: int = 0, score_index: int = 1) -> Any:
    """`score_threshold` is a number, or a tensor of rank 0."""
    least = _scalar(score_threshold, data.dtype, "score_threshold")
    return call_relay("vision.get_valid_counts", data, least, id_index=id_index, score_index=score_index)


def non_max_suppression(
    data: Tensor, valid_count: Tensor, indices: Tensor, max_output_size: Any = -1, iou_threshold: Any = 0.5,
    force_suppress: Any = False, top_k: int = -1, coord_start: int = 2, score_index: int = 1, id_index: int = 0,
    return_indices: Any = True, invalid_to_bottom: Any = False,
) -> Any:  # fmt: skip
    """`max_output_size` and `iou_threshold` are numbers, or tensors of rank 0."""
    return call_relay(
        "vision.non_max_suppression",
        data,
        valid_count,
        indices,
        _scalar(max_output_size, "int32", "max_output_size"),
        _scalar(iou_threshold, data.dtype, "iou_threshold"),
        force_suppress=bool(force_suppress),
        top_k=top_k,
        coord_start=coord_start,
        score_index=score_index,
        id_index=id_index,
        return_indices=bool(return_indices),
        invalid_to_bottom=bool(invalid_to_bottom),
    )


def all_class_non_max_suppression(
    boxes: Tensor, scores: Tensor, max_output_boxes_per_class: Any, iou_threshold: Any, score_threshold: Any,
    output_format: str = "onnx",
) -> Any:  # fmt: skip
    """The three limits are numbers, or tensors of rank 0."""
    return call_relay(
        "vision.all_class_non_max_suppression",
        boxes,
        scores,
        _scalar(max_output_boxes_per_class, "int64", "max_output_boxes_per_class"),
        _scalar(iou_threshold, boxes.dtype, "iou_threshold"),
        _scalar(score_threshold, boxes.dtype, "score_threshold"),
        output_format=output_format,
    )


def multibox_prior(data: Tensor, *args: Any, **attrs: Any) -> Tensor:
    """Anchor boxes (x0, y0, x1, y1) of the pixels of images [N, C, H, W]: [1, H * W * (sizes + ratios - 1), 4]."""
    return call_relay("vision.multibox_prior", data, *args, **attrs)


def multibox_transform_loc(cls_prob: Tensor, loc_pred: Tensor, anchor: Tensor, *args: Any, **attrs: Any) -> Any:
    """Detected boxes of cls_prob [N, C, B], loc_pred [N, 4 * B] and anchor [1, B, 4]; class 0 is the background.

    Returns rows (class - 1, probability, x0, y0, x1, y1) [N, B, 6], -1 behind the last, and their number [N], int32.
    """
    return call_relay("vision.multibox_transform_loc", cls_prob, loc_pred, anchor, *args, **attrs)


IMAGE_SPELLINGS: dict[str, Callable[..., Any]] = {
    "image.crop_and_resize": crop_and_resize,
    "image.resize1d": _resize(1, "NCW"),
    "image.resize2d": _resize(2, "NCHW"),
    "image.resize3d": _resize(3, "NCDHW"),
    "vision.all_class_non_max_suppression": all_class_non_max_suppression,
    "vision.get_valid_counts": get_valid_counts,
    "vision.non_max_suppression": non_max_suppression,
    "vision.rcnn.roi_align_nchw": _roi_align("NCHW"),
    "vision.rcnn.roi_align_nhwc": _roi_align("NHWC"),
    "vision.rcnn.roi_pool_nchw": _roi_pool("NCHW"),
    "vision.ssd.multibox_prior": multibox_prior,
    "vision.ssd.multibox_transform_loc": multibox_transform_loc,
}
