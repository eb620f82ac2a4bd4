"""Multi-level tiling: the tiles of `schedules/tiled_reduction.py` with what is decided there left open.

Open are the rows' dimension, the extents of the tile and the steps of a body, the order of the blocks, unrolling, and
whether tails are loops of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.ir import SSAValue

from lamina.backends.cpu.schedules.steps import epilogue_of
from lamina.backends.cpu.schedules.tiled_reduction import Decisions, row_dims, shares_reads, tile
from lamina.backends.cpu.stages import Stage
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr


class Open(Decisions):
    """Decisions that a search makes."""

    def number(self, candidates: Sequence[int], default: int, knob: str) -> SSAValue:
        """One of the candidates."""
        candidates = sorted({*candidates, default})
        return self.s.sample_categorical(candidates, (), candidates.index(default), knob)

    def order(self, blocks: list[SSAValue], knob: str) -> list[SSAValue]:
        """Any order."""
        return self.s.sample_order(blocks, decision=range(len(blocks)), knob=knob) if len(blocks) > 1 else blocks

    def unroll(self, loop: SSAValue, knob: str) -> None:
        """Unroll it or leave it."""
        self.s.sample_annotation(loop, ("none", "unroll"), 1, knob)

    def cut(self, block: SSAValue, has_tail: bool, pieces: Sequence[int], knob: str) -> None:
        """Cut tails off or leave them within the tile."""
        self.s.choose([partial(self.s.partition, block, pieces), _nothing], 0 if has_tail else 1, knob)


def applies(stage: Stage, target: TargetAttr) -> bool:
    """Whether a reduction has vectors of results, and a read that several of them share."""
    return shares_reads(stage)


def place(s: Schedule, stage: Stage, follower: Stage | None, target: TargetAttr) -> None:
    """Let one of several dimensions have the rows of a tile."""
    out = epilogue_of(s, stage, follower)
    axes = s.loops(stage.name)
    dims = row_dims(stage) or [None]
    pieces = [partial(tile, s, stage, follower, out, axes, d, target, Open(s)) for d in dims]
    if len(pieces) > 1:
        s.choose(pieces, 0, f"{stage.name}_rows")
    else:
        pieces[0]()


def _nothing() -> None:
    """Leave the tail within the tile."""
