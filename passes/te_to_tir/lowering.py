"""State that the stages of a te.func share while they are lowered: places of tensors, and indices as forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.edit import inherit_location
from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.schedule.nest.edits import wrap
from lamina.dialects.tir import ops as tir


class Place(NamedTuple):
    """The place of a tensor: in a buffer, behind leading indices (a scan's tensors are slices of its states)."""

    buffer: SSAValue
    prefix: tuple[Linear, ...] = ()

    def at(self, index: Sequence[Linear]) -> list[Linear]:
        """The buffer's index of one of the tensor's."""
        return [*self.prefix, *index]


@dataclass
class Lowering:
    """The state of one function's lowering."""

    block: Block
    """The block that buffers and statements are put in."""
    places: dict[SSAValue, Place] = field(default_factory=dict[SSAValue, Place])
    sizes: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The te function's `index` arguments as the tir function's."""
    times: dict[Atom, Linear] = field(default_factory=dict[Atom, Linear])
    """The time of each enclosing te.scan over its loop variable."""
    axes: dict[str, int] = field(default_factory=dict[str, int])
    """The number of times that an axis name has been given."""
    copies: list[tuple[SSAValue, SSAValue]] = field(default_factory=list[tuple[SSAValue, SSAValue]])
    """Tensors that are returned and are computed elsewhere, with the buffers of the results."""

    def extents(self, forms: Sequence[Linear]) -> list[Linear]:
        """Extents over the te function's sizes as extents over the tir function's."""
        if all(f.is_constant for f in forms):
            return list(forms)
        renamed: dict[Atom, Linear] = {old: Linear.dim(new) for old, new in self.sizes.items()}
        return [f.substitute(renamed) for f in forms]

    def forms(self, results: Sequence[Linear], operands: Sequence[SSAValue]) -> list[Linear]:
        """Index forms over operands that are sizes, times or values of the lowered body."""
        found = over_values(results, operands)
        return [f.substitute(self.times) for f in found] if self.times else found

    def axis(self, wanted: str) -> str:
        """An axis name that the function has not been given yet."""
        seen = self.axes.get(wanted, 0)
        self.axes[wanted] = seen + 1
        return f"{wanted}_{seen}" if seen else wanted

    def loops(self, names: Sequence[str], extents: Sequence[Linear], reductions: int, stage: str) -> list[tir.ForOp]:
        """A loop for each dimension, the last ones reductions."""
        first = len(names) - reductions
        return [
            tir.ForOp.upto([e], self.axis(f"{stage}.{name}"), reduction=n >= first, hint=name)
            for n, (name, e) in enumerate(zip(names, self.extents(extents), strict=True))
        ]

    def put(self, op: Operation, statements: Iterable[Operation]) -> None:
        """Append the statements of a stage, each as it comes."""
        for new in statements:
            inherit_location(new, op)
            self.block.add_op(new)

    def allocate(self, results: Sequence[OpResult], stage: str, extents: Sequence[Linear]) -> None:
        """Buffers for those tensors of a stage that have no place yet; the n-th of several is called `<stage>.v<n>`."""
        sizes = self.extents(extents)
        for n, result in enumerate(results):
            if result in self.places:
                continue
            name = stage if len(results) == 1 else f"{stage}.v{n}"
            alloc = tir.AllocOp.make(name, memref(result.type), extents=sizes)
            alloc.location = result.op.location
            self.block.add_op(alloc)
            self.places[result] = Place(alloc.result)


def memref(type_: Attribute) -> MemRefType[Attribute]:
    """The buffer that holds a tensor."""
    if type(type_) is not TensorType:
        raise VerifyException(f"te-to-tir: {type_} is no tensor")
    return tir.buffer_type(type_.get_shape(), type_.element_type)


def nest_of(loops: Sequence[tir.ForOp], block: Operation) -> Operation:
    """A statement in loops, outermost first."""
    if not loops:
        return block
    holder = Block()
    holder.add_op(block)
    wrap(loops, holder)
    return loops[0]


def copy_nest(source: Place, target: Place, extents: Sequence[Linear], stage: str, lowering: Lowering) -> Operation:
    """The loops that copy a tensor of these extents to another place."""
    loops = lowering.loops([f"i{n}" for n in range(len(extents))], extents, 0, stage)
    index = [Linear.dim(v.var) for v in loops]
    load = tir.LoadOp.make(source.buffer, source.at(index))
    store = tir.StoreOp.make(load.result, target.buffer, target.at(index))
    return nest_of(loops, tir.BlockOp.make(stage, None, Block([load, store])))
