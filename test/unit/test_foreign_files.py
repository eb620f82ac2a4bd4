"""Files of other frameworks in the place of a model: the answer says what they are and what to do."""

from __future__ import annotations

import io
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

import lamina
from lamina.cli import command as cli
from lamina.errors import InputError, UnsupportedError
from lamina.frontends.formats import format_by_suffix
from lamina.ir.foreign_files import FOREIGN, described, model_format
from lamina.opt_tool.command import run_opt_tool


def archive(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in names:
            file.writestr(name, "content")
    return out.getvalue()


def arrays() -> bytes:
    out = io.BytesIO()
    np.savez(out, x=np.ones(3))
    return out.getvalue()


FILES = {
    "net.pt": (archive("net/data.pkl", "net/version"), "is a PyTorch file; torch.onnx.export("),
    "old.pth": (b"\x80\x02}q\x00.", "is a pickle, as PyTorch writes weights; torch.onnx.export("),
    "model.ckpt": (b"\0\1hello", "is part of a checkpoint of TensorFlow; give a frozen graph"),
    "net.gguf": (b"GGUF\x03\0\0\0", "holds weights in the GGUF format; export the model"),
    "net.safetensors": ((2).to_bytes(8, "little") + b"{}", "holds weights without a model; export the model"),
    "x.npz": (arrays(), "holds arrays, not a model; give them with --input"),
    "x.npy": (b"\x93NUMPY\x01\0", "holds an array, not a model; give it with --input NAME=@FILE"),
    "net.zip": (archive("net.onnx"), "is an archive; unpack it"),
    "net.ort": (b"\x20\0\0\0ORTM", "is a model that onnxruntime has converted; give the ONNX model"),
    "net.onnx": (
        b"version https://git-lfs.github.com/spec/v1\n",
        "is a pointer of git LFS, and not the file itself; `git",
    ),
    "page.onnx": (b"<!DOCTYPE html><html>", "is a web page, as a failed download leaves one; download"),
    "net.txt": (b"func.func @main() {\n}\n", "is IR as text; give it a name that ends with .mlir"),
    "program": (b"lamina artefact\nformat 2", "is a compiled program; give it a name that ends with .lamina"),
}
NO_MODELS = {"x.npz", "x.npy", "net.zip", "net.onnx", "page.onnx", "net.txt", "program"}


@pytest.fixture
def model() -> bytes:
    port = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", port[:1], port[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_somebody_else_is_known(tmp_path: Path, name: str) -> None:
    content, said = FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    kind, status = (InputError, 1) if name in NO_MODELS else (UnsupportedError, 3)
    for use in (lamina.load, lamina.compile):
        with pytest.raises(kind) as caught:
            use(path)
        assert str(caught.value).startswith(f"{path}: {said}") and caught.value.exit_status == status
    for command in (["check"], ["compile"], ["debug", "compare"]):
        err = io.StringIO()
        assert cli.run([*command, str(path)], io.StringIO(), err) == status
        assert err.getvalue().startswith(f"error: {path}: {said}") and err.getvalue().count("\n") == 1
    status_of_tool, _, err_of_tool = run_opt_tool(["-f", "onnx", str(path)])
    assert status_of_tool == status and said in err_of_tool


@pytest.mark.parametrize("name", [n for n in FILES if n not in ("model.ckpt",)])
def test_it_is_known_under_the_name_of_another(tmp_path: Path, name: str) -> None:
    content, said = FILES[name]
    (tmp_path / "renamed.onnx").write_bytes(content)
    with pytest.raises((InputError, UnsupportedError)) as caught:
        lamina.load(tmp_path / "renamed.onnx")
    assert said in str(caught.value)
    with pytest.raises((InputError, UnsupportedError)) as caught:
        lamina.load(content)
    assert said in str(caught.value)


@pytest.mark.parametrize("suffix", sorted(s for f in FOREIGN for s in f.suffixes))
def test_what_begins_as_onnx_is_onnx_whatever_its_suffix(tmp_path: Path, model: bytes, suffix: str) -> None:
    path = tmp_path / f"net{suffix}"
    path.write_bytes(model)
    assert described(path) is None and model_format(path).name == "onnx"
    path.write_bytes(b"\n\x05hello")
    # What a format of ours has the suffix of is told by its reader.
    assert (described(path) is None) == (format_by_suffix(path) is not None)


@pytest.mark.parametrize("name", [n for n in FILES if n not in ("net.txt", "net.onnx", "page.onnx", "model.ckpt")])
def test_opt_tool_knows_what_is_no_text(tmp_path: Path, name: str) -> None:
    content, said = FILES[name]
    (tmp_path / "net.mlir").write_bytes(content + b"\xff")
    status, _, err = run_opt_tool([str(tmp_path / "net.mlir")])
    assert status in (1, 3) and said in err, err


def test_a_folder_is_that_of_a_format_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01")
    assert described(tmp_path) is None and model_format(tmp_path).name == "tensorflow"
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    with pytest.raises(InputError, match="is a folder, not an ONNX file"):
        lamina.load(tmp_path)
