"""The compile driver: it runs exactly the pass pipeline that opt-tool would, and can keep each stage's text.

relay   the imported graph          te    after cpu-schedule
tir     before tir-to-llvm          llvm  the end
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lamina.dialects.target import module_target
from lamina.errors import UsageError
from lamina.ir.collector import quiet_gc
from lamina.ir.pipeline import parse_pipeline, print_pipeline
from lamina.ir.printing import module_text
from lamina.transform import PassContext, find_pass, pass_info

if TYPE_CHECKING:
    from lamina.ir.context import LaminaContext

LEVELS = ("relay", "te", "tir", "llvm")

Progress = Callable[[str, float, str], None]
"""Called after each step with its name, its seconds and what is to say about it."""


FUNCTIONS_AWAY = ("relay-remove-unused-functions", "relay-inline", "relay-fold-tuples", "relay-dynamic-to-static")
"""Where calls, tuples and shapes that are operands go as far as they can. What is left of them, the machine runs."""


CODEGEN = "relay-external-codegen"
"""First for functions that a user has partitioned, and behind our own partitioning where the target names backends."""
GRAPH_PASSES = (
    *FUNCTIONS_AWAY,
    CODEGEN,
    "relay-quantized-products",
    "cpu-quantized-transposed",
    "cpu-branches-of-bytes",
    "relay-qnn-legalize",
    "relay-qnn-canonicalize",
    "relay-legalize",
    "relay-simplify-inference",
    "relay-eliminate-common-subexpr",
    "relay-combine-parallel-conv2d",
    "relay-combine-parallel-dense",
    "relay-combine-parallel-batch-matmul",
    "relay-fold-constant",
    "relay-fold-scale-axis",
    "relay-simplify-expr",
    "relay-canonicalize-ops",
    "relay-flatten-atrous-conv",
    "relay-fold-constant",
    "relay-fold-transpose",
    "cpu-flat-convolutions",
    "relay-alter-op-layout",
    "cpu-fuse-attention",
    "cpu-pack-weights",
    "cpu-pack-recurrent",
    "cpu-winograd",
    "cpu-order-weights",
    "cpu-transpose-factors",
    "relay-simplify-expr-post-alter-op",
    "relay-fast-math",
    "relay-fold-constant",
    "relay-split-args",
    "relay-eliminate-common-subexpr",
    "relay-canonicalize-cast",
    "relay-dead-code-elimination",
    "relay-plan-devices",
    "relay-fuse-ops",
)
"""The passes on graphs in TVM's order; each says with itself from which level on it runs. Transposes fold into products
where the algebra is done, and the target moves the factors that its kernels want to lie otherwise.

