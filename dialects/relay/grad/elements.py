"""Gradients of elementwise ops, reductions, products and scatters that are more than a line."""

from __future__ import annotations

from math import pi, prod, sqrt
from typing import TYPE_CHECKING, Any

from lamina.dialects.relay.declare import *

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def erf_gradient(grad: Any, x: Any) -> Any:
    """2 / sqrt(pi) * exp(-x * x), times the gradient."""
    return r.multiply(grad, r.multiply(r.exp(r.negative(r.multiply(x, x))), 2.0 / sqrt(pi)))


def remainder_gradients(grads: Values, operands: Values, results: Values) -> Gradients:
    """Of a - b * q, where the quotient q is a whole number: it has no slope."""
    a, b = operands
    quotient = r.round(r.divide(r.subtract(a, results[0]), b))
    return [collapsed(grads[0], a), collapsed(r.negative(r.multiply(grads[0], quotient)), b)]


# -- reductions ------------------------------------------------------------------------------------


def extremum_gradient(grad: Any, x: Any, y: Any, axis: Sequence[int], keepdims: bool, exclude: bool) -> Any:
    """The gradient of a maximum or minimum y of x, shared equally by the elements that are it."""
    one, zero = number(1.0, x), number(0.0, x)
    chosen = r.where(r.equal(x, unreduced(y, x, axis, keepdims, exclude)), one, zero)
    axes = reduced_axes(tuple(axis), exclude, rank_of(x))
    count = r.sum(chosen, axis=axes, keepdims=True) if axes else chosen
    return r.multiply(r.divide(chosen, count), unreduced(grad, x, axis, keepdims, exclude))


def product_gradient(grad: Any, x: Any, axis: Sequence[int], keepdims: bool, exclude: bool) -> Any:
    """Each element's is the product of all the others, zeros among them or not: those before times those after."""
    shape = shape_of(x)
    axes = reduced_axes(tuple(axis), exclude, len(shape))
    if not axes:
        return grad
    if 0 in shape:
        return zeros(x)
    order = [a for a in range(len(shape)) if a not in axes] + list(axes)
    moved = r.transpose(x, axes=order)
    kept = [shape[a] for a in order[: -len(axes)]]
    flat = to_shape(moved, (*kept, prod(shape[a] for a in axes)))
    last = len(kept)
    before = r.cumprod(flat, axis=last, exclusive=True)
    after = r.reverse(r.cumprod(r.reverse(flat, axis=last), axis=last, exclusive=True), axis=last)
    others = to_shape(r.multiply(before, after), [shape[a] for a in order])
    others = r.transpose(others, axes=[order.index(a) for a in range(len(shape))])
    return r.multiply(others, unreduced(grad, x, axis, keepdims, exclude))


def cumulative_product_gradient(grad: Any, x: Any, exclusive: bool, axis: int | None) -> Any:
    """The sum over the later places of their gradients times the product without the element.

    The products are made for every element by itself, in n * n numbers: division by the element would fail at 0.
    """
    grad = in_dtype(grad, x)
    flat = to_shape(x, (prod(shape_of(x)),)) if axis is None else x
    rank, place = rank_of(flat), 0 if axis is None else normalize_axis(axis, rank_of(flat))
    count = shape_of(flat)[place]
    # [.., element, later place]: the elements' own factors are 1, and earlier places do not count.
    to_last = [a for a in range(rank) if a != place] + [place]
    rows = r.expand_dims(r.transpose(flat, axes=to_last), axis=rank - 1)
    own = constant(np.eye(count, dtype=bool))
    factors = r.where(own, number(1.0, x), rows)
    products = r.cumprod(factors, axis=rank, exclusive=exclusive)
    later = constant(np.triu(np.ones((count, count), dtype=bool), int(exclusive)))
    into = r.expand_dims(r.transpose(grad, axes=to_last), axis=rank - 1)
    total = r.sum(selected(later, r.multiply(products, into)), axis=(rank,))
    return reshaped(r.transpose(total, axes=[to_last.index(a) for a in range(rank)]), x)


# -- matrices --------------------------------------------------------------------------------------


def product_gradients(matmul: Any, grads: Values, operands: Values, transpose_a: bool, transpose_b: bool) -> list[Any]:
    """Of a product of matrices or batches of them, each taken as it is or transposed."""
    a, b = operands
    dy = in_dtype(grads[0], a)
    if transpose_a:
        into_a = matmul(b, dy, transpose_a=transpose_b, transpose_b=True)
    else:
        into_a = matmul(dy, b, transpose_a=False, transpose_b=not transpose_b)
    if transpose_b:
        into_b = matmul(dy, a, transpose_a=True, transpose_b=transpose_a)
    else:
        into_b = matmul(a, dy, transpose_a=not transpose_a, transpose_b=False)
    return [into_a, into_b]


def dft_gradients(grads: Values, results: Values, inverse: bool) -> list[Any]:
    """The transform is its own transpose up to the sign of the angle and the scale."""
    re, im = (zeros(v) if g is None else g for g, v in zip(grads, results, strict=True))
    count = float(max(shape_of(re)[-1], 1))
    scale = 1.0 / count if inverse else count
    return [r.multiply(v, scale) for v in r.dft(re, im, inverse=not inverse)]


# -- scatters --------------------------------------------------------------------------------------


