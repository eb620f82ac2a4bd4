"""Index arithmetic keeps its value: every rule of index/linear.py, on all points of small boxes."""

# Strategies are made of lambdas, whose parameters nobody annotates.
# pyright: standard

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.index.index_map import Condition, IndexMap, IndexMapAttr, IndexSet, IndexSetAttr
from lamina.dialects.index.linear import (
    Atom,
    Linear,
    Range,
    constant,
    floordiv,
    mod,
    recombine,
    row_major_strides,
    sum_of,
)
from lamina.ir.context import LaminaContext

DIMS = (0, 1, 2)
Box: TypeAlias = dict[Atom, Range]

bounds = st.tuples(st.integers(-4, 4), st.integers(0, 3)).map(lambda t: (t[0], t[0] + t[1]))
boxes = st.fixed_dictionaries({d: bounds for d in DIMS})
divisors = st.integers(1, 12)
coefficients = st.one_of(st.integers(-4, 4), st.sampled_from([-8, 6, 8, 12, 16]))
plain = st.builds(
    lambda cs, c: Linear({d: k for d, k in zip(DIMS, cs, strict=True) if k}, c),
    st.tuples(coefficients, coefficients, coefficients),
    st.integers(-20, 20),
)


def _nested(inner: st.SearchStrategy[Linear]) -> st.SearchStrategy[Linear]:
    """Sums of divisions and remainders, as they come before anything has been simplified."""
    division = st.builds(
        lambda kind, x, d, k: Linear({(kind, x, d): k}), st.sampled_from(["floordiv", "mod"]), inner, divisors,
        st.integers(-3, 3).filter(bool),
    )  # fmt: skip
    return st.builds(lambda a, b: a + b, division, inner)


forms = st.recursive(plain, _nested, max_leaves=4)


def points(box: Box) -> Iterator[dict[Atom, int]]:
    for values in itertools.product(*(range(low, high + 1) for low, high in box.values())):
        yield dict(zip(box, values, strict=True))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(forms, divisors, boxes)
def test_division_and_remainder_keep_the_value(x: Linear, divisor: int, box: Box) -> None:
    quotient, remainder = floordiv(x, divisor, box.get), mod(x, divisor, box.get)
    for p in points(box):
        assert quotient.evaluate(p) == x.evaluate(p) // divisor
        assert remainder.evaluate(p) == x.evaluate(p) % divisor


@settings(max_examples=150, deadline=None, derandomize=True)
@given(forms, boxes)
def test_simplify_keeps_the_value_and_bounds_hold(x: Linear, box: Box) -> None:
    simple = x.simplify(box.get)
    limits = [f.range(box.get) for f in (x, simple)]
    for p in points(box):
        value = x.evaluate(p)
        assert simple.evaluate(p) == value
        for found in limits:
            assert found is not None and found[0] <= value <= found[1]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(forms, plain, plain, boxes)
def test_substitution_is_composition(x: Linear, first: Linear, second: Linear, box: Box) -> None:
    """The new forms are over the same box; the old dimension 2 stays."""
    result = x.substitute({0: first, 1: second}, box.get)
    for p in points(box):
        inner: dict[Atom, int] = {0: first.evaluate(p), 1: second.evaluate(p), 2: p[2]}
        assert result.evaluate(p) == x.evaluate(inner)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(forms, forms, st.integers(-5, 5), boxes)
def test_sums_and_multiples(x: Linear, y: Linear, factor: int, box: Box) -> None:
    for p in points(box):
        a, b = x.evaluate(p), y.evaluate(p)
        assert (x + y).evaluate(p) == a + b
        assert (x - y).evaluate(p) == a - b
        assert (x * factor).evaluate(p) == a * factor
        assert (factor - x).evaluate(p) == factor - a
    assert x - x == Linear() and hash(x + y) == hash(y + x) and x + y == y + x


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(forms, max_size=3))
def test_text_is_read_back_as_the_same_form(results: list[Linear]) -> None:
    # What is printed is in the shape that the parser's own simplification leaves.
    simple = tuple(r.simplify(lambda _: None) for r in results)
    attr = IndexMapAttr(IndexMap(3, simple))
    assert Parser(LaminaContext(), _text(attr)).parse_attribute() == attr
    guard = IndexSetAttr(IndexSet(3, tuple(Condition(r, n % 2 == 1) for n, r in enumerate(simple))))
    assert Parser(LaminaContext(), _text(guard)).parse_attribute() == guard


def _text(attr: IndexMapAttr | IndexSetAttr) -> str:
    from io import StringIO

    stream = StringIO()
    Printer(stream).print_attribute(attr)
    return stream.getvalue()


def test_ranges_resolve_the_divisions_of_packed_layouts() -> None:
    ranges: Box = {"a": (0, 3), "b": (0, 31)}
    packed = Linear.dim("a") * 32 + Linear.dim("b")
    assert floordiv(packed, 32, ranges.get) == Linear.dim("a")
    assert mod(packed, 32, ranges.get) == Linear.dim("b")
    assert floordiv(packed, 8, ranges.get) == Linear.dim("a") * 4 + Linear({("floordiv", Linear.dim("b"), 8): 1})
    assert mod(mod(packed, 32, ranges.get), 16, ranges.get) == Linear({("mod", Linear.dim("b"), 16): 1})


def test_a_division_of_a_division_is_one() -> None:
    x = Linear.dim("x")
    assert floordiv(floordiv(x, 3), 5) == floordiv(x, 15)


@pytest.mark.parametrize("divisor", [0, -1])
def test_a_divisor_is_positive(divisor: int) -> None:
    with pytest.raises(ValueError, match="positive"):
        floordiv(Linear.dim("x"), divisor)
    with pytest.raises(ValueError, match="positive"):
        mod(Linear.dim("x"), divisor)


def test_unknown_dimensions_have_no_range_but_remainders_do() -> None:
    x = Linear.dim("x")
    assert x.range(lambda _: None) is None
    assert mod(x, 7).range(lambda _: None) == (0, 6)
    assert constant(3).range(lambda _: None) == (3, 3)


def test_remainders_of_a_range_between_two_multiples_are_a_range() -> None:
    """Known when it is asked for: as the form was made, nothing was."""
    ranges: Box = {"x": (9, 12), "y": (6, 9)}
    assert mod(Linear.dim("x"), 8).range(ranges.get) == (1, 4)
    assert mod(Linear.dim("y"), 8).range(ranges.get) == (0, 7)


def test_strides_and_sums() -> None:
    assert row_major_strides([2, 3, 4]) == [12, 4, 1]
    assert row_major_strides([]) == []
    assert sum_of([Linear.dim("x"), constant(2), Linear.dim("x")]) == Linear({"x": 2}, 2)


def test_digits_put_together_again_are_the_number() -> None:
    x = Linear.dim("a") + Linear.dim("b") * 3
    low, high = mod(x, 7), floordiv(x, 7)
    assert recombine(high * 7 + low) == x
    assert recombine(high * 14 + low * 2) == x * 2
    for mixed in (high * 7 + low * 2, high * 6 + low, low):
        assert recombine(mixed) == mixed
