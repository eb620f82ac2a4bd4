"""`@main` of tir as a program table."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp as MainOp


class Phase(NamedTuple):
    """One entry of a kernel: its symbol, the extent of its parallel loop, and which of the kernel's buffers it takes."""

    symbol: str
    extent: int
    arguments: list[int]


def lower_main(module: ModuleOp, main: MainOp, phases: dict[str, list[Phase]]) -> None:
    raise NotImplementedError
