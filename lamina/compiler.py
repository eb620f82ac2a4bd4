"""The compile driver: it runs exactly the pass pipeline that opt-tool would, and can keep each stage's text.

relay   the imported graph          te    after cpu-schedule
tir     before tir-to-llvm          llvm  the end
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from lamina.errors import UsageError
from lamina.pipeline import parse_pipeline

if TYPE_CHECKING:
    from lamina.context import LaminaContext

OPT_LEVELS = (0, 1, 2, 3)
LEVELS = ("relay", "te", "tir", "llvm")

Progress = Callable[[str, float, str], None]
"""Called after each step with its name, its seconds and what is to say about it."""


def relay_pipeline(opt_level: int) -> list[str]:
    """The graph passes of an optimisation level, TVM's levels: 1 fuses, 2 folds, 3 rewrites and changes layouts.

    Quantised ops become plain ones at every level.
    """
    if opt_level not in OPT_LEVELS:
        raise UsageError(f"opt_level {opt_level!r} is not one of {', '.join(map(str, OPT_LEVELS))}")
    if opt_level < 3:
        passes = ["relay-qnn-canonicalize", "relay-simplify-inference", "relay-simplify-expr"]
        if opt_level >= 2:
            passes.append("relay-fold-constant")
        passes += ["relay-dead-code-elimination", f"relay-fuse-ops{{fuse-opt-level={min(opt_level, 1)}}}"]
        return passes
    return [
        "relay-qnn-canonicalize",
        "relay-simplify-inference",
        "relay-eliminate-common-subexpr",
        "relay-fold-constant",
        "relay-fold-scale-axis",
        "relay-simplify-expr",
        "relay-canonicalize-ops",
        "relay-fold-constant",
        "relay-convert-layout",
        "cpu-pack-weights",
        "relay-simplify-expr",
        "relay-fold-constant",
        "relay-eliminate-common-subexpr",
        "relay-dead-code-elimination",
        "relay-fuse-ops",
    ]


TE_PIPELINE = ["relay-to-te", "cpu-schedule"]
TIR_PIPELINE = [
    "te-to-tir",
    "tir-lower-blocks",
    "tir-inject-prefetch",
    "tir-inject-double-buffer",
    "tir-loop-partition",
    "tir-simplify",
    "tir-storage-flatten{aligned-only=true}",
    "tir-vectorize-loop",
    "tir-unroll-loop",
    "tir-expand-math",
    "tir-fuse-multiply-add",
    "tir-plan-memory",
]
LLVM_PIPELINE = ["tir-to-llvm"]
DEVICE_PIPELINE = [
    "te-to-tir",
    "tir-lower-thread-allreduce",
    "tir-lower-blocks",
    "tir-inject-prefetch",
    "tir-inject-double-buffer",
    "tir-loop-partition",
    "tir-simplify",
    "tir-inject-virtual-thread",
    "tir-unify-thread-binding",
    "tir-thread-sync",
    "tir-split-host-device",
]
"""From schedules that bind loops to threads to kernels of a device and their launches, which backends take."""


def stage_pipelines(opt_level: int, sanitize: bool = False) -> dict[str, str]:
    """The pipeline that leads from each level to the next, by the level that it reaches.

    With `sanitize` the kernels check bounds, unwritten elements and races while they run.
    """
    tir = list(TIR_PIPELINE)
    if sanitize:
        tir.insert(tir.index("tir-plan-memory"), "tir-sanitize")
    return {
        "te": ",".join([*relay_pipeline(opt_level), *TE_PIPELINE]),
        "tir": ",".join(tir),
        "llvm": ",".join(LLVM_PIPELINE),
    }


def pipeline_text(opt_level: int, sanitize: bool = False) -> str:
    """The whole pipeline, for `opt-tool -p`."""
    return ",".join(stage_pipelines(opt_level, sanitize).values())


@contextmanager
def quiet_gc() -> Generator[None]:
    """No cyclic collection while many ops are made: they stay alive anyway."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@dataclass
class Lowered:
    """A module at the llvm level, and the texts that were asked for."""

    module: ModuleOp
    texts: dict[str, str] = field(default_factory=dict[str, str])


def lower(
    module: ModuleOp,
    ctx: LaminaContext,
    opt_level: int,
    keep: tuple[str, ...] = (),
    progress: Progress | None = None,
    until: str = "llvm",
    sanitize: bool = False,
) -> Lowered:
    """Take a relay module down to `until`, in place; the texts of the levels in `keep` are kept on the way."""
    result = Lowered(module)
    with quiet_gc():
        if "relay" in keep:
            result.texts["relay"] = module_text(module)
        if until == "relay":
            return result
        for level, text in stage_pipelines(opt_level, sanitize).items():
            for p in parse_pipeline(text):
                start = perf_counter()
                p.apply(ctx, module)
                if progress is not None:
                    progress(p.name, perf_counter() - start, "")
            if level in keep:
                result.texts[level] = module_text(module)
            if level == until:
                break
    return result


def module_text(module: ModuleOp) -> str:
    """The module as opt-tool prints it."""
    from io import StringIO

    from xdsl.printer import Printer

    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue() + "\n"