Functions are inlined first of all and at every level, whether they are marked or not: programs have no calls. Two
passes are not where TVM has them: equal ops are merged once more after the layouts have changed, so casts are repeated
for their users after that; and dead ops are dropped at every level, which TVM's expressions cannot hold.
"""


FUSION = "relay-fuse-ops"
INLINE = "relay-inline"


EXTERNAL_PASSES = (
    ("relay-merge-composite", "patterns"),
    ("relay-annotate-target", "targets"),
    ("relay-merge-compiler-regions", ""),
    ("relay-partition-graph", ""),
    (CODEGEN, "targets"),
)
"""What gives parts of a graph to external backends, and the option that names these."""
LAYOUTS = (
    "cpu-flat-convolutions",
    "relay-alter-op-layout",
    "cpu-fuse-attention",
    "cpu-pack-weights",
    "cpu-pack-recurrent",
    "cpu-winograd",
    "cpu-order-weights",
)
"""From here on a graph is as our kernels want it: external backends take their parts before."""


def relay_pipeline(opt_level: int | PassContext, backends: Sequence[str] = ()) -> list[str]:
    """The graph passes of a level, or those that a context enables. Raises UsageError for one that is not there.

    `backends` are the external ones that may take parts of the graph, the preferred one first.
    """
    context = PassContext.of(opt_level)
    strange = sorted(context.required_pass.difference(GRAPH_PASSES, TE_PIPELINE, _names(TIR_PIPELINE), LLVM_PIPELINE))
    if strange:
        raise UsageError(
            f"{strange[0]!r} is none of the passes that compile a model",
            hint="run it on the model before, by lamina.transform",
        )
    away = functions_away(context)
    passes = away + context.select([_graph_pass(n) for n in GRAPH_PASSES[len(FUNCTIONS_AWAY) :] if n != FUSION])
    fusion = context.configured(_graph_pass(FUSION))
    if context.opt_level == 0 or FUSION in context.disabled_pass:
        # What follows needs every op in a function: without fusion it is one by itself.
        fusion = replace(fusion, fuse_opt_level=0)  # type: ignore[call-arg, type-var]
    if backends:
        first = next((n for n, p in enumerate(passes) if p.name in LAYOUTS), len(passes))
        passes[first:first] = _external_passes(backends)
    return [print_pipeline([p]) for p in (*passes, fusion)]


def _external_passes(backends: Sequence[str]) -> list[ModulePass]:
    made = [(_graph_pass(name), option) for name, option in EXTERNAL_PASSES]
    return [replace(p, **{option: tuple(backends)}) if option else p for p, option in made]  # type: ignore[type-var]


def functions_away(context: PassContext) -> list[ModulePass]:
    """The first passes of a model, which every level needs. The machine runs what is left of calls after them."""
    passes = [_graph_pass(name) for name in FUNCTIONS_AWAY if name not in context.disabled_pass]
    return [
        context.configured(replace(p, unmarked=True) if p.name == INLINE else p)  # type: ignore[call-arg, type-var]
        for p in passes
    ]


def _graph_pass(name: str) -> ModulePass:
    return find_pass(name).load()()


TE_PIPELINE = ["relay-to-te", "cpu-schedule"]
TIR_PIPELINE = [
    "te-to-tir",
    "tir-lower-blocks",
    "tir-skip-padding",
    "tir-inject-prefetch",
    "tir-inject-double-buffer",
    "tir-loop-partition",
    "tir-unswitch-loop",
    "tir-alternate-direction",
    "tir-simplify",
    "tir-storage-flatten{aligned-only=true}",
    "tir-vectorize-loop",
    "tir-transpose-tiles",
    "tir-unroll-loop",
    "tir-demote-registers",
    "tir-expand-math",
    "tir-merge-selects",
    "tir-rescale-integers",
    "tir-fuse-multiply-add",
    "tir-round-quotients",
    "tir-fuse-parallel-loops",
    "tir-form-teams",
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


def stage_pipelines(
    opt_level: int | PassContext, sanitize: bool = False, backends: Sequence[str] = ()
) -> dict[str, str]:
    """The pipeline that leads from each level to the next, by the level that it reaches.

    With `sanitize` the kernels check bounds, unwritten elements and races while they run. `backends` are external.
    """
    context = PassContext.of(opt_level)
    return {
        "te": ",".join([*relay_pipeline(context, backends), *enabled(TE_PIPELINE, context)]),
        "tir": ",".join(tir_pipeline(context, sanitize)),
        "llvm": ",".join(enabled(LLVM_PIPELINE, context)),
    }


def tir_pipeline(context: PassContext, sanitize: bool = False) -> list[str]:
    """The passes from te to the end of the tir level, as a context says."""
    tir = list(TIR_PIPELINE)
    if sanitize:
        tir.insert(tir.index("tir-form-teams"), "tir-sanitize")
    return enabled(tir, context)


def enabled(passes: Sequence[str], context: PassContext) -> list[str]:
    """Those of a list of passes below the graph that a context leaves in, with the options that it gives.

    Raises UsageError for one that it leaves out and no program can do without.
    """
    concerned = context.disabled_pass.union(context.options)
    if concerned.isdisjoint(_names(passes)):
        return list(passes)
    found: list[str] = []
    for p in parse_pipeline(",".join(passes)):
        if p.name not in context.disabled_pass:
            found.append(print_pipeline([context.configured(p)]))
        elif getattr(p, "needed", False):
            raise UsageError(f"{p.name!r} cannot be disabled", hint="without it nothing becomes machine code")
    return found


def _names(passes: Sequence[str]) -> list[str]:
    return [p.partition("{")[0] for p in passes]


def pipeline_text(opt_level: int | PassContext, sanitize: bool = False, backends: Sequence[str] = ()) -> str:
    """The whole pipeline, for `opt-tool -p`."""
    return ",".join(stage_pipelines(opt_level, sanitize, backends).values())


@dataclass
class Lowered:
    """A module at the llvm level, and the texts that were asked for."""

    module: ModuleOp
    texts: dict[str, str] = field(default_factory=dict[str, str])


def lower(
    module: ModuleOp,
    ctx: LaminaContext,
    opt_level: int | PassContext,
    keep: tuple[str, ...] = (),
    progress: Progress | None = None,
    until: str = "llvm",
    sanitize: bool = False,
    start: str = "relay",
) -> Lowered:
    """Take a module from one level down to another, in place; the texts of the levels in `keep` are kept on the way."""
    result = Lowered(module)
    context = PassContext.of(opt_level)
    with quiet_gc():
        if "relay" in keep:
            result.texts["relay"] = module_text(module)
        if until == "relay":
            return result
        target = module_target(module)
        backends = target.backend_list() if target is not None else ()
        for level, text in stage_pipelines(context, sanitize, backends).items():
            if LEVELS.index(start) >= LEVELS.index(level):
                continue
            for p in parse_pipeline(text):
                began = perf_counter()
                context.run(pass_info(type(p)), module, partial(p.apply, ctx, module))
                if progress is not None:
                    progress(p.name, perf_counter() - began, "")
            if level in keep:
                result.texts[level] = module_text(module)
            if level == until:
                break
    return result


def step_note(name: str, module: ModuleOp) -> str:
    """What is to say of a module after the pass of that name: what a stair has made."""
    if name == "relay-to-te":
        functions = sum(1 for op in module.ops if op.name == "te.func")
        return f"{sum(1 for op in module.walk() if op.name == 'te.call')} calls of {functions} kernels"
    if name == "tir-plan-memory":
        arenas: list[Any] = [o for o in module.walk() if o.name == "tir.alloc" and o.results[0].name_hint == "arena"]
        size = sum(int(op.results[0].type.get_shape()[0]) for op in arenas)
        return f"arena of {size / 1e6:.1f} MB" if arenas else ""
    return f"{sum(1 for _ in module.walk())} ops" if name == "tir-to-llvm" else ""
