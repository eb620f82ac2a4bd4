"""relay-legalize: ops in the form that can be computed well.

Before (%w a constant):
    %y = relay.nn.matmul %x, %w : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
After:
    %0 = relay.constant dense<...> : tensor<5x8xf32>
    %y = relay.nn.dense %x, %0 {units = 5} : (tensor<4x8xf32>, tensor<5x8xf32>) -> tensor<4x5xf32>

Another form of an op is its `legalize` facet: given its operands and attributes the value to stand in its place, or
None. A function registered for the op (`legal_forms.py`) comes before it, the latest first. Each op is looked at once,
so a form may contain the op itself. What depends on constants alone is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects import edit
from lamina.dialects.infos import TypeMismatch, has_unknown_extents
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.params import ParamStore, store_of
from lamina.dialects.rules.terms import inserting
from lamina.errors import InputError
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location
from lamina.passes.relay.fold.fold_constant import fold_ops
from lamina.passes.relay.layout.legal_forms import LEGAL, Form, OpForm, by_operands
from lamina.passes.relay.simplify.decompose import drop_unused


@dataclass(frozen=True)
class Legalize(ModulePass):
    """Ops in the form that can be computed well."""

    name = "relay-legalize"
    opt_level: ClassVar[int] = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [o for o in op.walk() if isinstance(o, RelayOp) and len(o.results) == 1]:
            forms: list[OpForm] = [*LEGAL.of(each.name)]
            if hasattr(type(each), "legalize"):
                forms.append(by_operands(type(each).legalize))  # type: ignore[attr-defined]
            if forms and not has_unknown_extents([*each.operand_types, *each.result_types]):
                replace_by_form(each, forms, store_of(ctx))


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
