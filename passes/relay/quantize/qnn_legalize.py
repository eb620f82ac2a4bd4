"""relay-qnn-legalize: gives quantised products the dtypes that the target multiplies fast.

Before:
    %1 = relay.qnn.dense %x, %w, %a, %b, %s, %t : (tensor<4x8xi8>, tensor<5x8xui8>, ...) -> tensor<4x5xi32>
After (uint8-int8):
    %2 = (%x + 128) as uint8        %3 = (%w - 128) as int8        %4 = %a + 128        %5 = %b - 128
    %1 = relay.qnn.dense %2, %3, %4, %5, %s, %t : (tensor<4x8xui8>, tensor<5x8xi8>, ...) -> tensor<4x5xi32>

`form` uint8-int8 is what vpdpbusd of x86's VNNI takes, int8-int8 what sdot of ARM's dotprod does: numbers and zero
points move by 128 together. int16 subtracts the zero points and leaves a product of int16, for targets that multiply
pairs of them (vpmaddwd). auto chooses by the features of the module's target, and changes nothing without one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects import edit
from lamina.dialects import relay as r
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.grad.facet import number
from lamina.dialects.relay.layout import axis_of
from lamina.dialects.relay.params import ParamStore, store_of
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.rules.terms import inserting
from lamina.dialects.target import module_target
from lamina.errors import UsageError
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location
from lamina.passes.relay.fold.fold_constant import ANY_GROWTH, fold_ops
from lamina.passes.relay.simplify.decompose import drop_unused

PRODUCTS = ("relay.qnn.conv2d", "relay.qnn.dense")
FORMS = ("auto", "uint8-int8", "int8-int8", "int16")


@dataclass(frozen=True)
class QnnLegalize(ModulePass):
    """Gives quantised products the dtypes that the target multiplies fast."""

    name = "relay-qnn-legalize"
    form: str = "auto"
    """uint8-int8, int8-int8 or int16; auto asks the target."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.form not in FORMS:
            raise UsageError(f"form {self.form!r} is none of {', '.join(FORMS)}")
        form = fast_form(op) if self.form == "auto" else self.form
        if form is None:
            return
        for each in [o for o in op.walk() if o.name in PRODUCTS]:
            with edit.transaction():
                legalize(cast(RelayOp, each), form, store_of(ctx))


def fast_form(module: ModuleOp) -> str | None:
    """The form for the target of a module; None where it names none, or one without such an instruction."""
    target = module_target(module)
    if target is None:
        return None
    if target.has_feature("avx512vnni") or target.has_feature("avxvnni"):
        return "uint8-int8"
    return "int8-int8" if target.has_feature("dotprod") else None


def legalize(op: RelayOp, form: str, store: ParamStore) -> None:
    """Bring data and weight of a product to the dtypes of a form; what depends on constants alone is computed."""
    data, weight, data_zero, weight_zero, *scales = op.operands
    types = [qs.info_of(v).dtype for v in (data, weight)]
    channel = axis_of(attrs_of(op)["kernel_layout"], "O") if op.name == PRODUCTS[0] else 0
    if "int16" in types or (form != "int16" and types == form.split("-")):
        return
    builder, made = Builder(InsertPoint.before(op)), list[Operation]()
    builder.operation_insertion_handler = [made.append]
    with inserting(builder):
        if form == "int16":
            data, weight = qs.centred(data, data_zero, 0, "int16"), qs.centred(weight, weight_zero, channel, "int16")
            data_zero = weight_zero = number(0, data_zero)
        else:
            first, second = form.split("-")
            data, data_zero = moved(data, data_zero, first)
            weight, weight_zero = moved(weight, weight_zero, second)
        new: Any = type(op).make(data, weight, data_zero, weight_zero, *scales, **attrs_of(op))
        builder.insert(new)
    for each in made:
        inherit_location(each, op)
    operands = list(dict.fromkeys(op.operands))
    edit.replace(op, new)
    fold_ops(made, store, max_growth=ANY_GROWTH)
    drop_unused([v for v in operands if v.owner not in made])


def moved(value: SSAValue, zero_point: SSAValue, dtype: str) -> tuple[Any, Any]:
    """Integers of 8 bits as the other type of 8 bits, by 128, and their zero point."""
    if qs.info_of(value).dtype == dtype:
        return value, zero_point
    step = 128 if dtype == "uint8" else -128
    return r.cast(r.add(r.cast(value, dtype="int16"), step), dtype=dtype), r.add(zero_point, step)
