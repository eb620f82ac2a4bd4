"""The run-time as IR: the thread pool and the runner of program tables (`pool.mlir`), and conversions that not every
processor has (`float_support.mlir`). The tables come from `passes/tir_to_llvm/program.py`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lamina.backends.cpu.jit import FLOAT_SUPPORT, JitLibrary, Machine, compile_object, link_objects
from lamina.backends.cpu.object_cache import ObjectCache, cache_key, object_key

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

HEADER_BYTES = 256
"""Size of the pool's block before the list of threads; the layout is drawn in pool.mlir."""
LINE_BYTES = 64
"""Of a line of the caches: what a thread writes and others wait for stands alone in one."""
STATUS_WORDS = 4
"""Size of the status block, in i64."""

# Any x86-64: the run-time spends its time waiting, and one object serves every target.
_MACHINE = Machine("x86_64-unknown-linux-gnu", "x86-64", "")

EXPORTS = {
    "pool": ("lamina_run", "lamina_parallel", "lamina_team", "lamina_meet", "lamina_pool_start", "lamina_pool_stop"),
    "float_support": FLOAT_SUPPORT,
    "trace": ("lamina_traced",),
}
"""The modules of the run-time, and what others call in them: the pool and the runner; the conversions that 16-bit
floats need on older processors; what notes times."""
_loaded: dict[str, JitLibrary] = {}


def resource_text(name: str) -> str:
    """A module of the run-time as text: one of EXPORTS."""
    return Path(__file__).with_name(f"{name}.mlir").read_text()


def resource_module(name: str) -> ModuleOp:
    """A module of the run-time at the llvm level."""
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.parser import Parser

    from lamina.dialects.llvm_target import LLVM
    from lamina.dialects.target import LAMINA

    context = Context()
    for dialect in (Builtin, LLVM, LAMINA):
        context.load_dialect(dialect)
    return Parser(context, resource_text(name), f"{name}.mlir").parse_module()


def resource_object(name: str, cache: ObjectCache | None = None) -> bytes:
    """A module of the run-time compiled; from the cache without parsing anything."""
    key = ""
    if cache is not None:
        key = cache_key("runtime", object_key(resource_text(name), _MACHINE), _emitter_digest())
        found = cache.get(key)
        if found is not None:
            return found
    from lamina.backends.llvm.emit import emit_module

    data = compile_object(emit_module(resource_module(name)), _MACHINE)
    if cache is not None:
        cache.put(key, data)
    return data


def _emitter_digest() -> str:
    """The sources that turn the module into LLVM text, by content."""
    folder = Path(__file__).parents[1] / "llvm"
    return cache_key(*(path.read_bytes() for path in sorted(folder.glob("emit*.py"))))


def runtime_library(name: str = "pool", cache: ObjectCache | None = None) -> JitLibrary:
    """A module of the run-time loaded, once a process: one of EXPORTS."""
    found = _loaded.get(name)
    if found is None:
        found = _loaded[name] = link_objects([resource_object(name, cache)], EXPORTS[name])
    return found
