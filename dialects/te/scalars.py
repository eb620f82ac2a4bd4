"""Scalars of te expressions: values of an element type inside a compute, whose operators build arith and math ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.dtypes import bits_of, has_integer, ir_type, is_float, is_unsigned, itemsize, scalar_type
from lamina.dialects.index.accesses import over_positions
from lamina.dialects.index.index_map import Condition, IndexMap, IndexSet
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.index.symbols import SymbolicExtent
from lamina.dialects.te.indices import Cond, Index, IterVar, current_scope, size_terms
from lamina.dialects.te.ops import CheckOp, ConditionOp, IndexOp, ReadOp
from lamina.dialects.tir.memory import LoadOp

Number: TypeAlias = "Scalar | int | float | bool"


class Scalar:
    """A value of an element type inside a compute; operators build arith ops."""

    __slots__ = ("value", "dtype")

    def __init__(self, value: SSAValue, dtype: str) -> None:
        self.value = value
        self.dtype = dtype

    def __add__(self, other: Number) -> Scalar:
        return _binary(arith.AddfOp, arith.AddiOp, None, self, other)

    __radd__ = __add__

    def __sub__(self, other: Number) -> Scalar:
        return _binary(arith.SubfOp, arith.SubiOp, None, self, other)

    def __rsub__(self, other: Number) -> Scalar:
        return const(other, self.dtype) - self

    def __mul__(self, other: Number) -> Scalar:
        return _binary(arith.MulfOp, arith.MuliOp, None, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Scalar:
        if not is_float(self.dtype):
            raise TypeError("integers divide by truncdiv or //")
        return _binary(arith.DivfOp, None, None, self, other)

    def __rtruediv__(self, other: Number) -> Scalar:
        return const(other, self.dtype) / self

    def __floordiv__(self, other: Number) -> Scalar:
        return _binary(None, arith.FloorDivSIOp, arith.DivUIOp, self, other)

    def __neg__(self) -> Scalar:
        if is_float(self.dtype):
            return Scalar(
                current_scope().add(arith.NegfOp.create(operands=[self.value], result_types=[self.value.type])),
                self.dtype,
            )
        return const(0, self.dtype) - self

    def __and__(self, other: Number) -> Scalar:
        return _binary(None, arith.AndIOp, None, self, other)

    def __or__(self, other: Number) -> Scalar:
        return _binary(None, arith.OrIOp, None, self, other)

    def __xor__(self, other: Number) -> Scalar:
        return _binary(None, arith.XOrIOp, None, self, other)

    def __lshift__(self, other: Number) -> Scalar:
        return _binary(None, arith.ShLIOp, None, self, other)

    def __rshift__(self, other: Number) -> Scalar:
        return _binary(None, arith.ShRSIOp, arith.ShRUIOp, self, other)

    def __lt__(self, other: Number) -> Scalar:
        return compare("lt", self, other)

    def __le__(self, other: Number) -> Scalar:
        return compare("le", self, other)

    def __gt__(self, other: Number) -> Scalar:
        return compare("gt", self, other)

    def __ge__(self, other: Number) -> Scalar:
        return compare("ge", self, other)

    def as_index(self) -> SSAValue:
        """The value as an index. Raises TypeError for a float."""
        if is_float(self.dtype):
            raise TypeError("a float is no index")
        if isinstance(self.value.type, IndexType):
            return self.value
        # Index casts read a sign; a wider signed type holds every unsigned value that can be an index.
        signed = cast(self, "int64") if is_unsigned(self.dtype) else self
        return current_scope().add(arith.IndexCastOp.create(operands=[signed.value], result_types=[IndexType()]))


def truth(conditions: Cond) -> Scalar:
    """Conditions on indices as a boolean."""
    decided = conditions.decided()
    if isinstance(decided, bool):
        return const(decided, "bool")
    return Scalar(current_scope().add(ConditionOp.of(decided.conditions)), "bool")


def const(value: Number, dtype: str) -> Scalar:
    """A constant of the dtype (a Scalar of that dtype is returned as it is). Raises ValueError for no number of it."""
    if isinstance(value, Scalar):
        if value.dtype != dtype:
            raise TypeError(f"mixes {value.dtype} and {dtype}")
        return value
    if isinstance(value, SymbolicExtent):
        return _size(value, dtype)
    type_ = scalar_type(ir_type(dtype))
    if is_float(dtype):
        attr: Attribute = FloatAttr(float(value), type_)  # type: ignore[arg-type]
    else:
        bits, number = bits_of(dtype), int(value)
        if not has_integer(dtype, number):
            raise ValueError(f"{number} is no {dtype}")
        if number >= 1 << (bits - 1):
            number -= 1 << bits  # unsigned values print as signless two's complement
        attr = IntegerAttr(number, type_)  # type: ignore[arg-type]
    op = arith.ConstantOp.create(properties={"value": attr}, result_types=[type_])
    return Scalar(current_scope().add(op), dtype)


def _size(number: SymbolicExtent, dtype: str) -> Scalar:
    """A number of the function's sizes; products of them that are none are computed."""
    total: Scalar | None = None
    for form, factors in size_terms(number):
        term = cast(Index(form), "int64")
        for factor in factors:
            term = term * cast(Index(factor), "int64")
        total = term if total is None else total + term
    assert total is not None
    return cast(total, dtype)


