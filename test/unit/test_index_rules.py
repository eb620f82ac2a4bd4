"""Every rule of index arithmetic is proved on all values of a box, and none of its conditions can be spared.

The simplifier's matchers are watched: what they bind to a rule's variables is the form that stood there.
"""

# Strategies are made of lambdas, whose parameters nobody annotates.
# pyright: standard

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.dialects.index import matching as index_matching
from lamina.dialects.index import rules as index_rules
from lamina.dialects.index.linear import Atom, Linear, Range
from lamina.dialects.index.rules import AtLeast, Rule, Side, Term, all_rules

RULES = list(all_rules())
NAMES = [str(r) for r in RULES]

NUMBERS: dict[str, Any] = {
    "floordiv": lambda _, x, d: x // d,
    "mod": lambda _, x, d: x % d,
    "least": lambda _, x, y: np.minimum(x, y),
    "greatest": lambda _, x, y: np.maximum(x, y),
    "nonnegative": lambda _, x: x >= 0,
    "zero": lambda _, x: x == 0,
}
# The more variables, the smaller the box; each still holds blocks of several lengths and both signs.
VALUES = {"form": range(-13, 14), "positive": range(1, 6), "number": range(-7, 8)}


def box(rule: Rule) -> dict[str, np.ndarray]:
    """All values of a rule's variables, one axis each."""
    kinds = rule.variables()
    return {
        name: np.array(VALUES[kind]).reshape([-1 if n == axis else 1 for n in range(len(kinds))])
        for axis, (name, kind) in enumerate(kinds.items())
    }


def holds(sides: tuple[Side, ...], values: dict[str, np.ndarray], loosened: tuple[int, int] | None = None) -> Any:
    """Where the conditions hold. `loosened` names one inequality (condition, part) that may fail by one."""
    result: Any = True
    for n, side in enumerate(sides):
        for m, term in enumerate(side.meaning()):
            slack = 1 if loosened == (n, m) else 0
            result = result & (term.compile(NUMBERS)(values, None) >= -slack)
    return result


def counterexamples(rule: Rule, loosened: tuple[int, int] | None = None) -> int:
    values = box(rule)
    left, right = (t.compile(NUMBERS)(values, None) for t in (rule.lhs, rule.rhs))
    where = holds(rule.conditions, values, loosened)
    shape = np.broadcast_shapes(*(v.shape for v in values.values()))
    tried = np.broadcast_to(where, shape)
    assert np.any(tried), "the conditions leave nothing to prove"
    return int(np.count_nonzero(tried & np.broadcast_to(left != right, shape)))


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_rule_holds_on_all_values_of_a_box(rule: Rule) -> None:
    assert counterexamples(rule) == 0


def without(rule: Rule, n: int) -> Rule:
    return rule._replace(conditions=(*rule.conditions[:n], *rule.conditions[n + 1 :]))


CONDITIONS = [(r, n) for r in RULES for n in range(len(r.conditions))]


@pytest.mark.parametrize(("rule", "n"), CONDITIONS, ids=[f"{r} #{n}" for r, n in CONDITIONS])
def test_rule_without_one_of_its_conditions_is_refuted(rule: Rule, n: int) -> None:
    assert counterexamples(without(rule, n)) > 0


INEQUALITIES = [(r, n, m) for r, n in CONDITIONS for m in range(len(r.conditions[n].meaning()))]


@pytest.mark.parametrize(("rule", "n", "m"), INEQUALITIES, ids=[f"{r} #{n}.{m}" for r, n, m in INEQUALITIES])
def test_rule_with_a_condition_off_by_one_is_refuted(rule: Rule, n: int, m: int) -> None:
    # Where x <= y, min(x, y) = x; where x = y + 1, not.
    assert counterexamples(rule, (n, m)) > 0


