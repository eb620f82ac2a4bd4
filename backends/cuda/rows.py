"""Spelling of each op on scalars in CUDA C: one row an op, a template over its operands.

A row may differ by the type of the result (`{}` of the operands for comparisons and conversions): the key is the type's
name, `f` any float, `i` any integer, and the longest that fits counts. Floats of 16 bits are computed in f32 and
rounded, as CUDA's own operators do. `{u}` is the unsigned type of the operands, `{t}` the type of the result, `{v}` the
unsigned one. Signed arithmetic that may wrap is done on unsigned numbers, since C leaves it undefined.
"""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.ir import Operation

from lamina.backends.c.rows import Row, library_rows, suffixed

TYPES = {
    "f16": "__half",
    "bf16": "__nv_bfloat16",
    "f32": "float",
    "f64": "double",
    "i1": "bool",
    "i8": "signed char",
    "i16": "short",
    "i32": "int",
    "i64": "long long",
}
UNSIGNED = {
    "i1": "bool",
    "i8": "unsigned char",
    "i16": "unsigned short",
    "i32": "unsigned int",
    "i64": "unsigned long long",
}
NARROW = {"f16": ("__half2float", "__float2half_rn"), "bf16": ("__bfloat162float", "__float2bfloat16_rn")}
"""The functions that convert a float of 16 bits to f32 and back."""


def _wrapping(sign: str) -> Row:
    return {"i1": f"(({{0}} {sign} {{1}}) & 1)", "i": f"({{t}})(({{u}}){{0}} {sign} ({{u}}){{1}})"}


def _bits(sign: str) -> Row:
    return {"i": f"({{t}})({{0}} {sign} {{1}})"}


def _unsigned(sign: str) -> Row:
    return {"i": f"({{t}})(({{u}}){{0}} {sign} ({{u}}){{1}})"}


def _float(sign: str) -> Row:
    return {"f": f"({{0}} {sign} {{1}})"}


# fmt: off
ROWS: dict[type[Operation], Row] = {
    arith.AddfOp: _float("+"), arith.SubfOp: _float("-"), arith.MulfOp: _float("*"), arith.DivfOp: _float("/"),
    arith.NegfOp: {"f": "(-{0})"},
    arith.MaximumfOp: {"f": "lamina_maximum({0}, {1})"}, arith.MinimumfOp: {"f": "lamina_minimum({0}, {1})"},
    arith.MaxnumfOp: suffixed("fmax", 2), arith.MinnumfOp: suffixed("fmin", 2),
    arith.AddiOp: _wrapping("+"), arith.SubiOp: _wrapping("-"), arith.MuliOp: _wrapping("*"),
    arith.DivSIOp: {"i": "({t})({0} / {1})"}, arith.RemSIOp: {"i": "({t})({0} % {1})"},
    arith.DivUIOp: _unsigned("/"), arith.RemUIOp: _unsigned("%"),
    arith.FloorDivSIOp: {"i": "({t})lamina_floordiv({0}, {1})"},
    arith.AndIOp: _bits("&"), arith.OrIOp: _bits("|"), arith.XOrIOp: _bits("^"),
    arith.ShLIOp: {"i": "({t})(({u}){0} << {1})"}, arith.ShRSIOp: {"i": "({t})({0} >> {1})"},
    arith.ShRUIOp: {"i": "({t})(({u}){0} >> {1})"},
    arith.MaxSIOp: {"i": "({0} > {1} ? {0} : {1})"}, arith.MinSIOp: {"i": "({0} < {1} ? {0} : {1})"},
    arith.MaxUIOp: {"i": "(({u}){0} > ({u}){1} ? {0} : {1})"},
    arith.MinUIOp: {"i": "(({u}){0} < ({u}){1} ? {0} : {1})"},
    arith.SelectOp: {"f": "({0} ? {1} : {2})", "i": "({0} ? {1} : {2})"},
    arith.ExtSIOp: {"i": "({t}){0}"}, arith.ExtUIOp: {"i": "({t})({u}){0}"},
    arith.TruncIOp: {"i1": "({0} & 1)", "i": "({t}){0}"},
    arith.IndexCastOp: {"i": "({t}){0}", "index": "(index_t){0}"},
    arith.SIToFPOp: {"f32": "(float){0}", "f64": "(double){0}"},
    arith.UIToFPOp: {"f32": "(float)({u}){0}", "f64": "(double)({u}){0}"},
    arith.FPToSIOp: {"i": "({t}){0}"}, arith.FPToUIOp: {"i": "({t})({v}){0}"},
    arith.ExtFOp: {"f": "({t}){0}"}, arith.TruncFOp: {"f": "({t}){0}"},
    **library_rows(suffixed), math.FmaOp: suffixed("fma", 3),
}
# fmt: on

BITCASTS = {
    ("f32", "i32"): "__float_as_int({0})",
    ("i32", "f32"): "__int_as_float({0})",
    ("f64", "i64"): "__double_as_longlong({0})",
    ("i64", "f64"): "__longlong_as_double({0})",
}

BARRIERS = {"shared": "__syncthreads();", "global": "__syncthreads();", "warp": "__syncwarp();"}

WIDE = {
    **{("f32", 4): "float4", ("f32", 2): "float2", ("f64", 2): "double2", ("i32", 4): "int4", ("i32", 2): "int2"},
    **{("i64", 2): "longlong2", ("i16", 4): "short4", ("i16", 2): "short2", ("i8", 4): "char4", ("i8", 2): "char2"},
}
"""CUDA's vector types, which one instruction loads or stores where the address is a multiple of their size."""

PRELUDE = {
    "lamina_floordiv": """template <typename T> static __device__ inline T lamina_floordiv(T a, T b) {
  T q = a / b;
  return q - (q * b != a && ((a < 0) != (b < 0)));
}
""",
    "lamina_mod": """template <typename T> static __device__ inline T lamina_mod(T a, T b) {
  T r = a % b;
  return r < 0 ? r + b : r;
}
""",
    "lamina_maximum": """template <typename T> static __device__ inline T lamina_maximum(T a, T b) {
  return a != a ? a : b != b ? b : a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}
""",
    "lamina_minimum": """template <typename T> static __device__ inline T lamina_minimum(T a, T b) {
  return a != a ? a : b != b ? b : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}
""",
    "lamina_min": """template <typename T> static __host__ __device__ inline T lamina_min(T a, T b) {
  return a < b ? a : b;
}
""",
}
"""Functions that the text defines where it uses them. Maximum and minimum: a NaN wins, and -0 is less than 0."""
