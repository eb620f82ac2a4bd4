"""Calls of a Relay op's meaning on te tensors.

Elementwise and broadcasting ops become expressions, for sizes of any kind. The others are asked for their te
computes once their operands' shapes are known, and these computes become stages of the program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from xdsl.ir import SSAValue
from xdsl.irdl import VarOperandDef
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.infos import TensorInfo
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.families import Broadcast, Elementwise, stage_name
from lamina.dialects.relay.meaning import full_attrs, result_infos, te_func
from lamina.dialects.te.extern import ExternOp
from lamina.dialects.te.ops import ComputeOp, ReturnOp
from lamina.errors import UnsupportedError, did_you_mean
from lamina.ir.location import caller
from lamina.te.expr import Call, Expr, ExprOp, IntImm, as_expr, const, dtype_of, fail, matched
from lamina.te.expr import cast as cast_expr
from lamina.te.function import TemplateExternOp, TemplateOp
from lamina.te.tensor import Tensor, broadcast_shape, compute, shape_of

_EACH_AXIS = ("strides", "dilation", "padding", "pool_size", "kernel_size", "output_size", "output_padding")
"""Attributes of one number for each spatial axis, for all of which a single one may stand."""


def call_named(name: str, *args: Any, **kwargs: Any) -> Any:
    """`call_op` of the Relay op of that name."""
    op = find_op(f"relay.{name}")
    assert op is not None
    return call_op(op, *args, **kwargs)


def call_relay(name: str, *args: Any, **attrs: Any) -> Any:
    """As `call_op`, of the op `relay.<name>`."""
    op = find_op(f"relay.{name}")
    assert op is not None
    return call_op(op, *args, **attrs)


def call_op(op: type[RelayOp], *args: Any, **kwargs: Any) -> Any:
    """A Relay op on te tensors: operands by position, then attributes by position or name.

    Raises LaminaError for operands and attributes that do not fit, with Relay's message.
    """
    name = op.name.removeprefix("relay.")
    definition = op.get_irdl_definition()
    names = [n for n, _ in definition.operands]
    variadic = any(isinstance(d, VarOperandDef) for _, d in definition.operands)
    kwargs = {n: v for n, v in kwargs.items() if n not in ("name", "tag")}
    if variadic:
        first: Any = kwargs.pop(names[0], None) if not args else args[0]
        several = isinstance(first, (list, tuple))
        given = list(cast("Sequence[Any]", first)) if several else [a for a in args if isinstance(a, Tensor)]
        rest = list(args[1:]) if several else list(args[len(given) :])
    else:
        given = list(args[: len(names)])
        rest = list(args[len(names) :])
        for n in names[len(given) :]:
            if n not in kwargs:
                raise fail(f"topi.{name} takes {len(names)} tensors ({', '.join(names)}), got {len(given)}")
            given.append(kwargs.pop(n))
    attrs = _attributes(op, name, rest, kwargs)
    if not any(isinstance(g, Tensor) for g in given) and given:
        raise fail(f"topi.{name} takes tensors, got {', '.join(repr(g) for g in given)}")
    try:
        if issubclass(op, (Elementwise, Broadcast)):
            return _elementwise(op, name, given, attrs)
        return _computes(op, name, [_as_tensor(g, given) for g in given], attrs)
    except VerifyException as error:
        raise fail(f"topi.{name}: {str(error).removeprefix(f'{op.name}: ')}") from None
    except (TypeError, ValueError) as error:  # an attribute of a type that Relay cannot convert
        given_attrs = ", ".join(f"{n}={v!r}" for n, v in attrs.items())
        raise fail(f"topi.{name} with {given_attrs or 'these tensors'}: {error}") from error


# -- attributes ----------------------------------------------------------------------------------------------


def _attributes(op: type[RelayOp], name: str, rest: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    known = list(op.known_attributes())
    if "axis" in known and "keepdims" in known:  # of reductions TVM has the axis first
        known = list(dict.fromkeys(["axis", "keepdims", *known]))
    if len(rest) > len(known):
        raise fail(f"topi.{name} takes the attributes {', '.join(known) or 'none'}, got {len(rest)} values")
    attrs = dict(zip(known, rest, strict=False))
    for n, value in kwargs.items():
        if n not in known:
            hint = did_you_mean(n, known) or f"it has {', '.join(known) or 'none'}"
            raise fail(f"topi.{name} has no attribute {n!r}", hint=hint)
        attrs[n] = value
    return {n: _value(op, n, v) for n, v in attrs.items() if v is not None}


def _spatial_axes(op: type[RelayOp]) -> int:
    """The number of spatial axes, by the op's name: two where it does not say."""
    found = re.search(r"([123])d", op.name)
    return int(found.group(1)) if found else 2


