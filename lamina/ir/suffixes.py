"""What names of files end with, and what that says of them."""

from __future__ import annotations

import os
from typing import TypeGuard

from lamina.errors import UsageError

SAVED = ".lamina"
"""A program that was compiled and saved."""
RELAY_TEXT = (".relay", ".rly")
"""Relay texts in TVM's format."""
TEXT = (".mlir", *RELAY_TEXT)
"""Relay texts, in our format or TVM's; other files are ONNX models."""


def is_saved(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a source is the path of a saved program."""
    return isinstance(source, (str, os.PathLike)) and str(os.fspath(source)).endswith(SAVED)  # pyright: ignore[reportUnknownArgumentType]


def is_text(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a source is the path of a Relay text."""
    return isinstance(source, (str, os.PathLike)) and os.fspath(source).endswith(TEXT)  # type: ignore[arg-type]


def refuse_saved(source: object) -> None:
    """Raise UsageError where a model is expected and a saved program is given."""
    if is_saved(source):
        raise UsageError("is a compiled program", where=str(source), hint="lamina.Executable.load runs it")
