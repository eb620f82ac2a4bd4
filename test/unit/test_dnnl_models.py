"""Whole programs on oneDNN: models, their texts at every level, threads; and what happens without the library."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.backends.byoc.dnnl import library

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "test" / "unit")]

import models  # noqa: E402
from dnnl_programs import graph, missing_dnnl, needs_dnnl, offloaded, random_arrays, requantised  # noqa: E402
from external_programs import RESIDUAL, arrays_for, check_texts_of_levels, compiled  # noqa: E402

pytestmark = pytest.mark.slow

F = "float32"

# -- models ----------------------------------------------------------------------------------------------------------


@needs_dnnl
def test_encoder_block_is_the_same() -> None:
    model = models.encoder_block(heads=2, width=16, length=8, batch=2)
    exe = lamina.compile(model, "dnnl, llvm", cache=False)
    assert "2 nn.batch_matmul" in exe.placement and "1 nn.softmax" in exe.placement
    assert "dnnl.dense_bias" in exe.placement
    inputs = models.random_input(model)
    for name, expected in lamina.compile(model, cache=False).run(inputs).items():
        np.testing.assert_allclose(exe.run(inputs)[name], expected, rtol=1e-4, atol=1e-5)


@needs_dnnl
@pytest.mark.parametrize("threads", [1, 2])
def test_residual_block_is_the_same(tmp_path: Path, threads: int) -> None:
    """Again on other arrays, and from another thread than the one that loaded it."""
    exe, plain = compiled(tmp_path, RESIDUAL, "dnnl, cpu", threads=threads), compiled(tmp_path, RESIDUAL, "cpu")
    assert exe.placement.startswith("dnnl: 2 regions, 12 ops (2 dnnl.conv2d_bias_relu, 1 dnnl.conv2d_bias_sum_relu")
    with ThreadPoolExecutor(1) as other:
        for seed in range(4):
            arrays = arrays_for(exe, seed)
            found = exe(*arrays) if seed % 2 else other.submit(exe, *arrays).result()
            for given, expected in zip(found, plain(*arrays), strict=True):
                np.testing.assert_allclose(given, expected, rtol=1e-4, atol=1e-4)


@needs_dnnl
def test_every_level_runs_oneDNN(tmp_path: Path) -> None:
    """The text of each level, read again, computes the same by that level's interpreter; relay's makes llvm's."""
    from lamina.opt_tool.command import run_opt_tool

    exe = compiled(tmp_path, RESIDUAL, "dnnl, cpu", threads=1)
    check_texts_of_levels(exe, tmp_path / "texts")
    status, out, err = run_opt_tool([str(tmp_path / "texts" / "relay.mlir"), "-p", exe.pipeline])
    assert status == 0, err
    assert out == (tmp_path / "texts" / "llvm.mlir").read_text()
    assert out.count('compiler = "dnnl"') == 2


@needs_dnnl
def test_saved_program_loads(tmp_path: Path) -> None:
    """Weights are reordered when a program is loaded, here with a constant among them."""
    exe = compiled(tmp_path, RESIDUAL, "dnnl, cpu")
    exe.save(tmp_path / "program")
    arrays = arrays_for(exe)
    for a, b in zip(lamina.Executable.load(tmp_path / "program")(*arrays), exe(*arrays), strict=True):
        np.testing.assert_array_equal(a, b)


@needs_dnnl
@pytest.mark.needs("avx512vnni or avxvnni")
def test_quantised_program_that_was_partitioned_is_exact() -> None:
    """Patterns see qnn ops before a model is compiled: the graph passes put integer arithmetic in their place."""
    from lamina.dialects import relay as r

    types = [((2, 4, 6, 7), "uint8"), ((2, 6, 6, 7), "int8")]
    module = graph(types, requantised(r.qnn.conv2d, True, True, True, True, True, padding=[1, 1]))
    partitioned, report = offloaded(module)
    assert report == "dnnl: 1 region, 11 ops (1 dnnl.qnn.conv2d)\nleft: 0 ops"
    arrays = random_arrays(types)
    np.testing.assert_array_equal(
        lamina.compile(partitioned, "cpu", cache=False)(*arrays), lamina.compile(module, "cpu", cache=False)(*arrays)
    )


