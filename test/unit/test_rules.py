"""Every equation of every pass holds: both sides computed by the numpy oracles on random draws."""

import operator
from functools import partial
from typing import Any

import numpy as np
import pytest

from lamina.dialects.relay import find_op
from lamina.dialects.rules.terms import Equation, Term, attr, computed, const, splat, term, var
from lamina.dialects.rules.values import RuleError
from lamina.dialects.scalar.terms import arith, math
from lamina.passes.rules import equations
from lamina.passes.rules.equations import WrongEquation, check_rule

from .declared_rules import all_rules, equations_outside, functions_never_called, name_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("rule", all_rules(), ids=name_of)
def test_equation_holds(rule: Equation):
    check_rule(rule)


def test_no_equation_is_overlooked():
    assert not equations_outside()
    assert not functions_never_called()


x, y, z = var("x y z")


def word(name: str) -> Term:
    op = find_op(f"relay.{name}")
    assert op is not None
    return term(op)


ADD, MUL, SUB, ABS, CLIP, SUM = map(word, ("add", "multiply", "subtract", "abs", "clip", "sum"))
MAX, WHERE, SPLIT = map(word, ("maximum", "where", "split"))
PIECES = SPLIT(x)


@pytest.fixture
def fewer_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """For equations that no draw would ever suit."""
    monkeypatch.setattr(equations, "TRIES", 2000)


def test_right_equations_pass():
    c = CLIP(x)
    for rule in (
        ADD(x, y) >> ADD(y, x),
        MUL(x, splat(1)) >> x,
        ABS(ABS(x)) >> ABS(x),
        c >> CLIP(x, like=c),
        ABS(x) >> MUL(ABS(x), 1),
        PIECES[1] >> SPLIT(x, like=PIECES)[1],
    ):
        assert check_rule(rule) >= 20


@pytest.mark.usefixtures("fewer_tries")
def test_a_right_side_that_does_not_fit_is_told():
    with pytest.raises(WrongEquation, match="there is no such right side, mostly: relay.where: takes bool"):
        check_rule(ABS(x) >> WHERE(x, x, 0.0))
    assert check_rule(MAX(x, 0.0) >> WHERE(word("less")(x, 0.0), 0.0, x)) >= 20


OPERATIONS: list[Any] = [partial(operator.lt, 0), partial(operator.mul, 2), operator.neg, operator.not_, abs, len]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_is_computed_of_an_attribute_is_a_function(operation: Any):
    with pytest.raises(RuleError, match="a is not known yet: a @computed function of it"):
        operation(attr("a"))


def test_an_attribute_becomes_a_constant_by_splat():
    with pytest.raises(RuleError, match=r"a is no pattern: splat\(a, like=x\)"):
        ADD(x, attr("a"))


@pytest.mark.parametrize(
    "rule",
    [
        SUB(x, y) >> SUB(y, x),
        MUL(x, splat(2)) >> x,
        ABS(x) >> x,
        MUL(x, splat(0)) >> MUL(x, 1),
        CLIP(x) >> ABS(x),
        PIECES[0] >> SPLIT(x, like=PIECES)[1],
    ],
)
def test_wrong_equations_are_caught(rule: Equation):
    with pytest.raises(WrongEquation, match="the left side is"):
        check_rule(rule)


def test_equations_wrong_only_for_nan_need_finite():
    # x - x is 0 for numbers, but NaN for NaN and infinities.
    def make() -> Equation:
        return SUB(x, x) >> MUL(ABS(x), splat(0, like=x))

    check_rule(make())

    def zero() -> Equation:
        return (ADD(MUL(x, splat(0)), y)) >> y

    with pytest.raises(WrongEquation):
        check_rule(zero())
    check_rule(zero().finite())


@pytest.mark.parametrize(
    "rule",
    [
        arith.mulf(x, y) >> arith.mulf(y, x),
        arith.addi(x, arith.muli(x, y)) >> arith.muli(x, arith.addi(y, 1)),
        arith.select(z, x, x) >> x,
    ],
)
def test_equations_on_numbers_and_vectors_pass(rule: Equation):
    assert check_rule(rule) >= 20


@pytest.mark.parametrize(
    "rule",
    [
        arith.subf(x, y) >> arith.subf(y, x),
        arith.addf(x, arith.mulf(x, y)) >> math.fma(x, x, y),
        arith.shrsi(arith.shli(x, 1), 1) >> arith.addi(x, 1),
        arith.select(z, x, y) >> y,
    ],
)
def test_wrong_equations_on_numbers_and_vectors_are_caught(rule: Equation):
    with pytest.raises(WrongEquation, match="the left side is"):
        check_rule(rule)


def test_without_tolerance_both_sides_are_the_same_number_of_the_type():
    c = const("c")

    @computed
    def inverse(number: Any) -> float:
        return float(1 / number.flat[0])

    def some(rng: Any) -> Any:
        return rng.uniform(1, 2, 64).astype(np.float32)

    def one(rng: Any) -> Any:
        return np.full(64, some(rng)[0])

    def product() -> Equation:
        rule = arith.divf(x, c).has_dtype("float32") >> arith.mulf(x, splat(inverse(c.value), like=x))
        return rule.drawing(x=some, c=one)

    assert check_rule(product()) >= 20
    with pytest.raises(WrongEquation, match="the left side is"):
        check_rule(product().tolerance(0))


@pytest.mark.usefixtures("fewer_tries")
def test_attribute_never_drawn_off_its_default_fails():
    p = attr("p")

    @computed
    def is_default(v: bool) -> bool:
        return v is False

    s = SUM(x, keepdims=p)
    with pytest.raises(WrongEquation, match="never drawn off its default: relay.sum keepdims"):
        check_rule((s >> SUM(x, keepdims=False, like=s)).when(is_default(p)))


@pytest.mark.usefixtures("fewer_tries")
def test_guard_that_nothing_passes_fails():
    p = attr("p")

    @computed
    def never(v: float) -> bool:
        return False

    with pytest.raises(WrongEquation, match="only 0 of 2000 draws"):
        check_rule((CLIP(x, a_min=p) >> x).when(never(p)))
