"""Makes llvm ops and fills blocks with them, which the stair does for every instruction of a kernel.

`Operation.create` and `Block.add_op` are written for ops from anywhere, of any shape: lists are copied several times,
defaults looked up in the definition, ancestors searched. An op of the stair is new, has no regions, and stands nowhere
yet. What comes out is the same, field by field (`test/unit/test_stair_creation.py`), in a third of the time.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, SSAValues
from xdsl.irdl import IRDLOperation

from lamina.dialects.fast_ir import defaults_of, enter_uses
from lamina.passes.tir_to_llvm.scalars import Properties

_NO_RESULTS: SSAValues[OpResult] = SSAValues()


@cache
def _defaults(cls: type[Operation]) -> tuple[Properties, Properties]:
    """The properties and attributes that an op gets where they are not given."""
    assert issubclass(cls, IRDLOperation) and cls.__post_init__ is IRDLOperation.__post_init__, cls
    return defaults_of(cls)


def _create(cls: type[Operation], operands: Sequence[SSAValue], properties: Properties) -> Operation:
    """A new op without its results."""
    op = cls.__new__(cls)
    op._operands = SSAValues(operands)
    op._operand_uses = enter_uses(op, operands)
    more_properties, attributes = _defaults(cls)
    op.properties = given = dict(properties)
    if more_properties:
        for name, default in more_properties.items():
            given.setdefault(name, default)
    op.attributes = dict(attributes) if attributes else {}
    op.location = UNKNOWN_LOC
    op._successors = ()
    op._successor_uses = ()
    op.regions = ()
    return op


def with_result(
    cls: type[Operation], operands: Sequence[SSAValue], type_: Attribute, properties: Properties
) -> OpResult:
    """The result of a new op: `cls.create(operands=..., result_types=[type_], properties=...).results[0]`."""
    op = _create(cls, operands, properties)
    result = OpResult(type_, op, 0)
    op.results = SSAValues((result,))
    return result


def without_result(cls: type[Operation], operands: Sequence[SSAValue], properties: Properties) -> Operation:
    """A new op that gives nothing: `cls.create(operands=..., properties=...)`."""
    op = _create(cls, operands, properties)
    op.results = _NO_RESULTS
    return op


def fill(block: Block, ops: Sequence[Operation]) -> None:
    """`block.add_ops(ops)` for an empty block and ops that stand nowhere."""
    assert block._first_op is None
    previous: Operation | None = None
    for op in ops:
        assert op.parent is None
        op.parent = block
        op._prev_op = previous
        if previous is None:
            block._first_op = op
        else:
            previous._next_op = op
        previous = op
    block._last_op = previous
