"""Decision trees: all rows go down all trees at once, one level a step.

    at [N, T]        the node where each row is in each tree; a leaf leads to itself
    next             yes[at] where x[row, feature[at]] <= split[at], else no[at]
    result [N, C]    weights[at] summed over the trees

As many steps as the deepest tree has levels. A node that asks whether a number is in a set is a chain of nodes that ask
whether it is one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.registry import onnx_op

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
_COMPARED = ("less_equal", "less", "greater_equal", "greater", "equal", "not_equal")
EQUAL, MEMBER = 4, 6
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
DEEPEST = 256
"""Levels of a tree; each is code of its own."""


@dataclass
class Forest:
    """Trees as lists by node, the inner nodes first, then the leaves; `yes` and `no` are numbers of nodes."""

    features: list[int]
    splits: list[float]
    modes: list[int]
    yes: list[int]
    no: list[int]
    tracks: list[bool]
    """Whether NaN means yes."""
    roots: list[int]
    weights: NDArray[Any]
    """[leaves, targets]; 0 for a target that a leaf says nothing about"""
    says: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), np.bool_))
    """The targets that each leaf says something about."""

    @property
    def inner(self) -> int:
        return len(self.features)

    def depth(self) -> int:
        """Steps from a root to the farthest leaf, 0 for more than there are nodes: a circle."""
        level, steps = {r for r in self.roots if r < self.inner}, 0
        while level:
            steps += 1
            if steps > self.inner:
                return 0
            level = {c for k in level for c in (self.yes[k], self.no[k]) if c < self.inner}
        return max(steps, 1)


@onnx_op("TreeEnsemble", domain="ai.onnx.ml")
def tree_ensemble(n: Node, b: Builder) -> Value:
    """Trees whose inner nodes and leaves are listed apart."""
    x, targets = n.input(0), n.attr("n_targets", 1)
    count = len(n.attrs["nodes_featureids"])
    splits, weights = (_numbers(n, b, name) for name in ("nodes_splits", "leaf_weights"))
    modes = [int(m) for m in _numbers(n, b, "nodes_modes")]
    chosen, leaves = n.attrs["leaf_targetids"], len(n.attrs["leaf_targetids"])
    named = ("nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs", "nodes_falseleafs")
    if {len(splits), len(modes), *(len(n.attrs[k]) for k in named)} != {count} or len(weights) != leaves:
        raise n.fail("the lists of nodes, or of leaves, are not of one length")
    if any(not 0 <= t < targets for t in chosen) or any(not 0 <= m < len(MODES) for m in modes):
        raise n.fail(f"a leaf's target is none of {targets}, or a mode does not exist")
    yes, no = (
        [child + count if leaf else child for child, leaf in zip(n.attrs[ids], n.attrs[leafs], strict=True)]
        for ids, leafs in zip(named[:2], named[2:], strict=True)
    )
    table = np.zeros((leaves, targets), np.float64)
    table[np.arange(leaves), list(chosen)] = weights
    says = np.zeros((leaves, targets), np.bool_)
    says[np.arange(leaves), list(chosen)] = True
    tracks = [bool(t) for t in n.attr("nodes_missing_value_tracks_true", ()) or [0] * count]
    features = list(n.attrs["nodes_featureids"])
    forest = Forest(features, splits, modes, yes, no, tracks, list(n.attrs["tree_roots"]), table, says)
    _spell_out_sets(n, forest, _numbers(n, b, "membership_values") if "membership_values" in n.attrs else [])
    scores = _scores(n, b, x, forest, n.attr("aggregate_function", 1))
    return _transformed(n, b, scores, n.attr("post_transform", 0))


@onnx_op("TreeEnsembleRegressor", domain="ai.onnx.ml")
def tree_ensemble_regressor(n: Node, b: Builder) -> Value:
    """Trees whose nodes have the numbers of their tree and of themselves; several votes may belong to a leaf."""
    x = n.input(0) if n.input(0).dtype in ("float32", "float64") else b.cast(n.input(0), "float32")
    forest = _by_number(n, b, n.attr("n_targets", 1))
    aggregate, transform = n.attr("aggregate_function", "SUM"), n.attr("post_transform", "NONE")
    if aggregate not in AGGREGATES or transform not in TRANSFORMS:
        raise n.fail(f"aggregate_function is {aggregate!r} and post_transform {transform!r}: one does not exist")
    scores = _scores(n, b, x, forest, AGGREGATES.index(aggregate))
    base = _floats(n, b, "base_values", "base_values_as_tensor")
    if base:
        scores = b.op("add", scores, b.constant(np.array(base, x.dtype)))
    return b.cast(_transformed(n, b, scores, TRANSFORMS.index(transform)), "float32")


_NODES = ("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids")
_VOTES = ("target_treeids", "target_nodeids", "target_ids")


def _by_number(n: Node, b: Builder, targets: int) -> Forest:
    """The trees of a regressor."""
    lists = [list(n.attr(name, ())) for name in _NODES]
    trees, numbers, features, if_true, if_false = lists
    modes, splits = list(n.attr("nodes_modes", ())), _floats(n, b, "nodes_values", "nodes_values_as_tensor")
    voters = [list(n.attr(name, ())) for name in _VOTES]
    weights = _floats(n, b, "target_weights", "target_weights_as_tensor")
    if len({*map(len, lists), len(modes), len(splits)}) > 1 or len({*map(len, voters), len(weights)}) > 1:
        raise n.fail("the lists of nodes, or of votes, are not of one length")
    if not set(modes) <= {*MODES[:MEMBER], "LEAF"}:
        raise n.unsupported(f"the modes {', '.join(sorted({*modes} - {*MODES, 'LEAF'}))} are not supported")
    inner = [k for k, m in enumerate(modes) if m != "LEAF"]
    leaves = [k for k, m in enumerate(modes) if m == "LEAF"]
    place = {(trees[k], numbers[k]): i for i, k in enumerate([*inner, *leaves])}
    table, says = np.zeros((len(leaves), targets), np.float64), np.zeros((len(leaves), targets), np.bool_)
    for tree, number, target, weight in zip(*voters, weights, strict=True):
        at = place.get((tree, number), -1) - len(inner)
        if at < 0 or not 0 <= target < targets:
            raise n.fail(f"a vote belongs to node {number} of tree {tree}, which is no leaf, or to target {target}")
        table[at, target] += weight
        says[at, target] = True
    yes, no = ([place.get((trees[k], ids[k]), -1) for k in inner] for ids in (if_true, if_false))
    below = {(trees[k], ids[k]) for k in inner for ids in (if_true, if_false)}
    roots = [i for key, i in place.items() if key not in below]
    tracks = list(n.attr("nodes_missing_value_tracks_true", ())) or [0] * len(modes)
    return Forest(
        [features[k] for k in inner], [splits[k] for k in inner], [MODES.index(modes[k]) for k in inner],
        yes, no, [bool(tracks[k]) for k in inner], roots, table, says,
    )  # fmt: skip


def _floats(n: Node, b: Builder, name: str, doubles: str) -> list[float]:
    """A list of numbers, which may also be a tensor of doubles."""
    return _numbers(n, b, doubles) if doubles in n.attrs else list(n.attr(name, ()))


def _numbers(n: Node, b: Builder, name: str) -> list[float]:
    """The numbers of an attribute that is a tensor."""
    array = b.tensor(n.attrs[name]).array
    assert array is not None
    return [float(v) for v in array.reshape(-1)]


def _spell_out_sets(n: Node, forest: Forest, members: Sequence[float]) -> None:
    """Make nodes that ask for one number each of those that ask for a set. NaN parts the sets, in the nodes' order."""
    ends = [k for k, v in enumerate(members) if v != v]
    sets = [members[start:end] for start, end in zip([0, *(e + 1 for e in ends)], [*ends, len(members)], strict=False)]
    asking = [k for k, m in enumerate(forest.modes) if m == MEMBER]
    if len(sets) < len(asking):
        raise n.fail(f"{len(asking)} nodes ask for sets, there are {len(sets)}")
    more = sum(max(len(s) - 1, 0) for s, _ in zip(sets, asking, strict=False))
    inner = forest.inner
    for children in (forest.yes, forest.no):
        children[:] = [c + more if c >= inner else c for c in children]
    for k, numbers in zip(asking, sets, strict=False):
        forest.modes[k], last = EQUAL, k
        forest.splits[k] = numbers[0] if numbers else float("nan")
        for number in numbers[1:]:
            forest.no.append(forest.no[last])
            forest.no[last] = forest.inner
            forest.yes.append(forest.yes[k])
            forest.features.append(forest.features[k])
            forest.tracks.append(forest.tracks[k])
            forest.splits.append(number)
            forest.modes.append(EQUAL)
            last = forest.inner - 1