def _as_scalar(value: Any, dtype: str) -> Scalar:
    if isinstance(value, Cond):
        return truth(value)
    return const(value, dtype)


def _pair(a: Any, b: Any) -> tuple[Scalar, Scalar]:
    if isinstance(a, Cond):
        a = truth(a)
    if isinstance(b, Cond):
        b = truth(b)
    dtype = a.dtype if isinstance(a, Scalar) else b.dtype
    return const(a, dtype), const(b, dtype)


def _binary(float_op: Any, int_op: Any, unsigned_op: Any, a: Any, b: Any) -> Scalar:
    x, y = _pair(a, b)
    op = float_op if is_float(x.dtype) else (unsigned_op if unsigned_op and is_unsigned(x.dtype) else int_op)
    if op is None:
        raise TypeError(f"the operation is not defined for {x.dtype}")
    properties: dict[str, Attribute] = {}
    if is_float(x.dtype):
        properties["fastmath"] = arith.FastMathFlagsAttr("none")
    elif op in (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp):
        properties["overflowFlags"] = arith.IntegerOverflowAttr("none")
    built = op.create(operands=[x.value, y.value], result_types=[x.value.type], properties=properties)
    return Scalar(current_scope().add(built), x.dtype)


_FLOAT_PREDICATE = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def compare(kind: str, a: Any, b: Any) -> Scalar:
    """`kind` is eq, ne, lt, le, gt or ge; comparisons with NaN are false, ne true. The result is a boolean."""
    x, y = _pair(a, b)
    if is_float(x.dtype):
        op: Operation = arith.CmpfOp(x.value, y.value, _FLOAT_PREDICATE[kind])
    else:
        prefix = "" if kind in ("eq", "ne") else ("u" if is_unsigned(x.dtype) else "s")
        op = arith.CmpiOp(x.value, y.value, prefix + kind)
    return Scalar(current_scope().add(op), "bool")


def equal(a: Any, b: Any) -> Scalar:
    """Whether a == b, as a boolean; false where one is NaN."""
    return compare("eq", a, b)


def not_equal(a: Any, b: Any) -> Scalar:
    """Whether a != b, as a boolean; true where one is NaN."""
    return compare("ne", a, b)


def truncdiv(a: Any, b: Any) -> Scalar:
    """Integer division towards zero. The divisor must not be zero, nor the quotient overflow."""
    return _binary(None, arith.DivSIOp, arith.DivUIOp, a, b)


def truncmod(a: Any, b: Any) -> Scalar:
    """Remainder of `truncdiv`: it has the sign of the dividend."""
    return _binary(None, arith.RemSIOp, arith.RemUIOp, a, b)


def maximum(a: Any, b: Any) -> Scalar:
    """The greater; NaN where one is NaN (as numpy.maximum)."""
    return _binary(arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp, a, b)


def minimum(a: Any, b: Any) -> Scalar:
    """The smaller; NaN where one is NaN (as numpy.minimum)."""
    return _binary(arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp, a, b)


def select(condition: Any, then: Any, otherwise: Any) -> Scalar:
    """One of two values, both computed."""
    c = _as_scalar(condition, "bool")
    x, y = _pair(then, otherwise)
    op = arith.SelectOp.create(operands=[c.value, x.value, y.value], result_types=[x.value.type])
    return Scalar(current_scope().add(op), x.dtype)


