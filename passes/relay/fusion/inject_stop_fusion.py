"""relay-inject-stop-fusion: ends kernels after the ops of given names.

Before (ops = nn.softmax):
    %1 = relay.nn.softmax %0 : tensor<8x8xf32>
    %2 = relay.nn.relu %1 : tensor<8x8xf32>
After:
    %1 = relay.nn.softmax %0 : tensor<8x8xf32>
    %2 = relay.annotation.stop_fusion %1 : tensor<8x8xf32>
    %3 = relay.nn.relu %2 : tensor<8x8xf32>

relay-fuse-ops takes the annotations away again, relay-remove-stop-fusion without fusing. A result that has one already
gets no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import TensorType

from lamina.dialects import edit
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.functional.annotations import StopFusionOp
from lamina.dialects.relay.op_index import OPS
from lamina.errors import UsageError, did_you_mean
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location


@dataclass(frozen=True)
class InjectStopFusion(ModulePass):
    """Ends kernels after the ops of given names."""

    name = "relay-inject-stop-fusion"
    opt_level: ClassVar[int] = 0
    ops: tuple[str, ...] = ()
    """TVM's names of the ops, as `nn.conv2d`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = {f"relay.{name.removeprefix('relay.')}" for name in self.ops}
        for name in sorted(names):
            if name not in OPS:
                hint = did_you_mean(name, list(OPS))
                raise UsageError(f"relay-inject-stop-fusion: there is no op {name!r}", hint=hint)
        for found in [o for o in op.walk() if o.name in names and isinstance(o, RelayOp)]:
            with edit.transaction():
                part(found)


def part(op: RelayOp) -> None:
    """An annotation behind each result of an op that is used."""
    assert op.parent is not None
    for result in reversed(op.results):
        users = [use.operation for use in result.uses]
        if not users or not isinstance(result.type, TensorType) or any(isinstance(u, StopFusionOp) for u in users):
            continue
        barrier = StopFusionOp.make(result)
        inherit_location(barrier, op)
        edit.insert_after(op, barrier)
        result.replace_uses_with_if(barrier.results[0], lambda use, b=barrier: use.operation is not b)
