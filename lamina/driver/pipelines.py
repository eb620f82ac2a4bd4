"""The passes that compile a model, in order, each with the reason for its place; what a compilation runs of them.

relay   the imported graph          te    after the target's schedules
tir     before tir-to-llvm          llvm  the end

A target adds its own passes (`backends/<kind>/pipeline.py`). `opt-tool -p` takes the text of a pipeline: a compilation
runs exactly these passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from lamina.errors import UsageError
from lamina.ir.collector import quiet_gc
from lamina.ir.pipeline import apply_pass, parse_pipeline, print_pipeline
from lamina.passes.added_pass import AddedPass
from lamina.transform import RECORDS, PassContext, find_pass, pass_info

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from lamina.dialects.machine_spec import TargetSpec
    from lamina.dialects.target import TargetAttr

LEVELS = ("relay", "te", "tir", "llvm")

Progress: TypeAlias = Callable[[str, float, str], None]
"""Called after each step with its name, its seconds and what is to say about it."""


class Step(NamedTuple):
    """A pass as a pipeline writes it, and why it stands where it stands."""

    text: str
    why: str
    lays_out: bool = False
    """Whether it makes a graph what our own kernels want: external backends take their parts before the first such."""

    @property
    def name(self) -> str:
        return _name(self.text)


def _name(text: str) -> str:
    return text.partition("{")[0]


HOST = "cpu"
"""The kind of a target that names none."""
CODEGEN = "relay-external-codegen"
FUSION = "relay-fuse-ops"

FUNCTIONS_AWAY = (
    Step("relay-remove-unused-functions", "what nobody calls need not be compiled"),
    Step("relay-inline{unmarked=true}", "programs have no calls, at any level: also what is not marked is inlined"),
    Step("relay-fold-tuples", "inlined functions have taken and given tuples"),
    Step("relay-dynamic-to-static", "shapes that were operands are constants now, or never"),
)
"""Calls, tuples and shapes that are operands go as far as they can. The virtual machine runs what is left."""

GRAPH = (
    Step(CODEGEN, "functions that a user has partitioned are compiled before anything looks into them"),
    Step("relay-quantized-products", "the pattern is dequantize, product: the next passes would write it out"),
    Step("relay-qnn-legalize", "the dtypes of quantised ops must be final when they are written out"),
    Step("relay-qnn-canonicalize", "quantised ops become plain ones, which all that follows knows"),
    Step("relay-legalize", "a user's forms of ops come before our own algebra"),
    Step("relay-simplify-inference", "normalisation becomes arithmetic that can be folded"),
    Step("relay-eliminate-common-subexpr", "equal branches are one before they are combined"),
    Step("relay-combine-parallel-conv2d", "branches on one input are seen before their weights change"),
    Step("relay-combine-parallel-dense", "likewise"),
    Step("relay-combine-parallel-batch-matmul", "likewise"),
    Step("relay-fold-constant", "scales must be constants to be folded into weights"),
    Step("relay-fold-scale-axis", "scales go into weights while convolutions still stand in plain order"),
    Step("relay-simplify-expr", "algebra, on what folding has left"),
    Step("relay-canonicalize-ops", "a bias is an addition from here on: layouts know one form"),
    Step("relay-flatten-atrous-conv", "the pattern has plain convolutions and constants that are folded"),
    Step("relay-fold-constant", "weights that the algebra has changed become constants again"),
    Step("relay-fold-transpose", "the algebra is done: transposes that are left fold into products"),
    Step("relay-alter-op-layout", "no pass behind it knows plain convolutions", lays_out=True),
    Step("relay-simplify-expr-post-alter-op", "changed layouts leave transposes and reshapes that meet"),
    Step("relay-fast-math", "the op that it approximates must not be a pattern of anything any more"),
    Step("relay-fold-constant", "transforms of weights that were inserted become weights"),
    Step("relay-split-args", "fusion must not meet a concatenation of more tensors than a kernel takes"),
    Step("relay-eliminate-common-subexpr", "once more: layouts have made equal transforms"),
    Step("relay-canonicalize-cast", "casts are repeated for their users after equal ops were merged, which undoes it"),
    Step("relay-dead-code-elimination", "dead ops would become kernels; at every level"),
    Step("relay-state-append", "who else reads a state that grows is known: no pass behind it adds readers"),
    Step("relay-fuse-state-reads", "what reads its rows is one kernel with the slice, which fusion would keep apart"),
    Step("relay-plan-devices", "copies between devices are ops that end a kernel"),
    Step(FUSION, "the last one on graphs: it decides what a kernel is"),
)
"""The passes on graphs in TVM's order; each says with itself from which level on it runs.

