"""Programs whose files have less than their weights: a second program packs these (`packing.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lamina.runtime.program_file import StoredProgram

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Packing:
    """A program that packs weights, and the arrays that a file stores for it and for the net."""

    program: StoredProgram
    stored: tuple[Array, ...]
    sources: tuple[int, ...]
    """For each weight of the program its number among what is stored."""
    places: tuple[int, ...]
    """For each weight of the net its number among what is stored, or -1 - n for output n of the program."""


@dataclass(frozen=True)
class SmallProgram(StoredProgram):
    """A program with what packs its weights when a library of it is loaded."""

    packing: Packing


def packing_of(program: StoredProgram) -> Packing | None:
    """The packing of a program; None where its file has the weights as they are used."""
    return program.packing if isinstance(program, SmallProgram) else None


def stored_arrays(program: StoredProgram) -> Sequence[Array]:
    """The arrays that the file of a program holds."""
    packing = packing_of(program)
    return program.params if packing is None else packing.stored
