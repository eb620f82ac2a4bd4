"""Gradient-boosted regression trees that learn an order: which of two configurations is the faster one.

The loss is the logistic one of pairs (RankNet: Burges et al., Learning to Rank using Gradient Descent, ICML 2005), or
half the square of what a logarithm of a time is missed by; each tree takes a Newton step on it (Chen and Guestrin,
XGBoost, KDD 2016, 2.2), its splits are found in histograms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Derivatives = Callable[[Floats], tuple[Floats, Floats]]
    """The first and second derivatives of a loss by the scores of rows."""

TREES = 40
DEPTH = 4
RATE = 0.2
"""The part of a tree's step that is taken."""
BINS = 32
"""Values of a feature that splits lie between, at most."""
SHRINKAGE = 1.0
"""Added to the second derivatives: leaves of few rows move little."""


@dataclass(frozen=True)
class Tree:
    """A binary tree of splits: row r goes left of node n where its feature is at most the threshold."""

    feature: list[int]
    """Of each node; -1 for a leaf."""
    threshold: list[float]
    """Of a leaf its value."""
    left: list[int]
    """The node that follows; the one to the right follows that."""

    def values(self, rows: Floats) -> Floats:
        """The leaves' values of rows, shape [n, features] -> [n]."""
        feature, threshold, left = (np.array(a) for a in (self.feature, self.threshold, self.left))
        at = np.zeros(len(rows), np.int64)
        for _ in range(DEPTH):
            inner = feature[at] >= 0
            goes_right = rows[np.arange(len(rows)), feature[at]] > threshold[at]
            at = np.where(inner, left[at] + goes_right, at)
        return threshold[at]


@dataclass(frozen=True)
class Ranker:
    """An order of rows by the sum of some trees: the lower, the better."""

    trees: list[Tree]

    @staticmethod
    def fit(rows: Floats, costs: Floats, loss: str = "rank") -> Ranker:
        """Learn from rows, shape [n, features], and what they cost, shape [n]; by one of the `LOSSES`."""
        derivatives = LOSSES[loss](costs)
        edges = [_edges(column) for column in rows.T]
        bins = np.zeros(rows.shape, np.int64)
        for column, (edge, values) in enumerate(zip(edges, rows.T, strict=True)):
            bins[:, column] = np.searchsorted(edge, values)
        scores = np.zeros(len(rows))
        trees: list[Tree] = []
        for _ in range(TREES):
            tree = _grown(bins, edges, *derivatives(scores))
            if tree.feature[0] < 0:
                break  # nothing tells the rows apart any more
            trees.append(tree)
            scores = scores + tree.values(rows)
        return Ranker(trees)

    def scores(self, rows: Floats) -> Floats:
        """Shape [n, features] -> [n]."""
        return sum((tree.values(rows) for tree in self.trees), np.zeros(len(rows)))

    def json(self) -> list[list[list[float]]]:
        return [[list(t.feature), t.threshold, list(t.left)] for t in self.trees]

    @staticmethod
    def of_json(data: Sequence[Sequence[Sequence[Any]]]) -> Ranker:
        return Ranker([Tree([int(f) for f in a], [float(x) for x in b], [int(n) for n in c]) for a, b, c in data])


def _of_pairs(better: NDArray[np.bool_]) -> Derivatives:
    """The loss of pairs of rows of which the first is the better one, where `better` says so, shape [n, n]."""

    def derivatives(scores: Floats) -> tuple[Floats, Floats]:
        # A pair whose better row has the higher score pulls both together.
        wrong = better / (1 + np.exp(np.clip(scores[None, :] - scores[:, None], -30, 30)))
        bent = wrong * (1 - wrong) * better
        return wrong.sum(1) - wrong.sum(0), bent.sum(1) + bent.sum(0)

    return derivatives


def _of_all_pairs(costs: Floats) -> Derivatives:
    return _of_pairs(costs[:, None] < costs[None, :])


def _of_halves(costs: Floats) -> Derivatives:
    fast = costs <= np.median(costs)
    return _of_pairs(fast[:, None] & ~fast[None, :])


def _of_squares(costs: Floats) -> Derivatives:
    wanted = np.log(costs) - np.log(costs).mean()
    return lambda scores: (scores - wanted, np.ones(len(scores)))


LOSSES: Mapping[str, Callable[[Floats], Derivatives]] = {
    "rank": _of_all_pairs,
    "rank-binary": _of_halves,
    "reg": _of_squares,
}
"""Losses by what is learnt of costs: the order of all pairs, which half a row belongs to, the costs themselves."""


def _edges(column: Floats) -> Floats:
    """The thresholds of a feature: half way between neighbours of its values, or of their quantiles."""
    values = np.unique(column)
    if len(values) > BINS:
        values = np.unique(np.quantile(values, np.linspace(0, 1, BINS)))
    return (values[1:] + values[:-1]) / 2


def _grown(bins: NDArray[np.int64], edges: Sequence[Floats], slope: Floats, curve: Floats) -> Tree:
    """A tree that lowers the loss, whose derivatives by the rows' scores are `slope` and `curve`."""
    tree = Tree([-1], [0.0], [-1])
    members = {0: np.arange(len(bins))}
    frontier = [0]
    for _ in range(DEPTH):
        following: list[int] = []
        for node in frontier:
            rows = members[node]
            found = _best_split(bins[rows], slope[rows], curve[rows])
            if found is None:
                continue
            feature, edge = found
            goes_right = bins[rows, feature] > edge
            tree.feature[node], tree.threshold[node] = feature, float(edges[feature][edge])
            tree.left[node] = len(tree.feature)
            for side in (~goes_right, goes_right):
                child = len(tree.feature)
                tree.feature.append(-1)
                tree.threshold.append(0.0)
                tree.left.append(-1)
                members[child] = rows[side]
                following.append(child)
        frontier = following
    for node, rows in members.items():
        if tree.feature[node] < 0:
            tree.threshold[node] = float(-RATE * slope[rows].sum() / (curve[rows].sum() + SHRINKAGE))
    return tree


def _best_split(bins: NDArray[np.int64], slope: Floats, curve: Floats) -> tuple[int, int] | None:
    """The feature and the edge that gain most; None where none gains."""
    count = bins.shape[1]
    places = np.ravel(bins + BINS * np.arange(count, dtype=np.int64))
    left_slope, left_curve = (
        np.bincount(places, np.repeat(w, count), BINS * count).reshape(count, BINS).cumsum(1) for w in (slope, curve)
    )
    slopes, curves = slope.sum(), curve.sum()
    gain = left_slope**2 / (left_curve + SHRINKAGE)
    gain += (slopes - left_slope) ** 2 / (curves - left_curve + SHRINKAGE) - slopes**2 / (curves + SHRINKAGE)
    # What has all rows on one side gains nothing, but for the last digits.
    feature, edge = divmod(int(np.argmax(gain)), BINS)
    return (feature, edge) if gain[feature, edge] > 1e-9 else None


def rows_of(knobs: Sequence[Mapping[str, Sequence[float]]], columns: Sequence[str]) -> Floats:
    """The numbers of decisions by their knobs' names, as rows; -1 for one that is not there."""
    made = np.full((len(knobs), len(columns)), -1.0)
    for row, decided in zip(made, knobs, strict=True):
        numbers = flat(decided)
        row[:] = [numbers.get(c, -1.0) for c in columns]
    return made


def flat(decided: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """A number of each decision by a name of its own: `tile_j.1`."""
    return {f"{knob}.{n}": float(x) for knob, numbers in decided.items() for n, x in enumerate(numbers)}
