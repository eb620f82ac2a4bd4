"""Names of SSA values: what users call their tensors and axes, where the text of a program can have it."""

from __future__ import annotations

NAME = "lamina.name"
"""The attribute of a function's argument or result that holds the name that users know it by."""


def value_name(name: str) -> str | None:
    """A name as that of an SSA value, with `_` for `.`; None for one that no text can have (`é`, `2x`, `a b`).

    Of `_1` nothing is left either: xDSL takes numbers off a name and gives its own.
    """
    plain = name.replace(".", "_")
    return plain if plain.isascii() and plain.isidentifier() and plain.strip("_0123456789") else None
