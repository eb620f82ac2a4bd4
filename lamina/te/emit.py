"""Expressions as te IR: the body of one te.compute from the nodes of `expr.py`.

An integer expression that is affine in axes and sizes stays an index; the rest become scalars. What `if_then_else`
does not choose is not read: its reads get guards, which only reads that may leave their tensor need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import SSAValue

from lamina.dialects.dtypes import is_float
from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import MAX_EXTENT, Atom, Linear, Range, Ranges, constant, floordiv, mod
from lamina.dialects.te import build, lib
from lamina.dialects.te.build import Cond, Index, Scalar
from lamina.dialects.te.indices import index_form
from lamina.dialects.te.ops import ReadOp
from lamina.dialects.te.scalars import truth
from lamina.te import expr as e
from lamina.te.expr import Expr, fail
from lamina.te.intrinsics import scalar_function
from lamina.te.tensor import ProducerLoad, Tensor, operands_first

Value = Index | Scalar | Cond
INDEX_DTYPES = ("int32", "int64")


def _any_size(_: Atom) -> Range:
    return 0, MAX_EXTENT


def affine(x: Expr, sizes: Mapping[e.Var, Linear], what: str = "the extent", ranges: Ranges = _any_size) -> Linear:
    """An extent as a form of sizes, or another form. Raises LaminaError where it is not affine in these variables."""

    def form(x: Expr) -> Linear:
        if isinstance(x, e.IntImm):
            return constant(int(x))
        if isinstance(x, e.Var):
            found = sizes.get(x)
            if found is None:
                raise fail(f"{what} uses {x.name!r}, which is no size: neither an argument nor an extent of one")
            return found
        if isinstance(x, e.Cast):
            return form(x.value)
        if isinstance(x, e.Binary):
            a, b = form(x.a), form(x.b)
            if isinstance(x, e.Add):
                return a + b
            if isinstance(x, e.Sub):
                return a - b
            if isinstance(x, e.Mul) and (a.is_constant or b.is_constant):
                return a * b.const if b.is_constant else b * a.const
            if b.is_constant and b.const > 0:
                if isinstance(x, (e.FloorDiv, e.Div)):
                    return floordiv(a, b.const, ranges)
                if isinstance(x, (e.FloorMod, e.Mod)):
                    return mod(a, b.const, ranges)
        known = ", ".join(v.name for v in sizes) or "sizes"
        raise fail(f"{what} {x} is not affine in {known}", hint="they may be added, and multiplied by numbers")

    return form(x)


class Emitter:
    """Builds the scalars of one te.compute inside `build.compute_results`."""

    def __init__(
        self,
        variables: Mapping[e.Var, Linear],
        scalars: Mapping[e.Var, build.Tensor],
        tensors: Mapping[Tensor, build.Tensor],
        tensor_extents: Mapping[SSAValue, Sequence[Linear]],
        axis_extents: Mapping[Atom, Linear],
        slices: Mapping[Tensor, Linear] | None = None,
    ) -> None:
        """`variables` are axes and sizes; `scalars` the arguments of rank 0 that other variables stand for.

        Of the tensors in `slices` there is only what belongs to one place in the first dimension, and that is it.
        """
        self.variables = variables
        self.scalars = scalars
        self.tensors = tensors
        self.tensor_extents = tensor_extents
        self.axis_extents = axis_extents
        self.slices = slices or {}
        self._values: dict[Expr, Value] = {}
        """By the expression itself, which it keeps: a number in its stead would soon be another expression's."""

    # -- values ----------------------------------------------------------------------------------------------

    def scalar(self, x: Expr) -> Scalar:
        """The expression as a scalar of its dtype."""
        # From the leaves up, so that a deep expression does not exhaust Python's stack.
        for node in operands_first(x):
            self.value(node)
        return self._as_scalar(x)

    def _as_scalar(self, x: Expr) -> Scalar:
        if isinstance(x, (e.IntImm, e.FloatImm)):
            return build.const(x.value, x.dtype)
        found = self.value(x)
        if isinstance(found, Cond):
            return truth(found)
        return lib.cast(found, x.dtype) if isinstance(found, Index) else found

    def value(self, x: Expr) -> Value:
        found = self._values.get(x)
        if found is None:
            found = self._values[x] = self._build(x)
        return found

    def _build(self, x: Expr) -> Value:
        if isinstance(x, e.Binary):
            return self._binary(x)
        method = _BUILDERS.get(type(x)) or next((m for c, m in _BUILDERS.items() if isinstance(x, c)), None)
        if method is None:
            raise fail(f"{type(x).__name__} cannot stand in a compute: {x}")
        return method(self, x)

    def _var(self, x: e.Var) -> Value:
        form = self.variables.get(x)
        if form is not None:
            return Index(form)
        scalar = self.scalars.get(x)
        if scalar is None:
            raise fail(f"the variable {x.name!r} is no axis of this compute", hint="a scalar must be an argument")
        return scalar[()]

    def _int(self, x: e.IntImm) -> Value:
        return Index(constant(int(x))) if x.dtype in INDEX_DTYPES else build.const(int(x), x.dtype)

    def _float(self, x: e.FloatImm) -> Value:
        return build.const(x.value, x.dtype)

    def _binary(self, x: e.Binary) -> Value:
        a, b = self.value(x.a), self.value(x.b)
        if isinstance(a, Index) and isinstance(b, Index):
            found = _of_indices(x, a, b)
            if found is not None:
                return found
        if isinstance(x, e.And) and isinstance(a, Cond) and isinstance(b, Cond):
            return a & b
        left, right = self._as_scalar(x.a), self._as_scalar(x.b)
        try:
            if isinstance(x, e.Comparison):
                return lib.compare(x.kind, left, right)
            return _OPERATIONS[type(x)](left, right)
        except TypeError as error:
            raise fail(f"{x}: {error}") from None

    def _not(self, x: e.Not) -> Value:
        found = self.value(x.a)
        if isinstance(found, Cond) and len(found.conditions) == 1 and not found.conditions[0].equal:
            return Cond((Condition(-found.conditions[0].form - 1),))
        return self._as_scalar(x.a) ^ build.const(True, "bool")

    def _cast(self, x: e.Cast) -> Value:
        found = self.value(x.value)
        if isinstance(found, Index) and x.dtype in INDEX_DTYPES:
            return found
        return lib.cast(self._as_scalar(x.value), x.dtype)

    def _call(self, x: e.Call) -> Value:
        function = x.function or scalar_function(x.op)
        assert function is not None
        try:
            return function(*(self._as_scalar(a) for a in x.args))
        except TypeError as error:
            raise fail(f"{x}: {error}") from None

    def _load(self, x: ProducerLoad) -> Value:
        indices = [self.value(i) for i in x.indices]
        now = self.slices.get(x.producer)
        if now is not None:
            first = indices.pop(0)
            if not isinstance(first, Index) or first.form != now:
                raise fail(f"{x}: of a stage of the same scan only what belongs to the same time can be read")
        return self.tensors[x.producer][tuple(indices)]

    # -- choices ---------------------------------------------------------------------------------------------

    def _select(self, x: e.Select) -> Value:
        return self.choose(x.condition, self._as_scalar(x.true_value), self._as_scalar(x.false_value))

    def choose(self, condition: Expr, then: Scalar, otherwise: Scalar) -> Scalar:
        """`then` where the condition holds; neither value is read where it is not chosen and might not be there."""
        if isinstance(condition, e.Or) and not (self._is_safe(then) and self._is_safe(otherwise)):
            return self.choose(condition.a, then, self.choose(condition.b, then, otherwise))
        if isinstance(condition, e.And) and not self._is_safe(otherwise):
            return self.choose(condition.a, self.choose(condition.b, then, otherwise), otherwise)
        if isinstance(condition, e.Not):
            return self.choose(condition.a, otherwise, then)
        if isinstance(condition, e.NE):
            return self.choose(e.EQ(condition.a, condition.b, "bool"), otherwise, then)
        if isinstance(condition, e.EQ) and not self._is_safe(otherwise) and not is_float(condition.a.dtype):
            below, above = e.LT(condition.a, condition.b, "bool"), e.GT(condition.a, condition.b, "bool")
            return self.choose(below, otherwise, self.choose(above, otherwise, then))
        found = self.value(condition)
        if not isinstance(found, Cond):
            if self._is_safe(then) and self._is_safe(otherwise):
                return lib.select(found, then, otherwise)
            found = self._as_guard(condition)
        return lib.if_then_else(found, then, otherwise)

    def _as_guard(self, condition: Expr) -> Cond:
        """A condition on values read from memory, as one on indices."""
        if isinstance(condition, (e.LT, e.LE, e.GT, e.GE)) and not is_float(condition.a.dtype):
            a, b = (Index(index_form(self.value(x))) for x in (condition.a, condition.b))
            found = _of_indices(condition, a, b)
            assert isinstance(found, Cond)
            return found
        holds = index_form(lib.cast(self._as_scalar(condition), "int64"))
        return Cond((Condition(holds - 1),))

    def _is_safe(self, x: Scalar) -> bool:
        """Whether everything that a value reads is there, whatever the axes and sizes."""
        seen: set[SSAValue] = set()
        stack = [x.value]
        while stack:
            value = stack.pop()
            owner = value.owner
            if value in seen or not hasattr(owner, "operands"):
                continue
            seen.add(value)
            if isinstance(owner, ReadOp) and not self._in_bounds(owner):
                return False
            stack.extend(owner.operands)  # type: ignore[union-attr]
        return True

    def _in_bounds(self, read: ReadOp) -> bool:
        forms = over_values(read.map.data.results, read.indices)
        for form, extent in zip(forms, self.tensor_extents[read.tensor], strict=True):
            for bound in (self._lowest(form), self._lowest(extent - 1 - form)):
                if bound is None or bound < 0:
                    return False
        return True

    def _lowest(self, form: Linear) -> int | None:
        """A lower bound: each axis at the end that makes the form least, then each size."""
        total = constant(form.const)
        for atom, coef in form.terms.items():
            extent = self.axis_extents.get(atom)
            if extent is None:
                total = total + Linear({atom: coef})
            elif coef < 0:
                total = total + (extent - 1) * coef
        bounds = total.range(_size_range)
        return None if bounds is None else bounds[0]


