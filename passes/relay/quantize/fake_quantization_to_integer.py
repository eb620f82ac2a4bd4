"""relay-fake-quantization-to-integer: float ops between dequantize and quantize work on the integers.

Before:
    %0 = relay.qnn.dequantize %x, %s, %z : (tensor<1x8xi8>, ...) -> tensor<1x8xf32>
    %1 = relay.qnn.dequantize %w, %t, %zero : (tensor<4x8xi8>, ...) -> tensor<4x8xf32>
    %2 = relay.nn.dense %0, %1 : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
    %3 = relay.qnn.quantize %2, %u, %v : (tensor<1x4xf32>, ...) -> tensor<1x4xi8>
After:
    %2 = relay.qnn.dense %x, %w, %z, %zero, %s, %t : (tensor<1x8xi8>, tensor<4x8xi8>, ...) -> tensor<1x4xi32>
    %3 = relay.qnn.requantize %2, %st, %zero, %u, %v {axis = 1} : (tensor<1x4xi32>, ...) -> tensor<1x4xi8>

A chain that ends in a quantize is rewritten as a whole or not at all: every op back to the dequantizes must have a rule
(`affine_rules.py`). Results differ from the floats' by rounding. An explicit padding with the zero point goes into
the convolution after it, weights are quantised here, and constants move to their first use: so a model with float
weights and quantize nodes and one with integer weights become the same text (after relay-eliminate-common-subexpr).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects import edit
from lamina.dialects import relay as r
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import ParamStore, store_of
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.relay.windows import pairs
from lamina.dialects.rules.terms import inserting
from lamina.errors import InputError
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location, inherit_name
from lamina.passes.relay.fold.fold_constant import fold_ops
from lamina.passes.relay.fold.fold_explicit_padding import image_pads
from lamina.passes.relay.quantize.affine_rules import NEEDS_OUTPUT, RULES, Affine, Rewrite

QUANTIZE, DEQUANTIZE = "relay.qnn.quantize", "relay.qnn.dequantize"
OPTIONAL = frozenset({"relay.nn.softmax"})
"""Ops whose integer form is so coarse that it must be asked for."""


@dataclass(frozen=True)
class FakeQuantizationToInteger(ModulePass):
    """Float ops between dequantize and quantize work on the integers."""

    name = "relay-fake-quantization-to-integer"
    required: ClassVar[tuple[str, ...]] = ("DivToMul",)
    hard_fail: bool = False
    """Whether a chain from dequantize to quantize that stays in floats is an error."""
    use_qat: bool = False
    """Whether products of dequantized tensors work on integers where no quantize follows."""
    optional_qnn_ops: tuple[str, ...] = ()
    """Coarse ops that may be taken too: nn.softmax."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        store, optional = store_of(ctx), {f"relay.{n}" for n in self.optional_qnn_ops}
        ops = list(op.walk())
        for end in ops:
            if isinstance(end, RelayOp) and end.name == QUANTIZE:
                with edit.transaction():
                    self.chain(end, store, optional)
        if self.use_qat:
            for each in ops:
                if each.parent is not None and each.name in RULES and each.name not in NEEDS_OUTPUT:
                    with edit.transaction():
                        without_end(cast(RelayOp, each), store)
        for each in list(op.walk()):
            if each.name == "relay.qnn.conv2d":
                with edit.transaction():
                    absorb_padding(cast(RelayOp, each))
        constants_to_first_use(op)

    def chain(self, end: RelayOp, store: ParamStore, optional: set[str]) -> None:
        """The chain that ends in a quantize, on integers."""
        ops, blocker = chain_of(end, optional, self.hard_fail)
        starts = [o for o in ops if o.name == DEQUANTIZE]
        if not starts:
            return  # nothing was quantised before
        if blocker is None and len(qs.info_of(end.operands[1]).shape) <= 1:
            attrs = attrs_of(end)
            rewrite = Rewrite(store, end.operands[1], end.operands[2], attrs["out_dtype"], attrs["axis"])
            with building(end, store) as made:
                found, blocker = evaluate(rewrite, ops, end.operands[0])
                if found is not None:
                    new = rewrite.requantized(found).value
                    edit.replace_uses(end.results[0], new)
                else:
                    undo(made)
            if found is not None:
                drop_dead([end])
                return
        if self.hard_fail:
            assert blocker is not None
            raise InputError(f"{blocker.name.removeprefix('relay.')} has no form on quantised tensors here", op=blocker)


@contextmanager
def building(place: Operation, store: ParamStore) -> Generator[list[Operation]]:
    """The ops that are inserted before a place while it lasts; then those on constants alone are computed."""
    builder, made = Builder(InsertPoint.before(place)), list[Operation]()
    builder.operation_insertion_handler = [made.append]
    with inserting(builder):
        yield made
    for new in made:
        inherit_location(new, place)
    owners = dict.fromkeys(v.owner for new in made for v in new.operands)
    weights = [o for o in owners if isinstance(o, Operation) and o.name == QUANTIZE and o not in made]
    fold_ops([*weights, *made], store, fold_qnn=True)
    drop_dead([o for o in reversed(made) if o.parent is not None])


