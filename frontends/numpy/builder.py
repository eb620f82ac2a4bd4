"""The builder that NumPy's functions are given: ATen's, with NumPy's element types and the user's lines."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from lamina.dialects.dtypes import DTYPES, numpy_dtype
from lamina.errors import UnsupportedError, UsageError
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.graph import AtenCall
from lamina.frontends.aten.importer import converted
from lamina.frontends.builder import Value

_HERE = Path(__file__).parent
OURS = (
    *(f"{p}{os.sep}" for p in (_HERE, _HERE.parent / "aten", _HERE.parents[1] / "numpy", Path(np.__file__).parent)),
    contextlib.__file__,
)
"""Folders of files whose lines are not the user's."""


def users_line() -> tuple[str, int]:
    """The file and the line of the traced function that runs now."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


class NumpyBuilder(AtenBuilder):
    """Emits the Relay ops of a NumPy program, one call at a time."""

    line: tuple[str, int] = ("", 0)
    function = ""
    depth = 0
    """The calls that run now: in one the lines are those of the call."""

    def begin(self, function: str) -> None:
        """Begin a call of a function: the ops that are emitted from now on stand at the user's line."""
        self.function = function
        self.line = users_line()
        self.location = FileLineColLoc(StringAttr(self.line[0]), IntAttr(self.line[1]), IntAttr(0))

    @property
    def where(self) -> str:
        file, line = self.line
        place = f"{Path(file).name}:{line}" if file else self.label
        return f"{place}: {self.function}" if self.function else place

    def aten(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The results of an operator of ATen."""
        # Converters that serve several operators ask which one is called.
        before, self.call = self.call, AtenCall(name, f"aten.{name}", args, kwargs)
        try:
            return converted(self, self.call, args, kwargs)
        finally:
            self.call = before

    def tensor(self, x: Any, dtype: str | None = None) -> Value:
        """An operand as a tensor of a type, by default its own: a tensor, an array, a number or a list of these."""
        if isinstance(x, Value):
            return x if dtype is None else self.cast(x, dtype)
        if isinstance(x, (bool, int, float)) and dtype is not None:
            return self.constant(np.asarray(x, numpy_dtype(dtype)))
        if isinstance(x, (list, tuple)) and has_tensors(x):
            parts = [self.tensor(p) for p in x]  # pyright: ignore[reportUnknownVariableType]
            common = dtype or str(np.result_type(*(numpy_dtype(p.dtype) for p in parts)))
            return self.aten("stack", [self.cast(p, common) for p in parts])
        array = np.asarray(x)
        value = self.constant(array, known_type(array.dtype, self.where))
        return value if dtype is None else self.cast(value, dtype)

    def alike(self, *operands: Any, dtype: str | None = None) -> list[Value]:
        """Operands as tensors of the type that NumPy's promotion gives, or of `dtype`."""
        found = dtype or common_type(operands)
        return [self.tensor(o, found) for o in operands]

    def spread(self, *operands: Value) -> list[Value]:
        """Tensors broadcast to one shape. Raises UsageError where they do not fit."""
        try:
            shape = np.broadcast_shapes(*(o.shape for o in operands))
        except ValueError:
            shapes = " and ".join(str(o.shape) for o in operands)
            raise UsageError(f"shapes {shapes} cannot be broadcast together", where=self.where) from None
        return [self.broadcast(o, shape) for o in operands]

    def known(self, x: Any, what: str) -> Any:
        """The values of an argument that decides shapes; they must not depend on traced arrays."""
        if not isinstance(x, Value):
            return x
        if x.array is None:
            raise self.unsupported(
                f"{what} depends on a traced array", "it must be known when the function is compiled"
            )
        return x.array

    def dtype_of(self, given: Any, otherwise: str) -> str:
        """The name of an argument `dtype`."""
        return otherwise if given is None else known_type(np.dtype(given), self.where)


def known_type(dtype: np.dtype[Any], where: str) -> str:
    """The name of an element type. Raises UnsupportedError for one that tensors do not have."""
    name = dtype.name
    if name not in DTYPES:
        raise UnsupportedError(f"the element type {dtype} is not supported", where=where, hint="floats, integers, bool")
    return name


def common_type(operands: Sequence[Any]) -> str:
    """The element type of NumPy's promotion: Python's numbers are weak (NEP 50)."""
    given = [numpy_dtype(o.dtype) if isinstance(o, Value) else o for o in operands]
    return str(np.result_type(*given))


def has_tensors(x: Any) -> bool:
    """Whether there is a tensor in nested lists."""
    if isinstance(x, (list, tuple)):
        return any(has_tensors(e) for e in x)  # pyright: ignore[reportUnknownVariableType]
    return isinstance(x, Value)