def mutants(term: Term) -> Iterator[Term]:
    """The term with one leaf off by one, or one quotient turned into a remainder, or the other way round."""
    if term.head == "constant":
        value = term.args[0]
        yield index_rules.as_term(not value if isinstance(value, bool) else value + 1)
    elif term.head in VALUES:
        yield term + 1
    else:
        for n, a in enumerate(term.args):
            yield from (Term(term.head, *term.args[:n], m, *term.args[n + 1 :]) for m in mutants(a))
        swapped = {"floordiv": "mod", "mod": "floordiv", "least": "greatest", "greatest": "least", "+": "-", "-": "+"}
        if term.head in swapped:
            yield Term(swapped[term.head], *term.args)


MUTANTS = [rule._replace(rhs=m) for rule in RULES for m in mutants(rule.rhs)]


@pytest.mark.parametrize("mutant", MUTANTS, ids=[f"{m}" for m in MUTANTS])
def test_wrong_right_side_is_refuted(mutant: Rule) -> None:
    assert counterexamples(mutant) > 0


def test_conditions_are_printed_as_inequalities() -> None:
    rule = next(r for r in RULES if any(isinstance(c, AtLeast) for c in r.conditions) and r.lhs.head == "least")
    assert str(rule) == "least(x, y) = x when y - x >= 0"


# -- the simplifier ----------------------------------------------------------------------------------------------

DIMS = (0, 1, 2)
bounds = st.tuples(st.integers(-6, 6), st.sampled_from([0, 1, 2, 3, 7])).map(lambda t: (t[0], t[0] + t[1]))
boxes = st.fixed_dictionaries({d: bounds for d in DIMS})
divisors = st.sampled_from([1, 2, 3, 4, 5, 6, 8, 12, 16, 24])
plain = st.builds(
    lambda cs, c: Linear({d: k for d, k in zip(DIMS, cs, strict=True) if k}, c),
    st.tuples(*[st.sampled_from([0, 0, 1, 1, -1, 2, 3, 4, -4, 6, 8, 12, 15, 17, 24])] * 3),
    st.integers(-20, 20),
)


def _nested(inner: st.SearchStrategy[Linear]) -> st.SearchStrategy[Linear]:
    """Sums of divisions as they come before anything is simplified, some of them digits of one number."""
    factors = st.integers(-3, 3).filter(bool)
    division = st.builds(
        lambda kind, x, d, k: Linear({(kind, x, d): k}), st.sampled_from(["floordiv", "mod"]), inner, divisors, factors
    )
    digits = st.builds(
        lambda x, a, b, k: Linear({("mod", x, a): k}) + Linear({("mod", Linear({("floordiv", x, a): 1}), b): a * k}),
        inner, divisors, divisors, factors,
    )  # fmt: skip
    upper = st.builds(
        lambda x, a, b, k: (
            Linear({("mod", Linear({("floordiv", x, a): 1}), b): k}) + Linear({("floordiv", x, a * b): b * k})
        ),
        inner, divisors, divisors, factors,
    )  # fmt: skip
    middle = st.builds(
        lambda x, a, b, k: Linear({("floordiv", Linear({("mod", x, a * b): 1}), a): k}),
        inner, divisors, divisors, factors,
    )  # fmt: skip
    whole = st.builds(
        lambda x, a, k: Linear({("mod", x, a): k}) + Linear({("floordiv", x, a): a * k}), inner, divisors, factors
    )
    left = st.one_of(
        st.builds(lambda x, a, k: (x - Linear({("floordiv", x, a): a})) * k, inner, divisors, factors),
        st.builds(lambda x, a, k: (x - Linear({("mod", x, a): 1})) * k, inner, divisors, factors),
    )
    return st.builds(lambda a, b: a + b, st.one_of(division, digits, upper, middle, whole, left), inner)


forms = st.recursive(plain, _nested, max_leaves=4)


def size(x: Linear) -> int:
    """Terms and divisions."""
    return sum(1 + (1 + size(a[1]) if isinstance(a, tuple) else 0) for a in x.terms)


def points(box_: dict[Atom, Range]) -> Iterator[dict[Atom, int]]:
    for values in itertools.product(*(range(low, high + 1) for low, high in box_.values())):
        yield dict(zip(box_, values, strict=True))


