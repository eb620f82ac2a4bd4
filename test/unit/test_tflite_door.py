"""TensorFlow Lite models are known by suffix and by their first bytes; without the packages they are refused."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

import lamina
from lamina.cli import command as cli
from lamina.compat.tvm import relay
from lamina.errors import InputError, UnsupportedError
from lamina.frontends.formats import format_by_bytes, format_by_suffix
from lamina.ir.foreign_files import described, identify, model_format
from lamina.opt_tool.command import run_opt_tool

FILE = b"\x1c\0\0\0TFL3" + bytes(64)
SAID = "TensorFlow Lite models are read with the packages tflite and flatbuffers; pip install 'lamina[tflite]'"


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python without the packages."""
    for name in ("tflite", "flatbuffers"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("name", ["net.tflite", "net.lite"])
def test_the_suffix_says_the_format(name: str) -> None:
    form = format_by_suffix(name)
    assert form is not None and form.name == "tflite"


def test_the_first_bytes_say_the_format(tmp_path: Path) -> None:
    form = format_by_bytes(FILE)
    assert form is not None and form.name == "tflite" and identify(FILE, "net.onnx", lambda: None) is None
    (tmp_path / "model.bin").write_bytes(FILE)
    assert model_format(tmp_path / "model.bin").name == "tflite" and described(tmp_path / "model.bin") is None
    assert model_format(FILE).name == "tflite"


def test_without_the_packages_it_is_refused(bare: None, tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(FILE)
    for use in (lamina.load, lamina.compile):
        with pytest.raises(UnsupportedError) as caught:
            use(path)
        assert str(caught.value) == f"{path}: {SAID}" and caught.value.exit_status == 3
    for command in (["check"], ["compile"], ["debug", "compare"]):
        err = io.StringIO()
        assert cli.run([*command, str(path)], io.StringIO(), err) == 3
        assert err.getvalue() == f"error: {path}: {SAID}\n"
    status, _, said = run_opt_tool([str(path)])
    assert status == 3 and SAID in said
    with pytest.raises(UnsupportedError, match="pip install"):
        relay.frontend.from_tflite(FILE)


def test_a_class_of_converters_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="a converter class of one's own is not supported"):
        relay.frontend.from_tflite(FILE, op_converter=object)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("tflite", reason="the files are read with the package tflite")
    path = tmp_path / "net.tflite"
    for content, said in ((b"", "is no TensorFlow Lite model"), (FILE, "")):
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            lamina.load(path)
        assert str(caught.value).startswith(f"{path}: ") and said in str(caught.value)
