"""`relay.op.contrib`: pattern tables of external compilers, and modules cut into what these take.

    from lamina.compat.tvm.relay.op.contrib.dnnl import partition_for_dnnl
    mod = partition_for_dnnl(mod, params)
    lib = relay.build(mod, target="llvm")

Each compiler that has a table is a module with `pattern_table` and `partition_for_<name>`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from lamina.compat.tvm.imports import NO_FOLDER, modules_elsewhere
from lamina.compat.tvm.ir_module import IRModule
from lamina.compat.tvm.transform import Pass, PassContext, Sequential
from lamina.errors import UsageError
from lamina.passes.relay.partition.pattern_tables import get_pattern_table, register_pattern_table, table_names

__path__ = NO_FOLDER


BEFORE = ("CanonicalizeOps", "SimplifyInference", "FoldConstant", "FoldScaleAxis")
"""Passes that bring a module into the form that patterns are written for, as TVM runs them."""
HEAVY = frozenset(
    f"relay.nn.{name}"
    for name in (
        *("conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose"),
        *("dense", "layer_norm", "batch_matmul", "global_avg_pool2d"),
    )
)
"""Operators that are worth a call of dnnl: a region without any of them stays here where regions are pruned."""


def partition(mod: Any, compiler: str, params: Mapping[str, Any] | None = None, mod_name: str = "default") -> IRModule:
    """The module with a global function for each region that the table of a compiler takes. Raises LaminaError."""
    from lamina import transform as ours
    from lamina.compat.tvm.relay.build_module import with_params

    if not isinstance(mod, IRModule):
        raise UsageError(f"a module is partitioned, not {type(mod).__name__}", hint="tvm.IRModule.from_expr(...)")
    steps = [getattr(ours, name)() for name in BEFORE]
    steps += [ours.MergeComposite(patterns=(compiler,)), ours.AnnotateTarget(targets=(compiler,))]
    steps += [ours.MergeCompilerRegions(), ours.PartitionGraph(mod_name=mod_name)]
    with PassContext(opt_level=3):
        return Sequential([Pass(step) for step in steps])(with_params(mod, params))


def prune(mod: IRModule, compiler: str, heavy: frozenset[str] = HEAVY) -> IRModule:
    """The module in which regions without a heavy operator are where they were before, in the functions around."""
    from xdsl.dialects.builtin import StringAttr
    from xdsl.dialects.func import FuncOp

    from lamina.ir.context import LaminaContext
    from lamina.passes.relay.functional.inline import COMPILER, Inline

    module, store = mod.ir()
    changed = module.clone()
    for function in list(changed.body.block.ops):
        if isinstance(function, FuncOp) and function.attributes.get(COMPILER) == StringAttr(compiler):
            if not any(op.name in heavy for op in function.walk()):
                for name in (COMPILER, "Primitive", "global_symbol"):
                    function.attributes.pop(name, None)
    ctx = LaminaContext()
    ctx.params = store
    Inline().apply(ctx, changed)
    return IRModule.of_ir(changed, store, mod)


class _Compiler(ModuleType):
    """`relay.op.contrib.<name>`."""

    def __init__(self, name: str, table: str) -> None:
        super().__init__(f"{__name__}.{name}", f"What {table} takes.")
        self._table = table
        setattr(self, f"partition_for_{name}", self._partition_for(name))

    def pattern_table(self) -> list[Any]:
        """The patterns: (name, pattern[, check])."""
        return list(get_pattern_table(self._table))

    def _partition_for(self, name: str) -> Callable[..., IRModule]:
        table = self._table

        def partition_for(
            mod: Any,
            params: Mapping[str, Any] | None = None,
            alter_layout: bool = True,
            prune_subgraphs: bool = True,
            mod_name: str = "default",
            **options: Any,
        ) -> IRModule:
            made = partition(mod, table, params, mod_name)
            # Layouts are the runtime's own matter here: it packs weights when it loads a program.
            return prune(made, table) if prune_subgraphs and table == "dnnl" else made

        partition_for.__name__ = partition_for.__qualname__ = f"partition_for_{name}"
        partition_for.__doc__ = f"The module with a function for each region that {table} takes."
        return partition_for


register = modules_elsewhere(__name__, {"register": __name__})["register"]
"""`relay.op.contrib.register`, where TVM keeps the tables."""

for _table in table_names():
    _name = _table.replace("-", "")
    _module = _Compiler(_name, _table)
    sys.modules[f"{__name__}.{_name}"] = _module
    globals()[_name] = _module
    globals()[f"partition_for_{_name}"] = getattr(_module, f"partition_for_{_name}")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    from lamina.ir.tvm_names import not_bridged

    known = [n for n in globals() if not n.startswith("_")]
    raise not_bridged(f"relay.op.contrib.{name}", known)


__all__ = ["get_pattern_table", "partition", "prune", "register_pattern_table"]
