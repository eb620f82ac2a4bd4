"""Spelling of each op on scalars in C: one row an op, a template over its operands; and the functions that rows call.

Other languages of the family spell types and functions of the library otherwise; `Spelling` says how.

The key of a row's template is the name of the result's type (of the operands' for comparisons and conversions to
integers), or its first letter: `f` any float, `i` any integer. Fields beside the operands: `{t}` and `{n}` are the type
of the result and its name, `{s}` the name of the operand's type, `{u}` the unsigned type as wide, `{v}` the one that
wrapping arithmetic is done in: signed overflow is undefined in C, and short types become int first.

Floats of 16 bits are held as uint16_t, computed in f32 and rounded. Of what C leaves to the compiler the text assumes
what all do: a number that a signed type does not hold is taken modulo 2^n, and a shift to the right keeps the sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.ir import Operation

from lamina.dialects.tir.intrinsics import BitcastOp

TYPES = {
    "f16": "uint16_t",
    "bf16": "uint16_t",
    "f32": "float",
    "f64": "double",
    "i1": "_Bool",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "index": "index_t",
}
"""The C type of a value."""
IN_MEMORY = {**TYPES, "i1": "uint8_t"}
"""The C type of an element of a buffer."""
UNSIGNED = {"i1": "_Bool", "index": "uint64_t", **{f"i{n}": f"uint{n}_t" for n in (8, 16, 32, 64)}}
WRAPPING = {**dict.fromkeys(("i1", "i8", "i16", "i32"), "uint32_t"), **dict.fromkeys(("i64", "index"), "uint64_t")}
NARROW = ("f16", "bf16")
"""Types that are computed in f32."""
WHOLE = ("i8", "i16", "i32", "i64", "index")
"""Integers that are divided and shifted."""

Row = dict[str, str]


def suffixed(name: str, operands: int) -> Row:
    """A function of <math.h>, one for each type of floats."""
    arguments = ", ".join(f"{{{n}}}" for n in range(operands))
    return {"f32": f"{name}f({arguments})", "f64": f"{name}({arguments})"}


def overloaded(name: str, operands: int) -> Row:
    """A function that has one name for all types of floats."""
    arguments = ", ".join(f"{{{n}}}" for n in range(operands))
    return dict.fromkeys(("f32", "f64"), f"{name}({arguments})")


def _own(name: str, operands: int = 2) -> Row:
    """A function of the prelude for each type of integers."""
    arguments = ", ".join(f"{{{n}}}" for n in range(operands))
    return {whole: f"lamina_{name}_{whole}({arguments})" for whole in WHOLE}


def _floats(name: str, operands: int = 2) -> Row:
    """The same for floats."""
    arguments = ", ".join(f"{{{n}}}" for n in range(operands))
    return {n: f"lamina_{name}_{n}({arguments})" for n in ("f32", "f64")}


def _wrapping(sign: str, bit: str) -> Row:
    return {"i1": f"({{0}} {bit} {{1}})", "i": f"({{t}})(({{v}}){{0}} {sign} ({{v}}){{1}})"}


def _bits(sign: str) -> Row:
    return {"i": f"({{t}})({{0}} {sign} {{1}})"}


def _float(sign: str) -> Row:
    return {"f": f"({{0}} {sign} {{1}})"}


# fmt: off
SCALAR_ROWS: dict[type[Operation], Row] = {
    arith.AddfOp: _float("+"), arith.SubfOp: _float("-"), arith.MulfOp: _float("*"), arith.DivfOp: _float("/"),
    arith.NegfOp: {"f": "(-{0})"},
    arith.MaximumfOp: _floats("maximum"), arith.MinimumfOp: _floats("minimum"),
    arith.MaxnumfOp: _floats("maxnum"), arith.MinnumfOp: _floats("minnum"),
    arith.AddiOp: _wrapping("+", "^"), arith.SubiOp: _wrapping("-", "^"), arith.MuliOp: _wrapping("*", "&"),
    arith.DivSIOp: _own("div"), arith.RemSIOp: _own("rem"), arith.DivUIOp: _own("udiv"), arith.RemUIOp: _own("urem"),
    arith.FloorDivSIOp: _own("floordiv"), arith.CeilDivSIOp: _own("ceildiv"),
    arith.AndIOp: _bits("&"), arith.OrIOp: _bits("|"), arith.XOrIOp: _bits("^"),
    arith.ShLIOp: _own("shl"), arith.ShRSIOp: _own("shr"), arith.ShRUIOp: _own("ushr"),
    arith.MaxSIOp: {"i": "({0} > {1} ? {0} : {1})"}, arith.MinSIOp: {"i": "({0} < {1} ? {0} : {1})"},
    arith.MaxUIOp: {"i": "(({u}){0} > ({u}){1} ? {0} : {1})"},
    arith.MinUIOp: {"i": "(({u}){0} < ({u}){1} ? {0} : {1})"},
    arith.SelectOp: {"f": "({0} ? {1} : {2})", "b": "({0} ? {1} : {2})", "i": "({0} ? {1} : {2})"},
    arith.ExtSIOp: {"i": "({t}){0}"}, arith.ExtUIOp: {"i": "({t})({u}){0}"},
    arith.TruncIOp: {"i1": "({0} & 1)", "i": "({t}){0}"},
    arith.IndexCastOp: {"i": "({t}){0}"},
    arith.SIToFPOp: {"f": "({t}){0}"}, arith.UIToFPOp: {"f": "({t})({u}){0}"},
    arith.FPToSIOp: {n: f"lamina_{n}_of_{{s}}({{0}})" for n in WHOLE[:4]},
    arith.FPToUIOp: {n: f"lamina_u{n[1:]}_of_{{s}}({{0}})" for n in WHOLE[:4]},
    arith.ExtFOp: {"f": "({t}){0}"}, arith.TruncFOp: {"f": "({t}){0}"},
    math.AbsIOp: {"i": "({0} < 0 ? ({t})(({v})0 - ({v}){0}) : {0})"},
    math.FmaOp: _floats("fma", 3),
}
"""Rows of ops on scalars, but for functions of the library."""

LIBRARY: dict[type[Operation], str] = {
    math.SqrtOp: "sqrt", math.AbsFOp: "fabs", math.FloorOp: "floor", math.CeilOp: "ceil", math.TruncOp: "trunc",
    math.RoundEvenOp: "rint", math.RoundOp: "round", math.ExpOp: "exp", math.Exp2Op: "exp2", math.ExpM1Op: "expm1",
    math.LogOp: "log", math.Log2Op: "log2", math.Log1pOp: "log1p", math.Log10Op: "log10", math.CbrtOp: "cbrt",
    math.ErfOp: "erf", math.SinOp: "sin", math.CosOp: "cos", math.TanOp: "tan", math.AsinOp: "asin",
    math.AcosOp: "acos", math.AtanOp: "atan", math.SinhOp: "sinh", math.CoshOp: "cosh", math.TanhOp: "tanh",
    math.AsinhOp: "asinh", math.AcoshOp: "acosh", math.AtanhOp: "atanh",
}
"""Functions of one operand, by their names in <math.h>, which CUDA C and OpenCL C have as well."""
LIBRARY_OF_TWO: dict[type[Operation], str] = {
    math.Atan2Op: "atan2", math.PowFOp: "pow", math.CopySignOp: "copysign",
}
# fmt: on


def library_rows(spelled: Callable[[str, int], Row]) -> dict[type[Operation], Row]:
    """Rows of functions of the library; `spelled` gives the row of a function by its name and number of operands."""
    root = spelled("sqrt", 1)
    return {
        **{op: spelled(name, 1) for op, name in LIBRARY.items()},
        **{op: spelled(name, 2) for op, name in LIBRARY_OF_TWO.items()},
        math.RsqrtOp: {n: f"({one} / {root[n]})" for n, one in (("f32", "1.0f"), ("f64", "1.0"))},
    }


ROWS: dict[type[Operation], Row] = {**SCALAR_ROWS, **library_rows(suffixed)}
"""Rows of ops on scalars."""

# fmt: off
BY_NUMBER: dict[type[Operation], Row] = {
    arith.DivSIOp: {"i": "({t})({0} / {1})"}, arith.RemSIOp: {"i": "({t})({0} % {1})"},
    arith.DivUIOp: {"i": "({t})(({u}){0} / {1})"}, arith.RemUIOp: {"i": "({t})(({u}){0} % {1})"},
    arith.ShLIOp: {"i": "({t})(({v}){0} << {1})"}, arith.ShRSIOp: {"i": "({t})({0} >> {1})"},
    arith.ShRUIOp: {"i": "({t})(({u}){0} >> {1})"},
}
"""Rows for a divisor above zero, or a shift of fewer bits than there are, that the text knows."""
SHIFTS = (arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp)
# fmt: on


@dataclass(frozen=True)
class Spelling:
    """The spelling of scalars in a language of C's family."""

    language: str
    """As errors name it."""
    types: Mapping[str, str]
    unsigned: Mapping[str, str]
    wrapping: Mapping[str, str]
    rows: Mapping[type[Operation], Row]
    long_suffix: str
    """Of a constant of 64 bits."""


