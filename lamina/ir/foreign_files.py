"""Files of others that people give in the place of a model: known by what they begin with, else by their suffix.

The answer says what the file is and how to get an ONNX model of it. What begins as a file of a frontend does is one,
whatever its suffix: ONNX files were called .pb once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, cast
from zipfile import BadZipFile, ZipFile

from lamina.errors import InputError, UnsupportedError
from lamina.frontends.formats import (
    Format,
    ModelFormat,
    format_by_bytes,
    format_by_members,
    format_by_suffix,
    format_of_folder,
)
from lamina.frontends.onnx.format import FORMAT as ONNX

BEGIN = 4096
"""Bytes at which a file is known."""
_TORCH = "torch.onnx.export(module, inputs, 'model.onnx') makes an ONNX model of it"
_TF2ONNX = "python -m tf2onnx.convert"
_CONVERTED = "give the model that it was converted from, as ONNX"


@dataclass(frozen=True)
class Foreign:
    """A kind of file: `what` it is or holds. `begins` is true of the first bytes of one, None where it has no mark."""

    what: str
    suffixes: tuple[str, ...]
    begins: Callable[[bytes], bool] | None
    hint: str
    is_model: bool = True
    """Whether it holds a model: else it is bad input rather than unsupported."""


def _mark(*marks: bytes, at: int = 0) -> Callable[[bytes], bool]:
    return lambda begin: begin[at:].startswith(marks)


def _safetensors(begin: bytes) -> bool:
    return begin[8:9] == b"{" and int.from_bytes(begin[:8], "little") < 1 << 30


def _ir_text(begin: bytes) -> bool:
    return b"\0" not in begin and any(word in begin for word in (b"func.func", b"builtin.module", b"te.func"))


# fmt: off
ARCHIVES = {
    "torch": Foreign("is a PyTorch file", (".pt", ".pth", ".ptl", ".torchscript"), None, _TORCH),
    "arrays": Foreign("holds arrays, not a model", (".npz",), None, "give them with --input, or to the program", False),
    "other": Foreign("is an archive", (".zip", ".tar", ".gz", ".xz", ".bz2", ".zst", ".7z"),
        _mark(b"PK\3\4", b"\x1f\x8b", b"\xfd7zXZ", b"BZh", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf"),
        "unpack it, and give the model in it", False),
}
"""Kinds of archives, which are told apart by the names in them."""

FOREIGN = (
    *ARCHIVES.values(),
    Foreign("is a pickle, as PyTorch writes weights", (".pkl", ".pickle"),
        _mark(b"\x80\2", b"\x80\3", b"\x80\4", b"\x80\5"), _TORCH),
    Foreign("is part of a checkpoint of TensorFlow", (".meta", ".ckpt"), None,
        "give a frozen graph (.pb), or the folder that tf.saved_model.save writes"),
    Foreign("holds weights in the GGUF format", (".gguf", ".ggml"), _mark(b"GGUF", b"ggml", b"lmgg"),
        "export the model that they were converted from to ONNX: optimum-cli export onnx --model NAME FOLDER"),
    Foreign("holds weights without a model", (".safetensors",), _safetensors,
        "export the model that they belong to: optimum-cli export onnx --model NAME FOLDER, or torch.onnx.export"),
    Foreign("holds an array, not a model", (".npy",), _mark(b"\x93NUMPY"), "give it with --input NAME=@FILE", False),
    Foreign("is a model that onnxruntime has converted", (".ort",), _mark(b"ORTM", at=4),
        "give the ONNX model that it was made from"),
    Foreign("is a Core ML model", (".mlmodel", ".mlpackage"), None, _CONVERTED),
    Foreign("is an OpenVINO model", (".xml",), _mark(b"<?xml", b"<net"), _CONVERTED),
    Foreign("is a TensorRT engine", (".engine", ".plan", ".trt"), None, "give the ONNX model that it was built from"),
    Foreign("is a PaddlePaddle model", (".pdmodel", ".pdiparams", ".pdparams"), None,
        "paddle2onnx --model_dir FOLDER --save_file model.onnx"),
    Foreign("is MLIR bytecode", (".mlirbc",), _mark(b"ML\xefR"),
        "export it as text: str(jax.export.export(jax.jit(f))(*args).mlir_module()), or with mlir-opt"),
    Foreign("is IR as text", (), _ir_text, "give it a name that ends with .mlir", False),
    Foreign("is a pointer of git LFS, and not the file itself", (), _mark(b"version https://git-lfs"),
        "`git lfs pull` fetches it", False),
    Foreign("is a web page, as a failed download leaves one", (), _mark(b"<!DOCTYPE", b"<!doctype", b"<html"),
        "download the file itself", False),
    Foreign("is a compiled program", (), _mark(b"lamina artefact\n"),
        "give it a name that ends with .lamina, as `lamina run` and lamina.Executable.load expect", False),
)
# fmt: on


def identify(begin: bytes, name: str, archive: Callable[[], Any]) -> Foreign | None:
    """The kind of a file that begins so and has that name; None for what a frontend may read.

    `archive` gives what `ZipFile` opens, the path or all bytes, where the beginning is that of an archive.
    """
    if format_by_bytes(begin) is not None:
        return None
    kind = next((f for f in FOREIGN if f.begins is not None and f.begins(begin)), None)
    if kind is ARCHIVES["other"]:
        names = _members(archive())
        if format_by_members(names) is not None or not names and format_by_suffix(name) is not None:
            return None  # its frontend says what is wrong with one that ends too early
        return _archive(names) or _by_suffix(name) or kind
    return kind or _by_suffix(name)


def _by_suffix(name: str) -> Foreign | None:
    if format_by_suffix(name) is not None:
        return None
    return next((f for f in FOREIGN if f.suffixes and name.lower().endswith(f.suffixes)), None)


def _members(given: Any) -> list[str]:
    """The names in a zip archive, of a path or a file object; none of what is no such archive."""
    try:
        with ZipFile(given) as archive:
            return archive.namelist()
    except (OSError, BadZipFile, ValueError, NotImplementedError):
        return []


def _archive(names: Sequence[str]) -> Foreign | None:
    if any(n.endswith("data.pkl") for n in names):
        return ARCHIVES["torch"]
    return ARCHIVES["arrays"] if names and all(n.endswith(".npy") for n in names) else None


def described(path: str | os.PathLike[str]) -> Foreign | None:
    """The kind of somebody else's file, or folder; None for others, those of a format and what is not there."""
    place = Path(path)
    try:
        if place.is_dir():
            is_ours = format_of_folder(place) is not None or (place / "model.onnx").is_file()
            return None if is_ours else _by_suffix(place.name)
    except (OSError, ValueError):
        return None
    begin = _begin(place)
    return identify(begin, place.name, lambda: place) if begin is not None else None


