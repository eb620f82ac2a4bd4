"""Edits of programs: how passes and schedule primitives change the IR. They are counted, traced and limited here.

Each edit counts as one: `--trace-rules` prints a line for it, and with `--fuel` so many are made and no more. An edit
beyond that raises `FuelSpentError` before it has touched anything, which ends the pass and leaves the program as the
edits before it made it. So a program must be valid between any two edits; those that belong together stand in a
`transaction`, where the first counts and the others go with it. What no function of this file does, a new attribute or
another operand, is announced by `change` before it is done.

    with edit.transaction():
        edit.insert_before(loop, prologue)     # simplify.py:52  tir.for "i" after new tir.for "i.prologue"
        edit.erase(loop)                       # goes with it
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from xdsl.dialects.builtin import LocationAttr, StringAttr, UnknownLoc
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import Pure

from lamina.dialects.fast_ir import all_ops

# -- counting ------------------------------------------------------------------------------------------------

EACH, FIRST, NONE = range(3)
"""Ways to count edits: each by itself, the first of a transaction, none of those that go with it."""

_counts = EACH
_left: int | None = None
_trace: TextIO | None = None
_made = 0
_told: Counter[str] = Counter()


class FuelSpentError(Exception):
    """Says that no further edit is allowed; what runs a pass takes it for its end."""


def limit(count: int | None) -> None:
    """Allow so many edits in all from now on; None takes it back."""
    global _left
    _left = count


def trace(stream: TextIO | None) -> None:
    """Print one line for each edit from now on; None turns it off."""
    global _trace
    _trace = stream
    _told.clear()


def traced() -> TextIO | None:
    """The stream that edits are printed to; None for none."""
    return _trace


def edits_made() -> int:
    """The number of edits that this process has counted."""
    return _made


def is_spent() -> bool:
    """Whether the next edit would be refused."""
    return _left == 0 and _counts != NONE


def spend() -> None:
    """Count one edit. Raises FuelSpentError where none is left."""
    global _counts, _left, _made
    if _counts == NONE:
        return
    if _left is not None:
        if _left == 0:
            raise FuelSpentError
        _left -= 1
    _made += 1
    if _counts == FIRST:
        _counts = NONE


class transaction:
    """Makes the edits inside it count as one.

    With the op that it rewrites, that one is counted at once; without, the first edit inside, so that a transaction
    without edits counts none. It does not begin where no edit is left. A transaction in another is part of that. The
    trace says `where` it is written, which is where it begins if nothing else is given.
    """

    __slots__ = ("op", "what", "where", "outer")

    def __init__(self, op: Operation | None = None, what: str = "rewritten", where: str = "") -> None:
        self.op = op
        self.what = what
        self.where = where

    def __enter__(self) -> None:
        global _counts
        self.outer = _counts
        if self.op is not None:
            _spend(self.op, self.what, where=self.where)
            _counts = NONE
        elif _counts == EACH:
            if _left == 0:
                raise FuelSpentError
            _counts = FIRST

    def __exit__(self, *_: object) -> None:
        global _counts
        if self.outer != FIRST:
            _counts = self.outer


@contextmanager
def counted_elsewhere() -> Generator[None]:
    """While it lasts, edits are parts of one that has been counted already."""
    global _counts
    outer = _counts
    _counts = NONE
    try:
        yield
    finally:
        _counts = outer


# -- trace ---------------------------------------------------------------------------------------------------


def label(op: Operation) -> str:
    """An op in a few words: `relay.add %x`, `func.func @main`, `tir.for "i"`."""
    symbol = op.properties.get("sym_name")
    if isinstance(symbol, StringAttr):
        return f"{op.name} @{symbol.data}"
    named = [f"%{r.name_hint}" for r in op.results if r.name_hint]
    axis = op.properties.get("axis") or op.properties.get("stage")
    if isinstance(axis, StringAttr):
        named.append(f'"{axis.data}"')
    return " ".join([op.name, ", ".join(named)]) if named else op.name


def _spend(op: Operation, what: str, new: Iterable[Operation] = (), where: str = "") -> None:
    if _counts == NONE:
        return
    spend()
    if _trace is not None:
        frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
        while frame.f_back is not None and frame.f_code.co_filename == __file__:
            frame = frame.f_back
        where = where or f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        _told[where] += 1
        print(f"{where}  {label(op)}", what, *([", ".join(map(label, new))] if new else []), file=_trace)


def tell_part(where: str, op: Operation, what: str) -> None:
    """Print, where edits are printed, what a part of an edit did: indented, since it is not counted by itself."""
    if _trace is not None:
        print(f"  {where}  {label(op)} {what}", file=_trace)


def tell_statistics(name: str) -> None:
    """Print how many edits a pass has made by hand, and where, the most frequent first, where edits are printed."""
    if _trace is not None and _told:
        print(f"{name}: {sum(_told.values())} edits", file=_trace)
        for where, count in _told.most_common():
            print(f"  {count:6}  {where}", file=_trace)
        _told.clear()


# -- what a replacement takes over -----------------------------------------------------------------------------


def inherit_location(new: Operation, source: Operation | LocationAttr) -> None:
    """Give `new`, and every op inside it, the location of `source` where it has none of its own."""
    location = source.location if isinstance(source, Operation) else source
    if type(location) is UnknownLoc:
        return
    if not new.regions:
        if type(new.location) is UnknownLoc:
            new.location = location
        return
    for op in all_ops(new):
        if type(op.location) is UnknownLoc:
            op.location = location


def inherit_name(new: SSAValue, old: SSAValue) -> None:
    """The replacement of a value keeps its name, unless it has one already."""
    if new.name_hint is None and old.name_hint is not None:
        new.name_hint = old.name_hint


# -- edits -----------------------------------------------------------------------------------------------------


def change(op: Operation) -> None:
    """Announce that an op is about to be changed in place: its attributes, operands, types or arguments."""
    _spend(op, "changed in place")


def erase(op: Operation, safe: bool = True) -> None:
    """Remove an op, which may stand nowhere by now. Its results have no uses, unless it need not be safe."""
    if op.parent is not None:
        _spend(op, "erased")
        op.detach()
    op.erase(safe_erase=safe)


def erase_all(ops: Iterable[Operation]) -> None:
    """Remove ops, users before what they use; their results have no other uses."""
    for op in ops:
        erase(op)


def insert_before(op: Operation, *new: Operation) -> None:
    """Put ops that stand nowhere before another."""
    _spend(op, "after new", new)
    assert op.parent is not None
    op.parent.insert_ops_before(new, op)


def insert_after(op: Operation, *new: Operation) -> None:
    """Put ops that stand nowhere behind another."""
    _spend(op, "before new", new)
    assert op.parent is not None
    op.parent.insert_ops_after(new, op)


def take(op: Operation) -> None:
    """Take an op from where it stands; it is put somewhere else in the same transaction."""
    _spend(op, "moved")
    op.detach()


def move_before(op: Operation, *moved: Operation) -> None:
    """Take ops from where they stand and put them before another."""
    _spend(op, "after moved", moved)
    place = op.parent
    assert place is not None
    for m in moved:
        m.detach()
        place.insert_op_before(m, op)


def move_into(block: Block, ops: Iterable[Operation]) -> None:
    """Take ops from where they stand and put them at the end of a block."""
    for op in list(ops):
        _spend(op, "moved")
        op.detach()
        block.add_op(op)


def dissolve(op: Operation, body: Block | None = None) -> None:
    """Put the ops of a block of an op, of its only one where none is named, in its place. It has no results in use."""
    inner = list((body or op.regions[0].block).ops)
    _spend(op, "->", inner)
    place = op.parent
    assert place is not None
    for o in inner:
        o.detach()
        place.insert_op_before(o, op)
    op.detach()
    op.erase()


def replace(op: Operation, new: Operation | Sequence[SSAValue]) -> None:
    """Let an op, put in its place where it stands nowhere, or values take the place of another and of its results.

    They take over its name and location.
    """
    if isinstance(new, Operation):
        _spend(op, "->", (new,))
        inherit_location(new, op)
        if new.parent is None:
            assert op.parent is not None
            op.parent.insert_op_before(new, op)
        values: Sequence[SSAValue] = new.results
    else:
        _spend(op, "->", [v.owner for v in new if isinstance(v.owner, Operation)])
        values = new
    for old, value in zip(op.results, values, strict=True):
        inherit_name(value, old)
        old.replace_all_uses_with(value)
    op.detach()
    op.erase()


def undo(made: Iterable[Operation]) -> None:
    """Remove ops that were inserted, in this order, for an edit which is not made after all."""
    for op in reversed(list(made)):
        op.detach()
        op.erase()


def replace_uses(old: SSAValue, new: SSAValue) -> None:
    """Let whatever uses a value use another, which takes over its name."""
    inherit_name(new, old)
    use = old.first_use
    if use is not None:
        _spend(use.operation, "changed in place")
        old.replace_all_uses_with(new)


def drop_dead(*ops: Operation) -> None:
    """Erase ops without side effects that nobody uses, and what only they used."""
    stack = list(ops)
    while stack:
        op = stack.pop()
        if op.parent is None or any(r.first_use is not None for r in op.results) or not op.has_trait(Pure):
            continue
        owners = [v.owner for v in dict.fromkeys(op.operands)]
        erase(op)
        stack += [o for o in owners if isinstance(o, Operation)]


def forget_detached(root: Operation) -> None:
    """Take ops that stand nowhere, made for an edit that was refused, from the uses of values below an op."""
    for op in root.walk():
        values = [*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)]
        for user in {use.operation for v in values for use in v.uses}:
            top: Operation | None = user
            while top is not None and top is not root:
                top = top.parent_op()
            if top is None:
                user.drop_all_references()