C = Spelling("C source", TYPES, UNSIGNED, WRAPPING, ROWS, "LL")

BITCASTS = (arith.BitcastOp, BitcastOp)
"""Ops that keep the bits: `lamina_<result>_bits_<source>`, or nothing where C holds both in one type."""

CMPI = (
    "({0} == {1})",
    "({0} != {1})",
    "({0} < {1})",
    "({0} <= {1})",
    "({0} > {1})",
    "({0} >= {1})",
    "(({u}){0} < ({u}){1})",
    "(({u}){0} <= ({u}){1})",
    "(({u}){0} > ({u}){1})",
    "(({u}){0} >= ({u}){1})",
)
"""By the predicate's number: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge."""
SIGNED = CMPI[2:6]
"""Comparisons that see one bit as -1."""

CMPF = (
    "(0 && {0} == {1})",
    "({0} == {1})",
    "({0} > {1})",
    "({0} >= {1})",
    "({0} < {1})",
    "({0} <= {1})",
    "({0} < {1} || {0} > {1})",
    "({0} == {0} && {1} == {1})",
    "(!({0} < {1}) && !({0} > {1}))",
    "(!({0} <= {1}))",
    "(!({0} < {1}))",
    "(!({0} >= {1}))",
    "(!({0} > {1}))",
    "({0} != {1})",
    "({0} != {0} || {1} != {1})",
    "(1 || {0} == {1})",
)
"""By the predicate's number: false, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno, true."""
