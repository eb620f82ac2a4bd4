"""tir-round-quotients: numbers divided by a constant and rounded, as quantising does, without a division.

Before:
    %q = arith.divf %x, %scale : vector<16xf32>              // dense<0.16>, %x a sum of few products of bytes
    %r = math.roundeven %q : vector<16xf32>
    %a = arith.maximumf %r, %zero : vector<16xf32>
    %b = arith.minimumf %a, %most : vector<16xf32>           // dense<255.0>
    %y = tir.cast fptoui %b : vector<16xf32> to vector<16xi8>
After:
    %p = arith.mulf %x, %inverse : vector<16xf32>            // dense<6.25>
    %e = math.fma %p, %minus_scale, %x : vector<16xf32>
    %q = math.fma %e, %inverse, %p : vector<16xf32>
    %w = tir.intrinsic "llvm.lrint.v16i32.v16f32"(%q) : (vector<16xf32>) -> vector<16xi32>
    %a = arith.maxsi %w, %none : vector<16xi32>
    %b = arith.minsi %a, %byte : vector<16xi32>              // dense<255>
    %y = tir.cast trunci %b : vector<16xi32> to vector<16xi8>

The quotient is the same number: with the nearest number to 1 / scale, what a product misses of it is exact, and adding
that times 1 / scale rounds as the division does (P. Markstein, IBM J. Res. Dev. 34, 1990), unless the bits of the
scale's mantissa are all ones. Infinite and very large numbers would not do: %x must be known to be small, from
integers that it is made of. It may lose the sign of a zero, so that only integers may be made of it. Rounding is part
of the conversion to integers, to which bounds apply then, in half the time of floats. Of numbers that may be too large
for it the bounds come first: they are whole, and may as well come before rounding. Wants fused multiply-add.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan
from struct import pack, unpack
from typing import Any, cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.lazy import np
from lamina.dialects.rules.terms import computed, const, splat, var
from lamina.dialects.scalar import terms
from lamina.dialects.target import TargetAttr, module_target
from lamina.dialects.tir.intrinsics import INTRINSICS, IntrinsicOp
from lamina.dialects.tir.vectors import CastOp
from lamina.passes.base import Context, ModulePass, inherit_location, inherit_name
from lamina.passes.rules.rewriting import Rules
from lamina.passes.tir.arithmetic.rounding import element_of, number_of, roundings

BOUNDS = (arith.MaximumfOp, arith.MinimumfOp)
LARGEST = 2.0**60
"""Quotients below have none of the products and sums anywhere near the ends of the range of f32."""
LARGEST_WHOLE = 2.0**31
"""Floats below are converted to integers of 32 bits, whatever bounds follow."""
DEEPEST = 24
"""Ops that are looked at, one after the other, for where a number comes from."""

x, scale = var("x"), const("scale")
quotient = terms.arith.divf(x, scale).has_dtype("float32")
quotients = Rules("tir-round-quotients")


@computed
def has_inverse(scale: Any) -> bool:
    """Whether all lanes have one ordinary number whose mantissa is not all ones."""
    number = float(scale.flat[0])
    ordinary = isfinite(number) and 1 / LARGEST < abs(number) < LARGEST and bool((scale == number).all())
    return ordinary and unpack("I", pack("f", number))[0] % 2**23 != 2**23 - 1


@computed
def is_rounded(quotient: SSAValue | None) -> bool:
    """Whether a value is only rounded, and only to make integers of it; that of a draw is."""
    rounding = None if quotient is None else quotient.get_user_of_unique_use()
    return quotient is None or (type(rounding) is math.RoundEvenOp and _makes_integers(rounding.result))


@computed
def is_small(x: SSAValue | None, scale: Any) -> bool:
    """Whether a quotient has none of the products and sums anywhere near the ends of the range of f32."""
    most = 0.0 if x is None else largest(x)
    return most is not None and most / abs(float(scale.flat[0])) <= LARGEST


@computed
def minus(scale: Any) -> float:
    """The negative of the number in all lanes."""
    return -float(scale.flat[0])


@computed
def nearest_inverse(scale: Any) -> float:
    """The f32 number nearest to 1 / scale."""
    return unpack("f", pack("f", 1 / float(scale.flat[0])))[0]


def some_floats(rng: Any) -> Any:
    """Draws numbers of many magnitudes."""
    return np.ldexp(rng.uniform(-2, 2, 256), rng.integers(-20, 20, 256)).astype(np.float32)


def one_float(rng: Any) -> Any:
    """Draws a number for all lanes."""
    return np.full(256, some_floats(rng)[0])


# With p = x / scale, nearly: what p misses of it is exact, and so x / scale = p + (x - p scale) / scale, rounded once.
inverse = splat(nearest_inverse(scale.value), like=x)
product = terms.arith.mulf(x, inverse)
missed = terms.math.fma(product, splat(minus(scale.value), like=x), x)
rule = quotient >> terms.math.fma(missed, inverse, product)
rule.when(is_rounded(quotient.ssa), has_inverse(scale.value), is_small(x.ssa, scale.value))
quotients += rule.tolerance(0).drawing(x=some_floats, scale=one_float)


@dataclass(frozen=True)
class RoundQuotientsPass(ModulePass):
    name = "tir-round-quotients"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found, target = roundings(op), module_target(op)
        if found and target is not None:
            quotients.apply(op)
            for rounding in found:
                _convert(rounding, target)


# -- bounds --------------------------------------------------------------------------------------------------------


def _bits(type_: Attribute) -> int:
    """The width of an integer; 0 for other types."""
    return type_.width.data if type(type_) is IntegerType else 0


def largest(value: SSAValue, depth: int = 0) -> float | None:
    """An upper bound of the magnitude of a float, from the integers and constants that it is made of; None if unknown.

    A number that has a bound is no NaN either.
    """
    op = value.owner
    if not isinstance(op, Operation) or depth > DEEPEST:
        return None
    number = number_of(value)
    if number is not None:
        return abs(number) if isfinite(number) else None
    if isinstance(op, (arith.SIToFPOp, arith.UIToFPOp)) or (
        isinstance(op, CastOp) and op.kind.data in ("sitofp", "uitofp")
    ):
        signed = isinstance(op, arith.SIToFPOp) or (isinstance(op, CastOp) and op.kind.data == "sitofp")
        return _largest_integer(op.operands[0], signed)
    if type(op) not in (*BOUNDS, arith.MulfOp, arith.AddfOp, arith.SubfOp, math.FmaOp, math.RoundEvenOp, arith.NegfOp):
        return None
    parts = [largest(v, depth + 1) for v in op.operands]
    known = [p for p in parts if p is not None]
    if len(known) < len(parts):
        return None
    if type(op) in BOUNDS:
        return max(known)
    if type(op) is arith.MulfOp:
        return known[0] * known[1]
    if type(op) is math.FmaOp:
        return known[0] * known[1] + known[2]
    return sum(known) + (0.5 if type(op) is math.RoundEvenOp else 0.0)


def _largest_integer(value: SSAValue, signed: bool) -> float | None:
    """As `largest`, of an integer: its bounds, if it has both, else what its type holds.

    Where the integer is taken for unsigned, what is below zero is large: such bounds say nothing.
    """
    bounds: dict[type[Operation], float] = {}
    width, op = _bits(element_of(value.type)), value.owner
    while type(op) in (arith.MaxSIOp, arith.MinSIOp) and isinstance(op, Operation):
        number = number_of(op.operands[1])
        if number is None:
            break
        bounds.setdefault(type(op), number)
        op = op.operands[0].owner
    if len(bounds) == 2 and (signed or min(bounds.values()) >= 0):
        return float(max(map(abs, bounds.values())))
    return 2.0**width if width else None


def _makes_integers(value: SSAValue, depth: int = 0) -> bool:
    """Whether only integers are made of a number, so that nobody sees the sign of a zero."""
    if depth > DEEPEST:
        return False
    return all(
        _is_conversion(use.operation)
        or (type(use.operation) in (*BOUNDS, arith.AddfOp) and _makes_integers(use.operation.results[0], depth + 1))
        for use in value.uses
    )


def _is_conversion(op: Operation) -> bool:
    return isinstance(op, (arith.FPToSIOp, arith.FPToUIOp)) or (
        isinstance(op, CastOp) and op.kind.data in ("fptosi", "fptoui")
    )


# -- conversions ---------------------------------------------------------------------------------------------------


def _convert(rounding: math.RoundEvenOp, target: TargetAttr) -> None:
    """Rounding, bounds and a conversion of vectors: the bounds first, and one instruction for the rest."""
    bounds: list[Operation] = []
    value: SSAValue = rounding.result
    while True:
        user = value.get_user_of_unique_use()
        if type(user) not in BOUNDS or user is None:
            break
        other = user.operands[1] if user.operands[0] is value else user.operands[0]
        number = number_of(other)
        if number is None or isnan(number) or (isfinite(number) and number != int(number)):
            return
        bounds.append(user)
        value = user.results[0]
    if not isinstance(user, CastOp) or user.kind.data not in ("fptosi", "fptoui"):
        return
    element = element_of(user.result.type)
    lanes = "x".join(map(str, user.result.type.get_shape()))
    row = INTRINSICS.get(f"llvm.lrint.v{lanes}i32.v{lanes}f32")
    narrow = 0 < _bits(element) < 32 or element == i32 and user.kind.data == "fptosi"
    if row is None or not narrow or row.missing(target.has_feature):
        return
    most = largest(rounding.operand)
    as_integers = most is not None and most < LARGEST_WHOLE and element != i32
    first = bounds[0] if bounds else user
    if as_integers:
        first.operands[list(first.operands).index(rounding.result)] = rounding.operand
    else:
        rounding.result.replace_all_uses_with(rounding.operand)
    steps: list[Operation] = [IntrinsicOp.make(row.name, rounding.operand if as_integers else user.value)]
    if as_integers:
        for bound in bounds:
            steps += _integer_bound(bound, steps[-1].results[0])
    if element != i32:
        steps.append(CastOp.make("trunci", steps[-1].results[0], user.result.type))
    _replace(user, steps)
    for op in (*reversed(bounds), rounding) if as_integers else (rounding,):
        op.detach()
        op.erase()


def _integer_bound(bound: Operation, value: SSAValue) -> list[Operation]:
    """A bound of floats as one of the integers that they are rounded to."""
    number = next(n for n in map(number_of, bound.operands) if n is not None)
    type_ = cast("VectorType[IntegerType]", value.type)
    # What is bounded is smaller than 2^31.
    limit = int(max(-LARGEST_WHOLE, min(number, LARGEST_WHOLE - 1)))
    constant = arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type_, [limit]))
    kind = arith.MaxSIOp if type(bound) is arith.MaximumfOp else arith.MinSIOp
    return [constant, kind.create(operands=[value, constant.result], result_types=[type_])]


def _replace(old: Operation, new: list[Operation]) -> None:
    """Put ops in the place of one whose result the last of them gives."""
    block = old.parent
    assert block is not None
    for op in new:
        inherit_location(op, old)
    block.insert_ops_before(new, old)
    inherit_name(new[-1].results[0], old.results[0])
    old.results[0].replace_all_uses_with(new[-1].results[0])
    old.detach()
    old.erase()
