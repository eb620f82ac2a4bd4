"""`lamina explain-schedule`: the candidates of each choice, what each is expected to take, and why one was taken."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from lamina.backends.cpu.figures import shipped
from lamina.backends.cpu.jit import named_target
from lamina.cli import command as cli
from lamina.driver import api
from lamina.tuning.explanation import plain, reason


def lamina_command(*argv: str | Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = cli.run([str(a) for a in argv], out, err)
    return status, out.getvalue(), err.getvalue()


def explained(*argv: str | Path) -> list[dict[str, Any]]:
    status, out, err = lamina_command("explain-schedule", *argv, "--json")
    assert status == 0, err
    return json.loads(out)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A 3x3 and a 1x1 convolution, a product of two inputs, and one with weights."""
    rng = np.random.default_rng(0)
    shapes = {"w3": (64, 64, 3, 3), "w1": (32, 64, 1, 1), "wd": (96, 80)}
    weights = [numpy_helper.from_array(rng.standard_normal(s, np.float32) * 0.1, n) for n, s in shapes.items()]
    nodes = [
        helper.make_node("Conv", ["x", "w3"], ["a"], name="wide", pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["a", "w1"], ["y"], name="pointwise"),
        helper.make_node("MatMul", ["z", "wd"], ["d"], name="weighted"),
        helper.make_node("MatMul", ["z", "t"], ["p"], name="plain"),
    ]
    ins = {"x": [1, 64, 28, 28], "z": [200, 96], "t": [96, 256]}
    outs = {"y": [1, 32, 28, 28], "d": [200, 80], "p": [200, 256]}
    given, made = ([helper.make_tensor_value_info(n, 1, s) for n, s in side.items()] for side in (ins, outs))
    graph = helper.make_graph(nodes, "g", given, made, weights)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path_factory.mktemp("explained") / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def test_each_choice_is_shown_with_what_is_expected_of_its_candidates(model: Path) -> None:
    status, out, err = lamina_command("explain-schedule", model, "--target", "x86-64-v3", "--node", "pointwise")
    assert status == 0, err
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "pointwise"
    assert lines[1] == "tile nn.contrib_conv2d_NCHWc 1x4x28x28x8xf32 over 8x1x1x8 of 1x8x28x28x8xf32"
    assert lines[2] == "candidate expected cycles bytes read"
    assert lines[3].startswith("-> 4x2 ") and len(lines[3].split()) == 6
    assert lines[-1] == "the fewest cycles expected"


def test_cycles_are_those_of_all_multiply_adds_and_what_they_wait_for(model: Path) -> None:
    """At 28 x 28, with 64 channels of data and 32 of results: at least its multiply-adds, at most twice as long."""
    for target in ("x86-64-v2", "x86-64-v3", "znver4", "icelake-server"):
        spec = named_target(target)
        least = 28 * 28 * 64 * 32 / spec.lanes(32) / shipped(spec)[1].fma
        (found,) = explained(model, "--target", target, "--node", "pointwise")
        cycles = [c["cycles"] for c in found["candidates"]]
        assert least < min(cycles) < 2 * least
        assert found["chosen"] == found["candidates"][cycles.index(min(cycles))]["candidate"]


def test_bytes_are_those_that_all_tiles_load(model: Path) -> None:
    """In a step of the sum a tile of pixels by vectors loads its vectors of weights and a number of each pixel."""
    (found,) = explained(model, "--target", "x86-64-v3", "--node", "pointwise")
    assert len(found["candidates"]) > 2
    for candidate in found["candidates"]:
        pixels, vectors = map(int, candidate["candidate"].split("x"))
        full, tail = divmod(28, pixels)
        tiles = [pixels] * full + [tail] * bool(tail)
        assert candidate["bytes"] == 28 * 64 * 4 // vectors * sum(32 * vectors + 4 * p for p in tiles)


@pytest.mark.parametrize("machine", ["x86-64-v2", "x86-64-v3", "x86-64-v4", "znver4", "icelake-server"])
def test_each_default_is_the_least_by_estimate_or_has_a_reason(model: Path, machine: str) -> None:
    asked = api.questions(model, machine, threads=1)
    assert {q.name.split()[0] for q in asked} == {"winograd", "tile", "copy"}
    for question in asked:
        assert question.chosen == question.candidates[0]
        assert len(question.estimates) in (0, len(question.candidates))
        assert reason(question) != "it comes first", question


def test_what_choices_say_is_told(model: Path, tmp_path: Path) -> None:
    (before,) = explained(model, "--target", "x86-64-v3", "--node", "pointwise")
    other = before["candidates"][1]["candidate"]
    asked = api.questions(model, "x86-64-v3", choices={before["question"]: other})
    (found,) = [plain(q, 1.0) for q in asked if "pointwise" in q.nodes]
    assert found["chosen"] == other and found["reason"] == "the choices that are given say so"
    assert found["candidates"][0]["expected_seconds"] == found["candidates"][0]["cycles"] / 1e9


def test_measured_times_stand_beside_what_is_expected(model: Path) -> None:
    measured = "--measure", "--rounds", "3", "--threads", "1"
    found = explained(model, *measured)
    assert all(c["measured_seconds"] > 0 for q in found for c in q["candidates"])
    status, out, err = lamina_command("explain-schedule", model, *measured, "--node", "wide")
    assert status == 0 and " measured" in out, err


def test_an_unknown_node_is_refused(model: Path) -> None:
    status, out, err = lamina_command("explain-schedule", model, "--node", "wild")
    assert (status, out) == (2, "")
    assert err == "error: no choice was made for a node 'wild'; did you mean 'wide'?\n"
