"""Operators of ai.onnx.ml that are tables: labels for labels, and decision trees.

Strings stand in the middle of a graph only: nothing but a second LabelEncoder computes with them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import numpy_helper

from lamina.debugging.generators.draw import Draw
from lamina.debugging.generators.onnx_graph import LEARNED, OnnxGraph, Tensor
from lamina.debugging.generators.operators.table import row

# -- labels --------------------------------------------------------------------------------------------------------

STRING = "object"
"""numpy's name of the type of strings."""
LISTS = {"int64": "int64s", "float32": "floats", STRING: "strings"}
"""The ends of the names of attributes that list keys or values of a type."""
MOST_LABELS = 12


@row("LabelEncoder", domain=LEARNED)
def label_encoder(g: OnnxGraph, name: str) -> None:
    """Labels for those of a value that there is or is given; two in a row where the first gives strings."""
    version = g.release(LEARNED, range(1, 6))
    if version == 1:
        words = labels(g.draw, STRING, g.draw.integer(1, MOST_LABELS))
        x = g.given(g.draw.integers(g.draw.shape((1, 3)), -1, len(words)), "int64")
        default = g.draw.choice((None, words[0], "none"))
        (y,) = encoder(g, name, x, STRING, classes_strings=words, default_string=default)
        default = g.draw.choice((None, 7))
        encoder(g, name, y, "int64", classes_strings=g.draw.shuffled(words), default_int64=default)
        return
    # Types that only tensors list came with them.
    kinds = ("int64", "float32", "float64", "int32", "int16") if version >= 4 else ("int64", "float32")
    kind = g.draw.choice(kinds)
    keys = labels(g.draw, kind, g.draw.integer(1, MOST_LABELS))
    # Other elements than keys, and keys twice.
    around = [*keys, *labels(g.draw, kind, 3)]
    x = g.given(np.array([g.draw.choice(around) for _ in range(g.draw.integer(1, 60))]).reshape(-1, 1), kind)
    plain = "float32" if kind == "float64" else "int64"
    made = kind if kind in ("float64", "int16", "int32") else g.draw.choice(("int64", "float32", STRING, STRING))
    values = labels(g.draw, made, len(keys), different=False)
    (y,) = encoder(g, name, x, made, **lists(g, version, keys, values, kind, made))
    if made == STRING:
        again = labels(g.draw, plain, len(values), different=False)
        encoder(g, name, y, plain, **lists(g, version, values, again, STRING, plain))


def encoder(g: OnnxGraph, name: str, x: Tensor, made: str, **attributes: Any) -> list[Tensor]:
    """A node whose results are of a type."""
    return g.node(name, [x], domain=LEARNED, types=[(made, x.shape)], bound=64, **attributes)


def labels(draw: Draw, kind: str, count: int, different: bool = True) -> list[Any]:
    """Keys or values of a type; keys are `different`. Integers lie near each other, or so far that no table has them
    all."""
    if kind == STRING:
        words = [f"{draw.choice('abcd')}{n if different else draw.integer(0, 2)}" for n in range(count)]
        return ["", *words[1:]] if draw.chance(0.2) else words
    numbers = draw.sample(range(-30, 31), count) if different else [draw.integer(-30, 30) for _ in range(count)]
    if "float" in kind:
        return [n / 8 for n in numbers]
    far = 10**9 if kind == "int64" and draw.chance(0.3) else 1
    return [n * far for n in numbers] if draw.chance(0.3) else numbers


