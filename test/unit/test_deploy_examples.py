"""The callers of examples/deploy in C++ and Rust classify an image as onnxruntime does."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.backends.cpu.machines import processor
from lamina.runtime.headers import INCLUDE
from tools.header import RUST, rust, rust_type

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not processor().triple.startswith("x86_64"), reason="libraries of x86-64 are loaded"),
]

EXAMPLES = Path(__file__).parents[2] / "examples" / "deploy"
CXX = shutil.which("g++")
RUSTC = shutil.which("rustc", path=os.pathsep.join((os.environ.get("PATH", ""), str(Path.home() / ".cargo" / "bin"))))
needs_cxx = pytest.mark.skipif(CXX is None, reason="there is no C++ compiler `g++`")
needs_rustc = pytest.mark.skipif(RUSTC is None, reason="there is no Rust compiler `rustc`")
Array = np.ndarray[Any, np.dtype[Any]]


class Classifier(NamedTuple):
    """A network as a library, a small one and an archive, an image, and the probabilities that onnxruntime computes."""

    library: Path
    small: Path
    archive: Path
    image: Path
    probabilities: Array


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Classifier:
    """Two convolutions, a mean of the image and a softmax over eleven classes."""
    import onnxruntime  # pyright: ignore[reportMissingTypeStubs]

    random = np.random.default_rng(7)
    shapes = {"w": (12, 3, 3, 3), "v": (20, 12, 3, 3), "m": (20, 11)}
    weights = [
        numpy_helper.from_array(np.asarray(random.standard_normal(s) / 3, np.float32), n) for n, s in shapes.items()
    ]
    nodes = [
        helper.make_node("Conv", ["image", "w"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "v"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("GlobalAveragePool", ["c"], ["d"]),
        helper.make_node("Flatten", ["d"], ["e"]),
        helper.make_node("MatMul", ["e", "m"], ["f"]),
        helper.make_node("Softmax", ["f"], ["probabilities"], axis=1),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [info("image", TensorProto.FLOAT, [1, 3, 24, 24])],
        [info("probabilities", TensorProto.FLOAT, [1, 11])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    image = np.asarray(random.standard_normal((1, 3, 24, 24)) * 3, np.float32)
    folder = tmp_path_factory.mktemp("classifier")
    session: Any = onnxruntime.InferenceSession(model.SerializeToString())
    probabilities = np.asarray(session.run(None, {"image": image})[0])[0]
    library, archive = folder / "net.so", folder / "net.a"
    found = Classifier(library, folder / "small.so", archive, folder / "image.bin", probabilities)
    lamina.export(model, found.library, threads=2)
    lamina.export(model, found.small, threads=2, small=True)
    assert found.small.stat().st_size < found.library.stat().st_size
    lamina.export(model, found.archive, threads=2)
    image.tofile(found.image)
    return found


def check(program: Path, *words: Path | str, of: Classifier) -> None:
    """The five classes are onnxruntime's, in order, each with its probability."""
    end = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert end.returncode == 0, end.stderr
    rows = [line.split() for line in end.stdout.splitlines()]
    assert [int(c) for c, _ in rows] == np.argsort(-of.probabilities)[:5].tolist()
    np.testing.assert_allclose([float(p) for _, p in rows], np.sort(of.probabilities)[:-6:-1], atol=2e-6)


def error(program: Path, *words: Path | str) -> str:
    end = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert end.returncode == 1 and end.stderr.startswith("error: ") and not end.stdout
    return end.stderr


def check_mistakes(program: Path, of: Classifier, folder: Path) -> None:
    short = folder / "short.bin"
    short.write_bytes(of.image.read_bytes()[:-4])
    assert "short.bin: has 6908 bytes, the net's input 6912" in error(program, of.library, short)
    assert "undefined symbol: lamina_other" in error(program, of.library, of.image, "other")
    assert "cannot open shared object file" in error(program, folder / "none.so", of.image)
    one = folder / "one.so"
    text = "func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {\n  return %x : tensor<4xi32>\n}\n"
    (folder / "one.mlir").write_text(text)
    lamina.export(folder / "one.mlir", one, threads=1)
    assert "is no tensor of float32" in error(program, one, of.image)


@needs_cxx
def test_cxx(classifier: Classifier, tmp_path: Path) -> None:
    program = tmp_path / "classify"
    words = [str(CXX), "-std=c++14", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", str(INCLUDE)]
    source = EXAMPLES / "cpp" / "classify.cc"
    subprocess.run([*words, str(source), "-o", str(program), "-ldl"], check=True)
    check(program, classifier.library, classifier.image, of=classifier)
    check(program, classifier.small, classifier.image, of=classifier)
    check_mistakes(program, classifier, tmp_path)


def built_rust(program: Path, *options: str) -> Path:
    words = [str(RUSTC), "--edition", "2021", "-D", "warnings", *options, str(EXAMPLES / "rust" / "classify.rs")]
    environment = {**os.environ, "LAMINA_INCLUDE": str(INCLUDE)}
    subprocess.run([*words, "-o", str(program)], check=True, cwd=program.parent, env=environment)
    return program


@needs_rustc
def test_rust(classifier: Classifier, tmp_path: Path) -> None:
    program = built_rust(tmp_path / "classify")
    check(program, classifier.library, classifier.image, of=classifier)
    check(program, classifier.small, classifier.image, of=classifier)
    check_mistakes(program, classifier, tmp_path)


@needs_rustc
def test_rust_with_the_net_in_the_program(classifier: Classifier, tmp_path: Path) -> None:
    options = "--cfg", "linked", "-C", f"link-arg={classifier.archive}", "-C", "link-arg=-lm"
    check(built_rust(tmp_path / "classify", *options), classifier.image, of=classifier)


def test_the_binding_of_rust_is_up_to_date() -> None:
    assert RUST.read_text() == rust(), "python -m tools.header writes it"


def test_types_of_c_in_rust() -> None:
    assert rust_type("const void *const *") == "*const *const c_void"
    assert rust_type("int64_t *const *") == "*const *mut i64"
    assert rust_type("const lamina_port *") == "*const lamina_port"
    assert rust_type("uint16_t ") == "u16"
