"""View of a te.func for its schedule: stages, who reads whom and how often, what is worth inlining."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import cast

from xdsl.dialects import math as math_dialect
from xdsl.dialects.builtin import DYNAMIC_INDEX, StringAttr, TensorType
from xdsl.ir import Attribute, Block, SSAValue

from lamina.backends.cpu.costs import Costs
from lamina.backends.cpu.open_extents import OpenExtent
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.linear import Linear
from lamina.dialects.te.extents import tensor_extents
from lamina.dialects.te.ops import ComputeOp, FuncOp, ReadOp, ReturnOp

_CHEAP_MATH = (math_dialect.FmaOp, math_dialect.AbsFOp, math_dialect.FloorOp, math_dialect.CeilOp)


@dataclass
class Stage:
    """One te.compute with its neighbours."""

    op: ComputeOp
    name: str
    is_output: bool
    readers: list[Stage] = field(default_factory=list["Stage"])
    producers: list[Stage] = field(default_factory=list["Stage"])
    inputs: dict[SSAValue, Stage] = field(default_factory=dict[SSAValue, "Stage"])
    """The stage behind each tensor that it reads; inlining does not change it."""
    inlined: bool = False

    @cached_property
    def spatial(self) -> tuple[int, ...]:
        """The extents of its dimensions, an `OpenExtent` for one that only a run tells."""
        return self._extents[: len(self.op.spatial)]

    @cached_property
    def reduced(self) -> tuple[int, ...]:
        """The extents of what it reduces over, likewise."""
        return self._extents[len(self.op.spatial) :]

    @cached_property
    def _extents(self) -> tuple[int, ...]:
        return tuple(map(OpenExtent.of, self.op.extents()))

    @property
    def element_type(self) -> Attribute:
        """The element type of its (first) result."""
        return self.op.tensors[0].type.element_type

    @property
    def is_reduction(self) -> bool:
        return self.op.combiner is not None

    @property
    def tag(self) -> str:
        tag = self.op.attributes.get("tag")
        return tag.data if isinstance(tag, StringAttr) else ""

    def reads(self, value: SSAValue | None = None) -> list[ReadOp]:
        """Its reads (of one tensor)."""
        return [o for o in self.op.body.block.ops if isinstance(o, ReadOp) and value in (None, o.tensor)]

    def read_forms(self, read: ReadOp) -> list[Linear]:
        return over_values(read.map.data.results, read.indices)

    def is_expensive(self) -> bool:
        """Whether an element costs more than a few arithmetic instructions."""
        return any(
            o.name.startswith("math.") and not isinstance(o, _CHEAP_MATH) or o.name == "arith.divf"
            for o in self.op.body.block.ops
        )

    def calls_functions(self) -> bool:
        """Whether an element takes an exponential, a logarithm or the like, in what was inlined included."""
        return any(
            o.name.startswith("math.") and not isinstance(o, _CHEAP_MATH)
            for stage in self.within()
            for o in stage.op.body.block.ops
        )

    def within(self) -> list[Stage]:
        """This stage and all that was inlined into it, each once though it may be read on many ways."""
        found: dict[int, Stage] = {}
        waiting: list[Stage] = [self]
        while waiting:
            stage = waiting.pop()
            if id(stage) not in found:
                found[id(stage)] = stage
                waiting += [source for source in stage.inputs.values() if source.inlined]
        return list(found.values())


def read_shape(read: ReadOp) -> tuple[int, ...]:
    """The shape of the tensor that a read is from, an `OpenExtent` for an extent that only a run tells."""
    shape = cast("TensorType[Attribute]", read.tensor.type).get_shape()
    return tuple(map(OpenExtent.of, tensor_extents(read.tensor))) if DYNAMIC_INDEX in shape else shape


def bytes_of(read: ReadOp) -> int:
    """The size of the tensor that a read is from."""
    return prod(read_shape(read)) * itemsize(dtype_name(read.result.type))


def stages_of(func: FuncOp) -> list[Stage]:
    """The stages of a function in program order."""
    returns = func.body.block.last_op
    assert isinstance(returns, ReturnOp)
    return stages_in(func.body.block, returns.operands)


def stages_in(block: Block, outputs: Sequence[SSAValue]) -> list[Stage]:
    """The stages of a block, a function's or that of a scan's body, in program order."""
    wanted = set(outputs)
    found: dict[SSAValue, Stage] = {}
    stages: list[Stage] = []
    for op in block.ops:
        if isinstance(op, ComputeOp):
            stage = Stage(op, op.stage.data, not wanted.isdisjoint(op.tensors))
            stages.append(stage)
            found.update(dict.fromkeys(op.tensors, stage))
            for tensor in dict.fromkeys(r.tensor for r in stage.reads()):
                producer = found.get(tensor)
                if producer is not None:
                    stage.inputs[tensor] = producer
                    if stage not in producer.readers:
                        producer.readers.append(stage)
                        stage.producers.append(producer)
    return stages


def loads_per_element(producer: Stage, reader: Stage) -> float:
    """The loads of each element of a producer by a reader, on average."""
    points = prod(reader.spatial) * prod(reader.reduced)
    return points * sum(len(reader.reads(t)) for t in producer.op.tensors) / max(prod(producer.spatial), 1)


def should_inline(stage: Stage, costs: Costs) -> bool:
    """Whether recomputing a stage where it is read costs no more than storing it."""
    if stage.is_output or stage.is_reduction or not stage.readers:
        return False
    if not stage.producers and not stage.reads():
        return len(stage.op.body.block.ops) <= costs.repeated_ops
    if is_window(stage):
        return True
    total = sum(loads_per_element(stage, r) for r in stage.readers)
    if any(r.is_reduction for r in stage.readers):
        return total <= 1
    return total <= 1 or (not stage.is_expensive() and total <= costs.repeated_reads)


def is_window(stage: Stage) -> bool:
    """Whether a stage is a part of what it reads, in the same order: its elements are read as well where they lie."""
    reads, body = stage.reads(), list(stage.op.body.block.ops)
    if len(reads) != 1 or len(body) != 2 or reads[0].guard is not None:
        return False
    dims = [d for d, e in zip(stage.op.body.block.args, stage.spatial, strict=True) if e != 1]
    forms = [f for f in stage.read_forms(reads[0]) if not f.is_constant]
    return all(len(f.terms) == 1 and f.terms.get(f.dims()[0]) == 1 for f in forms) and (
        [f.dims()[0] for f in forms] == dims and bool(dims)
    )


def reads_elementwise(reader: Stage, producer: Stage) -> bool:
    """Whether a stage reads a producer, directly or through what was inlined, exactly at its own indices."""
    on_the_way = _between(reader, producer)
    for stage in on_the_way.values():
        if stage.is_reduction or stage.spatial != producer.spatial:
            return False
        for read in stage.reads():
            source = stage.inputs.get(read.tensor)
            if source is producer or source is not None and source.inlined and id(source) in on_the_way:
                if read.guard is not None or not _at_own_index(stage, read):
                    return False
    return bool(on_the_way)


def _between(reader: Stage, producer: Stage) -> dict[int, Stage]:
    """The reader and what was inlined into it, those of them that need the producer, each once and by its identity."""
    stages = reader.within()
    users: dict[int, list[Stage]] = {}
    for stage in stages:
        for source in stage.inputs.values():
            users.setdefault(id(source), []).append(stage)
    found: dict[int, Stage] = {}
    waiting = list(users.get(id(producer), []))
    while waiting:
        stage = waiting.pop()
        if id(stage) not in found:
            found[id(stage)] = stage
            waiting += users.get(id(stage), [])
    return found


def _at_own_index(reader: Stage, read: ReadOp) -> bool:
    """Whether a read is of the element that is made; of an extent of 1 there is no other."""
    dims = reader.op.body.block.args
    return all(
        extent == 1 or form == Linear.dim(dim)
        for form, dim, extent in zip(reader.read_forms(read), dims, reader.spatial, strict=True)
    )
