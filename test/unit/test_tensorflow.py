"""TensorFlow's graphs, read without TensorFlow: what it computed is stored (test/tensorflow/make.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay
from lamina.frontends.tensorflow.format import FORMAT
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.opt_tool.command import run_opt_tool

INPUTS = Path(__file__).parent / "inputs" / "tensorflow"
MODELS = sorted(p.parent.name for p in INPUTS.glob("*/saved_model.pb"))
GRAPHS = sorted(p.stem for p in INPUTS.glob("*.pb"))


def stored(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The inputs and the outputs by their names."""
    folder = INPUTS / name
    with np.load(folder / "numbers.npz" if folder.is_dir() else INPUTS / f"{name}.npz") as file:
        arrays = dict(file)
    return tuple({k.split(" ", 1)[1]: v for k, v in arrays.items() if k.startswith(way)} for way in ("in ", "out "))


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


def test_loops_whose_trips_are_known_are_put_in_place(tmp_path: Path) -> None:
    """The others are functions that call themselves; the text of both reads back."""
    status, text, _ = run_opt_tool([str(INPUTS / "branches" / "saved_model.pb")])
    assert status == 0 and text.count("= relay.fn ") == 2 and text.count("%while_mul") >= 3
    (tmp_path / "branches.mlir").write_text(text)
    assert run_opt_tool([str(tmp_path / "branches.mlir")])[0] == 0


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
