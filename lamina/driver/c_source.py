"""Models as C source with the interface of `lamina.h`: kernels printed from the tir level (`backends/c`).

lamina.export(model, "net.c")                   or: lamina compile net.onnx -o net.c
"""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from lamina.dialects.infos import SYMBOLS
from lamina.errors import OpenExtentError, UsageError
from lamina.ir.collector import quiet_gc
from lamina.ir.suffixes import is_c_source, is_module
from lamina.ir.targets import spec_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.func import FuncOp
    from xdsl.ir import SSAValue

    from lamina.backends.c.net import SourcePort
    from lamina.dialects.target import TargetAttr
    from lamina.driver.compilation import Fresh
    from lamina.driver.pipelines import Progress
    from lamina.driver.settings import Settings

HOST, SOURCE = "cpu", "c"
"""The target that an export has by default, and that of source."""

WEIGHTS = ".params"
"""The suffix of the file of the weights, where they are too many for the text."""


def exported_target(
    path: str | os.PathLike[str], target: str | TargetAttr, threads: int | None = None
) -> str | TargetAttr:
    """The target of a program that is exported to a file: that of its format where none other is named."""
    return source_target(path, "wasm32" if is_module(path) and target == "cpu" else target, threads)


def source_target(path: str | os.PathLike[str], target: str | TargetAttr, threads: int | None) -> str | TargetAttr:
    """The target of an export: that of source where the file is such.

    Raises UsageError for source of one machine or several threads, and for a library for the target of source.
    """
    spec = spec_of(target, threads)
    if not is_c_source(path):
        if spec.kind == SOURCE:
            raise UsageError(f"the target {SOURCE!r} is source", where=str(path), hint="give a file that ends in .c")
        return target
    if threads is not None and threads > 1:
        raise UsageError("C source has one thread", where=str(path), hint="leave the number of threads out")
    if spec.kind != SOURCE and target != HOST or spec.backends:
        what = f"C source is for any machine, not for {target}"
        raise UsageError(what, where=str(path), hint="leave the target out: the C compiler knows its own")
    return SOURCE


def export_source(
    path: str | os.PathLike[str], fresh: Fresh, settings: Settings, name: str | None, progress: Progress | None
) -> bool:
    """Write a model as C source; false for one whose kernels have no fixed order of known extents.

    Weights of more than 16 MB go to a file of their own beside it, `net.params`, for `start` of the interface.
    Raises UnsupportedError naming an op that has no rule, and its kernel.
    """
    from lamina import __version__
    from lamina.backends.c.net import SourceNet
    from lamina.backends.cpu.runtime.interface import CODES, UNKNOWN_CODE
    from lamina.dialects.lazy_formats import read_formats_late
    from lamina.driver.compilation import Compilation, is_for_machine, load
    from lamina.driver.export import net_name, write_whole
    from lamina.driver.weight_packing import WeightPacking

    read_formats_late()
    name, path = net_name(path, name), Path(path)
    compilation = Compilation(fresh, settings, None, progress)
    try:
        load(compilation)
    except OpenExtentError:
        return False
    if is_for_machine(compilation) or SYMBOLS in compilation.source.module.attributes:
        return False
    compilation.run_passes("relay", "te")
    compilation.run_passes("te", "tir")
    module, target = compilation.source.module, settings.target
    codes = {c.number: c.text for c in CODES}
    with quiet_gc(), WeightPacking(compilation.source.params) as weights:
        with compilation.faults:
            net = SourceNet(
                name, module, f"Lamina {__version__}", f"{target.kind} {target.cpu}", codes, UNKNOWN_CODE, _ports
            )
        arrays = weights.result(net.params)
    start, beside = perf_counter(), path.with_suffix(WEIGHTS)
    if not net.is_text_alone:
        write_whole(beside, lambda file: file.writelines(net.weight_bytes(arrays)))
    write_whole(path, lambda file: file.writelines(net.pieces(arrays)))
    weights_in = "" if net.is_text_alone else f", weights in {beside.name}"
    size = path.stat().st_size / 1e6
    compilation.report("write-source", perf_counter() - start, f"{size:.2f} MB of C{weights_in}")
    return True


def _ports(main: FuncOp, values: Sequence[SSAValue]) -> list[SourcePort]:
    """The ports of arguments of `@main`."""
    from lamina.backends.c.net import SourcePort
    from lamina.backends.cpu.runtime.interface import dlpack_type
    from lamina.dialects.dtypes import dtype_name
    from lamina.dialects.entry_names import argument_names
    from lamina.dialects.tir.memory import type_of

    arguments: list[SSAValue] = list(main.body.block.args)
    names = dict(zip(arguments, argument_names(main, arguments), strict=True))
    found: list[SourcePort] = []
    for value in values:
        type_ = type_of(value)
        found.append(SourcePort(names[value], type_.get_shape(), *dlpack_type(dtype_name(type_.element_type))))
    return found