def _scores(n: Node, b: Builder, x: Value, forest: Forest, aggregate: int) -> Value:
    """The votes of all trees for each target, [N, C], in the type of the rows."""
    leaves = len(forest.weights)
    nodes = forest.inner + leaves
    links = [*forest.yes, *forest.no, *forest.roots]
    if x.rank != 2 or not forest.roots or not leaves or any(not 0 <= c < nodes for c in links):
        raise n.fail("the input must be [rows, features], and nodes must lead to nodes that there are")
    if any(not 0 <= f < x.shape[1] for f in forest.features):
        raise n.fail(f"a node asks for a feature that rows of {x.shape[1]} do not have")
    depth = forest.depth()
    if not depth or depth > DEEPEST:
        raise n.unsupported(f"trees of more than {DEEPEST} levels are not supported" if depth else "the nodes go round")
    at = b.constant(np.broadcast_to(np.array(forest.roots, np.int32), (x.shape[0], len(forest.roots))))
    tables = _Tables(b, x, forest)
    for _ in range(depth):
        at = tables.next(at)
    votes = b.op("subtract", at, b.constant(np.int32(forest.inner)))
    kind = AGGREGATES[aggregate]

    def summed(table: NDArray[Any], reduction: str) -> Value:
        rows = b.op("take", b.constant(table), votes, axis=0, mode="clip")
        return b.op(reduction, rows, axis=[1])

    weights = forest.weights.astype(x.dtype)
    if kind in ("SUM", "AVERAGE"):
        total = summed(weights, "sum")
        return b.op("divide", total, b.scalar(len(forest.roots), total)) if kind == "AVERAGE" else total
    none = np.inf if kind == "MIN" else -np.inf
    best = summed(np.where(forest.says, weights, none).astype(x.dtype), kind.lower())
    return b.op("where", b.op("isinf", best), b.scalar(0, best), best)


