"""Other programs are asked for the outputs that they compute exactly; one that is wrong alone is no fault of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from lamina.debugging import engines, fuzz_case
from lamina.debugging.comparison import Comparer
from lamina.debugging.engines import by_onnx_reference, by_onnxruntime, follows_from, without_nodes
from lamina.debugging.fuzz_case import Report, second_opinion
from lamina.debugging.generators.draw import Draw, Sizes
from lamina.debugging.generators.onnx_graph import OnnxGraph
from lamina.debugging.generators.operator_graphs import opset_with
from lamina.debugging.generators.operators.table import rows
from lamina.debugging.outcome import Kind, Outcome
from lamina.debugging.ways import Program
from lamina.errors import UnsupportedError

pytest.importorskip("onnxruntime")
DATA = {"x": np.full((1, 4), 255, np.uint8), "y": np.ones((1, 1), np.float32), "c": np.ones((), bool)}


def source(*names: str) -> bytes:
    """A model with a product of bytes, what follows from it within a branch, a GELU, and a sum, as outputs."""

    def info(name: str, kind: int = TensorProto.FLOAT) -> Any:
        return helper.make_tensor_value_info(name, kind, None)

    def branch(name: str, read: str) -> Any:
        return helper.make_graph([helper.make_node("Cast", [read], [name], to=1)], name, [], [info(name)])

    nodes = [
        helper.make_node("MatMulInteger", ["x", "w"], ["product"]),
        helper.make_node("If", ["c"], ["branch"], then_branch=branch("t", "product"), else_branch=branch("e", "y")),
        helper.make_node("Gelu", ["y"], ["gelu"], domain="com.microsoft"),
        helper.make_node("Add", ["y", "y"], ["sum"]),
    ]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 4]), helper.make_tensor_value_info("y", 1, [1, 1]),
         helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [info(n, TensorProto.INT32 if n == "product" else TensorProto.FLOAT) for n in names],
        [numpy_helper.from_array(np.full((4, 1), 127, np.int8), "w")],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


def names_left(model: Any) -> list[str]:
    return [o.name for o in model.graph.output]


def test_what_follows_from_a_node_goes_with_it_also_from_within_a_branch() -> None:
    def product(node: NodeProto) -> bool:
        return node.op_type == "MatMulInteger"

    whole = source("product", "branch", "gelu", "sum")
    assert names_left(without_nodes(whole, product, "here")) == ["gelu", "sum"]
    assert names_left(without_nodes(whole, lambda n: n.op_type == "Cast", "here")) == ["product", "gelu", "sum"]
    assert names_left(without_nodes(whole, lambda _: False, "here")) == ["product", "branch", "gelu", "sum"]
    with pytest.raises(UnsupportedError, match="MatMulInteger is not computed exactly"):
        without_nodes(source("product", "branch"), product, "here")


def test_outputs_that_follow_from_an_operator() -> None:
    whole = source("product", "branch", "gelu", "sum")
    assert follows_from(whole, {"MatMulInteger"}) == {"product", "branch"}
    assert follows_from(whole, {"Gelu", "Sin"}) == {"gelu"}
    assert follows_from(whole, set()) == set()
    assert follows_from(source("product"), {"MatMulInteger"}) == {"product"}


@pytest.mark.parametrize("off, is_wrong", [(2e-4, False), (2e-3, True)])
def test_a_variance_of_squares_may_be_farther_off(off: float, is_wrong: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def info(name: str) -> Any:
        return helper.make_tensor_value_info(name, 1, [1, 2])

    nodes = [helper.make_node("MeanVarianceNormalization", ["y"], ["norm"], axes=[1])]
    graph = helper.make_graph(nodes, "g", [info("y")], [info("norm")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    program = Program(model.SerializeToString(), True, {"y": np.array([[1, 2]], np.float32)})
    got = {"norm": np.array([[-1, 1]], np.float32)}

    def answered(_: Program) -> dict[str, Any]:
        return {"norm": got["norm"] * np.float32(1 + off)}

    monkeypatch.setattr(fuzz_case, "ORACLES", {"onnxruntime": answered})
    report = Report(0, "operators", Sizes.TINY, False, Outcome(Kind.SAME))
    outcome = second_opinion(program, Comparer(["norm"]), got, report, "onnxruntime")
    assert (outcome is not None) == is_wrong


@pytest.mark.parametrize("op, is_wrong", [("Hardmax", False), ("Tanh", True)])
def test_another_program_chooses_among_what_is_alike(op: str, is_wrong: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of five elements that it has otherwise, roundings show four."""
    y, z = (helper.make_tensor_value_info(name, 1, [9]) for name in "yz")
    graph = helper.make_graph([helper.make_node(op, ["y"], ["z"])], "g", [y], [z])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    got, off = np.zeros(9, np.float32), (np.arange(9) < 5).astype(np.float32)

    def answered(_: Program) -> dict[str, Any]:
        return {"z": got + off}

    monkeypatch.setattr(fuzz_case, "ORACLES", {"onnxruntime": answered})
    comparer = Comparer(["z"], noisy=lambda seed: [got + off * (np.arange(9) < 4) * (seed == 3)])
    report = Report(0, "operators", Sizes.TINY, False, Outcome(Kind.SAME))
    program = Program(model.SerializeToString(), True, {"y": got})
    assert (second_opinion(program, comparer, {"z": got}, report, "onnxruntime") is not None) == is_wrong


