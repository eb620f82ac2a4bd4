"""Indices of te expressions: affine forms of the dimensions of the compute under construction, and conditions on them.

`building(block)` opens the scope in which `build.py` and `scalars.py` put their ops.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import MAX_EXTENT, Atom, Linear, Range, constant, floordiv, mod
from lamina.dialects.index.symbol_forms import factors_of, symbols_of
from lamina.dialects.index.symbols import SymbolicExtent, Symbols
from lamina.dialects.te.ops import ComputeOp
from lamina.dialects.te.scan import ScanOp
from lamina.errors import UnsupportedError


class NamedSizes:
    """The sizes of a te.func under the names of symbols: extents are numbers that depend on these."""

    def __init__(self, symbols: Symbols, values: Mapping[str, SSAValue]) -> None:
        """`values` are the function's sizes, those that are products of symbols under the name of the product."""
        self.symbols = symbols
        self._forms: dict[Atom, Linear] = {name: Linear.dim(v) for name, v in values.items()}
        self._names: dict[Atom, Linear] = {v: Linear.dim(name) for name, v in values.items()}

    def number(self, form: Linear) -> int:
        """The number of a form over the function's sizes."""
        return self.symbols.number(form.substitute(self._names))

    def form(self, number: SymbolicExtent) -> Linear:
        """The form over the function's sizes of a number. Raises UnsupportedError where it has no size for it."""
        found = number.form.substitute(self._forms)
        missing = [a for a in found.dims() if isinstance(a, str)]
        if missing:
            raise UnsupportedError(f"the extent {number} is computed from {missing[0]}, which is no size of the kernel")
        return found

    def terms(self, number: SymbolicExtent) -> list[tuple[Linear, list[Linear]]]:
        """The number as a sum of products of forms over the function's sizes: (form, further factors) of each."""
        known = {a: c for a, c in number.form.terms.items() if all(d in self._forms for d in Linear({a: 1}).dims())}
        linear = Linear(known, number.form.const).substitute(self._forms)
        found: list[tuple[Linear, list[Linear]]] = [] if linear == constant(0) else [(linear, [])]
        for atom, coef in number.form.terms.items():
            if atom not in known:
                names = symbols_of(Linear({atom: 1}))
                if isinstance(atom, tuple) or any(n not in self._forms for n in names):
                    raise UnsupportedError(f"{number} is computed from {atom}, which is no size of the kernel")
                first, *others = (self._forms[n] for n in factors_of(atom))
                found.append((first * coef, others))
        return found