@needs_dnnl
@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["resnet50", "densenet121", "inception_v1", "squeezenet", "shufflenet", "bvlc_alexnet"]
)
def test_model_is_the_same(name: str) -> None:
    """Sums and joins of branches, chains of norms, groups and shuffled channels, lrn; ResNet-50 at its own size."""
    from onnx import TensorProto, helper

    is_whole = name in ("resnet50", "shufflenet", "bvlc_alexnet")
    model: Any = models.light_model(name) if is_whole else models.small_model(name)
    last = model.graph.node[-1]
    if last.op_type == "Softmax":
        # What goes into it says more than what comes out, which is near to one and zeros.
        model.graph.output.append(helper.make_tensor_value_info(last.input[0], TensorProto.FLOAT, None))
    exe = lamina.compile(model, "dnnl, llvm", cache=False)
    if name == "resnet50":
        wanted = "dnnl: 2 regions, 176 ops (33 dnnl.conv2d_bias_relu, 16 dnnl.conv2d_bias_sum_relu"
        assert exe.placement.startswith(wanted)
    left = exe.placement.split("left: ")[1].splitlines()[1:]
    assert all("reshape" in line or "transpose" in line for line in left), exe.placement
    inputs = models.random_input(model)
    for output, expected in lamina.compile(model, cache=False).run(inputs).items():
        found = exe.run(inputs)[output]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max(), err_msg=output)


# -- threads ---------------------------------------------------------------------------------------------------------


@needs_dnnl
def test_threads_of_the_caller_stay_as_they_were(tmp_path: Path) -> None:
    found = library.load()
    assert not isinstance(found, str)
    if found.get_threads is None:
        pytest.skip("this oneDNN is built without OpenMP")
    before = found.get_threads()
    with found.threads(before + 1):
        assert found.get_threads() == before + 1
    exe = compiled(tmp_path, NET, "dnnl, cpu", threads=1)
    exe(*arrays_for(exe))
    assert found.get_threads() == before


@needs_dnnl
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_forked_child_computes_the_same(tmp_path: Path) -> None:
    """OpenMP's threads do not come along: the child does without."""
    text = """
    func.func @main(%x: tensor<1x32x40x40xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<1x32x38x38xf32> {
      %c = relay.nn.conv2d %x, %w : (tensor<1x32x40x40xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x38x38xf32>
      %r = relay.nn.relu %c : tensor<1x32x38x38xf32>
      return %r : tensor<1x32x38x38xf32>
    }
    """
    exe = compiled(tmp_path, text, "dnnl, cpu", threads=2)
    arrays = arrays_for(exe)
    expected = exe(*arrays)
    child = os.fork()
    if not child:
        signal.alarm(60)
        os._exit(0 if np.allclose(exe(*arrays), expected, rtol=1e-5, atol=1e-4) else 1)
    assert os.waitpid(child, 0)[1] == 0


# -- without the library ---------------------------------------------------------------------------------------------

NET = """
func.func @main(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>) -> tensor<2x3xf32> {
  %d = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  %r = relay.nn.relu %d : tensor<2x3xf32>
  %y = relay.atan %r : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
"""


def test_without_the_library_everything_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says what is missing; a program that was compiled so is not taken from the cache once it is there."""
    from io import StringIO

    from lamina.cli import command as cli

    (tmp_path / "net.mlir").write_text(NET)
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv(library.VARIABLE, raising=False)
    arrays = random_arrays([((2, 4), F), ((3, 4), F)])
    expected = np.arctan(np.maximum(arrays[0] @ arrays[1].T, 0))
    with monkeypatch.context() as without:
        without.setattr(library, "candidates", lambda: ["/nowhere/libdnnl.so.3"])
        out, err = StringIO(), StringIO()
        words = ["compile", "--target", "dnnl, llvm", str(tmp_path / "net.mlir")]
        assert cli.run(words, out, err) == 0, err.getvalue()
        said = "dnnl refused it: oneDNN is not installed (pip install 'lamina[dnnl]', or name its library in"
        assert f"  nn.dense (%d): {said} LAMINA_DNNL_LIBRARY)\n" in out.getvalue()
        assert "dnnl: 0 regions" in out.getvalue()
        np.testing.assert_allclose(lamina.compile(tmp_path / "net.mlir", "dnnl, cpu")(*arrays), expected, rtol=1e-4)
    if not missing_dnnl():
        exe = lamina.compile(tmp_path / "net.mlir", "dnnl, cpu")
        assert exe.placement.startswith("dnnl: 1 region, 2 ops (1 dnnl.dense_relu)\nleft: 1 op\n  atan")
        np.testing.assert_allclose(exe(*arrays), expected, rtol=1e-4)


def test_library_that_is_named_and_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctypes.util import find_library

    monkeypatch.setenv(library.VARIABLE, str(tmp_path / "libdnnl.so"))
    said = library.load()
    assert isinstance(said, str)
    assert said.startswith(f"oneDNN does not load from {tmp_path}/libdnnl.so, as LAMINA_DNNL_LIBRARY says: ")
    other = find_library("m")
    if other is not None:
        monkeypatch.setenv(library.VARIABLE, other)
        assert f"{other} is no oneDNN of version 3" in str(library.load())
