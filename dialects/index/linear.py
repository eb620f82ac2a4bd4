"""Index arithmetic: linear forms over dimensions, with floor division and remainder by constants.

A `Linear` is sum(coefficient * atom) + constant. An atom is a dimension (an SSA value in a pass, a position in an
attribute, a name such as `lane`) or a division ("floordiv" | "mod", Linear, divisor).
Simplification uses the ranges of the dimensions: `floordiv(32*a + b, 32)` is `a` when 0 <= b < 32. xDSL's affine
expressions know no ranges, so te, tir and the stairs all use this module instead. What is known of divisions and sums
is the table in `rules.py`; `analyzer.Facts` are ranges that know of conditions and moduli, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

Division: TypeAlias = "tuple[str, Linear, int]"
"""("floordiv" | "mod", what is divided, divisor)"""
Atom: TypeAlias = "SSAValue | str | int | Division"
Range: TypeAlias = tuple[int, int]
"""Inclusive bounds of a dimension."""
Ranges: TypeAlias = Callable[[Atom], Range | None]
"""The bounds of a dimension, None where nothing is known."""


MAX_EXTENT = 1 << 40
"""Beyond any size: the bound of an unknown extent, so that ranges stay numbers."""


def unknown_ranges(_: Atom) -> Range | None:
    """None for every dimension: ranges for simplification that may assume nothing."""
    return None


def plain_form(form: Linear) -> list[Any]:
    """A form over dimensions that are positions, as plain values: its constant, then (coefficient, atom)."""
    atoms = [[c, [a[0], plain_form(a[1]), a[2]] if isinstance(a, tuple) else a] for a, c in form.terms.items()]
    return [form.const, *atoms]


def form_of_plain(plain: Sequence[Any]) -> Linear:
    """The other way round."""
    const, *terms = plain
    named: dict[Atom, int] = {}
    for coefficient, atom in terms:
        if isinstance(atom, int):
            named[atom] = coefficient
        else:
            kind, inner, divisor = atom
            named[kind, form_of_plain(inner), divisor] = coefficient
    return Linear(named, const)


class Linear:
    """An immutable linear form. Equal forms compare and hash equal whatever the order of their terms."""

    __slots__ = ("_atoms", "_hash", "const", "terms")

    terms: dict[Atom, int]
    const: int

    def __init__(self, terms: dict[Atom, int] | None = None, const: int = 0) -> None:
        self.terms = terms or {}
        self.const = const
        self._hash: int | None = None
        self._atoms: frozenset[Atom] | None = None

    @staticmethod
    def of(value: Linear | int | Atom) -> Linear:
        if isinstance(value, Linear):
            return value
        if isinstance(value, int):
            raise TypeError("an int is ambiguous: Linear.dim(n) or Linear(const=n)")
        return Linear({value: 1})

    @staticmethod
    def dim(atom: Atom) -> Linear:
        return Linear({atom: 1})

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((frozenset(self.terms.items()), self.const))
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linear) and self.const == other.const and self.terms == other.terms

    def __repr__(self) -> str:
        return linear_text(self, lambda d: f"d{d}" if isinstance(d, int) else str(d))

    def __add__(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            return Linear(self.terms, self.const + other)
        if not other.terms:
            return Linear(self.terms, self.const + other.const)
        terms = dict(self.terms)
        for atom, coef in other.terms.items():
            total = terms.get(atom, 0) + coef
            if total:
                terms[atom] = total
            else:
                del terms[atom]
        return Linear(terms, self.const + other.const)

    __radd__ = __add__

    def __neg__(self) -> Linear:
        return self * -1

    def __sub__(self, other: Linear | int) -> Linear:
        return self + (-other)

    def __rsub__(self, other: int) -> Linear:
        return -self + other

    def __mul__(self, factor: int) -> Linear:
        if factor == 0:
            return ZERO
        if factor == 1:
            return self
        return Linear({a: c * factor for a, c in self.terms.items()}, self.const * factor)

    __rmul__ = __mul__

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def dims(self) -> list[Atom]:
        """The dimensions used, each once, in order of appearance, also inside divisions."""
        seen: dict[Atom, None] = {}
        _collect(self, seen)
        return list(seen)

    @property
    def atoms(self) -> frozenset[Atom]:
        """The terms, and the dimensions inside of divisions."""
        if self._atoms is None:
            self._atoms = frozenset((*self.terms, *self.dims()))
        return self._atoms

    def range(self, ranges: Ranges) -> Range | None:
        """Inclusive bounds of the value, None when a dimension is unbounded."""
        low = high = self.const
        for atom, coef in self.terms.items():
            bounds = atom_range(atom, ranges) if type(atom) is tuple else ranges(atom)
            if bounds is None:
                return None
            if coef > 0:
                low += bounds[0] * coef
                high += bounds[1] * coef
            else:
                low += bounds[1] * coef
                high += bounds[0] * coef
        return low, high

    def substitute(self, mapping: Mapping[Atom, Linear], ranges: Ranges = unknown_ranges) -> Linear:
        """Replace dimensions by forms; divisions are simplified anew with `ranges` of the new dimensions."""
        terms: dict[Atom, int] = {}
        const, divides = self.const, False
        for atom, coef in self.terms.items():
            if type(atom) is tuple:
                kind, inner, divisor = atom
                inner = inner.substitute(mapping, ranges)
                found = floordiv(inner, divisor, ranges) if kind == "floordiv" else mod(inner, divisor, ranges)
            else:
                found = mapping.get(atom)
                if found is None:
                    found = Linear({atom: 1})
            const += found.const * coef
            for new, times in found.terms.items():
                total = terms.get(new, 0) + times * coef
                if total:
                    terms[new] = total
                    divides = divides or type(new) is tuple
                else:
                    del terms[new]
        result = Linear(terms, const)
        return recombine(result, ranges) if divides else result

    def simplify(self, ranges: Ranges) -> Linear:
        """The same value with every division that the ranges decide resolved."""
        if not any(isinstance(a, tuple) for a in self.terms):
            return self
        return self.substitute({}, ranges)

    def evaluate(self, values: Mapping[Atom, Any]) -> Any:
        """The value for given dimensions: integers, or numpy arrays that broadcast."""
        total: Any = self.const
        for atom, coef in self.terms.items():
            if isinstance(atom, tuple):
                kind, inner, divisor = atom
                value = inner.evaluate(values)
                value = value // divisor if kind == "floordiv" else value % divisor
            else:
                value = values[atom]
            total = total + value * coef
        return total


ZERO = Linear()


def constant(value: int) -> Linear:
    """The form that is a number, without terms."""
    return Linear(const=value)


def _collect(linear: Linear, seen: dict[Atom, None]) -> None:
    for atom in linear.terms:
        if type(atom) is tuple:
            _collect(atom[1], seen)
        else:
            seen[atom] = None


def atom_range(atom: Atom, ranges: Ranges) -> Range | None:
    """Inclusive bounds of an atom."""
    if isinstance(atom, tuple):
        kind, inner, divisor = atom
        bounds = inner.range(ranges)
        if kind == "mod":
            if bounds is not None and bounds[0] // divisor == bounds[1] // divisor:
                return bounds[0] % divisor, bounds[1] % divisor
            return 0, divisor - 1
        return None if bounds is None else (bounds[0] // divisor, bounds[1] // divisor)
    return ranges(atom)


def floordiv(x: Linear, divisor: int, ranges: Ranges = unknown_ranges) -> Linear:
    """floor(x / divisor) for a positive divisor, as far simplified as the ranges allow."""
    if divisor <= 0:
        raise ValueError(f"division by {divisor}: the divisor of an index is positive")
    return _divide("floordiv", x, divisor, ranges)


def mod(x: Linear, divisor: int, ranges: Ranges = unknown_ranges) -> Linear:
    """x - divisor*floor(x / divisor), in [0, divisor), simplified."""
    if divisor <= 0:
        raise ValueError(f"remainder by {divisor}: the divisor of an index is positive")
    return _divide("mod", x, divisor, ranges)


def recombine(x: Linear, ranges: Ranges = unknown_ranges) -> Linear:
    """x mod d + (x floordiv d) * d = x: what split an index into digits and put them together again cancels."""
    for atom in x.terms:
        if type(atom) is tuple:
            return _recombine(x, ranges)
    return x


_divide: Callable[[str, Linear, int, Ranges], Linear]
_recombine: Callable[[Linear, Ranges], Linear]


def simplify_by(
    divide: Callable[[str, Linear, int, Ranges], Linear], recombine: Callable[[Linear, Ranges], Linear]
) -> None:
    """From now on divisions and sums are simplified by these: `matching.py`, which the package loads, gives its own."""
    global _divide, _recombine
    _divide, _recombine = divide, recombine


def linear_text(x: Linear, name: Callable[[Atom], str]) -> str:
    """The form as text: `d0 * 2 + d1 floordiv 32 - 3`, terms in the order they were added."""
    parts: list[str] = []
    for atom, coef in x.terms.items():
        if isinstance(atom, tuple):
            kind, inner, divisor = atom
            simple = not inner.const and len(inner.terms) == 1 and not _needs_parens(inner)
            inner_text = linear_text(inner, name)
            text = f"{inner_text} {kind} {divisor}" if simple else f"({inner_text}) {kind} {divisor}"
        else:
            text = name(atom)
        if coef != 1:
            text = f"{text} * {coef}"
        parts.append(text)
    if x.const or not parts:
        if parts and x.const < 0:
            return " + ".join(parts) + f" - {-x.const}"
        parts.append(str(x.const))
    return " + ".join(parts)


def _needs_parens(inner: Linear) -> bool:
    ((atom, coef),) = inner.terms.items()
    return coef != 1 or isinstance(atom, tuple)


def sum_of(forms: Iterable[Linear]) -> Linear:
    """The sum of forms, zero of none; coefficients of equal atoms add up, nothing else is simplified."""
    total = ZERO
    for f in forms:
        total = total + f
    return total


def row_major_strides(shape: Sequence[int]) -> list[int]:
    """Element strides of a dense row-major tensor."""
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    return strides
