"""Where in the user's program an object was made or a schedule method was called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

from lamina.errors import LaminaError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import LocationAttr

P = ParamSpec("P")
T = TypeVar("T")
_PACKAGE = str(Path(__file__).parents[1]) + "/"


class Place(NamedTuple):
    """A position in the user's program; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def location(self) -> LocationAttr:
        """The place as an IR location."""
        from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

        return FileLineColLoc(StringAttr(self.file), IntAttr(self.line), IntAttr(self.column))


def caller() -> Place | None:
    """The innermost place that is not in this package, None where there is none (all frames are ours)."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if not _is_ours(frame.f_code.co_filename):
            column = _column(frame.f_code, frame.f_lasti)
            return Place(frame.f_code.co_filename, frame.f_lineno, column)
        frame = frame.f_back
    return None


def placed(function: Callable[P, T]) -> Callable[P, T]:
    """A function of the public API whose errors name the line that called it, where they name no other."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except LaminaError as error:
            error.where = error.where or str(caller() or "")
            raise

    return call


@cache
def _is_ours(filename: str) -> bool:
    return filename.startswith(_PACKAGE) or filename.startswith("<frozen")


def _column(code: CodeType, instruction: int) -> int:
    """The column of the expression that an instruction belongs to, 1 where Python does not know it."""
    for n, (_, _, column, _) in enumerate(code.co_positions()):
        if n == instruction // 2:
            return (column or 0) + 1
    return 1
