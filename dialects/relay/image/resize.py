"""Images, rows and volumes of another size: image.resize1d, image.resize2d, image.resize3d.

`coordinate_transformation_mode` says where element x of a resized axis of O elements lies on the old one of I:

    half_pixel            (x + 1/2) I/O - 1/2      pytorch_half_pixel is the same, but 0 where O is 1
    align_corners         x (I - 1)/(O - 1)
    asymmetric            x I/O
    tf_half_pixel_for_nn  (x + 1/2) I/O
    half_pixel_symmetric  half_pixel, since O is a whole number
    tf_crop_and_resize    (start + x (end - start)/(O - 1)) (I - 1), with the bounds of `roi`: first all starts, in
                          order of the axes, then all ends; what lies outside the image is `extrapolation_value`

`method` nearest_neighbor takes the element next to that place, by `rounding_method` (empty: round for align_corners,
else floor; of round, halves go up), linear interpolates between two in each axis, cubic between four, with the
coefficient `cubic_alpha`; `cubic_exclude` leaves out those beyond the image. Integers are computed in floats and cut
off towards zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.windows import resize_gradients
from lamina.dialects.relay.image.sampling import (
    FARTHEST,
    LARGEST_EXTENT,
    METHODS,
    ROUNDINGS,
    TRANSFORMATIONS,
    Places,
    as_result,
    interpolated,
    nearest,
    one_of,
    places,
)
from lamina.dialects.relay.layout import LayoutChoice, axis_of, block_of, extents, plain


class ResizeFields:
    """The attributes of resized images that do not depend on the number of axes."""

    method = str_prop("linear")
    coordinate_transformation_mode = str_prop("half_pixel")
    rounding_method = str_prop("")
    cubic_alpha = float_prop(-0.5)
    cubic_exclude = int_prop(0)
    extrapolation_value = float_prop(0.0)
    out_dtype = str_prop("")


class Resize(Injective, ResizeFields, layouts=("layout",)):
    """Base of the ops that resize the axes in AXES of a tensor."""

    AXES: ClassVar[str]

    data = operand_def(TensorType)

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        (data,) = types
        layout, size, roi = attrs["layout"], attrs["size"], attrs["roi"]
        check_dtype(data.dtype, NUMBERS)
        dtype = check_dtype(attrs["out_dtype"] or data.dtype, NUMBERS)
        one_of("method", attrs["method"], METHODS)
        one_of("coordinate_transformation_mode", attrs["coordinate_transformation_mode"], TRANSFORMATIONS)
        one_of("rounding_method", attrs["rounding_method"], ROUNDINGS)
        if sorted(plain(layout)) != sorted("NC" + cls.AXES) or any(block_of(layout, a) > 1 for a in cls.AXES):
            raise TypeMismatch(f"layout {layout!r} must be an order of the axes {', '.join('NC' + cls.AXES)}")
        if len(size) != len(cls.AXES):
            raise TypeMismatch(f"size has {len(size)} numbers, expects {len(cls.AXES)}")
        if len(roi) != 2 * len(cls.AXES):
            raise TypeMismatch(f"roi has {len(roi)} numbers, expects {2 * len(cls.AXES)}")
        if not np.all(np.abs(roi) <= FARTHEST):
            raise TypeMismatch(f"roi {list(roi)} lies far outside the image")
        old, shape = extents(layout, data.shape), list(data.shape)
        for n, (letter, new) in enumerate(zip(cls.AXES, size, strict=True)):
            if not 1 <= new <= LARGEST_EXTENT or not 1 <= old[letter] <= LARGEST_EXTENT:
                raise TypeMismatch(f"axis {letter} of {old[letter]} cannot become one of {new}")
            shape[axis_of(layout, letter)] = new
            places(attrs["coordinate_transformation_mode"], old[letter], new, (roi[n], roi[n + len(size)]))
        return TensorInfo(tuple(shape), dtype)

    @classmethod
    def te_compute(cls, *tensors: Any, **attrs: Any) -> Tensor:
        x: Tensor = tensors[0]
        layout, mode = attrs["layout"], attrs["coordinate_transformation_mode"]
        dtype: str = attrs["out_dtype"] or x.dtype
        rank, roi = len(cls.AXES), attrs["roi"]
        at: dict[int, Places] = {}
        for n, (letter, new) in enumerate(zip(cls.AXES, attrs["size"], strict=True)):
            axis = axis_of(layout, letter)
            at[axis] = places(mode, x.shape[axis], new, (roi[n], roi[rank + n]))
        if attrs["method"] == "nearest_neighbor":
            rounding = attrs["rounding_method"] or ("round" if mode == "align_corners" else "floor")
            by_element = at
        else:
            # The axis that shrinks most comes first: it leaves the least to do.
            for axis, p in sorted(at.items(), key=lambda item: item[1].size / item[1].extent):
                if not p.same:
                    letter = layout[axis].lower()
                    exclude = bool(attrs["cubic_exclude"])
                    x = interpolated(x, axis, p, attrs["method"], attrs["cubic_alpha"], exclude, letter)
            rounding, by_element = "", {}
            if mode != "tf_crop_and_resize" and x.value is not tensors[0].value and x.dtype == dtype:
                return x

        def element(*i: Index) -> Any:
            value = x[tuple(nearest(p, by_element[a], rounding) if a in by_element else p for a, p in enumerate(i))]
            value = value if value.dtype == dtype else _converted(value, dtype)
            if mode != "tf_crop_and_resize":
                return value
            inside = [
                condition
                for axis, p in at.items()
                for n in [p.numerator(i[axis])]
                for condition in (n >= 0, n <= (p.extent - 1) * p.unit)
            ]
            return te.if_then_else(te.all(*inside), value, _outside(attrs["extrapolation_value"], dtype))

        shape = [at[axis].size if axis in at else e for axis, e in enumerate(x.shape)]
        return te.compute(shape, element, "resize")

    @classmethod
    def np_ref(cls, *arrays: Any, **attrs: Any) -> Array:
        """Axis by axis in f64: the sum of the elements next to each place, by their distance."""
        data: Array = arrays[0]
        layout, mode, roi = attrs["layout"], attrs["coordinate_transformation_mode"], attrs["roi"]
        rank = len(cls.AXES)
        exact = attrs["method"] == "nearest_neighbor"
        x = data if exact else data.astype(np.float64)
        beyond = np.zeros((1,) * data.ndim, bool)
        for n, (letter, new) in enumerate(zip(cls.AXES, attrs["size"], strict=True)):
            axis = axis_of(layout, letter)
            where = _coordinates_ref(mode, data.shape[axis], new, roi[n], roi[rank + n])
            extent: int = data.shape[axis]
            if np.array_equal(where, np.arange(extent)):
                continue  # each place is an element: no other takes part, be it infinite
            column = [-1 if a == axis else 1 for a in range(data.ndim)]
            taps = _taps_ref(where, data.shape[axis], **attrs)
            parts = [np.take(x, index, axis) for index, _ in taps]
            x = parts[0] if exact else parts[0] * taps[0][1].reshape(column)
            for part, (_, weight) in zip(parts[1:], taps[1:], strict=True):
                x = x + part * weight.reshape(column)
            beyond = beyond | ((where < 0) | (where > data.shape[axis] - 1)).reshape(column)
        kind = numpy_dtype(attrs["out_dtype"] or str(data.dtype))
        x = _cut_off_ref(x, kind)
        if mode == "tf_crop_and_resize":
            x = np.where(beyond, _cut_off_ref(np.asarray(attrs["extrapolation_value"]), kind), x)
        return x

    @staticmethod
    def infer_layout(layouts: Sequence[str], types: Sequence[TensorInfo] = (), **attrs: Any) -> LayoutChoice:
        offered = layouts[0] if layouts and layouts[0] else attrs["layout"]
        kept = offered if plain(offered) == plain(attrs["layout"]) else attrs["layout"]
        return LayoutChoice((kept,), kept, {"layout": kept})

    @classmethod
    def relay_grad(cls, grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return resize_gradients(grads, operands, cls, Resize1dOp, attrs)


def _converted(value: Any, dtype: str) -> Any:
    if is_float(value.dtype):
        return as_result(value, dtype)
    return te.cast(value, dtype) if is_float(dtype) else as_result(te.cast(value, "float64"), dtype)


def _outside(value: float, dtype: str) -> Any:
    return te.const(value, dtype) if is_float(dtype) else as_result(te.const(value, "float64"), dtype)


def _coordinates_ref(mode: str, extent: int, size: int, start: float, end: float) -> Array:
    x, scale = np.arange(size, dtype=np.float64), extent / size
    if mode == "align_corners":
        where = x * (extent - 1) / max(size - 1, 1)
    elif mode == "asymmetric":
        where = x * scale
    elif mode == "tf_half_pixel_for_nn":
        where = (x + 0.5) * scale
    elif mode == "tf_crop_and_resize":
        # The same as between the two ends, or in their middle.
        ends = np.linspace(start, end, size) if size > 1 else np.asarray([(start + end) / 2])
        where = ends * (extent - 1)
    else:
        where = np.zeros(1) if mode == "pytorch_half_pixel" and size == 1 else (x + 0.5) * scale - 0.5
    halves = np.round(2 * where)
    return np.where(np.abs(2 * where - halves) < 1e-9, halves / 2, where)


def _taps_ref(where: Array, extent: int, **attrs: Any) -> list[tuple[Array, Array]]:
    """For each of the elements around a place its index and its weight, by the distance from the place."""
    below = np.floor(where)
    if attrs["method"] == "nearest_neighbor":
        align = attrs["coordinate_transformation_mode"] == "align_corners"
        rounding = attrs["rounding_method"] or ("round" if align else "floor")
        rest = where - below
        up = {"floor": rest > 1, "ceil": rest > 0, "round_prefer_floor": rest > 0.5}.get(rounding, rest >= 0.5)
        return [(np.clip(below + up, 0, extent - 1).astype(np.int64), np.ones(len(where)))]
    found: list[tuple[Array, Array]] = []
    for tap in (0, 1) if attrs["method"] == "linear" else (-1, 0, 1, 2):
        d, a = np.abs(where - below - tap), attrs["cubic_alpha"]
        if attrs["method"] == "linear":
            weight: Array = 1 - d
        else:
            near: Array = (a + 2) * d**3 - (a + 3) * d**2 + 1
            far: Array = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
            weight = np.where(d <= 1, near, far)
        if attrs["method"] == "cubic" and attrs["cubic_exclude"]:
            weight = np.where((below + tap < 0) | (below + tap >= extent), 0.0, weight)
        found.append((np.clip(below + tap, 0, extent - 1).astype(np.int64), weight))
    total = np.sum([w for _, w in found], axis=0)
    return [(index, w / total) for index, w in found]


def _cut_off_ref(x: Array, kind: Any) -> Array:
    if kind.kind not in "iu":
        return x.astype(kind)
    limits = np.iinfo(kind)
    return np.clip(np.trunc(x), limits.min, limits.max).astype(kind)


def _samples(shape: tuple[int, ...], size: tuple[int, ...], layout: str, last: str) -> list[Sample]:
    """Each method with each transformation and rounding, growing and shrinking, sizes of 1, types, and mistakes.

    `layout` has the channels first and `last` behind the image; `shape` and `size` differ in each axis.
    """
    rank = len(size)
    doubled = tuple(2 * e for e in shape[2:])
    small = (*shape[:2], *(2 + n for n in range(rank)))
    image = (shape[0], *shape[2:], shape[1])

    def one(data: Any = shape, error: str | None = None, **attrs: Any) -> Sample:
        return sample(data, attrs={"size": size, **attrs}, error=error)

    found = [one(coordinate_transformation_mode=m) for m in TRANSFORMATIONS[:-1]]
    found += [one(method="cubic", coordinate_transformation_mode=m) for m in TRANSFORMATIONS[:3]]
    found += [one(method="nearest_neighbor", coordinate_transformation_mode=m) for m in TRANSFORMATIONS[:-1]]
    found += [one(method="nearest_neighbor", rounding_method=r, size=doubled) for r in ROUNDINGS[1:]]
    found += [one(method="nearest_neighbor", rounding_method=r) for r in ROUNDINGS[1:]]
    found += _cropped(one, shape, rank)
    found += [
        one(size=(1,) * rank),
        one(size=(1,) * rank, coordinate_transformation_mode="pytorch_half_pixel"),
        one(size=(1,) * rank, coordinate_transformation_mode="align_corners", method="cubic"),
        one((1, 1, *(1,) * rank), method="cubic"),
        one(size=shape[2:]),
        one(method="cubic", cubic_alpha=-0.75, cubic_exclude=1, size=doubled),
        one(small, method="cubic", cubic_exclude=1, size=tuple(3 * e for e in small[2:])),
        one(image, layout=last),
        one(image, layout=last, method="nearest_neighbor", size=doubled),
        one((*shape, 4), layout=f"{layout}4c", method="cubic"),
        one((shape, "float64"), method="cubic"),
        one((shape, "float16")),
        one((shape, "bfloat16"), method="cubic"),
        one((shape, "uint8"), size=doubled),
        one((shape, "int32"), size=doubled, out_dtype="float64"),
        one((shape, "int64"), method="nearest_neighbor"),
        one(method="nearest_neighbor", out_dtype="int8"),
        one((shape, "float16"), method="nearest_neighbor", out_dtype="uint8"),
        one((shape, "int16"), method="nearest_neighbor", out_dtype="uint8"),
    ]
    return found + _refused(one, shape, rank)


_CROP = {"coordinate_transformation_mode": "tf_crop_and_resize"}


def _cropped(one: Callable[..., Sample], shape: tuple[int, ...], rank: int) -> list[Sample]:
    """Windows of the image: all of it, flipped, and reaching beyond it, where values are those for the outside."""
    roi = (*(-0.2 + 0.1 * n for n in range(rank)), *(0.9 + 0.2 * n for n in range(rank)))
    flipped = (1.0,) * rank + (0.0,) * rank
    return [
        one(**_CROP, roi=(0.0,) * rank + (1.0,) * rank),
        one(**_CROP, roi=flipped, extrapolation_value=3.0),
        one(**_CROP, roi=roi, extrapolation_value=-7.5),
        one(**_CROP, roi=roi, method="cubic", size=(1,) * rank),
        one(**_CROP, roi=roi, method="nearest_neighbor", rounding_method="round_prefer_floor", extrapolation_value=9.0),
        one((shape, "int8"), **_CROP, roi=roi, method="nearest_neighbor", extrapolation_value=200.0),
    ]


def _refused(one: Callable[..., Sample], shape: tuple[int, ...], rank: int) -> list[Sample]:
    """Types, sizes, words and windows that the ops do not take."""
    return [
        one((shape, "bool"), error="got bool"),
        one(size=(3,) * (rank + 1), error=f"size has {rank + 1} numbers, expects {rank}"),
        one(size=(0,) * rank, error="cannot become one of 0"),
        one((1, 2, *(0,) * rank), error="of 0 cannot become"),
        one(method="area", error="method 'area' is none of nearest_neighbor, linear, cubic"),
        one(coordinate_transformation_mode="corners", error="coordinate_transformation_mode 'corners' is none of"),
        one(rounding_method="up", error="rounding_method 'up' is none of round, round_prefer_floor"),
        one(roi=(0.0,), error=f"roi has 1 numbers, expects {2 * rank}"),
        one(roi=(1e9,) * (2 * rank), error="lies far outside the image"),
        one(
            **_CROP,
            roi=(77777.123456, *[0.3333334] * (2 * rank - 1)),
            size=(16777213,) * rank,
            error="too fine for 64 bits",
        ),
        one(layout="NC", error="layout 'NC' must be an order of the axes"),
    ]


@irdl_op_definition
class Resize1dOp(Resize):
    """Rows of `size` elements, interpolated between those of the operand (see the file's text)."""

    name = "relay.image.resize1d"
    AXES: ClassVar[str] = "W"

    size = ints_prop()
    roi = floats_prop((0.0,) * 2)
    layout = str_prop("NCW")

    @staticmethod
    def samples() -> list[Sample]:
        return _samples((2, 3, 7), (5,), "NCW", "NWC")


@irdl_op_definition
class Resize2dOp(Resize):
    """Images of `size`, interpolated between the pixels of the operand (see the file's text)."""

    name = "relay.image.resize2d"
    AXES: ClassVar[str] = "HW"

    size = ints_prop()
    roi = floats_prop((0.0,) * 4)
    layout = str_prop("NCHW")

    @staticmethod
    def samples() -> list[Sample]:
        return _samples((1, 2, 5, 4), (3, 7), "NCHW", "NHWC")


@irdl_op_definition
class Resize3dOp(Resize):
    """Volumes of `size`, interpolated between the elements of the operand (see the file's text)."""

    name = "relay.image.resize3d"
    AXES: ClassVar[str] = "DHW"

    size = ints_prop()
    roi = floats_prop((0.0,) * 6)
    layout = str_prop("NCDHW")

    @staticmethod
    def samples() -> list[Sample]:
        return _samples((1, 1, 3, 4, 2), (2, 3, 5), "NCDHW", "NDHWC")
