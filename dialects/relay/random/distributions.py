"""Random floats from a key that is passed on: random.uniform and random.normal."""

from __future__ import annotations

from math import pi, prod
from typing import Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.random.threefry import KEY, check_key, check_shape, generate, generate_ref, shaped


class Distribution(RelayOp):
    """Base of the ops that give floats after the key to use next: `out_dtype` is float32 or float64."""

    BITS: ClassVar[dict[str, int]] = {"float32": 23, "float64": 52}

    key = operand_def(TensorType)
    outputs = var_result_def(TensorType)

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> tuple[TensorInfo, ...]:
        key, *numbers = types
        check_key(key)
        check_shape(attrs["out_shape"])
        dtype = check_dtype(attrs["out_dtype"], tuple(cls.BITS))
        for given in numbers:
            if given != TensorInfo((), dtype):
                raise TypeMismatch(f"{' and '.join(cls.numbers())} are {given}, expects {TensorInfo((), dtype)}")
        return KEY, TensorInfo(tuple(attrs["out_shape"]), dtype)

    @classmethod
    def numbers(cls) -> list[str]:
        """The names of the operands behind the key."""
        return [n for n, _ in cls.get_irdl_definition().operands][1:]

    @classmethod
    def unit(cls, bits: Scalar, dtype: str) -> Scalar:
        """A number from 0 to 1, without 1, by the foremost of 64 bits."""
        fraction = cls.BITS[dtype]
        return te.cast(bits >> (64 - fraction), dtype) * (0.5**fraction)

    @classmethod
    def samples(cls) -> list[Sample]:
        def one(shape: tuple[int, ...], dtype: str = "float32", error: str | None = None, **kw: Any) -> Sample:
            scalar = kw.pop("scalar", ((), dtype))
            ranges = ((0.0, float(1 << 62)), (-1.0, 0.5), (1.0, 3.0))
            attrs = {"out_shape": shape, "out_dtype": dtype}
            return sample(
                kw.pop("key", (KEY.shape, KEY.dtype)), scalar, scalar, attrs=attrs, ranges=ranges, error=error
            )

        return [
            one((4,)), one((3, 5)), one(()), one((1, 1)), one((2, 3, 4)), one((17,)), one((2, 3), "float64"),
            one((9,), "float64"),
            one((4,), "float16", error="got float16"),
            one((0,), error="is no shape of numbers"),
            one((4,), scalar=((1,), "float32"), error="expects tensor<f32>"),
            one((4,), key=((10,), "int32"), error="expects tensor<10xui64>"),
        ]  # fmt: skip


@irdl_op_definition
class UniformOp(Distribution):
    """Numbers between `low` and `high`, each as likely as another, in `out_shape`, after the key to use next."""

    name = "relay.random.uniform"

    low = operand_def(TensorType)
    high = operand_def(TensorType)
    out_shape = ints_prop()
    out_dtype = str_prop("float32")

    @classmethod
    def te_compute(cls, *tensors: Any, **attrs: Any) -> list[Tensor]:
        key, low, high = tensors
        shape, dtype = attrs["out_shape"], attrs["out_dtype"]
        after, numbers = generate(key, prod(shape))

        def element(bits: Scalar) -> Scalar:
            return cls.unit(bits, dtype) * (high[()] - low[()]) + low[()]

        return [after, te.compute(shape, shaped(numbers, shape, element), "uniform")]

    @classmethod
    def np_ref(cls, *arrays: Any, **attrs: Any) -> tuple[Array, ...]:
        key, low, high = arrays
        after, numbers = generate_ref(key, prod(attrs["out_shape"]))
        fraction = cls.BITS[attrs["out_dtype"]]
        units = np.ldexp((numbers >> np.uint64(64 - fraction)).astype(attrs["out_dtype"]), -fraction)
        return after, (units * (high - low) + low).reshape(attrs["out_shape"]).astype(attrs["out_dtype"])

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        _, dy = grads
        key, low, _ = operands
        if dy is None:
            return [None, None, None]
        unit = r.random.uniform(key, number(0.0, low), number(1.0, low), **attrs)[1]
        into_high = r.sum(r.multiply(dy, unit))
        return [None, r.subtract(r.sum(dy), into_high), into_high]


@irdl_op_definition
class NormalOp(Distribution):
    """Numbers distributed normally about `mean` with the deviation `scale`, in `out_shape`, after the key to use next:
    sqrt(-2 ln(1 - u)) sin(2 pi v) of two uniform numbers (Box and Muller)."""

    name = "relay.random.normal"

    mean = operand_def(TensorType)
    scale = operand_def(TensorType)
    out_shape = ints_prop()
    out_dtype = str_prop("float32")

    @classmethod
    def te_compute(cls, *tensors: Any, **attrs: Any) -> list[Tensor]:
        key, mean, scale = tensors
        shape, dtype = attrs["out_shape"], attrs["out_dtype"]
        count = prod(shape)
        after, numbers = generate(key, 2 * count)

        def distance(bits: Scalar) -> Scalar:
            return te.sqrt(te.log(1.0 - cls.unit(bits, dtype)) * -2.0)

        def height(bits: Scalar) -> Scalar:
            return te.sin(cls.unit(bits, dtype) * (2.0 * pi))

        u, v = shaped(numbers, shape, distance), shaped(numbers, shape, height, count)

        def element(*i: Index) -> Scalar:
            return u(*i) * v(*i) * scale[()] + mean[()]

        return [after, te.compute(shape, element, "normal")]

    @classmethod
    def np_ref(cls, *arrays: Any, **attrs: Any) -> tuple[Array, ...]:
        key, mean, scale = arrays
        fraction = cls.BITS[attrs["out_dtype"]]
        after, numbers = generate_ref(key, 2 * prod(attrs["out_shape"]))
        u, v = np.ldexp((numbers >> np.uint64(64 - fraction)).astype(np.float64), -fraction).reshape(2, -1)
        found = np.sqrt(-2 * np.log1p(-u)) * np.sin(2 * np.pi * v) * np.float64(scale) + np.float64(mean)
        return after, found.reshape(attrs["out_shape"]).astype(attrs["out_dtype"])

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        _, dy = grads
        key, mean, _ = operands
        if dy is None:
            return [None, None, None]
        unit = r.random.normal(key, number(0.0, mean), number(1.0, mean), **attrs)[1]
        return [None, r.sum(dy), r.sum(r.multiply(dy, unit))]
