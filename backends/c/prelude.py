"""Functions in C that the text of kernels calls: each is defined where something uses it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lamina.backends.c.rows import TYPES, UNSIGNED, WHOLE, WRAPPING

MATH = frozenset(
    f"{name}{suffix}"
    for name in (
        "sqrt fabs floor ceil trunc rint round exp exp2 expm1 log log2 log1p log10 cbrt erf sin cos tan asin acos atan"
        " sinh cosh tanh asinh acosh atanh atan2 pow copysign"
    ).split()
    for suffix in ("", "f")
)
"""Functions of <math.h> that rows and the prelude call."""

_CALL = re.compile(r"\b([a-z_][a-z0-9_]*)\(")


def inline_function(result: str, name: str, parameters: str, *body: str) -> str:
    """A function of the prelude, by the lines of its body."""
    lines = "".join(f"  {line}\n" for line in body)
    return f"static inline {result} {name}({parameters}) {{\n{lines}}}\n"


def _integers(n: str) -> dict[str, str]:
    """Divisions and shifts of one type of integers, defined for all operands."""
    t, u, v = TYPES[n], UNSIGNED[n], WRAPPING[n]
    bits = "64" if n == "index" else n[1:]
    pair = f"{t} a, {t} b"
    bodies = {
        "div": (f"return b == 0 ? 0 : b == -1 ? ({t})(({v})0 - ({v})a) : ({t})(a / b);",),
        "rem": (f"return b == 0 || b == -1 ? 0 : ({t})(a % b);",),
        "udiv": (f"return b == 0 ? 0 : ({t})(({u})a / ({u})b);",),
        "urem": (f"return b == 0 ? 0 : ({t})(({u})a % ({u})b);",),
        "floordiv": (
            f"const {t} q = lamina_div_{n}(a, b), r = lamina_rem_{n}(a, b);",
            f"return ({t})(r != 0 && (r ^ b) < 0 ? q - 1 : q);",
        ),
        "ceildiv": (
            f"const {t} q = lamina_div_{n}(a, b), r = lamina_rem_{n}(a, b);",
            f"return ({t})(r != 0 && (r ^ b) >= 0 ? q + 1 : q);",
        ),
        "shl": (f"return ({u})b < {bits} ? ({t})(({v})a << b) : 0;",),
        "shr": (f"return ({t})(a >> (({u})b < {bits} ? b : {bits} - 1));",),
        "ushr": (f"return ({u})b < {bits} ? ({t})(({u})a >> b) : 0;",),
    }
    return {
        f"lamina_{name}_{n}": inline_function(t, f"lamina_{name}_{n}", pair, *body) for name, body in bodies.items()
    }


def _floats(n: str) -> dict[str, str]:
    """Extremes, multiply-adds and conversions of one type of floats."""
    t, suffix = TYPES[n], "f" if n == "f32" else ""
    bodies = {
        "maximum": "a < b || b != b ? b : a",
        "minimum": "a > b || b != b ? b : a",
        "maxnum": "a < b || a != a ? b : a",
        "minnum": "a > b || a != a ? b : a",
    }
    found = {
        f"lamina_{name}_{n}": inline_function(t, f"lamina_{name}_{n}", f"{t} a, {t} b", f"return {body};")
        for name, body in bodies.items()
    }
    fast = "__FP_FAST_FMAF" if n == "f32" else "__FP_FAST_FMA"
    found[f"lamina_fma_{n}"] = (
        f"/* Rounded once where the machine has it in an instruction. */\n"
        f"#if defined __GNUC__ && (defined {fast} || defined __FMA__ || defined __aarch64__)\n"
        f"#define lamina_fma_{n}(a, b, c) __builtin_fma{suffix}(a, b, c)\n"
        f"#else\n#define lamina_fma_{n}(a, b, c) ((a) * (b) + (c))\n#endif\n"
    )
    # What the integer does not hold gives its least number; short ones are cut off one of 32 bits.
    for bits in (32, 64):
        low, high = f"-{2.0 ** (bits - 1):.1f}{suffix}", f"{2.0 ** (bits - 1):.1f}{suffix}"
        least = f"INT{bits}_MIN"
        name = f"lamina_i{bits}_of_{n}"
        body = f"return x >= {low} && x < {high} ? (int{bits}_t)x : {least};"
        found[name] = inline_function(f"int{bits}_t", name, f"{t} x", body)
    for result, wide in (("i8", 32), ("i16", 32), ("u8", 32), ("u16", 32), ("u32", 64)):
        name, integer = f"lamina_{result}_of_{n}", f"int{result[1:]}_t"
        body = f"return ({integer})lamina_i{wide}_of_{n}(x);"
        found[name] = inline_function(integer, name, f"{t} x", body)
    above = f"{2.0**63:.1f}{suffix}"
    beyond = f"(int64_t)((uint64_t)lamina_i64_of_{n}(x - {above}) + ((uint64_t)1 << 63))"
    body = f"return x < {above} ? lamina_i64_of_{n}(x) : {beyond};"
    found[f"lamina_u64_of_{n}"] = inline_function("int64_t", f"lamina_u64_of_{n}", f"{t} x", body)
    return found


def _bits(result: str, source: str) -> dict[str, str]:
    """The same bits as another type."""
    name = f"lamina_{result}_bits_{source}"
    pun = f"union {{ {TYPES[source]} given; {TYPES[result]} wanted; }} u;"
    return {name: inline_function(TYPES[result], name, f"{TYPES[source]} x", pun, "u.given = x;", "return u.wanted;")}


_SIXTEEN = {
    "lamina_f32_of_bf16": inline_function(
        "float", "lamina_f32_of_bf16", "uint16_t x", "return lamina_f32_bits_i32((int32_t)((uint32_t)x << 16));"
    ),
    "lamina_bf16_of_f32": inline_function(
        "uint16_t",
        "lamina_bf16_of_f32",
        "float x",
        "const uint32_t bits = (uint32_t)lamina_i32_bits_f32(x);",
        "if (x != x) return (uint16_t)(bits >> 16 | 0x40);",
        "return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);",
    ),
    "lamina_f32_of_f16": inline_function(
        "float",
        "lamina_f32_of_f16",
        "uint16_t x",
        "const uint32_t sign = (uint32_t)(x & 0x8000) << 16, rest = (uint32_t)(x & 0x7fff) << 13;",
        "uint32_t bits = rest + 0x38000000;",
        "if (rest >= 0x0f800000) /* infinity, NaN */",
        "  bits = (bits + 0x38000000) | (rest > 0x0f800000 ? 0x00400000 : 0);",
        "else if (rest < 0x00800000) /* zero, subnormal */",
        "  bits = (uint32_t)lamina_i32_bits_f32(lamina_f32_bits_i32((int32_t)(bits + 0x00800000)) -"
        " lamina_f32_bits_i32(0x38800000));",
        "return lamina_f32_bits_i32((int32_t)(bits | sign));",
    ),
    "lamina_f16_of_f32": inline_function(
        "uint16_t",
        "lamina_f16_of_f32",
        "float x",
        "const uint32_t bits = (uint32_t)lamina_i32_bits_f32(x), rest = bits & 0x7fffffff;",
        "uint32_t half;",
        "if (rest > 0x7f800000) /* NaN */",
        "  half = 0x7e00 | (rest >> 13 & 0x1ff);",
        "else if (rest >= 0x47800000) /* infinity */",
        "  half = 0x7c00;",
        "else if (rest < 0x38800000) /* subnormal */",
        "  half = (uint32_t)lamina_i32_bits_f32(lamina_f32_bits_i32((int32_t)rest) + 0.5f) - 0x3f000000;",
        "else",
        "  half = (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13;",
        "return (uint16_t)(half | (bits >> 16 & 0x8000));",
    ),
    # The last bit is set where digits were lost, so that a second rounding sees that they were there.
    "lamina_f32_odd_f64": inline_function(
        "float",
        "lamina_f32_odd_f64",
        "double x",
        "const float near = (float)x;",
        "const int32_t bits = lamina_i32_bits_f32(near);",
        "if ((bits & 1) != 0 || (double)near == x || x != x) return near;",
        "return lamina_f32_bits_i32(fabs((double)near) < fabs(x) ? bits + 1 : bits - 1);",
    ),
    "lamina_f16_of_f64": inline_function(
        "uint16_t", "lamina_f16_of_f64", "double x", "return lamina_f16_of_f32(lamina_f32_odd_f64(x));"
    ),
    "lamina_bf16_of_f64": inline_function(
        "uint16_t", "lamina_bf16_of_f64", "double x", "return lamina_bf16_of_f32(lamina_f32_odd_f64(x));"
    ),
}

_PAIRS = (("i32", "f32"), ("f32", "i32"), ("i64", "f64"), ("f64", "i64"))
_INDEX = {
    "lamina_floordiv": inline_function(
        "int64_t", "lamina_floordiv", "int64_t a, int64_t b", "return a >= 0 ? a / b : -1 - (-1 - a) / b;"
    ),
    "lamina_mod": inline_function(
        "int64_t", "lamina_mod", "int64_t a, int64_t b", "return a >= 0 ? a % b : b - 1 - (-1 - a) % b;"
    ),
    "lamina_min": inline_function("int64_t", "lamina_min", "int64_t a, int64_t b", "return a < b ? a : b;"),
}
"""Of index forms, by positive divisors."""

PRELUDE: dict[str, str] = {
    **_INDEX,
    **{name: text for n in WHOLE for name, text in _integers(n).items()},
    **{name: text for result, source in _PAIRS for name, text in _bits(result, source).items()},
    **{name: text for n in ("f32", "f64") for name, text in _floats(n).items()},
    **_SIXTEEN,
}
"""Each function behind those that it calls."""


def calls_in(text: str) -> set[str]:
    """The functions that a text calls."""
    return set(_CALL.findall(text))


def prelude_of(texts: Iterable[str], prelude: dict[str, str] = PRELUDE) -> tuple[list[str], bool]:
    """The functions of a prelude that some texts need, in order, and whether <math.h> is needed."""
    called: set[str] = set()
    for text in texts:
        called |= calls_in(text)
    found: list[str] = []
    for name, text in reversed(prelude.items()):
        if name in called:
            called |= calls_in(text)
            found.append(text)
    return found[::-1], not called.isdisjoint(MATH)
