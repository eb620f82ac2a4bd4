"""Values, indices and conditions as expressions of C."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, VectorType
from xdsl.ir import Attribute, Operation

from lamina.backends.c.rows import BITCASTS, BY_NUMBER, CMPF, CMPI, NARROW, SHIFTS, SIGNED, C, Spelling
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear, Ranges
from lamina.dialects.tir.vectors import CASTS, CastOp, CompareOp
from lamina.errors import UnsupportedError

INDEX_TYPE = "index_t"


def name_of(type_: Attribute) -> str:
    """The name of a scalar type, or of a vector's lanes: `f32`, `index`."""
    if isinstance(type_, VectorType):
        return name_of(type_.element_type)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return "index" if isinstance(type_, IndexType) else str(type_)


def lanes_of(type_: Attribute) -> int | None:
    """The lanes of a vector; None for a scalar."""
    return type_.get_shape()[0] if isinstance(type_, VectorType) else None


def without_rule(op: Operation, what: str = "", spelling: Spelling = C) -> UnsupportedError:
    """The error for an op that a language has no rule for: by name, with its kernel."""
    parent = op
    while (above := parent.parent_op()) is not None and "sym_name" not in parent.properties:
        parent = above
    symbol = parent.properties.get("sym_name")
    where = f" in kernel @{getattr(symbol, 'data', '')}" if symbol is not None else ""
    return UnsupportedError(f"{spelling.language} has no rule for {op.name}{what}{where}", op=op)


def c_type(name: str, op: Operation, spelling: Spelling = C) -> str:
    """The C type of a scalar. Raises UnsupportedError where there is none."""
    if name not in spelling.types:
        raise without_rule(op, f" of {name}", spelling)
    return spelling.types[name]


# -- constants -----------------------------------------------------------------------------------------------------


def literal(value: float | int, name: str, spelling: Spelling = C) -> str:
    """A constant of a type that C reads back exactly."""
    if name == "i1":
        return str(int(value) & 1)
    if name == "index" or name.startswith("i"):
        return integer(int(value), 64 if name == "index" else int(name[1:]), spelling)
    if name == "f64":
        (bits,) = struct.unpack("<q", struct.pack("<d", value))
        return _signed(repr(float(value))) if _finite(value) else f"lamina_f64_bits_i64({integer(bits, 64, spelling)})"
    if name in NARROW:
        return f"lamina_{name}_of_f32({literal(value, 'f32', spelling)})"
    word = _bits_of_single(value)
    (single,) = struct.unpack("<f", struct.pack("<i", word))
    return _signed(shortest(single) + "f") if _finite(single) else f"lamina_f32_bits_i32({integer(word, 32)})"


def integer(value: int, bits: int, spelling: Spelling = C) -> str:
    """A constant of a signed integer; the least one of a type is no constant in C."""
    if value == -(1 << bits - 1):
        return f"INT{bits}_MIN"
    return _signed(f"{value}{spelling.long_suffix}" if bits == 64 else str(value))


def shortest(single: float) -> str:
    """The shortest decimal that rounds to a number of f32."""
    for digits in range(1, 18):
        text = f"{single:.{digits}g}"
        if _bits_of_single(float(text)) == _bits_of_single(single):
            return text if any(c in text for c in ".e") else text + ".0"
    raise AssertionError(single)


def _bits_of_single(value: float | int) -> int:
    """The bits of the nearest number of f32; of infinity beyond the largest."""
    try:
        packed = struct.pack("<f", value)
    except OverflowError:
        packed = struct.pack("<f", float("inf") if value > 0 else float("-inf"))
    return struct.unpack("<i", packed)[0]


def _finite(value: float | int) -> bool:
    return value - value == 0


def _signed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def number_of(op: arith.ConstantOp) -> float | int | None:
    """The number that a constant is; None for a vector of them."""
    attr = op.value
    if isinstance(attr, (FloatAttr, IntegerAttr)):
        return attr.value.data  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return None


# -- indices -------------------------------------------------------------------------------------------------------