@pytest.mark.parametrize("saturate", [True, False])
def test_onnxruntime_is_not_asked_for_sums_that_saturate(saturate: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "sums_saturate", lambda: saturate)
    found = by_onnxruntime(Program(source("product", "branch", "gelu", "sum"), True, DATA))
    assert list(found) == (["gelu", "sum"] if saturate else ["product", "branch", "gelu", "sum"])


def test_the_reference_is_not_asked_for_operators_that_onnxruntime_adds() -> None:
    found = by_onnx_reference(Program(source("product", "branch", "gelu", "sum"), True, DATA))
    assert list(found) == ["product", "branch", "sum"] and found["product"] == 4 * 255 * 127


def test_onnxruntime_answers_for_what_follows_from_operators_that_it_has() -> None:
    """It has no BitShift of uint16, and no Adagrad at all."""

    def info(name: str, kind: int, shape: list[int]) -> Any:
        return helper.make_tensor_value_info(name, kind, shape)

    nodes = [
        helper.make_node("BitShift", ["a"] * 2, ["shifted"], name="first", direction="LEFT"),
        helper.make_node("Not", ["b"], ["other"], name="second"),
        helper.make_node("BitShift", ["c"] * 2, ["again"], direction="LEFT"),
        helper.make_node("Identity", ["again"], ["copy"]),
        helper.make_node("Adagrad", ["r", "t", "x", "x", "x"], ["u", "v"], domain="ai.onnx.preview.training"),
    ]
    kinds = {"a": TensorProto.UINT16, "b": TensorProto.BOOL, "c": TensorProto.UINT8}
    results = {"shifted": TensorProto.UINT16, "other": TensorProto.BOOL, "copy": TensorProto.UINT8}
    graph = helper.make_graph(
        nodes, "g", [info(n, k, [2]) for n, k in kinds.items()], [info(n, k, [2]) for n, k in results.items()]
    )
    graph.input.extend([info("r", 1, []), info("t", TensorProto.INT64, []), info("x", 1, [2])])
    graph.output.append(info("u", 1, [2]))
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.preview.training", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    data = {"a": np.ones(2, np.uint16), "b": np.ones(2, bool), "c": np.ones(2, np.uint8)}
    data |= {"r": np.ones((), np.float32), "t": np.ones((), np.int64), "x": np.ones(2, np.float32)}
    found = by_onnxruntime(Program(model.SerializeToString(), True, data))
    assert list(found) == ["other", "copy"] and found["copy"].tolist() == [2, 2]


