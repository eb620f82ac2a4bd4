"""Trees that learn an order: against functions that nobody told them of, on rows that they have not seen."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lamina.tuning.boosted_trees import Ranker, Tree, rows_of

Array = Any

FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "a sum": lambda x: x[:, 0] - 2 * x[:, 1],
    "a valley": lambda x: (x[:, 0] - 3) ** 2 + x[:, 2],
    "a product": lambda x: np.abs(x[:, 0] * x[:, 1] - 16),
    "steps": lambda x: np.where(x[:, 1] > 4, 10, 0) + x[:, 3],
}


def spearman(a: Array, b: Array) -> float:
    """The correlation of ranks."""
    return float(np.corrcoef(np.argsort(np.argsort(a)), np.argsort(np.argsort(b)))[0, 1])


def drawn(count: int, seed: int) -> Array:
    return 2.0 ** np.random.default_rng(seed).integers(0, 5, (count, 6))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_rows_that_were_not_seen_come_in_order(name: str) -> None:
    rows, others = drawn(160, 1), drawn(200, 2)
    noise = np.random.default_rng(3).normal(0, 0.02, len(rows))
    costs = FUNCTIONS[name](rows)
    ranker = Ranker.fit(rows, costs + noise)
    assert spearman(ranker.scores(others), FUNCTIONS[name](others)) > 0.85
    read = Ranker.of_json(json.loads(json.dumps(ranker.json())))
    np.testing.assert_array_equal(read.scores(others), ranker.scores(others))


def test_the_size_of_costs_is_no_matter() -> None:
    """Only their order is learnt: a few candidates that are a hundred times slower change nothing for the others."""
    rows = drawn(100, 4)
    costs = FUNCTIONS["a valley"](rows)
    ranker, same = Ranker.fit(rows, costs), Ranker.fit(rows, np.exp(costs / 8))
    np.testing.assert_array_equal(ranker.scores(rows), same.scores(rows))


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_nothing_is_learnt_of_what_tells_nothing(count: int) -> None:
    rows = np.zeros((count, 3))
    assert (Ranker.fit(rows, np.arange(count, dtype=float)).scores(rows) == 0).all()
    rows = drawn(count, 5)
    assert (Ranker.fit(rows, np.ones(count)).scores(rows) == 0).all()


def test_rows_follow_a_tree_down_to_its_leaves() -> None:
    tree = Tree([0, -1, 1, -1, -1], [2.0, 5.0, 0.5, 6.0, 7.0], [1, -1, 3, -1, -1])
    rows = np.array([[2.0, 9.0], [3.0, 0.5], [3.0, 0.6]])
    np.testing.assert_array_equal(tree.values(rows), [5.0, 6.0, 7.0])


def test_many_values_of_a_feature_are_binned() -> None:
    rows = np.random.default_rng(6).normal(0, 1, (300, 2))
    ranker = Ranker.fit(rows, rows[:, 0])
    assert spearman(ranker.scores(rows), rows[:, 0]) > 0.98


def test_decisions_are_rows() -> None:
    rows = rows_of([{"tile": (8, 4), "unroll": (1,)}, {"unroll": (0,)}], ["tile.0", "tile.1", "unroll.0", "other.0"])
    np.testing.assert_array_equal(rows, [[8, 4, 1, -1], [-1, -1, 0, -1]])