_AROUND = ("BaseAttr(", "ParamAttrConstraint(", "AnyOf(attr_constrs=(ParamAttrConstraint(")
_LISTS = tuple(f"{around}DenseArrayBase" for around in _AROUND)
"""Beginnings of what a property says that takes a list."""


def _value(op: type[RelayOp], name: str, value: Any) -> Any:
    """An attribute as Relay takes it: plain numbers, lists where the op wants lists, floats where it wants floats."""
    wanted = repr(op.known_attributes()[name].constr)
    if isinstance(value, (list, tuple)):
        return tuple(_number(v) for v in cast("Sequence[Any]", value))
    value = _number(value)
    if wanted.startswith(_LISTS):
        return (value,) * _spatial_axes(op) if name in _EACH_AXIS else (value,)
    if "FloatAttr" in wanted and isinstance(value, (int, float)):
        return float(value)
    if name.endswith("dtype") and not isinstance(value, str):
        return dtype_of(value)
    return value


def _number(value: Any) -> Any:
    if isinstance(value, IntImm):
        return int(value)
    if isinstance(value, Expr):
        number = getattr(value, "value", None)
        if number is None:
            raise fail(f"an attribute is a number, not {value}")
        return number
    return value.item() if hasattr(value, "item") else value


# -- calls ---------------------------------------------------------------------------------------------------


def _elementwise(op: type[Elementwise | Broadcast], name: str, given: Sequence[Any], attrs: dict[str, Any]) -> Tensor:
    tensors = [t for t in given if isinstance(t, Tensor)]
    shape = broadcast_shape([t.shape for t in tensors])
    dtypes = [t.dtype for t in tensors]
    common = dtypes[0]
    for other in dtypes[1:]:
        common = matched(const(0, common), const(0, other))[0].dtype
    infos = [TensorInfo((), common) for _ in given]
    result = result_infos(op, infos, attrs)[0].dtype
    element = partial(op.te_element, **full_attrs(op, attrs))

    def place(t: Any, i: Sequence[Any]) -> Expr:
        if not isinstance(t, Tensor):
            return cast_expr(t, common)
        aligned = i[len(i) - t.ndim :]
        read = t(*(0 if isinstance(e, IntImm) and int(e) == 1 else v for v, e in zip(aligned, t.shape, strict=True)))
        return cast_expr(read, common)

    def body(*i: Any) -> Expr:
        return Call(name, [place(t, i) for t in given], result, element)

    return compute(shape, body, f"T_{stage_name(op)}", "elemwise" if issubclass(op, Elementwise) else "broadcast")


def _as_tensor(value: Any, others: Sequence[Any]) -> Tensor:
    """An operand: a tensor, or a number as one of rank 0."""
    if isinstance(value, Tensor):
        return value
    dtype = next((t.dtype for t in others if isinstance(t, Tensor)), None)
    if isinstance(value, (int, float, ExprOp)):
        x = as_expr(value)
        return compute((), lambda: cast_expr(x, dtype or x.dtype), "scalar")
    raise fail(f"{value!r} is no tensor")


def _computes(op: type[RelayOp], name: str, tensors: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
    for t in tensors:
        if not all(isinstance(e, IntImm) for e in t.shape):
            raise UnsupportedError(
                f"topi.{name}: {t.name!r} has the shape {list(t.shape)}; its extents must be numbers",
                where=str(caller() or ""),
            )
    infos = [TensorInfo(tuple(int(e) for e in t.shape), t.dtype) for t in tensors]
    result_infos(op, infos, attrs)
    func = te_func(op, infos, attrs)
    values: dict[SSAValue, Tensor] = dict(zip(func.body.block.args, tensors, strict=True))
    for made in func.body.block.ops:
        if isinstance(made, ReturnOp):
            results = [values[v] for v in made.values]
            return results if len(results) > 1 else results[0]
        if isinstance(made, ExternOp):
            extern = TemplateExternOp(made.stage.data, made, {v: values[v] for v in made.inputs}, name)
            values.update(zip(made.tensors, extern.outputs, strict=True))
            continue
        if not isinstance(made, ComputeOp):
            raise UnsupportedError(f"topi.{name} is made of {made.name}, which has no stage", where=str(caller() or ""))
        inputs = {v: values[v] for v in _outside(made) if v in values}
        stage = TemplateOp(made.stage.data, made, inputs, name)
        dtypes = [str(info) for info in map(_dtype, made.tensors)]
        outputs = stage.make_outputs(shape_of(list(made.spatial)), dtypes)
        values.update(zip(made.tensors, outputs, strict=True))
    raise AssertionError("a te.func without te.return")


def _outside(made: ComputeOp) -> list[SSAValue]:
    """The tensors that a compute reads."""
    return list(dict.fromkeys(v for op in made.body.walk() for v in op.operands))


def _dtype(value: SSAValue) -> str:
    from lamina.dialects.te.build import Tensor as Built

    return Built(value).dtype
