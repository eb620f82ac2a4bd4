"""The llvm level: MLIR's LLVM dialect, names and syntax, so that mlir-opt accepts our text.

`LLVM` is a dialect object of its own: xDSL's op classes, completed by those that a code generator needs and with
the narrow ones replaced. It takes the place of xDSL's `llvm` in our contexts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.ir import Dialect

    LLVM: Dialect


def __getattr__(name: str) -> Any:
    if name != "LLVM":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from xdsl.dialects.llvm import LLVM as base
    from xdsl.ir import Dialect

    from lamina.dialects.llvm_target import core, intrinsics, masked, memory, reductions

    ours = [getattr(module, n) for module in (core, intrinsics, masked, memory, reductions) for n in module.__all__]
    replaced = {op.name for op in ours}
    ops = [op for op in base.operations if op.name not in replaced] + ours
    globals()["LLVM"] = llvm = Dialect("llvm", ops, list(base.attributes))
    return llvm
