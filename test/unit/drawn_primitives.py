"""One random instance of each schedule primitive: `DRAWS[name](place)`, for a stage and loops that exist.

A draw knows the names and nothing else; most draws are nonsense, which is the point. None says that the place has
nothing that the primitive could name. `te.loops` is no draw: it gives the handles.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from lamina.dialects.index.index_map import Condition, IndexMap, IndexMapAttr
from lamina.dialects.index.linear import Linear, floordiv, mod
from lamina.dialects.schedule.primitive import LOOP
from lamina.dialects.schedule.primitives.alternate import AlternateOp
from lamina.dialects.schedule.primitives.annotate import AnnotateOp
from lamina.dialects.schedule.primitives.bind import BindOp
from lamina.dialects.schedule.primitives.blockize import BlockizeOp
from lamina.dialects.schedule.primitives.cache_read import CacheReadOp
from lamina.dialects.schedule.primitives.cache_write import CacheWriteOp
from lamina.dialects.schedule.primitives.choose import ChooseOp
from lamina.dialects.schedule.primitives.compute_at import ComputeAtOp
from lamina.dialects.schedule.primitives.compute_inline import ComputeInlineOp
from lamina.dialects.schedule.primitives.compute_root import ComputeRootOp
from lamina.dialects.schedule.primitives.create_group import CreateGroupOp
from lamina.dialects.schedule.primitives.decompose_reduction import DecomposeReductionOp
from lamina.dialects.schedule.primitives.double_buffer import DoubleBufferOp
from lamina.dialects.schedule.primitives.env_threads import EnvThreadsOp
from lamina.dialects.schedule.primitives.fuse import FuseOp
from lamina.dialects.schedule.primitives.normalize import NormalizeOp
from lamina.dialects.schedule.primitives.pad_einsum import PadEinsumOp
from lamina.dialects.schedule.primitives.parallel import ParallelOp
from lamina.dialects.schedule.primitives.partition import PartitionOp
from lamina.dialects.schedule.primitives.pragma import PragmaOp
from lamina.dialects.schedule.primitives.prefetch import PrefetchOp
from lamina.dialects.schedule.primitives.reorder import ReorderOp
from lamina.dialects.schedule.primitives.reverse_compute_at import ReverseComputeAtOp
from lamina.dialects.schedule.primitives.reverse_compute_inline import ReverseComputeInlineOp
from lamina.dialects.schedule.primitives.rfactor import RFactorOp
from lamina.dialects.schedule.primitives.rolling_buffer import RollingBufferOp
from lamina.dialects.schedule.primitives.sample_annotation import WAYS, SampleAnnotationOp
from lamina.dialects.schedule.primitives.sample_categorical import SampleCategoricalOp
from lamina.dialects.schedule.primitives.sample_compute_location import SampleComputeLocationOp
from lamina.dialects.schedule.primitives.sample_order import SampleOrderOp
from lamina.dialects.schedule.primitives.sample_perfect_tile import SamplePerfectTileOp
from lamina.dialects.schedule.primitives.set_scope import SetScopeOp
from lamina.dialects.schedule.primitives.split import SplitOp
from lamina.dialects.schedule.primitives.storage_align import StorageAlignOp
from lamina.dialects.schedule.primitives.store_predicate import StorePredicateOp
from lamina.dialects.schedule.primitives.tensorize import TensorizeOp
from lamina.dialects.schedule.primitives.tile import TileOp
from lamina.dialects.schedule.primitives.transform_layout import TransformLayoutOp
from lamina.dialects.schedule.primitives.unroll import UnrollOp
from lamina.dialects.schedule.primitives.vectorize import VectorizeOp

FACTORS = (1, 2, 2, 3, 4, 5)
SCOPES = ("global", "local", "local", "register")
THREADS = ("blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y", "vthread")
PRAGMAS = (("unroll_explicit", 1), ("auto_unroll_max_step", 4), ("auto_unroll_max_step", 64))

COPIES = (1, 2, 3, 4, 5, 8)
COPY = """te.tensor_intrin @copy_{n} {{
  te.func @desc(%a: tensor<{n}xf32>) -> tensor<{n}xf32> {{
    %c = te.compute "c" [{n}] (%i) : tensor<{n}xf32> {{
      %x = te.read %a[%i] : tensor<{n}xf32>
      te.yield %x : f32
    }}
    te.return %c : tensor<{n}xf32>
  }}
  tir.func @body(%a: memref<{n}xf32>, %c: memref<{n}xf32>) {{
    %x = tir.load %a[lane] : memref<{n}xf32>, vector<{n}xf32>
    tir.store %x, %c[lane] : memref<{n}xf32>, vector<{n}xf32>
  }}
}}
"""
INTRINSICS = "".join(COPY.format(n=n) for n in COPIES)
"""The tensor intrinsics that drawn schedules may name: contiguous copies."""


class Place(NamedTuple):
    """Where a primitive is drawn for."""

    r: random.Random
    stage: str
    loops: list[SSAValue]
    """Handles on the loops of the stage, outermost first."""
    trips: list[int]
    """Their extents."""
    rank: int
    """How many dimensions the stage's buffer has."""
    stages: Sequence[str]
    """All stages, in program order."""
    tensors: Sequence[str]
    """The stages and the arguments."""
    tiles: Sequence[str]
    """The stages whose buffers live in loops."""

    def loop(self) -> SSAValue:
        """Any loop; there must be one."""
        return self.r.choice(self.loops)

    def earlier(self) -> str:
        """A stage before this one, where there is one."""
        return self.r.choice(self.stages[: self.stages.index(self.stage)] or self.stages)


