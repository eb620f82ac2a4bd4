"""einsum's decomposition on random equations, against numpy."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from lamina.dialects.infos import TensorInfo
from lamina.dialects.relay.meaning import np_results, te_func
from lamina.dialects.relay.reduce.einsum import EinsumOp, parse_equation
from lamina.interpreters.te_interpreter import run_te_func


def random_equation(random: Random) -> tuple[str, list[tuple[int, ...]]]:
    """Up to three operands of up to four labels, repeated ones and extents of 1 for larger ones included."""
    extents = {c: random.randint(1, 3) for c in "ijkl"}
    terms = ["".join(random.choice("ijkl") for _ in range(random.randint(0, 4))) for _ in range(random.randint(1, 3))]
    used = sorted(set("".join(terms)))
    result = "".join(random.sample(used, random.randint(0, len(used))))
    equation = ",".join(terms) + (f"->{result}" if random.random() < 0.8 else "")
    shapes: list[tuple[int, ...]] = []
    for term in terms:
        # numpy takes a diagonal of equal extents only.
        thin = {c for c in term if random.random() < 0.15}
        shapes.append(tuple(1 if c in thin else extents[c] for c in term))
    return equation, shapes


@pytest.mark.parametrize("seed", range(60))
def test_random_equations_give_what_numpy_gives(seed: int) -> None:
    equation, shapes = random_equation(Random(seed))
    generator = np.random.default_rng(seed)
    arrays = [generator.integers(-3, 4, s).astype("int64") for s in shapes]
    infos = [TensorInfo(s, "int64") for s in shapes]
    (expected,) = np_results(EinsumOp, arrays, {"equation": equation})
    _, result, extents = parse_equation(equation, shapes)
    assert tuple(extents[c] for c in result) == expected.shape
    (actual,) = run_te_func(te_func(EinsumOp, infos, {"equation": equation}), arrays)
    np.testing.assert_array_equal(actual, expected, f"{equation} of {shapes}")
