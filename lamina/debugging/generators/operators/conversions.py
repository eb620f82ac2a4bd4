"""Changes of the element type: casts, quantisation and back.

Types of eight bits and fewer that numpy does not have stand in the middle of a graph, where little more than moves
takes them; what makes them, and what reads them, is compared with onnxruntime or ONNX's reference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from lamina.debugging.generators.draw import ANY
from lamina.debugging.generators.onnx_graph import MICROSOFT, OnnxGraph, Tensor, code, type_name
from lamina.debugging.generators.operators.elementwise import allowed
from lamina.debugging.generators.operators.moving import other_shape, sizes
from lamina.debugging.generators.operators.quantised import BYTES, coded, scale
from lamina.debugging.generators.operators.table import row

LIMITS = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3), "int8": (-128, 127), "uint8": (0, 255),
          "int16": (-32768, 32767), "uint16": (0, 65535)}  # fmt: skip
EIGHTS = ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
HELD = (*EIGHTS, "int4", "uint4", "float4_e2m1fn", "float8_e8m0fnu", "int2", "uint2")
"""The types that stand in the middle of a graph only."""


def held_types(g: OnnxGraph, name: str, operand: int = 0) -> list[str]:
    """Those of them that an operand of an operator may have in this operator set."""
    types = g.schema(name).inputs[operand].types
    return [d for d in HELD if type_name(d) in types]


def moved(g: OnnxGraph, x: Tensor) -> Tensor:
    """A tensor after some moves that take its type."""
    for _ in range(g.draw.choice((0, 0, 1, 2))):
        name = g.draw.choice(("Identity", "Reshape", "Transpose", "Flatten", "Unsqueeze"))
        if x.dtype not in held_types(g, name):
            continue
        if name == "Reshape":
            (x,) = g.node(name, [x, sizes(g, other_shape(g, x))], bound=x.bound)
        elif name == "Unsqueeze":
            (x,) = g.node(name, [x, sizes(g, [g.draw.axis(x.rank + 1)])], bound=x.bound)
        else:
            (x,) = g.node(name, [x], bound=x.bound, perm=g.draw.permutation(x.rank) if name == "Transpose" else None)
    return x


def within(g: OnnxGraph, x: Tensor, least: float, most: float) -> Tensor:
    """The tensor with all values between two numbers."""
    ends = [g.constant(np.asarray(v), x.dtype) for v in (least, most)]
    (x,) = g.node("Clip", [x, *ends], bound=max(abs(least), abs(most)))
    return x


# -- casts ---------------------------------------------------------------------------------------------------------


def there_and_back(g: OnnxGraph, name: str, dtype: str) -> None:
    """Cast to a held type, by its name or by that of another tensor, and back to one that results may have."""
    wide = ("float32", "float32", "float16", "bfloat16") if dtype != "float8_e8m0fnu" else ("float32",)
    integral = "int" in dtype
    x = g.some((*wide, "int32", "int8") if integral else wide, rank=(1, 4), bound=100)
    if integral:
        # Beyond the ends implementations differ.
        least, most = LIMITS[dtype]
        x = within(g, x, least, most)
        if x.is_float and g.draw.chance(0.7):
            (x,) = g.node("Round", [x], bound=x.bound)
        elif x.is_float:
            g.alone.append("onnxruntime rounds what it casts to few bits, others cut it off")
    attributes: dict[str, Any] = {}
    if dtype in EIGHTS and g.draw.chance(0.4):
        attributes["saturate"] = g.draw.integer(0, 1)
    if dtype == "float8_e8m0fnu":
        # Of what is below zero ONNX's reference takes the magnitude, onnxruntime the smallest number; nothing is said.
        (x,) = g.node("Abs", [x], bound=x.bound)
    if dtype == "float8_e8m0fnu" and g.draw.chance(0.6):
        attributes["round_mode"] = g.draw.choice(("up", "down", "nearest"))
        if name == "CastLike" and attributes["round_mode"] != "up":
            g.alone.append("the function of ONNX for CastLike leaves its round_mode out")
    if name == "Cast":
        (y,) = g.node(name, [x], bound=x.bound, to=code(dtype), **attributes)
    else:
        (y,) = g.node(name, [x, g.constant(np.ones((1,)), dtype)], bound=x.bound, **attributes)
    y = moved(g, y)
    back = g.draw.choice(("float32", "float32", "float16", "bfloat16", *(("int32", "int8") if integral else ())))
    back = "int8" if back == "int32" and dtype[0] == "u" else back
    g.node("Cast", [y], bound=x.bound, to=code(back))


def held_and_back(g: OnnxGraph, name: str) -> bool:
    """Draw whether the node is a cast to a type that is only held; then add it and one back."""
    held = held_types(g, name)
    chosen = bool(held) and g.draw.chance(0.45)
    if chosen:
        there_and_back(g, name, g.draw.choice(held))
    return chosen


@row("Cast")
def cast(g: OnnxGraph, name: str) -> None:
    if held_and_back(g, name):
        return
    x = g.some(allowed(g, name, ANY), bound=100)
    to = g.draw.dtype(allowed(g, name, ANY))
    if x.is_float and to[0] in "iu":
        g.ordinary(x)  # an integer of NaN is nowhere defined
    if to[0] == "u" and x.dtype != "bool" and x.dtype[0] != "u":
        (x,) = g.node("Abs", [x], bound=x.bound)
    if g.opset < 6:
        word = TensorProto.DataType.Name(code(to))
        g.node(name, [x], bound=x.bound, types=[(to, x.shape)], to=word)
        return
    g.node(name, [x], bound=x.bound, to=code(to))


@row("CastLike")
def cast_like(g: OnnxGraph, name: str) -> None:
    if held_and_back(g, name):
        return
    x = g.some(("float32", "int32", "int64", "float16", "float64", "bfloat16"), bound=100)
    y = g.some(("float32", "int32", "int64", "float16", "float64", "bfloat16", "bool"))
    if x.is_float and y.dtype[0] in "iu":
        g.ordinary(x)
    g.node(name, [x, y], bound=x.bound)


# -- quantisation --------------------------------------------------------------------------------------------------


def scaling(g: OnnxGraph, x: Tensor, dtype: str) -> tuple[Tensor, dict[str, Any]]:
    """Scales of a type for all, for each slice along an axis, or for blocks along it; the attributes that say so."""
    assert x.shape is not None
    how = g.draw.choice(("one", "one", "axis", "blocks")) if g.opset >= 21 else g.draw.choice(("one", "one", "axis"))
    if how == "one" or g.opset < 13:
        return scale(g, dtype=dtype), {}
    axis = g.draw.integer(0, x.rank - 1)
    attributes: dict[str, Any] = {"axis": axis - g.draw.choice((0, x.rank))}
    if how == "axis":
        return scale(g, (x.shape[axis],), dtype=dtype), attributes
    block = g.draw.integer(1, max(1, x.shape[axis]))
    shape = tuple(-(-e // block) if n == axis else e for n, e in enumerate(x.shape))
    return scale(g, shape, dtype=dtype), {**attributes, "block_size": block}


def zero_of(g: OnnxGraph, dtype: str, like: Tensor) -> Tensor:
    """A zero point for each scale; that of floats and of 32 bits is 0."""
    if dtype not in LIMITS:
        return g.constant(np.zeros(like.shape or ()), dtype)
    return g.constant(g.draw.integers(like.shape or (), *LIMITS[dtype]), dtype)


@row("QuantizeLinear")
def quantize_linear(g: OnnxGraph, name: str) -> None:
    wide = allowed(g, name, ("float32",) * 6 + ("float16", "bfloat16", "int32"))
    data, factors = g.schema(name).inputs[:2]
    if data.type_str == factors.type_str:
        wide = tuple(d for d in wide if d != "int32")
    x = g.some(wide, rank=(1, 4), bound=32)
    kinds = [*BYTES, *allowed(g, name, ("int8", "uint8", "int16", "uint16"), 2)]
    held = [d for d in held_types(g, name, 2) if d != "float8_e8m0fnu"]
    dtype = g.draw.choice(held if held and g.draw.chance(0.5) else kinds)
    scales, attributes = scaling(g, x, "float32" if x.dtype == "int32" else x.dtype)
    if dtype in EIGHTS and g.draw.chance(0.4):
        attributes["saturate"] = g.draw.integer(0, 1)
    zero = None
    if g.opset >= 21 and g.draw.chance(0.3):
        attributes["output_dtype"] = code(dtype)
    elif dtype != "uint8" or g.draw.chance(0.8):
        zero = zero_of(g, dtype, scales)
    (y,) = g.node(name, [x, scales, zero], bound=255, **attributes)
    if dtype in held:
        y = moved(g, y)
        if g.draw.chance(0.3):
            g.node("Cast", [y], bound=255, to=code("float32"))
        else:
            dequantised(g, "DequantizeLinear", y)


@row("DequantizeLinear")
def dequantize_linear(g: OnnxGraph, name: str) -> None:
    g.since(name)
    held = [d for d in held_types(g, name) if d != "float8_e8m0fnu"]
    if not held or g.draw.chance(0.5):
        dequantised(g, name, coded(g, (1, 4)))
        return
    # Weights of few bits, and what numpy has besides bytes.
    dtype = g.draw.choice((*held, *allowed(g, name, ("int16", "uint16", "int32"))))
    shape = g.draw.shape((1, 4))
    if dtype in held and "float" in dtype:
        dequantised(g, name, g.constant(g.draw.normal(shape), dtype))
    else:
        array = g.draw.integers(shape, *LIMITS.get(dtype, (-1000, 1000)))
        dequantised(g, name, g.constant(array, dtype) if dtype in held else g.either(array, dtype))


def dequantised(g: OnnxGraph, name: str, x: Tensor) -> None:
    """Add the node `name` for x, by scales of a float type; zero point and type of the result may be left out."""
    wide = g.draw.choice(allowed(g, name, ("float32",) * 6 + ("float16", "bfloat16"), 1))
    scales, attributes = scaling(g, x, wide)
    zero = zero_of(g, x.dtype, scales) if g.draw.chance(0.7) else None
    if g.opset >= 23 and g.draw.chance(0.2):
        attributes["output_dtype"] = code(g.draw.choice(("float32", "float16", "bfloat16")))
    g.node(name, [x, scales, zero], bound=64 if x.dtype in BYTES else 4096, **attributes)


@row("QuantizeLinear", "DequantizeLinear", domain=MICROSOFT)
def microsoft_quantize(g: OnnxGraph, name: str) -> None:
    dtype = g.draw.choice((*BYTES, "int16", "uint16"))
    if name == "QuantizeLinear":
        x = g.some("float32", rank=(1, 4), bound=32)
        one = scale(g)
        g.node(name, [x, one, zero_of(g, dtype, one)], domain=MICROSOFT, bound=255, types=[(dtype, x.shape)])
        return
    x = coded(g, (1, 4)) if dtype in BYTES else g.given(g.draw.integers(g.draw.shape((1, 4)), *LIMITS[dtype]), dtype)
    one = scale(g)
    g.node(name, [x, one, zero_of(g, x.dtype, one)], domain=MICROSOFT, bound=4096, types=[("float32", x.shape)])
