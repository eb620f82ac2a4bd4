"""Messages of interpreters about accesses: the refusal of those that lie outside, and the names of buffers."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from lamina.errors import InputError


class OutOfBoundsError(InputError):
    """An access lies outside its buffer."""


def value_name(value: SSAValue) -> str:
    """`%x`, from the value's hint or its place."""
    if value.name_hint:
        return f"%{value.name_hint}"
    if isinstance(value.owner, Operation):
        return f"%{value.owner.name}"
    return f"%arg{value.index}"  # type: ignore[attr-defined]
