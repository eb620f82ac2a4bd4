"""relay-plan-devices: every value has a device, and comes to another one by a copy.

Before:
    %0 = relay.on_device %a {virtual_device = "cuda:0"} : tensor<8xf32>
    %1 = relay.add %0, %b : tensor<8xf32>
After (%a is what an op gives):
    %0 = relay.device_copy %a {src_virtual_device = "cuda:0"} : tensor<8xf32>
    %1 = relay.add %0, %b : tensor<8xf32>

An op has its operands and results on one device; so do a choice and what it yields. `on_device` says where what it
annotates is computed (constrain_body) and needed (constrain_result), `device_copy` where it comes from and goes to;
all else follows, and what is left open is on the `default` device. Ops elsewhere carry `lamina.virtual_device`.
Constants are wherever they are used. Two devices for one value are an error that names where they meet.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import ConstantOp, FnOp
from lamina.dialects.relay.functional.annotations import DeviceCopyOp, OnDeviceOp
from lamina.errors import InputError
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location, inherit_name

DEVICE = "lamina.virtual_device"
"""The attribute of ops that are not on the default device."""
REGIONS_OF_VALUES = ("relay.if", "relay.match")


@dataclass(frozen=True)
class PlanDevices(ModulePass):
    """Every value has a device, and comes to another one by a copy."""

    name = "relay-plan-devices"
    default: str = "cpu"
    """The device of what nothing says anything about."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp) and any(
                isinstance(o, (OnDeviceOp, DeviceCopyOp)) for o in function.walk()
            ):
                with edit.transaction(function):
                    plan_devices(function, self.default)


def plan_devices(function: func.FuncOp, default: str) -> None:
    """Solve the constraints of a function and write down what follows. Raises InputError where there is no solution."""
    places = Places()
    ops = [op for op in function.walk() if op is not function]
    for op in ops:
        _constrain(op, places)
    for op in ops:
        if isinstance(op, (OnDeviceOp, DeviceCopyOp)):
            _copy(op, places, default)
        elif isinstance(op, RelayOp) and op.results and (where := places.device(op.results[0], default)) != default:
            op.attributes[DEVICE] = StringAttr(where)


@dataclass
class Places:
    """Values that are on one device for certain, as a forest; the device is with the root."""

    _parent: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    _device: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])

    def root(self, value: SSAValue) -> SSAValue:
        at = value
        while (parent := self._parent.get(at)) is not None:
            at = parent
        while value is not at:
            # In this order: the entry of the old value is the one to shorten.
            self._parent[value], value = at, self._parent[value]
        return at

    def device(self, value: SSAValue, default: str) -> str:
        return self._device.get(self.root(value), default)

    def fix(self, value: SSAValue, device: str, op: Operation) -> None:
        """A value is on a device, as an op says."""
        found = self._device.setdefault(self.root(value), device)
        if found != device:
            raise _conflict(op, value, found, device)

    def unite(self, a: SSAValue, b: SSAValue, op: Operation) -> None:
        """Two values are on one device, since an op needs both there."""
        first, second = self.root(a), self.root(b)
        if first is second:
            return
        mine, other = self._device.get(first), self._device.pop(second, None)
        if mine is not None and other is not None and mine != other:
            raise _conflict(op, b, other, mine)
        self._parent[second] = first
        if mine is None and other is not None:
            self._device[first] = other


def _conflict(op: Operation, value: SSAValue, is_on: str, needed: str) -> InputError:
    name = f"%{value.name_hint}" if value.name_hint else "an operand"
    return InputError(
        f"{op.name.removeprefix('relay.')}: {name} is on {is_on} and needed on {needed}",
        hint="relay.device_copy brings a value from one device to another",
        op=op,
    )


def _constrain(op: Operation, places: Places) -> None:
    if isinstance(op, DeviceCopyOp):
        attrs = attrs_of(op)
        if not isinstance(op.operands[0].owner, ConstantOp):
            places.fix(op.operands[0], attrs["src_virtual_device"], op)
        places.fix(op.results[0], attrs["dst_virtual_device"], op)
    elif isinstance(op, OnDeviceOp):
        attrs = attrs_of(op)
        if attrs["constrain_body"] and not isinstance(op.operands[0].owner, ConstantOp):
            places.fix(op.operands[0], attrs["virtual_device"], op)
        if attrs["constrain_result"]:
            places.fix(op.results[0], attrs["virtual_device"], op)
        if not attrs["constrain_body"] and not attrs["constrain_result"]:
            places.unite(op.operands[0], op.results[0], op)
    elif isinstance(op, FnOp):
        for inner, outer in zip(op.captured, op.operands, strict=True):
            places.unite(inner, outer, op)
    elif op.name in REGIONS_OF_VALUES:
        for region in op.regions:
            last = region.block.last_op
            for result, value in zip(op.results, last.operands if last is not None else (), strict=False):
                if not isinstance(value.owner, ConstantOp):
                    places.unite(result, value, op)
    elif not op.regions and not isinstance(op, ConstantOp) and op.results:
        together = [v for v in (*op.operands, *op.results) if not isinstance(v.owner, (ConstantOp, FnOp))]
        for value in together[:-1]:
            places.unite(together[-1], value, op)


def _copy(op: OnDeviceOp | DeviceCopyOp, places: Places, default: str) -> None:
    """Put a copy, or nothing where both are on one device, in the place of an annotation or a copy."""
    source, result = op.operands[0], op.results[0]
    here = places.device(result, default)
    there = places.device(source, default)
    if isinstance(source.owner, ConstantOp):
        attrs = attrs_of(op)
        there = attrs["src_virtual_device"] if isinstance(op, DeviceCopyOp) else here
    new = source
    if here != there:
        copy = DeviceCopyOp.make(source, src_virtual_device=there, dst_virtual_device=here)
        if here != default:
            copy.attributes[DEVICE] = StringAttr(here)
        inherit_location(copy, op)
        edit.insert_before(op, copy)
        new = copy.results[0]
        inherit_name(new, result)
    edit.replace(op, [new])
