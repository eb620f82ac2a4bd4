"""Special functions, computed in double precision and rounded once.

Sources: NIST's Digital Library of Mathematical Functions (dlmf.nist.gov), by the number of the formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.promotion import float_type, result_type
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value

EULER = 0.5772156649015329
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""B2, B4, ... B16."""
LANCZOS = (
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip
"""Coefficients of Lanczos' approximation for g = 7 (Godfrey, 2001)."""


def wide(b: AtenBuilder, compute: Callable[..., Value], *operands: Any) -> Value:
    """A function of operands in double precision, as the type that they have together."""
    dtype = float_type(result_type(operands))
    return b.tensor(compute(b, *(b.tensor(o, "float64") for o in operands)), dtype)


def _series(b: AtenBuilder, x: Value, coefficients: Sequence[float]) -> Value:
    """c0 + x (c1 + x (c2 + ...))."""
    found: Value = b.scalar(coefficients[-1], x)
    for c in reversed(coefficients[:-1]):
        found = b.add(b.mul(found, x), c)
    return b.broadcast(found, x.shape)


def _lgamma(b: AtenBuilder, x: Value) -> Value:
    """Lanczos' approximation; by the reflection formula (5.5.3) below 1/2."""
    low = b.one("less", x, 0.5)
    z = b.sub(b.choose(low, b.sub(b.scalar(1.0, x), x), x), 1.0)
    total: Value = b.scalar(LANCZOS[0], x)
    for k, c in enumerate(LANCZOS[1:], 1):
        total = b.add(total, b.div(b.scalar(c, x), b.add(z, float(k))))
    t = b.add(z, 7.5)
    found = b.add(b.add(b.mul(b.add(z, 0.5), b.op("log", t)), b.mul(t, -1.0)), b.op("log", total))
    found = b.add(found, 0.5 * math.log(2 * math.pi))
    # log(pi / |sin(pi x)|), the sine of the distance to a whole number.
    part = b.sub(x, b.op("floor", x))
    turned = b.sub(_log_pi(b, part), found)
    found = b.choose(low, turned, found)
    return b.choose(b.op("isinf", x), math.inf, found)


def _log_pi(b: AtenBuilder, part: Value) -> Value:
    """log(pi / sin(pi x)) of 0 <= x < 1."""
    return b.op("log", b.div(b.scalar(math.pi, part), b.op("abs", b.op("sin", b.mul(part, math.pi)))))


def _digamma(b: AtenBuilder, x: Value) -> Value:
    """The asymptotic series (5.11.2) ten steps up (5.5.2), by reflection (5.5.4) below 0."""
    low = b.one("less", x, 0.0)
    z = b.choose(low, b.sub(b.scalar(1.0, x), x), x)
    up = b.add(z, 10.0)
    inverse = b.div(b.scalar(1.0, x), b.mul(up, up))
    terms = [-c / (2 * k) for k, c in enumerate(BERNOULLI, 1)]
    found = b.sub(b.add(b.op("log", up), b.mul(inverse, _series(b, inverse, terms))), b.div(b.scalar(0.5, x), up))
    for k in range(10):
        found = b.sub(found, b.div(b.scalar(1.0, x), b.add(z, float(k))))
    part = b.sub(x, b.op("floor", x))
    turned = b.sub(found, b.div(b.scalar(math.pi, x), b.op("tan", b.mul(part, math.pi))))
    found = b.choose(low, turned, found)
    whole = b.op("logical_and", b.one("equal", part, 0.0), b.one("less", x, 0.0))
    found = b.choose(whole, math.nan, found)
    return b.choose(b.one("equal", x, 0.0), b.choose(_negative(b, x), math.inf, b.scalar(-math.inf, x)), found)


def _negative(b: AtenBuilder, x: Value) -> Value:
    return b.one("less", b.div(b.scalar(1.0, x), x), 0.0)


SUMMED = 24
"""Terms of Hurwitz' series before the Euler-Maclaurin formula takes over."""


def _zeta(b: AtenBuilder, s: Value, q: Value) -> Value:
    """Hurwitz' zeta function by the Euler-Maclaurin formula (25.11.5); below 0 for whole s only, as torch has it."""
    odd = b.one("equal", b.one("floor_mod", s, 2.0), 1.0)

    def power(base: Value) -> Value:
        size = b.op("power", b.op("abs", base), b.op("negative", s))
        return b.choose(b.op("logical_and", odd, b.one("less", base, 0.0)), b.op("negative", size), size)

    total = power(q)
    for k in range(1, SUMMED):
        total = b.add(total, power(b.add(q, float(k))))
    last = b.add(q, float(SUMMED))
    end = power(last)
    total = b.add(total, b.div(b.mul(end, last), b.sub(s, 1.0)))
    total = b.add(total, b.mul(end, 0.5))
    factor, step = s, b.div(end, last)
    inverse = b.div(b.scalar(1.0, q), b.mul(last, last))
    for j, number in enumerate(BERNOULLI, 1):
        total = b.add(total, b.mul(b.mul(factor, step), number / math.factorial(2 * j)))
        factor = b.mul(b.mul(factor, b.add(s, 2.0 * j - 1)), b.add(s, 2.0 * j))
        step = b.mul(step, inverse)
    whole = b.one("equal", b.op("floor", q), q)
    below = b.one("less_equal", q, 0.0)
    broken = b.one("not_equal", b.op("floor", s), s)
    total = b.choose(b.op("logical_and", below, broken), math.nan, total)
    total = b.choose(b.op("logical_and", below, whole), math.inf, total)
    total = b.choose(b.one("equal", s, 1.0), math.inf, total)
    return b.choose(b.one("less", s, 1.0), math.nan, total)


@aten_op("lgamma", "special_gammaln")
def lgamma(b: AtenBuilder, self: Value) -> Value:
    return wide(b, _lgamma, self)


@aten_op("digamma", "special_digamma", "special_psi")
def digamma(b: AtenBuilder, self: Value) -> Value:
    return wide(b, _digamma, self)


@aten_op("zeta", "special_zeta")
def zeta(b: AtenBuilder, self: Any, other: Any) -> Value:
    return wide(b, _zeta, self, other)


@aten_op("polygamma", "special_polygamma")
def polygamma(b: AtenBuilder, n: int, self: Value) -> Value:
    """(-1)**(n + 1) n! zeta(n + 1, x) (25.11.12)."""
    if n == 0:
        return digamma(b, self)

    def compute(b: AtenBuilder, x: Value) -> Value:
        sign = -1.0 if n % 2 == 0 else 1.0
        return b.mul(_zeta(b, b.filled(n + 1.0, x.shape, "float64"), x), sign * math.factorial(n))

    return wide(b, compute, self)


# -- error functions -------------------------------------------------------------------------------


def _erfinv(b: AtenBuilder, y: Value) -> Value:
    """A first guess (Winitzki, 2008) and three of Halley's steps."""
    inside = b.op("clip", y, a_min=-1 + 1e-16, a_max=1 - 1e-16)
    line = b.op("log", b.mul(b.sub(b.scalar(1.0, y), inside), b.add(inside, 1.0)))
    a = 0.147
    half = b.add(b.mul(line, 0.5), 2 / (math.pi * a))
    root = b.op("sqrt", b.sub(b.mul(half, half), b.mul(line, 1 / a)))
    x = b.mul(b.op("sqrt", b.op("maximum", b.sub(root, half), b.scalar(0.0, y))), b.op("sign", inside))
    for _ in range(3):
        error = b.sub(b.op("erf", x), inside)
        step = b.mul(b.mul(error, math.sqrt(math.pi) / 2), b.op("exp", b.mul(x, x)))
        x = b.sub(x, b.div(step, b.add(b.mul(x, step), 1.0)))
    x = b.choose(b.one("equal", b.op("abs", y), 1.0), b.mul(y, math.inf), x)
    return b.choose(b.one("greater", b.op("abs", y), 1.0), math.nan, x)


def _erfcx(b: AtenBuilder, x: Value) -> Value:
    """exp(x^2) (1 - erf(x)), the asymptotic series (7.12.1) where the difference has no digits left."""
    inverse = b.div(b.scalar(-0.5, x), b.mul(x, x))
    terms = [1.0]
    for k in range(1, 12):
        terms.append(terms[-1] * (2 * k - 1))
    far = b.div(_series(b, inverse, terms), b.mul(x, math.sqrt(math.pi)))
    near = b.mul(b.op("exp", b.mul(x, x)), b.sub(b.scalar(1.0, x), b.op("erf", x)))
    return b.choose(b.one("greater", x, 4.5), far, near)


@aten_op("erfinv", "special_erfinv", "prims.erf_inv")
def erfinv(b: AtenBuilder, self: Value) -> Value:
    return wide(b, _erfinv, self)


@aten_op("special_ndtri", "prims.ndtri")
def ndtri(b: AtenBuilder, self: Value) -> Value:
    """The inverse of the normal distribution."""

    def compute(b: AtenBuilder, p: Value) -> Value:
        return b.mul(_erfinv(b, b.sub(b.mul(p, 2.0), 1.0)), math.sqrt(2))

    return wide(b, compute, self)


@aten_op("special_erfcx", "prims.erfcx")
def erfcx(b: AtenBuilder, self: Value) -> Value:
    return wide(b, _erfcx, self)


# -- Bessel functions ------------------------------------------------------------------------------

FAR = 40.0
"""Arguments from which asymptotic series have more digits than are kept."""
NODES = 96
"""Steps of the trapezoidal rule over half a period: its error is a Bessel function of that order and more."""


def _over_angles(b: AtenBuilder, x: Value, integrand: Callable[[AtenBuilder, Value, Any], Value]) -> Value:
    """The mean of a periodic function over 0 to pi (10.9.1, 10.32.1)."""
    angles = np.linspace(0, math.pi, NODES + 1)
    weights = np.where((angles == 0) | (angles == angles[-1]), 0.5, 1.0) / NODES
    column = b.op("expand_dims", x, axis=x.rank)
    return b.op("sum", b.mul(integrand(b, column, angles), b.constant(weights)), axis=[x.rank])


def _asymptotic(order: float, count: int) -> list[float]:
    """a_k(order) of Hankel's expansions (10.17.1)."""
    found = [1.0]
    for k in range(1, count):
        found.append(found[-1] * (4 * order * order - (2 * k - 1) ** 2) / (k * 8))
    return found


def _scaled_i(b: AtenBuilder, x: Value, order: int) -> Value:
    """exp(-|x|) I_n(|x|), with the sign of x for odd n."""
    size = b.op("abs", x)
    near_size = b.op("minimum", size, b.scalar(FAR, x))

    def integrand(b: AtenBuilder, v: Value, angles: Any) -> Value:
        grows = b.op("exp", b.mul(v, b.constant(np.cos(angles) - 1)))
        return b.mul(grows, b.constant(np.cos(order * angles)))

    near = _over_angles(b, near_size, integrand)
    far_size = b.op("maximum", size, b.scalar(FAR, x))
    terms = [c * (-1) ** k for k, c in enumerate(_asymptotic(order, 10))]
    inverse = b.div(b.scalar(1.0, x), far_size)
    far = b.mul(_series(b, inverse, terms), b.op("rsqrt", b.mul(far_size, 2 * math.pi)))
    found = b.choose(b.one("less", size, FAR), near, far)
    return b.mul(found, b.op("sign", x)) if order % 2 else found


def _bessel_i(b: AtenBuilder, x: Value, order: int) -> Value:
    return b.mul(_scaled_i(b, x, order), b.op("exp", b.op("abs", x)))


def _bessel_j(b: AtenBuilder, x: Value, order: int) -> Value:
    """By (10.9.1), and by Hankel's expansion (10.17.3) far out."""
    size = b.op("abs", x)

    def integrand(b: AtenBuilder, v: Value, angles: Any) -> Value:
        return b.op("cos", b.sub(b.constant(order * angles), b.mul(v, b.constant(np.sin(angles)))))

    near = _over_angles(b, b.op("minimum", size, b.scalar(FAR, x)), integrand)
    far_size = b.op("maximum", size, b.scalar(FAR, x))
    terms = _asymptotic(order, 10)
    inverse = b.div(b.scalar(1.0, x), far_size)
    square = b.mul(inverse, inverse)
    even = _series(b, square, [c * (-1) ** k for k, c in enumerate(terms[::2])])
    odd = b.mul(_series(b, square, [c * (-1) ** k for k, c in enumerate(terms[1::2])]), inverse)
    phase = b.sub(far_size, (order / 2 + 0.25) * math.pi)
    wave = b.sub(b.mul(even, b.op("cos", phase)), b.mul(odd, b.op("sin", phase)))
    far = b.mul(wave, b.op("sqrt", b.mul(inverse, 2 / math.pi)))
    found = b.choose(b.one("less", size, FAR), near, far)
    return b.mul(found, b.op("sign", x)) if order % 2 else found


NEAR = 12.0
"""Arguments up to which the power series of Y_n keep 12 digits; from there on Hankel's expansion has 10 and more."""


def _bessel_y(b: AtenBuilder, x: Value, order: int) -> Value:
    """Y_0 and Y_1 by their power series (10.8.1), and by Hankel's expansion (10.17.4) far out; NaN below 0."""
    size = b.op("clip", x, a_min=1e-300, a_max=NEAR)
    harmonic, terms = -EULER if order == 0 else 1 - 2 * EULER, list[float]()
    for k in range(36):
        # psi(k + 1) + psi(k + n + 1), halved for n = 0
        terms.append((-1) ** k * harmonic / (math.factorial(k) * math.factorial(k + order)))
        harmonic += 1 / (k + 1) + (1 / (k + 2) if order else 0)
    quarter = b.mul(b.mul(size, size), 0.25)
    logs = b.mul(b.op("log", b.mul(size, 0.5)), 2 / math.pi)
    near = b.mul(logs, _bessel_j(b, size, order))
    sums = _series(b, quarter, terms)
    if order:
        near = b.sub(b.sub(near, b.mul(b.mul(sums, size), 0.5 / math.pi)), b.div(b.scalar(2 / math.pi, x), size))
    else:
        near = b.sub(near, b.mul(sums, 2 / math.pi))
    far_size = b.op("maximum", x, b.scalar(NEAR, x))
    signs = [c * (-1) ** (k // 2) for k, c in enumerate(_asymptotic(order, 22))]
    inverse = b.div(b.scalar(1.0, x), far_size)
    square = b.mul(inverse, inverse)
    even, odd = _series(b, square, signs[::2]), b.mul(_series(b, square, signs[1::2]), inverse)
    phase = b.sub(far_size, (order / 2 + 0.25) * math.pi)
    wave = b.add(b.mul(even, b.op("sin", phase)), b.mul(odd, b.op("cos", phase)))
    found = b.choose(b.one("less", x, NEAR), near, b.mul(wave, b.op("sqrt", b.mul(inverse, 2 / math.pi))))
    found = b.choose(b.one("equal", x, 0.0), b.scalar(-math.inf, x), found)
    return b.choose(b.one("less", x, 0.0), math.nan, found)


WIDE = 20.0
"""Arguments up to which the integrand of K_n is wider than a step of its sum."""


def _scaled_k(b: AtenBuilder, x: Value, order: float) -> Value:
    """exp(x) K_n(x) by the trapezoidal rule on (10.32.9), whose integrand falls doubly exponentially, for so long as it
    is wider than the steps; far out by Hankel's expansion (10.40.2)."""
    step, given = 0.15, x
    x = b.op("minimum", given, b.scalar(WIDE, given))
    t = np.arange(200) * step
    weights = np.where(t == 0, 0.5, 1.0) * step * np.cosh(order * t)
    column = b.op("expand_dims", x, axis=x.rank)
    falls = b.op("exp", b.mul(column, b.constant(1 - np.cosh(t))))
    found = b.op("sum", b.mul(falls, b.constant(weights)), axis=[x.rank])
    far = b.op("maximum", given, b.scalar(WIDE, given))
    inverse = b.div(b.scalar(1.0, x), far)
    expanded = b.mul(_series(b, inverse, _asymptotic(order, 16)), b.op("sqrt", b.mul(inverse, math.pi / 2)))
    found = b.choose(b.one("greater", given, WIDE), expanded, found)
    found = b.choose(b.one("equal", given, 0.0), math.inf, found)
    return b.choose(b.one("less", given, 0.0), math.nan, found)


def _register(function: Callable[[AtenBuilder, Value, int], Value], order: int, *names: str) -> None:
    @aten_op(*names)
    def convert(b: AtenBuilder, self: Value) -> Value:
        def compute(b: AtenBuilder, x: Value) -> Value:
            return function(b, x, order)

        return wide(b, compute, self)


_register(_bessel_i, 0, "i0", "special_i0", "special_modified_bessel_i0", "prims.bessel_i0")
_register(_bessel_i, 1, "special_i1", "special_modified_bessel_i1", "prims.bessel_i1")
_register(_scaled_i, 0, "special_i0e", "prims.bessel_i0e")
_register(_scaled_i, 1, "special_i1e", "prims.bessel_i1e")
_register(_bessel_j, 0, "special_bessel_j0", "prims.bessel_j0")
_register(_bessel_j, 1, "special_bessel_j1", "prims.bessel_j1")
_register(_bessel_y, 0, "special_bessel_y0")
_register(_bessel_y, 1, "special_bessel_y1")
_register(_scaled_k, 0, "special_scaled_modified_bessel_k0")
_register(_scaled_k, 1, "special_scaled_modified_bessel_k1")


@aten_op("special_modified_bessel_k0", "special_modified_bessel_k1")
def modified_bessel_k(b: AtenBuilder, self: Value) -> Value:
    assert b.call is not None
    order = int(b.call.packet[-1])

    def compute(b: AtenBuilder, x: Value) -> Value:
        return b.mul(_scaled_k(b, x, order), b.op("exp", b.op("negative", x)))

    return wide(b, compute, self)


AI, MINUS_AI_PRIME = 0.3550280538878172, 0.2588194037928068
"""Ai(0) and -Ai'(0) (9.2.3, 9.2.4)."""
OSCILLATES, FALLS = 7.0, 2.0
"""Between -7 and 2 the power series of Ai keep ten digits; beyond, its expansions do."""


def _airy_ai(b: AtenBuilder, x: Value) -> Value:
    """Ai by its power series (9.4.1), by K_1/3 to the right (9.6.2), by its expansion to the left (9.7.9)."""
    near = b.op("clip", x, a_min=-OSCILLATES, a_max=FALLS)
    cube = b.mul(near, b.mul(near, near))
    even, odd = [AI], [MINUS_AI_PRIME]
    for k in range(1, 32):
        even.append(even[-1] / ((3 * k - 1) * 3 * k))
        odd.append(odd[-1] / (3 * k * (3 * k + 1)))
    series = b.sub(_series(b, cube, even), b.mul(near, _series(b, cube, odd)))

    def action(z: Value) -> Value:
        return b.mul(b.mul(z, b.op("sqrt", z)), 2 / 3)

    right = b.op("clip", x, a_min=FALLS, a_max=1e200)
    falls = b.mul(_scaled_k(b, action(right), 1 / 3), b.op("exp", b.op("negative", action(right))))
    falls = b.mul(b.mul(falls, b.op("sqrt", right)), 1 / (math.sqrt(3) * math.pi))
    left = b.op("maximum", b.op("negative", x), b.scalar(OSCILLATES, x))
    terms = [1.0]
    for k in range(1, 20):
        terms.append(terms[-1] * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / ((2 * k - 1) * 216 * k))
    signed = [c * (-1) ** (k // 2) for k, c in enumerate(terms)]
    inverse = b.div(b.scalar(1.0, x), action(left))
    square = b.mul(inverse, inverse)
    phase = b.sub(action(left), math.pi / 4)
    cosine = b.mul(b.op("cos", phase), _series(b, square, signed[::2]))
    sine = b.mul(b.op("sin", phase), b.mul(_series(b, square, signed[1::2]), inverse))
    waves = b.div(b.mul(b.add(cosine, sine), 1 / math.sqrt(math.pi)), b.op("sqrt", b.op("sqrt", left)))
    found = b.choose(b.one("less", x, -OSCILLATES), waves, b.choose(b.one("greater", x, FALLS), falls, series))
    return b.choose(b.op("isnan", x), x, found)


@aten_op("special_airy_ai")
def airy_ai(b: AtenBuilder, x: Value) -> Value:
    return wide(b, _airy_ai, x)


@aten_op("special_spherical_bessel_j0", "prims.spherical_bessel_j0")
def spherical_bessel_j0(b: AtenBuilder, self: Value) -> Value:
    def compute(b: AtenBuilder, x: Value) -> Value:
        none = b.one("equal", x, 0.0)
        found = b.choose(none, 1.0, b.div(b.op("sin", x), b.choose(none, 1.0, x)))
        return b.choose(b.op("isinf", x), 0.0, found)

    return wide(b, compute, self)


# -- Chebyshev polynomials -------------------------------------------------------------------------


def _chebyshev(b: AtenBuilder, x: Value, n: Value, kind: str) -> Value:
    """Of the four kinds, by angles (18.5.1 to 18.5.4); beyond 1 by hyperbolic ones, below -1 by their symmetry."""
    order = b.op("trunc", n)
    sign = b.choose(b.one("equal", b.one("floor_mod", order, 2.0), 1.0), b.scalar(-1.0, x), 1.0)
    size = b.op("abs", x)
    flipped = {"t": "t", "u": "u", "v": "w", "w": "v"}[kind]

    def ratio(angle: Value, kind: str, sine: str, cosine: str) -> Value:
        if kind == "t":
            return b.op(cosine, b.mul(order, angle))
        if kind == "u":
            return b.div(b.op(sine, b.mul(b.add(order, 1.0), angle)), b.op(sine, angle))
        function = cosine if kind == "v" else sine
        return b.div(b.op(function, b.mul(b.add(order, 0.5), angle)), b.op(function, b.mul(angle, 0.5)))

    inside = ratio(b.op("acos", b.op("clip", x, a_min=-1.0, a_max=1.0)), kind, "sin", "cos")
    grown = b.op("acosh", b.op("maximum", size, b.scalar(1.0, x)))
    above, below = ratio(grown, kind, "sinh", "cosh"), b.mul(ratio(grown, flipped, "sinh", "cosh"), sign)
    at_one = {"t": 1.0, "v": 1.0}.get(kind)
    one: Any = at_one if at_one is not None else b.add(order, 1.0) if kind == "u" else b.add(b.mul(order, 2.0), 1.0)
    minus: Any = {"t": sign, "w": sign}.get(kind)
    if minus is None:
        minus = b.mul(b.add(order, 1.0) if kind == "u" else b.add(b.mul(order, 2.0), 1.0), sign)
    found = b.choose(b.one("less", size, 1.0), inside, b.choose(b.one("greater", x, 1.0), above, below))
    found = b.choose(b.one("equal", x, 1.0), one, b.choose(b.one("equal", x, -1.0), minus, found))
    return b.choose(b.one("less", order, 0.0), 0.0, found)


@aten_op(*(f"special_{kind}chebyshev_polynomial_{k}" for kind in ("", "shifted_") for k in "tuvw"))
def chebyshev(b: AtenBuilder, x: Any, n: Any) -> Value:
    assert b.call is not None
    kind, shifted = b.call.packet[-1], "shifted" in b.call.packet

    def compute(b: AtenBuilder, x: Value, n: Value) -> Value:
        shape = b.common_shape(x.shape, n.shape)
        x, n = b.broadcast(x, shape), b.broadcast(n, shape)
        return _chebyshev(b, b.sub(b.mul(x, 2.0), 1.0) if shifted else x, n, kind)

    return wide(b, compute, x, n)


# -- numbers and their signs -----------------------------------------------------------------------


@aten_op("angle")
def angle(b: AtenBuilder, self: Value) -> Value:
    """pi for negative numbers."""
    (x,) = b.floats(self)
    return b.choose(b.op("isnan", x), x, b.choose(b.one("less", x, 0.0), b.tensor(math.pi, x.dtype), 0.0))


@aten_op("nextafter")
def nextafter(b: AtenBuilder, self: Value, other: Value) -> Value:
    """The next number in the direction of another: one more or less of the bits."""
    x, y = b.floats(self, other)
    shape = b.common_shape(x.shape, y.shape)
    x, y = b.broadcast(x, shape), b.broadcast(y, shape)
    whole = {"float32": "int32", "float64": "int64"}.get(x.dtype)
    if whole is None:
        raise b.unsupported(f"{x.dtype} is not supported")
    bits = b.op("reinterpret", x, dtype=whole)
    outwards = b.op("equal", b.op("greater", y, x), b.one("greater", x, 0.0))
    moved = b.op("reinterpret", b.choose(outwards, b.add(bits, 1), b.sub(bits, 1)), dtype=x.dtype)
    least = float(np.finfo(x.dtype).smallest_subnormal)
    tiny = b.choose(b.one("greater", y, 0.0), b.tensor(least, x.dtype), -least)
    found = b.choose(b.one("equal", x, 0.0), tiny, moved)
    found = b.choose(b.op("equal", x, y), y, found)
    return b.choose(b.op("logical_or", b.op("isnan", x), b.op("isnan", y)), math.nan, found)


@aten_op("frexp")
def frexp(b: AtenBuilder, self: Value) -> tuple[Value, Value]:
    """A fraction of 0.5 to 1 and the power of two that it is taken times, from the bits."""
    wide = b.tensor(self, "float64")
    # The leading bit of a number below the normal ones stands at no fixed place: 2^54 times as much is a normal one.
    small = b.one("less", b.op("abs", wide), 2.0**-1022)
    bits = b.op("reinterpret", b.choose(small, b.mul(wide, 2.0**54), wide), dtype="int64")
    field = b.one("bitwise_and", b.one("right_shift", bits, 52), 0x7FF)
    exponent = b.sub(b.sub(field, 1022), b.mul(b.cast(small, "int64"), 54))
    # The same sign and fraction with the exponent of 0.5.
    rest = b.one("bitwise_or", b.one("bitwise_and", bits, ~(0x7FF << 52)), 1022 << 52)
    plain = b.op("logical_and", b.op("isfinite", wide), b.one("not_equal", wide, 0.0))
    fraction = b.choose(plain, b.op("reinterpret", rest, dtype="float64"), wide)
    return b.cast(fraction, self.dtype), b.cast(b.choose(plain, exponent, 0), "int32")