def test_onnxruntime_is_not_asked_for_powers_of_integers_that_are_too_large() -> None:
    """-799021 to the third is another number modulo 2^32 than what its conversion from double precision gives."""

    def info(name: str, kind: int = TensorProto.INT32) -> Any:
        return helper.make_tensor_value_info(name, kind, [1])

    nodes = [helper.make_node("Pow", [name, "n"], [name + "3"]) for name in "abf"] + [
        helper.make_node("Neg", ["l"], ["k"])
    ]
    inputs = [info("a"), info("b"), info("f", 1), info("n"), info("l")]
    graph = helper.make_graph(nodes, "g", inputs, [info("a3"), info("b3"), info("f3", 1), info("k")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    values = {"a": -799021, "b": -7, "n": 3, "l": -(2**31)}
    data = {**{name: np.asarray([n], np.int32) for name, n in values.items()}, "f": np.asarray([-2.0], np.float32)}
    assert list(by_onnxruntime(Program(model.SerializeToString(), True, data))) == ["b3", "f3", "k"]


@pytest.mark.parametrize(
    "op, attributes, differs",
    [
        ("MaxPool", {}, False),
        ("MaxPool", {"pads": [1] * 4}, False),
        ("MaxPool", {"pads": [1, 0, 1, 0]}, True),
        ("MaxPool", {"pads": [0, 0, 1, 1]}, True),
        ("AveragePool", {"pads": [1, 0, 1, 0]}, False),
        ("AveragePool", {"ceil_mode": 1}, True),
        ("AveragePool", {"auto_pad": "SAME_UPPER", "strides": [1, 1]}, False),
        ("AveragePool", {"auto_pad": "SAME_LOWER", "strides": [1, 2]}, True),
        ("GridSample", {"mode": "cubic", "padding_mode": "border"}, True),
        ("GridSample", {"mode": "cubic", "padding_mode": "zeros"}, False),
        ("GridSample", {"mode": "linear", "padding_mode": "border"}, False),
        ("Resize", {"mode": "cubic", "coordinate_transformation_mode": "pytorch_half_pixel"}, True),
        ("Resize", {"coordinate_transformation_mode": "pytorch_half_pixel"}, True),
        ("Resize", {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}, False),
        ("Unique", {"axis": 1, "sorted": 0}, True),
        ("Unique", {"sorted": 0}, False),
        ("Unique", {"axis": 1, "sorted": 1}, False),
        ("ConvTranspose", {"group": 1}, False),
        ("ConvTranspose", {"group": 2}, True),
    ],
)
def test_attributes_for_which_the_reference_is_not_asked(op: str, attributes: Any, differs: bool) -> None:
    assert engines.reference_differs(helper.make_node(op, ["x"], ["y"], **attributes), 20) == differs


@pytest.mark.parametrize(
    "op, attributes, differs",
    [
        ("LSTM", {"hidden_size": 4}, False),
        ("LSTM", {"hidden_size": 4, "clip": 2.0}, True),
        ("GRU", {"hidden_size": 4, "clip": 2.0}, False),
        ("DynamicQuantizeLSTM", {"hidden_size": 4}, True),
        ("LabelEncoder", {"keys_int64s": [1, 2], "values_int64s": [3, 3]}, False),
        ("LabelEncoder", {"keys_int64s": [1, 1], "values_int64s": [3, 4]}, True),
        ("LabelEncoder", {"keys_tensor": numpy_helper.from_array(np.array([0.5, 0.5]))}, True),
        ("TreeEnsemble", {"post_transform": 0}, False),
        ("TreeEnsemble", {"post_transform": 2}, True),
        ("TreeEnsembleRegressor", {"n_targets": 2, "post_transform": "SOFTMAX"}, False),
        ("TreeEnsembleRegressor", {"n_targets": 1, "post_transform": "SOFTMAX"}, True),
        ("TreeEnsembleRegressor", {"n_targets": 1, "base_values": [0.5]}, False),
        ("TreeEnsembleRegressor", {"n_targets": 2, "base_values": [0.5, 1.0]}, True),
    ],
)
def test_attributes_for_which_onnxruntime_is_not_asked(op: str, attributes: Any, differs: bool) -> None:
    assert engines.onnxruntime_differs(helper.make_node(op, ["x"], ["y"], **attributes)) == differs


@pytest.mark.parametrize(
    "first, second, is_wrong",
    [
        ({"sum": 3}, {"sum": 2}, False),
        ({"sum": 3}, {"sum": 4}, True),
        ({"sum": 3}, {"gelu": 1}, True),
        ({"sum": 2}, {"gelu": 9}, True),
        ({"sum": 2, "gelu": 1}, {"gelu": 9}, False),
    ],
)
def test_an_output_is_wrong_where_no_other_program_agrees(
    first: dict[str, float], second: dict[str, float], is_wrong: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(values: dict[str, float]) -> Any:
        def answered(_: Program) -> dict[str, Any]:
            return {n: np.asarray(v, np.float32) for n, v in values.items()}

        return answered

    monkeypatch.setattr(fuzz_case, "ORACLES", {"onnxruntime": answer(first), "onnx.reference": answer(second)})
    got = {"gelu": np.float32(1), "sum": np.float32(2)}
    report = Report(0, "operators", Sizes.TINY, False, Outcome(Kind.SAME))
    program = Program(source("gelu", "sum"), True, DATA)
    outcome = second_opinion(program, Comparer(["gelu", "sum"]), got, report, "onnxruntime")
    assert (outcome is not None) == is_wrong


def test_bits_are_those_of_no_float_that_is_computed() -> None:
    """Its last ones are each program's own."""
    kinds = {True: 0, False: 0}
    for seed in range(200):
        draw = Draw(seed, Sizes.TINY)
        graph = OnnxGraph(draw, opset_with(draw, "", "BitCast"))
        x = graph.fresh_input("float32" if seed % 2 else "int32", (3,))
        (computed,) = graph.node("Neg", [x], bound=4)
        rows()["", "BitCast"](graph, "BitCast")
        (cast,) = [n.input[0] for n in graph.nodes if n.op_type == "BitCast"]
        if cast == computed.name:
            kinds[computed.is_float] += 1
    assert kinds[False] > 10 and not kinds[True]
