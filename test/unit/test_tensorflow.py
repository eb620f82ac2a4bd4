"""TensorFlow's graphs, read without TensorFlow: what it computed is stored (test/oracles/tensorflow/make.py)."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay
from lamina.errors import UnsupportedError, UsageError
from lamina.frontends.tensorflow.format import FORMAT
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.opt_tool.command import run_opt_tool

sys.path.insert(0, str(Path(__file__).parent))
import tensorflow_messages as m  # noqa: E402

INPUTS = Path(__file__).parent / "inputs" / "tensorflow"
MODELS = sorted(p.parent.name for p in INPUTS.glob("*/saved_model.pb"))
GRAPHS = sorted(p.stem for p in INPUTS.glob("*.pb"))


def stored(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The inputs and the outputs by their names."""
    folder = INPUTS / name
    with np.load(folder / "numbers.npz" if folder.is_dir() else INPUTS / f"{name}.npz") as file:
        arrays = dict(file)
    found = [{k.removeprefix(way): v for k, v in arrays.items() if k.startswith(way)} for way in ("in ", "out ")]
    return found[0], found[1]


def compare(results: dict[str, Any], expected: dict[str, Any]) -> None:
    assert list(results) == list(expected)
    for name, value in expected.items():
        assert results[name].dtype == value.dtype and results[name].shape == value.shape, name
        if value.dtype.kind == "f":
            np.testing.assert_allclose(results[name], value, rtol=2e-5, atol=2e-5, err_msg=name)
        else:
            np.testing.assert_array_equal(results[name], value, err_msg=name)


