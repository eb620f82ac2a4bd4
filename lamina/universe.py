"""The universe that plain xDSL tools get from an installed Lamina: relay, te, tir and the passes above the LLVM level.

A name that xDSL has too would stop every xDSL tool of the environment, so `llvm` stays out (see `lamina.ir.context`).
"""

from __future__ import annotations

from xdsl.universe import Universe

from lamina.ir.context import dialect_factory
from lamina.ir.registry import our_passes

_EXPORTED = ("relay", "te", "tir", "stair")

LAMINA_UNIVERSE = Universe(
    all_dialects={name: dialect_factory(name) for name in ("relay", "te", "tir", "lamina")},
    all_passes={f.name: f.load for f in our_passes().values() if f.level in _EXPORTED and f.name != "tir-to-llvm"},
)
