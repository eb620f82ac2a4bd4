"""Rules of loads, stores and prefetches; what an access is made of stands in `access.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.dialects.tir.memory import LoadOp, StoreOp
from lamina.dialects.tir.prefetch import PrefetchOp
from lamina.passes.tir_to_llvm.access import Access
from lamina.passes.tir_to_llvm.rules import Step, tir_to_llvm
from lamina.passes.tir_to_llvm.spread import compile_spread_load

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.replay import Replay


@tir_to_llvm.lowers(LoadOp)
def load(op: LoadOp, replay: Replay) -> Step:
    """A value of a register buffer, or llvm.load: of an element, a vector, lanes one by one, or under a mask."""
    access = Access(replay, op)
    spread = compile_spread_load(replay, op, access) if replay.spreads else None
    return access.load_step() if spread is None else spread


@tir_to_llvm.lowers(StoreOp)
def store(op: StoreOp, replay: Replay) -> Step:
    """The new value of a register buffer, or llvm.store, under a mask where it has conditions."""
    return Access(replay, op).store_step()


@tir_to_llvm.lowers(PrefetchOp)
def prefetch(op: PrefetchOp, replay: Replay) -> Step:
    """llvm.intr.prefetch of the address."""
    return Access(replay, op).prefetch_step(op)
