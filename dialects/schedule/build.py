"""Builds te.schedule IR from Python: one method for each primitive, handles in and out.

    s = Schedule(func)
    i, j, k = s.loops("C")
    io, ii = s.split(i, [-1, 8])
    s.reorder(io, j, k, ii)

It only records; `te-to-tir` applies. Loop counts follow from the function, so that every handle is there to name. A
primitive is imported when it is first used: a schedule names a few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from lamina.dialects.index.index_map import Condition, IndexMapAttr
from lamina.dialects.index.linear import Linear
from lamina.dialects.index.sizes import shape_of
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.te.ops import ComputeOp, FuncOp
from lamina.dialects.te.scan import ScanOp
from lamina.dialects.value_names import value_name


class Schedule:
    """A schedule under construction."""

    def __init__(self, func: FuncOp) -> None:
        self.func = func
        self.block = Block()
        computes = [op for op in func.body.walk() if isinstance(op, ComputeOp)]
        self.rank = {op.stage.data: len(op.spatial) for op in computes}
        self.dims: dict[str, list[str]] = {
            op.stage.data: [a.name_hint or f"i{n}" for n, a in enumerate(op.body.block.args)] for op in computes
        }
        self.times: dict[str, list[str]] = {
            op.stage.data: [scan.var.name_hint or "t"] for op in computes if isinstance(scan := op.parent_op(), ScanOp)
        }
        """The time loop around each stage of a scan's body, which all of them share."""
        self.extents: dict[str, list[Linear]] = {op.stage.data: op.extents() for op in computes}
        self.extent: dict[SSAValue, Linear] = {}
        """The extents of loops by their handles, as far as they are known here."""

    def build(self) -> ScheduleOp:
        """The te.schedule op."""
        return ScheduleOp.make(self.func.sym_name.data, Region(self.block))

    def _add(self, op: Operation, hints: Sequence[str] = ()) -> list[SSAValue]:
        self.block.add_op(op)
        for value, hint in zip(op.results, hints, strict=False):
            value.name_hint = value_name(hint)
        return list(op.results)

    def loops(self, stage: str, suffix: str = "") -> list[SSAValue]:
        """The loops around a stage that has not been touched: a scan's time, then its own, spatial first."""
        from lamina.dialects.schedule.primitives.loops import LoopsOp

        names = [f"{n}{suffix}" for n in (*self.times.get(stage, ()), *self.dims[stage])]
        loops = self._add(LoopsOp.make(stage, len(names)), names)
        own = loops[len(self.times.get(stage, ())) :]
        self.extent.update(zip(own, self.extents.get(stage, ()), strict=False))
        return loops

    def is_open(self, loop: SSAValue) -> bool:
        """Whether only a run tells the extent of a loop of a stage, or of what such a loop was split into."""
        extent = self.extent.get(loop)
        return extent is not None and not extent.is_constant

    def split(self, loop: SSAValue, factors: Sequence[int | SSAValue]) -> list[SSAValue]:
        from lamina.dialects.schedule.primitives.split import SplitOp

        hint = loop.name_hint or "i"
        ends = "oi" if len(factors) == 2 else "oabcdefg"
        parts = self._add(SplitOp.make(loop, factors), [f"{hint}{e}" for e in ends])
        if self.is_open(loop):
            self.extent[parts[0]] = self.extent[loop]
        return parts

    def fuse(self, *loops: SSAValue) -> SSAValue:
        from lamina.dialects.schedule.primitives.fuse import FuseOp

        if len(loops) == 1:
            return loops[0]
        hint = "_".join(v.name_hint or "i" for v in loops)
        (fused,) = self._add(FuseOp.create(operands=list(loops), result_types=[loops[0].type]), [hint])
        if self.is_open(loops[0]):
            self.extent[fused] = self.extent[loops[0]]
        return fused

    def reorder(self, *loops: SSAValue) -> None:
        from lamina.dialects.schedule.primitives.reorder import ReorderOp

        self._add(ReorderOp.create(operands=list(loops)))

    def vectorize(self, loop: SSAValue) -> None:
        from lamina.dialects.schedule.primitives.vectorize import VectorizeOp

        self._add(VectorizeOp.make(loop))

    def unroll(self, loop: SSAValue) -> None:
        from lamina.dialects.schedule.primitives.unroll import UnrollOp

        self._add(UnrollOp.make(loop))

    def parallel(self, loop: SSAValue) -> None:
        from lamina.dialects.schedule.primitives.parallel import ParallelOp

        self._add(ParallelOp.make(loop))

    def partition(self, loop: SSAValue, tails: Sequence[int] = ()) -> None:
        """`tails` are the sizes of the pieces in which a tile's rest goes, of a loop of unknown extent."""
        from lamina.dialects.schedule.primitives.partition import PartitionOp

        self._add(PartitionOp.make(loop, tails))

    def alternate(self, loop: SSAValue) -> None:
        """Walk a loop back and forth, by the iterations of the loop around it."""
        from lamina.dialects.schedule.primitives.alternate import AlternateOp

        self._add(AlternateOp.create(operands=[loop]))

    def bind(self, loop: SSAValue, thread: str) -> None:
        from lamina.dialects.schedule.primitives.bind import BindOp

        self._add(BindOp.make(loop, thread))

    def compute_inline(self, stage: str) -> None:
        from lamina.dialects.schedule.primitives.compute_inline import ComputeInlineOp

        self._add(ComputeInlineOp.make(stage))

    def reverse_compute_inline(self, stage: str) -> None:
        from lamina.dialects.schedule.primitives.reverse_compute_inline import ReverseComputeInlineOp

        self._add(ReverseComputeInlineOp.make(stage))

    def compute_at(self, stage: str, loop: SSAValue) -> list[SSAValue]:
        from lamina.dialects.schedule.primitives.compute_at import ComputeAtOp

        names = [f"{n}_at" for n in self.dims[stage]]
        return self._add(ComputeAtOp.make(stage, loop, len(names)), names)

    def reverse_compute_at(self, stage: str, loop: SSAValue) -> list[SSAValue]:
        """The consumer's loops: all its dimensions, those that its producer has one element of included."""
        from lamina.dialects.schedule.primitives.reverse_compute_at import ReverseComputeAtOp

        names = [f"{n}_out" for n in self.dims[stage]]
        return self._add(ReverseComputeAtOp.make(stage, loop, len(names)), names)

    def cache_read(self, tensor: str, stage: str, loop: SSAValue, scope: str, loops: int) -> list[SSAValue]:
        from lamina.dialects.schedule.primitives.cache_read import CacheReadOp

        names = [f"{tensor}{n}" for n in range(loops)]
        return self._add(CacheReadOp.make(tensor, stage, loop, scope, loops), names)

    def cache_read_stage(self, tensor: str, stages: Sequence[str], scope: str) -> str:
        """Returns the name of the stage that copies a whole tensor for some of its readers."""
        from lamina.dialects.schedule.primitives.cache_read import CacheReadOp

        self._add(CacheReadOp.make(tensor, stages, None, scope))
        copy = f"{tensor}.{scope}"
        names = [a.name_hint or f"arg{n}" for n, a in enumerate(self.func.body.block.args)]
        rank = self.rank[tensor] if tensor in self.rank else self._argument_rank(names.index(tensor))
        self.dims[copy] = [f"{tensor}{d}" for d in range(rank)]
        self.rank[copy] = rank
        return copy

    def _argument_rank(self, number: int) -> int:
        return len(shape_of(self.func.body.block.args[number].type))

    def cache_write(self, stage: str, scope: str) -> str:
        """Returns the name of the stage that copies out."""
        from lamina.dialects.schedule.primitives.cache_write import CacheWriteOp

        self._add(CacheWriteOp.make(stage, scope))
        copy = f"{stage}.out"
        self.extents[copy] = self.extents.get(stage, [])[: self.rank[stage]]
        self.dims[copy] = self.dims[stage][: self.rank[stage]]
        self.rank[copy] = self.rank[stage]
        return copy

    def tensorize(self, loop: SSAValue, intrinsic: str) -> None:
        """Put a tensor intrinsic, by its name without the @, in the place of the nest at a loop."""
        from lamina.dialects.schedule.primitives.tensorize import TensorizeOp

        self._add(TensorizeOp.make(loop, intrinsic))

    def set_scope(self, stage: str, scope: str) -> None:
        from lamina.dialects.schedule.primitives.set_scope import SetScopeOp

        self._add(SetScopeOp.make(stage, scope))

    def rfactor(self, stage: str, loop: SSAValue, axis: int, loops: int) -> tuple[str, list[SSAValue]]:
        """The name and the loops, of which there are as many as the stage had, of the stage of partial results."""
        from lamina.dialects.schedule.primitives.rfactor import RFactorOp

        name = f"{stage}.rf"
        rank = self.rank[stage]
        self.rank[name] = rank + 1
        self.dims[stage] = [*self.dims[stage][:rank], loop.name_hint or "rf"]
        self.extents[stage] = self.extents.get(stage, [])[:rank]
        self.dims[name] = [f"{stage}_rf{n}" for n in range(loops)]
        return name, self._add(RFactorOp.make(stage, loop, axis, loops), self.dims[name])

    def decompose_reduction(self, stage: str, loop: SSAValue) -> str:
        """Returns the name of the stage that the start becomes."""
        from lamina.dialects.schedule.primitives.decompose_reduction import DecomposeReductionOp

        self._add(DecomposeReductionOp.make(stage, loop))
        return f"{stage}.init"

    def annotate(self, target: SSAValue | str, key: str, value: Attribute | SSAValue) -> None:
        """An annotation of a loop or, by its name, of a stage."""
        from lamina.dialects.schedule.primitives.annotate import AnnotateOp

        self._add(AnnotateOp.make(target, key, value))

    def pragma(self, loop: SSAValue, key: str, value: Attribute | SSAValue | int = 1) -> None:
        from lamina.dialects.schedule.primitives.pragma import PragmaOp

        self._add(PragmaOp.make(loop, key, value))

    def storage_align(self, stage: str, axis: int, factor: int, offset: int) -> None:
        from lamina.dialects.schedule.primitives.storage_align import StorageAlignOp

        self._add(StorageAlignOp.make(stage, axis, factor, offset))

    def double_buffer(self, stage: str) -> None:
        from lamina.dialects.schedule.primitives.double_buffer import DoubleBufferOp

        self._add(DoubleBufferOp.make(stage))

    def prefetch(
        self,
        tensor: str,
        loop: SSAValue,
        offset: int = 1,
        spread: SSAValue | None = None,
        locality: int = 3,
        write: bool = False,
    ) -> None:
        from lamina.dialects.schedule.primitives.prefetch import PrefetchOp

        self._add(PrefetchOp.make(tensor, loop, offset, spread, locality, write))

    def env_threads(self, stage: str, tags: Sequence[str], extents: Sequence[int]) -> list[SSAValue]:
        """The loops of the threads."""
        from lamina.dialects.schedule.primitives.env_threads import EnvThreadsOp

        return self._add(EnvThreadsOp.make(stage, tags, extents), [t.rpartition(".")[2] for t in tags])

    def store_predicate(self, stage: str, conditions: Sequence[Condition]) -> None:
        """Conditions whose dimensions are handles of loops."""
        from lamina.dialects.schedule.primitives.store_predicate import StorePredicateOp

        self._add(StorePredicateOp.make(stage, conditions))

    def sample_perfect_tile(
        self,
        loop: SSAValue,
        parts: int,
        max_innermost: int = 16,
        decision: Sequence[int] | None = None,
        knob: str | None = None,
    ) -> list[SSAValue]:
        from lamina.dialects.schedule.primitives.sample_perfect_tile import SamplePerfectTileOp

        hint = loop.name_hint or "i"
        names = [f"{hint}_f{n}" for n in range(parts)]
        return self._add(SamplePerfectTileOp.make(loop, parts, max_innermost, decision, knob), names)

    def sample_categorical(
        self,
        candidates: Sequence[int],
        probs: Sequence[float] = (),
        decision: int | None = None,
        knob: str | None = None,
    ) -> SSAValue:
        from lamina.dialects.schedule.primitives.sample_categorical import SampleCategoricalOp

        return self._add(SampleCategoricalOp.make(candidates, probs, decision, knob), ["v"])[0]

    def sample_order(
        self,
        loops: Sequence[SSAValue],
        among: Sequence[Sequence[int]] = (),
        decision: Sequence[int] | None = None,
        knob: str | None = None,
    ) -> list[SSAValue]:
        """The loops in the order that is drawn, outermost first."""
        from lamina.dialects.schedule.primitives.sample_order import SampleOrderOp

        return self._add(SampleOrderOp.make(loops, among, decision, knob), [f"o{n}" for n in range(len(loops))])

    def sample_annotation(
        self, loop: SSAValue, ways: Sequence[str], decision: int | None = None, knob: str | None = None
    ) -> None:
        from lamina.dialects.schedule.primitives.sample_annotation import SampleAnnotationOp

        self._add(SampleAnnotationOp.make(loop, ways, decision, knob))

    def sample_compute_location(
        self, stage: str, consumer: str, decision: int | None = None, knob: str | None = None
    ) -> list[SSAValue]:
        """The loops of the stage, wherever it is computed."""
        from lamina.dialects.schedule.primitives.sample_compute_location import SampleComputeLocationOp

        names = [f"{n}_at" for n in self.dims[stage]]
        return self._add(SampleComputeLocationOp.make(stage, consumer, len(names), decision, knob), names)

    def choose(
        self, pieces: Sequence[Callable[[], None]], decision: int | None = None, knob: str | None = None
    ) -> None:
        """One of several pieces of the schedule: each is a function that builds one."""
        from lamina.dialects.schedule.primitives.choose import ChooseOp

        around, regions = self.block, list[Region]()
        for piece in pieces:
            self.block = Block()
            regions.append(Region(self.block))
            piece()
        self.block = around
        self._add(ChooseOp.make(regions, decision, knob))

    def transform_layout(self, stage: str, layout: IndexMapAttr, loops: int = 0) -> list[SSAValue]:
        """The loops of the stage in the new order, where their number is given; else only its buffer changes."""
        from lamina.dialects.schedule.primitives.transform_layout import TransformLayoutOp

        return self._add(TransformLayoutOp.make(stage, layout, loops), [f"{stage}{n}" for n in range(loops)])

    def compute_root(self, stage: str) -> list[SSAValue]:
        """The loops of a stage whose loops, wherever they stand, are those of its equation."""
        from lamina.dialects.schedule.primitives.compute_root import ComputeRootOp

        return self._add(ComputeRootOp.make(stage, len(self.dims[stage])), [f"{n}_root" for n in self.dims[stage]])

    def create_group(self, group: str, stages: Sequence[str]) -> None:
        """A name under which `compute_at` moves several stages."""
        from lamina.dialects.schedule.primitives.create_group import CreateGroupOp

        self._add(CreateGroupOp.make(group, stages))
        self.dims[group] = [f"{s}_{n}" for s in stages for n in self.dims[s]]

    def normalize(self) -> None:
        from lamina.dialects.schedule.primitives.normalize import NormalizeOp

        self._add(NormalizeOp.make())

    def rolling_buffer(self, stage: str, loop: SSAValue | None = None) -> None:
        """Keep of a stage what the next iteration of a loop, by default the one it is computed in, needs again."""
        from lamina.dialects.schedule.primitives.rolling_buffer import RollingBufferOp

        self._add(RollingBufferOp.make(stage, loop))

    def blockize(self, loop: SSAValue, block: str) -> str:
        """The name of the block that a loop becomes, whose loops are those around it."""
        from lamina.dialects.schedule.primitives.blockize import BlockizeOp

        self._add(BlockizeOp.make(loop, block))
        return block

    def pad_einsum(self, stage: str, padding: Sequence[int]) -> None:
        """Run the loops of a contraction to multiples. Its copies are the stages `<tensor>.pad` and `<stage>.out`."""
        from lamina.dialects.schedule.primitives.pad_einsum import PadEinsumOp

        self._add(PadEinsumOp.make(stage, padding))
        self.dims[f"{stage}.out"] = self.dims[stage][: self.rank[stage]]
        self.rank[f"{stage}.out"] = self.rank[stage]
