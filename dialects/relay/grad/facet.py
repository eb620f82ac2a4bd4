"""The facet `relay_grad`: what it is called with, and the words that gradients are written in.

    relay_grad(grads, operands, results, **attrs)

gets the gradient of each result (None where nothing depends on it; the one of a single result is always there), the
operands and the results, and gives the gradient of each operand, None where it has none or it is zero everywhere. It
builds relay ops by terms (`r.multiply(...)`), at the place of `lamina.dialects.rules.terms.inserting`. What it gives
for an operand that is no float is not looked at. An instance whose gradient is not known raises `NoGradient`.

An op that states `decompose` has its gradient through it; another may state the same by `through`: the gradient of
a program of other ops. An op that has none says in NO_GRADIENT why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from lamina.dialects.dtypes import dtype_name, is_float, numpy_dtype
from lamina.dialects.fast_ir import ops_behind
from lamina.dialects.infos import TypeMismatch, has_unknown_extents
from lamina.dialects.lazy import LazyModule, np
from lamina.dialects.relay.base import RelayOp, attrs_of, normalize_axis, scalar_constant
from lamina.dialects.relay.families import reduced_axes, reduced_shape

if TYPE_CHECKING:
    from lamina.dialects.relay.families import Array

Values: TypeAlias = Sequence[Any]
Gradients: TypeAlias = Sequence[Any]

r: Any = LazyModule("lamina.dialects.relay")


class NoGradient(TypeMismatch):
    """An op, or this instance of it, has no gradient; the text is the reason."""


def op_gradients(op: RelayOp, grads: Values) -> list[Any]:
    """The gradients of an op's operands from those of its results. Raises NoGradient with the op's name."""
    op_type: Any = type(op)
    attrs = attrs_of(op)
    try:
        if hasattr(op_type, "relay_grad"):
            found = op_type.relay_grad(grads, op.operands, op.results, **attrs)
        elif hasattr(op_type, "decompose"):
            found = through(partial(op_type.decompose, **attrs), grads, op.operands)
        else:
            raise NoGradient(op_type.NO_GRADIENT or "it declares none")
    except NoGradient as e:
        if str(e).startswith("relay."):
            raise
        raise NoGradient(f"{op.name} has no gradient: {e}") from None
    return [g if is_real(o.type) else None for g, o in zip(found, op.operands, strict=True)]


def vjp(gradient: Callable[[Any, Any, Any], Any]) -> Any:
    """The facet of an op of one operand and one result, whose operand has the gradient `gradient(dy, x, y)`."""

    def relay_grad(grads: Values, operands: Values, results: Values, **_: Any) -> Gradients:
        return [gradient(grads[0], operands[0], results[0])]

    return staticmethod(relay_grad)


def is_real(type_: Attribute) -> bool:
    """Whether values of a type have gradients: tensors of floats."""
    return isinstance(type_, TensorType) and is_float(dtype_name(cast(Attribute, type_.element_type)))  # pyright: ignore[reportUnknownMemberType]


def through(function: Callable[..., Any], grads: Values, operands: Values) -> list[Any]:
    """The gradients of a program of relay ops: `function` makes its results from the operands."""
    from lamina.dialects.rules.terms import detached, insert

    with detached():
        made = function(*operands)
    listed: list[Any] = list(made) if isinstance(made, (list, tuple)) else [made]  # pyright: ignore[reportUnknownArgumentType]
    values: list[SSAValue] = [v if isinstance(v, SSAValue) else v.results[0] for v in listed]
    # Those that stand in a block are not the function's.
    order = ops_behind(values, lambda op: op.parent is None)
    for op in order:
        insert(op)
    adjoints: dict[SSAValue, Any] = {}

    def add(value: SSAValue, grad: Any) -> None:
        if grad is not None:
            adjoints[value] = r.add(adjoints[value], grad) if value in adjoints else grad

    for value, grad in zip(values, grads, strict=True):
        add(value, grad)
    # Only what the operands reach has a gradient that anyone asks for.
    active = set(operands)
    for op in order:
        if not active.isdisjoint(op.operands):
            active.update(op.results)
    for op in reversed(order):
        given = [adjoints.get(v) if is_real(v.type) else None for v in op.results]
        if isinstance(op, RelayOp) and not all(g is None for g in given) and not active.isdisjoint(op.results):
            for operand, grad in zip(op.operands, op_gradients(op, given), strict=True):
                add(operand, grad)
    # A value that stands for two operands has one gradient, for both.
    return [adjoints.pop(v, None) for v in operands]


# -- types -----------------------------------------------------------------------------------------


def shape_of(value: Any) -> tuple[int, ...]:
    """The extents. Raises NoGradient where one is unknown."""
    if has_unknown_extents([value.type]):
        raise NoGradient(f"it needs the extents of {value.type}")
    return value.type.get_shape()


def rank_of(value: Any) -> int:
    """The number of axes."""
    return len(value.type.get_shape())


def dtype_of(value: Any) -> str:
    """The element type."""
    return dtype_name(value.type.element_type)


def zeros(like: Any) -> Any:
    """Zeros of the type of a value."""
    return r.zeros_like(like) if has_unknown_extents([like.type]) else zeros_of(like.type)


def zeros_of(type_: Any) -> Any:
    """Zeros of a tensor type whose extents are known."""
    dtype = dtype_name(type_.element_type)
    return r.full(constant(np.zeros((), numpy_dtype(dtype))), shape=type_.get_shape())


def number(value: float, like: Any) -> Any:
    """A scalar of the element type of another value."""
    from lamina.dialects.rules.terms import insert

    op = scalar_constant(value, like)
    insert(op)
    return op.results[0]


def constant(array: Array) -> Any:
    """An array that is known here, as a value."""
    from lamina.dialects.relay.core import ConstantOp
    from lamina.dialects.relay.params import array_dense
    from lamina.dialects.rules.terms import insert

    op = ConstantOp.make(array_dense(array))
    insert(op)
    return op.result


# -- words -----------------------------------------------------------------------------------------


def collapsed(grad: Any, like: Any) -> Any:
    """The sum of a gradient over what an operand was broadcast to: of the operand's shape."""
    if has_unknown_extents([grad.type, like.type]):
        return r.collapse_sum_like(grad, like)
    return grad if grad.type == like.type else r.collapse_sum_to(grad, shape=shape_of(like))


