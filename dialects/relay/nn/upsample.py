"""Images and volumes some times as large: nn.upsampling and nn.upsampling3d, which are resizing to rounded sizes."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite
from typing import Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.windows import resize_gradients
from lamina.dialects.relay.image.resize import Resize, Resize1dOp, Resize2dOp, Resize3dOp
from lamina.dialects.relay.image.sampling import LARGEST_EXTENT, one_of
from lamina.dialects.relay.layout import LayoutChoice, axis_of, extents
from lamina.dialects.relay.meaning import full_attrs


class Upsampling(Injective, layouts=("layout",)):
    """Base of both: RESIZE is what they are for the sizes that follow from the scales."""

    RESIZE: ClassVar[type[Resize]]
    METHODS: ClassVar[dict[str, str]]
    """The methods, and what resizing calls them."""

    data = operand_def()

    @classmethod
    def resized(cls, shape: Sequence[int], **attrs: Any) -> dict[str, Any]:
        """The attributes of the resizing. Raises TypeMismatch for scales that make no image."""
        layout = attrs["layout"]
        extents(layout, tuple(shape))
        size: list[int] = []
        for letter in cls.RESIZE.AXES:
            scale = attrs[f"scale_{letter.lower()}"]
            if not (isfinite(scale) and 0 < scale <= LARGEST_EXTENT):
                raise TypeMismatch(f"scale {scale} must be positive")
            size.append(floor(shape[axis_of(layout, letter)] * scale + 0.5))
        mode = attrs.get("coordinate_transformation_mode")
        if mode is None:
            mode = "align_corners" if attrs["align_corners"] else "asymmetric"
        method = cls.METHODS[one_of("method", attrs["method"], tuple(cls.METHODS))]
        given = {"size": size, "layout": layout, "method": method, "coordinate_transformation_mode": mode}
        return full_attrs(cls.RESIZE, given)

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        return cls.RESIZE.infer_type(types[0], **cls.resized(types[0].shape, **attrs))

    @classmethod
    def te_compute(cls, *tensors: Any, **attrs: Any) -> Tensor:
        return cls.RESIZE.te_compute(tensors[0], **cls.resized(tensors[0].shape, **attrs))

    @classmethod
    def np_ref(cls, *arrays: Any, **attrs: Any) -> Array:
        return cls.RESIZE.np_ref(arrays[0], **cls.resized(arrays[0].shape, **attrs))

    @staticmethod
    def infer_layout(layouts: Sequence[str], types: Sequence[TensorInfo] = (), **attrs: Any) -> LayoutChoice:
        return Resize.infer_layout(layouts, types, **attrs)

    @classmethod
    def relay_grad(cls, grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return resize_gradients(grads, operands, cls.RESIZE, Resize1dOp, cls.resized(shape_of(operands[0]), **attrs))


@irdl_op_definition
class UpsamplingOp(Upsampling):
    """An image `scale_h` and `scale_w` times as large: pixel (y, x) lies at (y / scale_h, x / scale_w) of the operand,
    or with `align_corners` so that the corners are the same. `method` is nearest_neighbor, bilinear or bicubic."""

    name = "relay.nn.upsampling"
    RESIZE: ClassVar[type[Resize]] = Resize2dOp
    METHODS: ClassVar[dict[str, str]] = {
        "nearest_neighbor": "nearest_neighbor", "bilinear": "linear", "bicubic": "cubic",
    }  # fmt: skip

    scale_h = float_prop(1.0)
    scale_w = float_prop(1.0)
    layout = str_prop("NCHW")
    method = str_prop("nearest_neighbor")
    align_corners = bool_prop(False)

    @staticmethod
    def samples() -> list[Sample]:
        near = {"method": "nearest_neighbor"}
        return [
            sample((1, 2, 3, 4)),
            sample((1, 2, 3, 4), attrs={**near, "scale_h": 2.0, "scale_w": 2.0}),
            sample((2, 1, 1, 5), attrs={**near, "scale_h": 3.0}),
            sample((1, 3, 2, 2), attrs={**near, "scale_w": 5.0, "layout": "NHWC"}),
            sample((1, 2, 3, 3, 16), attrs={**near, "scale_h": 2.0, "scale_w": 3.0, "layout": "NCHW16c"}),
            sample((1, 1, 1, 1), attrs={**near, "scale_h": 4.0, "scale_w": 4.0}),
            sample(((1, 2, 3, 3), "float64"), attrs={**near, "scale_h": 2.0, "align_corners": True}),
            sample(((1, 2, 3, 3), "int8"), attrs={**near, "scale_w": 2.0}),
            sample((1, 2, 3, 4), attrs={**near, "scale_h": 1.5, "scale_w": 0.4}),
            sample((1, 2, 3, 4), attrs={"method": "bilinear", "scale_h": 2.0, "scale_w": 3.0}),
            sample((1, 2, 3, 4), attrs={"method": "bilinear", "scale_h": 2.0, "align_corners": True}),
            sample((1, 2, 3, 4), attrs={"method": "bicubic", "scale_h": 1.5, "scale_w": 0.5}),
            sample((1, 2, 3, 4), attrs={"scale_h": 0.1}, error="axis H of 3 cannot become one of 0"),
            sample((1, 2, 3, 4), attrs={"scale_h": -1.0}, error="scale -1.0 must be positive"),
            sample((1, 2, 3, 4), attrs={"method": "linear"}, error="method 'linear' is none of nearest_neighbor"),
            sample((2, 3, 4), error="layout 'NCHW' has 4 axes, the tensor rank 3"),
        ]


@irdl_op_definition
class Upsampling3dOp(Upsampling):
    """A volume `scale_d`, `scale_h` and `scale_w` times as large, by `method` nearest_neighbor, trilinear or tricubic;
    `coordinate_transformation_mode` as of image.resize3d."""

    name = "relay.nn.upsampling3d"
    RESIZE: ClassVar[type[Resize]] = Resize3dOp
    METHODS: ClassVar[dict[str, str]] = {
        "nearest_neighbor": "nearest_neighbor", "trilinear": "linear", "tricubic": "cubic",
    }  # fmt: skip

    scale_d = float_prop(1.0)
    scale_h = float_prop(1.0)
    scale_w = float_prop(1.0)
    layout = str_prop("NCDHW")
    method = str_prop("nearest_neighbor")
    coordinate_transformation_mode = str_prop("half_pixel")

    @staticmethod
    def samples() -> list[Sample]:
        x, doubled = (1, 2, 3, 2, 4), {"scale_d": 2.0, "scale_h": 2.0, "scale_w": 2.0}
        return [
            sample(x),
            sample(x, attrs=doubled),
            sample(x, attrs={**doubled, "coordinate_transformation_mode": "asymmetric"}),
            sample(x, attrs={**doubled, "method": "trilinear"}),
            sample(x, attrs={**doubled, "method": "trilinear", "coordinate_transformation_mode": "align_corners"}),
            sample((1, 3, 2, 4, 2), attrs={"scale_d": 1.5, "method": "tricubic", "layout": "NDHWC"}),
            sample((1, 1, 1, 1, 1), attrs={**doubled, "method": "trilinear"}),
            sample((x, "float64"), attrs={"scale_w": 0.5, "method": "trilinear"}),
            sample((x, "uint8"), attrs={"scale_h": 3.0}),
            sample(x, attrs={"method": "bilinear"}, error="method 'bilinear' is none of nearest_neighbor, trilinear"),
            sample(x, attrs={"scale_d": 0.0}, error="scale 0.0 must be positive"),
            sample(x, attrs={"coordinate_transformation_mode": "even"}, error="mode 'even' is none of half_pixel"),
            sample((2, 3, 4, 5), error="layout 'NCDHW' has 5 axes, the tensor rank 4"),
        ]