def check(value: Scalar, condition: Any, message: str) -> Scalar:
    """The value; the program ends in an error with the message where the condition fails."""
    holds = _as_scalar(condition, "bool")
    return Scalar(current_scope().add(CheckOp.make(value.value, holds.value, message)), value.dtype)


def _math(op_type: Any) -> Callable[[Scalar], Scalar]:
    def build(x: Scalar) -> Scalar:
        if not is_float(x.dtype):
            raise TypeError(f"{op_type.name} takes floats, not {x.dtype}")
        op = op_type.create(
            operands=[x.value],
            result_types=[x.value.type],
            properties={"fastmath": arith.FastMathFlagsAttr("none")},
        )
        return Scalar(current_scope().add(op), x.dtype)

    build.__doc__ = f"`{op_type.name}` of a float."
    return build


exp = _math(math.ExpOp)
log = _math(math.LogOp)
log2 = _math(math.Log2Op)
log10 = _math(math.Log10Op)
log1p = _math(math.Log1pOp)
sqrt = _math(math.SqrtOp)
rsqrt = _math(math.RsqrtOp)
sin = _math(math.SinOp)
cos = _math(math.CosOp)
tan = _math(math.TanOp)
asin = _math(math.AsinOp)
acos = _math(math.AcosOp)
atan = _math(math.AtanOp)
sinh = _math(math.SinhOp)
cosh = _math(math.CoshOp)
asinh = _math(math.AsinhOp)
acosh = _math(math.AcoshOp)
atanh = _math(math.AtanhOp)
tanh = _math(math.TanhOp)
erf = _math(math.ErfOp)
floor = _math(math.FloorOp)
ceil = _math(math.CeilOp)
trunc = _math(math.TruncOp)
roundeven = _math(math.RoundEvenOp)


def abs(x: Scalar) -> Scalar:  # noqa: A001
    """The magnitude; of the smallest integer that integer itself, as in numpy."""
    if is_unsigned(x.dtype):
        return x
    if is_float(x.dtype):
        return _math(math.AbsFOp)(x)
    return select(x < 0, const(0, x.dtype) - x, x)


def power(a: Any, b: Any) -> Scalar:
    """a ** b of floats."""
    x, y = _pair(a, b)
    op = math.PowFOp.create(
        operands=[x.value, y.value],
        result_types=[x.value.type],
        properties={"fastmath": arith.FastMathFlagsAttr("none")},
    )
    return Scalar(current_scope().add(op), x.dtype)


def fma(a: Any, b: Any, c: Any) -> Scalar:
    """a * b + c of floats, rounded once."""
    x, y = _pair(a, b)
    z = const(c, x.dtype)
    op = math.FmaOp.create(
        operands=[x.value, y.value, z.value],
        result_types=[x.value.type],
        properties={"fastmath": arith.FastMathFlagsAttr("none")},
    )
    return Scalar(current_scope().add(op), x.dtype)


def cast(x: Any, dtype: str) -> Scalar:
    """Conversion between element types, as numpy's astype; floats out of an integer's range are unspecified."""
    if isinstance(x, (Index, IterVar)):
        form = x.form if isinstance(x, Index) else x.index().form
        index = current_scope().add(IndexOp.of(form))
        integer = current_scope().add(arith.IndexCastOp.create(operands=[index], result_types=[IntegerType(64)]))
        return cast(Scalar(integer, "int64"), dtype)
    if isinstance(x, Cond):
        x = truth(x)
    assert isinstance(x, Scalar)
    if x.dtype == dtype:
        return x
    if dtype == "bool":
        return compare("ne", x, 0)
    source, target = scalar_type(ir_type(x.dtype)), scalar_type(ir_type(dtype))
    op_type: Any
    if is_float(x.dtype) and is_float(dtype):
        a, b = source.bitwidth, target.bitwidth  # type: ignore[attr-defined]
        if a == b:  # float16 <-> bfloat16
            return cast(cast(x, "float32"), dtype)
        op_type = arith.ExtFOp if a < b else arith.TruncFOp
    elif is_float(x.dtype):
        op_type = arith.FPToUIOp if is_unsigned(dtype) else arith.FPToSIOp
    elif is_float(dtype):
        op_type = arith.UIToFPOp if is_unsigned(x.dtype) else arith.SIToFPOp
    else:
        a, b = source.width.data, target.width.data  # type: ignore[attr-defined]
        if a == b:
            return Scalar(x.value, dtype)
        op_type = arith.TruncIOp if a > b else (arith.ExtUIOp if is_unsigned(x.dtype) else arith.ExtSIOp)
    op = op_type.create(operands=[x.value], result_types=[target])
    return Scalar(current_scope().add(op), dtype)