def _size_range(atom: Atom) -> Range | None:
    from lamina.dialects.index.accesses import value_range

    return value_range(atom)


_OPERATIONS: dict[type[e.Binary], Callable[[Scalar, Scalar], Scalar]] = {
    e.Add: lambda a, b: a + b,
    e.Sub: lambda a, b: a - b,
    e.Mul: lambda a, b: a * b,
    e.Div: lambda a, b: a / b if is_float(a.dtype) else lib.truncdiv(a, b),
    e.Mod: lib.truncmod,
    e.FloorDiv: lambda a, b: lib.floor(a / b) if is_float(a.dtype) else a // b,
    e.FloorMod: lambda a, b: lib.floor_fmod(a, b) if is_float(a.dtype) else lib.safe_floormod(a, b),
    e.Min: lib.minimum,
    e.Max: lib.maximum,
    e.BitAnd: lambda a, b: a & b,
    e.BitOr: lambda a, b: a | b,
    e.BitXor: lambda a, b: a ^ b,
    e.LeftShift: lambda a, b: a << b,
    e.RightShift: lambda a, b: a >> b,
    e.And: lambda a, b: a & b,
    e.Or: lambda a, b: a | b,
}


def _of_indices(x: e.Binary, a: Index, b: Index) -> Value | None:
    """An operation of two indices as an index or a condition; None where it is neither."""
    divisor = b.form.const if b.form.is_constant else 0
    if isinstance(x, e.Add):
        return a + b
    if isinstance(x, e.Sub):
        return a - b
    if isinstance(x, e.Mul):
        if b.form.is_constant:
            return a * b.form.const
        return b * a.form.const if a.form.is_constant else None
    if isinstance(x, e.FloorDiv):
        return a // divisor if divisor > 0 else None
    if isinstance(x, e.FloorMod):
        return a % divisor if divisor > 0 else None
    if isinstance(x, (e.Div, e.Mod)):  # towards zero: the same as down where nothing is negative
        if divisor <= 0 or (a >= 0).decided() is not True:
            return None
        return a // divisor if isinstance(x, e.Div) else a % divisor
    if isinstance(x, (e.Min, e.Max)):
        if (a <= b).decided() is True:
            return a if isinstance(x, e.Min) else b
        if (b <= a).decided() is True:
            return b if isinstance(x, e.Min) else a
        return None
    if isinstance(x, e.EQ):
        return a.equals(b)
    comparisons: dict[type[e.Binary], Callable[[], Cond]] = {
        e.LT: lambda: a < b,
        e.LE: lambda: a <= b,
        e.GT: lambda: a > b,
        e.GE: lambda: a >= b,
    }
    found = comparisons.get(type(x))
    return found() if found is not None else None


_BUILDERS: dict[type[Expr], Callable[[Emitter, Any], Value]] = {
    e.Var: Emitter._var,  # pyright: ignore[reportPrivateUsage]
    e.SizeVar: Emitter._var,  # pyright: ignore[reportPrivateUsage]
    e.IntImm: Emitter._int,  # pyright: ignore[reportPrivateUsage]
    e.FloatImm: Emitter._float,  # pyright: ignore[reportPrivateUsage]
    e.Not: Emitter._not,  # pyright: ignore[reportPrivateUsage]
    e.Cast: Emitter._cast,  # pyright: ignore[reportPrivateUsage]
    e.Call: Emitter._call,  # pyright: ignore[reportPrivateUsage]
    e.Select: Emitter._select,  # pyright: ignore[reportPrivateUsage]
    ProducerLoad: Emitter._load,  # pyright: ignore[reportPrivateUsage]
}
