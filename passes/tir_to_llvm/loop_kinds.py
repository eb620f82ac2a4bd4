"""The rule of `tir.for`: which code a loop becomes, by its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.dialects.tir.ops import ForOp
from lamina.dialects.tir.team import is_shared_out
from lamina.errors import InputError
from lamina.passes.tir_to_llvm.control import compile_unrolled
from lamina.passes.tir_to_llvm.loops import compile_serial
from lamina.passes.tir_to_llvm.rules import Step, tir_to_llvm
from lamina.passes.tir_to_llvm.teams import compile_shared_loop

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.replay import Replay


@tir_to_llvm.lowers(ForOp)
def loop(op: ForOp, replay: Replay) -> Step:
    """A block that branches to itself; an unrolled loop is replayed, a team's threads share one out."""
    if op.kind.data == "vectorized":
        raise InputError(f"tir-to-llvm: {op.axis.data!r} is still vectorized; run tir-vectorize-loop", op=op)
    if op.is_unrolled:
        return compile_unrolled(replay, op)
    team = replay.team
    if team is not None and not team.is_sharing and is_shared_out(op):
        return compile_shared_loop(replay, team, op)
    return compile_serial(replay, op)
