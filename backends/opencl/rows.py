"""Spelling of scalars in OpenCL C where it is not C's, and what the text defines.

Functions have one name for all types of floats, there is no <stdint.h>, and 64 bits are `long`. Floats of 16 bits are
held as ushort, which takes no extension, computed in f32 and rounded, as in C.
"""

from __future__ import annotations

from xdsl.dialects import math

from lamina.backends.c.device import WIDE_LANES, WIDEST
from lamina.backends.c.prelude import PRELUDE as OF_C
from lamina.backends.c.prelude import inline_function
from lamina.backends.c.rows import SCALAR_ROWS, Spelling, library_rows, overloaded

TYPES = {
    "f16": "ushort",
    "bf16": "ushort",
    "f32": "float",
    "f64": "double",
    "i1": "bool",
    "i8": "char",
    "i16": "short",
    "i32": "int",
    "i64": "long",
    "index": "index_t",
}
IN_MEMORY = {**TYPES, "i1": "uchar"}
"""The type of an element of a buffer: a bool has no size that the host knows."""
UNSIGNED = {"i1": "bool", "i8": "uchar", "i16": "ushort", "i32": "uint", "i64": "ulong", "index": "ulong"}
WRAPPING = {**dict.fromkeys(("i1", "i8", "i16", "i32"), "uint"), **dict.fromkeys(("i64", "index"), "ulong")}

OPENCL = Spelling(
    "OpenCL C",
    TYPES,
    UNSIGNED,
    WRAPPING,
    {**SCALAR_ROWS, **library_rows(overloaded), math.FmaOp: overloaded("fma", 3)},
    "L",
)

_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8}
WIDE = {
    (name, lanes): f"{TYPES[name]}{lanes}"
    for name, size in _BYTES.items()
    for lanes in WIDE_LANES
    if lanes * size <= WIDEST
}
"""Vector types that one instruction loads or stores."""

NUMBERS = {"threadIdx": "get_local_id", "blockIdx": "get_group_id"}
"""The functions that tell a work-item its number in its group, and the group's."""

STDINT = {f"int{bits}_t": TYPES[f"i{bits}"] for bits in (8, 16, 32, 64)} | {
    f"uint{bits}_t": UNSIGNED[f"i{bits}"] for bits in (8, 16, 32, 64)
}
"""The types of integers as functions that are C's name them."""
LEAST = {"INT8_MIN": "CHAR_MIN", "INT16_MIN": "SHRT_MIN", "INT32_MIN": "INT_MIN", "INT64_MIN": "LONG_MIN"}
"""The least numbers of them."""


def _bits(result: str, source: str) -> dict[str, str]:
    """The same bits as another type."""
    name, of = f"lamina_{result}_bits_{source}", TYPES[source]
    return {name: inline_function(TYPES[result], name, f"{of} x", f"return as_{TYPES[result]}(x);")}


PRELUDE = {
    **OF_C,
    **_bits("i32", "f32"),
    **_bits("f32", "i32"),
    **_bits("i64", "f64"),
    **_bits("f64", "i64"),
    "lamina_f32_of_f16": inline_function(
        "float", "lamina_f32_of_f16", "uint16_t x", "return vload_half(0, (const half*)&x);"
    ),
    "lamina_f16_of_f32": inline_function(
        "uint16_t",
        "lamina_f16_of_f32",
        "float x",
        "uint16_t bits;",
        "vstore_half_rte(x, 0, (half*)&bits);",
        "return bits;",
    ),
}
"""The functions of C, with what OpenCL C has for them: each behind those that it calls."""

_VECTORS = {
    f"{t}{n}" for t in "char uchar short ushort int uint long ulong float double half".split() for n in (2, 3, 4, 8, 16)
}
KEYWORDS = _VECTORS | frozenset(
    "kernel global local constant private generic half uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t "
    "event_t sampler_t pipe read_only write_only read_write as_float as_double as_int as_long INFINITY NAN MAXFLOAT "
    "HUGE_VAL HUGE_VALF".split()
)
"""Words beyond those of C."""

FUNCTIONS = frozenset(
    "get_work_dim get_global_size get_global_id get_local_size get_local_id get_num_groups get_group_id "
    "get_global_offset barrier mem_fence read_mem_fence write_mem_fence prefetch printf vload_half vstore_half_rte "
    "acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign cos cosh cospi erfc erf "
    "exp exp2 exp10 expm1 fabs fdim floor fma fmax fmin fmod fract frexp hypot ilogb ldexp lgamma lgamma_r log log2 "
    "log10 log1p logb mad maxmag minmag modf nan nextafter pow pown powr remainder remquo rint rootn round rsqrt sin "
    "sincos sinh sinpi sqrt tan tanh tanpi tgamma trunc abs abs_diff add_sat hadd rhadd clamp clz ctz mad_hi mad_sat "
    "max min mul_hi rotate sub_sat upsample popcount mad24 mul24 degrees mix radians step smoothstep sign cross dot "
    "distance length normalize fast_distance fast_length fast_normalize isequal isnotequal isgreater isless isfinite "
    "isinf isnan isnormal isordered isunordered signbit any all bitselect select shuffle shuffle2 vec_step".split()
) | {f"{kind}{n}" for kind in ("vload", "vstore") for n in (2, 3, 4, 8, 16)}
"""Functions that are built in, which drivers may have as macros."""
