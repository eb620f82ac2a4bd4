"""The language of the table: an operator of ATen applied to variables is what Relay's terms make of them.

    x, y = var("x y");  a = default("a", 0.01)
    floats += aten.sigmoid(x) >> r.sigmoid(x)
    same += aten.leaky_relu(x, a) >> r.nn.leaky_relu(x, alpha=a)
    same += aten.add(x, y, alpha=1) >> r.add(x, y)

On the left stand the arguments of ATen's schema: variables for tensors (a number is one of rank 0), variables for
numbers and strings, and what an argument must be. One with a default may be absent; so may one that must be something:
then it is what the operator's first equation says. The first equation that fits is taken. What stands on the right are
Relay's terms, as in rules; a table says which element type the tensors have before that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from lamina.dialects.rules.terms import AttrVar, Computed, Expr, OpPattern, Pattern, Splat, TypeExpr, Var, as_pattern
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.graph import DType
from lamina.frontends.aten.promotion import float_type, result_type
from lamina.frontends.builder import Value
from lamina.frontends.tensor_builder import is_number, number_type


class Promotion(Enum):
    """The element type that the tensors of an equation get first."""

    SAME = "the common one"
    FLOAT = "the common one, a float in the place of integers"
    TRUTH = "bool, each for itself"
    NONE = "its own, each for itself"


class Default(AttrVar):
    """A variable for an argument that may be absent."""

    __slots__ = ("value",)

    def __init__(self, name: str, value: Any) -> None:
        super().__init__(name)
        self.value = value


def default(name: str, value: Any) -> Any:
    """A variable for an argument that has a value where it is absent."""
    return Default(name, value)


class Left:
    """An operator applied to variables: the left side of an equation."""

    def __init__(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.name = name
        self.args = tuple(args)
        self.kwargs = dict(kwargs)

    def __rshift__(self, right: Any) -> AtenEquation:
        return AtenEquation(self, as_pattern(right))

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any], first: Left) -> dict[int, Any] | None:
        """The values of the variables by their identity, where the arguments fit; `first` says what is absent."""
        if len(args) > len(self.args) + len(self.kwargs):
            return None
        found: dict[int, Any] = {}
        named = list(self.kwargs)
        # What stands behind the positional ones may be given by its place as well.
        rest = dict(zip(named, args[len(self.args) :], strict=False))
        given = {**kwargs, **rest}
        pairs = [(p, args[k] if k < len(args) else _ABSENT) for k, p in enumerate(self.args)]
        pairs += [(p, given.get(k, _ABSENT)) for k, p in self.kwargs.items()]
        if any(k not in self.kwargs and v is not None and k not in IGNORED for k, v in kwargs.items()):
            return None
        stated = [*first.args, *first.kwargs.values()]
        for k, (pattern, value) in enumerate(pairs):
            if isinstance(value, _Absent):
                if isinstance(pattern, Default):
                    value = pattern.value
                elif isinstance(pattern, Expr | Pattern) or k >= len(stated) or stated[k] != pattern:
                    return None
                else:
                    continue
            if isinstance(pattern, Var | AttrVar):
                if isinstance(pattern, Var) and not (isinstance(value, Value) or is_number(value)):
                    return None
                if isinstance(pattern, AttrVar) and isinstance(value, Value):
                    return None
                found[id(pattern)] = value
            elif isinstance(value, Value) or value != pattern:
                return None
        return found

    def __repr__(self) -> str:
        words = [*map(repr, self.args), *(f"{k}={v!r}" for k, v in self.kwargs.items())]
        return f"aten.{self.name}({', '.join(words)})"


class _Absent:
    pass


_ABSENT = _Absent()
IGNORED = frozenset(("memory_format", "layout", "device", "pin_memory", "non_blocking", "generator"))
"""Arguments that say nothing of values."""


class AtenEquation:
    """A call of an operator, and the Relay terms that it is."""

    def __init__(self, left: Left, right: Pattern, condition: Any = None) -> None:
        self.left = left
        self.right = right
        self.condition = condition
        self.promotion = Promotion.NONE

    def when(self, condition: Any) -> AtenEquation:
        """The equation where a computed condition of its arguments holds."""
        return AtenEquation(self.left, self.right, condition)

    @property
    def name(self) -> str:
        """The operator: a packet, or an overload."""
        return self.left.name

    def apply(self, b: AtenBuilder, args: Sequence[Any], kwargs: Mapping[str, Any], first: Left) -> Value | None:
        """The result, None where the equation does not fit."""
        found = self.left.bind(args, kwargs, first)
        if found is None:
            return None
        places = [k for k, p in self._variables() if k in found and isinstance(p, Var)]
        operands = [found[k] for k in places]
        types = self._types(operands)
        if self.condition is not None:
            # Types alone are asked: what does not fit leaves nothing behind.
            shapes = [o.shape if isinstance(o, Value) else () for o in operands]
            seen = {k: Value(shape, dtype) for k, shape, dtype in zip(places, shapes, types, strict=True)}
            if not _Right(b, {**found, **seen}).expr(self.condition):
                return None
        found.update({k: b.tensor(o, dtype) for k, o, dtype in zip(places, operands, types, strict=True)})
        made = _Right(b, found).value(self.right)
        return made if isinstance(made, Value) else b.tensor(made)

    def _variables(self) -> Iterator[tuple[int, Any]]:
        for p in (*self.left.args, *self.left.kwargs.values()):
            yield id(p), p

    def _types(self, operands: list[Any]) -> list[str]:
        """The element types that the operands get."""
        if self.promotion is Promotion.TRUTH:
            return ["bool"] * len(operands)
        if self.promotion is Promotion.NONE:
            return [o.dtype if isinstance(o, Value) else number_type(o) for o in operands]
        dtype = result_type(operands)
        return [float_type(dtype) if self.promotion is Promotion.FLOAT else dtype] * len(operands)

    def __repr__(self) -> str:
        return f"{self.left!r} >> {self.right!r}"


class _Right:
    """The right side of an equation, built from what its left side has matched."""

    def __init__(self, b: AtenBuilder, found: Mapping[int, Any]) -> None:
        self.b = b
        self.found = found
        self.made: dict[int, Any] = {}

    def value(self, pattern: Any) -> Any:
        """The tensor of a pattern, or a number, whose type is that of what it stands beside."""
        known = self.made.get(id(pattern))
        if known is None:
            known = self.made[id(pattern)] = self._value(pattern)
        return known

    def _value(self, pattern: Any) -> Any:
        if isinstance(pattern, Var):
            return self.found[id(pattern)]
        if isinstance(pattern, Splat):
            return self.expr(pattern.number)
        assert isinstance(pattern, OpPattern), f"{pattern!r} cannot be built"
        operands = [self.value(a) for a in pattern.args]
        dtype = next(o.dtype for o in operands if isinstance(o, Value))
        values = [o if isinstance(o, Value) else self.b.tensor(o, dtype) for o in operands]
        attrs = {k: self.expr(v) for k, v in pattern.attrs.items()}
        results = self.b.ops(pattern.op.name.removeprefix("relay."), *values, **attrs)
        return results[pattern.index or 0]

    def expr(self, value: Any) -> Any:
        """The value of an attribute."""
        if isinstance(value, AttrVar):
            found = self.found[id(value)]
            return found.name if isinstance(found, DType) else found
        if isinstance(value, TypeExpr):
            return getattr(self.value(value.pattern), value.what)
        if isinstance(value, Computed):
            return value.function(*(self.expr(a) for a in value.args))
        return value


class AtenTable:
    """A table of equations whose tensors are promoted in one way. `table += equation` adds one."""

    def __init__(self, promotion: Promotion) -> None:
        self.promotion = promotion

    def __iadd__(self, equation: AtenEquation) -> AtenTable:
        equation.promotion = self.promotion
        _ROWS.append(equation)
        return self


_ROWS: list[AtenEquation] = []


def written() -> tuple[AtenEquation, ...]:
    """All equations that have been added to tables, in order."""
    return tuple(_ROWS)


class _Operators:
    """ATen's operators by their names: `aten.relu`; an overload by `aten["where.self"]`."""

    def __getattr__(self, name: str) -> Callable[..., Left]:
        return self[name]

    def __getitem__(self, name: str) -> Callable[..., Left]:
        return lambda *args, **kwargs: Left(name, args, kwargs)


aten: Any = _Operators()