def by_the_oracles(model: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The results of an imported model by the numpy oracles of its ops."""
    assert {p.name for p in model.inputs} == set(inputs)
    arrays = [inputs[p.name] for p in model.inputs]
    results = run_relay(main_function(model.module), arrays, model.store)
    return dict(zip([p.name for p in model.outputs], results, strict=True))


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_means_what_tensorflow_computed(name: str) -> None:
    inputs, outputs = stored(name)
    compare(by_the_oracles(FORMAT.read(INPUTS / f"{name}.pb"), inputs), outputs)


def test_a_compiled_graph_computes_it_with_an_open_batch() -> None:
    inputs, outputs = stored("network")
    compare(lamina.compile(INPUTS / "network.pb", threads=1).run(inputs), outputs)
    four = {name: np.repeat(value, 4, axis=0) for name, value in inputs.items()}
    model = lamina.compile(INPUTS / "network.pb", threads=1, shapes={"x": (4, 16, 16, 3)})
    compare(model.run(four), {name: np.repeat(value, 4, axis=0) for name, value in outputs.items()})


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_means_what_tensorflow_computed(name: str) -> None:
    inputs, outputs = stored(name)
    compare(lamina.compile(INPUTS / name, threads=1).run(inputs), outputs)


@pytest.mark.parametrize("name", ["", "saved_model.pb"])
def test_variables_that_change_are_seen(tmp_path: Path, name: str) -> None:
    """What is kept of compiled programs is known by all files of the folder."""
    inputs, outputs = stored("session")
    folder = shutil.copytree(INPUTS / "session", tmp_path / "session")
    compare(lamina.compile(folder / name, threads=1).run(inputs), outputs)
    data = folder / "variables" / "variables.data-00000-of-00001"
    data.write_bytes(bytes(len(data.read_bytes())))
    assert not lamina.compile(folder / name, threads=1).run(inputs)["y"].any()


def test_loops_whose_trips_are_known_are_put_in_place(tmp_path: Path) -> None:
    """The others are functions that call themselves; the text of both reads back."""
    status, text, _ = run_opt_tool([str(INPUTS / "branches")])
    assert status == 0 and text.count("= relay.fn ") == 2 and text.count("%while_mul") >= 3
    (tmp_path / "branches.mlir").write_text(text)
    assert run_opt_tool([str(tmp_path / "branches.mlir")])[0] == 0
    assert run_opt_tool([str(INPUTS / "branches" / "saved_model.pb")])[0] == 0
    assert run_opt_tool([str(tmp_path)])[::2] == (1, f"{tmp_path}: error: cannot read: Is a directory\n")


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_from_tensorflow_has_tvm_s_form(layout: str) -> None:
    inputs, outputs = stored("network")

    class Message:
        """What the importer asks of a GraphDef."""

        def SerializeToString(self) -> bytes:  # noqa: N802
            return (INPUTS / "network.pb").read_bytes()

    mod, params = relay.frontend.from_tensorflow(Message(), layout, {"x": (1, 16, 16, 3)}, ["probabilities"])
    assert [v.name_hint for v in mod["main"].params][0] == "x" and any(name.startswith("kernel") for name in params)
    with tvm.transform.PassContext(opt_level=3):
        built = relay.build(mod, "llvm", params=params)
    module = tvm.contrib.graph_executor.GraphModule(built["default"](tvm.cpu(0)))
    module.set_input("x", inputs["x"])
    module.run()
    compare({"probabilities": module.get_output(0).numpy()}, outputs)


# -- what a graph says, on graphs made here ------------------------------------------------------------


def written(folder: Path, *nodes: bytes) -> Path:
    (folder / "graph.pb").write_bytes(m.graph(*nodes))
    return folder / "graph.pb"


X = m.placeholder("x", [-1, 3])


def test_the_outputs_are_what_nobody_takes(tmp_path: Path) -> None:
    """Also the further results of a node; what has an effect alone is none."""
    path = written(
        tmp_path, X, m.constant("k", m.array(2)), m.node("Relu", "inner", "x"), m.node("TopKV2", "top", "inner", "k"),
        m.node("NoOp", "init", "^top"), m.node("Assert", "sure", "x"),
    )  # fmt: skip
    assert [(p.name, p.shape) for p in FORMAT.read(path).outputs] == [("top", (1, 2)), ("top:1", (1, 2))]


def test_outputs_that_are_asked_for_leave_out_what_they_do_not_need(tmp_path: Path) -> None:
    path = written(tmp_path, X, m.node("Relu", "a", "x"), m.node("Frobnicate", "b", "a"))
    assert not FORMAT.check(path).ok
    mod, _ = relay.frontend.from_tensorflow(path, outputs=["a:0"])
    assert "nn.relu" in mod.astext()
    with pytest.raises(UsageError, match='there is no node "c"'):
        relay.frontend.from_tensorflow(path, outputs=["c"])


def test_open_extents_are_one_in_front_and_given_elsewhere(tmp_path: Path) -> None:
    path = written(tmp_path, X, m.node("Relu", "y", "x"))
    assert FORMAT.read(path).inputs[0].shape == (1, 3)
    assert FORMAT.read(path, {"x": (5, 3)}).outputs[0].shape == (5, 3)
    path = written(tmp_path, m.placeholder("x", [-1, -1]), m.node("Relu", "y", "x"))
    with pytest.raises(UnsupportedError, match="has the open shape"):
        FORMAT.read(path)
    path = written(tmp_path, m.node("Placeholder", "x", dtype=m.kind(m.FLOAT)), m.node("Relu", "y", "x"))
    with pytest.raises(UnsupportedError, match='the rank of the input "x" is open; give it: --shape x='):
        FORMAT.read(path)
    assert FORMAT.read(path, {"x": (2, 4)}).outputs[0].shape == (2, 4)


def test_a_default_is_an_input_where_its_shape_is_given(tmp_path: Path) -> None:
    default = m.node("PlaceholderWithDefault", "rate", "half", dtype=m.kind(m.FLOAT), shape=m.part(7, m.shape([])))
    path = written(tmp_path, X, m.constant("half", m.array(0.5, "float32")), default, m.node("Mul", "y", "x", "rate"))
    assert [p.name for p in FORMAT.read(path).inputs] == ["x"]
    assert [p.name for p in FORMAT.read(path, {"rate": ()}).inputs] == ["x", "rate"]


def test_an_operator_lies_where_its_node_does(tmp_path: Path) -> None:
    module = FORMAT.read(written(tmp_path, X, m.node("Relu", "block/unit_1/relu", "x"))).module
    (op,) = [op for op in module.walk() if op.name == "relay.nn.relu"]
    assert "block/unit_1/relu" in str(op.location) and "graph.pb" in str(op.location)


def test_a_signature_may_call_an_input_as_another_node_is_called(tmp_path: Path) -> None:
    nodes = m.graph(m.placeholder("given", [2]), m.node("Neg", "x", "given"), m.node("Exp", "y", "x"))
    (tmp_path / "saved_model.pb").write_bytes(m.saved_model(nodes, {"x": "given:0"}, {"out": "y:0", "same": "x:0"}))
    model = FORMAT.read(tmp_path)
    results = by_the_oracles(model, {"x": np.asarray([1, 2], np.float32)})
    np.testing.assert_allclose(results["out"], np.exp([-1, -2]), rtol=1e-6)
    np.testing.assert_allclose(results["same"], [-1, -2])


def test_text_is_refused_with_the_way_to_binary_form(tmp_path: Path) -> None:
    (tmp_path / "graph.pbtxt").write_text("node {}")
    (tmp_path / "saved_model.pbtxt").write_text("saved_model_schema_version: 1")
    for path in (tmp_path / "graph.pbtxt", tmp_path):
        with pytest.raises(UnsupportedError, match="is a graph in text form; .* as_text=False"):
            lamina.load(path)


def test_operators_that_tensorflow_makes_no_more_are_read(tmp_path: Path) -> None:
    """It reads them in graphs of the time; numpy says what they are."""
    numbers = {
        name: np.linspace(low, low + 1, 3, dtype=np.float32) for name, low in zip("mvbg", (-1, 1, 2, 3), strict=True)
    }
    nodes = [m.constant(name, m.array(v, "float32")) for name, v in numbers.items()]
    flag, small = m.number(5, 1), m.varint(4 << 3 | 5) + np.float32(0.25).tobytes()
    norm = m.node(
        "BatchNormWithGlobalNormalization", "y", "x", "m", "v", "b", "g", variance_epsilon=small,
        scale_after_normalization=flag,
    )  # fmt: skip
    path = written(tmp_path, m.placeholder("x", [1, 2, 2, 3]), *nodes, norm, m.node("TopK", "t", "y", k=m.number(3, 1)))
    x = np.random.default_rng(0).standard_normal((1, 2, 2, 3)).astype(np.float32)
    mean, variance, beta, gamma = numbers.values()
    expected = (x - mean) / np.sqrt(variance + 0.25) * gamma + beta
    found = by_the_oracles(FORMAT.read(path), {"x": x})
    np.testing.assert_allclose(found["t"][..., 0], expected.max(-1), rtol=1e-5)
    np.testing.assert_array_equal(found["t:1"][..., 0], expected.argmax(-1))
