"""Calls of operators, functions and constructors as ops of our IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import FunctionType, TensorType, TupleType
from xdsl.ir import Attribute, Block, SSAValue

from lamina.dialects.attributes import to_attribute
from lamina.dialects.infos import TypeMismatch, tensor_info
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import CallOp
from lamina.dialects.relay.functional.debug import DebugOp
from lamina.dialects.relay.functional.tuples import TupleGetItemOp
from lamina.dialects.relay.value_types import TypeVar
from lamina.errors import InputError
from lamina.frontends.tvm_text import adt, adt_to_ir, convolutions, ty
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.op_calls import missing_type, op_of_call, results_of
from lamina.frontends.tvm_text.operators import FIRST_OF, gives_tuple, op_class
from lamina.frontends.tvm_text.scopes import Scope
from lamina.frontends.tvm_text.unify import UNKNOWN, is_known

if TYPE_CHECKING:
    from lamina.frontends.tvm_text.to_ir import Body, Builder, Made


def call(builder: Builder, node: e.Call, block: Block, body: Body) -> Made:
    """A call of anything. Raises InputError where arguments do not fit."""
    if isinstance(node.op, e.Op):
        return op_call(builder, node, block, body)
    args = [builder.value_of(a, block, body) for a in node.args]
    if isinstance(node.op, adt.Constructor):
        return adt_to_ir.construct(builder, node, args, block)
    if isinstance(node.op, e.GlobalVar):
        from xdsl.dialects import func

        use = builder.instances.signature(builder, node.op, node.type_args)
        if use is not None:
            _fit(builder, args, use.type)
            op = use.call(args, builder.unknowns)
            builder.instances.add(op, use)
            return joined([builder.now(r) for r in builder.add(op, block, node).results])
        name, type_ = builder.global_function(node.op)
        _fit(builder, args, type_)
        return joined(builder.add(func.CallOp(name, args, type_.outputs.data), block, node).results)
    callee = builder.value_of(node.op, block, body, node.type_args)
    if isinstance(callee.type, TypeVar) and builder.unknowns.unify(
        callee.type, FunctionType.from_lists([a.type for a in args], [builder.unknowns.fresh()])
    ):
        builder.now(callee)
    if builder.draft:
        outputs = callee.type.outputs.data if isinstance(callee.type, FunctionType) else [UNKNOWN]
        return joined(builder.add(CallOp.create(operands=[callee, *args], result_types=outputs), block, node).results)
    if not isinstance(callee.type, FunctionType):
        raise InputError(f"a value of type {callee.type} is called")
    if len(callee.type.inputs) != len(args):
        raise InputError(f"a function of {len(callee.type.inputs)} parameters is called with {len(args)} arguments")
    _fit(builder, args, callee.type)
    builder.now(callee)
    return joined(builder.add(CallOp.make(callee, *args), block, node).results)


def _fit(builder: Builder, args: Sequence[SSAValue], type_: FunctionType) -> None:
    """Let arguments be what a function takes, where types are still open. What does not fit is found later."""
    if builder.unknowns.count and len(args) == len(type_.inputs):
        for n, (a, t) in enumerate(zip(args, type_.inputs, strict=True)):
            builder.unknowns.expect(t, a.type, f"argument {n}")


def op_call(builder: Builder, node: e.Call, block: Block, body: Body) -> Made:
    """A call of an operator. Raises InputError with the op's own words where operands do not fit."""
    name = cast(e.Op, node.op).name
    if name == "debug":
        seen = builder.one(cast("Made", builder.find(node.args[0], body)), block)
        return builder.add(DebugOp.make(seen, node.attrs.get("debug_func") or ""), block, node).result
    cls, operands, attrs = op_of_call(node)
    values: list[SSAValue] = []
    for place, a in enumerate(operands):
        made = builder.find(a, body)
        if made is None:
            if isinstance(a, e.Var):
                _type_weight(builder, name, a, place, values, attrs, body)
            made = builder.make(a, Scope.at(block), body, {}) if not isinstance(a, e.Var) else builder.find(a, body)
        is_tuple = isinstance(made, SSAValue) and isinstance(made.type, TupleType)
        if isinstance(made, list) or is_tuple:
            alone = _single(made)
            values += _only(builder, made, block) if alone else builder.results(cast("Made", made), body, block)
        else:
            values.append(cast(SSAValue, made))
    values = [builder.now(v) for v in values]
    if not all(is_known(v.type) for v in values):
        return _untyped(builder, node, cls, values, attrs, block)
    if name in convolutions.SPELLED_OTHERWISE and len(values) > 1:
        infos = [tensor_info(v.type) for v in values[:2] if _is_static(v.type)]
        if cls is not op_class(name):
            convolutions.complete(attrs, infos)
        elif len(infos) == 2:
            how = convolutions.kernels_apart(infos[0], infos[1], attrs)
            values[1] = _kernels_apart(builder, values[1], operands[1], how, block)
    try:
        op = builder.add(cls.make(*values, **attrs), block, node)
    except TypeMismatch as error:
        raise InputError(str(error).removeprefix("relay.")) from None
    if name in FIRST_OF:
        rest: list[Any] = values[3:5] if name == "nn.batch_norm" else [op.results[0]]
        return [op.results[0], *rest]
    return list(op.results) if gives_tuple(name, len(op.results)) else op.results[0]