def lists(g: OnnxGraph, version: int, keys: list[Any], values: list[Any], kind: str, made: str) -> dict[str, Any]:
    """The attributes with the keys, the values and what other elements become."""
    # onnxruntime takes tensors for both or for neither.
    tensors = version >= 4 and (kind not in LISTS or (kind == made and kind != STRING and g.draw.chance(0.5)))
    found: dict[str, Any] = {}
    if tensors:
        for what, numbers, dtype in (("keys", keys, kind), ("values", values, made)):
            found[f"{what}_tensor"] = numpy_helper.from_array(np.array(numbers, dtype))
        found["default_tensor"] = numpy_helper.from_array(np.array([g.draw.integer(-9, 9)], made))
        return found
    found = {f"keys_{LISTS[kind]}": keys, f"values_{LISTS[made]}": values}
    if g.draw.chance(0.6):
        found[f"default_{LISTS[made][:-1]}"] = labels(g.draw, made, 1)[0]
    return found


# -- trees ---------------------------------------------------------------------------------------------------------

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
MEMBER = len(MODES)
"""The number of the mode that asks whether a value is in a set."""
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC")


@dataclass
class Inner:
    """A node that asks; `below` are where yes and no lead: other such nodes, or leaves as (target, weight)."""

    feature: int
    split: float
    mode: int
    tracks: int
    below: list[Inner | tuple[int, float]] = field(default_factory=list["Inner | tuple[int, float]"])
    members: tuple[float, ...] = ()


def grown(draw: Draw, features: int, targets: int, modes: tuple[int, ...], depth: int) -> Inner:
    """A tree of at most `depth` levels."""
    node = Inner(draw.integer(0, features - 1), draw.integer(-32, 32) / 8, draw.choice(modes), draw.integer(0, 1))
    if node.mode == MEMBER:
        # onnxruntime takes sets of whole numbers only.
        step = draw.choice((1.0, 1.0, 1.0, 0.25))
        node.members = tuple(step * draw.integer(-4, 4) for _ in range(draw.integer(1, 4)))
    for _ in range(2):
        leaf = depth <= 1 or draw.chance(0.2)
        vote = draw.integer(0, targets - 1), draw.integer(-16, 16) / 8
        node.below.append(vote if leaf else grown(draw, features, targets, modes, depth - 1))
    return node


def forest(g: OnnxGraph, features: int, targets: int, sets: bool) -> list[Inner]:
    """Some trees, their nodes all of one mode or of several."""
    modes: tuple[int, ...] = tuple(range(MEMBER)) if g.draw.chance(0.4) else (g.draw.integer(0, MEMBER - 1),)
    if sets and g.draw.chance(0.4):
        modes = (0, MEMBER)
    return [
        grown(g.draw, features, targets, modes, g.draw.integer(1, 5))
        for _ in range(g.draw.integer(1, 12))
    ]  # fmt: skip


@row("TreeEnsemble", domain=LEARNED)
def tree_ensemble(g: OnnxGraph, name: str) -> None:
    """Nodes and leaves in lists of their own."""
    g.release(LEARNED, range(5, 6))
    x = g.some(("float32", "float32", "float64"), rank=2, bound=64, most=20_000)
    assert x.shape is not None
    targets = g.draw.integer(1, 4)
    nodes: list[Inner] = []
    leaves: list[tuple[int, float]] = []
    links: dict[int, list[tuple[int, int]]] = {}

    def listed(node: Inner) -> int:
        place = len(nodes)
        nodes.append(node)
        links[place] = []
        for child in node.below:
            if isinstance(child, Inner):
                links[place].append((listed(child), 0))
            else:
                leaves.append(child)
                links[place].append((len(leaves) - 1, 1))
        return place

    roots = [listed(tree) for tree in forest(g, x.shape[1], targets, True)]
    members = [v for n in nodes if n.mode == MEMBER for v in (*n.members, float("nan"))]
    if members:
        # To onnxruntime a broken number is in a set that has its whole part.
        (x,) = g.node("Floor", [x], bound=x.bound + 1)
    assert x.shape is not None
    attributes: dict[str, Any] = {
        "nodes_featureids": [n.feature for n in nodes],
        "nodes_splits": numpy_helper.from_array(np.array([n.split for n in nodes], x.dtype)),
        "nodes_modes": numpy_helper.from_array(np.array([n.mode for n in nodes], np.uint8)),
        "leaf_targetids": [target for target, _ in leaves],
        "leaf_weights": numpy_helper.from_array(np.array([weight for _, weight in leaves], x.dtype)),
    }
    for side, names in enumerate((("true", "trueleafs"), ("false", "falseleafs"))):
        attributes[f"nodes_{names[0]}nodeids"] = [links[n][side][0] for n in range(len(nodes))]
        attributes[f"nodes_{names[1]}"] = [links[n][side][1] for n in range(len(nodes))]
    if g.draw.chance(0.4):
        attributes["nodes_missing_value_tracks_true"] = [n.tracks for n in nodes]
    if members:
        attributes["membership_values"] = numpy_helper.from_array(np.array(members, x.dtype))
    transform = g.draw.choice((None, 0, 0, 1, 2))
    g.node(name, [x], domain=LEARNED, bound=32, types=[(x.dtype, (x.shape[0], targets))], tree_roots=roots,
           n_targets=targets, aggregate_function=g.draw.choice((None, 0, 1, 2, 3)), post_transform=transform,
           **attributes)  # fmt: skip