def in_dtype(grad: Any, like: Any) -> Any:
    """A gradient in the element type of another value."""
    dtype = dtype_of(like)
    return grad if dtype_of(grad) == dtype else r.cast(grad, dtype=dtype)


def reshaped(grad: Any, like: Any) -> Any:
    """The elements in the shape of another value."""
    if has_unknown_extents([grad.type, like.type]):
        return r.reshape_like(grad, like)
    return grad if grad.type == like.type else to_shape(grad, shape_of(like))


def to_shape(value: Any, shape: Sequence[int]) -> Any:
    """The elements in a shape, in which 0 means 0."""
    if value.type.get_shape() == tuple(shape):
        return value
    return r.reshape(value, newshape=tuple(shape), allowzero=True)


def unreduced(value: Any, data: Any, axis: Sequence[int], keepdims: bool, exclude: bool) -> Any:
    """Broadcast the result of a reduction of `data` to every place that it came from."""
    axes = reduced_axes(tuple(axis), exclude, rank_of(data))
    if not has_unknown_extents([value.type, data.type]):
        kept = value if keepdims else to_shape(value, reduced_shape(shape_of(data), axes, True))
        return r.broadcast_to(kept, shape=shape_of(data))
    for a in () if keepdims else axes:
        value = r.expand_dims(value, axis=a)
    return r.broadcast_to_like(value, data)


def reduced_count(data: Any, axis: Sequence[int], exclude: bool) -> int:
    """The number of elements that a reduction takes together."""
    shape = shape_of(data)
    return prod(shape[a] for a in reduced_axes(tuple(axis), exclude, len(shape)))


def along_axis(vector: Any, axis: int, like: Any) -> Any:
    """A vector so that broadcasting lays it along one axis of another value."""
    rank = rank_of(like)
    return r.expand_dims(vector, axis=1, num_newaxis=rank - 1 - normalize_axis(axis, rank))


def summed_to_axis(grad: Any, axis: int) -> Any:
    """The sum over all axes but one."""
    if rank_of(grad) == 1:
        return grad
    return r.sum(grad, axis=(normalize_axis(axis, rank_of(grad)),), exclude=True)


def selected(mask: Any, grad: Any) -> Any:
    """The gradient where a condition holds, zero elsewhere."""
    return r.where(mask, grad, number(0.0, grad))


def places_of(value: Any, first: int = 0) -> Any:
    """The elements of a tensor numbered in order, in its shape: what an op moves them to, it moves the elements to."""
    count = prod(shape_of(value))
    return to_shape(r.arange(start=float(first), stop=float(first + count), step=1.0, dtype="int64"), shape_of(value))


def scattered(grad: Any, places: Any, like: Any, *, absent: bool = False) -> Any:
    """Each element of a gradient added to the element of `like` with the number in `places`.

    With `absent` the numbers count from 1, and 0 means none.
    """
    count = prod(shape_of(like))
    total = r.full(number(0.0, grad), shape=(count + absent,))
    flat = (to_shape(v, (prod(shape_of(v)),)) for v in (places, grad))
    total = r.scatter_elements(total, *flat, axis=0, reduction="add")
    if absent:
        total = r.strided_slice(total, begin=(1,), end=(count + 1,))
    return to_shape(total, shape_of(like))


def picked(op_type: type[RelayOp], grads: Values, operands: Values, attrs: dict[str, Any]) -> list[Any]:
    """The gradient of an op that only picks elements of its first operand: where each came from, the op itself says."""
    term = _term(op_type)
    data, *others = operands
    return [scattered(grads[0], term(places_of(data), *others, **attrs), data), *(None for _ in others)]


def _term(op_type: type[RelayOp]) -> Any:
    from lamina.dialects.rules.terms import term

    return term(op_type)


def sliced_back(grad: Any, shape: Sequence[int], bounds: Sequence[tuple[int, int, int]]) -> Any:
    """Zeros of a shape with a slice of them, (first, stride, count) for each axis, replaced by a gradient."""
    if 0 in shape_of(grad):
        return r.full(number(0.0, grad), shape=tuple(shape))
    widths: list[int] = []
    for axis, ((first, stride, count), extent) in enumerate(zip(bounds, shape, strict=True)):
        last = first + stride * (count - 1)
        if stride < 0 and count > 1:
            grad = r.reverse(grad, axis=axis)
        widths += [min(first, last), extent - 1 - max(first, last)]
    strides = [abs(s) if c > 1 else 1 for _, s, c in bounds]
    if any(s > 1 for s in strides):
        grad = r.nn.dilate(grad, strides=strides)
    return r.nn.pad(grad, pad_width=widths) if any(widths) else grad


def transformed(value: Any, axis: int, matrix: Array) -> Any:
    """`matrix` applied along one axis of a value: y[.., i, ..] = sum over k of matrix[i, k] * x[.., k, ..]."""
    rank = rank_of(value)
    order = [a for a in range(rank) if a != axis] + [axis]
    moved = value if axis == rank - 1 else r.transpose(value, axes=order)
    found = r.nn.dense(moved, constant(matrix))
    return found if axis == rank - 1 else r.transpose(found, axes=[order.index(a) for a in range(rank)])
