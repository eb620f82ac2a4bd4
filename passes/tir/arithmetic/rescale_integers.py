"""tir-rescale-integers: rounded sums of one or two small integers take one factor for each of them.

Before:
    %q = arith.subi %clipped, %zero_point : vector<16xi32>   // %clipped = clip(%i + %zero_point, 0, 255)
    %f = tir.cast sitofp %q : vector<16xi32> to vector<16xf32>
    %a = arith.mulf %f, %s : vector<16xf32>                  // dense<0.28>
    %g = tir.cast uitofp %byte : vector<16xi8> to vector<16xf32>
    %b = arith.mulf %g, %t : vector<16xf32>                  // dense<0.12>
    %c = arith.addf %a, %b : vector<16xf32>
    %d = arith.divf %c, %u : vector<16xf32>                  // dense<0.29>
    %r = math.roundeven %d : vector<16xf32>
After:
    %l = arith.maxsi %i, %low : vector<16xi32>               // dense<-114>: the bounds move instead of the number
    %q = arith.minsi %l, %high : vector<16xi32>              // dense<141>
    %f = tir.cast sitofp %q : vector<16xi32> to vector<16xf32>
    %g = tir.cast uitofp %byte : vector<16xi8> to vector<16xf32>
    %a = arith.mulf %f, %v : vector<16xf32>                  // dense<0.9849>, s / u
    %d = math.fma %g, %w, %a : vector<16xf32>                // dense<0.4316>, t / u
    %r = math.roundeven %d : vector<16xf32>

s / u rounds otherwise than the model says, but where the integers have few values all of them are tried: the factors,
next to the quotients, are such that every rounded number is that of the expression as it is written, each step of it
rounded. Where no factors do that, or where little is known of the integers, the expression stays. What goes through
integers between two of them stays a float, and bounds inside say nothing where the bounds outside say the same. Wants
fused multiply-add.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, ModuleOp, VectorType, f32, i8, i32
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.lazy import np
from lamina.dialects.tir.vectors import CastOp
from lamina.passes.base import Context, ModulePass, inherit_location, inherit_name
from lamina.passes.tir.arithmetic.integer_factors import INFINITY, SMALL, Bounds, Term, factors, rounded_sums
from lamina.passes.tir.arithmetic.rounding import FLOAT, element_of, number_of, roundings

MOST_VALUES = 1 << 17
"""Values that are tried, of all integers together."""
DEEPEST = 12
"""Ops of an expression, one after the other."""


@dataclass(frozen=True)
class RescaleIntegersPass(ModulePass):
    name = "tir-rescale-integers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for rounding in roundings(op):
            _rescale(rounding)


# -- what is known of a number -------------------------------------------------------------------------------------


class Whole(NamedTuple):
    """An integer: another one, of a float or of 32 bits, within bounds; `moved` is added behind them."""

    source: SSAValue
    low: float = -INFINITY
    high: float = INFINITY
    moved: float = 0.0

    def bounded(self) -> bool:
        return max(abs(self.low), abs(self.high)) + abs(self.moved) < SMALL

    def values(self) -> Any:
        """All values before the move."""
        return np.arange(self.low, self.high + 1)


def whole(value: SSAValue, depth: int = 0) -> Whole | None:
    """Take a float or integer apart, if it is a rounded number or a byte within bounds; moved by constants."""
    op = value.owner
    if not isinstance(op, Operation) or depth > DEEPEST:
        return None
    kind = _kind(op)
    if kind in _RANGES and element_of(op.operands[0].type) == i8:
        inner, (least, most) = whole(op.operands[0], depth + 1), _RANGES[kind]
        within = inner is not None and inner.low + inner.moved >= least and inner.high + inner.moved <= most
        return inner if within else Whole(value, least, most)
    if kind in ("fptoui", "fptosi", "trunci") and element_of(value.type) == i8:
        return whole(op.operands[0], depth + 1)  # as long as it is within the bytes that its reader sees
    if kind == "fptosi" and element_of(value.type) == i32:
        return Whole(value) if type(op.operands[0].owner) is math.RoundEvenOp else None
    if kind == "sitofp":
        return whole(op.operands[0], depth + 1)
    if type(op) is math.RoundEvenOp:
        return Whole(value)
    if len(op.operands) != 2 or type(op) not in _STEPS:
        return None
    number, inner = number_of(op.operands[1]), whole(op.operands[0], depth + 1)
    if number is None or inner is None or number != int(number) or abs(number) > SMALL:
        return None
    step, at = _STEPS[type(op)], number - inner.moved
    if step == "max":
        return inner._replace(low=max(inner.low, at), high=max(inner.high, at))
    if step == "min":
        return inner._replace(low=min(inner.low, at), high=min(inner.high, at))
    return inner._replace(moved=inner.moved + (number if step == "add" else -number))


_STEPS: dict[type[Operation], str] = {
    arith.AddiOp: "add", arith.AddfOp: "add", arith.SubiOp: "subtract", arith.SubfOp: "subtract",
    arith.MaxSIOp: "max", arith.MaximumfOp: "max", arith.MinSIOp: "min", arith.MinimumfOp: "min",
}  # fmt: skip
_RANGES = {"uitofp": (0.0, 255.0), "sitofp": (-128.0, 127.0), "extui": (0.0, 255.0), "extsi": (-128.0, 127.0)}
"""Bytes as they are read."""
_CONVERSIONS: dict[type[Operation], str] = {
    arith.SIToFPOp: "sitofp", arith.UIToFPOp: "uitofp", arith.FPToSIOp: "fptosi", arith.FPToUIOp: "fptoui",
    arith.ExtUIOp: "extui", arith.ExtSIOp: "extsi", arith.TruncIOp: "trunci",
}  # fmt: skip


def _kind(op: Operation) -> str:
    """The conversion that an op is, of numbers or of vectors."""
    return op.kind.data if isinstance(op, CastOp) else _CONVERSIONS.get(type(op), "")


def bounds_behind(value: SSAValue) -> Bounds:
    """The bounds that the only reader of a rounded number, and its only reader, put to it."""
    low, high, moved = -INFINITY, INFINITY, 0.0
    for _ in range(DEEPEST):
        user = value.get_user_of_unique_use()
        step = _STEPS.get(type(user)) if user is not None else None
        number = number_of(user.operands[1]) if user is not None and step is not None else None
        if user is None or number is None or user.operands[0] is not value or number != int(number):
            break
        if step == "max":
            low, high = max(low, number - moved), max(high, number - moved)
        elif step == "min":
            low, high = min(low, number - moved), min(high, number - moved)
        else:
            moved += number if step == "add" else -number
        value = user.results[0]
    return Bounds(low, high)


# -- expressions ---------------------------------------------------------------------------------------------------


def term_of(value: SSAValue, leaves: dict[SSAValue, Whole], depth: int = 0) -> Term | None:
    """The arithmetic that makes a float from integers, which are collected."""
    number = number_of(value)
    if number is not None:
        return ("number", float(number))
    found = whole(value)
    if found is not None and found.bounded():
        leaves.setdefault(value, found)
        return ("leaf", list(leaves).index(value))
    op = value.owner
    if not isinstance(op, Operation) or type(op) not in _ARITHMETIC or depth > DEEPEST or not value.has_one_use():
        return None
    parts = [term_of(v, leaves, depth + 1) for v in op.operands]
    known = tuple(p for p in parts if p is not None)
    return (_ARITHMETIC[type(op)], *known) if len(known) == len(parts) else None


_ARITHMETIC: dict[type[Operation], str] = {
    arith.MulfOp: "multiply", arith.DivfOp: "divide", arith.AddfOp: "add", arith.SubfOp: "subtract",
}  # fmt: skip


# -- rewriting -----------------------------------------------------------------------------------------------------


def _rescale(rounding: math.RoundEvenOp) -> None:
    leaves: dict[SSAValue, Whole] = {}
    if type(rounding.operand.owner) not in _ARITHMETIC:
        return
    term = term_of(rounding.operand, leaves)
    if term is None or not 1 <= len(leaves) <= 2:
        return
    known = list(leaves.values())
    if np.prod([w.high - w.low + 1 for w in known]) > MOST_VALUES:
        return
    behind = bounds_behind(rounding.result)
    found = factors(term, tuple((w.low, w.high, w.moved) for w in known), behind)
    if found is None:
        return
    type_ = rounding.result.type
    made: list[Operation] = []
    floats = [_float(w, type_, made, _free(w, found, behind)) for w in known]
    numbers = [_constant(f, type_, made) for f in found]
    total: SSAValue = _add(arith.MulfOp, [floats[0], numbers[0]], type_, made, FLOAT)
    for value, number in zip(floats[1:], numbers[1:], strict=True):
        total = _add(math.FmaOp, [value, number, total], type_, made, FLOAT)
    block = rounding.parent
    assert block is not None
    for op in made:
        inherit_location(op, rounding)
    block.insert_ops_before(made, rounding)
    old = rounding.operand
    inherit_name(total, old)
    rounding.operands[0] = total
    _drop(old)


def _free(w: Whole, found: tuple[float, ...], behind: Bounds) -> tuple[bool, bool]:
    """Whether the lower and the upper bound of the only integer say no more than those of the result."""
    if len(found) != 1 or found[0] <= 0 or w.moved:
        return False, False
    ends = [float(rounded_sums([np.float64(found[0])], [np.asarray([end])], behind)[0]) for end in (w.low, w.high)]
    return ends[0] == behind.low, ends[1] == behind.high


def _float(w: Whole, type_: Attribute, made: list[Operation], free: tuple[bool, bool]) -> SSAValue:
    """The integer as a float: bounds where it is rounded, and conversion."""
    value, integer = w.source, element_of(w.source.type) == i32
    own = value.owner
    is_byte = isinstance(own, Operation) and _kind(own) in _RANGES
    if not is_byte:
        steps = ((arith.MaxSIOp, w.low), (arith.MinSIOp, w.high))
        if not integer:
            steps = ((arith.MaximumfOp, w.low), (arith.MinimumfOp, w.high))
        for (kind, bound), without in zip(steps, free, strict=True):
            if not without:
                limit = _constant(bound, value.type, made)
                value = _add(kind, [value, limit], value.type, made, {} if integer else FLOAT)
    if integer and w.moved:
        value = _add(arith.AddiOp, [value, _constant(w.moved, value.type, made)], value.type, made, _NO_OVERFLOW)
    if integer:
        converted = CastOp.make("sitofp", value, type_) if type(type_) is VectorType else arith.SIToFPOp(value, f32)
        made.append(converted)
        return converted.results[0]
    if w.moved:
        value = _add(arith.AddfOp, [value, _constant(w.moved, type_, made)], type_, made, FLOAT)
    return value


_NO_OVERFLOW: dict[str, Attribute] = {"overflowFlags": arith.IntegerOverflowAttr("none")}


def _add(
    kind: type[Operation],
    operands: list[SSAValue],
    type_: Attribute,
    made: list[Operation],
    props: dict[str, Attribute],
) -> SSAValue:
    op = kind.create(operands=operands, result_types=[type_], properties=dict(props))
    made.append(op)
    return op.results[0]


def _constant(number: float, type_: Attribute, made: list[Operation]) -> SSAValue:
    element = element_of(type_)
    value: Any = number if element == f32 else int(number)
    if type(type_) is VectorType:
        attr: Any = DenseIntOrFPElementsAttr.from_list(cast("Any", type_), [value])
    else:
        attr = FloatAttr(value, f32) if element == f32 else IntegerAttr(value, i32)
    op = arith.ConstantOp(attr)
    made.append(op)
    return op.result


def _drop(value: SSAValue) -> None:
    """Erase what nobody uses any more; loads stay, which others may be about to use."""
    waiting = [value]
    while waiting:
        op = waiting.pop().owner
        if not isinstance(op, Operation) or any(r.first_use is not None for r in op.results):
            continue
        if type(op) not in _PURE or op.parent is None:
            continue
        waiting += op.operands
        op.detach()
        op.erase()


_PURE = (*_ARITHMETIC, *_STEPS, *_CONVERSIONS, CastOp, arith.ConstantOp, math.RoundEvenOp)