Draw = Callable[[Place], "Operation | None"]


def _with_loops(count: int, draw: Draw) -> Draw:
    """A draw that needs so many loops."""
    return lambda p: draw(p) if len(p.loops) >= count else None


def _split(p: Place) -> Operation:
    factors = [p.r.choice(FACTORS) for _ in range(p.r.randint(1, 3))]
    factors[p.r.choice([0, 0, -1])] = -1
    return SplitOp.make(p.loop(), factors)


def _tile(p: Place) -> Operation:
    y, x = p.r.sample(p.loops, 2)
    return TileOp.make(y, x, [p.r.choice(FACTORS), p.r.choice(FACTORS)])


def _fuse(p: Place) -> Operation:
    first = p.r.randrange(len(p.loops) - 1)
    return FuseOp.create(operands=p.loops[first : first + p.r.choice([2, 2, 3])], result_types=[LOOP])


def _reorder(p: Place) -> Operation:
    return ReorderOp.create(operands=p.r.sample(p.loops, p.r.randint(2, len(p.loops))))


def _vectorize(p: Place) -> Operation:
    return VectorizeOp.make(p.loops[-1] if p.r.random() < 0.7 else p.loop())


def _reverse_compute_at(p: Place) -> Operation:
    after = p.stages[p.stages.index(p.stage) + 1 :] or p.stages
    return ReverseComputeAtOp.make(after[0], p.loop(), 0)


def _cache_read(p: Place) -> Operation:
    readers = [p.stage, p.r.choice(p.stages)] if p.r.random() < 0.2 else [p.stage]
    loop = p.loop() if p.loops and p.r.random() < 0.7 else None
    return CacheReadOp.make(p.r.choice(p.tensors), list(dict.fromkeys(readers)), loop, p.r.choice(SCOPES))


def _annotate(p: Place) -> Operation:
    return AnnotateOp.make(p.r.choice([p.stage, *p.loops]), "note", StringAttr("drawn"))


def _storage_align(p: Place) -> Operation:
    factor = p.r.choice([2, 4, 8])
    return StorageAlignOp.make(p.stage, p.r.randrange(max(p.rank, 1)), factor, p.r.randrange(factor))


def _env_threads(p: Place) -> Operation:
    return EnvThreadsOp.make(p.stage, [p.r.choice(["threadIdx.x", "threadIdx.y"])], [p.r.randint(1, 3)])


def _store_predicate(p: Place) -> Operation:
    return StorePredicateOp.make(p.stage, [Condition(Linear.dim(p.loops[0]), equal=True)])


def _transform_layout(p: Place) -> Operation | None:
    if not p.rank:
        return None
    forms = [Linear.dim(n) for n in range(p.rank)]
    p.r.shuffle(forms)
    if p.r.random() < 0.6:
        n, factor = p.r.randrange(p.rank), p.r.choice([2, 3, 4])
        forms = [*forms[:n], floordiv(forms[n], factor), *forms[n + 1 :], mod(forms[n], factor)]
    return TransformLayoutOp.make(p.stage, IndexMapAttr(IndexMap(p.rank, tuple(forms))))


def _create_group(p: Place) -> Operation:
    return CreateGroupOp.make(f"group{p.r.randrange(1000)}", p.r.sample(p.stages, p.r.randint(1, len(p.stages))))


def _rolling_buffer(p: Place) -> Operation | None:
    if not p.tiles:
        return None
    return RollingBufferOp.make(p.r.choice(p.tiles), p.loop() if p.loops and p.r.random() < 0.2 else None)


def _prefetch(p: Place) -> Operation:
    spread = p.loop() if p.r.random() < 0.5 else None
    where = p.r.choice(p.tensors), p.loop(), p.r.randint(0, 2)
    return PrefetchOp.make(*where, spread, p.r.randint(1, 3), p.r.random() < 0.3)


def _blockize(p: Place) -> Operation:
    return BlockizeOp.make(p.loop(), f"block{p.r.randrange(1000)}")


def _pad_einsum(p: Place) -> Operation:
    return PadEinsumOp.make(p.stage, [p.r.choice([1, 1, 2, 4]) for _ in p.loops])


