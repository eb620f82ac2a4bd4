"""cpu-pack-recurrent: lays the weights of recurrent layers out in the order in which a step reads them.

Before:
    %y, %h, %c = relay.nn.lstm %x, %w, %s, %t : (..., tensor<4x256x256xf32>, ...) -> (...)
After:
    %p = relay.layout_transform %w {dst_layout = "NKG32n", src_layout = "GNK"} : ... -> tensor<8x256x4x32xf32>
    %y, %h, %c = relay.nn.lstm %x, %p, %s, %t {weight_layout = "NKG32n"} : (..., tensor<8x256x4x32xf32>, ...) -> (...)

A block is as many units as keep the multipliers busy: all gates of some vectors of units are summed at once. Constant
weights are packed at compile time by relay-fold-constant, others once for all steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.utils.exceptions import VerifyException

from lamina.backends.cpu.costs import for_target
from lamina.dialects import edit
from lamina.dialects.dtypes import itemsize
from lamina.dialects.relay.base import attrs_of, to_attribute
from lamina.dialects.relay.infos import has_unknown_extents, tensor_info
from lamina.dialects.relay.nn.recurrent_steps import PLAIN, Recurrent
from lamina.dialects.relay.shape.layouts import LayoutTransformOp
from lamina.dialects.target import TargetAttr, module_target
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location


@dataclass(frozen=True)
class CpuPackRecurrent(ModulePass):
    """Lays the weights of recurrent layers out in blocks of units, all gates beside each other."""

    name = "cpu-pack-recurrent"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        if target is None:
            raise VerifyException("cpu-pack-recurrent: the module names no 'lamina.target'")
        for layer in [o for o in op.walk() if isinstance(o, Recurrent)]:
            layout = packed_layout(layer, target)
            if layout:
                with edit.transaction(layer):
                    pack(layer, layout)


def packed_layout(layer: Recurrent, target: TargetAttr) -> str:
    """The packed layout of the weights of a layer; "" where they stay as they are."""
    types = [*layer.operand_types, *layer.result_types]
    if has_unknown_extents(types) or attrs_of(layer)["weight_layout"] != PLAIN:
        return ""
    data = tensor_info(layer.operand_types[0])
    batch, hidden = tensor_info(layer.result_types[-1]).shape
    lanes = target.lanes(8 * itemsize(data.dtype))
    if hidden < lanes:
        return ""
    costs = for_target(target)
    wanted = costs.gate_vectors if batch == 1 else costs.shared_gate_vectors
    vectors = min(max(wanted // max(layer.GATES), 1), hidden // lanes)
    return f"NKG{vectors * lanes}n"


def pack(layer: Recurrent, layout: str) -> None:
    """Give a layer its weights in another layout."""
    assert layer.parent is not None
    for n in range(1, 1 + len(layer.GATES)):
        packed = LayoutTransformOp.make(layer.operands[n], src_layout=PLAIN, dst_layout=layout, channels=0)
        inherit_location(packed, layer)
        edit.insert_before(layer, packed)
        layer.operands[n] = packed.result
    layer.properties["weight_layout"] = to_attribute(layout)
