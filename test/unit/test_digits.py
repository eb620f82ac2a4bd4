"""Index forms and the way back: what `inverse` gives is checked on every value of the variables."""

from __future__ import annotations

import itertools
import random

from lamina.dialects.index.digits import inverse, is_injective
from lamina.dialects.index.linear import Atom, Linear, Range, Ranges, constant, floordiv, mod


def ranges_of(extents: dict[Atom, int]) -> Ranges:
    def ranges(atom: Atom) -> Range | None:
        return (0, extents[atom] - 1) if atom in extents else None

    return ranges


def distinct(forms: list[Linear], extents: dict[Atom, int]) -> bool:
    points = [dict(zip(extents, p, strict=True)) for p in itertools.product(*(range(e) for e in extents.values()))]
    return len({tuple(f.evaluate(p) for f in forms) for p in points}) == len(points)


def check_inverse(forms: list[Linear], extents: dict[Atom, int]) -> bool:
    """Whether there is an inverse; it must be right at every point."""
    back = inverse(forms, dict(extents), [Linear.dim(f"v{n}") for n in range(len(forms))])
    if back is None:
        return False
    for point in itertools.product(*(range(e) for e in extents.values())):
        at = dict(zip(extents, point, strict=True))
        values: dict[Atom, int] = {f"v{n}": f.evaluate(at) for n, f in enumerate(forms)}
        for variable, form in back.items():
            assert form.evaluate(values) == at[variable], f"{variable} = {form} of {forms} with {extents} at {at}"
    return True


def layout(r: random.Random) -> tuple[list[Linear], dict[Atom, int]]:
    """A permutation of variables that were split and fused: injective by construction."""
    extents: dict[Atom, int] = {name: r.randint(1, 7) for name in "abc"[: r.randint(1, 3)]}
    ranges = ranges_of(extents)
    forms = [Linear.dim(v) for v in extents]
    sizes = list(extents.values())
    for _ in range(r.randint(0, 3)):
        n = r.randrange(len(forms))
        kind = r.choice(["split", "split", "fuse", "turn", "shift", "swap"])
        if kind == "split":
            k = r.randint(1, 5)
            form, size = forms[n], sizes[n]
            forms[n : n + 1] = [floordiv(form, k, ranges), mod(form, k, ranges)]
            sizes[n : n + 1] = [-(-size // k), min(k, size)]
        elif kind == "fuse" and len(forms) > 1:
            m = (n + 1) % len(forms)
            fused, size = forms[n] * sizes[m] + forms[m], sizes[n] * sizes[m]
            forms = [f for i, f in enumerate(forms) if i not in (n, m)] + [fused]
            sizes = [s for i, s in enumerate(sizes) if i not in (n, m)] + [size]
        elif kind == "turn":
            forms[n] = sizes[n] - 1 - forms[n]
        elif kind == "shift":
            forms[n], sizes[n] = forms[n] + 3, sizes[n] + 3
        else:
            forms[n], forms[0], sizes[n], sizes[0] = forms[0], forms[n], sizes[0], sizes[n]
    return forms, extents


def test_what_was_split_fused_and_permuted_is_found_again() -> None:
    r = random.Random(0)
    found = sum(check_inverse(*layout(r)) for _ in range(2000))
    assert found > 1700, f"only {found} of 2000"


def test_an_inverse_is_never_wrong() -> None:
    r = random.Random(1)
    accepted = 0
    for _ in range(4000):
        extents: dict[Atom, int] = {name: r.randint(1, 5) for name in "abc"[: r.randint(1, 3)]}
        ranges = ranges_of(extents)
        forms: list[Linear] = []
        for _ in range(r.randint(1, 3)):
            form = constant(r.randint(-2, 2))
            for v in extents:
                if r.random() < 0.6:
                    atom = Linear.dim(v) + r.choice([0, 0, 1])
                    if r.random() < 0.6:
                        atom = r.choice([floordiv, mod])(atom, r.randint(1, 4), ranges)
                    form = form + atom * r.choice([-3, -1, 1, 1, 2, 3, 4, 6])
            forms.append(form)
        if check_inverse(forms, extents):
            accepted += 1
            assert distinct(forms, extents)
    assert accepted > 400


def test_an_unknown_extent_may_be_the_last_digit() -> None:
    n, i, j = "n", Linear.dim("i"), Linear.dim("j")
    back = inverse([i * 4 + j + Linear.dim(n) * 2], {"i": None, "j": 4}, [Linear.dim("x")])
    assert back is not None
    for x in range(40):
        for size in range(3):
            at: dict[Atom, int] = {"x": x + size * 2, "n": size}
            assert (back["i"].evaluate(at), back["j"].evaluate(at)) == divmod(x, 4)
    split = [floordiv(i, 4), mod(i, 4)]
    back = inverse(split, {"i": None}, [Linear.dim("a"), Linear.dim("b")])
    assert back == {"i": Linear.dim("a") * 4 + Linear.dim("b")}


def test_forms_that_tell_too_little_have_no_inverse() -> None:
    i, j = Linear.dim("i"), Linear.dim("j")
    assert not is_injective([i + j], {"i": 2, "j": 2})
    assert not is_injective([mod(i, 4)], {"i": 5})
    assert not is_injective([floordiv(i, 2)], {"i": 3})
    assert not is_injective([i], {"i": 3, "j": 2})
    assert not is_injective([i * 4 + j], {"i": 4, "j": None})
    assert is_injective([i], {"i": 3, "j": 1})
