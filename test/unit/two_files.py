"""Models of two files: commands on them, and damaged copies of them."""

from __future__ import annotations

import random
import time
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.cli import command as cli
from lamina.errors import LaminaError, exit_status
from lamina.interpreters.relay_reference import main_function, run_relay

FEW = 60
"""Damaged copies of each file in a test of every day."""
ALL = pytest.param(300, marks=pytest.mark.long)
"""Damaged copies in a long test."""
MOST_SECONDS = 20
"""Time of the processor that a damaged model may take: ten times what the longest takes on a slow machine at the end of
all tests (much of it Python's own collection), and nothing beside a loop that runs as often as its file says."""


def checked(*words: str) -> tuple[int, str, str]:
    """The status of a command, and what it writes."""
    out, err = StringIO(), StringIO()
    return cli.run(list(words), out, err), out.getvalue(), err.getvalue()


def interpreted(path: Path, *inputs: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """What a model computes by the numpy oracles of its ops."""
    model = lamina.load(path)
    return run_relay(main_function(model.module), list(inputs), model.params)


def damaged(data: bytes, seed: int) -> bytes:
    """Bytes with one damage: cut, bits flipped, a piece repeated, left out or overwritten, numbers changed."""
    draw = random.Random(seed)
    made = bytearray(data)
    at = draw.randrange(len(made))
    kind = seed % 6
    if kind == 0:
        return bytes(made[:at])
    if kind == 1:
        for _ in range(draw.randint(1, 8)):
            made[draw.randrange(len(made))] ^= 1 << draw.randrange(8)
    elif kind == 2:
        made[at:at] = made[at : at + draw.randint(1, 64)]
    elif kind == 3:
        del made[at : at + draw.randint(1, 64)]
    elif kind == 4:
        made[at : at + 8] = draw.choice([b"\xff" * 8, b"\0" * 8, b"99999999", b"-1", b"\x80" * 8])
    else:
        digits = [k for k, c in enumerate(made) if 48 <= c < 58]
        for _ in range(3):
            made[draw.choice(digits or [at])] = draw.choice(b"0123456789-.")
    return bytes(made)


def refusal(path: Path, shapes: dict[str, list[int]] | None = None) -> LaminaError | None:
    """The error of an import, None for a model that can be read; any other exception is a fault, as is a long time."""
    begin = time.process_time()
    try:
        lamina.load(path, shapes)
    except LaminaError as e:
        assert exit_status(e) in (1, 2, 3), repr(e)
        assert "\n" not in str(e) and len(str(e)) < 2000, str(e)
        return e
    finally:
        assert time.process_time() - begin < MOST_SECONDS
    return None


def damages(first: Path, second: Path, folder: Path, count: int, shapes: dict[str, list[int]] | None = None) -> int:
    """Import copies of a model with damage in one of its files; the number of those that were refused."""
    refused = 0
    for seed in range(count):
        for k, file in enumerate((first, second)):
            for other in (first, second):
                (folder / other.name).write_bytes(other.read_bytes())
            (folder / file.name).write_bytes(damaged(file.read_bytes(), 2 * seed + k))
            refused += refusal(folder / first.name, shapes) is not None
    return refused
