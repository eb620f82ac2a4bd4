"""`lamina debug compare` on programs that have weights: in a file beside the text, or in an ONNX model."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.cli import command as cli


def compare(*argv: str | Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = cli.run(["debug", "compare", *map(str, argv)], out, err)
    return status, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """y = x w, with an open batch."""
    weight = np.random.default_rng(0).integers(-3, 4, (50, 6)).astype(np.float32)
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", e]) for n, e in (("x", 50), ("y", 6))]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], [numpy_helper.from_array(weight, "w")])
    path = tmp_path_factory.mktemp("weights") / "product.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    )
    return path


@pytest.mark.parametrize("given", ["--size=batch=3", "--shape=x=3,50"])
def test_an_onnx_model_is_compared(model: Path, given: str) -> None:
    status, out, err = compare(model, given, "-p", "relay-fuse-ops,relay-to-te,cpu-schedule")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "same  relay" and out.splitlines()[-1] == "all 4 steps agree"


def test_weights_are_read_from_the_file_that_the_text_names(model: Path, tmp_path: Path) -> None:
    lamina.compile(model, shapes={"batch": 3}, threads=1).save_texts(tmp_path)
    assert compare(tmp_path / "relay.mlir", "-p", "relay-fuse-ops") == (
        0,
        "same  relay\nsame  relay-fuse-ops\nall 2 steps agree\n",
        "",
    )
    (tmp_path / "relay.safetensors").unlink()
    status, _, err = compare(tmp_path / "relay.mlir")
    assert status == 1 and err.count("\n") == 1
    assert f"{tmp_path}/relay.mlir: no value for the parameter 'constant'; give the weights" in err


@pytest.mark.parametrize(
    ("argv", "status", "words"),
    [
        (["nowhere.onnx"], 1, "nowhere.onnx: cannot read the model"),
        (["nowhere.mlir"], 1, "nowhere.mlir: cannot read: No such file"),
        (["net.lamina"], 2, "net.lamina: is a compiled program"),
        (["MODEL"], 2, "batch"),
        (["MODEL", "--size", "bach=3"], 2, 'a shape is given for "bach"'),
    ],
)
def test_mistakes_end_in_one_line(model: Path, argv: list[str], status: int, words: str) -> None:
    found, out, err = compare(*(str(model) if a == "MODEL" else a for a in argv))
    assert err.startswith("error: ") and err.count("\n") == 1
    assert words in err and found == status and not out
