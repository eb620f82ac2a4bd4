"""An op replaced by the first form (`legal_forms.py`) that it has; what depends on constants alone is computed."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects import edit
from lamina.dialects.infos import TypeMismatch
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.rules.terms import inserting
from lamina.errors import InputError
from lamina.passes.base import inherit_location
from lamina.passes.relay.fold.fold_constant import fold_ops
from lamina.passes.relay.layout.legal_forms import Form, OpForm, by_operands
from lamina.passes.relay.simplify.decompose import drop_unused


def legalize(op: RelayOp, forms: Sequence[Form], store: ParamStore) -> bool:
    """Put the first form of an op in its place: whether there is one. Raises InputError for one of another type."""
    return replace_by_form(op, [by_operands(form) for form in forms], store)


def replace_by_form(op: RelayOp, forms: Sequence[OpForm], store: ParamStore) -> bool:
    """As `legalize`, with forms that look at the op itself."""
    with edit.transaction():
        return _replace_by_form(op, forms, store)


def _replace_by_form(op: RelayOp, forms: Sequence[OpForm], store: ParamStore) -> bool:
    builder, made = Builder(InsertPoint.before(op)), list[Operation]()
    builder.operation_insertion_handler = [made.append]
    new: SSAValue | None = None
    with inserting(builder):
        for form in forms:
            try:
                new = form(op, store)
            except TypeMismatch as e:
                raise InputError(f"the form that {form.__name__} gives: {e}", op=op) from None
            if new is not None:
                break
    if new is None or new is op.results[0]:
        edit.undo(made)
        return False
    if new.type != op.results[0].type:
        raise InputError(f"the form that {form.__name__} gives has the type {new.type}", op=op)  # pyright: ignore[reportPossiblyUnboundVariable]
    for each in made:
        inherit_location(each, op)
    operands = list(dict.fromkeys(op.operands))
    edit.replace(op, [new])
    fold_ops(made, store)
    drop_unused([v for v in operands if v.owner not in made])
    return True