@row("TreeEnsembleRegressor", domain=LEARNED)
def tree_ensemble_regressor(g: OnnxGraph, name: str) -> None:
    """Nodes numbered in their trees, leaves among them; votes in a list of their own."""
    version = g.release(LEARNED, range(1, 5))
    x = g.some(("float32", "float32", "int64", "int32", "float64"), rank=2, bound=64, most=20_000)
    assert x.shape is not None
    targets = g.draw.integer(1, 4)
    nodes: list[list[Any]] = []
    votes: list[tuple[int, int, int, float]] = []

    def listed(tree: int, numbers: list[int], node: Inner | tuple[int, float]) -> int:
        number, place = len(numbers), len(nodes)
        numbers.append(place)
        if not isinstance(node, Inner):
            nodes.append([tree, number, 0, 0.0, "LEAF", 0, 0, 0])
            # A leaf may vote for several targets.
            others = g.draw.sample(range(targets), g.draw.integer(0, targets)) if g.draw.chance(0.2) else []
            votes.extend((tree, number, t, node[1]) for t in dict.fromkeys((node[0], *others)))
            return number
        nodes.append([tree, number, node.feature, node.split, MODES[node.mode], 0, 0, node.tracks])
        nodes[place][5:7] = [listed(tree, numbers, child) for child in node.below]
        return number

    for tree, root in enumerate(forest(g, x.shape[1], targets, False)):
        listed(tree, [], root)
    columns = [list(c) for c in zip(*nodes, strict=True)]
    named = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")
    attributes: dict[str, Any] = {f"nodes_{n}": c for n, c in zip(named, columns, strict=False)}
    voted = [list(c) for c in zip(*votes, strict=True)]
    attributes |= {f"target_{n}": c for n, c in zip(("treeids", "nodeids", "ids", "weights"), voted, strict=True)}
    if g.draw.chance(0.4):
        attributes["nodes_missing_value_tracks_true"] = columns[7]
    if g.draw.chance(0.4):
        attributes["base_values"] = [g.draw.integer(-8, 8) / 8 for _ in range(targets)]
    transform = g.draw.choice((None, "NONE", *TRANSFORMS))
    if version >= 3 and x.dtype == "float64":
        # onnxruntime wants doubles in tensors where the rows are doubles.
        for plain in ("nodes_values", "target_weights", "base_values"):
            if plain in attributes:
                tensor = numpy_helper.from_array(np.array(attributes.pop(plain), np.float64))
                attributes[f"{plain}_as_tensor"] = tensor
    g.node(name, [x], domain=LEARNED, bound=32, types=[("float32", (x.shape[0], targets))], n_targets=targets,
           aggregate_function=g.draw.choice((None, *AGGREGATES)),
           post_transform=transform, **attributes)  # fmt: skip
