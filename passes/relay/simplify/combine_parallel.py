"""Branches that read one value merge into one op: the mechanism of the relay-combine-parallel-* passes.

A family says which ops go together (`key`) and makes one op of them (`merge`): the results of the branches lie beside
one another along an axis, or one behind the other along a new one. The elementwise ops that follow in all branches
alike come along, with their other operands put together in the same way; at the end each branch is sliced out again.

    y0 = f(x, w0); y1 = f(x, w1)   ->   y = f(x, concatenate(w0, w1));  y0 = y[.., :n0];  y1 = y[.., n0:]

Branches are of one block; what a branch needs besides the common value must be there at the first one (constants are
moved there). A value that one branch uses twice, or that the function returns, ends the common part.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.builder import Builder
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects import edit
from lamina.dialects import relay as r
from lamina.dialects.infos import has_unknown_extents, tensor_info
from lamina.dialects.relay.base import OpPattern, RelayOp, attrs_of, normalize_axis
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.rules.terms import insert, inserting
from lamina.passes.base import fused_location, inherit_location, inherit_name


@dataclass(frozen=True)
class Merged:
    """The value of all branches: where each lies on the axis. `stacked`: the axis is one that the branches lack."""

    value: SSAValue
    axis: int
    extents: tuple[int, ...]
    stacked: bool = False


class Family(abc.ABC):
    """A kind of branches."""

    @abc.abstractmethod
    def key(self, op: Operation) -> tuple[Any, ...] | None:
        """Equal for ops that merge (the value they share is part of it); None for an op of another kind."""

    @abc.abstractmethod
    def merge(self, ops: Sequence[RelayOp]) -> Merged:
        """One op in the place of several of one key. Terms insert where the first stands."""


def shared(op: RelayOp, operand: int, *further: Any, without: Sequence[str] = ()) -> tuple[Any, ...]:
    """A key: the shared operand, the op's attributes without those named, and what else must agree."""
    attrs = tuple(sorted((n, str(a)) for n, a in op.properties.items() if n not in without))
    return (type(op), op.operands[operand], attrs, *further)


def combine(root: Operation, family: Family, min_num_branches: int) -> int:
    """Merge branches everywhere inside an op: how many groups there were."""
    merged = 0
    blocks = [b for region in root.regions for b in region.blocks]
    while blocks:
        block = blocks.pop()
        blocks.extend(b for op in block.ops for region in op.regions for b in region.blocks)
        merged += _Merger(block, family, max(min_num_branches, 2)).run()
    return merged


class _Merger:
    def __init__(self, block: Block, family: Family, least: int) -> None:
        self.block = block
        self.family = family
        self.least = least
        self.place: dict[Operation, int] = {}

    def run(self) -> int:
        groups: dict[Any, list[RelayOp]] = {}
        for n, op in enumerate(self.block.ops):
            self.place[op] = n
            if isinstance(op, RelayOp) and not op.regions and not has_unknown_extents([v.type for v in op.operands]):
                key = self.family.key(op)
                if key is not None:
                    groups.setdefault(key, []).append(op)
        done = 0
        for group in groups.values():
            first = group[0]
            ops = [op for op in group if all(self.available(v, first) for v in op.operands)]
            if len(ops) >= self.least:
                with edit.transaction(first):
                    self.merge(ops)
                done += 1
        return done

    def available(self, value: SSAValue, at: Operation) -> bool:
        """Whether the value is there before an op, or is a constant that can be moved there."""
        owner = value.owner
        if isinstance(owner, Block) or owner.parent is not self.block or isinstance(owner, ConstantOp):
            return True
        return self.place[owner] <= self.place[at] and owner is not at

    def merge(self, ops: list[RelayOp]) -> None:
        first = ops[0]
        builder = Builder(InsertPoint.before(first))
        location = fused_location(ops)

        def made(op: Operation) -> None:
            self.place[op] = self.place[first]
            inherit_location(op, location)

        builder.operation_insertion_handler = [made]
        with inserting(builder):
            self.hoist([v for op in ops for v in op.operands], first)
            merged = self.family.merge(ops)
            ends: list[RelayOp] = ops
            dead = list(ops)
            while (users := self.alike(ends)) is not None:
                following = self.extend(merged, users, ends, first)
                if following is None:
                    break
                merged, ends = following, users
                dead += users
            self.take_apart(merged, ends)
        edit.erase_all(reversed(dead))

    def hoist(self, values: Sequence[SSAValue], before: Operation) -> None:
        for value in values:
            owner = value.owner
            if isinstance(owner, ConstantOp) and owner.parent is self.block:
                if self.place.get(owner, 0) > self.place[before]:
                    edit.move_before(before, owner)
                    self.place[owner] = self.place[before]

    # -- what follows in all branches alike ----------------------------------------------------------------------

    def alike(self, ends: Sequence[RelayOp]) -> list[RelayOp] | None:
        """The ops that follow the branches, where each has one and they do the same."""
        users: list[RelayOp] = []
        seen: set[Operation] = set()
        place = -1
        for end in ends:
            if not end.results[0].has_one_use():
                return None
            (use,) = end.results[0].uses
            user = use.operation
            if not isinstance(user, RelayOp) or user.parent is not self.block or len(user.results) != 1:
                return None
            if users and (type(user) is not type(users[0]) or user.properties != users[0].properties):
                return None
            if user in seen or (users and use.index != place):
                return None
            place = use.index
            users.append(user)
            seen.add(user)
        return users

    def extend(self, merged: Merged, users: list[RelayOp], ends: Sequence[RelayOp], first: Operation) -> Merged | None:
        """The following ops as one; None where their operands do not go together."""
        user = users[0]
        shapes = [tensor_info(e.results[0].type).shape for e in ends]
        if any(tensor_info(u.results[0].type).shape != s for u, s in zip(users, shapes, strict=True)):
            return None
        place = next(iter(ends[0].results[0].uses)).index
        columns = [[u.operands[i] for u in users] for i in range(len(user.operands)) if i != place]
        if not all(self.available(v, first) for column in columns for v in column):
            return None
        if user.name == "relay.nn.bias_add":
            axis = normalize_axis(attrs_of(user)["axis"], len(shapes[0]))
            if place != 0 or (axis != merged.axis and not merged.stacked):
                return None
            self.hoist(columns[0], first)
            return replace(merged, value=_biased(merged, columns[0], axis, shapes))
        # An op of several operands that has attributes names axes by them.
        wanted = user.FUSION_KIND in (OpPattern.ELEMWISE, OpPattern.BROADCAST)
        if not wanted or (columns and user.properties) or not all(_fits(c, merged, shapes) for c in columns):
            return None
        self.hoist([v for column in columns for v in column], first)
        operands = [_together(column, merged, shapes) for column in columns]
        operands.insert(place, merged.value)
        made = type(user).make(*operands, **attrs_of(user))
        insert(made)
        return replace(merged, value=made.results[0])

    def take_apart(self, merged: Merged, ends: Sequence[RelayOp]) -> None:
        """Each branch's part in the place of its result."""
        at = 0
        for end, extent in zip(ends, merged.extents, strict=True):
            part = r.strided_slice(
                merged.value, begin=(at,), end=(at + extent,), strides=(1,), axes=(merged.axis,), slice_mode="end"
            )
            if merged.stacked:
                part = r.squeeze(part, axis=(merged.axis,))
            at += extent
            inherit_name(part, end.results[0])
            end.results[0].replace_all_uses_with(part)


