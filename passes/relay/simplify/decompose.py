"""An op replaced by what its `decompose` facet makes of it."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp as Scratch
from xdsl.ir import Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.params import ParamStore
from lamina.passes.base import inherit_location
from lamina.passes.relay.fold.fold_constant import fold_constants


def expand(op: RelayOp, store: ParamStore) -> None:
    """Put the op's decomposition in its place, what depends on constants alone computed."""
    made: Any = type(op).decompose(*op.operands, **attrs_of(op))  # type: ignore[attr-defined]
    values: list[SSAValue] = list(made) if isinstance(made, tuple) else [made]  # pyright: ignore[reportUnknownArgumentType]
    # Folding sees the new ops alone, and the program's constants through their operands.
    scratch = Scratch(new_ops(values, set(op.operands)))
    with edit.transaction(op):
        for value, result in zip(values, op.results, strict=True):
            edit.replace_uses(result, value)
        fold_constants(scratch, store)
        for new in list(scratch.body.block.ops):
            inherit_location(new, op)
            edit.move_before(op, new)
        operands = list(dict.fromkeys(op.operands))
        edit.erase(op)
        drop_unused(operands)


def new_ops(values: list[SSAValue], known: set[SSAValue]) -> list[Operation]:
    """The detached ops that the values need, in order."""
    order: dict[Operation, None] = {}
    stack: list[tuple[SSAValue, bool]] = [(v, False) for v in reversed(values)]
    while stack:
        value, ready = stack.pop()
        owner = value.owner
        if value in known or not isinstance(owner, Operation) or owner in order or owner.parent is not None:
            continue
        if ready:
            order[owner] = None
        else:
            stack.append((value, True))
            stack.extend((o, False) for o in reversed(owner.operands))
    return list(order)


def drop_unused(values: list[SSAValue]) -> None:
    """Erase the constants that nobody uses any more."""
    from lamina.dialects.relay.core import ConstantOp

    for value in values:
        owner = value.owner
        if isinstance(owner, ConstantOp) and owner.parent is not None and value.first_use is None:
            edit.erase(owner)
