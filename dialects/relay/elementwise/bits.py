"""Ops on the bits of elements: reinterpret."""

from __future__ import annotations

from typing import Any, ClassVar

from lamina.dialects.relay.declare import *


@irdl_op_definition
class ReinterpretOp(Elementwise, dtypes=NUMBERS):
    """The same bits as elements of `dtype`, which is as wide."""

    name = "relay.reinterpret"
    NO_GRADIENT: ClassVar[str] = "the bits of a number as those of another"

    dtype = str_prop()

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        (x,) = types
        dtype = check_dtype(attrs["dtype"], NUMBERS)
        if itemsize(check_dtype(x.dtype, NUMBERS)) != itemsize(dtype):
            raise TypeMismatch(f"{x.dtype} and {dtype} differ in width")
        return TensorInfo(x.shape, dtype)

    @staticmethod
    def te_element(x: Scalar, dtype: str) -> Scalar:
        return te.reinterpret(x, dtype)

    @staticmethod
    def np_ref(x: Array, dtype: str) -> Array:
        return x.view(numpy_dtype(dtype)) if x.ndim else x.reshape(1).view(numpy_dtype(dtype)).reshape(())

    @classmethod
    def samples(cls) -> list[Sample]:
        pairs = [
            *(("float32", d) for d in ("int32", "uint32", "float32")),
            *(("int32", d) for d in ("uint32", "int32")),
            *(("uint8", "int8"), ("int16", "uint16"), ("float16", "int16")),
            *(("float64", "int64"), ("uint64", "int64")),
        ]
        bits = (1 << 29, (1 << 30) + (1 << 29))
        return [
            *(sample(((3, 17), a), attrs={"dtype": b}) for a, b in pairs),
            sample(((3, 17), "int32"), attrs={"dtype": "float32"}, ranges=(bits,)),
            sample(((3, 17), "uint32"), attrs={"dtype": "float32"}, ranges=(bits,)),
            sample(((), "float32"), attrs={"dtype": "int32"}),
            sample(((5, 3), "bfloat16"), attrs={"dtype": "uint16"}),
            sample(((1,), "float32"), attrs={"dtype": "int32"}),
            sample((23,), attrs={"dtype": "int32"}, ranges=((-1e30, 1e30),)),
            sample((3,), attrs={"dtype": "int64"}, error="float32 and int64 differ in width"),
            sample(((3,), "bool"), attrs={"dtype": "int8"}, error="got bool"),
            sample((3,), error="attribute 'dtype' is missing"),
        ]
