"""Values, indices and conditions as expressions of CUDA C."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation

from lamina.backends.c.expressions import INDEX_TYPE, comparison, name_of, shortest
from lamina.backends.c.rows import SIGNED
from lamina.backends.cuda.rows import BITCASTS, NARROW, ROWS, TYPES, UNSIGNED
from lamina.dialects.tir.vectors import CASTS, CastOp
from lamina.errors import InputError


def c_type(name: str, op: Operation | None = None) -> str:
    """The C type of a scalar. Raises InputError where CUDA has none."""
    if name == "index":
        return INDEX_TYPE
    if name not in TYPES:
        raise InputError(f"cuda: the type {name} has no row", op=op)
    return TYPES[name]


def literal(value: float | int, name: str) -> str:
    """A constant that C reads back exactly."""
    if name in ("index", "i1") or name.startswith("i"):
        number = int(value)
        if name == "i1":
            return "true" if number & 1 else "false"
        if name == "i64" and number == -(1 << 63):
            return "(-9223372036854775807LL - 1)"
        if name == "i32" and number == -(1 << 31):
            return "(-2147483647 - 1)"
        return f"{number}LL" if name == "i64" else str(number) if number >= 0 else f"({number})"
    if name == "f64":
        if value != value or value in (float("inf"), float("-inf")):
            (bits,) = struct.unpack("<q", struct.pack("<d", value))
            return f"__longlong_as_double({bits}LL)"
        return _signed(repr(float(value)))
    (single,) = struct.unpack("<f", struct.pack("<f", value))
    if single != single or single in (float("inf"), float("-inf")):
        (bits,) = struct.unpack("<i", struct.pack("<f", value))
        text = f"__int_as_float({bits})"
    else:
        text = _signed(shortest(single) + "f")
    return f"{NARROW[name][1]}({text})" if name in NARROW else text


def _signed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def compute(op: Operation, operands: Sequence[str]) -> str:
    """One lane of an op on scalars or vectors, from one lane of each operand. Raises InputError without a row."""
    result, source = name_of(op.results[0].type), name_of(op.operands[0].type)
    cls = CASTS[op.kind.data] if isinstance(op, CastOp) else type(op)
    template = comparison(op)
    if cls is arith.BitcastOp:
        template = BITCASTS.get((source, result)) if source != result else "{0}"
    elif template is None:
        row = ROWS.get(cls, {})
        computed = "f32" if result in NARROW and result not in row else result
        template = row.get(computed) or row.get(computed[0])
    if template is None:
        raise InputError(f"cuda: {op.name} of {source} has no row", op=op)
    narrow_result = result in NARROW
    values = [
        f"{NARROW[n][0]}({v})" if (n := name_of(o.type)) in NARROW and _computes(cls) else v
        for o, v in zip(op.operands, operands, strict=True)
    ]
    if source == "i1" and (cls in (arith.ExtSIOp, arith.SIToFPOp) or template in SIGNED):
        values = [f"({v} ? -1 : 0)" for v in values]  # the one bit is the sign
    unsigned = UNSIGNED.get("i64" if source == "index" else source, "")
    wide = "float" if narrow_result else c_type(result, op)
    text = template.format(*values, u=unsigned, t=wide, v=UNSIGNED.get(result, ""))
    return f"{NARROW[result][1]}({text})" if narrow_result and _computes(cls) else text


def _computes(cls: type[Operation]) -> bool:
    """Whether an op looks at numbers; a choice between two only passes one on."""
    return cls is not arith.SelectOp