class Scope:
    """The blocks under construction: the function's and, inside te.compute, the body's."""

    def __init__(self, block: Block, sizes: NamedSizes | None = None) -> None:
        self.function = block
        self.sizes = sizes
        self.body: Block | None = None
        self.around: dict[Atom, Range] = {a: (0, MAX_EXTENT) for a in block.args if isinstance(a.type, IndexType)}
        """The sizes, and the times of the te.scans under construction."""
        self.ranges: dict[Atom, Range] = dict(self.around)
        self.axes: dict[IterVar, SSAValue] = {}
        self.built: dict[tuple[Any, ...], SSAValue] = {}
        self.stages: set[str] = {op.stage.data for op in block.ops if isinstance(op, (ComputeOp, ScanOp))}

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Scalars are appended to another block, which knows nothing of the values of this one."""
        outer = self.body, self.ranges, self.axes, self.built
        self.body, self.ranges, self.axes, self.built = block, dict(self.around), {}, {}
        try:
            yield
        finally:
            self.body, self.ranges, self.axes, self.built = outer

    def add(self, op: Operation) -> SSAValue:
        """The value of a pure op in the body: an equal one that stands there already, or this one appended."""
        if self.body is None:
            raise RuntimeError("scalars are built inside te.compute")
        # FloatAttr calls the two zeros equal, so a constant goes by its text.
        same = str(op.properties["value"]) if isinstance(op, arith.ConstantOp) else tuple(sorted(op.properties.items()))
        key = (type(op), tuple(op.operands), same, tuple(op.result_types))
        found = self.built.get(key)
        if found is not None:
            op.erase()
            return found
        self.body.add_op(op)
        self.built[key] = op.results[0]
        return op.results[0]

    def stage_name(self, wanted: str) -> str:
        name, n = wanted, 0
        while name in self.stages:
            n += 1
            name = f"{wanted}_{n}"
        self.stages.add(name)
        return name


_scopes: list[Scope] = []


@contextmanager
def building(block: Block, sizes: NamedSizes | None = None) -> Generator[None]:
    """Computes are appended to the block (a te.func's body). With `sizes` extents that are unknown are numbers."""
    _scopes.append(Scope(block, sizes))
    try:
        yield
    finally:
        _scopes.pop()


def current_scope() -> Scope:
    """The innermost `building`."""
    if not _scopes:
        raise RuntimeError("te expressions are built inside `building(block)`")
    return _scopes[-1]


def current_sizes() -> NamedSizes | None:
    """The sizes by name of the function under construction; None where they have no names, or there is none."""
    return _scopes[-1].sizes if _scopes else None


class IterVar:
    """A reduction axis: usable as an index inside one te.compute. Its extent may be a form of the sizes."""

    def __init__(self, extent: int | Index, name: str) -> None:
        self.extent = extent
        self.name = name

    def index(self) -> Index:
        scope = current_scope()
        value = scope.axes.get(self)
        if value is None:
            value = scope.axes[self] = Block(arg_types=[IndexType()]).args[0]
            scope.ranges[value] = range_of_extent(index_form(self.extent))
        return Index(Linear.dim(value))

    def __add__(self, other: Any) -> Index:
        return self.index() + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Index:
        return self.index() - other

    def __rsub__(self, other: Any) -> Index:
        return other - self.index()

    def __mul__(self, other: int) -> Index:
        return self.index() * other

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> Index:
        return self.index() // other

    def __mod__(self, other: int) -> Index:
        return self.index() % other

    def __ge__(self, other: Any) -> Cond:
        return self.index() >= other

    def __gt__(self, other: Any) -> Cond:
        return self.index() > other

    def __le__(self, other: Any) -> Cond:
        return self.index() <= other

    def __lt__(self, other: Any) -> Cond:
        return self.index() < other


class Index:
    """An affine form of the dimensions of the compute being built."""

    __slots__ = ("form",)

    def __init__(self, form: Linear) -> None:
        self.form = form

    def __add__(self, other: Any) -> Index:
        return Index(self.form + index_form(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Index:
        return Index(self.form - index_form(other))

    def __rsub__(self, other: Any) -> Index:
        return Index(index_form(other) - self.form)

    def __neg__(self) -> Index:
        return Index(-self.form)

    def __mul__(self, other: int) -> Index:
        return Index(self.form * (other if type(other) is int else factor(other)))

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> Index:
        return Index(floordiv(self.form, factor(other), current_scope().ranges.get))

    def __mod__(self, other: int) -> Index:
        return Index(mod(self.form, factor(other), current_scope().ranges.get))

    def __ge__(self, other: Any) -> Cond:
        return Cond((Condition(self.form - index_form(other)),))

    def __gt__(self, other: Any) -> Cond:
        return Cond((Condition(self.form - index_form(other) - 1),))

    def __le__(self, other: Any) -> Cond:
        return Cond((Condition(index_form(other) - self.form),))

    def __lt__(self, other: Any) -> Cond:
        return Cond((Condition(index_form(other) - self.form - 1),))

    def equals(self, other: Any) -> Cond:
        return Cond((Condition(self.form - index_form(other), True),))


class Cond:
    """Conditions on indices, all of which hold."""

    __slots__ = ("conditions",)

    def __init__(self, conditions: tuple[Condition, ...]) -> None:
        self.conditions = conditions

    def __and__(self, other: Cond) -> Cond:
        return Cond(self.conditions + other.conditions)

    def decided(self) -> Cond | bool:
        """Without the conditions that always hold; False when one never does."""
        left: list[Condition] = []
        for c in self.conditions:
            holds = c.decided(c.form.range(current_scope().ranges.get))
            if holds is False:
                return False
            if holds is None:
                left.append(c)
        return Cond(tuple(left)) if left else True


def index(value: Any) -> Index:
    """An index, such as an integer that was read, as one that conditions can be asked of."""
    return Index(index_form(value))


def range_of_extent(extent: Linear, first: int = 0) -> Range:
    """The bounds of a dimension from `first` on. An empty one has no values; a bound keeps the arithmetic sound."""
    return first, max(extent.const - 1, first) if extent.is_constant else MAX_EXTENT - 1


def form_of_size(number: SymbolicExtent) -> Linear:
    """The form of a number that depends on symbols, over the sizes of the function under construction."""
    sizes = current_scope().sizes
    if sizes is None:
        raise UnsupportedError(f"the extent {number} depends on symbols, the function has no sizes")
    return sizes.form(number)


def size_terms(number: SymbolicExtent) -> list[tuple[Linear, list[Linear]]]:
    """A number that depends on symbols as a sum of products of forms (`NamedSizes.terms`)."""
    sizes = current_scope().sizes
    if sizes is None:
        raise UnsupportedError(f"{number} depends on symbols, the function has no sizes")
    return sizes.terms(number)


def factor(value: int) -> int:
    """A number that multiplies or divides an index. Raises UnsupportedError for one that depends on sizes."""
    if isinstance(value, SymbolicExtent):
        raise UnsupportedError(f"an index is multiplied or divided by {value}, which depends on sizes")
    return value


def index_form(value: Any) -> Linear:
    """An index in any of its Python spellings as a linear form over SSA values."""
    if isinstance(value, Index):
        return value.form
    if isinstance(value, bool):
        raise TypeError("a boolean is no index")
    if isinstance(value, int):
        return constant(value)
    if isinstance(value, IterVar):
        return value.index().form
    if isinstance(value, SymbolicExtent):
        return form_of_size(value)
    as_index = getattr(value, "as_index", None)
    if as_index is not None:
        return Linear.dim(as_index())
    raise TypeError(f"{value!r} is no index")
