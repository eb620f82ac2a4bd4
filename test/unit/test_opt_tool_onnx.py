"""opt-tool on ONNX models: imported, transformed, run, and written with their weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.opt_tool.command import run_opt_tool

W = np.random.default_rng(0).integers(-3, 4, (50, 6)).astype(np.float32)
X = np.random.default_rng(1).integers(-3, 4, (2, 50)).astype(np.float32)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, e]) for n, e in (("x", 50), ("y", 6))]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], [numpy_helper.from_array(W, "w")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "product.onnx").write_bytes(made.SerializeToString())
    (tmp_path / "without_suffix").write_bytes(made.SerializeToString())
    return tmp_path / "product.onnx"


def test_a_model_is_known_by_its_suffix_or_by_the_option(model: Path) -> None:
    by_name = run_opt_tool([str(model), "-p", "relay-fuse-ops"])
    by_option = run_opt_tool(["-f", "onnx", str(model.with_name("without_suffix")), "-p", "relay-fuse-ops"])
    assert by_name[0] == by_option[0] == 0 and "relay.nn.dense" in by_name[1] and not by_name[2]
    assert by_option[1].replace("without_suffix", "product") == by_name[1]


def test_a_model_is_run(model: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=X)
    words = ["--run", "@main", "--input", str(tmp_path / "x.npz"), "--output", str(tmp_path / "y.npz")]
    status, _, err = run_opt_tool([str(model), *words])
    assert status == 0, err
    np.testing.assert_array_equal(np.load(tmp_path / "y.npz")["y"], X @ W)


def test_its_weights_are_written_beside_its_text(model: Path, tmp_path: Path) -> None:
    """Also those that a pass has computed."""
    out = tmp_path / "out"
    out.mkdir()
    status, printed, err = run_opt_tool([str(model), "-o", str(out / "net.mlir"), "-p", "relay-fold-constant"])
    assert (status, printed, err) == (0, "", "")
    assert sorted(p.name for p in out.iterdir()) == ["net.mlir", "net.safetensors"]
    np.testing.assert_array_equal(lamina.compile(out / "net.mlir", threads=1)(X), X @ W)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["MODEL", "--split-input-file"], 2, "is an ONNX model, and no text"),
        (["-f", "onnx", __file__], 1, "not a whole ONNX file"),
        (["-f", "mlir", "MODEL"], 1, "product.onnx: error: is an ONNX model, and no text; -f onnx reads it"),
        (["MODEL", "-o", "/nowhere/net.mlir"], 1, "/nowhere/net.safetensors: error: cannot write the weights"),
    ],
)
def test_mistakes_are_one_message(model: Path, words: list[str], status: int, said: str) -> None:
    found, out, err = run_opt_tool([str(model) if w == "MODEL" else w for w in words])
    assert found == status and said in err and "Traceback" not in err and not out
