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
from lamina.dialects import relay as r
from lamina.dialects.attributes import to_attribute
from lamina.dialects.dtypes import itemsize
from lamina.dialects.infos import has_unknown_extents, is_always, tensor_info
from lamina.dialects.relay.base import attrs_of
from lamina.dialects.relay.nn.recurrent_steps import PLAIN, Recurrent
from lamina.dialects.target import TargetAttr, module_target, target_of
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.rewriting import Rules

pack = Rules("cpu-pack-recurrent")


def packed_layout(layer: Recurrent, target: TargetAttr) -> str:
    """The packed layout of the weights of a layer; "" where they stay as they are."""
    weights = layer.operand_types[1 : 1 + len(layer.GATES)]
    if has_unknown_extents(weights) or attrs_of(layer)["weight_layout"] != PLAIN:
        return ""
    data = tensor_info(layer.operand_types[0])
    batch, hidden = tensor_info(layer.result_types[-1]).shape
    lanes = target.lanes(8 * itemsize(data.dtype))
    if hidden < lanes:
        return ""
    costs = for_target(target)
    wanted = costs.gate_vectors if is_always(batch, 1) else costs.shared_gate_vectors
    vectors = min(max(wanted // max(layer.GATES), 1), hidden // lanes)
    return f"NKG{vectors * lanes}n"


@pack.lower(r.nn.rnn, r.nn.gru, r.nn.lstm)
def lay_out(layer: Recurrent) -> bool:
    """Give a layer its weights in another layout.

    Before: lstm(x, w)    After: lstm(x, layout_transform(w)) {weight_layout = "NKG32n"}
    """
    target = target_of(layer)
    layout = packed_layout(layer, target) if target is not None else ""
    if not layout:
        return False
    for n in range(1, 1 + len(layer.GATES)):
        layer.operands[n] = r.layout_transform(layer.operands[n], src_layout=PLAIN, dst_layout=layout, channels=0)
    layer.properties["weight_layout"] = to_attribute(layout)
    return True


@dataclass(frozen=True)
class CpuPackRecurrent(ModulePass):
    """Lays the weights of recurrent layers out in blocks of units, all gates beside each other."""

    name = "cpu-pack-recurrent"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if module_target(op) is None:
            raise VerifyException("cpu-pack-recurrent: the module names no 'lamina.target'")
        pack.apply(op)
