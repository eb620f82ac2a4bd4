"""Replace exp, exp2, log, log1p, log2, tanh, erf and 1 / (1 + exp(y)) of f32 by arithmetic: vectors stay vectors.

LLVM would call the C library once for each lane. f16 and bf16 are extended to f32 and rounded back; f64 and all other
functions are left to the C library. The code is straight: no branch, no comparison, special cases by bit masks.

Largest error in units in the last place, over all 2^32 arguments (`bench/math_ulp.py`), denormals included:

    exp 0.9  exp2 0.9  log 1.2  log1p 1.7  log2 1.6  tanh 2.0  erf 1.9  sigmoid 2.0

NaN gives NaN, infinities and zeros (with their sign) give what IEEE 754 says, log(-1) NaN, log(0) -inf. Assumes
that denormals are not flushed. Where the target has no fused multiply-add, products are rounded before they are added,
and the errors are up to 2.6 (`LAMINA_HOST=x86-64-v2 python bench/math_ulp.py`).
Vectors of a target that multiplies by powers of two in one instruction (AVX512's `scalef`) use that.

Before:
    %y = math.exp2 %x : f32
After:
    %s = arith.addf %x, %magic : f32              // %x clamped; its nearest integer n is in the low bits
    %n = arith.subf %s, %magic : f32
    %r = arith.subf %x, %n : f32
    %q = math.fma %c6, %r, %c5 : f32 ...          // a polynomial in r by Horner's rule
    %k = arith.shli %bits_of_s, %c23 : i32 ...    // n at the place of the exponent; 2^n in two steps
    %y = arith.mulf %q, %power : f32
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    VectorType,
    f32,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.target import module_target
from lamina.dialects.tir.intrinsics import INTRINSICS, IntrinsicOp
from lamina.dialects.tir.ops import FuncOp
from lamina.passes.base import Context, ModulePass, inherit_location, inherit_name
from lamina.passes.tir.arithmetic.polynomials import EXP, EXP2, EXPM1, LOG1P, LOG2_1P, LOG_ERFC, Polynomial

_FLOAT: dict[str, Attribute] = {"fastmath": arith.FastMathFlagsAttr("none")}
_INTEGER: dict[str, Attribute] = {"overflowFlags": arith.IntegerOverflowAttr("none")}

MAGIC = 12582912.0
"""1.5 * 2^23: a float32 near it is an integer, so adding it rounds, and the integer stands in the low bits."""
MAGIC_BITS = 0x4B400000
ONE = 0x3F800000
MAX = 0x7F7FFFFF
SMALLEST_NORMAL = 0x00800000
MANTISSA = 0x007FFFFF
MINUS_INFINITY = 0xFF800000
SIGN = 0x80000000
ROOT_HALF = 0x3F3504F3

LOG2_E = float.fromhex("0x1.715476p+0")
LOG2_E_LOW = float.fromhex("0x1.4ae0cp-26")
# log(2) in two parts: the first has 16 bits, so that its product with a small integer is exact.
LN2_HIGH = float.fromhex("0x1.62e4p-1")
LN2_LOW = float.fromhex("0x1.7f7d1cp-20")
LN2 = float.fromhex("0x1.62e43p-1")
ABOVE_MINUS_ONE = float.fromhex("-0x1.fffffep-1")
LARGEST = float.fromhex("0x1.fffffep+127")
TWO_OVER_ROOT_PI = float.fromhex("0x1.20dd76p+0")


@dataclass(frozen=True)
class ExpandMathPass(ModulePass):
    name = "tir-expand-math"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        has = target.has_feature if target is not None else _has_nothing
        fuses = target is None or target.multiplies_and_adds()
        for func in op.ops:
            if type(func) is FuncOp:
                constants: dict[Block, Constants] = {}
                for candidate in [o for o in all_ops(func) if type(o) in EXPANSIONS]:
                    ratio = _sigmoid_of(candidate) if isinstance(candidate, math.ExpOp) else None
                    expansion = sigmoid if ratio is not None else EXPANSIONS[type(candidate)]
                    _expand(ratio or candidate, candidate.operands[0], expansion, constants, has, fuses)


def _has_nothing(feature: str) -> bool:
    """Of a module without a target."""
    return False


Constants = dict[tuple[float | int, Attribute], SSAValue]
"""The constants at hand in a block: each is made before the first op that needs it."""


def _sigmoid_of(exp: math.ExpOp) -> arith.DivfOp | None:
    """The quotient, where an exponential is but part of 1 / (1 + exp(y))."""
    total = exp.result.get_user_of_unique_use()
    if not isinstance(total, arith.AddfOp) or not any(_is_one(v) for v in total.operands):
        return None
    ratio = total.result.get_user_of_unique_use()
    fits = isinstance(ratio, arith.DivfOp) and ratio.rhs is total.result and _is_one(ratio.lhs)
    return ratio if fits and isinstance(ratio, arith.DivfOp) and ratio.parent is exp.parent else None


def _is_one(value: SSAValue) -> bool:
    if not isinstance(value.owner, arith.ConstantOp):
        return False
    attr = value.owner.value
    if isinstance(attr, DenseIntOrFPElementsAttr):
        return attr.is_splat() and attr.get_values()[0] == 1.0
    return isinstance(attr, FloatAttr) and attr.value.data == 1.0


def _expand(
    op: Operation,
    x: SSAValue,
    expansion: Callable[[Writer, SSAValue], SSAValue],
    constants: dict[Block, Constants],
    has: Callable[[str], bool],
    fuses: bool,
) -> None:
    """Put the expansion of a function of x in the place of an op, and of what only it has read; `has` says which
    features the target has, `fuses` whether it multiplies and adds by one instruction."""
    type_: Attribute = op.results[0].type
    shape, element = None, type_
    if isinstance(type_, VectorType):
        vector = cast("VectorType[Attribute]", type_)
        shape, element = vector.get_shape(), vector.element_type
    block = op.parent
    if not isinstance(element, (Float32Type, Float16Type, BFloat16Type)) or block is None:
        return
    w = Writer(shape, constants.setdefault(block, {}), has, fuses)
    narrow = not isinstance(element, Float32Type)
    if narrow:
        x = w.add_op(arith.ExtFOp, [x], w.float, {})
    result = expansion(w, x)
    if narrow:
        result = w.add_op(arith.TruncFOp, [result], op.results[0].type, {})
    for new in w.ops:
        inherit_location(new, op)
    block.insert_ops_before(w.ops, op)
    inherit_name(result, op.results[0])
    op.results[0].replace_all_uses_with(result)
    dead = [op]
    while dead:
        gone = dead.pop()
        read = [v.owner for v in gone.operands]
        gone.detach()
        gone.erase()
        # Of a sigmoid its sum and its exponential, whose argument the expansion reads.
        dead += [o for o in read if isinstance(o, (arith.AddfOp, math.ExpOp)) and not o.results[0].uses]


# -- writing arithmetic on scalars and vectors alike ---------------------------------------------------------------


@lru_cache(maxsize=1024)
def _constant(value: float | int, type_: Attribute) -> Attribute:
    if isinstance(type_, VectorType):
        return DenseIntOrFPElementsAttr.from_list(type_, [value])  # type: ignore[arg-type]
    if isinstance(value, float):
        return FloatAttr(value, f32)
    return IntegerAttr(value, i32)


def signed(bits: int) -> int:
    """A bit pattern as the i32 that has it."""
    return bits - (1 << 32) if bits >> 31 else bits


class Writer:
    """Collects the ops of one expansion; numbers given as operands become constants."""

    def __init__(
        self, shape: tuple[int, ...] | None, constants: Constants, has: Callable[[str], bool], fuses: bool
    ) -> None:
        self.fuses = fuses
        self.float: Attribute = f32 if shape is None else VectorType(f32, shape)
        self.integer: Attribute = i32 if shape is None else VectorType(i32, shape)
        self.constants = constants
        self.ops: list[Operation] = []
        row = INTRINSICS.get(f"llvm.x86.avx512.mask.scalef.ps.{32 * prod(shape)}") if shape is not None else None
        self.scaling = row.name if row is not None and len(shape or ()) == 1 and not row.missing(has) else None
        """The instruction that multiplies by powers of two, where there is one for as many lanes."""

    def add_op(
        self, cls: type[Operation], operands: list[SSAValue], type_: Attribute, properties: dict[str, Attribute]
    ) -> SSAValue:
        op = cls.create(operands=operands, result_types=[type_], properties=properties.copy())
        self.ops.append(op)
        return op.results[0]

    def constant(self, value: float | int, type_: Attribute) -> SSAValue:
        key = (value, type_)
        found = self.constants.get(key)
        if found is None:
            found = self.constants[key] = self.add_op(arith.ConstantOp, [], type_, {"value": _constant(value, type_)})
        return found

    def f(self, cls: type[Operation], *operands: SSAValue | float) -> SSAValue:
        """A float op; a number among its operands is a float32."""
        values = [o if isinstance(o, SSAValue) else self.constant(o, self.float) for o in operands]
        return self.add_op(cls, values, self.float, _FLOAT)

    def fma(self, a: SSAValue | float, b: SSAValue | float, c: SSAValue | float) -> SSAValue:
        """a * b + c, rounded once where the target does so by an instruction; else LLVM would call a function."""
        if self.fuses:
            return self.f(math.FmaOp, a, b, c)
        return self.f(arith.AddfOp, self.f(arith.MulfOp, a, b), c)

    def i(self, cls: type[Operation], *operands: SSAValue | int) -> SSAValue:
        """An integer op; a number among its operands is a bit pattern."""
        values = [o if isinstance(o, SSAValue) else self.constant(signed(o), self.integer) for o in operands]
        return self.add_op(cls, values, self.integer, _INTEGER if cls in _WRAPPING else {})

    def bits(self, x: SSAValue) -> SSAValue:
        return self.add_op(arith.BitcastOp, [x], self.integer, {})

    def from_bits(self, x: SSAValue) -> SSAValue:
        return self.add_op(arith.BitcastOp, [x], self.float, {})

    def negative(self, x: SSAValue) -> SSAValue:
        """All bits set where the integer is negative, else none."""
        return self.i(arith.ShRSIOp, x, 31)

    def polynomial(self, p: Polynomial, x: SSAValue) -> SSAValue:
        """Horner's rule."""
        *rest, top = p.coefficients
        value = self.constant(top, self.float)
        for c in reversed(rest):
            value = self.fma(value, x, c)
        return value

    def scaled(self, x: SSAValue | float, n: SSAValue) -> SSAValue:
        """x * 2^n for a float n that is an integer, in one instruction, which rounds once."""
        assert self.scaling is not None
        op = IntrinsicOp.make(self.scaling, x if isinstance(x, SSAValue) else self.constant(x, self.float), n)
        self.ops.append(op)
        return op.result

    def clamp(self, x: SSAValue, low: float, high: float) -> SSAValue:
        """x between two numbers; NaN stays NaN."""
        return self.f(arith.MinimumfOp, self.f(arith.MaximumfOp, x, low), high)


