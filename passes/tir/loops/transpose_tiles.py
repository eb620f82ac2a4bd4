"""Lanes that lie apart, in a loop that walks along memory: whole vectors are read and transposed in registers.

A vector load with a stride takes its lanes one by one. Where each iteration of the loop around it reads the neighbours
of what the last one read, sixteen iterations (eight, four) read a tile: its rows are read as vectors, and the columns
made of them by shuffles. What is left of the loop reads lanes one by one as before. So layouts change and tensors are
transposed at the speed of memory.

Conditions of lanes become conditions of rows. An index that the body computes, such as one read from memory, is
computed once before the tiles; where it differs by iteration the loop stays as it is. Elements of other sizes than four
bytes stay as well.

Assumes `tir-vectorize-loop`.

Before:
    tir.for %x = 0 to 4 "y.x" {
      %v = tir.load %X[lane, %x] : memref<4x4xf32>, vector<4xf32>
      tir.store %v, %y[%x, lane] : memref<4x4xf32>, vector<4xf32> }
After:
    %a = tir.load %X[0, lane] : memref<4x4xf32>, vector<4xf32>
    %b = tir.load %X[1, lane] : memref<4x4xf32>, vector<4xf32>
    ...
    %e = tir.shuffle %a, %b [0, 4, 2, 6] : vector<4xf32>
    ...
    tir.store %i, %y[0, lane] : memref<4x4xf32>, vector<4xf32>
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from lamina.dialects import edit
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import Atom, Linear, constant, recombine, row_major_strides
from lamina.dialects.schedule.nest.edits import substitute_in, unique_axis
from lamina.dialects.tir.control import IfOp
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, extents_of, type_of
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.dialects.tir.shuffle import ShuffleOp
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.tir.threads.phases import explicit_indices

ELEMENT = 4
"""Bytes of the elements that are transposed."""
LEAST = 4
"""Iterations of a tile."""


@dataclass(frozen=True)
class TransposeTilesPass(ModulePass):
    name = "tir-transpose-tiles"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                loops = [o for o in all_ops(func) if isinstance(o, ForOp) and any(map(_is_apart, o.body.block.ops))]
                if loops:
                    explicit_indices(func)
                for loop in loops:
                    with edit.transaction():
                        _transpose(func, loop)


def _is_apart(op: Operation) -> bool:
    """Whether an op is a vector load of elements of the right size whose lanes may lie apart."""
    if not isinstance(op, LoadOp) or op.lanes is None or op.lanes < LEAST or op.lanes & (op.lanes - 1):
        return False
    last = op.forms()[-1] if op.forms() else constant(0)
    return last.terms.get(LANE) != 1 and itemsize(dtype_name(type_of(op.buffer).element_type)) == ELEMENT


def _transpose(func: FuncOp, loop: ForOp) -> None:
    """Do a loop in tiles, where it reads lanes that lie apart and each iteration the neighbours of the last."""
    if loop.is_dynamic or loop.is_reduction or loop.kind.data not in ("serial", "unrolled"):
        return
    ops = list(loop.body.block.ops)
    if any(op.regions or isinstance(op, AllocOp) for op in ops):
        return
    written = {op.buffer for op in ops if isinstance(op, StoreOp)}
    loads = [op for op in ops if _is_apart(op) and cast("LoadOp", op).buffer not in written]
    differing = _differing(loop, ops, written)
    tiles = [_Tile(cast("LoadOp", op), loop) for op in loads if not any(v in differing for v in op.operands)]
    tiles = [tile for tile in tiles if tile.walks_along()]
    if not tiles or loop.trip < LEAST:
        return
    ends = loop.min_bounds()
    if len(ends) > 1:
        return
    made = _Tiling(func, loop, ops, tiles).made()
    if ends:
        # Where the loop ends early, it stays as it is.
        whole, early = (IfOp.make([Condition(c)]) for c in (ends[0] - loop.trip, loop.trip - 1 - ends[0]))
        whole.body.block.add_ops(made)
        edit.insert_before(loop, whole, early)
        for holder in (whole, early):
            inherit_location(holder, loop)
        edit.move_into(early.body.block, [loop])
        return
    edit.insert_before(loop, *made)
    edit.erase(loop, safe=False)


def _differing(loop: ForOp, ops: Sequence[Operation], written: set[SSAValue]) -> set[SSAValue]:
    """The values of the body that may differ by iteration, or be more than a value."""
    found: set[SSAValue] = set()
    for op in ops:
        is_value = op.buffer not in written if isinstance(op, LoadOp) else is_side_effect_free(op)
        if not is_value or any(v is loop.var or v in found for v in op.operands):
            found.update(op.results)
    return found


class _Tile:
    """A load whose rows lie along the loop."""

    def __init__(self, load: LoadOp, loop: ForOp) -> None:
        self.load = load
        self.loop = loop
        assert load.lanes is not None
        self.lanes = load.lanes

    def walks_along(self) -> bool:
        """Whether a row is contiguous and its lanes lie apart, whatever the tile."""
        owner = self.load.buffer.owner
        if isinstance(owner, AllocOp) and owner.scope.data == "register":
            return False
        if not all(e.is_constant for e in extents_of(self.load.buffer)):
            return False
        if any(self.loop.var in c.form.dims() for c in self.load.conditions()):
            return False
        flat = self._flat(self.load.forms())
        apart = flat.terms.get(LANE, 0) not in (0, 1) and not _in_division(flat, LANE)
        width = min(self.lanes, _power(self.loop.trip))
        row, _ = self.row_access(0, constant(0), RangeCache({LANE: (0, width - 1)}))
        along = self._flat(row)
        return apart and along.terms.get(LANE) == 1 and not _in_division(along, LANE)

    def _flat(self, forms: Sequence[Linear]) -> Linear:
        strides = row_major_strides([e.const for e in extents_of(self.load.buffer)])
        flat = Linear()
        for form, stride in zip(forms, strides, strict=True):
            flat = flat + form * stride
        return recombine(flat)

    def row_access(self, lane: int, base: Linear, ranges: RangeCache) -> tuple[list[Linear], list[Condition]]:
        """Indices and guard of the row that is lane `lane` of the columns, from iteration `base` on."""
        mapping: dict[Atom, Linear] = {LANE: constant(lane), self.loop.var: base + Linear.dim(LANE)}
        forms = [f.substitute(mapping, ranges) for f in self.load.forms()]
        guard = [Condition(c.form.substitute(mapping, ranges), c.equal) for c in self.load.conditions()]
        return forms, guard

    def rows(self, base: Linear, width: int) -> tuple[list[Operation], list[SSAValue]]:
        """The ops that read the rows, and the rows."""
        ranges = RangeCache({LANE: (0, width - 1)})
        element = type_of(self.load.buffer).element_type
        found: list[Operation] = []
        for lane in range(self.lanes):
            forms, guard = self.row_access(lane, base, ranges)
            known = [c.decided(c.form.range(ranges)) for c in guard]
            if False in known:
                found.append(_zeros(self.load, width))
                continue
            left = [c for c, holds in zip(guard, known, strict=True) if holds is None]
            found.append(LoadOp.make(self.load.buffer, forms, left, _vector(self.load, element, width)))
        return found, [op.results[0] for op in found]


def _vector(load: LoadOp, element: Attribute, width: int) -> Attribute:
    return VectorType(cast("VectorType[Attribute]", load.results[0].type).element_type, [width])


def _zeros(load: LoadOp, width: int) -> Operation:
    """A vector of zeros: the value of a load whose guard fails."""
    type_ = cast("VectorType[Attribute]", _vector(load, load.results[0].type, width))
    return arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type_, [0]), type_)  # type: ignore[arg-type]


def _in_division(form: Linear, dim: Atom) -> bool:
    return any(isinstance(atom, tuple) and dim in atom[1].dims() for atom in form.terms)


def _power(number: int) -> int:
    """The largest power of two that is no larger."""
    return 1 << (number.bit_length() - 1)


def columns_of(rows: Sequence[SSAValue], width: int) -> tuple[list[Operation], list[SSAValue]]:
    """The ops that make the columns of so many rows of `width` lanes, and the columns; both are powers of two.

    Rows that are shorter than columns are laid end to end first: then every part of a vector is transposed alike.
    """
    ops: list[Operation] = []

    def shuffled(a: SSAValue, b: SSAValue, picks: Sequence[int]) -> SSAValue:
        op = ShuffleOp.make(a, b, picks)
        ops.append(op)
        return op.results[0]

    lanes, length = len(rows), width
    parts = [list(rows[n : n + width]) for n in range(0, lanes, width)]
    while len(parts) > 1:
        length *= 2
        parts = [
            [shuffled(x, y, range(length)) for x, y in zip(left, right, strict=True)]
            for left, right in zip(parts[::2], parts[1::2], strict=True)
        ]
    (held,) = parts
    step = 1
    while step < width:
        # Of two rows `step` apart, each gives the other the lanes that are not its own.
        for n in range(width):
            if not n & step:
                a, b = held[n], held[n + step]
                low = [lane if not lane & step else lanes + lane - step for lane in range(lanes)]
                high = [lane + step if not lane & step else lanes + lane for lane in range(lanes)]
                held[n], held[n + step] = shuffled(a, b, low), shuffled(a, b, high)
        step *= 2
    return ops, held


class _Tiling:
    """A loop in tiles of as many iterations as vectors have lanes, then of half as many, then one by one."""

    def __init__(self, func: FuncOp, loop: ForOp, ops: list[Operation], tiles: list[_Tile]) -> None:
        self.func = func
        self.loop = loop
        self.ops = ops
        self.tiles = tiles
        self.once: dict[SSAValue, SSAValue] = {}
        """Values of the body that tiles are read by, and those that stand before the tiles for them."""

    def made(self) -> list[Operation]:
        """The ops that do the work of the whole loop."""
        found = self._before()
        done, width = 0, min(tile.lanes for tile in self.tiles)
        while width >= LEAST:
            count = (self.loop.trip - done) // width
            if count > 1:
                axis = unique_axis(self.func, f"{self.loop.axis.data}.tile")
                outer = ForOp.make(count, axis, hint=self.loop.var.name_hint)
                inherit_location(outer, self.loop)
                outer.body.block.add_ops(self._tile(Linear.dim(outer.var) * width + done, width))
                found.append(outer)
            elif count:
                found += self._tile(constant(done), width)
            done += count * width
            width //= 2
        for n in range(done, self.loop.trip):
            found += self._iteration(constant(n), {})
        return found

    def _before(self) -> list[Operation]:
        """Copies of what computes the indices of the rows."""
        wanted = {value for tile in self.tiles for value in tile.load.operands}
        needed: list[Operation] = []
        for op in reversed(self.ops):
            if any(result in wanted for result in op.results):
                needed.append(op)
                wanted.update(op.operands)
        return [op.clone(self.once) for op in reversed(needed)]

    def _tile(self, base: Linear, width: int) -> list[Operation]:
        """So many iterations from `base` on."""
        found: list[Operation] = []
        columns: dict[SSAValue, list[SSAValue]] = {}
        for tile in self.tiles:
            reads, rows = tile.rows(base, width)
            for read in reads:
                read.operands = [self.once.get(value, value) for value in read.operands]
            shuffles, columns[tile.load.results[0]] = columns_of(rows, width)
            found += [*reads, *shuffles]
            for op in found:
                inherit_location(op, tile.load)
        for n in range(width):
            known = {value: made[n] for value, made in columns.items()}
            found += self._iteration(base + n, known)
        return found

    def _iteration(self, at: Linear, known: dict[SSAValue, SSAValue]) -> list[Operation]:
        """A copy of the body for an iteration; `known` are loads that have been done."""
        values = self.once | known
        ranges = RangeCache()
        copies: list[Operation] = []
        for op in self.ops:
            if op.results and op.results[0] in values:
                continue
            copy = op.clone(values)
            if self.loop.var in copy.operands:
                substitute_in(copy, {self.loop.var: at}, ranges)
            copies.append(copy)
        return copies
