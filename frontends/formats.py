"""The formats that programs come in, found by the tree: `frontends/<folder>/format.py` declares one as `FORMAT`.

A format is known by the suffixes of its files, else by their first bytes. One of text gives a Relay module, whose @main
is the model; another one imports a model, with what its file says of inputs and outputs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.dialects.relay.params import ParamStore
    from lamina.frontends.imported import ImportedModel
    from lamina.frontends.support import SupportReport

Shapes: TypeAlias = "Mapping[str, Sequence[int] | int | str]"
"""A shape by the name of an input, or the size of a named extent."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format that programs come in."""

    name: str
    """The name of the format for `opt-tool --frontend`."""
    what: str
    """A file of the format in words: `an ONNX model`."""
    suffixes: tuple[str, ...]
    begins: Callable[[bytes], bool] | None = None
    """Whether the first bytes of a file are those of one, None where nothing marks it."""
    holds: Callable[[Sequence[str]], bool] | None = None
    """Whether the members of a zip archive are those of one, None where it is no archive."""
    folder_files: tuple[str, ...] = ()
    """Files of which one is in each folder that is a model of the format."""


@dataclass(frozen=True, kw_only=True)
class TextFormat(Format):
    """A format of text. `parse(text, name)` gives a module and its weights, and raises LaminaError with places.

    Its caller verifies the module. The arguments of @main are the model's inputs.
    """

    parse: Callable[[str, str], tuple[ModuleOp, ParamStore]] | None = None
    """None where the text is MLIR of a dialect that our own parser reads."""
    marks: tuple[str, ...] = ()
    """Beginnings of the names of that dialect's ops, by which such a text is known whatever it is called."""
    pipeline: str = ""
    """The pass that makes Relay of the module, where it is none."""


class Importer(Protocol):
    """An importer of models from a path or from bytes. Raises LaminaError."""

    def __call__(self, source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None) -> ImportedModel:
        """`shapes` fixes extents; a tensor may have `max_tensor_bytes`, None for the format's own limit."""
        ...


@dataclass(frozen=True, kw_only=True)
class ModelFormat(Format):
    """A format of models. `read(source, shapes)` imports one, `check(source)` reports which operators are missing."""

    read: Importer
    check: Callable[[Any], SupportReport]
    read_any_size: Importer | None = None
    """Imports a model for all sizes of extents that it leaves open, where `read` raises OpenExtentError for them."""
    takes_ranges: bool = False
    """Whether the shapes that it is given may have ranges."""
    beside: Callable[[Path], Path | None] | None = None
    """The file that holds the weights of the model at a path, None where it is not there; None for one file alone."""


_FOLDER = Path(__file__).parent


@cache
def formats() -> tuple[Format, ...]:
    """All formats, in the order of their folders."""
    folders = sorted(path.parent.name for path in _FOLDER.glob("*/format.py"))
    return tuple(import_module(f"lamina.frontends.{folder}.format").FORMAT for folder in folders)


def format_called(name: str) -> Format | None:
    """The format of a name."""
    return next((f for f in formats() if f.name == name), None)


def format_by_suffix(path: str | os.PathLike[str]) -> Format | None:
    """The format that the name of a file says."""
    name = os.fspath(path)
    return next((f for f in formats() if name.endswith(f.suffixes)), None)


def format_by_marks(text: str) -> TextFormat | None:
    """The format of a text of MLIR by the dialect of its ops, None for one of our own levels."""
    for form in formats():
        if isinstance(form, TextFormat) and any(mark in text for mark in form.marks):
            return form
    return None


def format_by_bytes(begin: bytes) -> Format | None:
    """The format that the first bytes of a file say."""
    return next((f for f in formats() if f.begins is not None and f.begins(begin)), None)


def format_by_members(names: Sequence[str]) -> Format | None:
    """The format that the names of the members of a zip archive say."""
    return next((f for f in formats() if f.holds is not None and f.holds(names)), None)


def format_of_folder(path: str | os.PathLike[str]) -> Format | None:
    """The format that a folder is a model of."""
    try:
        return next((f for f in formats() if any((Path(path) / name).is_file() for name in f.folder_files)), None)
    except (OSError, ValueError):
        return None
