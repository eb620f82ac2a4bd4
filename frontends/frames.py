"""Functions under construction: what of the values around them they can see.

A branch of relay.if sees everything; a relay.fn sees what it captures. Constants are written where their function
begins to need them, in its own block, so that every later branch sees them too.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

if TYPE_CHECKING:
    from lamina.frontends.builder import RelayBuilder, Value


class Frame:
    """A function whose body is being built."""

    def __init__(self, entry: Block, outer: Frame | None = None, recursive: bool = False) -> None:
        self.entry = entry
        self.outer = outer
        self.recursive = recursive
        """Whether the last argument of the entry is the function itself."""
        self.blocks = {entry}
        """The entry and what is nested in it."""
        self.captured: dict[SSAValue, BlockArgument] = {}
        """The values of outer functions that this one takes, with its names for them."""
        self.constants: dict[int, tuple[Value, SSAValue]] = {}
        """The constants that stand in this function, by the identity of the value."""

    def here(self, ssa: SSAValue) -> SSAValue:
        """A value as this function sees it."""
        if self.outer is None or self.sees(ssa):
            return ssa
        found = self.captured.get(ssa)
        if found is None:
            outer = self.outer.here(ssa)
            found = self.captured[ssa] = self.entry.insert_arg(outer.type, len(self.entry.args) - self.recursive)
            found.name_hint = ssa.name_hint
        return found

    def sees(self, ssa: SSAValue) -> bool:
        """Whether a value is one of this function's own."""
        return (ssa.owner if isinstance(ssa.owner, Block) else ssa.owner.parent) in self.blocks

    def constant(self, value: Value) -> SSAValue | None:
        """A constant that stands here already."""
        found = self.constants.get(id(value))
        return None if found is None else found[1]


@contextmanager
def inside(b: RelayBuilder, block: Block, frame: Frame | None = None) -> Generator[None]:
    """Make the builder emit into a branch, or into a function of its own."""
    before = b.block, b.frame
    b.block = block
    if frame is not None:
        b.frame = frame
    b.frame.blocks.add(block)
    try:
        yield
    finally:
        b.block, b.frame = before


class Mark:
    """A place in the function under construction that can be gone back to."""

    def __init__(self, b: RelayBuilder) -> None:
        self._builder = b
        self._blocks = [b.block] if b.block is b.frame.entry else [b.block, b.frame.entry]
        self._last = [block.last_op for block in self._blocks]

    def undo(self) -> None:
        """Take away what has been emitted since, also the constants that it needed."""
        gone: set[Operation] = set()
        for block, last in zip(self._blocks, self._last, strict=True):
            while block.last_op is not None and block.last_op is not last:
                op = block.last_op
                gone.add(op)
                block.detach_op(op)
                op.drop_all_references()
        constants = self._builder.frame.constants
        for key, (value, ssa) in list(constants.items()):
            owner: Any = ssa.owner
            if owner in gone:
                del constants[key]
                if value.ssa is ssa:
                    value.ssa = None
