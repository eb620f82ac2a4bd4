"""Recurrent layers of ONNX models as kernels: the same numbers as onnxruntime, and one kernel whatever the steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import lamina
from lamina.dialects.relay.meaning import np_results
from lamina.dialects.relay.nn.recurrent import LstmOp

from .turns import by_turns

pytestmark = pytest.mark.slow

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def layer(
    kind: str,
    steps: int,
    batch: int,
    hidden: int,
    direction: str = "forward",
    optional: tuple[str, ...] = (),
    **attrs: Any,
) -> tuple[ModelProto, dict[str, Any]]:
    """A model of one layer on inputs of 5 values, and its inputs; `optional` of B, lengths, states and P."""
    random = np.random.default_rng(steps + hidden)
    ways, gates = 2 if direction == "bidirectional" else 1, GATES[kind]

    def draw(*shape: int) -> Any:
        return random.uniform(-0.5, 0.5, shape).astype("float32")

    weights = {"W": draw(ways, gates * hidden, 5), "R": draw(ways, gates * hidden, hidden)}
    inputs: dict[str, Any] = {"X": draw(steps, batch, 5)}
    names = ["X", "W", "R"]
    for name, shape in (
        ("B", (ways, 2 * gates * hidden)), ("lengths", (batch,)), ("h", (ways, batch, hidden)),
        *((("c", (ways, batch, hidden)), ("P", (ways, 3 * hidden))) if kind == "LSTM" else ()),
    ):  # fmt: skip
        given = name in optional
        names.append(name if given else "")
        if name == "lengths" and given:
            inputs[name] = random.integers(1, steps + 1, shape).astype("int32")
        elif given:
            (weights if name in "BP" else inputs)[name] = draw(*shape)
    outputs = ["Y", "Y_h", *(["Y_c"] if kind == "LSTM" else [])]
    node = helper.make_node(kind, names, outputs, hidden_size=hidden, direction=direction, **attrs)
    types = {"lengths": TensorProto.INT32}
    graph = helper.make_graph(
        [node],
        "layer",
        [helper.make_tensor_value_info(n, types.get(n, TensorProto.FLOAT), v.shape) for n, v in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
        [numpy_helper.from_array(v, n) for n, v in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), inputs


LAYERS = {
    "one sequence, whole blocks": ("LSTM", 4, 1, 64, "forward", ("B",)),
    "blocks and tiles of sequences with a tail": (
        "LSTM",
        3,
        9,
        40,
        "reverse",
        ("B", "h", "c", "P", "lengths"),
    ),
    "fewer units than lanes": ("GRU", 3, 2, 5, "forward", ("h",)),
    "two directions": ("GRU", 4, 3, 72, "bidirectional", ("B", "lengths")),
    "all vectors of a block, one product": ("RNN", 3, 1, 130, "bidirectional", ("B", "h")),
    "threads that meet twice in a step": ("GRU", 5, 1, 176, "forward", ("B", "h")),
}
THREADS = {"threads that meet twice in a step": 3}


LONG = "all vectors of a block, one product"


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.long] if n == LONG else []) for n in LAYERS])
def test_layer_computes_what_onnxruntime_does(name: str) -> None:
    ort = pytest.importorskip("onnxruntime")
    kind, steps, batch, hidden, direction, optional = LAYERS[name]
    attrs = {"linear_before_reset": 1} if kind == "GRU" and batch == 3 else {}
    model, inputs = layer(kind, steps, batch, hidden, direction, optional, **attrs)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    program = lamina.compile(model, threads=THREADS.get(name, 1), cache=False)
    assert program.text("tir").count("tir.team_barrier") == (2 if name in THREADS else 0)
    found = program.run(inputs)
    for ours, expected in zip(found.values(), session.run(None, inputs), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5)


def test_an_infinite_cell_does_not_reach_gates_without_peepholes() -> None:
    arrays = [np.zeros(s, np.float32) for s in ((2, 1, 4), (4, 1, 1), (1, 1))]
    y, h, c = np_results(LstmOp, [*arrays, np.full((1, 1), np.inf, np.float32)], {})
    assert y.tolist() == [[[0.5]], [[0.5]]] and h.tolist() == [[0.5]] and c.tolist() == [[np.inf]]


def test_steps_are_one_kernel() -> None:
    few, many = (lamina.compile(layer("LSTM", steps, 1, 8)[0], threads=1, cache=False) for steps in (2, 2000))
    assert few.text("te").count("te.func") == many.text("te").count("te.func")


def test_unknown_activation_is_refused() -> None:
    model, _ = layer("RNN", 2, 1, 4, activations=["Elu"])
    with pytest.raises(lamina.LaminaError, match="the activation 'Elu' is not supported"):
        lamina.compile(model, cache=False)


def test_number_of_steps_may_be_unknown() -> None:
    """One program for sequences of any length: what it gives for a longer one begins as for a shorter one."""
    model, inputs = layer("LSTM", 3, 1, 20, optional=("B",))
    steps = model.graph.input[0].type.tensor_type.shape.dim[0]
    steps.dim_param = "steps"
    program = lamina.compile(model, threads=1, cache=False)
    longer = np.concatenate([inputs["X"], inputs["X"]])
    (short, *_), (long, *_) = (list(program.run({"X": x}).values()) for x in (inputs["X"], longer))
    assert long.shape[0] == 6
    np.testing.assert_allclose(long[:3], short, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("direction", "kind", "sizes"),
    by_turns(("forward", "bidirectional"), ("RNN", "GRU", "LSTM"), ((1, 20), (3, 64), ("batch", 64), ("batch", 40))),
)
def test_one_program_for_a_range_of_steps(direction: str, kind: str, sizes: tuple[int | str, int]) -> None:
    """With hidden units for whole vectors weights are packed, however many steps and sequences there are.

    Few steps: so large weights make what differs by rounding grow with each.
    """
    ort = pytest.importorskip("onnxruntime")
    batch, hidden = sizes
    model, _ = layer(kind, 3, 2 if isinstance(batch, str) else batch, hidden, direction, ("B",))
    dims = model.graph.input[0].type.tensor_type.shape.dim
    dims[0].dim_param, ranges = "steps", {"steps": "1..13"}
    if isinstance(batch, str):
        dims[1].dim_param, ranges["batch"] = batch, "1..20"
    program = lamina.compile(model, shapes=ranges, threads=1, cache=False)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for steps, sequences in ((1, 1), (2, 20), (13, 7)):
        count = sequences if isinstance(batch, str) else batch
        x = np.random.default_rng(steps).uniform(-1, 1, (steps, count, 5)).astype("float32")
        for ours, expected in zip(program.run({"X": x}).values(), session.run(None, {"X": x}), strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-3, atol=1e-4)
