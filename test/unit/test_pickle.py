"""Programs pickled and copied: through the bytes of their saved form, and refused in one line where they have none."""

# Programs are written as users write them: with lambdas, and modules that have no types.
# pyright: standard

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina import te
from lamina.errors import InputError, UnsupportedError

W = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32)
X = np.random.default_rng(1).standard_normal((2, 50)).astype(np.float32)
TWICE = """func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %z = relay.constant dense<0> : tensor<i32>
  %c = relay.greater %n, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = relay.if %c -> tensor<i32> {
    %s = relay.add %n, %n : tensor<i32>
    relay.yield %s : tensor<i32>
  } else {
    relay.yield %n : tensor<i32>
  }
  return %r : tensor<i32>
}
"""


def product(batch: int | str) -> Any:
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [batch, e]) for n, e in (("x", 50), ("y", 6))]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], [numpy_helper.from_array(W, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(scope="module")
def exe() -> lamina.Executable:
    return lamina.compile(product(2), threads=1, sanitize=True, opt_level=2)


def again(exe: Any) -> Any:
    return pickle.loads(pickle.dumps(exe))


@pytest.mark.parametrize("made_anew", [again, copy.deepcopy])
def test_a_program_goes_through_its_saved_form(exe: lamina.Executable, made_anew: Any) -> None:
    other = made_anew(exe)
    np.testing.assert_array_equal(other(X), exe(X))
    assert repr(other) == repr(exe) and other.sanitize and other is not exe
    with pytest.raises(UnsupportedError, match="a saved program has no texts"):
        other.text("tir")
    assert copy.copy(exe) is exe


def test_a_pool_of_processes_runs_a_program(exe: lamina.Executable) -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        np.testing.assert_array_equal(pool.submit(exe, X).result(), exe(X))


def test_a_program_for_the_machine_is_pickled(tmp_path: Any) -> None:
    (tmp_path / "twice.mlir").write_text(TWICE)
    exe = lamina.compile(tmp_path / "twice.mlir", threads=1)
    assert not exe.is_fixed and again(exe)(np.int32(3)) == exe(np.int32(3)) == 6


def test_a_kernel_is_pickled() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] * 2.0, name="B")
    kernel = lamina.build(te.create_schedule(b.op), [a, b])
    for other in (again(kernel), copy.deepcopy(kernel)):
        out = np.empty(8, np.float32)
        other(X[0, :8].copy(), out)
        np.testing.assert_array_equal(out, X[0, :8] * 2)


def flattened_quotients() -> Any:
    """A model that is no program for all sizes: the product of two quotients is no extent."""
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, "h", "w"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, None])
    return helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=[helper.make_opsetid("", 17)])


def test_what_has_no_saved_form_is_refused_in_one_line() -> None:
    for pickled in (pickle.dumps, copy.deepcopy):
        with pytest.raises(UnsupportedError, match="compiled for each shape, which no file can hold; give the shapes"):
            pickled(lamina.compile(flattened_quotients(), threads=1))
    with pytest.raises(UnsupportedError, match="a lamina.Model cannot be pickled; pickle the file that it came from"):
        pickle.dumps(lamina.load(product(2)))


def test_a_model_of_many_ops_is_copied() -> None:
    nodes = [helper.make_node("Relu", [f"t{n}"], [f"t{n + 1}"]) for n in range(1000)]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in ("t0", "t1000")]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:])
    model = lamina.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    other = copy.deepcopy(model)
    assert other.module is not model.module and other.text() == model.text()


@pytest.mark.parametrize("place", [0, 20, 100, -1])
def test_a_changed_byte_is_refused(exe: lamina.Executable, place: int) -> None:
    function, (data,) = exe.__reduce__()
    damaged = bytearray(data)
    damaged[place] ^= 1
    with pytest.raises(InputError, match="a saved program: is"):
        function(bytes(damaged))
