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

from dataclasses import dataclass
from typing import ClassVar

from lamina.dialects.infos import has_unknown_extents
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.params import store_of
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.layout.form_replacement import replace_by_form
from lamina.passes.relay.layout.legal_forms import LEGAL, OpForm, by_operands


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