def reinterpret(x: Scalar, dtype: str) -> Scalar:
    """The same bits as another type of the same width; booleans have no bits to show."""
    if "bool" in (x.dtype, dtype) or itemsize(x.dtype) != itemsize(dtype):
        raise TypeError(f"the bits of {x.dtype} are no {dtype}")
    source, target = scalar_type(ir_type(x.dtype)), scalar_type(ir_type(dtype))
    if source == target:
        return Scalar(x.value, dtype)
    return Scalar(current_scope().add(arith.BitcastOp.create(operands=[x.value], result_types=[target])), dtype)


def all(*conditions: Any) -> Any:  # noqa: A001
    """Whether all hold: of index conditions again an index condition."""
    result = conditions[0]
    for c in conditions[1:]:
        if isinstance(result, Cond) and isinstance(c, Cond):
            result = result & c
        else:
            result = _as_scalar(result, "bool") & _as_scalar(c, "bool")
    return result


def if_then_else(condition: Any, then: Any, otherwise: Any) -> Scalar:
    """One of two values; with an index condition the reads of `then` happen only where it holds, and those of
    `otherwise` only where it fails (for a single condition)."""
    if isinstance(condition, Cond):
        decided = condition.decided()
        if decided is True:
            return then
        if decided is False:
            return otherwise
        assert isinstance(decided, Cond)
        x, y = _pair(then, otherwise)
        guarded = _guard(x, decided)
        if len(decided.conditions) == 1 and not decided.conditions[0].equal:
            y = _guard(y, Cond((Condition(-decided.conditions[0].form - 1),)))
        if isinstance(guarded.value.owner, ReadOp) and _is_zero(y):
            return guarded
        return select(decided, guarded, y)
    return select(condition, then, otherwise)


def _is_zero(x: Scalar) -> bool:
    owner = x.value.owner
    if not isinstance(owner, arith.ConstantOp):
        return False
    value = owner.value
    if isinstance(value, FloatAttr):
        return str(value.value.data) == "0.0"
    return isinstance(value, IntegerAttr) and value.value.data == 0


def _guard(x: Scalar, condition: Cond) -> Scalar:
    """The same expression with the condition added to each of its reads."""
    body = current_scope().body
    copies: dict[SSAValue, SSAValue] = {}

    def copy(value: SSAValue) -> SSAValue:
        op = value.owner
        if not isinstance(op, Operation) or op.parent is not body:
            return value
        found = copies.get(value)
        if found is not None:
            return found
        operands = [copy(o) for o in op.operands]
        if isinstance(op, ReadOp):
            dims = operands[1:]
            mapping: dict[Atom, Linear] = {i: Linear.dim(d) for i, d in enumerate(dims)}
            forms = [r.substitute(mapping) for r in op.map.data.results]
            old = [Condition(c.form.substitute(mapping), c.equal) for c in op.guard.data.conditions] if op.guard else []
            new = [*old, *(c for c in condition.conditions if c not in old)]
            result = read_element(operands[0], forms, new)
        elif isinstance(op, LoadOp):  # of the statements of an extern
            old = op.conditions()
            load = LoadOp.make(op.buffer, op.forms(), [*old, *(c for c in condition.conditions if c not in old)])
            assert body is not None
            body.add_op(load)
            result = load.result
        elif all(a is b for a, b in zip(operands, op.operands, strict=True)):
            result = value
        else:
            clone = type(op).create(
                operands=operands,
                result_types=list(op.result_types),
                properties=dict(op.properties),
                attributes=dict(op.attributes),
            )
            result = current_scope().add(clone)
        copies[value] = result
        return result

    from builtins import all

    return Scalar(copy(x.value), x.dtype)


def read_element(tensor: SSAValue, forms: Sequence[Linear], conditions: Sequence[Condition]) -> SSAValue:
    """The element of a tensor at an index, zero where a condition fails."""
    operands, (indices, guards) = over_positions([list(forms), [c.form for c in conditions]])
    guard = IndexSet(len(operands), tuple(Condition(g, c.equal) for g, c in zip(guards, conditions, strict=True)))
    return current_scope().add(ReadOp.make(tensor, operands, IndexMap(len(operands), indices), guard))
