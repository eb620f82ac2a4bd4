"""Expressions of input elements, each held once: equal expressions have equal numbers.

A leaf is an element of an input, a constant, or an operation on expressions. What is assumed of numbers:

- sums, products, maxima, minima, and the bitwise and, or, exclusive or are associative and commutative: they are held
  as multisets of terms, so the order of a reduction does not show, but a missing, doubled or wrong term does;
- their neutral elements (0, 1, the lowest and the highest value) can be left out, and 0 * x = 0: numbers are finite,
  and there is one zero. A guarded lane that adds zero adds nothing; `x - 0` and `x / 1` are x; a fused multiply-add is
  a product and a sum;
- constants are computed with: the ones among the terms of a sum or product exactly, others as the interpreters do;
- nothing else: `x - y` and `y - x` differ, products do not distribute over sums, a comparison that constants do not
  decide is an operation, and so is the choice by it.

Multisets are told apart by the sum of random 128-bit numbers, one drawn for each term, so that adding a term costs the
same however many there are.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Attribute

from lamina.dialects.dtypes import dtype_name
from lamina.dialects.scalar.oracles import element_dtype

_MASK = (1 << 128) - 1


class Terms(NamedTuple):
    """A multiset: its operation, the sum of its terms' numbers, their constant, the only term if there is one."""

    kind: Kind
    digest: int
    constant: Any
    only: int | None


class Kind:
    """An associative and commutative operation on one type."""

    __slots__ = ("name", "dtype", "neutral", "absorbing", "join")

    def __init__(self, name: str, dtype: np.dtype[Any], neutral: Any, join: Callable[[Any, Any], Any]) -> None:
        self.name = name
        self.dtype = dtype
        self.neutral = neutral
        self.absorbing = 0 if name == "mul" else None
        self.join = join
        """Two constants as one."""


