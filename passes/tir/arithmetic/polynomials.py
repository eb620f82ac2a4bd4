"""Coefficients of the polynomials in `tir-expand-math`, lowest power first, each a float32.

They are minimax approximations on the stated interval, computed by `python bench/math_ulp.py --fit`: Lawson's
iteratively reweighted least squares at 400 Chebyshev nodes, with targets from 50-digit arithmetic. Coefficients are
rounded to float32 one after another, lowest first, and what is left is fitted again after each rounding. `error` is
the largest relative error of the approximated function itself that this leaves, before any rounding at run time.

An interval is 1e-4 to 1e-3 wider than the reduction needs, so that rounding there does no harm.
"""

from __future__ import annotations

from typing import NamedTuple


class Polynomial(NamedTuple):
    """`coefficients[n] * x**n` summed, for x in the interval."""

    low: float
    high: float
    coefficients: tuple[float, ...]
    error: float


# e^r;  |r| <= log(2) / 2; the first two are given
EXP = Polynomial(
    -0.34692,
    0.34692,
    (
        1.0,
        1.0,
        0.4999999403953552,
        0.1666652113199234,
        0.04166827350854874,
        0.008368685841560364,
        0.0013820137828588486,
    ),
    3.2e-9,
)

# 2^r;  |r| <= 1/2; the first is given
EXP2 = Polynomial(
    -0.5005,
    0.5005,
    (
        1.0,
        0.6931471824645996,
        0.24022647738456726,
        0.05550359562039375,
        0.009618503041565418,
        0.0013390997191891074,
        0.00015327802975662053,
    ),
    3.1e-9,
)

# (e^r - 1 - r) / r^2;  |r| <= log(2) / 2; the error is that of e^r - 1
EXPM1 = Polynomial(
    -0.34692,
    0.34692,
    (0.5, 0.1666654795408249, 0.04166683927178383, 0.00836612656712532, 0.0013899574987590313),
    1.5e-8,
)

# (log(1 + f) - f) / f^2;  1 + f between the roots of 1/2 and 2; the error is that of log(1 + f)
LOG1P = Polynomial(
    -0.2929933,
    0.4143136,
    (
        -0.5,
        0.333339124917984,
        -0.2500133812427521,
        0.19962990283966064,
        -0.16577492654323578,
        0.14915485680103302,
        -0.14268621802330017,
        0.08699868619441986,
    ),
    3.2e-8,
)

# (log2(1 + f) - L f) / f^2 with L = log2(e);  same f; the error is that of log2(1 + f)
LOG2_1P = Polynomial(
    -0.2929933,
    0.4143136,
    (
        -0.7213473916053772,
        0.48090898990631104,
        -0.3607006072998047,
        0.28795236349105835,
        -0.23901310563087463,
        0.2154908925294876,
        -0.20680661499500275,
        0.12584024667739868,
    ),
    2.9e-8,
)

# log(1 - erf(a)) / a + C with C = 2 / sqrt(pi) as a float32;  0 <= a <= 4; the error is that of erf(a)
LOG_ERFC = Polynomial(
    0.0,
    4.0,
    (
        5.4120253167866395e-08,
        -0.6366193890571594,
        -0.10277775675058365,
        0.01915278658270836,
        0.00016090201097540557,
        -0.0016675229417160153,
        0.000633101852145046,
        -0.00011771386925829574,
        9.264203072234523e-06,
    ),
    4.1e-9,
)