def _tensorize(p: Place) -> Operation:
    n = len(p.loops) - 1 if p.r.random() < 0.8 else p.r.randrange(len(p.loops))
    trip = p.trips[n] if p.trips[n] in COPIES else p.r.choice(COPIES)
    return TensorizeOp.make(p.loops[n], f"copy_{trip}")


def _sample_order(p: Place) -> Operation:
    """Any order of neighbours, or one of the two that are listed."""
    first = p.r.randrange(len(p.loops) - 1)
    loops = p.loops[first : first + p.r.randint(2, 3)]
    kept = list(range(len(loops)))
    return SampleOrderOp.make(loops, p.r.choice([(), [kept, kept[::-1]]]))


def _choose(p: Place) -> Operation:
    """A loop unrolled, parallel or left alone."""
    loop = p.loop()
    pieces: list[list[Operation]] = [[UnrollOp.make(loop)], [ParallelOp.make(loop)], []]
    return ChooseOp.make([Region(Block(piece)) for piece in pieces])


DRAWS: dict[str, Draw] = {
    "te.annotate": _annotate,
    "te.bind": _with_loops(1, lambda p: BindOp.make(p.loop(), p.r.choice(THREADS))),
    "te.blockize": _with_loops(1, _blockize),
    "te.cache_read": _cache_read,
    "te.cache_write": lambda p: CacheWriteOp.make(p.stage, p.r.choice(SCOPES)),
    "te.choose": _with_loops(1, _choose),
    "te.compute_at": _with_loops(1, lambda p: ComputeAtOp.make(p.earlier(), p.loop(), 0)),
    "te.compute_inline": lambda p: ComputeInlineOp.make(p.stage),
    "te.compute_root": lambda p: ComputeRootOp.make(p.stage, 0),
    "te.create_group": _create_group,
    "te.decompose_reduction": _with_loops(1, lambda p: DecomposeReductionOp.make(p.stage, p.loop())),
    "te.double_buffer": lambda p: DoubleBufferOp.make(p.stage),
    "te.env_threads": _env_threads,
    "te.fuse": _with_loops(2, _fuse),
    "te.normalize": lambda p: NormalizeOp.make(),
    "te.pad_einsum": _with_loops(1, _pad_einsum),
    "te.parallel": _with_loops(1, lambda p: ParallelOp.make(p.loop())),
    "te.partition": _with_loops(1, lambda p: PartitionOp.make(p.loop())),
    "te.pragma": _with_loops(1, lambda p: PragmaOp.make(p.loop(), *p.r.choice(PRAGMAS))),
    "te.alternate": _with_loops(1, lambda p: AlternateOp.create(operands=[p.loop()])),
    "te.prefetch": _with_loops(1, _prefetch),
    "te.reorder": _with_loops(2, _reorder),
    "te.reverse_compute_at": _with_loops(1, _reverse_compute_at),
    "te.reverse_compute_inline": lambda p: ReverseComputeInlineOp.make(p.stage),
    "te.rfactor": _with_loops(1, lambda p: RFactorOp.make(p.stage, p.loop(), p.r.randint(0, max(p.rank, 0)), 0)),
    "te.rolling_buffer": _rolling_buffer,
    "te.sample_annotation": _with_loops(1, lambda p: SampleAnnotationOp.make(p.loop(), list(WAYS))),
    "te.sample_categorical": lambda p: SampleCategoricalOp.make([1, 2, 4], [0.25, 0.25, 0.5]),
    "te.sample_compute_location": lambda p: SampleComputeLocationOp.make(p.earlier(), p.stage, 0),
    "te.sample_order": _with_loops(2, _sample_order),
    "te.sample_perfect_tile": _with_loops(1, lambda p: SamplePerfectTileOp.make(p.loop(), p.r.randint(1, 3), 4)),
    "te.set_scope": lambda p: SetScopeOp.make(p.stage, p.r.choice(SCOPES)),
    "te.split": _with_loops(1, _split),
    "te.storage_align": _storage_align,
    "te.store_predicate": _with_loops(1, _store_predicate),
    "te.tensorize": _with_loops(1, _tensorize),
    "te.tile": _with_loops(2, _tile),
    "te.transform_layout": _transform_layout,
    "te.unroll": _with_loops(1, lambda p: UnrollOp.make(p.loop())),
    "te.vectorize": _with_loops(1, _vectorize),
}
"""A draw for each primitive."""

WEIGHTS = {
    "te.compute_at": 5,
    "te.reverse_compute_at": 3,
    "te.cache_read": 2,
    "te.compute_inline": 2,
    "te.pad_einsum": 3,
    "te.partition": 8,
    "te.rfactor": 2,
    "te.rolling_buffer": 10,
    "te.split": 2,
    "te.store_predicate": 2,
    "te.tensorize": 2,
}
"""How often a primitive is drawn, against once: those that fit few places more often."""
