"""Ops that only move or choose elements, as equations: the integers move as the real numbers they stand for.

A chain between dequantize and quantize (relay-fake-quantization-to-integer) is rewritten as a whole or not at all. So
these equations are not run over a program: `moved` applies one at an op of a chain, whose operand is not dequantized
there but known as integers.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation, SSAValue

from lamina.dialects import relay as r
from lamina.dialects.infos import TensorInfo, TypeMismatch
from lamina.dialects.relay.base import RelayOp, attrs_of, normalize_axis
from lamina.dialects.relay.layout import axis_of
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.rules.terms import attr, computed, insert, var
from lamina.passes.rules.draws import one_of, tensor
from lamina.passes.rules.rewriting import Rules

Ints = tuple[int, ...]

x, s, z = var("x s z")
a, d, p, q, k = attr("a d p q k")

moves = Rules("relay-fake-quantization-to-integer")


@computed
def one_number(shape: Ints) -> bool:
    """Whether one scale, or zero point, holds for all elements."""
    return shape in ((), (1,))


@computed
def of_channels(axis: int, layout: str, shape: Ints) -> bool:
    """Whether a list of scales, if it is one, lies along the channels: pooling leaves these apart."""
    return shape in ((), (1,)) or normalize_axis(axis, len(layout)) == axis_of(layout, "C")


@computed
def place_of(axis: int, axes: Ints, rank: int) -> int:
    """The position to which a transpose brings an axis."""
    order = [v % rank for v in axes] if axes else [*reversed(range(rank))]
    return order.index(normalize_axis(axis, rank)) if rank else -1


@computed
def place_behind(axis: int, new: int, count: int, rank: int) -> int:
    """The position of an axis when there are `count` new ones."""
    if not rank:
        return -1
    first, at = normalize_axis(new, rank + 1), normalize_axis(axis, rank)
    return at + count if first <= at else at


@computed
def has_axis(axis: int, rank: int) -> bool:
    """Whether a tensor of that rank has the axis, which may count from the end; a scalar has 0 and -1."""
    return -max(rank, 1) <= axis < max(rank, 1)


def integers_for(word: Any, extent: int = 0) -> Any:
    """Draws integers of a shape that the op has samples of; all extents the same where one is given."""
    shapes = [o.operands[0].shape for o in word.op.samples() if o.error is None]
    if extent:
        shapes = [(extent,) * len(shape) for shape in shapes]

    def draw(rng: Any) -> TensorInfo:
        return TensorInfo(shapes[rng.integers(len(shapes))], ("int8", "uint8", "int32")[rng.integers(3)])

    return draw


one_scale, one_zero = tensor(dtype="float32"), tensor(dtype="int32")
scales, zeros = (one_of(TensorInfo((), dtype), TensorInfo((3,), dtype)) for dtype in ("float32", "int32"))


def real(value: Any, axis: Any) -> Any:
    """Integers as the numbers they stand for."""
    return r.qnn.dequantize(value, s, z, axis=axis, out_dtype=d)


for word in (
    *(r.reshape, r.squeeze, r.strided_slice, r.nn.batch_flatten, r.nn.global_max_pool2d, r.max, r.min, r.copy),
    *(r.nn.depth_to_space, r.nn.space_to_depth, r.reverse, r.tile, r.repeat),
):
    whole = word(real(x, a))
    rule = (whole >> real(word(x, like=whole), -1)).when(one_number(s.shape), one_number(z.shape))
    moves += rule.drawing(x=integers_for(word), s=one_scale, z=one_zero)

for word in (r.nn.max_pool1d, r.nn.max_pool2d, r.nn.max_pool3d):
    pooled = word(real(x, a), layout=p)
    rule = (pooled >> real(word(x, like=pooled), a)).when(of_channels(a, p, s.shape), of_channels(a, p, z.shape))
    moves += rule.drawing(x=integers_for(word, 3), s=scales, z=zeros)

turned = r.transpose(real(x, a), axes=p)
rule = turned >> real(r.transpose(x, axes=p), place_of(a, p, x.rank))
moves += rule.when(has_axis(a, x.rank)).drawing(x=integers_for(r.transpose, 3), s=scales, z=zeros)
grown = r.expand_dims(real(x, a), axis=q, num_newaxis=k)
rule = grown >> real(r.expand_dims(x, like=grown), place_behind(a, q, k, x.rank))
moves += rule.when(has_axis(a, x.rank)).drawing(x=integers_for(r.expand_dims, 3), s=scales, z=zeros)


def moved(op: RelayOp, data: SSAValue, scale: SSAValue, zero_point: SSAValue, axis: int) -> tuple[SSAValue, int] | None:
    """The integers of the result, inserted where terms are, and the axis of their scales; None if no equation fits."""
    dequantize: type[RelayOp] = r.find_op("relay.qnn.dequantize")  # type: ignore[assignment]
    before = dequantize.make(data, scale, zero_point, axis=axis, out_dtype=qs.info_of(op.operands[0]).dtype)
    asked = type(op).make(before, **attrs_of(op))
    found: tuple[SSAValue, int] | None = None
    for entry in moves.dispatch.get(type(op), ()):
        compiled: Any = entry.compiled
        made: list[Operation] = []
        try:
            env = compiled.match(asked)
            after: Any = compiled.build(env, made).owner if env is not None else None
        except TypeMismatch:  # a condition asks for an extent that is unknown
            after = None
        if after is None:
            continue
        made.remove(after)
        for each in made:
            insert(each)
        found = after.operands[0], attrs_of(after)["axis"]
        after.drop_all_references()
        break
    asked.drop_all_references()
    before.drop_all_references()
    return found