def index(form: Linear, name: Callable[[Atom], str], ranges: Ranges) -> str:
    """An index expression; divisions of what is never negative are C's own."""
    signed: list[tuple[int, str]] = []
    for atom, coefficient in form.terms.items():
        if isinstance(atom, tuple):
            kind, inner, divisor = atom
            bounds = inner.range(ranges)
            text = index(inner, name, ranges)
            if bounds is not None and bounds[0] >= 0:
                text = f"({text} {'/' if kind == 'floordiv' else '%'} {divisor})"
            else:
                text = f"lamina_{kind}(({INDEX_TYPE}){text}, ({INDEX_TYPE}){divisor})"
        else:
            text = name(atom)
        size = abs(coefficient)
        signed.append((coefficient, text if size == 1 else f"{text} * {size}"))
    if form.const or not signed:
        signed.append((form.const, str(abs(form.const))))
    # What is subtracted goes last, so that no sum begins with a sign where it need not.
    (sign, text), *rest = sorted(signed, key=lambda term: term[0] < 0)
    text = text if sign >= 0 else f"-{text}"
    text += "".join(f" {'+' if sign >= 0 else '-'} {term}" for sign, term in rest)
    return text if text.isidentifier() or text.isdecimal() or bare(text) != text else f"({text})"


def condition(conditions: Sequence[Condition], name: Callable[[Atom], str], ranges: Ranges) -> str:
    """Whether all conditions hold."""
    return " && ".join(f"{bare(index(form, name, ranges))} {'==' if equal else '>='} 0" for form, equal in conditions)


def bare(text: str) -> str:
    """An expression without the parentheses around all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for n, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if not depth:
            return text[1:-1] if n == len(text) - 1 else text
    return text


# -- ops -----------------------------------------------------------------------------------------------------------


def compute(op: Operation, operands: Sequence[str], spelling: Spelling = C) -> str:
    """An op on scalars, or one lane of an op on vectors. Raises UnsupportedError for one without a row."""
    result, sources = name_of(op.results[0].type), [name_of(o.type) for o in op.operands]
    source = sources[0]
    cls = CASTS[op.kind.data] if isinstance(op, CastOp) else type(op)
    if cls in BITCASTS:
        return _bitcast(op, operands[0], result, source, spelling)
    template = _template(op, cls, result, source, spelling)
    if template is None:
        raise without_rule(op, f" of {source}" if source == result else f" of {source} to {result}", spelling)
    moves, values = cls is arith.SelectOp, list(operands)
    is_comparison = isinstance(op, COMPARISONS)
    if cls is arith.TruncFOp and source == "f64" and result in NARROW:
        return f"lamina_{result}_of_f64({values[0]})"
    if not moves:
        values = [f"lamina_f32_of_{n}({v})" if n in NARROW else v for n, v in zip(sources, values, strict=True)]
        if source == "i1" and (cls in (arith.ExtSIOp, arith.SIToFPOp) or is_comparison and template in SIGNED):
            values = [f"({v} ? -1 : 0)" for v in values]  # the one bit is the sign
    rounds = result in NARROW and not moves
    computed = "f32" if rounds else result
    unsigned, wrapping = spelling.unsigned.get(source, ""), spelling.wrapping.get(result, "")
    seen = "f32" if source in NARROW else source
    type_ = c_type(computed, op, spelling)
    text = template.format(*values, t=type_, n=computed, s=seen, u=unsigned, v=wrapping)
    return f"lamina_{result}_of_f32({text})" if rounds else text


def comparison(op: Operation) -> str | None:
    """The template of a comparison, None for another op."""
    if not isinstance(op, COMPARISONS):
        return None
    floats = op.is_float() if isinstance(op, CompareOp) else isinstance(op, arith.CmpfOp)
    return (CMPF if floats else CMPI)[op.predicate.value.data]


COMPARISONS = (arith.CmpiOp, arith.CmpfOp, CompareOp)


def _template(op: Operation, cls: type[Operation], result: str, source: str, spelling: Spelling) -> str | None:
    if (compared := comparison(op)) is not None:
        return compared
    row = spelling.rows.get(cls, {})
    if cls in BY_NUMBER and isinstance(by := op.operands[1].owner, arith.ConstantOp):
        number, limit = number_of(by), 64 if source == "index" else int(source[1:])
        if number is not None and ((0 <= number < limit) if cls in SHIFTS else number > 0):
            row = BY_NUMBER[cls]
    computed = result if cls is arith.SelectOp or result not in NARROW else "f32"
    return row.get(computed) or row.get(computed[0])


def _bitcast(op: Operation, value: str, result: str, source: str, spelling: Spelling) -> str:
    types = c_type(result, op, spelling), c_type(source, op, spelling)
    if lanes_of(op.results[0].type) != lanes_of(op.operands[0].type):
        raise without_rule(op, " of vectors", spelling)
    if types[0] == types[1]:
        return value
    if {result, source} & {"f32", "f64"}:
        return f"lamina_{result}_bits_{source}({value})"
    return f"({types[0]}){value}"
