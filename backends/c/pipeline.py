"""The passes for nets as C source, and the machine that they are scheduled for.

Schedules and layouts are the CPU's: loops over blocks of channels, tiles that stay in registers. What they mark stays
a loop: a C compiler knows the vectors and the registers of its machine, and makes them of loops of few iterations.
"""

from __future__ import annotations

from lamina.dialects.machine_spec import TargetSpec

BASE = "cpu"
"""The kind whose passes these are, but for those that are left out."""

PASSES = ()

LEFT_OUT = {
    "cpu-winograd": "its tiles are transforms of whole vectors, and its weights take four times the room",
    "tir-inject-prefetch": "C has no word for it",
    "tir-vectorize-loop": "a loop whose iterations are independent is what C compilers make vectors of",
    "tir-transpose-tiles": "it shuffles the lanes of vectors",
    "tir-unroll-loop": "C compilers unroll loops of few iterations",
    "tir-demote-registers": "a register buffer is a small array that C compilers keep in registers",
    "tir-fuse-multiply-add": "without an instruction it is a slow function; C compilers contract where there is one",
    "tir-round-quotients": "it computes by multiply-adds that round once, which not all machines have",
    "tir-fuse-parallel-loops": "there is one thread",
    "tir-form-teams": "likewise",
    "tir-to-llvm": "the tir level is what is printed",
}
"""Passes that do not run, each with the reason."""


def target(threads: int) -> TargetSpec:
    """Any machine: what the tiles of its schedules are computed for has 16 registers of 8 floats, and one thread."""
    return TargetSpec("any", "generic", "", 256, 16, 1, kind="c")
