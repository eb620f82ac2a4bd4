"""Operators of ai.onnx.ml, and strings: decision trees and labels, against onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import lamina
from lamina.compat.onnx_backend import prepare
from lamina.errors import LaminaError
from lamina.frontends.onnx import load_onnx
from lamina.frontends.onnx.strings import Strings
from lamina.interpreters.relay_reference import main_function, run_relay

Array = Any
F = np.float32


def model_of(
    nodes: Sequence[Any], inputs: dict[str, tuple[int, Sequence[int]]], output: int, ml: int = 5
) -> ModelProto:
    """A model with the output y; the inputs by their element type and shape."""
    given = [helper.make_tensor_value_info(n, kind, list(shape)) for n, (kind, shape) in inputs.items()]
    graph = helper.make_graph(list(nodes), "ml", given, [helper.make_tensor_value_info("y", output, None)])
    sets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", ml)]
    return helper.make_model(graph, opset_imports=sets, ir_version=10)


def by_onnxruntime(model: ModelProto, **inputs: Array) -> Array:
    import onnxruntime  # pyright: ignore[reportMissingTypeStubs]

    session: Any = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


def by_oracles(model: ModelProto, **inputs: Array) -> Array:
    made = load_onnx(model)
    return run_relay(main_function(made.module), [inputs[p.name] for p in made.inputs], made.store)[0]


# -- trees -----------------------------------------------------------------------------------------


@dataclass
class Trees:
    """Random trees, their nodes as TreeEnsemble lists them, and as TreeEnsembleRegressor does."""

    rng: np.random.Generator
    features: int
    targets: int
    modes: tuple[int, ...]
    attrs: dict[str, list[Any]] = field(default_factory=dict[str, "list[Any]"])
    older: dict[str, list[Any]] = field(default_factory=dict[str, "list[Any]"])
    sets: list[tuple[int, list[float]]] = field(default_factory=list["tuple[int, list[float]]"])

    def put(self, where: dict[str, list[Any]], **values: Any) -> None:
        for name, value in values.items():
            where.setdefault(name, []).append(value)

    def leaf(self, tree: int, number: int) -> int:
        target, weight = int(self.rng.integers(self.targets)), float(F(self.rng.standard_normal()))
        self.put(self.attrs, leaf_targetids=target, leaf_weights=weight)
        self.put(self.older, target_treeids=tree, target_nodeids=number, target_ids=target, target_weights=weight)
        self.put(
            self.older, nodes_treeids=tree, nodes_nodeids=number, nodes_featureids=0, nodes_values=0.0,
            nodes_modes="LEAF", nodes_truenodeids=0, nodes_falsenodeids=0,
        )  # fmt: skip
        return len(self.attrs["leaf_weights"]) - 1

    def node(self, tree: int, depth: int, count: list[int]) -> tuple[int, int]:
        """The numbers of a new inner node: in the list of all, and in its tree."""
        names = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
        feature, mode = int(self.rng.integers(self.features)), int(self.rng.choice(self.modes))
        split = float(F(round(self.rng.standard_normal(), 1)))
        self.put(
            self.attrs, nodes_featureids=feature, nodes_splits=split, nodes_modes=mode, nodes_truenodeids=0,
            nodes_falsenodeids=0, nodes_trueleafs=0, nodes_falseleafs=0,
        )  # fmt: skip
        number, at = count[0], len(self.attrs["nodes_modes"]) - 1
        count[0] += 1
        row = {"nodes_treeids": tree, "nodes_nodeids": number, "nodes_featureids": feature, "nodes_values": split}
        self.put(self.older, **row, nodes_modes=f"BRANCH_{names[mode]}", nodes_truenodeids=0, nodes_falsenodeids=0)
        place = len(self.older["nodes_modes"]) - 1
        if mode == 6:
            self.sets.append((at, [float(F(v)) for v in self.rng.integers(-2, 3, self.rng.integers(1, 4))]))
        for side in ("true", "false"):
            if depth <= 1 or self.rng.random() < 0.2:
                own, below = count[0], self.leaf(tree, count[0])
                count[0] += 1
                self.attrs[f"nodes_{side}leafs"][at] = 1
            else:
                below, own = self.node(tree, depth - 1, count)
            self.attrs[f"nodes_{side}nodeids"][at] = below
            self.older[f"nodes_{side}nodeids"][place] = own
        return at, number

    def grow(self, trees: int, depth: int) -> Trees:
        roots = [self.node(tree, depth, [0])[0] for tree in range(trees)]
        members = [v for _, numbers in sorted(self.sets) for v in (*numbers, float("nan"))]
        kinds = {"nodes_splits": F, "nodes_modes": np.uint8, "leaf_weights": F}
        tensors: dict[str, Any] = {n: numpy_helper.from_array(np.array(self.attrs[n], k)) for n, k in kinds.items()}
        if members:
            tensors["membership_values"] = numpy_helper.from_array(np.array(members, F))
        self.attrs = {**self.attrs, **tensors, "tree_roots": roots}
        return self

    def newer(self, rows: int, **attrs: Any) -> ModelProto:
        made: dict[str, Any] = {**self.attrs, "n_targets": self.targets, **attrs}
        node = helper.make_node("TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", **made)
        return model_of([node], {"x": (1, (rows, self.features))}, 1)

    def regressor(self, rows: int, **attrs: Any) -> ModelProto:
        made: dict[str, Any] = {**self.older, "n_targets": self.targets, **attrs}
        node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **made)
        return model_of([node], {"x": (1, (rows, self.features))}, 1, ml=3)


def rows(rng: np.random.Generator, count: int, features: int) -> Array:
    """Rows with numbers that stand in trees, too, and one that is missing."""
    x = np.round(rng.standard_normal((count, features)), 1).astype(F)
    x[0, 0] = np.nan
    return x


@pytest.mark.parametrize("modes", [(0,), (0, 1, 2, 3), (0, 4, 5)])
def test_trees_are_gone_down(modes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    for targets, aggregate in ((1, 1), (3, 0), (3, 1), (3, 2), (3, 3)):
        trees, x = Trees(rng, 4, targets, modes).grow(5, 4), rows(rng, 7, 4)
        tracks = rng.integers(0, 2, len(trees.attrs["nodes_featureids"])).tolist()
        made = trees.newer(7, aggregate_function=aggregate, nodes_missing_value_tracks_true=tracks)
        np.testing.assert_allclose(by_oracles(made, x=x), by_onnxruntime(made, x=x), rtol=0, atol=1e-6)


def test_trees_may_ask_for_sets() -> None:
    rng = np.random.default_rng(1)
    made, x = Trees(rng, 3, 2, (0, 6)).grow(6, 3).newer(40), rng.integers(-2, 3, (40, 3)).astype(F)
    np.testing.assert_allclose(by_oracles(made, x=x), by_onnxruntime(made, x=x), rtol=0, atol=1e-6)


def test_scores_of_trees_are_transformed() -> None:
    """onnxruntime takes the numbers of softmax and logistic for one another, ONNX's reference neither."""
    rng = np.random.default_rng(2)
    trees, x = Trees(rng, 4, 3, (0,)).grow(5, 3), rows(rng, 6, 4)
    scores = by_onnxruntime(trees.newer(6), x=x)
    powers = np.exp(scores)
    for transform, wanted in ((1, powers / powers.sum(1, keepdims=True)), (2, 1 / (1 + 1 / powers))):
        found = by_oracles(trees.newer(6, post_transform=transform), x=x)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
    with pytest.raises(LaminaError, match="the transform PROBIT is not supported"):
        by_oracles(trees.newer(6, post_transform=4), x=x)


