"""Fetch ahead of time what a schedule has asked for by `te.prefetch`: for each cache line that an iteration of the loop
will read, `offset` iterations later, a `tir.prefetch` at the start of its body.

Assumes that blocks have been dissolved (`tir-lower-blocks`) and that nothing is a vector yet. Beyond the last
iterations the lines may lie outside of the buffer, which does no harm.

Before:
    tir.for %i = 0 to 8 "C.i" attributes {prefetch = [{tensor = "A", offset = 1 : i64}]} {
      tir.for %j = 0 to 32 "C.j" { %x = tir.load %A[%i, %j] : memref<8x32xf32> ... } }
After:
    tir.for %i = 0 to 8 "C.i" {
      tir.for %l = 0 to 2 "C.i.prefetch" { tir.prefetch %A[%i + 1, %l * 16] locality 3 : memref<8x32xf32> }
      tir.for %j = 0 to 32 "C.j" { %x = tir.load %A[%i, %j] : memref<8x32xf32> ... } }
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, BlockArgument, SSAValue

from lamina.dialects.accesses import RangeCache
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.linear import Linear, constant, floordiv
from lamina.dialects.tir.annotations import PREFETCH
from lamina.dialects.tir.decompose import in_loops
from lamina.dialects.tir.memory import AllocOp, LoadOp, type_of
from lamina.dialects.tir.nest import accesses, function_of, unique_axis
from lamina.dialects.tir.ops import ForOp
from lamina.dialects.tir.prefetch import PrefetchOp
from lamina.dialects.tir.regions import region_of
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location

LINE = 64
"""Bytes that one prefetch brings."""


@dataclass(frozen=True)
class InjectPrefetchPass(ModulePass):
    name = "tir-inject-prefetch"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [v for v in all_ops(op) if type(v) is ForOp and PREFETCH in v.attributes]:
            asked = loop.attributes.pop(PREFETCH)
            if not isinstance(asked, ArrayAttr):
                raise InputError(f"{self.name}: {PREFETCH} of {loop.axis.data!r} is no list", op=loop)
            # What is asked for first is fetched first.
            for entry in reversed(cast("ArrayAttr[Attribute]", asked).data):
                _fetch(loop, *_entry(entry, loop))


def _entry(entry: Attribute, loop: ForOp) -> tuple[str, int]:
    fields: Mapping[str, Attribute] = entry.data if isinstance(entry, DictionaryAttr) else {}
    tensor, offset = fields.get("tensor"), fields.get("offset")
    if not isinstance(tensor, StringAttr) or not isinstance(offset, IntegerAttr):
        raise InputError(f"tir-inject-prefetch: {entry} names no tensor and offset", op=loop)
    return tensor.data, offset.value.data


def _is_called(buffer: SSAValue, name: str) -> bool:
    """Whether a buffer is that of an argument or stage of this name."""
    if isinstance(buffer.owner, AllocOp):
        return buffer.owner.stage.data == name
    assert isinstance(buffer, BlockArgument)
    return name in (buffer.name_hint, f"arg{buffer.index}")


def _fetch(loop: ForOp, tensor: str, offset: int) -> None:
    """Prefetch what an iteration `offset` later reads. A tensor that the loop no longer reads needs no fetching."""
    loads = [o for o in accesses(loop) if isinstance(o, LoadOp) and o.lanes is None and _is_called(o.buffer, tensor)]
    if not loads or isinstance(loads[0].buffer.owner, AllocOp) and _lives_in(loads[0].buffer.owner, loop):
        return
    buffer = loads[0].buffer
    region = region_of(loads, loop)
    ahead = {loop.var: Linear.dim(loop.var) + offset}
    index = [b.substitute(ahead) for b in region.base]  # type: ignore[arg-type]
    func = function_of(loop)
    step = max(LINE // itemsize(dtype_name(type_of(buffer).element_type)), 1)
    loops: list[ForOp] = []
    for d, extent in enumerate(region.extent):
        if extent == constant(1):
            continue
        stride = step if d == len(index) - 1 else 1
        count = floordiv(extent + (stride - 1), stride, RangeCache())
        if count != constant(1):
            copy = ForOp.upto([count], unique_axis(func, f"{loop.axis.data}.prefetch.{d}"), hint="l")
            loops.append(copy)
            index[d] = index[d] + Linear.dim(copy.var) * stride
    new = in_loops(loops, PrefetchOp.make(buffer, index))
    inherit_location(new, loop)
    first = loop.body.block.first_op
    assert first is not None
    loop.body.block.insert_op_before(new, first)


def _lives_in(alloc: AllocOp, loop: ForOp) -> bool:
    parent = alloc.parent_op()
    while parent is not None and parent is not loop:
        parent = parent.parent_op()
    return parent is loop
