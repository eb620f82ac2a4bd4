"""Places in the user's program: where an object was made, a method was called, an exception arose."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache, wraps
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from lamina.errors import LaminaError

if TYPE_CHECKING:
    from types import TracebackType

    from xdsl.dialects.builtin import LocationAttr

P = ParamSpec("P")
T = TypeVar("T")
_PACKAGE = f"{Path(__file__).parents[1]}/"
_BESIDE = tuple(
    f"{name}/" for name in ("xdsl", "numpy", "onnx", "google", "llvmlite", "ml_dtypes", "safetensors", "onnxruntime")
)
"""The packages that Lamina calls; others in their folder are a user's, who installed them."""


@cache
def _library() -> str:
    import sysconfig

    return f"{sysconfig.get_path('stdlib')}/"


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
    """The innermost place that is the user's, None where there is none.

    Not the user's are Lamina, the packages that it calls and Python's library, which stands between where a context
    manager is a decorator.
    """
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if not _is_ours(frame.f_code.co_filename):
            column = _column(frame.f_code, frame.f_lasti)
            return Place(frame.f_code.co_filename, frame.f_lineno, column)
        frame = frame.f_back
    return None


def raised_at(error: BaseException) -> tuple[Place, Mapping[str, Any]] | None:
    """The innermost place that is the user's on the way of an exception, and the local variables there.

    The way begins where the exception is caught: whoever has called us is not on it.
    """
    found: TracebackType | None = None
    step = error.__traceback__
    while step is not None:
        if not _is_ours(step.tb_frame.f_code.co_filename):
            found = step
        step = step.tb_next
    if found is None:
        return None
    frame = found.tb_frame
    column = _column(frame.f_code, found.tb_lasti)
    return Place(frame.f_code.co_filename, found.tb_lineno, column), frame.f_locals


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
    # What Cython has compiled is named from its package on.
    if filename.startswith((_PACKAGE, "<frozen", *_BESIDE)):
        return True
    _, installed, package = filename.rpartition("-packages/")  # of site-packages, or Debian's dist-packages
    return package.startswith(_BESIDE) if installed else filename.startswith(_library())


def _column(code: CodeType, instruction: int) -> int:
    """The column of the expression that an instruction belongs to, 1 where Python does not know it."""
    for n, (_, _, column, _) in enumerate(code.co_positions()):
        if n == instruction // 2:
            return (column or 0) + 1
    return 1
