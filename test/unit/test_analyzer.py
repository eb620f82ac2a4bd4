"""What the analyzer says of forms under conditions is true at every point of small boxes where the conditions hold."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random

import pytest

from lamina.dialects.index import matching as index_matching
from lamina.dialects.index import rules as index_rules
from lamina.dialects.index.analyzer import Facts, proves
from lamina.dialects.index.extremum import Extremum
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import MAX_EXTENT, Atom, Linear, Range, constant, floordiv, mod
from lamina.dialects.index.matching import Bindings
from lamina.dialects.index.rules import Rule

pytestmark = pytest.mark.slow

DIMS = ("i", "j", "k")
Point = dict[Atom, int]
NUMBERS = {"floordiv": lambda _, a, b: a // b}  # pyright: ignore


def form(r: Random, depth: int = 1) -> Linear:
    coefficients = (0, 0, 1, 1, -1, 2, 3, -4, 4, 8)
    x = Linear({d: c for d in DIMS if (c := r.choice(coefficients))}, r.randint(-6, 8))
    if depth and r.random() < 0.5:
        inner, divisor = form(r, depth - 1), r.choice((2, 3, 4, 8))
        if inner.terms:
            x = x + Linear({(r.choice(("floordiv", "mod")), inner, divisor): r.choice((1, 1, -1, 2, divisor))})
    return x


def condition(r: Random) -> Condition:
    if r.random() < 0.15:
        return Condition(Linear({("mod", Linear.dim(r.choice(DIMS)), r.choice((2, 3, 4))): 1}), True)
    return Condition(form(r), r.random() < 0.15)


def holds(c: Condition, at: Point) -> bool:
    value = c.form.evaluate(at)
    return value == 0 if c.equal else value >= 0


class Place:
    """A box with conditions, and the points at which they hold."""

    def __init__(self, r: Random, most: int = 3) -> None:
        self.box: dict[Atom, Range] = {}
        for d in DIMS:
            low = r.randint(-3, 3)
            self.box[d] = low, low + r.choice((0, 1, 3, 5))
        self.conditions = [condition(r) for _ in range(r.randint(0, most))]
        self.facts = Facts(self.box.get, self.conditions)

    def points(self) -> Iterator[Point]:
        for values in itertools.product(*(range(low, high + 1) for low, high in self.box.values())):
            at: Point = dict(zip(self.box, values, strict=True))
            if all(holds(c, at) for c in self.conditions):
                yield at


def places(seed: int, count: int, most: int = 3) -> Iterator[tuple[Random, Place, list[Point]]]:
    r = Random(seed)
    for _ in range(count):
        place = Place(r, most)
        points = list(place.points())
        if points:
            yield r, place, points


def test_bounds_and_moduli_hold_and_simplification_keeps_the_value() -> None:
    exact = tried = 0
    for r, place, points in places(1, 400):
        x = form(r, 2)
        values = [x.evaluate(p) for p in points]
        for bounds in (x.range(place.facts), place.facts.bounds(x)):
            assert bounds is not None and bounds[0] <= min(values) and max(values) <= bounds[1], (x, place.conditions)
        tried += 1
        exact += place.facts.bounds(x) == (min(values), max(values))
        coefficient, base = place.facts.modulus(x)
        for v in values:
            assert (v - base) % coefficient == 0 if coefficient else v == base
        simple = place.facts.simplify(x)
        assert [simple.evaluate(p) for p in points] == values, (x, simple, place.conditions)
    assert exact > tried * 0.6, f"{exact} of {tried}"


def test_what_is_proved_holds_and_what_is_excluded_never_does() -> None:
    proved = true = excluded = false = 0
    for r, place, points in places(2, 500):
        for _ in range(4):
            c = condition(r)
            found = [holds(c, p) for p in points]
            true += all(found)
            false += not any(found)
            if proves(c, place.facts):
                proved += 1
                assert all(found), (c, place.conditions, place.box)
            if place.facts.excludes(c):
                excluded += 1
                assert not any(found), (c, place.conditions, place.box)
            simple = place.facts.condition(c)
            for p, before in zip(points, found, strict=True):
                assert (simple if isinstance(simple, bool) else holds(simple, p)) == before, (c, simple)
    assert proved > 0.75 * true > 100, f"{proved} of {true}"
    assert excluded > 0.75 * false > 100, f"{excluded} of {false}"


def test_without_conditions_and_divisions_everything_is_decided() -> None:
    for r, place, points in places(3, 300, most=0):
        x = form(r, 0)
        assert proves(Condition(x), place.facts) == all(x.evaluate(p) >= 0 for p in points)


def test_conditions_together_keep_their_meaning() -> None:
    smaller = 0
    for r, place, points in places(4, 300):
        several = [condition(r) for _ in range(3)]
        kept = place.facts.all_of(several)
        for p in points:
            assert all(holds(c, p) for c in several) == (kept is not None and all(holds(c, p) for c in kept))
        smaller += kept is None or len(kept) < 3
    assert smaller > 150


def test_contradictory_facts_have_no_point() -> None:
    r = Random(5)
    found = empty = 0
    for _ in range(400):
        place = Place(r, most=4)
        none = not any(True for _ in place.points())
        empty += none
        if place.facts.contradictory():
            found += 1
            assert none, place.conditions
    assert found > 0.75 * empty > 50, f"{found} of {empty}"


def test_symbolic_bounds_enclose_the_values() -> None:
    found = 0
    for r, place, points in places(6, 300):
        x = form(r, 0)
        lows, highs = place.facts.symbolic_bounds(x, ["j", "k"])
        for f in (*lows, *highs):
            assert not {"j", "k"} & set(f.dims())
        found += bool(lows) and bool(highs)
        for p in points:
            assert all(f.evaluate(p) <= x.evaluate(p) for f in lows), (x, lows)
            assert all(f.evaluate(p) >= x.evaluate(p) for f in highs), (x, highs)
    assert found > 200


def test_least_and_greatest_keep_their_value() -> None:
    dropped = 0
    for r, place, points in places(7, 300):
        several = [form(r) for _ in range(3)]
        least, greatest = place.facts.minimum(several), place.facts.maximum(several)
        dropped += len(least) < 3
        for p in points:
            values = [x.evaluate(p) for x in several]
            assert min(x.evaluate(p) for x in least) == min(values)
            assert max(x.evaluate(p) for x in greatest) == max(values)
    assert dropped > 50


def test_arithmetic_goes_inside_the_least_and_the_greatest() -> None:
    for r, place, points in places(8, 200):
        head = r.choice(("least", "greatest"))
        x = Extremum(head, [form(r) for _ in range(r.randint(1, 3))])
        z, factor, divisor = form(r), r.randint(-3, 3), r.randint(1, 5)
        changed = [x + z, x - 2, 5 - x, x * factor, x.floordiv(divisor, place.facts), x.simplify(place.facts)]
        for p in points:
            v = x.evaluate(p)
            wanted = [v + z.evaluate(p), v - 2, 5 - v, v * factor, v // divisor, v]
            assert [y.evaluate(p) for y in changed] == wanted


@pytest.mark.parametrize("rule", index_rules.CONDITIONS, ids=str)
def test_rule_of_conditions_fires_and_binds_what_stands_there(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Rule, Bindings, Linear]] = []

    def look(rule: Rule, found: Bindings, form: Linear) -> None:
        seen.append((rule, dict(found), form))

    monkeypatch.setattr(index_matching, "observer", look)
    fired = 0
    for r, place, points in places(9, 600, most=1):
        seen.clear()
        x = form(r) * r.choice((1, 2, 4)) + r.choice((0, 1, 4))
        if r.random() < 0.1:
            x = x - x.evaluate(points[0])  # zero, at some point at least
        place.facts.condition(Condition(x, r.random() < 0.5))
        for applied, found, stood in seen:
            if applied is not rule:
                continue
            fired += 1
            for p in points[::7]:
                values = {n: v.evaluate(p) if isinstance(v, Linear) else v for n, v in found.items()}
                left = applied.lhs.args[0].compile(NUMBERS)(values, None)
                assert left == stood.evaluate(p), f"{applied} at {found}"
    assert fired >= 2, fired


# -- sizes that are known only when the kernel is called -----------------------------------------------------------

N, IO, II, T = (Linear.dim(v) for v in ("n", "io", "ii", "t"))
SIZES: dict[Atom, Range] = {"n": (0, MAX_EXTENT), "io": (0, MAX_EXTENT), "ii": (0, 63), "t": (0, 3)}
TILES = floordiv(N + 63, 64)


def test_a_tile_that_is_begun_has_at_least_one_element() -> None:
    facts = Facts(SIZES.get, [Condition(TILES - IO - 1)])
    assert facts.proves(Condition(N - IO * 64 - 1))
    assert not facts.proves(Condition(N - IO * 64 - 2))
    assert not facts.excludes(Condition(N - IO * 64 - 2))


def test_whole_tiles_cover_the_size() -> None:
    facts = Facts(SIZES.get)
    assert facts.proves(Condition(TILES * 64 - N))
    assert not facts.proves(Condition(TILES * 64 - N - 1))
    assert facts.proves(Condition(N + 63 - TILES * 64))


def test_the_bound_of_a_tail_is_a_fact_inside_it() -> None:
    facts = Facts(SIZES.get, [Condition(TILES - IO - 1), Condition(N - IO * 64 - II - 1)])
    assert facts.proves(Condition(N - (IO * 64 + II) - 1))
    assert facts.all_of([Condition(N - IO * 64 - II - 1), Condition(II)]) == []
    lows, highs = facts.symbolic_bounds(IO * 64 + II, ["io", "ii"])
    assert lows == [constant(0)] and highs == [N - 1]


def test_a_size_that_is_a_multiple_needs_no_tail() -> None:
    facts = Facts(SIZES.get, [Condition(mod(N, 64), True), Condition(TILES - IO - 1)])
    assert facts.modulus(N) == (64, 0)
    assert facts.simplify(TILES * 64) == N
    assert facts.proves(Condition(N - IO * 64 - 64))


def test_a_division_is_decided_by_the_bound_of_the_loop() -> None:
    facts = Facts(SIZES.get, [Condition(9 - T * 4 - II)])
    assert floordiv(T * 4 + II, 10, facts) == constant(0)
    assert mod(T * 4 + II, 10, facts) == T * 4 + II
    assert floordiv(T * 4 + II, 9, facts) != constant(0)


def test_conditions_on_quotients_become_conditions_on_what_is_divided() -> None:
    facts = Facts(SIZES.get)
    assert facts.condition(Condition(floordiv(II, 4) - 3)) == Condition(II - 12)
    assert facts.condition(Condition(5 - floordiv(II, 4))) == Condition(23 - II)
    assert facts.condition(Condition(II * 4 - T - 9)) == Condition(II - 3)
    assert facts.condition(Condition(II * 4 - 9, True)) is False
    assert facts.condition(Condition(II * 4 - 8, True)) == Condition(II - 2, True)


def test_conditions_that_exclude_each_other_never_hold() -> None:
    facts = Facts(SIZES.get)
    assert facts.all_of([Condition(N - II - 1), Condition(II - N)]) is None
    assert facts.all_of([Condition(N - II - 1), Condition(N - II - 3)]) == [Condition(N - II - 3)]
