"""relay-external-codegen: external backends compile the functions that are theirs; what one refuses comes back.

Before:
    %0 = func.call @tvmgen_default_openblas_main_0(%x) : (tensor<1x8xf32>) -> tensor<1x4xf32>
    func.func @tvmgen_default_openblas_main_0(%i: ...) -> ... attributes {Compiler = "openblas", ...} {
      %w = relay.constant #relay.param<"w"> : tensor<4x8xf32>
      %r = relay.nn.dense %i, %w : (...) -> tensor<1x4xf32> ... }
After:
    %0 = func.call @tvmgen_default_openblas_main_0(%x) : (tensor<1x8xf32>) -> tensor<1x4xf32>
    func.func private @tvmgen_default_openblas_main_0(tensor<1x8xf32>) -> tensor<1x4xf32>
      attributes {Compiler = "openblas", code = "{\\"nodes\\": ...}", constants = [#relay.param<"w">], ...}

Behind relay-partition-graph. The declaration goes through all levels to the program, which calls the backend with it.
A function whose backend is not here, cannot run or refuses it is put back op by op in the place of its calls, with a
remark for each op. It is offered to the others of `targets` and, if they refuse too, compiled as everything else.
`targets` are also the compilers whose tables say why ops were left, in the report of `lamina compile`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Operation

from lamina.dialects import edit
from lamina.dialects.listener import listener_of
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import CallOp, FnOp
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.functional.inline import put_in_place
from lamina.passes.relay.partition.external_backends import CODE, CONSTANTS, Code, Refusal, compiler_of, find_backend


@dataclass(frozen=True)
class ExternalCodegen(ModulePass):
    """External backends compile the functions that are theirs; what one refuses comes back."""

    name = "relay-external-codegen"
    targets: tuple[str, ...] = ()
    """The compilers that were asked, for the report."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        compiled: dict[func.FuncOp, Code] = {}
        why: dict[Operation, str] = {}
        asked = set(self.targets)
        candidates = list(self.targets)
        while True:
            refused: dict[func.FuncOp, str] = {}
            for function in [f for f in op.body.block.ops if isinstance(f, func.FuncOp) and f not in compiled]:
                if not function.is_declaration and compiler_of(function) is not None:
                    asked.add(compiler_of(function) or "")
                    try:
                        compiled[function] = compile_function(function)
                    except Refusal as e:
                        refused[function] = str(e)
            if not refused:
                break
            calls: dict[str, list[func.CallOp]] = {}
            for call in [o for o in op.walk() if isinstance(o, func.CallOp)]:
                calls.setdefault(call.callee.string_value(), []).append(call)
            refusing = {compiler_of(f) for f in refused}
            for function, reason in refused.items():
                _remark(ctx, function, reason)
                said = f"{compiler_of(function)} refused it: {reason}"
                why |= dict.fromkeys(_put_back(function, calls.get(function.sym_name.data, ())), said)
            candidates = [t for t in candidates if t not in refusing]
            if not candidates:
                break
            _offer(ctx, op, tuple(candidates))
        if asked:
            # Only models of which parts go to backends need these, here and below.
            from lamina.passes.relay.partition.partition_report import partition_report
            from lamina.passes.relay.partition.pattern_tables import find_table

            tables = [find_table(n) for n in [*self.targets, *sorted(asked - {*self.targets})]]
            listener_of(ctx).placed(lambda: str(partition_report(op, tables, why)))
        for function, code in compiled.items():
            _declare(function, code)


def _remark(ctx: Context, function: func.FuncOp, reason: str) -> None:
    from lamina.passes.rules.pattern_explaining import word

    for op in function.walk():
        if isinstance(op, RelayOp):
            listener_of(ctx).message("remark", f"{word(op)} comes back from {compiler_of(function)}: {reason}", op)


def _offer(ctx: Context, module: ModuleOp, compilers: tuple[str, ...]) -> None:
    """Partition what is left for other compilers."""
    from lamina.passes.relay.partition.annotate_target import AnnotateTarget
    from lamina.passes.relay.partition.merge_compiler_regions import MergeCompilerRegions
    from lamina.passes.relay.partition.merge_composite import MergeComposite
    from lamina.passes.relay.partition.partition_graph import PartitionGraph

    MergeComposite(patterns=compilers).apply(ctx, module)
    AnnotateTarget(targets=compilers).apply(ctx, module)
    MergeCompilerRegions().apply(ctx, module)
    names = [f.sym_name.data for f in module.body.block.ops if isinstance(f, func.FuncOp)]
    numbers = [int(n.rpartition("_")[2]) for n in names if re.fullmatch(r"tvmgen_\w+_\d+", n)]
    PartitionGraph(first_number=max(numbers, default=-1) + 1).apply(ctx, module)


def compile_function(function: func.FuncOp) -> Code:
    """The code that the backend of a function makes of it. Raises Refusal, also where the backend fails."""
    name = compiler_of(function) or ""
    backend = find_backend(name)
    if backend is None:
        raise Refusal(f"there is a pattern table of {name}, but no backend that makes and runs code")
    why = backend.unavailable()
    if why:
        raise Refusal(why)
    try:
        return backend.compile(function)
    except Refusal:
        raise
    except Exception as e:
        # A backend is somebody else's program: that it fails is no reason for the model to.
        raise Refusal(f"it failed: {type(e).__name__}: {' '.join(str(e).split())[:200]}") from e


def _declare(function: func.FuncOp, code: Code) -> None:
    """Replace a function by a declaration that carries its code."""
    type_ = function.function_type
    declared = func.FuncOp.external(function.sym_name.data, list(type_.inputs), list(type_.outputs))
    constants: list[Attribute] = list(code.constants)
    declared.attributes.update(function.attributes | {CODE: StringAttr(code.text), CONSTANTS: ArrayAttr(constants)})
    declared.location = function.location
    edit.replace(function, declared)


def _put_back(function: func.FuncOp, calls: Sequence[func.CallOp]) -> list[Operation]:
    """Put the ops of a function, and those of its composites, in the place of its calls: these ops."""
    with edit.transaction(function):
        return _inlined(function, calls)


def _inlined(function: func.FuncOp, calls: Sequence[func.CallOp]) -> list[Operation]:
    waiting: list[Operation] = []
    found: list[Operation] = []
    for call in calls:
        waiting += put_in_place(call, function.body.block, list(call.operands))
    composites: dict[FnOp, None] = {}
    while waiting:
        op = waiting.pop()
        found.append(op)
        if isinstance(op, CallOp):
            composite = op.function()
            if composite is not None and "Composite" in composite.attributes:
                composites[composite] = None
                waiting += put_in_place(op, composite.body.block, list(op.arguments))
    for composite in composites:
        if composite.result.first_use is None and composite.parent is not None:
            edit.erase(composite)
    edit.erase(function)
    return found
