"""cpu-quantized-transposed: transposed convolutions of bytes as ordinary ones, whose pixels move at last.

Before (%w a constant):
    %0 = relay.qnn.conv2d_transpose %x, %w, %a, %b, %s, %t {strides = [2, 2]} : ... -> tensor<1x32x8x8xi32>
    %1 = relay.nn.bias_add %0, %c {axis = 1} : (tensor<1x32x8x8xi32>, tensor<32xi32>) -> tensor<1x32x8x8xi32>
    %y = relay.qnn.requantize %1, ... {out_dtype = "uint8"} : ... -> tensor<1x32x8x8xui8>
After:
    %0 = relay.qnn.conv2d %x, %taps, %a, %b, %s, %t : ... -> tensor<1x128x4x4xi32>
    %1 = relay.nn.bias_add %0, %repeated {axis = 1} : (tensor<1x128x4x4xi32>, tensor<128xi32>) -> tensor<1x128x4x4xi32>
    %2 = relay.qnn.requantize %1, ... {out_dtype = "uint8"} : ... -> tensor<1x128x4x4xui8>
    %y = relay.nn.depth_to_space %2 {block_size = 2} : tensor<1x128x4x4xui8> -> tensor<1x32x8x8xui8>

Products of bytes have instructions in ordinary convolutions alone. Taps that are added to make windows whole have the
weight's zero point, and are little beside what the instructions save. What follows element by element - bias, scales,
rounding, and another scale - goes before the pixels move, so that bytes are moved and not sums. One group, no dilation,
one stride for both axes, weights whose zero point is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.backends.cpu.costs import for_target
from lamina.backends.cpu.passes.flat_convolutions import is_plain, whole_windows
from lamina.dialects.infos import has_unknown_extents
from lamina.dialects.relay.base import OpPattern, RelayOp, attrs_of
from lamina.dialects.relay.core import constant_value
from lamina.dialects.relay.grad.facet import dtype_of, r, shape_of
from lamina.dialects.relay.params import ParamStore, store_of
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.relay.windows import per_axis
from lamina.dialects.rules.terms import inserting
from lamina.dialects.target import module_target
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location, inherit_name
from lamina.passes.relay.fold.fold_constant import ANY_GROWTH, fold_ops
from lamina.passes.relay.layout.form_replacement import legalize
from lamina.passes.relay.layout.legal_forms import Form
from lamina.passes.relay.quantize.affine_rules import again
from lamina.passes.relay.quantize.fake_quantization_to_integer import drop_dead

TRANSPOSED = "relay.qnn.conv2d_transpose"
ALONG_CHANNELS = ("relay.nn.bias_add", "relay.qnn.requantize", "relay.qnn.quantize", "relay.qnn.dequantize")
MOVES = ("relay.nn.depth_to_space", "relay.strided_slice")


@dataclass(frozen=True)
class QuantizedTransposed(ModulePass):
    """Transposed convolutions of bytes as ordinary ones, whose pixels move at last."""

    name = "cpu-quantized-transposed"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        store, form = store_of(ctx), ordinary(for_target(module_target(op)).byte_speed)
        for each in [o for o in op.walk() if o.name == TRANSPOSED and isinstance(o, RelayOp)]:
            if has_unknown_extents([*each.operand_types, *each.result_types]):
                continue
            reader = only_reader(each.results[0])
            place = list(reader.operands).index(each.results[0]) if reader is not None else 0
            if legalize(each, [form], store) and reader is not None:
                sink(reader.operands[place], store)
        # Taps that are added may be many, but less than there are taps.
        fold_ops([o for o in op.walk() if o.name == "relay.nn.pad"], store, ANY_GROWTH)


def ordinary(most_zeros: float) -> Form:
    """The convolution with a channel for each pixel that a window gives, and its pixels in their places.

    Its windows have at most so many times the taps that there are.
    """

    def ordinary_windows(inputs: Sequence[SSAValue], **attrs: Any) -> SSAValue | None:
        return _ordinary(inputs, attrs, most_zeros)

    return ordinary_windows


def _ordinary(inputs: Sequence[SSAValue], attrs: dict[str, Any], most_zeros: float) -> SSAValue | None:
    x, w, x_zero, w_zero, x_scale, w_scale = inputs
    zero = qs.known_values(w_zero)
    if constant_value(w) is None or zero is None or zero.size != 1 or attrs["out_dtype"] != "int32":
        return None
    if not is_plain(attrs | {"out_dtype": ""}, "NCHW", "IOHW") or attrs["groups"] != 1:
        return None
    if {dtype_of(x), dtype_of(w)} - {"int8", "uint8"}:
        return None
    pixels = prod(per_axis(attrs["strides"], 2, "strides"))
    scale = r.tile(w_scale, reps=(pixels,)) if prod(shape_of(w_scale)) > 1 else w_scale

    def convolve(data: SSAValue, weight: SSAValue, **given: Any) -> Any:
        return r.qnn.conv2d(data, weight, x_zero, w_zero, x_scale, scale, out_dtype="int32", **given)

    return whole_windows(x, w, attrs, convolve, most_zeros, int(zero.reshape(())))


def only_reader(value: SSAValue) -> RelayOp | None:
    """The op that alone reads a value, once."""
    uses = list(value.uses)
    return uses[0].operation if len(uses) == 1 and isinstance(uses[0].operation, RelayOp) else None


def sink(moved: SSAValue, store: ParamStore) -> None:
    """Put ops that read moved sums element by element before the move, up to bytes and another scale of these."""
    moves: list[RelayOp] = []
    start = moved
    while isinstance(start.owner, RelayOp) and start.owner.name in MOVES:
        moves.insert(0, start.owner)
        start = start.owner.operands[0]
    if not moves:
        return
    value, end, times = start, moved, shape_of(start)[1] // shape_of(moved)[1]
    builder, made = Builder(InsertPoint.before(moves[0])), list[Operation]()
    builder.operation_insertion_handler = [made.append]
    passed: list[RelayOp] = []
    with inserting(builder):
        while (reader := only_reader(end)) is not None:
            if dtype_of(end) in qs.NARROW and not _rescales(reader):
                break
            builder.insertion_point = InsertPoint.before(reader)
            found = _before(reader, end, value, times)
            if found is None:
                break
            inherit_name(found, end)
            passed.append(reader)
            value, end = found, reader.results[0]
        if not passed:
            return
        builder.insertion_point = InsertPoint.after(passed[-1])
        for move in moves:
            value = again(move, value)
    for op in made:
        inherit_location(op, passed[0])
    inherit_name(value, end)
    end.replace_all_uses_with(value)
    drop_dead([passed[-1]])
    fold_ops(made, store, ANY_GROWTH)


def _rescales(op: RelayOp) -> bool:
    """Whether an op on bytes and what reads its result bring the bytes to another scale."""
    reader = only_reader(op.results[0]) if op.name == "relay.qnn.dequantize" else None
    return op.name == "relay.qnn.requantize" or reader is not None and reader.name == "relay.qnn.quantize"


def _before(op: RelayOp, old: SSAValue, value: SSAValue, times: int) -> Any:
    """The op on `old` redone on a value that has the channels of each pixel in turn; None for other ops."""
    if len(op.results) != 1 or shape_of(op.results[0]) != shape_of(old):
        return None
    attrs, rank, channels = attrs_of(op), len(shape_of(old)), shape_of(old)[1]
    if op.name.startswith("relay.qnn.") or op.name == "relay.nn.bias_add":
        # Lists lie along an axis that is named.
        axis, where = attrs.get("axis", -1) % rank, 0
        if op.operands[0] is not old or not (op.name in ALONG_CHANNELS and (axis == 1 or _are_numbers(op, old))):
            return None
    elif op.FUSION_KIND == OpPattern.ELEMWISE and len(op.operands) == 1:
        where = 0
    elif op.FUSION_KIND == OpPattern.BROADCAST and not op.properties:
        where = rank - 2
    else:
        return None
    given: list[SSAValue] = []
    for operand in op.operands:
        shape = shape_of(operand)
        if operand is old:
            given.append(value)
        elif prod(shape) == 1 and len(shape) <= rank and op.name != "relay.nn.bias_add":
            given.append(operand)  # a number for all channels; a bias has one for each, also for a single one
        else:
            behind = (1,) * where
            if constant_value(operand) is None or shape not in ((channels, *behind), (1, channels, *behind)):
                return None
            reps = (times, *behind)
            given.append(r.tile(operand, reps=reps if len(shape) == len(reps) else (1, *reps)))
    return again(op, *given)


def _are_numbers(op: RelayOp, old: SSAValue) -> bool:
    return all(v is old or prod(shape_of(v)) == 1 for v in op.operands)
