"""What is asked of every op of a kernel, several times in each pass, without xDSL's views and generators.

`op.walk()` hands each op through three generators for every level of nesting, `op.operands` makes a view of the tuple
that it looks at, a name is matched against a pattern whenever it is set: each dearer than what a pass does with an op.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from xdsl.ir import Attribute, Operation, SSAValue

operands_of: Callable[[Operation], tuple[SSAValue, ...]] = attrgetter("_operands")
"""`tuple(op.operands)`"""
type_of: Callable[[SSAValue], Attribute] = attrgetter("_type")
"""`value.type`"""
next_of: Callable[[Operation], Operation | None] = attrgetter("_next_op")
"""`op.next_op`"""


def all_ops(root: Operation) -> list[Operation]:
    """`list(root.walk())`: the op and what stands inside, in program order."""
    if not root.regions:
        return [root]
    found: list[Operation] = []
    stack = [root]
    while stack:
        op = stack.pop()
        found.append(op)
        if op.regions:
            inner: list[Operation] = []
            for region in op.regions:
                block = region.first_block
                while block is not None:
                    child = block._first_op
                    while child is not None:
                        inner.append(child)
                        child = child._next_op
                    block = block._next_block
            inner.reverse()
            stack += inner
    return found


def valid_name(hint: str | None) -> str | None:
    """What a value is called when its `name_hint` is set to this."""
    return None if hint is None else SSAValue.extract_valid_name(hint)


def name_new(value: SSAValue, name: str | None) -> None:
    """Call a value by a result of `valid_name`, unless it has a name."""
    if value._name is None:
        value._name = name
