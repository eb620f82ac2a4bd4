"""Rules of StableHLO's sorts: `sort` of one tensor, `argsort` of the key and `gather` of the others.

Before: %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({ compare LT }) : (tensor<8xf32>) -> tensor<8xf32>
After:  %0 = relay.sort %x {axis = 0} : tensor<8xf32>
"""

from __future__ import annotations

from math import prod
from typing import Any

from xdsl.ir import Block, SSAValue

from lamina.dialects import relay as r
from lamina.dialects.stablehlo.control import returned
from lamina.dialects.stablehlo.reduce import HloSortOp
from lamina.passes.rules.rewriting import Rules
from lamina.passes.stablehlo_to_relay import emit
from lamina.passes.stablehlo_to_relay.bodies import compared
from lamina.passes.stablehlo_to_relay.emit import dtype_of, unsupported

sorting = Rules("stablehlo-to-relay")


@sorting.lower(HloSortOp)
def sort(op: HloSortOp) -> list[SSAValue]:
    """Before: %0:2 = "stablehlo.sort"(%k, %v) ({ compare LT of the keys }) : ...
    After:  %1 = relay.argsort %k, then relay.gather of each tensor at these places
    """
    inputs = list(op.operands)
    if prod(op.info().shape) == 0:
        return inputs
    keys = keys_of(returned(op.comparator)[0], op.comparator.block)
    if keys is None:
        what = "a comparator that is none of LT and GT on an operand, or on several one after the other"
        raise unsupported(op, what, "jnp.sort, jnp.argsort and lax.sort(..., num_keys=n) make such ones")
    axis = op.axis
    if len(inputs) == 1:
        return [_sorted(inputs[0], axis, keys[0][1][0] == "L")]
    order: SSAValue | None = None
    for place, relation in reversed(keys):
        key = inputs[place] if order is None else r.gather(inputs[place], order, axis=axis)
        if dtype_of(key) == "bool":
            key = emit.cast(key, "int8")
        by = r.argsort(key, axis=axis, is_ascend=relation[0] == "L", dtype="int64")
        order = by if order is None else r.gather(order, by, axis=axis)
    assert order is not None
    return [r.gather(x, order, axis=axis) for x in inputs]


def _sorted(x: SSAValue, axis: int, up: bool) -> SSAValue:
    if dtype_of(x) == "bool":
        numbers = r.sort(emit.cast(x, "int8"), axis=axis, is_ascend=up)
        return r.not_equal(numbers, emit.number(0, numbers))
    return r.sort(x, axis=axis, is_ascend=up)


def keys_of(value: SSAValue, block: Block) -> list[tuple[int, str]] | None:
    """The operands that a comparator orders by, the first one first, with their relations; None where it is another.

    Of several keys it is `a < b or a == b and (the next keys)`, written with `or` and `and` or with `select`.
    """
    found = compared(value, block)
    if found is not None and found[1] in ("LT", "GT", "LE", "GE"):
        return [found]
    op: Any = value.owner
    if isinstance(op, Block):
        return None
    if op.name == "stablehlo.or":
        for first, second in (op.operands, reversed(op.operands)):
            head = compared(first, block)
            tail: Any = second.owner
            if head is None or head[1] not in ("LT", "GT") or isinstance(tail, Block) or tail.name != "stablehlo.and":
                continue
            for equal, rest in (tail.operands, reversed(tail.operands)):
                if compared(equal, block) == (head[0], "EQ"):
                    following = keys_of(rest, block)
                    return None if following is None else [head, *following]
    if op.name == "stablehlo.select":
        equal, yes, no = op.operands
        head = compared(no, block)
        if head is not None and compared(equal, block) == (head[0], "EQ"):
            following = keys_of(yes, block)
            return None if following is None else [head, *following]
    return None