def _untyped(
    builder: Builder,
    node: e.Call,
    cls: type[RelayOp],
    values: Sequence[SSAValue],
    attrs: Mapping[str, Any],
    block: Block,
) -> Made:
    """A call of an operator on values of which nothing says the types."""
    properties = dict(cls.defaults()) | {k: to_attribute(v) for k, v in attrs.items() if v is not None}
    name = cast(e.Op, node.op).name
    size = 1 if name in FIRST_OF else results_of(node)
    made = cls.create(operands=values, result_types=[UNKNOWN] * size, properties=properties)
    builder.add(made, block, node)
    if name in FIRST_OF:
        return [made.results[0], *(values[3:5] if name == "nn.batch_norm" else [made.results[0]])]
    return list(made.results) if gives_tuple(name, size) else made.results[0]


def _kernels_apart(
    builder: Builder, weight: SSAValue, given: e.Expr, how: tuple[tuple[int, ...], tuple[int, ...]] | None, block: Block
) -> SSAValue:
    """A weight with one kernel for each result; a constant stays one."""
    if how is None:
        return weight
    axes, shape = how
    if isinstance(given, e.Constant):
        return builder.add(builder.constant(e.Constant(given.values.transpose(axes).reshape(shape))), block).results[0]
    if list(axes) != sorted(axes):
        weight = builder.add(op_class("transpose").make(weight, axes=list(axes)), block).results[0]
    return builder.add(op_class("reshape").make(weight, newshape=list(shape)), block).results[0]


def _is_static(type_: Any) -> bool:
    return isinstance(type_, TensorType) and type_.has_static_shape()


def _only(builder: Builder, made: Any, block: Block) -> list[SSAValue]:
    if isinstance(made, list):
        return [builder.one(made[0], block)]  # pyright: ignore[reportUnknownArgumentType]
    return [builder.add(TupleGetItemOp.make(made, 0), block).results[0]]


def _type_weight(
    builder: Builder, name: str, p: e.Var, place: int, values: Sequence[SSAValue], attrs: Mapping[str, Any], body: Body
) -> None:
    """Give a variable without a type the one that the operator says it has to have."""
    where: Body | None = body
    while where is not None and p not in where.untyped:
        where = where.outer
    found = None
    data = values[0].type if values else None
    if isinstance(data, TensorType):
        found = missing_type(name, place, tensor_info(cast(Attribute, data)), attrs)
    if found is None:
        raise InputError(
            f"the type of %{p.name_hint} is not known, and {name} does not say it",
            hint=f'give it: relay.var("{p.name_hint}", shape=(...))',
        )
    type_ = ty.to_ir(ty.TensorType(*found))
    p.__dict__["_type"] = ty.from_ir(type_)
    if where is None:
        if not builder.open:
            raise InputError(f"the variable %{p.name_hint} is bound by no function or let")
        builder.parameter(body.outermost(), p, len(body.outermost().block.args), type_)
        return
    number = where.untyped.pop(p)
    before = sum(1 for other in where.untyped.values() if other < number)
    builder.parameter(where, p, number - before, type_)
    if where is not body:
        builder.find(p, body)


def joined(results: Sequence[SSAValue]) -> Made:
    """The value of an op: its result, or a tuple of several."""
    return results[0] if len(results) == 1 else list(results)


def _single(made: Any) -> bool:
    return len(made) == 1 if isinstance(made, list) else len(made.type.types) == 1  # pyright: ignore[reportUnknownArgumentType]


__all__ = ["call", "joined"]
