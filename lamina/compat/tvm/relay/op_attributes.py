"""`register_op_attr` and its kin: what programs say of operators, for the passes that ask.

    @tvm.ir.register_op_attr("nn.conv2d", "target.mine")           AnnotateTarget("mine") takes these calls
    def supported(expr): return expr.args[0].checked_type.dtype == "float32"

    @relay.op.register_legalize("nn.dense")                        Legalize puts what it returns in the call's place
    def padded(attrs, inputs, types): ...

    @relay.op.register_alter_op_layout("nn.conv2d")                AlterOpLayout does; a new layout is transformed to
    def blocked(attrs, inputs, tinfos, out_type): ...

Other attributes that TVM's passes look for are refused; those of the program's own are kept for `Op.get_attr`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.ir import Operation, SSAValue

from lamina.compat.tvm.relay.from_ir import Reader
from lamina.compat.tvm.relay.rewriting import built
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.rules.terms import insert
from lamina.errors import UnsupportedError
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text import ty
from lamina.frontends.tvm_text.operators import op_class
from lamina.passes.relay.layout.legal_forms import ALTERED, LEGAL, Forms
from lamina.passes.relay.partition.pattern_tables import PatternTable

OURS = {
    "FTVMCompute": "`te_compute` of an op class in dialects/relay (CONTRIBUTING.md: add an op)",
    "FTVMStrategy": "a schedule in backends/<target>",
    "FTVMSchedule": "a schedule in backends/<target>",
    "FInferCorrectLayout": "`infer_layout` of an op class in dialects/relay",
    "FTVMConvertOpLayout": "relay.transform.ConvertLayout with the layouts that are wanted",
    "FTVMQnnLegalize": "`qnn_legalize` of an op class in dialects/relay",
    "FTVMQnnCanonicalize": "`decompose` of an op class in dialects/relay",
    "FPrimalGradient": "`relay_grad` of an op class in dialects/relay",
    "FShapeFunc": "`infer_type` of an op class in dialects/relay",
    "TOpPattern": "FUSION_KIND of an op class in dialects/relay",
    "FTVMMixedPrecisionConversionType": "`precision` of an op class in dialects/relay",
    "FTVMFakeQuantizationToInteger": "a rule in passes/relay/quantize/affine_rules.py",
}
"""Attributes that TVM's passes look for and ours have from the operators' declarations, and where."""

_values: dict[tuple[str, str], tuple[int, Any]] = {}


def register_op_attr(op_name: str, attr_key: str, value: Any = None, level: int = 10) -> Any:
    """Give an operator an attribute; without a value a decorator. One of a lower level does not replace a higher one.

    Raises UsageError where there is no such operator, UnsupportedError for an attribute that has another place here.
    """
    op_class(op_name)
    if attr_key in OURS:
        raise UnsupportedError(f"{attr_key} of {op_name} is not registered here", hint=f"use {OURS[attr_key]}")

    def register(given: Any) -> Any:
        before = _values.get((op_name, attr_key))
        if before is None or before[0] <= level:
            reset_op_attr(op_name, attr_key)
            _values[op_name, attr_key] = (level, given)
            _tell(op_name, attr_key, given)
        return given

    return register if value is None else register(value)


def reset_op_attr(op_name: str, attr_key: str) -> None:
    """Take an attribute back; one that is not there is no mistake."""
    found = _values.pop((op_name, attr_key), None)
    if found is None:
        return
    if attr_key.startswith("target."):
        PatternTable.of(attr_key.removeprefix("target.")).ops.pop(f"relay.{op_name}", None)
    elif attr_key in _FORMS:
        _FORMS[attr_key].remove(op_name, found[1])


def op_attr(op_name: str, attr_key: str) -> Any:
    """An attribute that was registered, None for one that was not."""
    found = _values.get((op_name, attr_key))
    return found[1] if found is not None else None


def register_legalize(op_name: str, legal_op: Any = None, level: int = 10) -> Any:
    """`legal_op(attrs, inputs, types)` gives what Legalize puts in the place of a call, or None."""
    return register_op_attr(op_name, "FTVMLegalize", legal_op, level)


def register_alter_op_layout(op_name: str, alter_layout: Any = None, level: int = 10) -> Any:
    """`alter_layout(attrs, inputs, tinfos, out_type)` gives what AlterOpLayout puts in the place of a call, or None."""
    return register_op_attr(op_name, "FTVMAlterOpLayout", alter_layout, level)


_FORMS: dict[str, Forms] = {"FTVMLegalize": LEGAL, "FTVMAlterOpLayout": ALTERED}


def _tell(name: str, key: str, given: Any) -> None:
    """Let the passes that ask for an attribute know it."""
    if key.startswith("target."):
        table = PatternTable.of(key.removeprefix("target."))
        table.takes(name, check=_check(given) if callable(given) else lambda _: bool(given))
    elif key == "FTVMLegalize":
        LEGAL.add(name, given, _form(given, lambda node, types: given(node.attrs, node.args, types)))
    elif key == "FTVMAlterOpLayout":
        ALTERED.add(name, given, _form(given, lambda node, types: _altered(node, types, given)))


def _check(predicate: Callable[[Any], Any]) -> Callable[[Operation], bool]:
    return lambda op: bool(predicate(Reader(None).node(op.results[0])))


def _form(written: Callable[..., Any], call: Callable[[e.Call, Sequence[ty.Type]], Any]) -> Any:
    """A function of TVM's on a call and the types of its operands and its result as a form of an op."""

    def form(op: RelayOp, store: ParamStore) -> SSAValue | None:
        reader = Reader(store)
        node = cast(e.Call, reader.node(op.results[0]))
        found = call(node, [*(a.checked_type for a in node.args), node.checked_type])
        if found is None or e.as_expr(found) is node:
            return None
        value, made = built(e.as_expr(found), reader, store)
        for each in made:
            insert(each)
        return value

    form.__name__ = getattr(written, "__name__", "form")
    return form


# -- layouts ------------------------------------------------------------------------------------------

_LAYOUTS = ("data_layout", "kernel_layout")


def _altered(node: e.Call, types: Sequence[ty.Type], alter: Callable[..., Any]) -> Any:
    """The call as `alter` rewrites it, None for no change; changed layouts bring transforms of operands and result."""
    found = alter(node.attrs, list(node.args), list(types[:-1]), types[-1])
    if found is None:
        return None
    found = e.as_expr(found)
    if not isinstance(found, e.Call) or not isinstance(found.op, e.Op) or not set(_LAYOUTS) <= set(found.attrs):
        return found
    args = [
        _transformed(a, node.attrs.get(key), found.attrs[key]) if a in node.args else a
        for a, key in zip(found.args, _LAYOUTS, strict=False)
    ]
    changed = e.Call(found.op, [*args, *found.args[len(args) :]], found.attrs, found.type_args, found.span)
    before, after = (c.attrs.get("out_layout") or c.attrs.get("data_layout") for c in (node, found))
    return _transformed(changed, after, before)


def _transformed(value: e.Expr, source: str | None, target: str | None) -> e.Expr:
    if not source or not target or source == target:
        return value
    return e.make_call("layout_transform", [value], {"src_layout": source, "dst_layout": target})


__all__ = [
    "op_attr", "register_alter_op_layout", "register_legalize", "register_op_attr", "reset_op_attr",
]  # fmt: skip
