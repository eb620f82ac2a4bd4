"""A module of the llvm level, compiled and loaded: what program it holds, arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.dialects.aligned_arrays import aligned
from lamina.dialects.index.symbol_range import SymbolRange
from lamina.errors import InputError
from lamina.interpreters.external import ExternalCall, ExternalFunction
from lamina.runtime.compiled import CompiledProgram, load_program
from lamina.runtime.ports import SIZE, Extents, Port
from lamina.runtime.program_file import StoredProgram
from lamina.runtime.program_info import ProgramInfo

if TYPE_CHECKING:
    from xdsl.dialects.builtin import DictionaryAttr, ModuleOp

    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.dialects.relay.params import ParamStore
    from lamina.dialects.target import TargetAttr

    Array = np.ndarray[Any, np.dtype[Any]]

PROGRAM = "lamina.program"
"""The module attribute that says what a program takes and gives."""


def info_of_module(module: ModuleOp) -> ProgramInfo:
    """The program of a module of the llvm level. Raises InputError where it has none."""
    # What was compiled before is loaded without any IR.
    from xdsl.dialects.builtin import DictionaryAttr, StringAttr

    from lamina.passes.tir_to_llvm.program import entry_calls, entry_labels

    attr = module.attributes.get(PROGRAM)
    if not isinstance(attr, DictionaryAttr):
        raise InputError(f"the module has no {PROGRAM!r}; only what tir-to-llvm makes of @main can run")
    name = attr.data["name"]
    assert isinstance(name, StringAttr)
    calls = entry_calls(module, name.data)
    return info_of_attribute(attr, entry_labels(module, name.data), calls)


def info_of_attribute(attr: DictionaryAttr, labels: list[str], entry_calls: Sequence[int] = ()) -> ProgramInfo:
    """Read the attribute of a program whose entries have these labels and belong to these calls."""
    data: dict[str, Any] = dict(attr.data)
    external = tuple(ExternalFunction.of(f) for f in data.get("external", ()))
    calls = tuple(ExternalCall.of(c) for c in data.get("calls", ()))
    for call in calls:
        # Without a node of the model it is the function that says what the entry is.
        labels[call.entry] = labels[call.entry] or external[call.function].name
    places = tuple(data["places"].get_values()) if "places" in data else ()
    return ProgramInfo(
        data["name"].data,
        data["arena"].value.data,
        tuple(_port(p) for p in data["inputs"]),
        tuple(_port(p) for p in data["outputs"]),
        tuple(data["params"]),
        tuple(labels),
        tuple(m.data for m in data.get("messages", ())),
        tuple(_port(w) for w in data.get("workspaces", ())),
        external,
        calls,
        tuple(entry_calls) or tuple(range(len(labels))),
        tuple(zip(places[::2], places[1::2], strict=True)),
        data["thread_memory"].value.data if "thread_memory" in data else 0,
    )


def _port(attr: Any) -> Port:
    from xdsl.dialects.builtin import DenseArrayBase, IndexType, MemRefType, StringAttr

    from lamina.dialects.dtypes import dtype_name
    from lamina.dialects.index.index_map import IndexMapAttr, IndexSetAttr

    name, type_, shape = attr.data.get("name", StringAttr("workspace")), attr.data["type"], attr.data.get("shape")
    assert isinstance(name, StringAttr)
    if isinstance(type_, IndexType):
        known = attr.data.get("range")
        values = SymbolRange(*known.get_values()) if isinstance(known, DenseArrayBase) else None
        holds = attr.data.get("conditions")
        conditions = tuple(c.form for c in holds.data.conditions) if isinstance(holds, IndexSetAttr) else ()
        return Port(name.data, (), SIZE, range=values, conditions=conditions)
    assert type(type_) is MemRefType
    extents = Extents(shape.data.results) if isinstance(shape, IndexMapAttr) else None
    return Port(name.data, type_.get_shape(), dtype_name(type_.element_type), extents)


def compile_module(
    module: ModuleOp,
    store: ParamStore | None,
    target: TargetAttr | None = None,
    cache: ObjectCache | None = None,
    workers: int | None = None,
) -> tuple[ProgramInfo, StoredProgram]:
    """Compile a module of the llvm level for a target: its own, else this machine."""
    from lamina.backends.cpu.compile_kernels import KernelCompiler
    from lamina.backends.cpu.jit import host_target
    from lamina.backends.llvm.emit import emit_kernels
    from lamina.dialects.relay.params import ParamStore
    from lamina.dialects.target import module_target

    target = target or module_target(module) or host_target(1)
    info = info_of_module(module)
    with KernelCompiler(target, workers, cache) as compiler:
        for name, text in emit_kernels(module, target):
            compiler.submit(name, text)
        objects = compiler.result()
    params = tuple(aligned((store or ParamStore()).get(p)) for p in info.params)  # type: ignore[arg-type]
    return info, StoredProgram({**info.plain(), "threads": target.threads.data}, objects, params)


def load_module(
    module: ModuleOp,
    store: ParamStore | None,
    target: TargetAttr | None = None,
    cache: ObjectCache | None = None,
    workers: int | None = None,
) -> CompiledProgram:
    """Compile a module of the llvm level for a target (its own, else this machine) and load it.

    Raises InputError where its code cannot run here.
    """
    from lamina.dialects.target import module_target
    from lamina.ir.targets import check_host

    if target := target or module_target(module):
        check_host(target)
    info, stored = compile_module(module, store, target, cache, workers)
    return load_program(stored, cache, info)


def run_llvm_module(module: ModuleOp, ctx: Any, inputs: Mapping[str, Any]) -> dict[str, Array]:
    """Run `@main` of a module of the llvm level."""
    return load_module(module, getattr(ctx, "params", None)).run(inputs)
