"""Messages about users' mistakes: one line with the place of the call that is to blame."""

from __future__ import annotations

from inspect import signature
from operator import index
from typing import Any

from lamina.errors import InputError
from lamina.ir.location import caller


def fail(what: str, hint: str = "") -> InputError:
    """An error of the user's program, with the place of the call that is to blame."""
    place = caller()
    return InputError(what, where=str(place) if place is not None else "", hint=hint)


def checked_name(name: Any) -> str:
    """A name of a tensor or a variable. Raises LaminaError for what is no text."""
    if not isinstance(name, str):
        raise fail(f"a name is text, not {name!r}")
    return name


def checked_function(function: Any, count: int, what: str) -> Any:
    """A function of the user's that is called with so many arguments. Raises LaminaError where it cannot be."""
    if not callable(function):
        raise fail(f"{what} is a function of {count} arguments, not {function!r}")
    try:
        signature(function).bind(*[None] * count)
    except TypeError as error:
        raise fail(f"{what} is called with {count} arguments, but it has another number: {error}") from None
    except ValueError:  # a function that does not say what it takes
        pass
    return function


def checked_number(value: Any, what: str) -> int:
    """A whole number. Raises LaminaError for anything else."""
    try:
        return index(value)
    except TypeError:
        raise fail(f"{what} is a whole number, not {value!r}") from None
