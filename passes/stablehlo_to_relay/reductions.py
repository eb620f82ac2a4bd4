"""Rules of StableHLO's reductions.

Before: %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
          : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
After:  %0 = relay.sum %x {axis = [1]} : (tensor<3x4xf32>) -> tensor<3xf32>

An initial value that is not the neutral one is combined with the result. A region of another form on few elements is
applied to them one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from xdsl.ir import Block, SSAValue

from lamina.dialects import relay as r
from lamina.dialects.dtypes import is_float, numpy_dtype
from lamina.dialects.lazy import np
from lamina.dialects.rules.terms import insert
from lamina.dialects.stablehlo.control import returned
from lamina.dialects.stablehlo.reduce import HloReduceOp, MapOp, ReduceWindowOp, SelectAndScatterOp
from lamina.errors import UnsupportedError
from lamina.passes.rules.rewriting import Rules
from lamina.passes.stablehlo_to_relay import emit
from lamina.passes.stablehlo_to_relay.bodies import extreme_with_place, word_of
from lamina.passes.stablehlo_to_relay.emit import (
    combine,
    dtype_of,
    is_exact,
    known_number,
    number,
    shape_of,
    unsupported,
)

reductions = Rules("stablehlo-to-relay")
REDUCTIONS = {"add": "sum", "mul": "prod", "max": "max", "min": "min", "and": "all", "or": "any"}
MOST_STEPS = 64
"""Elements that a region of no known form is applied to."""


def neutral(word: str, dtype: str) -> Any:
    """The number that changes nothing."""
    kind = numpy_dtype(dtype)
    if word in ("add", "or", "xor"):
        return kind.type(0)
    if word == "mul":
        return kind.type(1)
    if word == "and":
        return kind.type(1) if dtype == "bool" else kind.type(-1 if not dtype.startswith("u") else np.iinfo(kind).max)
    if dtype == "bool":
        return kind.type(word == "min")
    low, high = (-np.inf, np.inf) if is_float(dtype) else (np.iinfo(kind).min, np.iinfo(kind).max)
    return kind.type(low if word == "max" else high)


def is_neutral(word: str, value: SSAValue) -> bool:
    """Whether an initial value is known to change nothing."""
    known = known_number(value)
    if known is None:
        return False
    if word in ("max", "min") and is_float(dtype_of(value)) and abs(float(known)) >= np.finfo(np.float32).max:
        return (float(known) < 0) == (word == "max")
    return bool(known == neutral(word, dtype_of(value)))


@reductions.lower(HloReduceOp)
def reduce(op: HloReduceOp) -> SSAValue | list[SSAValue]:
    """Before: %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : ...
    After:  %0 = relay.sum %x {axis = [1]} : (tensor<3x4xf32>) -> tensor<3xf32>
    """
    dims = op.ints("dimensions")
    inputs, inits = list(op.operands[: op.count]), list(op.operands[op.count :])
    if not dims and op.count == 1 and word_of(op.body) not in (None, "update"):
        return combine(str(word_of(op.body)), inits[0], inputs[0])
    word = word_of(op.body) if op.count == 1 else None
    if word in REDUCTIONS and (dtype_of(inputs[0]) == "bool" or word not in ("and", "or")):
        found = reduced(word, inputs[0], dims)
        return found if is_neutral(word, inits[0]) else combine(word, found, inits[0])
    found = _extreme(op, inputs, inits, dims) if op.count == 2 else None
    return found or _by_steps(op, inputs, inits, dims)


def reduced(word: str, x: SSAValue, dims: Sequence[int]) -> SSAValue:
    """A reduction of a known word."""
    if prod(shape_of(x)[d] for d in dims) == 0:
        kept = [e for d, e in enumerate(shape_of(x)) if d not in dims]
        return emit.broadcast(number(neutral(word, dtype_of(x)), x), kept)
    if dtype_of(x) == "bool":
        word = {"add": "or", "max": "or", "mul": "and", "min": "and"}.get(word, word)
    return emit.total(REDUCTIONS[word], x, dims)


def _extreme(
    op: HloReduceOp, inputs: list[SSAValue], inits: list[SSAValue], dims: tuple[int, ...]
) -> list[SSAValue] | None:
    """The largest or smallest element and the first of its places, counted along one dimension."""
    word = extreme_with_place(op.body)
    if word is None or len(dims) != 1 or prod(shape_of(inputs[0])) == 0:
        return None
    if not is_neutral(word[3:], inits[0]) or known_number(inits[1]) != 0 or not _counts(inputs[1], dims[0]):
        return None
    extreme = reduced(word[3:], inputs[0], dims)
    found = getattr(r, word)(inputs[0], axis=dims, keepdims=False, exclude=False, select_last_index=False)
    return [extreme, emit.cast(found, dtype_of(inputs[1]))]


def _counts(places: SSAValue, dim: int) -> bool:
    """Whether a tensor has each place along a dimension: what an iota has become."""
    value = places
    while True:
        known = emit.known(value)
        if known is not None:
            count = np.arange(shape_of(places)[dim]).reshape(
                [-1 if d == dim else 1 for d in range(len(shape_of(places)))]
            )
            if value is places:
                return bool((known == np.broadcast_to(count, known.shape)).all())
            return False
        owner: Any = value.owner
        if isinstance(owner, Block):
            return False
        if owner.name == "relay.arange":
            return owner.start.value.data == 0 and owner.step.value.data == 1 and len(shape_of(value)) == 1
        if owner.name == "relay.reshape":
            source = shape_of(owner.operands[0])
            if len(source) != 1 or shape_of(value)[dim] != source[0]:
                return False
        elif owner.name not in ("relay.broadcast_to", "relay.cast"):
            return False
        if owner.name == "relay.broadcast_to" and len(shape_of(owner.operands[0])) != len(shape_of(value)):
            return False
        value = owner.operands[0]


def _by_steps(op: HloReduceOp, inputs: list[SSAValue], inits: list[SSAValue], dims: tuple[int, ...]) -> list[SSAValue]:
    """The region on whole slices: halves with halves, the initial values last."""
    shape = shape_of(inputs[0])
    places = list(product(*(range(shape[d]) for d in dims)))
    kept = [e for d, e in enumerate(shape) if d not in dims]
    if len(places) > MOST_STEPS:
        what = f"a reducer of no known form over {len(places)} elements"
        raise unsupported(
            op,
            what,
            f"known are sums, products, minima, maxima, and the first place of an extreme; or {MOST_STEPS} elements",
        )
    rows: list[list[SSAValue]] = [[emit.broadcast(v, kept) for v in inits]]
    for place in places:
        at = dict(zip(dims, place, strict=True))
        begin = [at.get(d, 0) for d in range(len(shape))]
        end = [at[d] + 1 if d in at else e for d, e in enumerate(shape)]
        rows.append([emit.reshape(emit.cut(x, begin, end), kept) for x in inputs])
    found = rows[0]
    for row in rows[1:]:
        found = applied(op.body.block, [*found, *row], kept)
    return found


def applied(block: Block, values: Sequence[SSAValue], shape: Sequence[int]) -> list[SSAValue]:
    """The ops of a region of single elements on whole tensors, as StableHLO's, which are lowered next.

    Raises UnsupportedError where one of them is not by elements.
    """
    from lamina.dialects.dtypes import tensor_type
    from lamina.dialects.stablehlo.base import element
    from lamina.dialects.stablehlo.elementwise import ConvertOp, ElementwiseHlo, HloClampOp, HloSelectOp  # noqa: I001

    mapped: dict[SSAValue, SSAValue] = dict(zip(block.args, values, strict=True))

    def here(value: SSAValue) -> SSAValue:
        found = mapped.get(value)
        if found is None:  # from outside of the region, one number
            found = mapped[value] = emit.broadcast(value, shape)
        return found

    for inner in block.ops:
        if inner is block.last_op:
            break
        if inner.name == "stablehlo.constant":
            copy = inner.clone()
            insert(copy)
            mapped[inner.results[0]] = emit.broadcast_hlo(copy.results[0], shape)
            continue
        if not isinstance(inner, (ElementwiseHlo, ConvertOp, HloSelectOp, HloClampOp)):
            raise unsupported(inner, "cannot stand in a region that is applied to whole tensors")
        types = [tensor_type(tuple(shape), element(t)) for t in inner.result_types]
        copy = type(inner).create(
            operands=[here(v) for v in inner.operands], result_types=types, properties=dict(inner.properties)
        )
        insert(copy)
        mapped.update(zip(inner.results, copy.results, strict=True))
    assert block.parent is not None
    return [here(v) for v in returned(block.parent)]


@reductions.lower(MapOp)
def map_(op: MapOp) -> list[SSAValue]:
    """Before: %0 = "stablehlo.map"(%x) ({ ^bb0(%a: tensor<f32>): ... }) : (tensor<8xf32>) -> tensor<8xf32>
    After:  the ops of the region on whole tensors
    """
    return applied(op.computation.block, list(op.operands), op.info().shape)


# -- windows ----------------------------------------------------------------------------------------


@reductions.lower(ReduceWindowOp)
def reduce_window(op: ReduceWindowOp) -> SSAValue:
    """Before: %0 = "stablehlo.reduce_window"(%x, %low) <{window_dimensions = array<i64: 1, 2, 2, 1>}> ({ maximum })
    After:  %0 = relay.nn.max_pool2d %x {pool_size = [2, 2], layout = "NHWC", ...}; sums that run along one dimension
            are relay.cumsum; other windows are combined place by place
    """
    if op.count != 1:
        raise unsupported(op, "several inputs")
    x, init = op.operands
    word = word_of(op.body)
    if word is None or word == "update":
        return _window_by_region(op, x, init)
    found = _running(op, word, x) if is_neutral(word, init) else None
    if found is None:
        found = _pool(op, word, x) if is_neutral(word, init) else None
    if found is not None:
        return found
    found = _window_by_window(op, word, x, number(neutral(word, dtype_of(x)), x))
    return found if is_neutral(word, init) else combine(word, found, init)


def _running(op: ReduceWindowOp, word: str, x: SSAValue) -> SSAValue | None:
    """Sums and products of all elements before each one, or behind it, along one dimension."""
    sizes, shape, pads = op.window("window_dimensions"), shape_of(x), op.pads()
    dims = [d for d, n in enumerate(sizes) if n != 1]
    plain = all(set(op.window(n)) <= {1} for n in ("window_strides", "base_dilations", "window_dilations"))
    if word not in ("add", "mul") or len(dims) != 1 or not plain or dtype_of(x) == "bool":
        return None
    (axis,) = dims
    if sizes[axis] != shape[axis] or any(p != (0, 0) for d, p in enumerate(pads) if d != axis):
        return None
    scan = {"add": r.cumsum, "mul": r.cumprod}[word]
    if pads[axis] == (shape[axis] - 1, 0):
        return scan(x, axis=axis, dtype="", exclusive=False)
    if pads[axis] == (0, shape[axis] - 1):
        return r.reverse(scan(r.reverse(x, axis=axis), axis=axis, dtype="", exclusive=False), axis=axis)
    return None


def _pool(op: ReduceWindowOp, word: str, x: SSAValue) -> SSAValue | None:
    """A pool of two dimensions of four, the others being windows of one element."""
    sizes, steps, pads, apart = (
        op.window("window_dimensions"),
        op.window("window_strides"),
        op.pads(),
        op.window("window_dilations"),
    )
    if word not in ("max", "add") or len(sizes) != 4 or set(op.window("base_dilations")) != {1}:
        return None
    if dtype_of(x) not in ("float32", "float64") or prod(op.info().shape) == 0 or prod(shape_of(x)) == 0:
        return None
    for layout, spatial in (("NHWC", (1, 2)), ("NCHW", (2, 3))):
        rest = [d for d in range(4) if d not in spatial]
        if any(sizes[d] != 1 or steps[d] != 1 or pads[d] != (0, 0) for d in rest):
            continue
        if any(n < 0 or n >= sizes[d] for d in spatial for n in pads[d]):
            return None
        padding = [pads[d][0] for d in spatial] + [pads[d][1] for d in spatial]
        window: dict[str, Any] = {
            "pool_size": tuple(sizes[d] for d in spatial), "strides": tuple(steps[d] for d in spatial),
            "dilation": tuple(apart[d] for d in spatial), "padding": tuple(padding), "layout": layout,
            "ceil_mode": False,
        }  # fmt: skip
        if word == "max":
            return r.nn.max_pool2d(x, **window)
        mean = r.nn.avg_pool2d(x, **window, count_include_pad=True)
        return r.multiply(mean, number(sizes[spatial[0]] * sizes[spatial[1]], mean))
    return None


def _window_by_region(op: ReduceWindowOp, x: SSAValue, init: SSAValue) -> SSAValue:
    """The region on the slices for each place of windows along one dimension, the initial value first."""
    dims = [d for d, n in enumerate(op.window("window_dimensions")) if n > 1]
    if known_number(init) is None or len(dims) > 1 or dtype_of(x) == "bool":
        raise unsupported(op, "the region is none of add, multiply, minimum, maximum, and, or")
    out = op.info().shape
    found = emit.broadcast(init, out)
    for d in range(len(out)):
        if d in dims:
            for part in _taps(op, x, d, init):
                (found,) = applied(op.body.block, [found, part], out)
        else:
            (x,) = _taps(op, x, d, init)
    return found if dims else applied(op.body.block, [found, x], out)[0]


def _taps(op: ReduceWindowOp, x: SSAValue, d: int, filler: SSAValue) -> list[SSAValue]:
    """The slices of a tensor, padded along a dimension, for each place of windows along that one."""
    size, step, spread, apart = (
        op.window(n)[d] for n in ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    )
    low, high = op.pads()[d]
    if size == 1 and step == 1 and spread == 1 and (low, high) == (0, 0):
        return [x]
    if size > MOST_STEPS:
        raise unsupported(op, f"a window of {size} elements that is no running sum")
    padded, extent = _padded(x, d, low, high, spread, filler), op.info().shape[d]
    shape = list(shape_of(padded))
    parts: list[SSAValue] = []
    for tap in range(size):
        begin, end = [0] * len(shape), list(shape)
        begin[d] = tap * apart
        end[d] = begin[d] + (extent - 1) * step + 1 if extent else begin[d]
        parts.append(emit.cut(padded, begin, end, [step if n == d else 1 for n in range(len(shape))]))
    return parts


def _window_by_window(op: ReduceWindowOp, word: str, x: SSAValue, filler: SSAValue) -> SSAValue:
    """The padded tensor's slices for each place in the window, combined; dimension after dimension."""
    found = x
    for d in range(len(shape_of(x))):
        parts = _taps(op, found, d, filler)
        while len(parts) > 1:
            parts = [
                combine(word, parts[n], parts[n + 1]) if n + 1 < len(parts) else parts[n]
                for n in range(0, len(parts), 2)
            ]
        found = parts[0]
    return found


