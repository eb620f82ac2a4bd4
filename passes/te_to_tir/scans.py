"""A te.scan as a serial loop over time, the nests of its body inside.

Each state is one buffer with all its times. The initial tensors go to its front; what the body gives for a time is
computed right in its place. A stage of the body that gives no state is made anew in each iteration.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue

from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.te import ops as te
from lamina.dialects.te.scan import ScanOp
from lamina.dialects.tir import ops as tir
from lamina.passes.te_to_tir.lowering import Lowering, Place, copy_nest
from lamina.passes.te_to_tir.rules import stages


def place_states(scan: ScanOp, lowering: Lowering) -> None:
    """Give the states buffers, and initial tensors that nobody else reads their place at the front of them."""
    for n, (result, extents) in enumerate(zip(scan.tensors, scan.extents(), strict=True)):
        name = scan.stage.data if len(scan.tensors) == 1 else f"{scan.stage.data}.v{n}"
        lowering.allocate([result], name, extents)
    for init, result in zip(scan.inits, scan.tensors, strict=True):
        if _begins_in_place(scan, init) and init not in lowering.places:
            lowering.places[init] = lowering.places[result]


def _begins_in_place(scan: ScanOp, init: SSAValue) -> bool:
    """Whether a compute may write the front of a state instead of a tensor of its own.

    A scan of unknown length may be shorter than its initial tensor, so that one is copied.
    """
    compute = init.owner
    return (
        isinstance(compute, te.ComputeOp) and init.has_one_use() and scan.extent().is_constant
        and compute.parent is scan.parent
    )  # fmt: skip


@stages.lowers(ScanOp)
def loop_over_time(scan: ScanOp, lowering: Lowering) -> Iterable[Operation]:
    """Copies of the initial tensors that have a place of their own, then a serial loop over time."""
    time, first = lowering.extents([scan.extent()])[0], scan.first
    for n, (init, result, extents) in enumerate(zip(scan.inits, scan.tensors, scan.extents(), strict=True)):
        source, target = lowering.places[init], lowering.places[result]
        if source != target:
            name = f"{scan.stage.data}.init{n}" if n else f"{scan.stage.data}.init"
            nest = copy_nest(source, target, [constant(first), *extents[1:]], name, lowering)
            if not time.is_constant and isinstance(nest, tir.ForOp):
                nest.set_min_bounds([time])
            yield nest
    hint = scan.var.name_hint or "t"
    loop = tir.ForOp.upto([time - first], lowering.axis(f"{scan.stage.data}.{hint}"), hint=hint)
    now = Linear.dim(loop.var) + first
    lowering.times[scan.var] = now
    around, lowering.block = lowering.block, loop.body.block
    copies: list[tuple[SSAValue, Place]] = []
    for state, result in zip(scan.states, scan.tensors, strict=True):
        lowering.places[state] = lowering.places[result]
    for value, result in zip(scan.slices, scan.tensors, strict=True):
        place = Place(lowering.places[result].buffer, (now,))
        if value in lowering.places:
            copies.append((value, place))
        else:
            lowering.places[value] = place
    for op in scan.body.block.ops:
        if isinstance(op, te.ComputeOp):
            lowering.put(op, stages.lower(op, lowering))
    for value, place in copies:
        compute = value.owner
        assert isinstance(compute, te.ComputeOp)
        extents = compute.extents()[: len(compute.spatial)]
        nest = copy_nest(lowering.places[value], place, extents, f"{compute.stage.data}.copy", lowering)
        lowering.block.add_op(nest)
    lowering.block = around
    del lowering.times[scan.var]
    yield loop
