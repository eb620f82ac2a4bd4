"""Tensors made from nothing or from a scalar: full, zeros, ones, arange, one_hot."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from xdsl.dialects.builtin import f64
from xdsl.irdl import AnyOf, BaseAttr

from lamina.dialects.attributes import ExtentsAttr
from lamina.dialects.relay.declare import *


def known_dtype(dtype: str) -> str:
    """The dtype. Raises TypeMismatch when there is none of that name."""
    if dtype not in DTYPES:
        raise TypeMismatch(f"dtype {dtype!r} is none of {', '.join(DTYPES)}")
    return dtype


def checked_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape. Raises TypeMismatch for a negative extent."""
    if [e for e in shape if e < 0]:
        raise TypeMismatch(f"shape {list(shape)} has a negative extent")
    return shape


@irdl_op_definition
class FullOp(RelayOp, fusion_kind=OpPattern.ELEMWISE):
    """`shape` filled with a scalar, converted to `dtype` where that is given."""

    name = "relay.full"

    fill_value = operand_def(TensorType)
    shape = ints_prop()
    dtype = str_prop("")
    result = result_def(TensorType)

    @staticmethod
    def infer_type(fill_value: TensorInfo, shape: tuple[int, ...], dtype: str) -> TensorInfo:
        if fill_value.shape:
            raise TypeMismatch(f"fill_value has shape {fill_value.shape}, expected a scalar")
        return TensorInfo(checked_shape(shape), known_dtype(dtype or fill_value.dtype))

    @staticmethod
    def te_compute(fill_value: Tensor, shape: tuple[int, ...], dtype: str) -> Tensor:
        return te.compute(shape, lambda *i: te.cast(fill_value[()], dtype or fill_value.dtype), "full")

    @staticmethod
    def np_ref(fill_value: Array, shape: tuple[int, ...], dtype: str) -> Array:
        return np.full(shape, fill_value.astype(numpy_dtype(dtype or str(fill_value.dtype))))

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((), attrs={"shape": (2, 3, 5)}),
            sample((), attrs={"shape": (1,)}),
            sample((), attrs={"shape": ()}),
            sample((), attrs={"shape": (7,), "dtype": "int32"}),
            sample(((), "float64"), attrs={"shape": (3, 1), "dtype": "float32"}),
            sample(((), "int64"), attrs={"shape": (3,)}),
            sample(((), "bool"), attrs={"shape": (2, 2)}),
            sample(((), "uint8"), attrs={"shape": (0, 2)}),
            sample((1,), attrs={"shape": (2,)}, error="fill_value has shape (1,), expected a scalar"),
            sample((), attrs={"shape": (-1,)}, error="shape [-1] has a negative extent"),
            sample((), attrs={"shape": (2,), "dtype": "int"}, error="dtype 'int' is none of"),
        ]

    relay_grad = vjp(lambda dy, x, y: in_dtype(r.sum(dy), x))


MOST_EXTENTS = 1024
"""Values of `relay.extents`: each is code of its own."""


@irdl_op_definition
class ExtentsOp(RelayOp, fusion_kind=OpPattern.ELEMWISE, precision=Precision.NEVER):
    """`values` as a vector. They may depend on symbols, as extents do: `values = [n, n * 2]`."""

    name = "relay.extents"

    values = ints_prop()
    dtype = str_prop("int64")
    result = result_def(TensorType)

    @staticmethod
    def infer_type(values: tuple[int, ...], dtype: str) -> TensorInfo:
        if dtype not in INTEGERS:
            raise TypeMismatch(f"extents are integers, got {dtype}")
        if len(values) > MOST_EXTENTS:
            raise TypeMismatch(f"{len(values)} numbers that sizes decide, {MOST_EXTENTS} are the most")
        return TensorInfo((len(values),), dtype)

    @staticmethod
    def te_compute(values: tuple[int, ...], dtype: str) -> Tensor:
        def element(i: Index) -> Any:
            def chosen(first: int, last: int) -> Any:
                if last <= first:
                    return te.const(values[first] if values else 0, dtype)
                middle = (first + last) // 2
                return te.if_then_else(i <= middle, chosen(first, middle), chosen(middle + 1, last))

            return chosen(0, len(values) - 1)

        return te.compute((len(values),), element, "extents")

    @staticmethod
    def np_ref(values: tuple[int, ...], dtype: str) -> Array:
        return np.asarray(values, np.int64).astype(numpy_dtype(dtype))

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample(attrs={"values": (3,)}),
            sample(attrs={"values": (0,) * 1025}, error="1025 numbers that sizes decide, 1024 are the most"),
            sample(attrs={"values": (3, 1)}),
            sample(attrs={"values": (2, 0, 7, 64)}),
            sample(attrs={"values": ()}),
            sample(attrs={"values": (5, -1), "dtype": "int32"}),
            sample(attrs={"values": tuple(range(9)), "dtype": "int16"}),
            sample(attrs={"values": (1 << 40, 2)}),
            sample(attrs={"values": (2, 3), "dtype": "float32"}, error="extents are integers, got float32"),
            sample(attrs={"dtype": "int64"}, error="attribute 'values' is missing"),
        ]