def model_format(source: object) -> ModelFormat:
    """The format of a model by its first bytes, its suffix or what is in its folder; else that of ONNX."""
    found = None
    if isinstance(source, bytes):
        found = _format_of(source[:BEGIN], BytesIO(source))
    elif isinstance(source, (str, os.PathLike)):
        path = Path(cast("str | os.PathLike[str]", source))
        found = _format_of(_begin(path) or b"", path) or format_by_suffix(path) or format_of_folder(path)
    return found if isinstance(found, ModelFormat) else ONNX


def _format_of(begin: bytes, archive: Any) -> Format | None:
    """The format that the first bytes say, or the names in an archive that begins with them."""
    return format_by_bytes(begin) or (format_by_members(_members(archive)) if begin.startswith(b"PK\3\4") else None)


def _begin(path: Path) -> bytes | None:
    """The first bytes of a file, None where it is no file or cannot be read."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return file.read(BEGIN)
    except (OSError, ValueError):
        return None


def refuse_foreign(source: object) -> None:
    """Raise where a model is expected, and a path or bytes are those of a file of somebody else's.

    UnsupportedError for a model of another framework, InputError for what is no model.
    """
    if isinstance(source, bytes):
        kind, where = identify(source[:BEGIN], "", lambda: BytesIO(source)), "the bytes"
    elif isinstance(source, (str, os.PathLike)):
        kind, where = described(source), str(os.fspath(source))  # pyright: ignore[reportUnknownArgumentType]
    else:
        return
    if kind is not None:
        raise (UnsupportedError if kind.is_model else InputError)(kind.what, where=where, hint=kind.hint)
