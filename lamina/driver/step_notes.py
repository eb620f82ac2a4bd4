"""Notes on a module after a step of its compilation."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp

from lamina.dialects.fast_ir import all_ops


def relay_ops(module: ModuleOp) -> int:
    """The ops of a graph, without constants."""
    return sum(1 for op in all_ops(module) if op.name.startswith("relay.") and op.name != "relay.constant")


def step_note(name: str, module: ModuleOp) -> str:
    """A note on a module after the pass of that name: the counts or sizes that the pass has made, else ""."""
    if name == "relay-to-te":
        functions = sum(1 for op in module.ops if op.name == "te.func")
        return f"{sum(1 for op in module.walk() if op.name == 'te.call')} calls of {functions} kernels"
    if name == "tir-plan-memory":
        arenas: list[Any] = [o for o in module.walk() if o.name == "tir.alloc" and o.results[0].name_hint == "arena"]
        known = [op for op in arenas if not op.sizes]
        size = sum(int(op.results[0].type.get_shape()[0]) for op in known)
        others = f", {len(arenas) - len(known)} of unknown size" if len(known) < len(arenas) else ""
        return f"arena of {size / 1e6:.1f} MB{others}" if arenas else ""
    return f"{sum(1 for _ in module.walk())} ops" if name == "tir-to-llvm" else ""
