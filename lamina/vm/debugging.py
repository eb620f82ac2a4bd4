"""Functions that see values while a program runs: what `relay.debug` calls.

    @debugger("look")
    def look(value, stack):
        print(stack["x"].max())

`stack` has the values of the function that is being run which have been computed, by the names that the text gives
them. What the function returns is dropped: the program goes on with the value as it was.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from xdsl.ir import SSAValue

from lamina.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from lamina.dialects.relay.functional.debug import DebugOp

Debugger: TypeAlias = "Callable[[Any, Mapping[str, Any]], object]"
_F = TypeVar("_F", bound="Callable[[Any, Mapping[str, Any]], object]")

_DEBUGGERS: dict[str, Debugger] = {}


def debugger(name: str) -> Callable[[_F], _F]:
    """Register a function for `relay.debug {debug_func = name}`; it takes the place of one of the same name."""

    def register(function: _F) -> _F:
        _DEBUGGERS[name] = function
        return function

    return register


def debug(op: DebugOp, values: Mapping[SSAValue, Any]) -> Any:
    """The value, shown to the function that the op names, or printed to stderr. Raises InputError for no such one."""
    value, name = values[op.program], op.debug_func.data
    if not name:
        from lamina.vm.values import value_text

        print(f"debug %{op.program.name_hint or '?'}: {value_text(value)}", file=sys.stderr)
        return value
    function = _DEBUGGERS.get(name)
    if function is None:
        near = did_you_mean(name, list(_DEBUGGERS))
        hint = near or "register it with lamina.vm.debugging.debugger"
        raise InputError(f"no debug function {name!r} is registered", hint=hint, op=op)
    function(value, {v.name_hint: found for v, found in values.items() if v.name_hint is not None})
    return value