def test_regressors_list_their_nodes_by_tree() -> None:
    """onnxruntime gives no base value to a target that no tree votes for."""
    rng = np.random.default_rng(3)
    forms: list[tuple[int, dict[str, Any]]] = [
        (3, {}), (1, {"aggregate_function": "AVERAGE", "base_values": [0.1]}), (3, {"post_transform": "LOGISTIC"})
    ]  # fmt: skip
    for targets, more in forms:
        made, x = Trees(rng, 4, targets, (0, 1, 2, 3, 4, 5)).grow(5, 4).regressor(7, **more), rows(rng, 7, 4)
        np.testing.assert_allclose(by_oracles(made, x=x), by_onnxruntime(made, x=x), rtol=0, atol=1e-6)


def test_trees_are_compiled_a_level_a_kernel() -> None:
    rng = np.random.default_rng(4)
    made, x = Trees(rng, 5, 2, (0,)).grow(20, 6).newer(33), rows(rng, 33, 5)
    executable = lamina.compile(made.SerializeToString(), threads=1, cache=False)
    np.testing.assert_allclose(executable.run({"x": x})["y"], by_onnxruntime(made, x=x), rtol=0, atol=1e-5)


def test_trees_that_go_round_are_refused() -> None:
    trees = Trees(np.random.default_rng(5), 2, 1, (0,)).grow(1, 1)
    trees.attrs["nodes_trueleafs"], trees.attrs["nodes_truenodeids"] = [0], [0]
    with pytest.raises(LaminaError, match="the nodes go round"):
        by_oracles(trees.newer(2), x=np.zeros((2, 2), F))
    trees.attrs["nodes_featureids"] = [7]
    with pytest.raises(LaminaError, match="a feature that rows of 2 do not have"):
        by_oracles(trees.newer(2), x=np.zeros((2, 2), F))


