"""Questions that passes ask of every op of a kernel several times, without xDSL's views and generators.

`op.walk()` hands each op through three generators for every level of nesting, `op.operands` makes a view of the tuple
that it looks at, a name is matched against a pattern whenever it is set: each dearer than what a pass does with an op.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, SSAValues, Use
from xdsl.irdl import IRDLOperation, OptionalDef

operands_of: Callable[[Operation], tuple[SSAValue, ...]] = attrgetter("_operands")
"""`tuple(op.operands)`"""
type_of: Callable[[SSAValue], Attribute] = attrgetter("_type")
"""`value.type`"""
next_of: Callable[[Operation], Operation | None] = attrgetter("_next_op")
"""`op.next_op`"""


def all_ops(root: Operation | Block | Region) -> list[Operation]:
    """`list(root.walk())`: the op and what stands inside, in program order."""
    found: list[Operation] = []
    stack: list[Operation] = []
    if isinstance(root, Operation):
        if not root.regions:
            return [root]
        stack.append(root)
    else:
        blocks: list[Block] = [root] if isinstance(root, Block) else list(root.blocks)
        for start in blocks:
            stack += start.ops
        stack.reverse()
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


_NO_VALUES: SSAValues[SSAValue] = SSAValues()
_NO_RESULTS: SSAValues[OpResult] = SSAValues()
_NO_USES: tuple[Use, ...] = ()
_NO_BLOCKS: tuple[Block, ...] = ()


def discard(region: Region) -> int:
    """Empty a region that uses nothing from outside and gives nothing to it; how many ops there were.

    An op and its results, its neighbours and its uses hold each other, so that erased ones wait for the collector of
    cycles, which looks at all that lives. These go at once: what holds them is taken apart.
    """
    count = 0
    blocks: list[Block] = list(region.blocks)
    no_values, no_results, no_uses = _NO_VALUES, _NO_RESULTS, _NO_USES
    for block in blocks:
        block.first_use = None
        for argument in block.args:
            argument.first_use = None
        op = block._first_op
        block._first_op = block._last_op = None
        while op is not None:
            following = op._next_op
            for inner in op.regions:
                count += discard(inner)
            for use in op._operand_uses:
                use._next_use = use._prev_use = None
            for result in op.results:
                result.first_use = None
            op._operands = no_values
            op._operand_uses = no_uses
            op.results = no_results
            if op._successors:
                for use in op._successor_uses:
                    use._next_use = use._prev_use = None
                op._successors, op._successor_uses = _NO_BLOCKS, no_uses
            op.parent = op._next_op = op._prev_op = None
            op = following
            count += 1
    for block in blocks:
        region.detach_block(block)
        block._args = ()
    return count


def valid_name(hint: str | None) -> str | None:
    """The name of a value after its `name_hint` is set to this."""
    return None if hint is None else SSAValue.extract_valid_name(hint)


def name_new(value: SSAValue, name: str | None) -> None:
    """Call a value by a result of `valid_name`, unless it has a name."""
    if value._name is None:
        value._name = name


def _hash_by_identity() -> None:
    """Let xDSL's classes that are known by their identity have the hash of `object`, which calls no Python.

    Passes keep what they know in dictionaries by value and by op: a model is compiled with a million look-ups.
    """
    for cls in (*SSAValue.__mro__, *IRDLOperation.__mro__):
        if cls is not object and "__hash__" in vars(cls):
            cls.__hash__ = object.__hash__  # type: ignore[method-assign]


_hash_by_identity()


def _verify_kind_once() -> None:
    """An attribute that is made is verified, but not asked each time whether its class is one of the two kinds.

    That is so of every class, or not, and asked anew takes as long as the verification.
    """

    def verify(self: Attribute) -> None:
        self._verify()

    Attribute.__post_init__ = verify


_verify_kind_once()


@cache
def defaults_of(cls: type[IRDLOperation]) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """The properties and the attributes that an op of a class gets where they are not given."""
    definition = cls.get_irdl_definition()
    properties, attributes = (
        {
            name: field.default_value
            for name, field in fields.items()
            if not isinstance(field, OptionalDef) and field.default_value is not None
        }
        for fields in (definition.properties, definition.attributes)
    )
    return properties, attributes


def _add_defaults_from_a_table() -> None:
    """A new op gets its defaults from what its class has, which is not read anew from the definition for each op."""

    def add_defaults(self: IRDLOperation) -> None:
        properties, attributes = defaults_of(type(self))
        for name, default in properties.items():
            self.properties.setdefault(name, default)
        for name, default in attributes.items():
            self.attributes.setdefault(name, default)
        # xDSL's ImplicitBuilder puts itself there.
        Operation.__post_init__(self)

    IRDLOperation.__post_init__ = add_defaults


_add_defaults_from_a_table()


def enter_uses(op: Operation, values: Sequence[SSAValue]) -> tuple[Use, ...]:
    """The uses of an op's operands, entered in the values' lists."""
    uses: list[Use] = []
    for index, value in enumerate(values):
        use = Use(op, index)
        first = value.first_use
        if first is not None:
            use._next_use = first
            first._prev_use = use
        value.first_use = use
        uses.append(use)
    return tuple(uses)


def _use_operands_at_once() -> None:
    """An op whose operands are replaced leaves the lists of their users, and enters the new ones', without calls."""

    def set_operands(self: Operation, new: Sequence[SSAValue]) -> None:
        values = SSAValues(new)
        for value, use in zip(self._operands, self._operand_uses, strict=True):
            value.remove_use(use)
        self._operands = values
        self._operand_uses = enter_uses(self, values)

    Operation.operands = Operation.operands.setter(set_operands)  # type: ignore[method-assign, attr-defined]


def _attach_leaves_unasked() -> None:
    """An op without regions contains no block that it could be put into: nobody goes up to the function to see."""
    attach = Block._attach_op

    def attach_op(self: Block, operation: Operation) -> None:
        if operation.regions or operation.parent is not None:
            attach(self, operation)
        else:
            operation.parent = self

    Block._attach_op = attach_op  # type: ignore[method-assign]


_use_operands_at_once()
_attach_leaves_unasked()


def _erase_unused_at_once() -> None:
    """A value that nobody uses is erased without a value that would stand for it in its uses."""
    erase = SSAValue.erase

    def erase_value(self: SSAValue, safe_erase: bool = True) -> None:
        if self.first_use is not None:
            erase(self, safe_erase)

    SSAValue.erase = erase_value  # type: ignore[method-assign]


_erase_unused_at_once()


def _index_values_at_once() -> None:
    """One of an op's results or operands is that of the tuple, unasked what kind of number its place is."""
    item: Callable[..., Any] = getattr(tuple, "__getitem__")  # noqa: B009

    def get_item(self: SSAValues[SSAValue], index: int | slice) -> Any:
        found = item(self, index)
        return SSAValues(found) if type(index) is slice else found

    SSAValues.__getitem__ = get_item  # type: ignore[method-assign, assignment]


_index_values_at_once()


def ops_behind(values: Sequence[SSAValue], wanted: Callable[[Operation], bool]) -> list[Operation]:
    """The ops that values come from, each behind those of its operands; nothing is looked for behind others."""
    order: dict[Operation, None] = {}
    stack: list[tuple[Any, bool]] = [(v.owner, False) for v in reversed(values)]
    while stack:
        owner, ready = stack.pop()
        if not isinstance(owner, Operation) or owner in order or not wanted(owner):
            continue
        if ready:
            order[owner] = None
        else:
            stack.append((owner, True))
            stack.extend((o.owner, False) for o in reversed(owner.operands))
    return list(order)