Two are not where TVM has them: equal ops are merged once more after the layouts have changed, and dead ops are dropped
at every level, which TVM's expressions cannot hold.
"""

EXTERNAL = (
    ("relay-merge-composite", "patterns"),
    ("relay-annotate-target", "targets"),
    ("relay-merge-compiler-regions", ""),
    ("relay-partition-graph", ""),
    (CODEGEN, "targets"),
)
"""Passes that give parts of a graph to external backends, and the option that names these: before the first layout."""

TE = (Step("relay-to-te", "the stair: what each element of a kernel is"),)

TIR = (
    Step("te-to-tir", "the stair: loops as the schedules say"),
    Step("tir-lower-blocks", "schedules are applied: nothing moves blocks any more"),
    Step("tir-skip-padding", "bounds of sums shrink before loops are cut by them"),
    Step("tir-inject-prefetch", "it needs the loops as they were scheduled"),
    Step("tir-inject-double-buffer", "likewise"),
    Step("tir-loop-partition", "tails go before bodies are looked at for what holds in them"),
    Step("tir-unswitch-loop", "conditions that are left and do not depend on a loop come out of it"),
    Step("tir-alternate-direction", "the loops are those that run: their direction can be chosen"),
    Step("tir-simplify", "what the cut bounds decide is dropped"),
    Step("tir-storage-flatten{aligned-only=true}", "strides are said while accesses have an index for each axis"),
    Step("tir-vectorize-loop", "bounds are decided: lanes need masks only where they must"),
    Step("tir-transpose-tiles", "it looks for loads of vectors with strides"),
    Step("tir-unroll-loop", "vectors are made; what is written out here is scalar or marked"),
    Step("tir-demote-registers", "unrolling has decided which register a variable index names"),
    Step("tir-expand-math", "functions become arithmetic of vectors"),
    Step("tir-merge-selects", "the arithmetic that was expanded chooses more than it needs"),
    Step("tir-rescale-integers", "sums of scaled integers are whole before they are contracted"),
    Step("tir-fuse-multiply-add", "all products and sums are there"),
    Step("tir-round-quotients", "it writes multiply-adds of its own, which must not be contracted again"),
    Step("tir-fuse-parallel-loops", "loops are final: which may run as one can be seen"),
    Step("tir-form-teams", "the parallel loops are those that run"),
    Step("tir-plan-memory", "the last one at this level: which buffers live together is known"),
)

SANITIZE = (AddedPass("tir-sanitize", "before tir-form-teams", "checks stand in the loops that run"),)
"""Passes that are added for kernels that check their accesses while they run."""

FROM_RECORDS = (AddedPass(RECORDS, "after relay-to-te", "what was measured goes before the defaults"),)
"""Passes that are added where a context names the file of records that they read."""

LLVM = (Step("tir-to-llvm", "the stair: machine operations"),)

DEVICE = (
    Step("te-to-tir", "the stair: loops as the schedules say"),
    Step("tir-lower-thread-allreduce", "reductions of threads are still blocks, with their init"),
    Step("tir-lower-blocks", "schedules are applied: nothing moves blocks any more"),
    Step("tir-inject-prefetch", "it needs the loops as they were scheduled"),
    Step("tir-inject-double-buffer", "likewise"),
    Step("tir-loop-partition", "tails go before bodies are looked at for what holds in them"),
    Step("tir-simplify", "what the cut bounds decide is dropped"),
    Step("tir-inject-virtual-thread", "virtual threads become copies of statements before real ones are named"),
    Step("tir-unify-thread-binding", "loops of one thread have one name where threads wait for each other"),
    Step("tir-thread-sync", "who reads what others have written is known"),
    Step("tir-split-host-device", "the last one: each part goes its own way"),
)
"""From schedules that bind loops to threads to kernels of a device and their launches, which backends take."""

TIR_PIPELINE, LLVM_PIPELINE, DEVICE_PIPELINE = ([s.text for s in steps] for steps in (TIR, LLVM, DEVICE))


# -- the passes of a target ------------------------------------------------------------------------------------


class Steps(NamedTuple):
    """All passes that there are for a kind of target, by level."""

    graph: tuple[Step, ...]
    te: tuple[Step, ...]
    tir: tuple[Step, ...]
    llvm: tuple[Step, ...]

    def names(self) -> list[str]:
        """The names of the passes in order."""
        return [s.name for part in (FUNCTIONS_AWAY, *self) for s in part]


def with_added(parts: Iterable[Sequence[Step]], added: Sequence[AddedPass]) -> list[tuple[Step, ...]]:
    """Lists of passes with others at their places. Raises UsageError for a place that there is not, or more than once.

    A pass may stand after or before one that is added as well.
    """
    parts = [list(part) for part in parts]
    around: dict[tuple[str, str], list[Step]] = {}
    for a in added:
        around.setdefault(_place(a), []).append(Step(a.text, a.why, a.lays_out))
    known = [s.name for part in parts for s in part] + [s.name for found in around.values() for s in found]

    def placed(step: Step) -> list[Step]:
        before, after = (around.pop((where, step.name), ()) for where in ("before", "after"))
        return [*(p for s in before for p in placed(s)), step, *(p for s in after for p in placed(s))]

    for where, name in around:
        if (count := known.count(name)) != 1:
            stands = f"stands {count} times" if count else "is none of the passes"
            what = f"{around[where, name][0].name} is to stand {where} {name}, which {stands}"
            raise UsageError(what, hint="name a pass that stands once")
    found = [tuple(p for s in part for p in placed(s)) for part in parts]
    for (where, name), left in around.items():
        raise UsageError(f"{left[0].name} is to stand {where} {name}, and that one after or before it")
    return found


def _place(added: AddedPass) -> tuple[str, str]:
    where, _, name = added.place.partition(" ")
    if where not in ("after", "before") or not name:
        raise UsageError(f"{added.text}: a place is `after PASS` or `before PASS`, not {added.place!r}")
    return where, name


@cache
def steps_of(kind: str) -> Steps:
    """The passes for targets of a kind. Raises UsageError where no backend is of that kind."""
    module = f"lamina.backends.{kind}"
    if not kind.isidentifier() or find_spec(module) is None or find_spec(f"{module}.pipeline") is None:
        what = f"no backend compiles models for targets of the kind {kind!r}"
        raise UsageError(what, hint=f"its passes would stand in backends/{kind}/pipeline.py")
    said = import_module(f"{module}.pipeline")
    base, left_out = getattr(said, "BASE", None), getattr(said, "LEFT_OUT", {})
    parts = with_added((GRAPH, TE, TIR, LLVM) if base is None else steps_of(base), said.PASSES)
    if strange := sorted(left_out.keys() - {s.name for part in parts for s in part}):
        raise UsageError(f"{strange[0]} is to be left out for {kind!r}, and is none of the passes")
    return Steps(*(tuple(s for s in part if s.name not in left_out) for part in parts))


# -- pipelines -------------------------------------------------------------------------------------------------


class Pipeline:
    """The passes of a compilation, made once: as a context says, for a target, the CPU where none is given.

    With `sanitize` the kernels check bounds, unwritten elements and races while they run.
    Raises UsageError for passes that are required and are not there, or disabled and needed.
    """

    def __init__(
        self, context: int | PassContext, sanitize: bool = False, target: TargetSpec | TargetAttr | None = None
    ) -> None:
        self.context = context = PassContext.of(context)
        steps = steps_of(_kind(target))
        strange = sorted(context.required_pass.difference(steps.names()))
        if strange:
            raise UsageError(
                f"{strange[0]!r} is none of the passes that compile a model",
                hint="run it on the model before, by lamina.transform",
            )
        self.functions_away = functions_away(context)
        """The first passes of a model, at every level. The virtual machine runs what is left of calls after them."""
        self.graph = [*self.functions_away, *_graph_passes(steps.graph, context, _backends(target))]
        self._texts = {
            "te": enabled([s.text for s in _te_steps(steps, context)], context),
            "tir": _tir_texts(steps, context, sanitize),
            "llvm": enabled([s.text for s in steps.llvm], context),
        }
        self._loaded: dict[str, list[ModulePass]] = {}

    def names(self) -> list[str]:
        """The names of the passes in order."""
        below = (_name(text) for texts in self._texts.values() for text in texts)
        return [*(p.name for p in self.graph), *below]

    def passes(self, level: str) -> list[ModulePass]:
        """The passes that lead to a level from the one before it."""
        if level not in self._loaded:
            below = parse_pipeline(",".join(self._texts[level]))
            self._loaded[level] = [*self.graph, *below] if level == "te" else below
        return self._loaded[level]

    def text(self, level: str) -> str:
        """The passes that lead to a level, for `opt-tool -p`."""
        return ",".join([*(self.graph_texts() if level == "te" else ()), *self._texts[level]])

    def graph_texts(self) -> list[str]:
        """The passes on graphs, each as a pipeline writes it."""
        return [print_pipeline([p]) for p in self.graph]

    def __str__(self) -> str:
        """The whole pipeline, for `opt-tool -p`."""
        return ",".join(text for level in LEVELS[1:] if (text := self.text(level)))

    def run(
        self,
        module: ModuleOp,
        ctx: Context,
        progress: Progress | None = None,
        start: str = "relay",
        until: str = "llvm",
    ) -> None:
        """Take a module from one level down to another, in place."""
        with quiet_gc():
            for level in LEVELS[LEVELS.index(start) + 1 : LEVELS.index(until) + 1]:
                for p in self.passes(level):
                    self.run_pass(p, module, ctx, progress)

    def run_pass(self, p: ModulePass, module: ModuleOp, ctx: Context, progress: Progress | None = None) -> None:
        """Run one pass on a module, between the instruments of the context."""
        began = perf_counter()
        self.context.run(pass_info(type(p)), module, partial(apply_pass, p, ctx, module))
        if progress is not None:
            progress(p.name, perf_counter() - began, "")


def _kind(target: TargetSpec | TargetAttr | None) -> str:
    kind = target.kind if target is not None else ""
    return (kind if isinstance(kind, str) else kind.data) or HOST


def _backends(target: TargetSpec | TargetAttr | None) -> tuple[str, ...]:
    return target.backend_list() if target is not None else ()


def functions_away(context: PassContext) -> list[ModulePass]:
    """The passes that take calls away, as far as a context leaves them in."""
    return [context.configured(_made(s)) for s in FUNCTIONS_AWAY if s.name not in context.disabled_pass]


def _graph_passes(steps: Sequence[Step], context: PassContext, backends: Sequence[str]) -> list[ModulePass]:
    """The passes on graphs of a level, or those that a context enables, with those for external backends."""
    at = next(n for n, s in enumerate(steps) if s.name == FUSION)
    passes, after = (context.select([_made(s) for s in part]) for part in (steps[:at], steps[at + 1 :]))
    fusion = context.configured(_made(steps[at]))
    if context.opt_level == 0 or FUSION in context.disabled_pass:
        # What follows needs every op in a function: without fusion it is one by itself.
        fusion = replace(fusion, fuse_opt_level=0)  # type: ignore[call-arg, type-var]
    if backends:
        lays_out = {s.name for s in steps if s.lays_out}
        first = next((n for n, p in enumerate(passes) if p.name in lays_out), len(passes))
        passes[first:first] = _external_passes(backends)
    return [*passes, fusion, *after]


def _external_passes(backends: Sequence[str]) -> list[ModulePass]:
    """The passes that give parts to external backends, the preferred one first."""
    made = [(find_pass(name).load()(), option) for name, option in EXTERNAL]
    return [replace(p, **{option: tuple(backends)}) if option else p for p, option in made]  # type: ignore[type-var]


def _made(step: Step) -> ModulePass:
    return find_pass(step.text).load()() if step.text == step.name else parse_pipeline(step.text)[0]


def _te_steps(steps: Steps, context: PassContext) -> tuple[Step, ...]:
    return with_added([steps.te], FROM_RECORDS)[0] if context.records is not None else steps.te


def _tir_texts(steps: Steps, context: PassContext, sanitize: bool) -> list[str]:
    (tir,) = with_added([steps.tir], SANITIZE) if sanitize else (steps.tir,)
    return enabled([s.text for s in tir], context)


def enabled(passes: Sequence[str], context: PassContext) -> list[str]:
    """Those of a list of passes below the graph that a context leaves in, with the options that it gives.

    Raises UsageError for one that it leaves out and no program can do without.
    """
    concerned = context.disabled_pass.union(context.options)
    if concerned.isdisjoint(map(_name, passes)):
        return list(passes)
    found: list[str] = []
    for p in parse_pipeline(",".join(passes)):
        if p.name not in context.disabled_pass:
            found.append(print_pipeline([context.configured(p)]))
        elif getattr(p, "needed", False):
            raise UsageError(f"{p.name!r} cannot be disabled", hint="without it nothing becomes machine code")
    return found


def tir_pipeline(
    context: PassContext, sanitize: bool = False, target: TargetSpec | TargetAttr | None = None
) -> list[str]:
    """The passes from te to the end of the tir level, as a context says."""
    return _tir_texts(steps_of(_kind(target)), context, sanitize)


def pipeline_text(
    context: int | PassContext, sanitize: bool = False, target: TargetSpec | TargetAttr | None = None
) -> str:
    """The whole pipeline of a compilation, for `opt-tool -p`."""
    return str(Pipeline(context, sanitize, target))
