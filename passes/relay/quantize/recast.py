"""relay-recast: the named ops on narrower numbers, with casts around them.

Before (dtype = int8, out-dtype = int32, ops = nn.conv2d):
    %y = relay.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x8x4x4xf32>, ...) -> tensor<1x8x4x4xf32>
After:
    %0 = relay.cast %x {dtype = "int8"} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xi8>
    %1 = relay.cast %w {dtype = "int8"} : ...
    %2 = relay.nn.conv2d %0, %1 {out_dtype = "int32", padding = [1, 1]} : (...) -> tensor<1x8x4x4xi32>
    %y = relay.cast %2 {dtype = "float32"} : (tensor<1x8x4x4xi32>) -> tensor<1x8x4x4xf32>

TVM's way to try an op in another precision: values are cast, not scaled, so numbers change. `skip-layers` counts the
named ops from 0 in program order, from -1 at the end; relay-to-mixed-precision chooses by itself what may be narrow.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects import relay as r
from lamina.dialects.infos import TypeMismatch, tensor_info
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.families import ALL
from lamina.dialects.relay.op_index import OPS
from lamina.errors import InputError, UsageError, did_you_mean
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location


@dataclass(frozen=True)
class Recast(ModulePass):
    """The named ops on narrower numbers, with casts around them."""

    name = "relay-recast"
    dtype: str = "float16"
    out_dtype: str = ""
    """The dtype of results, for ops that have such an attribute; empty: as `dtype`."""
    ops: tuple[str, ...] = ("nn.conv2d",)
    skip_layers: tuple[int, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = [f"relay.{n.removeprefix('relay.')}" for n in self.ops]
        for name in names:
            if name not in OPS:
                raise UsageError(f"relay-recast: there is no op {name!r}", hint=did_you_mean(name, list(OPS)))
        for dtype in (self.dtype, self.out_dtype or self.dtype):
            if dtype not in ALL:
                raise UsageError(f"relay-recast: there is no type {dtype!r}")
        layers = [o for o in op.walk() if o.name in names and isinstance(o, RelayOp)]
        skipped = {n % len(layers) for n in self.skip_layers} if layers else set[int]()
        for n, layer in enumerate(layers):
            if n not in skipped:
                recast(layer, self.dtype, self.out_dtype or self.dtype)


def recast(op: RelayOp, dtype: str, out_dtype: str) -> None:
    """Let an op work on another type. Raises InputError where it cannot."""
    cast: type[RelayOp] = r.find_op("relay.cast")  # type: ignore[assignment]
    made: list[Operation] = []

    def as_type(value: SSAValue, wanted: str) -> SSAValue:
        if tensor_info(value.type).dtype == wanted:
            return value
        made.append(cast.make(value, dtype=wanted))
        return made[-1].results[0]

    try:
        operands = [as_type(v, dtype) for v in op.operands]
        attrs = attrs_of(op)
        if "out_dtype" in type(op).known_attributes():
            attrs["out_dtype"] = out_dtype
        new = type(op).make(*operands, **attrs)
    except TypeMismatch as e:
        for each in reversed(made):
            each.drop_all_references()
        raise InputError(f"on {dtype}: {e}", op=op) from None
    made.append(new)
    results = [as_type(v, tensor_info(old.type).dtype) for old, v in zip(op.results, list(new.results), strict=True)]
    with edit.transaction(op):
        for each in made:
            inherit_location(each, op)
        edit.insert_before(op, *made)
        edit.replace(op, results)
