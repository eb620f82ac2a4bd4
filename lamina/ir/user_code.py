"""Exceptions of the user's own code, run by ours: a pass, a rule, the meaning of an op.

They are told as the mistake of whoever wrote the line, with this line and the op that was being rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from lamina.errors import InputError
from lamina.ir.diagnostics import location_text, op_name
from lamina.ir.location import raised_at


class UserCodeError(InputError):
    """An exception that came out of the user's code. `at` is the op that was being rewritten."""

    def __init__(self, what: str, where: str, hint: str, at: Operation | None) -> None:
        super().__init__(what, where=where, hint=hint)
        self.at = at


def users_mistake(error: BaseException, doing: str = "") -> UserCodeError | None:
    """An exception that came through the user's code, as an error that names its line; None for one of ours alone.

    `doing` is what was going on, as `in pass 'mine'`.
    """
    found = raised_at(error)
    if found is None:
        return None
    place, variables = found
    op: Operation | None = getattr(error, "op", None) or _op_in(variables)
    at = ""
    if op is not None:
        position = location_text(op)
        at = f"at {op_name(op)}{f' ({position})' if position else ''}"
    said = " ".join(str(error).split())[:300]
    what = " ".join(word for word in (f"{type(error).__name__}: {said}", doing, at) if word)
    return UserCodeError(what, str(place), "--debug shows the traceback", op)


def _op_in(variables: Mapping[str, Any]) -> Operation | None:
    """The op that a function of a pass was at: what stands in a variable, and in a module."""
    for value in variables.values():
        if isinstance(value, Operation) and not isinstance(value, ModuleOp) and value.parent is not None:
            return value
    return None