def _biased(merged: Merged, vectors: Sequence[SSAValue], axis: int, shapes: Sequence[tuple[int, ...]]) -> SSAValue:
    """The biases of the branches added, a vector along an axis for each."""
    if not merged.stacked:
        return r.nn.bias_add(merged.value, r.concatenate(*vectors, axis=0), axis=axis)
    after = (1,) * (len(shapes[0]) - 1 - axis)
    columns = [_reshaped(v, (*tensor_info(v.type).shape, *after)) for v in vectors]
    return r.add(merged.value, _together(columns, merged, shapes))


def _extent(value: SSAValue, axis: int, rank: int) -> int:
    """The extent of an operand on an axis of the result that it broadcasts against."""
    shape = tensor_info(value.type).shape
    place = axis - (rank - len(shape))
    return shape[place] if place >= 0 else 1


def _fits(column: Sequence[SSAValue], merged: Merged, shapes: Sequence[tuple[int, ...]]) -> bool:
    """Whether the other operands of the branches can be put together."""
    rank = len(shapes[0])
    infos = [tensor_info(v.type) for v in column]
    if len({(len(i.shape), i.dtype) for i in infos}) > 1:
        return False
    if merged.stacked:
        return len({i.shape for i in infos}) == 1
    if all(v is column[0] for v in column) and _extent(column[0], merged.axis, rank) == 1:
        return True
    place = merged.axis - (rank - len(infos[0].shape))
    if place < 0 or len({(*i.shape[:place], *i.shape[place + 1 :]) for i in infos}) > 1:
        return False
    return all(i.shape[place] == extent for i, extent in zip(infos, merged.extents, strict=True))


def _together(column: Sequence[SSAValue], merged: Merged, shapes: Sequence[tuple[int, ...]]) -> SSAValue:
    """The other operands of the branches as one that broadcasts against all branches."""
    rank = len(shapes[0])
    if merged.stacked:
        if all(v is column[0] for v in column):
            return column[0]
        missing = rank - len(tensor_info(column[0].type).shape)
        return r.stack(*(_reshaped(v, (*(1,) * missing, *tensor_info(v.type).shape)) for v in column), axis=0)
    if all(v is column[0] for v in column) and _extent(column[0], merged.axis, rank) == 1:
        return column[0]
    return r.concatenate(*column, axis=merged.axis - (rank - len(tensor_info(column[0].type).shape)))


def _reshaped(value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
    if tensor_info(value.type).shape == shape:
        return value
    return r.reshape(value, newshape=shape, allowzero=False)
