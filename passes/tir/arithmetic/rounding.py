"""Rounded numbers, as several passes recognise them, and the values of constants."""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, ModuleOp, VectorType, f32
from xdsl.ir import Attribute, SSAValue

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.target import module_target

FLOAT: dict[str, Attribute] = {"fastmath": arith.FastMathFlagsAttr("none")}
"""Properties of an op on floats."""


def roundings(module: ModuleOp) -> list[math.RoundEvenOp]:
    """The roundings of f32 to whole numbers; none where no machine is named, or one without fused multiply-add."""
    target = module_target(module)
    if target is None or not target.multiplies_and_adds():
        return []
    return [o for o in all_ops(module) if type(o) is math.RoundEvenOp and element_of(o.result.type) == f32]


def element_of(type_: Attribute) -> Attribute:
    """The type itself, or that of a vector's elements."""
    return type_.element_type if type(type_) is VectorType else type_


def number_of(value: SSAValue) -> float | int | None:
    """The number that a constant is, in every lane: a float, or an int where its type is one of integers."""
    attr = value.owner.value if isinstance(value.owner, arith.ConstantOp) else None
    if isinstance(attr, (FloatAttr, IntegerAttr)):
        return attr.value.data
    if isinstance(attr, DenseIntOrFPElementsAttr) and attr.is_splat():
        number = attr.get_values()[0]
        return number if isinstance(number, (int, float)) else None
    return None