def replaced_gradients(grad: Any, scatter: Any, operands: Values, **attrs: Any) -> list[Any]:
    """Of a scatter that replaces elements: where the update that won came from, the op itself says."""
    data, indices, updates = operands
    won = scatter(r.zeros_like(places_of(data)), indices, places_of(updates, 1), **attrs)
    return [selected(r.equal(won, 0), grad), None, scattered(grad, won, updates, absent=True)]


class Updates:
    """The updates of a scatter: where they go, for gradients.

    `scatter(data, updates, reduction)` is the op, `at(x)` the elements of x at the updates' places, in their shape;
    of an update that is outside of the tensor it gives any. `inside` says which are not.
    """

    def __init__(self, scatter: Callable[[Any, Any, str], Any], at: Callable[[Any], Any], inside: Any) -> None:
        self.scatter, self.at, self.inside = scatter, at, inside


def along_one_axis(data: Any, indices: Any, axis: int) -> Updates:
    """The updates of scatter_elements: an index counts from the end where it is negative."""
    extent = shape_of(data)[normalize_axis(axis, rank_of(data))]
    wide = r.cast(indices, dtype="int64")
    place = r.where(r.less(wide, 0), r.add(wide, extent), wide)
    inside = r.logical_and(r.greater_equal(place, 0), r.less(place, extent))

    def scatter(into: Any, updates: Any, reduction: str) -> Any:
        return r.scatter_elements(into, indices, updates, axis=axis, reduction=reduction)

    return Updates(scatter, lambda x: r.gather(x, place, axis=axis), inside)


def at_coordinates(data: Any, indices: Any, updates: Any) -> Updates:
    """The updates of scatter_nd."""
    count = shape_of(indices)[0]
    column = (count, *(1 for _ in shape_of(indices)[1:]))
    extents = constant(np.array(shape_of(data)[:count], np.int64).reshape(column))
    wide = r.cast(indices, dtype="int64")
    place = r.where(r.less(wide, 0), r.add(wide, extents), wide)
    inside = r.all(r.logical_and(r.greater_equal(place, 0), r.less(place, extents)), axis=(0,))
    rest = rank_of(updates) - rank_of(inside)
    mask = r.expand_dims(inside, axis=rank_of(inside), num_newaxis=rest) if rest else inside

    def scatter(into: Any, updates: Any, reduction: str) -> Any:
        return r.scatter_nd(into, indices, updates, mode=reduction)

    return Updates(scatter, lambda x: r.gather_nd(x, place), mask)


def combined_gradients(grad: Any, operands: Values, result: Any, to: Updates, reduction: str) -> list[Any]:
    """Of a scatter in which an element depends on all the updates of its place: add, mul, min, max, mean."""
    data, _, updates = operands
    if reduction == "add":
        return [grad, None, selected(to.inside, to.at(grad))]
    if reduction == "mul":
        return _of_factors(grad, data, updates, to)
    if reduction == "mean":
        return _of_halved_sums(grad, data, updates, to)
    # Shared equally by those that are the extremum, as in `extremum_gradient`.
    chosen, chosen_updates = _counted(r.equal(data, result), data), _counted(r.equal(updates, to.at(result)), updates)
    share = r.divide(grad, to.scatter(chosen, chosen_updates, "add"))
    return [r.multiply(chosen, share), None, selected(to.inside, r.multiply(chosen_updates, to.at(share)))]


def _counted(condition: Any, like: Any) -> Any:
    """1 where a condition holds, 0 elsewhere."""
    return r.where(condition, number(1.0, like), number(0.0, like))


def _of_factors(grad: Any, data: Any, updates: Any, to: Updates) -> list[Any]:
    """The product of the other factors: that of all but the zeros, without the factor, if no other is zero."""
    zero, zero_updates = (_counted(r.equal(v, number(0.0, v)), v) for v in (data, updates))
    # A factor that is zero takes part as 1: x + (x == 0).
    factor, factor_updates = r.add(data, zero), r.add(updates, zero_updates)
    zeros_there = to.scatter(zero, zero_updates, "add")
    product = to.scatter(factor, factor_updates, "mul")

    def into(grad: Any, zero: Any, zeros_there: Any, factor: Any, product: Any) -> Any:
        return selected(r.equal(zero, zeros_there), r.multiply(grad, r.divide(product, factor)))

    at = to.at
    into_updates = into(at(grad), zero_updates, at(zeros_there), factor_updates, at(product))
    return [into(grad, zero, zeros_there, factor, product), None, selected(to.inside, into_updates)]


def _of_halved_sums(grad: Any, data: Any, updates: Any, to: Updates) -> list[Any]:
    """Every update halves what stands there: an update is halved by itself and by those to its place that follow."""
    count = prod(shape_of(updates))
    place = r.where(to.inside, to.at(places_of(data)), number(-1.0, places_of(data)))
    flat = to_shape(place, (count,))
    numbers = to_shape(places_of(updates), (count,))
    # Sorting keeps the order of updates to one place: they stand behind each other, the last at the end.
    order = r.argsort(flat, axis=0, dtype="int64")
    position = r.scatter_elements(numbers, order, numbers, axis=0, reduction="update")
    ends = r.searchsorted(r.take(flat, order, axis=0), flat, right=True, dtype="int64")
    halvings = to_shape(in_dtype(r.subtract(ends, position), updates), shape_of(updates))
    into_updates = r.multiply(to.at(grad), r.power(number(0.5, updates), halvings))
    halved = to.scatter(r.ones_like(data), r.zeros_like(updates), "mean")
    return [r.multiply(grad, halved), None, selected(to.inside, into_updates)]
