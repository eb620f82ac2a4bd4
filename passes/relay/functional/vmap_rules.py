"""Rules of relay-vmap, by op: what an op becomes whose operands have one more axis, in front.

A rule makes ops with a `Batch` and gives the results, which have the axis as well. Ops that compute each element of its
own need none; others are done once for each place of the axis.

    @rule("cumsum", "sort")
    def shifted(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue]: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any, TypeAlias

from xdsl.ir import Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.infos import tensor_info
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.families import Broadcast, Elementwise, Reduction, reduced_axes
from lamina.dialects.relay.meaning import full_attrs
from lamina.errors import UnsupportedError
from lamina.passes.base import inherit_location

Operands: TypeAlias = Sequence[tuple[SSAValue, bool]]
"""The operands of an op, and whether each has the axis."""
Rule: TypeAlias = "Callable[[Batch, RelayOp, Operands], list[SSAValue] | None]"
"""The results with the axis; None where the op is done once for each place."""

MOST = 64
"""Places for which an op is done one by one: the program has an op for each."""

_RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers a rule for ops of Relay, by their names without the dialect."""

    def register(made: Rule) -> Rule:
        for name in names:
            _RULES[f"relay.{name}"] = made
        return made

    return register


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The extents of a tensor."""
    return tuple(tensor_info(value.type).shape)


class Batch:
    """The axis, and the place where ops are made."""

    def __init__(self, size: int, place: Operation) -> None:
        self.size = size
        self.place = place

    def ops(self, name: str, *operands: SSAValue, **attrs: Any) -> list[SSAValue]:
        """The results of an op that is made here."""
        op_type: Any = find_op(f"relay.{name}")
        made = op_type.make(*operands, **attrs)
        inherit_location(made, self.place)
        edit.insert_before(self.place, made)
        return list(made.results)

    def op(self, name: str, *operands: SSAValue, **attrs: Any) -> SSAValue:
        """The one result of an op that is made here."""
        return self.ops(name, *operands, **attrs)[0]

    def reshape(self, x: SSAValue, shape: Iterable[int]) -> SSAValue:
        """A tensor in another shape."""
        wanted = tuple(shape)
        return x if shape_of(x) == wanted else self.op("reshape", x, newshape=list(wanted), allowzero=True)

    def transpose(self, x: SSAValue, axes: Sequence[int]) -> SSAValue:
        """A tensor with its axes in another order."""
        return x if list(axes) == sorted(axes) else self.op("transpose", x, axes=list(axes))

    def raised(self, x: SSAValue, rank: int) -> SSAValue:
        """A tensor with the axis in front of so many others: axes of one element stand between."""
        shape = shape_of(x)
        return self.reshape(x, (self.size, *[1] * (rank + 1 - len(shape)), *shape[1:]))

    def spread(self, x: SSAValue, has_axis: bool) -> SSAValue:
        """A tensor with the axis, along which one that does not have it is the same everywhere."""
        if has_axis:
            return x
        shape = shape_of(x)
        return self.op("broadcast_to", self.reshape(x, (1, *shape)), shape=[self.size, *shape])

    def folded(self, x: SSAValue) -> SSAValue:
        """The axis and the one behind it as one."""
        shape = shape_of(x)
        return self.reshape(x, (shape[0] * shape[1], *shape[2:]))

    def unfolded(self, x: SSAValue) -> SSAValue:
        """The first axis as this one and one behind it."""
        shape = shape_of(x)
        return self.reshape(x, (self.size, shape[0] // self.size, *shape[1:]))


def batched(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue]:
    """The results of an op with the axis. Raises UnsupportedError where there is no rule and the axis is too long."""
    found = _RULES.get(op.name)
    if found is None and isinstance(op, Reduction):
        found = reduction
    if found is None and isinstance(op, Elementwise | Broadcast):
        found = elementwise
    made = found(b, op, operands) if found is not None else None
    return one_by_one(b, op, operands) if made is None else made


def given(op: RelayOp) -> dict[str, Any]:
    """The attributes of an op, defaults among them."""
    return full_attrs(type(op), attrs_of(op))


def name_of(op: RelayOp) -> str:
    """The name of an op without the dialect."""
    return op.name.removeprefix("relay.")


def elementwise(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue]:
    """Ops that compute each element of its own, and broadcast."""
    rank = len(shape_of(op.results[0]))
    return b.ops(name_of(op), *(b.raised(x, rank) if has else x for x, has in operands), **given(op))


def reduction(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue] | None:
    """Reductions over axes, of a tensor and perhaps of one that has an axis for each of its own."""
    attrs = given(op)
    axes = reduced_axes(tuple(attrs["axis"]), attrs.pop("exclude"), len(shape_of(op.operands[0])))
    if not axes:
        return None
    attrs["axis"] = [a + 1 for a in axes]
    return b.ops(name_of(op), *(b.spread(*o) for o in operands), **attrs)


def one_by_one(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue]:
    """An op for each place of the axis, and their results one behind the other."""
    if b.size > MOST or op.regions:
        what = f"{op.name} has no rule for an axis in front"
        raise UnsupportedError(
            what, op=op, hint=f"up to {MOST} places it is done one by one; call the function in a loop"
        )
    parts: list[list[SSAValue]] = []
    for k in range(b.size):
        taken = [_place(b, x, k) if has else x for x, has in operands]
        parts.append(b.ops(name_of(op), *taken, **given(op)))
    return [b.op("stack", *results, axis=0) for results in zip(*parts, strict=True)]


def _place(b: Batch, x: SSAValue, k: int) -> SSAValue:
    """A tensor at one place of the axis."""
    part = b.op("strided_slice", x, begin=[k], end=[k + 1], strides=[1], axes=[0])
    return b.reshape(part, shape_of(x)[1:])


def _shifted(axis: int) -> int:
    """An axis behind the new one; those that are counted from the end stay."""
    return axis + 1 if axis >= 0 else axis


@rule(
    *("cumsum", "cumprod", "sort", "argsort", "topk", "reverse", "repeat", "split", "nn.softmax", "nn.log_softmax"),
    *("nn.fast_softmax", "one_hot"),
)
def along_an_axis(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue] | None:
    if [has for _, has in operands] != [True] + [False] * (len(operands) - 1):
        return None
    attrs = given(op)
    if attrs.get("axis") is None:
        return None
    return b.ops(name_of(op), *(x for x, _ in operands), **{**attrs, "axis": _shifted(attrs["axis"])})


@rule("concatenate", "stack", "gather", "scatter_elements")
def along_an_axis_of_all(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue]:
    attrs = given(op)
    return b.ops(name_of(op), *(b.spread(*o) for o in operands), **{**attrs, "axis": _shifted(attrs["axis"])})


@rule("expand_dims")
def expand_dims(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue]:
    return [b.reshape(operands[0][0], (b.size, *shape_of(op.results[0])))]


@rule("reshape", "squeeze", "nn.batch_flatten", "contrib_reverse_reshape", "reshape_like")
def reshape(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue] | None:
    if not operands[0][1]:
        return None
    return [b.reshape(operands[0][0], (b.size, *shape_of(op.results[0])))]


@rule("broadcast_to", "broadcast_to_like")
def broadcast_to(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue] | None:
    shape = shape_of(op.results[0])
    if not operands[0][1]:
        return None
    return [b.op("broadcast_to", b.raised(operands[0][0], len(shape)), shape=[b.size, *shape])]


@rule("tile")
def tile(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue]:
    reps, rank = list(given(op)["reps"]), len(shape_of(op.operands[0]))
    reps = [1] * (rank - len(reps)) + reps
    return [b.op("tile", b.raised(operands[0][0], len(reps)), reps=[1, *reps])]


@rule("transpose")
def transpose(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue]:
    rank = len(shape_of(op.operands[0]))
    axes = [a % rank for a in given(op)["axes"]] or list(range(rank))[::-1]
    return [b.transpose(operands[0][0], [0, *(a + 1 for a in axes)])]


@rule("strided_slice")
def strided_slice(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue]:
    attrs = given(op)
    axes = list(attrs["axes"]) or list(range(len(attrs["begin"])))
    return b.ops("strided_slice", operands[0][0], **{**attrs, "axes": [_shifted(a) for a in axes]})


@rule("nn.pad", "nn.mirror_pad")
def pad(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue]:
    attrs = given(op)
    return b.ops(name_of(op), operands[0][0], **{**attrs, "pad_width": [0, 0, *attrs["pad_width"]]})


@rule("take")
def take(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue]:
    (data, data_has), (indices, indices_has) = operands
    attrs = given(op)
    if attrs.get("axis") is None:
        size = prod(shape_of(op.operands[0]))
        data = b.reshape(data, (b.size, size) if data_has else (size,))
        attrs["axis"] = 0
    axis = attrs["axis"] % (len(shape_of(data)) - data_has)
    lead = attrs["batch_dims"]
    if data_has and not indices_has and not lead:
        return b.ops("take", data, indices, **{**attrs, "axis": axis + 1})
    if not data_has and not lead:
        # The indices' axes stand where the axis was.
        found = b.op("take", data, indices, **{**attrs, "axis": axis})
        rank = len(shape_of(found))
        return [b.transpose(found, [axis, *(k for k in range(rank) if k != axis)])]
    both = b.spread(data, data_has), b.spread(indices, indices_has)
    return b.ops("take", *both, **{**attrs, "axis": axis + 1, "batch_dims": lead + 1})


@rule("nn.bias_add", "nn.prelu")
def along_an_axis_of_the_first(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue] | None:
    (data, data_has), (other, other_has) = operands
    if not data_has or other_has:
        return None
    attrs = given(op)
    return b.ops(name_of(op), data, other, **{**attrs, "axis": _shifted(attrs["axis"])})


@rule("nn.layer_norm")
def layer_norm(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue] | None:
    if [has for _, has in operands] != [True, False, False]:
        return None
    attrs = given(op)
    axis = attrs["axis"] if isinstance(attrs["axis"], int) else None
    return None if axis is None else b.ops(name_of(op), *(x for x, _ in operands), **{**attrs, "axis": _shifted(axis)})


# -- products --------------------------------------------------------------------------------------


@rule("nn.dense", "nn.matmul", "nn.batch_matmul")
def matmul(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue] | None:
    attrs = given(op)
    is_dense = op.name == "relay.nn.dense"
    turn_a, turn_b = attrs.get("transpose_a", False), attrs.get("transpose_b", is_dense)
    (x, x_has), (y, y_has) = operands
    shape = shape_of(op.results[0])
    if x_has and not y_has and not turn_a and op.name != "relay.nn.batch_matmul":
        # Rows of one product.
        return [b.reshape(b.op(name_of(op), b.folded(x), y, **attrs), (b.size, *shape))] if len(shape) == 2 else None
    x, y = b.spread(x, x_has), b.spread(y, y_has)
    if op.name == "relay.nn.batch_matmul":
        most = max(shape_of(x)[1], shape_of(y)[1])
        x, y = (b.folded(_grown(b, v, most)) for v in (x, y))
    elif len(shape_of(x)) != 3 or len(shape_of(y)) != 3:
        return None
    found = b.op("nn.batch_matmul", x, y, out_dtype=attrs["out_dtype"], transpose_a=turn_a, transpose_b=turn_b)
    return [b.reshape(found, (b.size, *shape))]


def _grown(b: Batch, x: SSAValue, extent: int) -> SSAValue:
    """A tensor whose second axis has so many elements, which were one."""
    shape = shape_of(x)
    if shape[1] == extent:
        return x
    return b.op("broadcast_to", x, shape=[shape[0], extent, *shape[2:]])


@rule("einsum")
def einsum(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue] | None:
    equation = given(op)["equation"].replace(" ", "")
    letter = next(c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in equation)
    inputs, arrow, output = equation.partition("->")
    if not arrow:
        return None
    terms = [letter + t if has else t for t, (_, has) in zip(inputs.split(","), operands, strict=True)]
    return b.ops("einsum", *(x for x, _ in operands), equation=f"{','.join(terms)}->{letter}{output}")


@rule(
    *(f"nn.conv{d}d" for d in (1, 2, 3)), *(f"nn.conv{d}d_transpose" for d in (1, 2, 3)),
    *(f"nn.{kind}_pool{d}d" for kind in ("max", "avg", "adaptive_max", "adaptive_avg") for d in (1, 2, 3)),
    *("nn.global_avg_pool2d", "nn.global_max_pool2d", "nn.upsampling", "nn.upsampling3d", "nn.lrn"),
    *(f"image.resize{d}d" for d in (1, 2, 3)), *("nn.depth_to_space", "nn.space_to_depth"),
)  # fmt: skip
def images(b: Batch, op: RelayOp, operands: Operands) -> list[SSAValue] | None:
    """Ops of images that stand one behind the other: there are more of them."""
    attrs = given(op)
    layout = attrs.get("data_layout") or attrs.get("layout") or ""
    if not operands[0][1] or any(has for _, has in operands[1:]) or not layout.startswith("N"):
        return None
    found = b.ops(name_of(op), b.folded(operands[0][0]), *(x for x, _ in operands[1:]), **attrs)
    return [b.unfolded(r) for r in found]