class _Tables:
    """The conditions of the nodes, as constants, and the rows that they are asked of."""

    def __init__(self, b: Builder, x: Value, forest: Forest) -> None:
        self.b, self.x = b, x
        leaves = len(forest.weights)
        own = list(range(forest.inner, forest.inner + leaves))
        self.modes = sorted(set(forest.modes))

        def table(inner: Sequence[Any], of_leaves: Sequence[Any], dtype: str) -> Value:
            return b.constant(np.array([*inner, *of_leaves]).astype(dtype))

        nothing = [0] * leaves
        self.features = table(forest.features, nothing, "int32")
        self.splits = table(forest.splits, nothing, x.dtype)
        self.yes, self.no = (table(children, own, "int32") for children in (forest.yes, forest.no))
        self.kinds = table(forest.modes, nothing, "int8") if len(self.modes) > 1 else None
        self.tracks = table(forest.tracks, nothing, "bool") if any(forest.tracks) else None

    def at(self, table: Value, nodes: Value) -> Value:
        return self.b.op("take", table, nodes, axis=0, mode="clip")

    def next(self, nodes: Value) -> Value:
        """The node below each."""
        b = self.b
        value = b.op("gather", self.x, self.at(self.features, nodes), axis=1)
        split = self.at(self.splits, nodes)
        answer, *others = (b.op(_COMPARED[m], value, split) for m in self.modes)
        for mode, other in zip(self.modes[1:], others, strict=True):
            assert self.kinds is not None
            kind = self.at(self.kinds, nodes)
            answer = b.op("where", b.op("equal", kind, b.scalar(mode, kind)), other, answer)
        if self.tracks is not None:
            missing = b.op("logical_and", b.op("isnan", value), self.at(self.tracks, nodes))
            answer = b.op("logical_or", answer, missing)
        below = b.op("where", answer, self.at(self.yes, nodes), self.at(self.no, nodes))
        # A level a kernel: each is read several times by the next.
        return below if below.array is not None else b.op("annotation.stop_fusion", below)


def _transformed(n: Node, b: Builder, scores: Value, transform: int) -> Value:
    name = TRANSFORMS[transform]
    if name == "NONE":
        return scores
    if name == "LOGISTIC":
        return b.op("sigmoid", scores)
    if name == "SOFTMAX":
        return b.op("nn.softmax", scores, axis=1)
    raise n.unsupported(f"the transform {name} is not supported")