def _padded(x: SSAValue, axis: int, low: int, high: int, spread: int, filler: SSAValue) -> SSAValue:
    value: Any = known_number(filler)
    rank = len(shape_of(x))
    truth = dtype_of(x) == "bool"
    if truth:
        x = emit.cast(x, "int8")
    if not is_exact(value):
        raise UnsupportedError("a window is padded with a number that no float64 is")
    if spread > 1:
        strides = tuple(spread if d == axis else 1 for d in range(rank))
        x = r.nn.dilate(x, strides=strides, dilation_value=float(value))
    if (low, high) != (0, 0):
        widths = [0] * 2 * rank
        widths[2 * axis : 2 * axis + 2] = [low, high]
        x = r.nn.pad(x, pad_width=tuple(widths), pad_value=float(value), pad_mode="constant")
    return r.not_equal(x, number(0, x)) if truth else x


@reductions.lower(SelectAndScatterOp)
def select_and_scatter(op: SelectAndScatterOp) -> SSAValue:
    """Before: %0 = "stablehlo.select_and_scatter"(%x, %dy, %zero) ({ compare GE }, { add }) ...
    After:  for each place of the window: dy where x is the first extreme one there, spread to its place, summed
    """
    from lamina.passes.stablehlo_to_relay.bodies import order_of

    order = order_of(op.select)
    x, source, init = op.operands
    if order is None or word_of(op.scatter) != "add" or known_number(init) != 0 or not is_float(dtype_of(x)):
        raise unsupported(op, "known is the gradient of a max or min pool: compare GE or LE, then add to 0")
    if order[1] not in ("GE", "LE", "GT", "LT"):
        raise unsupported(op, f"the relation {order[1]}")
    rank = len(shape_of(x))
    sizes = op.ints("window_dimensions", [1] * rank)
    steps = op.ints("window_strides", [1] * rank)
    flat = op.ints("padding", [0] * 2 * rank)
    if prod(sizes) > MOST_STEPS:
        raise unsupported(op, f"a window of {prod(sizes)} elements; the most are {MOST_STEPS}")
    worst = -np.inf if order[1][0] == "G" else np.inf
    padded = r.nn.pad(x, pad_width=flat, pad_value=float(worst), pad_mode="constant") if any(flat) else x
    better = r.greater if order[1][0] == "G" else r.less
    extents, out = shape_of(padded), shape_of(source)
    taps: list[tuple[list[int], SSAValue]] = []
    for tap in product(*(range(n) for n in sizes)):
        end = [t + (n - 1) * s + 1 for t, n, s in zip(tap, out, steps, strict=True)]
        taps.append((list(tap), emit.cut(padded, tap, end, steps)))
    best, place = taps[0][1], emit.broadcast(emit.constant(0, "int32"), out)
    for n, (_, value) in enumerate(taps[1:], 1):
        wins = better(value, best)
        best, place = r.where(wins, value, best), r.where(wins, emit.constant(n, "int32"), place)
    total: SSAValue | None = None
    for n, (tap, _) in enumerate(taps):
        part = r.where(r.equal(place, emit.constant(n, "int32")), source, number(0, source))
        if any(s > 1 for s in steps):
            part = r.nn.dilate(part, strides=tuple(steps), dilation_value=0.0)
        behind = [e - t - p for e, t, p in zip(extents, tap, shape_of(part), strict=True)]
        widths = tuple(v for pair in zip(tap, behind, strict=True) for v in pair)
        part = r.nn.pad(part, pad_width=widths, pad_value=0.0, pad_mode="constant") if any(widths) else part
        total = part if total is None else r.add(total, part)
    assert total is not None
    low = flat[::2]
    return emit.cut(total, low, [a + e for a, e in zip(low, shape_of(x), strict=True)])