def _constant_samples() -> list[Sample]:
    """Shapes and dtypes for ops without operands."""
    pairs: list[tuple[tuple[int, ...], str]] = [
        ((2, 3, 5), "float32"),
        ((1,), "float64"),
        ((), "float32"),
        ((7,), "int32"),
        ((3, 1), "int64"),
        ((5,), "bool"),
        ((0, 3), "uint8"),
        ((9,), "float16"),
    ]
    return [
        *(sample(attrs={"shape": shape, "dtype": dtype}) for shape, dtype in pairs),
        sample(attrs={"shape": (-2,), "dtype": "int32"}, error="shape [-2] has a negative extent"),
        sample(attrs={"shape": (2,), "dtype": "double"}, error="dtype 'double' is none of"),
        sample(attrs={"dtype": "int32"}, error="attribute 'shape' is missing"),
    ]


class _Constant(RelayOp, fusion_kind=OpPattern.ELEMWISE):
    """A tensor whose elements are all VALUE."""

    VALUE: ClassVar[int]

    shape = ints_prop()
    dtype = str_prop("float32")
    result = result_def(TensorType)

    @staticmethod
    def infer_type(shape: tuple[int, ...], dtype: str) -> TensorInfo:
        return TensorInfo(checked_shape(shape), known_dtype(dtype))

    @classmethod
    def te_compute(cls, shape: tuple[int, ...], dtype: str) -> Tensor:
        return te.compute(shape, lambda *i: te.const(cls.VALUE, dtype), stage_name(cls))

    @classmethod
    def np_ref(cls, shape: tuple[int, ...], dtype: str) -> Array:
        return np.full(shape, cls.VALUE, numpy_dtype(dtype))

    @staticmethod
    def samples() -> list[Sample]:
        return _constant_samples()


@irdl_op_definition
class ZerosOp(_Constant):
    """A tensor of zeros."""

    name = "relay.zeros"
    VALUE: ClassVar[int] = 0


@irdl_op_definition
class OnesOp(_Constant):
    """A tensor of ones."""

    name = "relay.ones"
    VALUE: ClassVar[int] = 1


