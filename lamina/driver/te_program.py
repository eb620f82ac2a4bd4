"""Programs from texts of the te level: kernels with their schedules and `@main`, compiled and loaded."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from lamina.dialects.target import TARGET
from lamina.driver.pipelines import Pipeline
from lamina.errors import InputError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.targets import check_host
from lamina.runtime.compiled import CompiledProgram, load_program
from lamina.runtime.llvm_module import compile_module
from lamina.store.program_cache import ProgramCache, enabled, object_cache, program_key

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.dialects.target import TargetAttr


def compiled_text(text: str, file: str, target: TargetAttr) -> CompiledProgram:
    """The program of a text, for a target, from the cache where it is there.

    Raises LaminaError where it cannot be read, compiled or run here.
    """
    check_host(target)
    programs = ProgramCache() if enabled(True) else None
    key = program_key(hashlib.sha256(text.encode()).hexdigest(), {}, str(target), "from te")
    stored = programs.load(key) if programs is not None else None
    if stored is not None:
        return load_program(stored, object_cache())
    module = parse_text(LaminaContext(), text, file)
    _lower(module, target)
    info, stored = compile_module(module, None, target, object_cache())
    if programs is not None:
        programs.store(key, stored)
    return load_program(stored, object_cache(), info)


def compiled_module(module: ModuleOp, target: TargetAttr) -> CompiledProgram:
    """The program of a module of the te level, which becomes one of machine operations; nothing of it is kept."""
    check_host(target)
    _lower(module, target)
    info, stored = compile_module(module, None, target)
    return load_program(stored, object_cache(), info)


def _lower(module: ModuleOp, target: TargetAttr) -> None:
    found = module.attributes.setdefault(TARGET, target)
    if found != target:
        raise InputError(f"the module is for {found}, not for {target}")
    Pipeline(3, target=target).run(module, LaminaContext(), start="te")
