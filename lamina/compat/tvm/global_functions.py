"""`tvm.register_func` and `tvm.get_global_func`: Python functions by names. None are here from the beginning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lamina.errors import UsageError, did_you_mean

_KNOWN: dict[str, Callable[..., Any]] = {}


def register_func(func_name: Any, f: Callable[..., Any] | None = None, override: bool = False) -> Any:
    """Give a function a name: `register_func("my.add", f)`, `@register_func("my.add")` or `@register_func`.

    Raises UsageError where the name is taken, unless it is to be overridden.
    """
    if callable(func_name):
        return register_func(getattr(func_name, "__name__", str(func_name)), func_name)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if func_name in _KNOWN and not override:
            raise UsageError(f"the function {func_name!r} is registered already", hint="override=True replaces it")
        _KNOWN[func_name] = function
        return function

    return register if f is None else register(f)


def get_global_func(name: str, allow_missing: bool = False) -> Any:
    """The function of a name. Where there is none: None if it may be missing, else ValueError."""
    found = _KNOWN.get(name)
    if found is None and not allow_missing:
        near = did_you_mean(name, list(_KNOWN))
        raise ValueError(f"cannot find the global function {name!r}" + (f"; {near}" if near else ""))
    return found


def list_global_func_names() -> list[str]:
    """The names of all functions."""
    return sorted(_KNOWN)


def remove_global_func(name: str) -> None:
    """Forget a function; one that is not known is no mistake."""
    _KNOWN.pop(name, None)


__all__ = ["get_global_func", "list_global_func_names", "register_func", "remove_global_func"]