@irdl_op_definition
class ArangeOp(Opaque, precision=Precision.NEVER):
    """start + n * step for n = 0, 1, ... short of `stop`; floats are computed in f64 and rounded."""

    name = "relay.arange"

    start = float_prop(0.0)
    stop = prop_def(AnyOf((FloatAttr.constr(f64), BaseAttr(ExtentsAttr))))
    """A real, or a form over symbols."""
    step = float_prop(1.0)
    dtype = str_prop("float32")

    @staticmethod
    def infer_type(start: float, stop: float | tuple[int], step: float, dtype: str) -> TensorInfo:
        if isinstance(stop, tuple):
            return ArangeOp._symbolic(start, stop, step, dtype)
        if known_dtype(dtype) == "bool":
            raise TypeMismatch("counts in numbers, got bool")
        if not all(map(math.isfinite, (start, stop, step))) or step == 0:
            raise TypeMismatch(f"start {start}, stop {stop} and step {step} make no finite sequence")
        if not is_float(dtype) and not all(float(v).is_integer() for v in (start, stop, step)):
            raise TypeMismatch(f"{dtype} counts in whole numbers, got start {start}, stop {stop}, step {step}")
        return TensorInfo((max(0, math.ceil((stop - start) / step)),), dtype)

    @staticmethod
    def _symbolic(start: float, stop: tuple[int], step: float, dtype: str) -> TensorInfo:
        (end,) = stop
        if not start.is_integer() or not step.is_integer() or step <= 0 or known_dtype(dtype) == "bool":
            raise TypeMismatch(f"up to {end} it counts in whole numbers and upwards, got start {start}, step {step}")
        count = -((int(start) - end) // int(step))
        return TensorInfo((count if count >= 0 else 0,), dtype)

    @staticmethod
    def te_compute(start: float, stop: float | tuple[int], step: float, dtype: str) -> Tensor:
        (count,), _ = ArangeOp.infer_type(start, stop, step, dtype)

        def element(i: Index) -> Any:
            if is_float(dtype):
                return te.cast(te.cast(i, "float64") * step + start, dtype)
            return te.cast(i * int(step) + int(start), dtype)

        return te.compute((count,), element, "arange")

    @staticmethod
    def np_ref(start: float, stop: float, step: float, dtype: str) -> Array:
        if is_float(dtype):
            return np.arange(start, stop, step).astype(numpy_dtype(dtype))
        return np.arange(int(start), int(stop), int(step)).astype(numpy_dtype(dtype))

    @staticmethod
    def samples() -> list[Sample]:
        def one(start: float, stop: float, step: float, dtype: str, error: str | None = None) -> Sample:
            return sample(attrs={"start": start, "stop": stop, "step": step, "dtype": dtype}, error=error)

        return [
            sample(attrs={"stop": 7.0}),
            one(0.0, 1.0, 1.0, "float32"),
            one(0.5, 3.25, 0.25, "float32"),
            one(5.0, -5.0, -1.5, "float64"),
            one(2.0, 17.0, 3.0, "int32"),
            one(9.0, -1.0, -2.0, "int64"),
            one(3.0, 3.0, 1.0, "int32"),
            one(0.0, 9.0, 1.0, "uint8"),
            one(4.0, 1.0, 1.0, "int8"),
            one(0.0, 5.0, 0.0, "float32", "make no finite sequence"),
            one(0.0, 5.0, 0.5, "int32", "int32 counts in whole numbers"),
            one(0.0, 2.0, 1.0, "bool", "got bool"),
        ]


@irdl_op_definition
class OneHotOp(OutFusable, precision=Precision.FOLLOW):
    """A new axis of extent `depth` at `axis` (-1: the last): on_value where it equals the index, else off_value."""

    name = "relay.one_hot"

    indices = operand_def(TensorType)
    on_value = operand_def(TensorType)
    off_value = operand_def(TensorType)
    depth = int_prop()
    axis = int_prop(-1)

    @staticmethod
    def infer_type(
        indices: TensorInfo, on_value: TensorInfo, off_value: TensorInfo, depth: int, axis: int
    ) -> TensorInfo:
        check_dtype(indices.dtype, INTEGERS)
        if on_value.shape or off_value.shape or on_value.dtype != off_value.dtype:
            raise TypeMismatch(f"on_value {on_value} and off_value {off_value} are not scalars of one type")
        if depth < 1:
            raise TypeMismatch(f"depth is {depth}, at least 1 is needed")
        place = normalize_axis(axis, len(indices.shape) + 1)
        return TensorInfo((*indices.shape[:place], depth, *indices.shape[place:]), on_value.dtype)

    @staticmethod
    def te_compute(indices: Tensor, on_value: Tensor, off_value: Tensor, depth: int, axis: int) -> Tensor:
        place = normalize_axis(axis, indices.ndim + 1)
        shape = [*indices.shape[:place], depth, *indices.shape[place:]]

        def element(*i: Index) -> Any:
            index = te.cast(indices[(*i[:place], *i[place + 1 :])], "int64")
            return te.select(te.equal(index, te.cast(i[place], "int64")), on_value[()], off_value[()])

        return te.compute(shape, element, "one_hot")

    @staticmethod
    def np_ref(indices: Array, on_value: Array, off_value: Array, depth: int, axis: int) -> Array:
        hot = np.expand_dims(indices.astype(np.int64), axis)
        shape = [1] * hot.ndim
        shape[axis] = depth
        return np.where(hot == np.arange(depth).reshape(shape), on_value, off_value)

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            shape: tuple[int, ...], dtype: str = "int64", value: str = "float32", error: str | None = None, **kw: int
        ) -> Sample:
            return sample((shape, dtype), ((), value), ((), value), attrs=kw, error=error)

        return [
            one((2, 3), depth=5),
            one((7,), depth=3, axis=0),
            one((2, 3), depth=4, axis=1),
            one((), depth=3),
            one((1,), depth=1, axis=-2),
            one((5,), "int32", "float64", depth=6),
            one((5,), "int8", "int32", depth=9),
            one((5,), "uint8", "bool", depth=9),
            one((5,), "int64", "int64", depth=2, axis=-1),
            one((5,), "float32", depth=2, error="got float32"),
            one((5,), depth=0, error="depth is 0, at least 1 is needed"),
            one((5,), depth=3, axis=2, error="axis 2 is out of range for rank 2"),
            sample(((5,), "int64"), (1,), (), attrs={"depth": 3}, error="are not scalars of one type"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        indices = operands[0]
        true, false = (r.cast(number(v, indices), dtype="bool") for v in (1, 0))
        hot = r.one_hot(indices, true, false, **attrs)
        cold = r.logical_not(hot)
        return [None, *(r.sum(selected(mask, grads[0])) for mask in (hot, cold))]