def grid(box_: dict[Atom, Range]) -> dict[Atom, np.ndarray]:
    """All points of a box, as arrays that broadcast."""
    return {
        d: np.arange(low, high + 1).reshape([-1 if n == axis else 1 for n in range(len(box_))])
        for axis, (d, (low, high)) in enumerate(box_.items())
    }


@settings(max_examples=120, deadline=None, derandomize=True)
@given(forms, boxes)
def test_simplified_forms_are_equal_no_larger_and_stay_as_they_are(x: Linear, box_: dict[Atom, Range]) -> None:
    simple = x.simplify(box_.get)
    at = grid(box_)
    assert np.all(x.evaluate(at) == simple.evaluate(at)), f"{x}  became  {simple}"
    assert size(simple) <= size(x), f"{x}  became  {simple}"
    assert simple.simplify(box_.get) == simple
    # What knows less, such as a parser, leaves it alone too.
    assert simple.simplify(lambda _: None) == simple


# A left side as it stands before anything is simplified.
UNSIMPLIFIED: dict[str, Any] = {
    "floordiv": lambda _, x, d: Linear({("floordiv", x, d): 1}),
    "mod": lambda _, x, d: Linear({("mod", x, d): 1}),
}


class Known:
    """The ranges of a box, and that every dimension is a multiple of 4 where the box holds only such."""

    def __init__(self, box_: dict[Atom, Range]) -> None:
        self.box = box_
        self.fours = all(low == high and low % 4 == 0 for low, high in box_.values())

    def __call__(self, atom: Atom) -> Range | None:
        return None if self.fours else self.box.get(atom)

    def modulus(self, form: Linear) -> tuple[int, int]:
        return (4, form.const) if self.fours and not any(isinstance(a, tuple) for a in form.terms) else (1, 0)


def random_form(random: Random, small: bool) -> Linear:
    coefficients = (0, 1, 1) if small else (0, 0, 1, 1, -1, 2, 3, 4, 6, 8, 15, 17)
    return Linear({d: c for d in DIMS if (c := random.choice(coefficients))}, random.randint(-2, 5))


def left_side(rule: Rule, random: Random) -> tuple[Linear, dict[Atom, Range]]:
    """A form that has the rule's left side in it, and ranges under which the rule may hold."""
    four = random.random() < 0.2
    lows = {d: 4 * random.randint(-1, 2) if four else random.randint(-1, 2) for d in DIMS}
    box_: dict[Atom, Range] = {d: (low, low + (0 if four else random.choice((0, 1, 3)))) for d, low in lows.items()}
    values: dict[str, Any] = {}
    for name, kind in rule.variables().items():
        if kind == "form":
            values[name] = random_form(random, random.random() < 0.5)
        else:
            values[name] = random.choice((1, 2, 3, 4, 6, 8)) if kind == "positive" else random.randint(-3, 4)
    times = random.choice((1, 2, -3))
    beside = random_form(random, True) if random.random() < 0.3 else Linear()
    return rule.lhs.compile(UNSIMPLIFIED)(values, None) * times + beside, box_


@pytest.mark.parametrize("rule", [*index_rules.DIVISION, *index_rules.SUMS], ids=str)
def test_rule_fires_and_binds_what_stands_there(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(7)
    seen: list[tuple[Rule, dict[str, Any], Linear]] = []
    monkeypatch.setattr(index_matching, "observer", lambda rule, found, form: seen.append((rule, dict(found), form)))
    fired = 0
    for _ in range(400):
        x, box_ = left_side(rule, random)
        seen.clear()
        simple = x.simplify(Known(box_))
        assert size(simple) <= size(x)
        fired += any(r is rule for r, _, _ in seen)
        for at in itertools.islice(points(box_), 0, None, 5):
            assert x.evaluate(at) == simple.evaluate(at)
            for r, found, form in seen:
                values = {n: np.array(v.evaluate(at) if isinstance(v, Linear) else v) for n, v in found.items()}
                assert np.all(holds(r.conditions, values)), f"{r} fired at {found}"
                left = r.lhs.compile(NUMBERS)(values, None) * values.get("times", 1)
                assert left == form.evaluate(at), f"{r} fired at {found}"
    assert fired >= 5, f"fired {fired} times"
