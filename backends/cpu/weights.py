"""Weights of products: which operand the vectors are read from, and the loads of a step before its broadcasts."""

from __future__ import annotations

from xdsl.ir import SSAValue

from lamina.backends.cpu.costs import Costs
from lamina.backends.cpu.stages import Stage, read_shape
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.schedule.build import Schedule


def weight_of(stage: Stage) -> tuple[str, int] | None:
    """Name and innermost extent of the tensor that the vectors are read from, where it is an argument.

    None where that extent is not the vectors': in `OIHW32o4i` four input channels lie within each output channel; and
    where the same tensor is the other factor, too, of which a copy would hold what both read.
    """
    lane = stage.op.body.block.args[len(stage.spatial) - 1]
    for read in stage.reads():
        if read.tensor.name_hint and lane in read.indices and not isinstance(read.tensor.owner, type(stage.op)):
            if len(stage.reads(read.tensor)) > 1:
                return None
            along = lane in stage.read_forms(read)[-1].dims()
            return (read.tensor.name_hint, read_shape(read)[-1]) if along else None
    return None


def lines_of(stage: Stage, width: int, costs: Costs) -> int:
    """The cache lines of a product's weights for the innermost loop of its sum, so many columns of them."""
    return stage.reduced[-1] * width * itemsize(dtype_name(stage.element_type)) // costs.line_bytes


def cache_weights(
    s: Schedule, reader: str, weight: tuple[str, int] | None, loop: SSAValue, vectors: int, lanes: int
) -> list[SSAValue]:
    """All weight vectors of a step before its broadcasts: the order that needs no spills. Returns the loop of lanes."""
    if weight is None or vectors == 1:
        return []
    name, block = weight
    (copy,) = s.cache_read(name, reader, loop, "register", 1)
    outer, inner = s.split(copy, [-1, min(lanes, block)])
    s.unroll(outer)
    s.vectorize(inner)
    return [inner]
