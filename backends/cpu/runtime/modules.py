"""The modules of the run-time, beside this file as texts, and their code.

`run` walks program tables, `pool` is the thread pool and `alone` stands in its place where there is one thread;
`float_support` has conversions that not every processor has, `rounding_f32` and `rounding_f64` stand in the place of
functions of the C library where there is none; `trace` notes times; an exported net has `net`, `net_fixed` or
`net_open`, and `net_pool` beside `run`. What depends on a system (`pause`, the number of a system call) is in a text of
its own, by which the others are completed. The tables come from `passes/tir_to_llvm/program.py`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lamina.backends.cpu.jit import JitLibrary, Machine, compile_object, link_objects, machine_of
from lamina.backends.cpu.object_cache import ObjectCache, cache_key, object_key
from lamina.backends.cpu.runtime.layout import EXPORTS, HERE, PARTS, SUPPORT
from lamina.errors import UnsupportedError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.llvm import FuncOp

SYSTEMS = ("linux", "macosx", "none", "windows")
"""Systems as triples name them, where a version may follow; `none` stands for a processor alone."""
WASM = "wasm32"
"""The one that is no system: a module of WebAssembly has nothing but its memory."""
_loaded: dict[str, JitLibrary] = {}


def systems() -> list[str]:
    """The systems that there is a run-time for: `linux_x86_64`, ..., and processors without one: `none_thumbv7em`."""
    folder = Path(__file__).parent
    found = [path for kind in SYSTEMS for path in folder.glob(f"{kind}_*.mlir")]
    return [path.name.removesuffix(".mlir") for path in sorted(found)]


def support_of(system: str) -> dict[str, tuple[str, ...]]:
    """The modules of SUPPORT that a system has not in its libraries: glibc rounds floats in all ways."""
    left_out = {"rounding_f32", "rounding_f64"} if system.startswith(("linux_", WASM)) else set[str]()
    left_out |= set() if system.startswith("windows_") else {"stack_probe"}
    return {name: functions for name, functions in SUPPORT.items() if name not in left_out}


def system_of(triple: str) -> str:
    """The system of a target's triple. Raises UnsupportedError where there is no run-time for it."""
    processor, *rest = triple.split("-")
    if processor == WASM:
        return WASM
    kind = next((kind for kind in SYSTEMS if any(part.startswith(kind) for part in rest)), "")
    name = f"{kind}_{processor}"
    if name not in systems():
        raise UnsupportedError(f"there is no run-time for {triple}", hint=f"there is one for {', '.join(systems())}")
    return name


def module_text(name: str) -> str:
    """A module of the run-time as text, or a system's."""
    return Path(__file__).with_name(f"{name}.mlir").read_text()


def runtime_module(name: str, system: str = HERE) -> ModuleOp:
    """A module of the run-time at the llvm level, completed by what it needs to know of a system."""
    from xdsl.dialects.llvm import FuncOp

    module, facts = _parsed(name), _parsed(system)
    block = module.body.block
    if system == WASM:
        for op in [o for o in block.ops if isinstance(o, FuncOp) and _has_bf16(o)]:
            block.erase_op(op)  # LLVM has no bf16 there, and kernels round by integers
    # What it declares, and what it does where a system has no way of its own.
    declared = {op.sym_name.data: op for op in block.ops if isinstance(op, FuncOp)}
    known = [op for op in facts.ops if isinstance(op, FuncOp)]
    needed = [op for op in known if op.body.blocks and op.sym_name.data in declared]
    if needed:
        # With what these call.
        for op in [*(op for op in known if not op.body.blocks), *needed]:
            if op.sym_name.data in declared:
                block.erase_op(declared[op.sym_name.data])
            block.add_op(op.clone())
    module.attributes.update(facts.attributes)
    return module


def _has_bf16(func: FuncOp) -> bool:
    from xdsl.dialects.builtin import BFloat16Type

    return isinstance(func.function_type.output, BFloat16Type)


def _parsed(name: str) -> ModuleOp:
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.parser import Parser

    from lamina.dialects.llvm_target import LLVM
    from lamina.dialects.target import LAMINA

    context = Context()
    for dialect in (Builtin, LLVM, LAMINA):
        context.load_dialect(dialect)
    return Parser(context, module_text(name), f"{name}.mlir").parse_module()


@cache
def _machine(system: str) -> Machine:
    """The machine of a system: any of its processors, since the run-time spends its time waiting."""
    from lamina.dialects.target import module_target

    target = module_target(_parsed(system))
    assert target is not None
    return machine_of(target)


def runtime_object(name: str, cache: ObjectCache | None = None, system: str = HERE) -> bytes:
    """A module of the run-time compiled; from the cache without parsing anything."""
    key = ""
    if cache is not None:
        text = module_text(name) + module_text(system)
        key = cache_key("runtime", object_key(text, Machine(system, "", "")), _emitter_digest())
        found = cache.get(key)
        if found is not None:
            return found
    from lamina.backends.llvm.emit import emit_module

    data = compile_object(emit_module(runtime_module(name, system)), _machine(system))
    if cache is not None:
        cache.put(key, data)
    return data


def _emitter_digest() -> str:
    """The sources that turn the module into LLVM text, by content."""
    folder = Path(__file__).parents[2] / "llvm"
    return cache_key(*(path.read_bytes() for path in sorted(folder.glob("emit*.py"))))


def runtime_library(name: str = "pool", cache: ObjectCache | None = None) -> JitLibrary:
    """A library of the run-time loaded, once a process: one of EXPORTS."""
    found = _loaded.get(name)
    if found is None:
        objects = [runtime_object(part, cache) for part in PARTS[name]]
        found = _loaded[name] = link_objects(objects, EXPORTS[name])
    return found