# -- labels and strings ----------------------------------------------------------------------------


def texts(*values: str) -> Array:
    return np.array(values, object)


NUMBERS = np.array([[1, 5, 7], [-3, 2, 100]], np.int64)
BROKEN = np.array([1.5, np.nan, -0.0, 3, np.inf], F)
WORDS = texts("a", "b", "zz", "q")


@pytest.mark.parametrize(
    ("x", "output", "attrs"),
    [
        (NUMBERS, 1, {"keys_int64s": [5, -3, 7], "values_floats": [1.0, 2.0, 3.0], "default_float": 9.0}),
        (NUMBERS, 7, {"keys_int64s": [5, -3, 10**12], "values_int64s": [1, 2, 3]}),
        (NUMBERS, 8, {"keys_int64s": [5, -3, 7], "values_strings": ["x", "y", "z"]}),
        (BROKEN, 7, {"keys_floats": [1.5, float("nan"), 0.0, 3.0], "values_int64s": [1, 2, 3, 4]}),
        (BROKEN, 8, {"keys_floats": [3.0, 1.5], "values_strings": ["x", "y"], "default_string": "other"}),
        (WORDS, 8, {"keys_strings": ["a", "q"], "values_strings": ["A", "zz"]}),
        (WORDS, 1, {"keys_strings": ["a", "q"], "values_floats": [1.0, 2.0]}),
    ],
)
def test_labels(x: Array, output: int, attrs: dict[str, Any]) -> None:
    kind = 8 if x.dtype == object else helper.np_dtype_to_tensor_dtype(x.dtype)
    node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", **attrs)
    made = model_of([node], {"x": (kind, x.shape)}, output)
    (found,) = prepare(made, opt_level=1).run([x])
    wanted = by_onnxruntime(made, x=x)
    assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


def test_the_last_of_equal_keys_counts() -> None:
    attrs: dict[str, Any] = {"keys_int64s": [5, 1, 5], "values_int64s": [1, 2, 3]}
    node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", **attrs)
    made = model_of([node], {"x": (7, (2, 3))}, 7)
    assert by_oracles(made, x=NUMBERS).tolist() == [[2, 3, -1], [-1, -1, -1]]


def test_strings_are_moved_and_compared() -> None:
    """Equal ones are equal also where the model knows neither."""
    nodes = [
        helper.make_node("Constant", [], ["known"], value_strings=["a", "new"]),
        helper.make_node("Concat", ["x", "known"], ["all"], axis=0),
        helper.make_node("Gather", ["all", "at"], ["picked"]),
        helper.make_node("Equal", ["picked", "other"], ["y"]),
    ]
    inputs: dict[str, Any] = {"x": (8, (2,)), "at": (7, (4,)), "other": (8, (4,))}
    made = model_of(nodes, inputs, 9)
    x, at, other = texts("one", "two"), np.array([3, 0, 1, 2]), texts("new", "one", "TWO", "a")
    (found,) = prepare(made, opt_level=1).run([x, at, other])
    assert found.tolist() == by_onnxruntime(made, x=x, at=at, other=other).tolist() == [True, True, False, True]


def test_strings_come_out_as_they_went_in() -> None:
    made = model_of([helper.make_node("Transpose", ["x"], ["y"])], {"x": (8, (2, 2))}, 8)
    (found,) = prepare(made, opt_level=1).run([texts("ä", "", "c", "ä").reshape(2, 2)])
    assert found.tolist() == [["ä", "c"], ["", "ä"]]


def test_whoever_calls_a_program_has_the_numbers_of_its_strings() -> None:
    node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", keys_strings=["a"], values_strings=["b"])
    imported = load_onnx(model_of([node], {"x": (8, (2,))}, 8))
    assert imported.strings == ("a", "b", "_Unused")
    strings = Strings(imported.strings)
    codes = strings.encoded(texts("a", "z"))
    (found,) = run_relay(main_function(imported.module), [codes], imported.store)
    assert strings.decoded(found).tolist() == ["b", "_Unused"]
    assert [p.logical for p in (*imported.inputs, *imported.outputs)] == ["string"] * 2


@pytest.mark.parametrize(
    ("op", "attrs", "words"),
    [
        ("Cast", {"to": TensorProto.FLOAT}, "casts of strings are not supported; LabelEncoder maps"),
        ("Unique", {}, "Unique of string is not supported; LabelEncoder maps strings to numbers"),
    ],
)
def test_what_computes_with_strings_is_refused(op: str, attrs: dict[str, Any], words: str) -> None:
    made = model_of([helper.make_node(op, ["x"], ["y"], **attrs)], {"x": (8, (2,))}, 8)
    with pytest.raises(LaminaError, match=words):
        load_onnx(made)