def undo(made: list[Operation]) -> None:
    """Take back the ops that were inserted, and empty the list."""
    edit.undo(made)
    made.clear()


def chain_of(end: RelayOp, optional: set[str], further: bool) -> tuple[list[Operation], Operation | None]:
    """The ops that a quantize depends on, back to dequantizes and constants, in order; and one without a rule.

    At that the search ends, unless it is to go `further`.
    """
    order: dict[Operation, None] = {}
    blocker: Operation | None = None
    stack: list[tuple[SSAValue, bool]] = [(end.operands[0], False)]
    while stack:
        value, ready = stack.pop()
        owner = value.owner
        if not isinstance(owner, Operation):
            blocker = blocker or end
            continue
        if owner in order or isinstance(owner, ConstantOp):
            continue
        if ready or owner.name == DEQUANTIZE:
            order[owner] = None
            continue
        if owner.name not in RULES or (owner.name in OPTIONAL and owner.name not in optional):
            blocker = blocker or owner
            if not further:
                break
        stack.append((value, True))
        stack.extend((o, False) for o in reversed(owner.operands))
    return list(order), blocker


def evaluate(rewrite: Rewrite, ops: list[Operation], wanted: SSAValue) -> tuple[Affine | None, Operation | None]:
    """The wanted value on integers, or the op whose rule does not apply."""
    known: dict[SSAValue, Affine] = {}
    for op in ops:
        if op.name == DEQUANTIZE:
            data, scale, zero = op.operands
            known[op.results[0]] = Affine(data, scale, zero, attrs_of(cast(RelayOp, op))["axis"])
            continue
        outcome = RULES[op.name](rewrite, cast(RelayOp, op), [known.get(v, v) for v in op.operands])
        if outcome is None:
            return None, op
        for result, affine in zip(op.results, outcome if isinstance(outcome, list) else [outcome], strict=True):
            known[result] = affine
            inherit_name(affine.value, result)
    return known.get(wanted), None


def without_end(op: RelayOp, store: ParamStore) -> None:
    """An op on dequantized tensors works on integers, and its result is dequantized."""
    starts = [v.owner for v in op.operands if isinstance(v.owner, Operation) and v.owner.name == DEQUANTIZE]
    rest = [
        v
        for v in op.operands
        if not (isinstance(v.owner, Operation) and v.owner.name in (DEQUANTIZE, "relay.constant"))
    ]
    if not starts or rest or len(op.results) != 1:
        return
    first = cast(RelayOp, starts[0])
    rewrite = Rewrite(store, first.operands[1], first.operands[2], qs.info_of(first.operands[0]).dtype, -1)
    with building(op, store) as made:
        found, _ = evaluate(rewrite, [*dict.fromkeys(starts), op], op.results[0])
        if found is None:
            undo(made)
        else:
            dtype = qs.info_of(op.results[0]).dtype
            new = r.qnn.dequantize(found.value, found.scale, found.zero_point, axis=found.axis, out_dtype=dtype)
            edit.replace_uses(op.results[0], new)
    drop_dead([op])


def absorb_padding(conv: RelayOp) -> None:
    """Padding with the zero point is the convolution's own.

    Before: `qnn.conv2d(nn.pad(x, zero point), ...)`    After: `qnn.conv2d(x, ...)` with more `padding`
    """
    pad = conv.operands[0].owner
    zero = qs.known_values(conv.operands[2])
    if not isinstance(pad, RelayOp) or pad.name != "relay.nn.pad" or zero is None:
        return
    own, attrs = attrs_of(conv), attrs_of(pad)
    widths = image_pads(attrs["pad_width"], own["data_layout"])
    if widths is None or attrs["pad_mode"] != "constant" or attrs["pad_value"] != float(zero.reshape(-1)[0]):
        return
    before, after = pairs(own["padding"], 2)
    padding = [a + b for a, b in zip((*before, *after), widths, strict=True)]
    new = type(conv).make(pad.operands[0], *conv.operands[1:], **(own | {"padding": padding}))
    edit.insert_before(conv, new)
    inherit_location(new, conv)
    edit.replace_uses(conv.results[0], new.results[0])
    drop_dead([conv])


def constants_to_first_use(root: Operation) -> None:
    """Each constant stands right before the first op of its block that uses it, in the order of the operands."""
    placed: set[Operation] = set()
    for op in list(root.walk()):
        first = [c for v in op.operands if isinstance(c := v.owner, ConstantOp) and c.parent is op.parent]
        first = [c for c in dict.fromkeys(first) if c not in placed]
        placed.update(first)
        following: Operation = op
        for constant in reversed(first):
            if following.prev_op is not constant:
                edit.move_before(following, constant)
            following = constant


def drop_dead(ops: list[Operation]) -> None:
    """Erase ops without uses, and what only they used."""
    stack = list(ops)
    while stack:
        op = stack.pop()
        if op.parent is None or any(v.first_use is not None for v in op.results):
            continue
        owners = [v.owner for v in dict.fromkeys(op.operands)]
        edit.erase(op)
        stack.extend(o for o in owners if isinstance(o, (RelayOp, ConstantOp)))
