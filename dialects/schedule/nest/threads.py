"""Loops on the threads of a GPU: what may be bound to which axis, and which threads see one buffer.

A kernel is a nest whose outermost loop of kind `thread` (virtual threads apart) stands in no other. As te-to-tir makes
it, it means the same run one iteration after the other as run by threads: a shared buffer is allocated outside of the
loops of the threads that share it, and a loop bound to an axis that a loop around it has too (threads fetching together
what each of them reads) does the same work in each iteration of the outer one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.linear import Linear
from lamina.dialects.schedule.nest.edits import stands_in
from lamina.dialects.schedule.nest.refusals import refuse
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import ForOp, FuncOp, enclosing_loops


def is_thread(op: Operation | None, prefix: str = "") -> bool:
    """Whether an op is a loop of kind thread (along an axis whose name starts so)."""
    return isinstance(op, ForOp) and op.thread is not None and op.thread.data.startswith(prefix)


def is_real(op: Operation | None) -> bool:
    """Whether an op is a loop that the machine's threads or blocks of them run."""
    return is_thread(op, "threadIdx") or is_thread(op, "blockIdx")


def tag_of(loop: ForOp) -> str:
    """The axis that a loop of kind thread is bound to."""
    assert loop.thread is not None
    return loop.thread.data


def thread_loops(root: Operation, prefix: str = "") -> list[ForOp]:
    """The loops of kind thread at and below an op, in program order."""
    return [op for op in root.walk() if isinstance(op, ForOp) and is_thread(op, prefix)]


def kernels_of(func: FuncOp) -> Iterator[ForOp]:
    """The kernels of a function: its loops of kind thread that stand in no other, virtual threads apart."""
    for loop in thread_loops(func):
        if is_real(loop) and not any(is_real(v) for v in enclosing_loops(loop)):
            yield loop


def sharing_loops(loop: ForOp, scope: str) -> list[ForOp]:
    """The loops around and including one whose iterations share a buffer of a scope, outermost first."""
    if scope != "shared":
        return []
    return [v for v in [*enclosing_loops(loop), loop] if is_thread(v, "threadIdx") or is_thread(v, "vthread")]


def run_in_turn(loop: ForOp) -> None:
    """Let one thread run the iterations of a loop, one after the other."""
    loop.properties["kind"] = StringAttr("serial")
    loop.properties.pop("thread", None)


def thread_extent(loop: ForOp) -> Linear:
    """The number of threads that run a loop: its constant extent, or the first of its bounds."""
    return loop.limits()[0]


def check_blocks_apart(kernel: Operation, grids: Iterable[ForOp], what: str) -> None:
    """Refuse blocks of threads that need within a kernel what others of them compute: they do not wait for each other.

    `grids` are the loops of blocks that stand in others of the kernel.
    """
    found = blocks_exchange(kernel, grids)
    if found is not None:
        grid, buffer = found
        owner = buffer.owner
        if isinstance(owner, AllocOp) and stands_in(owner, kernel):
            refuse(
                f"{what}: the blocks of {grid.axis.data!r} would fill the buffer {owner.stage.data!r} together, and "
                "each block has one of its own"
            )
        refuse(
            f"{what}: the blocks of {grid.axis.data!r} would have to wait until others have computed "
            f"{buffer.name_hint or 'a buffer'}"
        )


def blocks_exchange(kernel: Operation, grids: Iterable[ForOp]) -> tuple[ForOp, SSAValue] | None:
    """A loop of blocks in a kernel, and a buffer by which these blocks and others would exchange what they compute."""
    stores: dict[SSAValue, list[StoreOp]] = {}
    loads: dict[SSAValue, list[LoadOp]] = {}
    for op in kernel.walk():
        if isinstance(op, StoreOp):
            stores.setdefault(op.buffer, []).append(op)
        elif isinstance(op, LoadOp):
            loads.setdefault(op.buffer, []).append(op)
    for grid in grids:
        for buffer, written in stores.items():
            owner = buffer.owner
            if isinstance(owner, AllocOp) and stands_in(owner, kernel):
                apart = stands_in(owner, grid) or not any(stands_in(s, grid) for s in written)
            else:
                apart = all(_of_one_block(s, o, grid) for s in written for o in loads.get(buffer, ()))
            if not apart:
                return grid, buffer
    return None


def _of_one_block(store: StoreOp, load: LoadOp, grid: ForOp) -> bool:
    """Whether what a load reads has been stored, if at all, by the same block of a grid."""
    if stands_in(store, grid) != stands_in(load, grid):
        return False
    sides = zip(store.forms(), load.forms(), strict=True)
    return all(
        a == b or _same_multiple(a, b, grid.var) for a, b in sides if grid.var in a.dims() or grid.var in b.dims()
    )


def _same_multiple(a: Linear, b: Linear, variable: SSAValue) -> bool:
    """Whether equal values of two forms have the same value of a variable: what is added is less than its stride."""
    stride = a.terms.get(variable, 0)
    rests = [(form - Linear.dim(variable) * stride).range(RangeCache()) for form in (a, b)]
    if not stride or b.terms.get(variable, 0) != stride or any(r is None for r in rests):
        return False
    known = [r for r in rests if r is not None]
    return max(high for _, high in known) - min(low for low, _ in known) < abs(stride)
