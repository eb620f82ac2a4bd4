"""Windows cut out of images and brought to one size: image.crop_and_resize."""

from __future__ import annotations

from typing import Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.image.sampling import LARGEST_EXTENT, as_result, integer_bounds, one_of, working_dtype


@irdl_op_definition
class CropAndResizeOp(Injective):
    """Window b of the result is cut out of image `box_indices[b]` by `boxes[b]` (y0, x0, y1, x1), where 0 and 1 are the
    centres of its outer pixels; y1 < y0 turns it upside down. `method` is bilinear or nearest_neighbor (halves up);
    outside the image stands `extrapolation_value`."""

    name = "relay.image.crop_and_resize"
    NO_GRADIENT: ClassVar[str] = "an image sampled at places that are computed"

    data = operand_def(TensorType)
    boxes = operand_def(TensorType)
    box_indices = operand_def(TensorType)
    crop_size = ints_prop()
    layout = str_prop("NCHW")
    method = str_prop("bilinear")
    extrapolation_value = float_prop(0.0)
    out_dtype = str_prop("")

    @staticmethod
    def infer_type(
        data: TensorInfo, boxes: TensorInfo, box_indices: TensorInfo, *, crop_size: tuple[int, ...], layout: str,
        method: str, extrapolation_value: float, out_dtype: str,
    ) -> TensorInfo:  # fmt: skip
        check_dtype(data.dtype, NUMBERS)
        check_dtype(boxes.dtype, FLOATS)
        check_dtype(box_indices.dtype, ("int32", "int64"))
        one_of("layout", layout, ("NCHW", "NHWC"))
        one_of("method", method, ("bilinear", "nearest_neighbor"))
        if len(data.shape) != 4 or 0 in data.shape or max(data.shape) > LARGEST_EXTENT:
            raise TypeMismatch(f"data has shape {data.shape}, expects images of four axes, none of them empty")
        if len(boxes.shape) != 2 or boxes.shape[1] != 4 or box_indices.shape != boxes.shape[:1]:
            raise TypeMismatch(f"boxes {boxes.shape} and box_indices {box_indices.shape}, expects (B, 4) and (B,)")
        if len(crop_size) != 2 or min(crop_size) < 1:
            raise TypeMismatch(f"crop_size {list(crop_size)} must be two positive numbers")
        sizes = {"N": boxes.shape[0], "C": data.shape[layout.index("C")], "H": crop_size[0], "W": crop_size[1]}
        dtype = check_dtype(out_dtype or data.dtype, NUMBERS)
        return TensorInfo(tuple(sizes[a] for a in layout), dtype)

    @staticmethod
    def te_compute(
        data: Tensor, boxes: Tensor, box_indices: Tensor, *, crop_size: tuple[int, ...], layout: str, method: str,
        extrapolation_value: float, out_dtype: str,
    ) -> Tensor:  # fmt: skip
        dtype = out_dtype or data.dtype
        wide = "float64" if "float64" in (working_dtype(data.dtype), boxes.dtype) else "float32"
        images = data.shape[0]
        count = boxes.shape[0]
        extent = {a: data.shape[layout.index(a)] for a in "HW"}

        def lines(axis: int, letter: str) -> Tensor:
            """The places of the lines of each window on an axis of the image."""
            size, last = crop_size[axis], float(extent[letter] - 1)

            def place(b: Index, i: Index) -> Scalar:
                start, end = (te.cast(boxes[b, axis + k], wide) for k in (0, 2))
                if size == 1:
                    return (start + end) * (0.5 * last)
                at = te.cast(te.cast(i, "int64"), wide)
                return start * last + (end - start) * at * (last / (size - 1))

            return te.compute([count, size], place, f"{letter.lower()}_place")

        place = {"H": lines(0, "H"), "W": lines(1, "W")}

        def element(*i: Index) -> Scalar:
            b = i[0]
            image = te.clamped(box_indices[b], images)

            def pixel(y: Scalar, x: Scalar) -> Scalar:
                at = {"N": image, "C": i[layout.index("C")], "H": y, "W": x}
                return te.cast(data[tuple(at[a] for a in layout)], wide)

            low: dict[str, Any] = {}
            high: dict[str, Any] = {}
            part: dict[str, Any] = {}
            inside: Any = None
            for a in "HW":
                p, last = place[a][b, i[layout.index(a)]], float(extent[a] - 1)
                within = (p >= 0.0) & (p <= last)
                inside = within if inside is None else inside & within
                bounded = te.select(p > 0.0, te.select(p < last, p, last), 0.0)
                below = te.floor(bounded if method == "bilinear" else bounded + 0.5)
                part[a] = bounded - below
                low[a] = te.clamped(te.cast(below, "int64"), extent[a])
                high[a] = te.clamped(low[a] + 1, extent[a])
            value = pixel(low["H"], low["W"])
            if method == "bilinear":
                u = part["W"]
                top = value * (1.0 - u) + pixel(low["H"], high["W"]) * u
                bottom = pixel(high["H"], low["W"]) * (1.0 - u) + pixel(high["H"], high["W"]) * u
                value = top * (1.0 - part["H"]) + bottom * part["H"]
            return as_result(te.select(inside, value, extrapolation_value), dtype)

        sizes = {"N": count, "C": data.shape[layout.index("C")], "H": crop_size[0], "W": crop_size[1]}
        return te.compute([sizes[a] for a in layout], element, "crop_and_resize")

    @staticmethod
    def np_ref(
        data: Array, boxes: Array, box_indices: Array, *, crop_size: tuple[int, ...], layout: str, method: str,
        extrapolation_value: float, out_dtype: str,
    ) -> Array:  # fmt: skip
        x = np.transpose(data, [layout.index(a) for a in "NCHW"]).astype(np.float64)
        images = x[np.clip(box_indices, 0, len(x) - 1)]
        out, inside = images, np.asarray(True)
        for axis, (size, extent) in enumerate(zip(crop_size, x.shape[2:], strict=True)):
            start, end = boxes[:, axis].astype(np.float64), boxes[:, axis + 2].astype(np.float64)
            ends = np.linspace(start, end, size, axis=1) if size > 1 else ((start + end) / 2)[:, None]
            places, others = ends * (extent - 1), [1, 3 - axis]
            within = (places >= 0) & (places <= extent - 1)
            inside = inside & np.expand_dims(within, others)
            if method == "nearest_neighbor":
                nearest = np.where(within, np.floor(places + 0.5), 0).astype(np.int64)
                out = np.take_along_axis(out, np.expand_dims(nearest, others), 2 + axis)
                continue
            # The weight of a pixel is how far it is from being one pixel away, on both axes.
            weights = np.maximum(1 - np.abs(np.arange(extent, dtype=np.float64) - places[:, :, None]), 0)[:, None]
            out = weights @ out if axis == 0 else out @ np.swapaxes(weights, 2, 3)
        out = np.where(inside, out, extrapolation_value)
        kind = numpy_dtype(out_dtype or str(data.dtype))
        if kind.kind in "iu":
            out = np.clip(np.trunc(out), *integer_bounds(str(kind), "float64"))
        return np.transpose(out.astype(kind), ["NCHW".index(a) for a in layout])

    @staticmethod
    def samples() -> list[Sample]:
        size = {"crop_size": (3, 4)}
        d = (2, 3, 5, 6)

        def one(data: Any = d, boxes: int = 3, error: str | None = None, **attrs: Any) -> Sample:
            low, high = attrs.pop("within", (-0.2, 1.2))
            index = ((boxes,), attrs.pop("index", "int32"))
            bounds = ((0, 200), (low, high), (0, 1))
            return sample(data, (boxes, 4), index, attrs={**size, **attrs}, ranges=bounds, error=error)

        return [
            one(),
            one(within=(0.0, 1.0)),
            one(method="nearest_neighbor", within=(0.0, 0.9)),
            one((2, 5, 6, 3), layout="NHWC", extrapolation_value=-2.5),
            one(crop_size=(1, 5)),
            one(crop_size=(7, 1), method="nearest_neighbor", index="int64"),
            one((1, 1, 1, 1), boxes=1, within=(0.0, 0.0)),
            one(boxes=0),
            one((d, "uint8"), out_dtype="float32"),
            one((d, "uint8"), method="nearest_neighbor", within=(0.1, 0.9)),
            one((d, "int32"), out_dtype="float64", extrapolation_value=9.0),
            one((d, "float16")),
            one(method="cubic", error="method 'cubic' is none of bilinear, nearest_neighbor"),
            one(layout="NCWH", error="layout 'NCWH' is none of NCHW, NHWC"),
            one(crop_size=(0, 3), error="must be two positive numbers"),
            one(index="float32", error="got float32"),
            one((2, 3, 4), error="expects images of four axes"),
            sample(d, (3, 5), ((3,), "int32"), attrs=size, error="expects (B, 4) and (B,)"),
        ]
