"""Recurrent layers: the steps of a te.scan, each a product of the weights with the state and what follows from it.

    for a step
      for a block of units
        for a tile of sequences
          the products of all gates, over the whole state, in registers
          the functions of the gates, and the new states of these units

The weights of a block are read in one stream, and stay in a cache from one step to the next where they fit. Threads
have blocks of their own, and meet between steps (`tir-form-teams`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from lamina.backends.cpu.costs import for_target
from lamina.backends.cpu.schedules.steps import FEWEST_LANES, unroll_steps, vector_lanes
from lamina.backends.cpu.stages import Stage, read_shape, stages_in
from lamina.backends.cpu.tiles import choose_pixels, registers_of
from lamina.dialects.schedule.build import Schedule
from lamina.dialects.target import TargetAttr
from lamina.dialects.te.scan import ScanOp


def schedule_scan(s: Schedule, scan: ScanOp, target: TargetAttr) -> None:
    """The stages of a scan's body: products where they are used, the rest in vectors over the last dimension."""
    stages = stages_in(scan.body.block, scan.slices)
    for stage in stages:
        if not stage.is_reduction:
            products = [p for p in stage.producers if is_product(p, stage)]
            if products:
                _schedule_gates(s, stage, products, target)
            else:
                _schedule_vectors(s, stage, target)
        elif len(stage.readers) != 1 or not is_product(stage, stage.readers[0]):
            _schedule_vectors(s, stage, target)


def is_product(product: Stage, reader: Stage) -> bool:
    """Whether a stage is a sum over one axis, [rows, gates, units], that one stage [rows, units] reads at its place."""
    if not product.is_reduction or product.readers != [reader] or len(product.reduced) != 1:
        return False
    if len(product.spatial) != 3 or (product.spatial[0], product.spatial[2]) != reader.spatial:
        return False
    row, unit = reader.op.body.block.args[:2]
    forms = [reader.read_forms(read) for read in reader.reads(product.op.result)]
    return all(row in f[0].dims() and f[1].is_constant and unit in f[2].dims() for f in forms)


def _block(product: Stage) -> int:
    """The units that lie beside each other in packed weights; 0 where weights are not packed."""
    unit = product.op.body.block.args[len(product.spatial) - 1]
    for read in product.reads():
        forms = product.read_forms(read)
        if unit in forms[-1].dims():
            return read_shape(read)[-1]
    return 0


def _schedule_gates(s: Schedule, stage: Stage, products: Sequence[Stage], target: TargetAttr) -> None:
    rows, units = stage.spatial
    lanes = vector_lanes(stage, target)
    block = min((_block(p) for p in products), default=0)
    _, b, j = s.loops(stage.name)
    if units < FEWEST_LANES or not block:
        # Weights as the model has them lie along the sum: one element after the other.
        for product in products:
            s.compute_at(product.name, j)
            s.set_scope(product.name, "register")

        return
    costs = for_target(target)
    vectors = max(block // lanes, 1)
    gates = sum(p.spatial[1] for p in products)
    widest = min(gates * vectors, target.registers.data // 2)
    tile = 1 if rows == 1 else choose_pixels(rows, widest, registers_of(target))
    jo, ji, jv = s.split(j, [-1, vectors, lanes])
    bo, bi = s.split(b, [-1, tile])
    s.reorder(jo, bo, bi, ji, jv)
    own = _share_blocks(s, jo, -(-stage.spatial[1] // (vectors * lanes)), target.threads.data)
    for product in products:
        b_at, g_at, j_at, k = s.compute_at(product.name, bo)
        ji_at, jv_at = s.split(j_at, [-1, lanes])
        s.reorder(k, b_at, g_at, ji_at, jv_at)
        s.set_scope(product.name, "register")
        unroll_steps(s, product.reduced[0], k, costs.product_steps, costs)
        for loop in (b_at, g_at, ji_at):
            s.unroll(loop)
        s.vectorize(jv_at)
    if own is not None and _reads_itself(stage, products) and rows * stage.spatial[1] <= costs.figures.l1_bytes // 8:
        # Much of the state another core has just written: its lines come all at once, not one by one as sums get there.
        s.prefetch(f"{stage.name}.v0" if len(stage.op.tensors) > 1 else stage.name, own, 0)
    s.unroll(bi)
    s.unroll(ji)
    s.vectorize(jv)
    if rows % tile:
        s.partition(bo)


def _share_blocks(s: Schedule, blocks: SSAValue, count: int, threads: int) -> SSAValue | None:
    """Each thread has blocks of its own, in every step the same, so that their weights stay in its caches.

    Where not all of them do, a step begins with what the last one has left there, and walks the other way. Gives the
    loop that threads share.
    """
    if threads == 1 or count == 1:
        s.alternate(blocks)
        return None
    if count % threads:
        s.parallel(blocks)
        return blocks
    own, block = s.split(blocks, [threads, -1])
    s.parallel(own)
    s.alternate(block)
    return own


def _reads_itself(stage: Stage, products: Sequence[Stage]) -> bool:
    """Whether the products are of the first state that the stage computes, as it was a step before."""
    scan = stage.op.parent_op()
    if not isinstance(scan, ScanOp) or stage.op.tensors[0] not in scan.slices:
        return False
    state = scan.states[list(scan.slices).index(stage.op.tensors[0])]
    return all(p.reads(state) for p in products)


def _schedule_vectors(s: Schedule, stage: Stage, target: TargetAttr) -> None:
    """Vectors over the last dimension."""
    lanes = vector_lanes(stage, target)
    last = len(stage.spatial) - 1
    if stage.is_reduction or last < 0 or stage.spatial[last] < FEWEST_LANES:
        return
    loops = s.loops(stage.name)
    if stage.spatial[last] > lanes:
        _, inner = s.split(loops[-1], [-1, lanes])
        s.vectorize(inner)
    else:
        s.vectorize(loops[-1])