_WRAPPING = (arith.AddiOp, arith.SubiOp, arith.ShLIOp)


# -- the functions -------------------------------------------------------------------------------------------------


def _split_by_ln2(w: Writer, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """x = n log(2) + r with |r| <= log(2) / 2, by Cody and Waite's two-part constant: MAGIC + n, n, r."""
    shifted = w.fma(x, LOG2_E, MAGIC)
    n = w.f(arith.SubfOp, shifted, MAGIC)
    r = w.fma(n, -LN2_HIGH, x)
    return shifted, n, w.fma(n, -LN2_LOW, r)


def _times_power_of_two(w: Writer, p: SSAValue, shifted: SSAValue, n: SSAValue) -> SSAValue:
    """p * 2^n, n of up to 9 bits given as MAGIC + n, too.

    2^n itself may overflow or be denormal, so p is multiplied by 2^floor(n / 2), exactly, and then by the rest.
    The bits above the low 9 of the integers leave at the top of the shift.
    """
    if w.scaling is not None:
        return w.scaled(p, n)
    whole = w.bits(shifted)
    half = w.i(arith.ShRSIOp, whole, 1)
    rest = w.i(arith.SubiOp, whole, half)
    for k in (half, rest):
        p = w.f(arith.MulfOp, p, w.from_bits(w.i(arith.AddiOp, w.i(arith.ShLIOp, k, 23), ONE)))
    return p


def exp(w: Writer, x: SSAValue) -> SSAValue:
    """2^n e^r. Beyond the clamp the result is infinite or less than half of the smallest denormal."""
    shifted, n, r = _split_by_ln2(w, w.clamp(x, -104.0, 89.0))
    return _times_power_of_two(w, w.polynomial(EXP, r), shifted, n)


def exp2(w: Writer, x: SSAValue) -> SSAValue:
    """2^n 2^r."""
    x = w.clamp(x, -151.0, 129.0)
    shifted = w.f(arith.AddfOp, x, MAGIC)
    n = w.f(arith.SubfOp, shifted, MAGIC)
    return _times_power_of_two(w, w.polynomial(EXP2, w.f(arith.SubfOp, x, n)), shifted, n)


def _expm1_parts(w: Writer, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """p and 2^n with e^x = 2^n p + 2^n, for -20 <= x <= 0.

    The nearest float of log(2) is near enough: 2^n n times its error, 2e-9, is beside 1 below 2^-29.
    """
    shifted = w.fma(x, LOG2_E, MAGIC)
    r = w.fma(w.f(arith.SubfOp, shifted, MAGIC), -LN2, x)
    p = w.fma(w.f(arith.MulfOp, w.polynomial(EXPM1, r), r), r, r)
    return p, w.from_bits(w.i(arith.AddiOp, w.i(arith.ShLIOp, w.bits(shifted), 23), ONE))


def _expm1(w: Writer, x: SSAValue) -> SSAValue:
    """2^n (e^r - 1) + (2^n - 1), for -20 <= x <= 0."""
    p, power = _expm1_parts(w, x)
    return w.fma(p, power, w.f(arith.SubfOp, power, 1.0))


def tanh(w: Writer, x: SSAValue) -> SSAValue:
    """(1 - e) / (1 + e) with e = e^(-2 |x|), and the sign of x. From 10 on it is 1.

    Both come from e^r - 1, each rounded once: e itself would lose what makes small results.
    """
    # Not by an absolute value and a product: multiplications are what there is most of.
    negative = w.f(arith.MaximumfOp, w.from_bits(w.i(arith.OrIOp, w.bits(x), SIGN)), -10.0)
    p, power = _expm1_parts(w, w.f(arith.AddfOp, negative, negative))
    above = w.fma(p, power, w.f(arith.SubfOp, power, 1.0))
    below = w.fma(p, power, w.f(arith.AddfOp, power, 1.0))
    return w.f(math.CopySignOp, w.f(arith.DivfOp, above, below), x)


def sigmoid(w: Writer, y: SSAValue) -> SSAValue:
    """1 / (1 + e^y) as 2^-k / (2^-k + 2^(n-k) + 2^(n-k) (e^r - 1)) with y = n log(2) + r and k = max(n, 0).

    Of the first two summands one is 1, which is added last: what is small has been rounded in its own size. Nothing
    overflows where the result is denormal: 2^-k is taken in two steps, or by an instruction, which makes denormals.
    """
    shifted, float_n, r = _split_by_ln2(w, w.clamp(y, -87.0, 104.0))
    p = w.fma(w.f(arith.MulfOp, w.polynomial(EXPM1, r), r), r, r)
    if w.scaling is not None:
        low = w.f(arith.MinimumfOp, float_n, 0.0)
        first, power = w.scaled(1.0, w.f(arith.SubfOp, low, float_n)), w.scaled(1.0, low)
        small = w.fma(p, power, w.f(arith.MulfOp, first, power))
        return w.f(arith.DivfOp, first, w.f(arith.AddfOp, small, 1.0))
    n = w.i(arith.SubiOp, w.bits(shifted), MAGIC_BITS)
    below = w.i(arith.AndIOp, n, w.negative(n))
    k = w.i(arith.SubiOp, n, below)
    half = w.i(arith.ShRSIOp, k, 1)
    first, second = (
        w.from_bits(w.i(arith.SubiOp, w.constant(ONE, w.integer), w.i(arith.ShLIOp, steps, 23)))
        for steps in (half, w.i(arith.SubiOp, k, half))
    )
    power = w.from_bits(w.i(arith.AddiOp, w.i(arith.ShLIOp, below, 23), ONE))
    small = w.f(arith.MulfOp, w.f(arith.MulfOp, first, second), power)
    total = w.f(arith.AddfOp, w.fma(p, power, small), 1.0)
    return w.f(arith.MulfOp, w.f(arith.DivfOp, first, total), second)


def erf(w: Writer, x: SSAValue) -> SSAValue:
    """1 - e^g with g = log(1 - erf(a)) = a (P(a) - C), a = |x|, and the sign of x. From 4 on it is 1."""
    a = w.f(arith.MinimumfOp, w.f(math.AbsFOp, x), 4.0)
    g = w.fma(a, -TWO_OVER_ROOT_PI, w.f(arith.MulfOp, a, w.polynomial(LOG_ERFC, a)))
    return w.f(math.CopySignOp, _expm1(w, g), x)


def _split_float(w: Writer, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """k, f and s with x = 2^k (1 + f), 1 + f between the roots of 1/2 and 2; s is to be added to log(x) at the end.

    Denormals are first multiplied by 2^25. s is 0 for ordinary x; at those below zero it is NaN, at zeros -inf, at
    +inf and NaN x itself: there k and f are finite and mean nothing.
    """
    ix = w.bits(x)
    small = w.negative(w.i(arith.SubiOp, ix, SMALLEST_NORMAL))
    scale = w.i(arith.AddiOp, w.i(arith.AndIOp, small, 25 << 23), ONE)
    scaled = w.bits(w.f(arith.MulfOp, x, w.from_bits(scale)))
    offset = w.i(arith.SubiOp, scaled, ROOT_HALF)
    exponent = w.i(arith.SubiOp, w.i(arith.ShRSIOp, offset, 23), w.i(arith.AndIOp, small, 25))
    k = w.f(arith.SubfOp, w.from_bits(w.i(arith.AddiOp, exponent, MAGIC_BITS)), MAGIC)
    mantissa = w.i(arith.AddiOp, w.i(arith.AndIOp, offset, MANTISSA), ROOT_HALF)
    f = w.f(arith.SubfOp, w.from_bits(mantissa), 1.0)
    large = w.i(arith.AndIOp, w.negative(w.i(arith.SubiOp, MAX, ix)), ix)
    # ix | ix >> 8 has bits in the mantissa unless x is a zero: with the exponent of an infinity, a NaN.
    not_positive = w.negative(w.i(arith.OrIOp, w.i(arith.SubiOp, ix, 1), ix))
    invalid = w.i(arith.OrIOp, w.i(arith.OrIOp, w.i(arith.ShRUIOp, ix, 8), ix), MINUS_INFINITY)
    special = w.i(arith.OrIOp, large, w.i(arith.AndIOp, not_positive, invalid))
    return k, f, w.from_bits(special)


def log(w: Writer, x: SSAValue) -> SSAValue:
    """k log(2) + f + f^2 P(f), the small terms first."""
    k, f, special = _split_float(w, x)
    square = w.f(arith.MulfOp, f, f)
    low = w.fma(k, LN2_LOW, f)
    small = w.fma(square, w.polynomial(LOG1P, f), low)
    return w.f(arith.AddfOp, w.fma(k, LN2_HIGH, small), special)


def log1p(w: Writer, x: SSAValue) -> SSAValue:
    """log(u) + (x - (u - 1)) / u with u = 1 + x rounded, and the sign of x: what the rounding took is added again.

    The clamp keeps the quotient a number where u is zero or infinite; there log(u) is what counts.
    """
    whole = log(w, w.f(arith.AddfOp, x, 1.0))
    inner = w.clamp(x, ABOVE_MINUS_ONE, LARGEST)
    u = w.f(arith.AddfOp, inner, 1.0)
    lost = w.f(arith.SubfOp, inner, w.f(arith.SubfOp, u, 1.0))
    return w.f(math.CopySignOp, w.f(arith.AddfOp, whole, w.f(arith.DivfOp, lost, u)), x)


def log2(w: Writer, x: SSAValue) -> SSAValue:
    """k + f L + f^2 P(f), with L = log2(e) in two parts."""
    k, f, special = _split_float(w, x)
    square = w.f(arith.MulfOp, f, f)
    low = w.fma(square, w.polynomial(LOG2_1P, f), w.f(arith.MulfOp, f, LOG2_E_LOW))
    fraction = w.fma(f, LOG2_E, low)
    return w.f(arith.AddfOp, w.f(arith.AddfOp, k, fraction), special)


EXPANSIONS: dict[type[Operation], Callable[[Writer, SSAValue], SSAValue]] = {
    math.ExpOp: exp,
    math.Exp2Op: exp2,
    math.LogOp: log,
    math.Log1pOp: log1p,
    math.Log2Op: log2,
    math.TanhOp: tanh,
    math.ErfOp: erf,
}
