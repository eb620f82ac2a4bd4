"""relay-alter-op-layout: convolutions on blocks of channels, and everything between them too.

Before:
    %1 = relay.nn.conv2d %x, %w {padding = [1, 1]} : (tensor<1x64x9x9xf32>, ...) -> tensor<1x64x9x9xf32>
    %2 = relay.nn.relu %1 : tensor<1x64x9x9xf32>
After:
    %0 = relay.layout_transform %x {dst_layout = "NCHW16c", src_layout = "NCHW"} : ... -> tensor<1x4x9x9x16xf32>
    %1 = relay.nn.contrib_conv2d_NCHWc %0, %packed {channels = 64, ...} : (...) -> tensor<1x4x9x9x16xf32>
    %2 = relay.nn.relu %1 : tensor<1x4x9x9x16xf32>
    %3 = relay.layout_transform %2 {dst_layout = "NCHW", src_layout = "NCHW16c", channels = 64} : ...

One walk in program order. Each value has a home layout, the one it is computed in; another form of it is made by a
layout_transform at its first use and kept. Ops between convolutions (`layout_rules.py`) work in the blocked layout
when an operand is at home there. Weights are packed by folding the transform: derived parameters, computed at link
time. Channels that do not fill their last block leave spare lanes, whose weights are zeros. A convolution sums them too
where its kernel has blocks beyond the channels, and zero times an infinity is NaN: they are made zeros by a choice,
`where(lane < channels, x, 0)`, in the kernel that computes x.
Assumes NCHW and OIHW; wants relay-canonicalize-ops and relay-fold-constant before. What a user has registered for an
op (`legal_forms.py`) comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects import relay as r
from lamina.dialects.dtypes import numpy_dtype
from lamina.dialects.infos import TensorInfo, has_unknown_extents, tensor_info
from lamina.dialects.lazy import np
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import ConstantOp, FnOp
from lamina.dialects.relay.params import array_dense, store_of
from lamina.dialects.relay.symbolic import is_symbolic
from lamina.dialects.target import module_target
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location, inherit_name
from lamina.passes.relay.fold.fold_constant import fold_constants
from lamina.passes.relay.layout.form_replacement import replace_by_form
from lamina.passes.relay.layout.layout_rules import NO_DOTS, PLAIN, Dots, Offer, Plan, plan
from lamina.passes.relay.layout.legal_forms import ALTERED

UNKNOWN_LANES = 16
"""Channels in a block where the module names no target."""


@dataclass(frozen=True)
class AlterOpLayout(ModulePass):
    """Convolutions on blocks of channels, and everything between them too."""

    name = "relay-alter-op-layout"
    opt_level: ClassVar[int] = 3
    block: int = 0
    """Channels in a block; 0: the lanes of the target's f32 vectors."""
    v: int = 2
    """Blocks of output channels that a kernel computes together; 1 where their number is odd."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [o for o in op.walk() if isinstance(o, RelayOp) and len(o.results) == 1] if ALTERED else ():
            forms = ALTERED.of(each.name)
            if forms and not has_unknown_extents([*each.operand_types, *each.result_types]):
                replace_by_form(each, forms, store_of(ctx))
        target = module_target(op)
        if target is None:
            to_blocks(op, self.block or UNKNOWN_LANES, self.v)
        else:
            block = self.block or target.lanes(32)
            to_blocks(op, block, self.v, target.dot_products(), target.has_short_vectors())
        fold_constants(op, store_of(ctx))


def to_blocks(module: ModuleOp, lanes: int, v: int, dots: Dots = NO_DOTS, rows: bool = False) -> None:
    """Convert the functions of a module to blocks of `lanes` channels, of which kernels compute `v` together.

    Products of the dtypes of `dots` have the target's instructions for so many input channels. With `rows`, what is
    less work in plain order stays there.
    """
    for function in module.body.block.ops:
        if isinstance(function, func.FuncOp):
            for block in function.body.blocks:
                with edit.transaction():
                    Converter(block, lanes, v, dots, rows).run()


def _are_channels_known(type_: Attribute) -> bool:
    """Whether the channels of a type are a number, and extents that are unknown have names."""
    if not has_unknown_extents([type_]):
        return True
    return is_symbolic(type_) and DYNAMIC_INDEX not in cast("TensorType[Attribute]", type_).get_shape()[1:2]


class Converter:
    """One block: the forms that each value has by now, by layout."""

    def __init__(self, block: Block, lanes: int, v: int, dots: Dots = NO_DOTS, rows: bool = False) -> None:
        self.block = block
        self.lanes = lanes
        self.v = v
        self.dots = dots
        self.rows = rows
        self.blocked = f"NCHW{lanes}c"
        self._other: dict[tuple[SSAValue, bool], SSAValue] = {}
        """Blocked form of a value at home in NCHW, and whether it is one number for all channels."""
        self._home: dict[SSAValue, SSAValue] = {}
        """Old value -> new one in the blocked layout, for values at home there."""
        self._old: dict[SSAValue, SSAValue] = {}
        """The other way round."""
        self._plain: dict[SSAValue, SSAValue] = {}
        """Old value at home in blocks -> its NCHW form."""
        self._cleared: set[SSAValue] = set()
        """Values on blocks whose spare lanes are zeros whatever the data is."""

    def run(self) -> int:
        """Convert the block: how many ops work on blocks now."""
        converted = 0
        for op in list(self.block.ops):
            found = None
            types = [*op.operand_types, *op.result_types]
            if isinstance(op, RelayOp) and len(op.results) == 1 and all(map(_are_channels_known, types)):
                found = plan(op, [self._offer(v) for v in op.operands], self.lanes, self.v, self.dots, self.rows)
            if found is None:
                self._stay(op)
            else:
                assert isinstance(op, RelayOp)
                self._convert(op, found)
                converted += 1
        for old in reversed(list(self._home)):
            owner = old.owner
            assert isinstance(owner, Operation)
            edit.erase(owner)
        return converted

    def _offer(self, value: SSAValue) -> Offer:
        info = tensor_info(value.type) if not isinstance(value.owner, FnOp) else TensorInfo((), "")
        return Offer(info, value in self._home, isinstance(value.owner, ConstantOp))

    def _stay(self, op: Operation) -> None:
        """The op keeps its plain layout: its operands come back to it."""
        for inner in op.walk() if op.regions else (op,):
            for i, value in enumerate(inner.operands):
                if value in self._home:
                    inner.operands[i] = self._plain_form(value, op)

    def _convert(self, op: RelayOp, found: Plan) -> None:
        operands = [self._form(v, want, op) for v, want in zip(op.operands, found.inputs, strict=True)]
        if found.reads_spare and op.operands[0] in self._home:
            self._clear(operands[0], tensor_info(op.operands[0].type).shape[1])
            operands[0] = self._home[op.operands[0]]
        op_type: type[RelayOp] = (r.find_op(found.op) if found.op else type(op)) or type(op)
        known = op_type.get_irdl_definition().properties
        attrs: dict[str, Any] = {n: v for n, v in attrs_of(op).items() if n in known} | found.attrs
        made = op_type.make(*operands, **attrs)
        made.attributes = dict(op.attributes)
        self._insert(made, op)
        inherit_name(made.results[0], op.results[0])
        self._home[op.results[0]] = made.results[0]
        self._old[made.results[0]] = op.results[0]

    # -- spare lanes -------------------------------------------------------------------------------

    def _clear(self, value: SSAValue, channels: int) -> None:
        """The lanes of a value on blocks beyond its channels become zeros: where it is computed, for all its readers.

        A concatenation is cleared in its pieces, and what fusion stops at before it stops: so it is done in the kernel
        that computes the value.
        """
        owner = value.owner
        if value in self._cleared or not isinstance(owner, RelayOp) or owner.name == "relay.layout_transform":
            return
        if owner.name == "relay.annotation.stop_fusion":
            self._cleared.add(value)
            self._clear(owner.operands[0], channels)
        elif owner.name == "relay.concatenate":
            self._cleared.add(value)
            if attrs_of(owner)["axis"] == 1:
                # Pieces end at a block, save the last.
                *others, last = owner.operands
                self._clear(last, channels - self.lanes * sum(tensor_info(o.type).shape[1] for o in others))
            else:
                for piece in owner.operands:
                    self._clear(piece, channels)
        elif channels % self.lanes:
            self._choose(value, owner, channels)

    def _choose(self, value: SSAValue, owner: RelayOp, channels: int) -> None:
        """`where(lane < channels, value, 0)` behind the op that makes the value, in its place."""
        info = tensor_info(value.type)
        lanes = (np.arange(info.shape[1] * self.lanes) < channels).reshape(1, info.shape[1], 1, 1, self.lanes)
        operands = [ConstantOp.make(array_dense(a)) for a in (lanes, np.zeros((), numpy_dtype(info.dtype)))]
        where: type[RelayOp] = r.find_op("relay.where")  # type: ignore[assignment]
        made = where.make(operands[0].result, value, operands[1].result)
        for each in (*operands, made):
            inherit_location(each, owner)
        edit.insert_after(owner, *operands, made)
        cleared = made.results[0]
        value.replace_uses_with_if(cleared, lambda use: use.operation is not made)
        if value in self._old:
            self._home[self._old[value]] = cleared
        self._cleared.add(cleared)

    # -- forms of values ---------------------------------------------------------------------------

    def _form(self, value: SSAValue, want: str, before: Operation) -> SSAValue:
        """A value in a layout: "" is as it is, "NCHW" plain, "O...": a kernel, else the blocked layout."""
        if want in ("", PLAIN):
            return self._plain_form(value, before) if value in self._home else value
        if want != self.blocked and want[0] == "O":
            return self._transform(value, "OIHW", want, 0, before)
        if want != self.blocked:
            plain = self._plain_form(value, before) if value in self._home else value
            return self._transform(plain, PLAIN, want, 0, before)
        home = self._home.get(value)
        if home is not None:
            return home
        shape = tensor_info(value.type).shape
        # One channel broadcasts over both channel axes, save where it is one among others.
        spread = before.name != "relay.concatenate" and (len(shape) < 3 or shape[-3] == 1)
        found = self._other.get((value, spread))
        if found is None:
            found = self._other[value, spread] = self._to_blocks(value, spread, before)
        return found

    def _plain_form(self, value: SSAValue, before: Operation) -> SSAValue:
        found = self._plain.get(value)
        if found is None:
            channels = tensor_info(value.type).shape[1]
            found = self._transform(self._home[value], self.blocked, PLAIN, channels, before)
            self._plain[value] = found
        return found

    def _to_blocks(self, value: SSAValue, spread: bool, before: Operation) -> SSAValue:
        """Blocks of a plain value; one that broadcasts gets the missing axes first. `spread`: over all channels."""
        shape = tensor_info(value.type).shape
        if not shape:
            return value
        whole = (1,) * (4 - len(shape)) + shape
        if has_unknown_extents([value.type]):
            widened = self._widened(value, 0, 4 - len(shape), before)
            if spread:
                return self._widened(widened, 4, 1, before)
        else:
            n, _, h, w = whole
            widened = self._reshape(value, (n, 1, h, w, 1) if spread else whole, before)
        return widened if spread else self._transform(widened, PLAIN, self.blocked, 0, before)

    def _reshape(self, value: SSAValue, shape: tuple[int, ...], before: Operation) -> SSAValue:
        if tensor_info(value.type).shape == shape:
            return value
        reshape: type[RelayOp] = r.find_op("relay.reshape")  # type: ignore[assignment]
        return self._insert(reshape.make(value, newshape=shape), before)

    def _widened(self, value: SSAValue, axis: int, count: int, before: Operation) -> SSAValue:
        """More axes of 1; unlike a reshape it says no extents."""
        if not count:
            return value
        expand_dims: type[RelayOp] = r.find_op("relay.expand_dims")  # type: ignore[assignment]
        return self._insert(expand_dims.make(value, axis=axis, num_newaxis=count), before)

    def _transform(self, value: SSAValue, source: str, target: str, channels: int, before: Operation) -> SSAValue:
        transform: type[RelayOp] = r.find_op("relay.layout_transform")  # type: ignore[assignment]
        # The real number of channels is said only where the source pads them.
        whole = tensor_info(value.type).shape
        padded = channels and source == self.blocked and channels != whole[1] * self.lanes
        made = transform.make(value, src_layout=source, dst_layout=target, channels=channels if padded else 0)
        return self._insert(made, before)

    def _insert(self, made: Operation, before: Operation) -> SSAValue:
        inherit_location(made, before)
        edit.insert_before(before, made)
        return made.results[0]
