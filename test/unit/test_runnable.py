"""Executables, saved programs and nets of libraries run alike: keywords, `out=`, `with`, whatever runs them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import lamina
from lamina.backends.cpu.machines import processor
from lamina.errors import InputError, UsageError
from lamina.runtime.load import SavedNet
from lamina.runtime.runnable import Runnable

pytestmark = pytest.mark.slow
Array = np.ndarray[Any, np.dtype[Any]]

FIXED = """
func.func @main(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = relay.add %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = relay.tanh %s : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
"""
BY_THE_MACHINE = """
func.func @main(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %s = relay.add %x, %y : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = relay.tanh %s : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
"""


def open_model() -> Any:
    """The same sum as an ONNX model that leaves its first extent open."""
    info = helper.make_tensor_value_info
    nodes = [helper.make_node("Add", ["x", "y"], ["s"]), helper.make_node("Tanh", ["s"], ["out0"])]
    ends = [info(name, TensorProto.FLOAT, ["n", 64]) for name in ("x", "y", "out0")]
    graph = helper.make_graph(nodes, "g", ends[:2], ends[2:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


KINDS = ("fixed", "machine", "open", "saved", "library")


@pytest.fixture
def runnable(request: pytest.FixtureRequest, tmp_path: Path) -> Runnable:
    """A program of two threads, of one kind."""
    if request.param == "open":
        return lamina.compile(open_model(), threads=2)
    path = tmp_path / "m.mlir"
    path.write_text(BY_THE_MACHINE if request.param == "machine" else FIXED)
    exe = lamina.compile(path, threads=2)
    if request.param == "saved":
        exe.save(tmp_path / "net.lamina")
        return SavedNet(tmp_path / "net.lamina")
    if request.param == "library":
        if not processor().triple.startswith("x86_64"):
            pytest.skip("libraries of x86-64 are loaded")
        exe.export(tmp_path / "net.so")
        return lamina.ExportedNet(tmp_path / "net.so")
    return exe


def drawn() -> dict[str, Any]:
    random = np.random.default_rng(0)
    return {name: random.standard_normal((64, 64), np.float32) for name in "xy"}


@pytest.mark.parametrize("runnable", KINDS, indirect=True)
def test_keywords_and_arrays_for_results(runnable: Runnable) -> None:
    given = drawn()
    name = runnable.outputs[0].name
    expected = runnable.run(given)[name]
    np.testing.assert_allclose(expected, np.tanh(given["x"] + given["y"]), atol=1e-6)
    out = np.zeros((64, 64), np.float32)
    for results in (
        runnable.run(**given),
        runnable.run({"x": given["x"]}, y=given["y"]),
        {name: runnable(*given.values())},
    ):
        assert results[name].tobytes() == expected.tobytes()
    assert runnable.run(given, {name: out})[name] is out
    assert out.tobytes() == expected.tobytes()
    out[:] = 0
    assert runnable.run(out={name: out}, **given)[name] is out
    assert out.tobytes() == expected.tobytes()
    assert runnable.run(given, out={})[name].tobytes() == expected.tobytes()


@pytest.mark.parametrize("runnable", KINDS, indirect=True)
def test_mistakes_are_said_and_nothing_is_written(runnable: Runnable) -> None:
    given, name = drawn(), runnable.outputs[0].name
    out = np.zeros((64, 64), np.float32)
    with pytest.raises(UsageError, match="input 'x': given twice"):
        runnable.run(given, x=given["x"])
    with pytest.raises(InputError, match="no such output"):
        runnable.run(given, {"none": out})
    with pytest.raises(InputError, match=r"float32\[64, 64\] expected"):
        runnable.run(given, {name: np.zeros((64, 63), np.float32)})
    with pytest.raises(InputError, match=r"float32\[64, 64\] expected"):
        runnable.run(given, {name: np.zeros((64, 64))})
    closed = np.zeros((64, 64), np.float32)
    closed.flags.writeable = False
    with pytest.raises(InputError, match="not an array that can be written"):
        runnable.run(given, {name: closed})
    with pytest.raises(InputError, match="missing"):
        runnable.run({"x": given["x"]}, {name: out})
    assert not out.any() and not closed.any()


@pytest.mark.parametrize("runnable", ("fixed", "saved", "library"), indirect=True)
def test_results_do_not_go_where_inputs_are(runnable: Runnable) -> None:
    given = drawn()
    with pytest.raises(InputError, match="shares memory with another tensor"):
        runnable.run(given, {runnable.outputs[0].name: given["x"]})


def tasks() -> set[str]:
    """The threads of this process."""
    return {task.name for task in Path("/proc/self/task").iterdir()}


@pytest.mark.parametrize("runnable", KINDS, indirect=True)
def test_a_block_ends_the_threads_and_a_run_after_it_starts_others(runnable: Runnable) -> None:
    given, name, before = drawn(), runnable.outputs[0].name, tasks()
    expected = runnable.run(given)[name].tobytes()
    its = tasks() - before
    assert its
    with runnable as entered:
        assert entered is runnable
    assert not its & tasks()
    assert runnable.run(given)[name].tobytes() == expected
    assert tasks() - before
    runnable.close()
    runnable.close()


@pytest.mark.parametrize("runnable", ("fixed", "saved", "library"), indirect=True)
def test_threads_may_end_while_others_run(runnable: Runnable) -> None:
    given, name = drawn(), runnable.outputs[0].name
    expected, wrong = runnable.run(given)[name].tobytes(), list[str]()

    def work() -> None:
        for _ in range(100):
            if runnable.run(given)[name].tobytes() != expected:
                wrong.append("another result")

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        runnable.close()
    for thread in threads:
        thread.join()
    assert not wrong
