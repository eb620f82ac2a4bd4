"""`tvmc.compile`: a model compiled for a target, into a package."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any
from warnings import warn

from lamina.compat.tvm import transform
from lamina.compat.tvm.autotvm.history import ApplyHistoryBest
from lamina.compat.tvm.composite_targets import compile_target
from lamina.compat.tvm.driver.tvmc.model import TVMCModel, TVMCPackage
from lamina.compat.tvm.ir_module import IRModule
from lamina.compat.tvm.relay import transform as relay_transform
from lamina.compat.tvm.relay.build_module import build
from lamina.compat.tvm.relay.graph_program import GraphExecutorFactoryModule
from lamina.driver.api import Executable
from lamina.driver.exportable import ExportableProgram
from lamina.driver.stage_texts import levels_of
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.ir.target_strings import read_target
from lamina.passes.relay.layout.convert_layout import images_in
from lamina.passes.relay.partition.external_backends import find_backend
from lamina.store.text_file import check_place, write_text


def compile_model(
    tvmc_model: TVMCModel,
    target: Any,
    tuning_records: str | os.PathLike[str] | None = None,
    package_path: str | os.PathLike[str] | None = None,
    cross: Any = None,
    cross_options: str | None = None,
    output_format: str = "so",
    dump_code: str | Sequence[str] | None = None,
    target_host: Any = None,
    desired_layout: str | None = None,
    disabled_pass: Sequence[str] | None = None,
    pass_context_configs: Sequence[str] | None = None,
    opt_level: int = 3,
    mod_name: str = "default",
) -> TVMCPackage:
    """Compile a model into a package.

    `target` is a string such as "bnns, llvm -device=arm_cpu -mtriple=aarch64-linux-gnu", a JSON text or a path.
    `dump_code` names levels whose texts are written beside the package: "relay,ll". `tuning_records` is a log of
    `tune`'s. `cross` changes nothing, with a warning: no linker is called. Raises LaminaError.
    """
    if not isinstance(tvmc_model, TVMCModel):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"a model is compiled, not a {type(tvmc_model).__name__}", hint="tvmc.load(path)")
    dumps = levels_of(dump_code)
    if package_path is not None:
        check_place(package_path)
    if cross or cross_options:
        warn(f"no compiler is called: --cross-compiler {cross or cross_options} changes nothing", stacklevel=2)
    chosen = target_from_cli(target)
    if target_host:
        _check_host(chosen, target_from_cli(target_host))
    mod = with_layout(tvmc_model.mod, desired_layout)
    context = transform.PassContext(
        opt_level, disabled_pass=disabled_pass, config=parse_configs(pass_context_configs or ())
    )
    with context, _records(tuning_records):
        library = build(mod, chosen, params=tvmc_model.params, mod_name=mod_name)
    _tell_of_backends(library)
    texts = {level: mod.astext() if level == "relay" else library.get_source(level) for level in dumps}
    path = tvmc_model.export_package(library, package_path, cross, cross_options, output_format)
    for level, text in texts.items():
        write_text(f"{path}.{level}", text)
    return TVMCPackage(path)


def _check_host(target: Any, host: Any) -> None:
    """Raise UnsupportedError for a host that is another machine than the target."""
    wanted, called_from = (compile_target(t, elsewhere=True).triple.data for t in (target, host))
    if wanted != called_from:
        what = f"code for {wanted} is called from there, not from {called_from}"
        raise UnsupportedError(what, hint="leave --target-host out")


def _records(path: str | os.PathLike[str] | None) -> Any:
    if path is None:
        return nullcontext()
    if not os.path.exists(path):
        raise InputError("there is no such file of records", where=str(path))
    return ApplyHistoryBest(path)


def with_layout(mod: IRModule, layout: str | None) -> IRModule:
    """The module with its convolutions in a layout of images. Raises UsageError for one that is none."""
    if layout is None:
        return mod
    wanted = images_in(layout)
    steps = [relay_transform.RemoveUnusedFunctions(), relay_transform.ConvertLayout(wanted)]
    with transform.PassContext(opt_level=3):
        return transform.Sequential(steps)(mod)


def target_from_cli(target: Any) -> Any:
    """A target of a string, of a JSON text or of a file that holds one. Raises LaminaError."""
    return read_target(target) if isinstance(target, str) else target


def parse_configs(given: Sequence[str] | Mapping[str, Any]) -> dict[str, Any]:
    """Options of passes by their names, of `name=value`: true and false, numbers, else text. Raises UsageError."""
    if isinstance(given, Mapping):
        return dict(given)
    found: dict[str, Any] = {}
    for each in given:
        name, equals, text = each.partition("=")
        if not equals or not name:
            raise UsageError(f"--pass-config {each!r} gives no value", hint="as in relay.FuseOps.max_depth=10")
        flags = {"true": True, "false": False}
        found[name] = flags[text.lower()] if text.lower() in flags else int(text) if text.isdigit() else text
    return found


def _tell_of_backends(library: GraphExecutorFactoryModule) -> None:
    """Warn of external compilers that are not here: what they would take is compiled as everything else."""
    executable = library.executable
    assert isinstance(executable, (Executable, ExportableProgram))
    for name in executable.target.backend_list():
        backend = find_backend(name)
        why = "there is a table of what it takes, and nothing that makes code" if backend is None else ""
        if why := why or (backend.unavailable() if backend is not None else ""):
            warn(f"{name}: {why}; all of the model is compiled for llvm", stacklevel=3)


__all__ = ["compile_model"]