class TraceTable:
    """All expressions of some runs; what is traced with one table can be compared."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self._ids: dict[Any, int] = {}
        self._weights: list[int] = []
        self._terms: dict[int, Terms] = {}
        self._constants: dict[int, Any] = {}
        self._texts: list[tuple[str, tuple[int, ...]]] = []
        self._leaves: dict[Any, list[int]] = {}
        self._kinds: dict[tuple[str, str], Kind | None] = {}
        self._starts: set[Any] = set()
        self._reduced: dict[Any, tuple[int, int]] = {}
        """Values that reductions by other operations gave, as (which of the values, the number of all terms)."""

    def _make(self, key: Any, head: str, operands: tuple[int, ...]) -> int:
        found = self._ids[key] = len(self._weights)
        self._weights.append(self._random.getrandbits(128))
        self._texts.append((head, operands))
        return found

    # -- leaves --

    def leaves(self, buffer: int, count: int) -> list[int]:
        """The elements of an input, given by its position, in their order in memory."""
        known = self._leaves.setdefault(buffer, [])
        for flat in range(len(known), count):
            known.append(self._make(("leaf", buffer, flat), f"arg{buffer}[{flat}]", ()))
        return known[:count]

    def constant(self, value: Any) -> int:
        """A number, as a numpy scalar; there is one zero and one NaN."""
        dtype, number = value.dtype, value.item()
        if number != number:
            number = math.nan
        elif number == 0 and dtype.kind == "f":
            number = 0.0
        key = ("constant", dtype.str, dtype.name, "nan" if number != number else number)
        found = self._ids.get(key)
        if found is None:
            found = self._make(key, f"{number}", ())
            self._constants[found] = dtype.type(number)
        return found

    def value(self, trace: int) -> Any:
        """The number that an expression is, None for one that depends on an input."""
        return self._constants.get(trace)

    # -- operations --

    def operation(self, head: Any, operands: tuple[int, ...]) -> int:
        """An operation of which nothing is known."""
        key = (head, operands)
        found = self._ids.get(key)
        if found is None:
            found = self._make(key, head if isinstance(head, str) else " ".join(map(str, head)), operands)
        return found

    def kind(self, name: str, element: Attribute) -> Kind | None:
        """The operation `name` of `KINDS` on a type; None where its algebra is another one (on booleans, say)."""
        key = (name, dtype_name(element))
        if key not in self._kinds:
            dtype = element_dtype(element)
            self._kinds[key] = _kind(name, dtype)
        return self._kinds[key]

    def combine(self, kind: Kind, a: int, b: int) -> int:
        """Two multisets as one."""
        terms = self._terms
        first, second = terms.get(a), terms.get(b)
        if first is None or first.kind is not kind:
            first = self._single(kind, a)
        if second is None or second.kind is not kind:
            second = self._single(kind, b)
        digest = (first.digest + second.digest) & _MASK
        constant = neutral = kind.neutral
        key: Any = (kind, digest)
        if first.constant is not neutral or second.constant is not neutral:
            joined = kind.join(first.constant, second.constant)
            if joined != neutral:
                constant = joined
                key = (kind, digest, joined)
        found = self._ids.get(key)
        if found is None:
            only = first.only if not second.digest else second.only if not first.digest else None
            found = self._ids[key] = self._multiset(key, Terms(kind, digest, constant, only), (a, b))
        return found

    def _single(self, kind: Kind, trace: int) -> Terms:
        value = self._constants.get(trace)
        held = None if value is None else _exact(kind, value)
        if held is not None:
            return Terms(kind, 0, kind.neutral if held == kind.neutral else held, None)
        return Terms(kind, self._weights[trace], kind.neutral, trace)

    def _multiset(self, key: Any, terms: Terms, operands: tuple[int, int]) -> int:
        kind, digest, constant, only = terms
        if not digest or (kind.absorbing is not None and constant == kind.absorbing):
            return self.constant(_rounded(kind, constant))
        if only is not None and constant is kind.neutral:
            return only
        found = self._make(key, kind.name, operands)
        self._terms[found] = terms
        return found

    def reduction(self, head: Any, base: tuple[int, ...], terms: tuple[int, ...]) -> tuple[int, ...]:
        """A term of several values added to as many accumulated ones by an operation that only its text tells.

        The operation is taken to be associative and commutative. `base` are the values of an earlier call, or those
        that the reduction starts from.
        """
        count = len(base)
        digest = (self._digest(head, base, count, "base") + self._digest(head, terms, len(terms), "term")) & _MASK
        found: list[int] = []
        for n in range(count):
            key = ("reduction", head, n, digest)
            known = self._ids.get(key)
            if known is None:
                known = self._make(key, f"reduction.{n}", (*base, *terms))
            found.append(known)
            self._reduced[head, known] = (n, digest)
        return tuple(found)

    def start(self, head: Any, values: tuple[int, ...]) -> None:
        """The values that a reduction starts from are neutral."""
        self._starts.add((head, values))

    def _digest(self, head: Any, values: tuple[int, ...], count: int, role: str) -> int:
        """The number of what is added: of nothing, of an earlier reduction, or of one term."""
        if (head, values) in self._starts:
            return 0
        parts = [self._reduced.get((head, v)) for v in values]
        if parts and all(p is not None for p in parts):
            digests = {p[1] for p in parts if p is not None}
            if len(digests) == 1 and sorted(p[0] for p in parts if p is not None) == list(range(count)):
                return digests.pop()
        return self._weights[self.operation((role, head), values)]

    # -- text --

    def text(self, trace: int, limit: int = 200) -> str:
        """An expression, cut where it is long."""
        return self._text(trace, [limit])

    def _text(self, trace: int, left: list[int]) -> str:
        head, operands = self._texts[trace]
        left[0] -= len(head) + 2
        if left[0] < 0:
            return "..."
        if not operands:
            return head
        terms = self._terms.get(trace)
        parts: list[str] = []
        for operand in operands if terms is None else self._flat(trace, terms.kind):
            parts.append(self._text(operand, left))
            if left[0] < 0:
                break
        return f"{head}({', '.join(parts)})"

    def _flat(self, trace: int, kind: Kind) -> list[int]:
        found: list[int] = []
        stack = [trace]
        while stack:
            top = stack.pop()
            terms = self._terms.get(top)
            if terms is not None and terms.kind is kind:
                stack += reversed(self._texts[top][1])
            else:
                found.append(top)
        return found


# -- the algebra of constants -------------------------------------------------------------------------------------


def _exact(kind: Kind, value: Any) -> Any:
    """A constant as it is added up; None for one that is a term of its own (an infinity in a sum)."""
    if kind.dtype.kind != "f":
        return int(value)
    if kind.name in ("add", "mul"):
        return Fraction(float(value)) if math.isfinite(value) else None
    return None if math.isnan(value) else float(value)


def _rounded(kind: Kind, constant: Any) -> Any:
    if kind.dtype.kind == "f":
        return kind.dtype.type(float(constant))
    return np.array(constant, object).astype(kind.dtype)[()]


def _wrapped(dtype: np.dtype[Any], join: Callable[[int, int], int]) -> Callable[[Any, Any], Any]:
    bits = dtype.itemsize * 8

    def run(a: int, b: int) -> int:
        return (join(a, b) + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))

    return run


def _unsigned(dtype: np.dtype[Any], join: Callable[[int, int], int]) -> Callable[[Any, Any], Any]:
    mask = (1 << (dtype.itemsize * 8)) - 1
    signed = _wrapped(dtype, lambda a, b: join(a & mask, b & mask))
    return signed


def _kind(name: str, dtype: np.dtype[Any]) -> Kind | None:
    if dtype.kind == "b":
        joins: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
            "or": (0, lambda a, b: a | b),
            "and": (1, lambda a, b: a & b),
            "xor": (0, lambda a, b: a ^ b),
        }
    elif dtype.kind == "f":
        joins = {
            "add": (Fraction(0), lambda a, b: a + b),
            "mul": (Fraction(1), lambda a, b: a * b),
            "max": (-math.inf, max),
            "min": (math.inf, min),
        }
    else:
        limits = np.iinfo(dtype)
        joins = {
            "add": (0, _wrapped(dtype, lambda a, b: a + b)),
            "mul": (1, _wrapped(dtype, lambda a, b: a * b)),
            "max": (int(limits.min), max),
            "min": (int(limits.max), min),
            "maxu": (0, _unsigned(dtype, max)),
            "minu": (-1, _unsigned(dtype, min)),
            "or": (0, lambda a, b: a | b),
            "and": (-1, lambda a, b: a & b),
            "xor": (0, lambda a, b: a ^ b),
        }
    found = joins.get(name)
    return None if found is None else Kind(name, dtype, *found)


KINDS: dict[str, str] = {
    "arith.addf": "add", "arith.addi": "add", "arith.mulf": "mul", "arith.muli": "mul",
    "arith.maximumf": "max", "arith.minimumf": "min", "arith.maxnumf": "max", "arith.minnumf": "min",
    "arith.maxsi": "max", "arith.minsi": "min", "arith.maxui": "maxu", "arith.minui": "minu",
    "arith.andi": "and", "arith.ori": "or", "arith.xori": "xor",
}  # fmt: skip
"""The ops that are associative and commutative, by the name of what they do."""


def same(table: TraceTable, a: Sequence[Sequence[int]], b: Sequence[Sequence[int]]) -> str | None:
    """None where two runs gave the same expressions, else the first element that differs."""
    for n, (left, right) in enumerate(zip(a, b, strict=True)):
        for flat, (x, y) in enumerate(zip(left, right, strict=True)):
            if x != y:
                return f"element {flat} of output {n} is {table.text(y)}, not {table.text(x)}"
    return None
