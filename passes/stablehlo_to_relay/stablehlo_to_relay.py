"""stablehlo-to-relay: a program of StableHLO's, as JAX exports it, in Relay.

Before:
    func.func public @main(%x: tensor<3x4xf32>) -> tensor<3xf32> {
      %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %e = stablehlo.exponential %x : tensor<3x4xf32>
      %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
             : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
      return %s : tensor<3xf32> }
After:
    func.func public @main(%x: tensor<3x4xf32>) -> tensor<3xf32> {
      %e = relay.exp %x : tensor<3x4xf32>
      %s = relay.sum %e {axis = [1]} : (tensor<3x4xf32>) -> tensor<3xf32>
      return %s : tensor<3xf32> }

Each op has a rule: an equation, or a lowering where types, regions or constants decide. They are applied in the order
of the program, so that what is computed of constants alone is one when it is asked for; calls and loops of known trips
are put in place. All ops that have no rule, or none in the form in which they stand, are refused in one message.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, NameLoc, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from lamina.dialects import edit
from lamina.dialects.infos import tensor_info
from lamina.dialects.locations import source_position
from lamina.dialects.relay.base import broadcast_shapes
from lamina.dialects.relay.core import ConstantOp, FnOp, make_constant
from lamina.dialects.relay.elementwise.logic import WhereOp
from lamina.dialects.relay.families import Broadcast
from lamina.dialects.relay.functional.control import IfOp
from lamina.dialects.relay.params import ParamStore, array_dense, dense_array, store_of
from lamina.dialects.relay.shape.views import BroadcastToOp, ReshapeOp
from lamina.dialects.stablehlo.base import HloOp
from lamina.dialects.stablehlo.control import CustomCallOp
from lamina.dialects.stablehlo.refused import RefusedHlo
from lamina.dialects.stablehlo.shape import HloConstantOp
from lamina.dialects.stablehlo.sharding import MeshOp
from lamina.dialects.value_names import NAME
from lamina.errors import InputError, LaminaError, UnsupportedError
from lamina.passes.base import Context, ModulePass
from lamina.passes.rules.rewriting import Driver, Entry, Lowering, Rules
from lamina.passes.stablehlo_to_relay.control import callee_of, control, folded
from lamina.passes.stablehlo_to_relay.elements import elements
from lamina.passes.stablehlo_to_relay.emit import constant, known
from lamina.passes.stablehlo_to_relay.functions import functions
from lamina.passes.stablehlo_to_relay.indexing import indexing
from lamina.passes.stablehlo_to_relay.older import older
from lamina.passes.stablehlo_to_relay.order import sorting
from lamina.passes.stablehlo_to_relay.products import products
from lamina.passes.stablehlo_to_relay.reductions import reductions
from lamina.passes.stablehlo_to_relay.shapes import shapes

stair = Rules("stablehlo-to-relay")
for part in (elements, shapes, products, reductions, indexing, sorting, older, control):
    stair += part

MOST_OPS = 200_000
"""Ops that a program may have when its calls are put in place."""


def fold(op: HloOp) -> SSAValue | None:
    """Before: %0 = stablehlo.add %c, %d : tensor<i32>
    After:  %0 = relay.constant dense<3> : tensor<i32>
    """
    if len(op.results) != 1 or op.regions:
        return None
    arrays = [known(v) for v in op.operands]
    if any(a is None for a in arrays):
        return None
    array = folded(op, arrays)
    return None if array is None else constant(array, op.info().dtype)


FOLD = Entry(Lowering(fold, (HloOp,)), -1)


@dataclass(frozen=True)
class MissingRule:
    """An op that is not lowered: its name, why, and where it stands."""

    name: str
    reason: str
    op: Operation


class InOrder(Driver):
    """Applies the rules to each op once, in the order of the program; what a rule puts in place comes next."""

    def __init__(self, root: ModuleOp, store: ParamStore) -> None:
        super().__init__(stair, root, None)
        self.store = store
        self.refusals: list[MissingRule] = []
        self.made: Sequence[Operation] = ()
        self.seen = 0

    def sweep(self, block: Block) -> None:
        """Lower the ops of a block."""
        op = block.first_op
        while op is not None:
            following = op.next_op
            self.seen += 1
            if self.seen > MOST_OPS:
                raise UnsupportedError(f"more than {MOST_OPS} ops when calls are put in place", op=op)
            self.made = ()
            if isinstance(op, (HloOp, CallOp)):
                self.lower(op)
            elif isinstance(op, (FnOp, IfOp)):
                for region in op.regions:
                    for inner in region.blocks:
                        self.sweep(inner)
            elif not op.name.startswith("relay.") and not isinstance(op, ReturnOp):
                self.refuse(op, "it is of another dialect")
            op = next((m for m in self.made if m.parent is block), following)

    def lower(self, op: Operation) -> None:
        """Apply the first rule that fits an op, or note why none does."""
        if isinstance(op, RefusedHlo):
            self.refuse(op, op.REASON)
            return
        if all(result.first_use is None for result in op.results):
            self.drop_dead(op)
            return
        if isinstance(op, HloConstantOp):
            self.constant(op)
            return
        try:
            if isinstance(op, HloOp):
                for type_ in (*op.operand_types, *op.result_types):
                    tensor_info(type_)
                if self.attempt(FOLD, op):
                    return
            if any(self.attempt(entry, op) for entry in self.dispatch.get(type(op), ())):
                return
            types = ", ".join(dict.fromkeys(str(t) for t in op.operand_types))
            whole = op.name.startswith("chlo.") and type(op) not in self.dispatch
            self.refuse(op, "jax.export writes what it is made of" if whole else f"there is no rule for {types}")
        except UnsupportedError as e:
            self.refuse(op, e.what.removeprefix(f"{op.name}: "))
        except VerifyException as e:
            self.refuse(op, " ".join(str(e).split()))
        except RecursionError:
            self.refuse(op, "it is nested too deeply")

    def constant(self, op: HloConstantOp) -> None:
        """A constant; one of many elements is a parameter."""
        try:
            tensor_info(op.output.type)
        except VerifyException as e:
            self.refuse(op, str(e))
            return
        array = dense_array(op.value)
        if array.size > 1 and op.value.is_splat():
            # Of one number repeated the number is the constant.
            one = ConstantOp.make(array_dense(array.reshape(-1)[0]))
            spread = BroadcastToOp.make(one, shape=array.shape)
            edit.insert_before(op, one)
            edit.replace(op, spread)
            return
        edit.replace(op, make_constant(array, self.store, "constant"))

    def refuse(self, op: Operation, reason: str) -> None:
        name = f"{op.name} @{op.call_target_name.data}" if isinstance(op, CustomCallOp) else op.name
        self.refusals.append(MissingRule(name, reason, op))

    def replaced(
        self, entry: Entry, op: Operation, old: Sequence[SSAValue], new: Sequence[SSAValue], made: Sequence[Operation]
    ) -> None:
        self.made = made
        for new_op in made:
            slim(new_op)
        super().replaced(entry, op, old, new, made)

    def push(self, op: Operation) -> None:
        """Nothing is looked at again."""


def slim(op: Operation) -> None:
    """Give an op that broadcasts what its operands were before they were repeated, where the result stays the same."""
    if not isinstance(op, (Broadcast, WhereOp)):
        return
    shape = tensor_info(op.results[0].type).shape
    for n, value in enumerate(op.operands):
        source = value.owner
        if not isinstance(source, BroadcastToOp) or tensor_info(value.type).shape != shape:
            continue
        others = [tensor_info(v.type).shape for m, v in enumerate(op.operands) if m != n]
        before = without_leading_ones(source.operands[0])
        if broadcast_shapes(*others, tensor_info(before.type).shape) == shape:
            op.operands[n] = before
            edit.drop_dead(source)


def without_leading_ones(value: SSAValue) -> SSAValue:
    """The value that a reshape has put axes of one element before; else the value itself."""
    op = value.owner
    if not isinstance(op, ReshapeOp):
        return value
    shape, source = tensor_info(value.type).shape, tensor_info(op.operands[0].type).shape
    added = len(shape) - len(source)
    return op.operands[0] if added > 0 and shape == (1,) * added + source else value


@dataclass(frozen=True)
class StablehloToRelayPass(ModulePass):
    """A program of StableHLO's in Relay."""

    name = "stablehlo-to-relay"
    needed: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        refusals = lower_module(op, store_of(ctx))
        if refusals:
            raise refused(refusals)


def lower_module(module: ModuleOp, store: ParamStore) -> list[MissingRule]:
    """Lower @main, with the functions that it calls in place: what could not be lowered."""
    all_functions = [f for f in module.body.block.ops if isinstance(f, FuncOp)]
    if not any(isinstance(o, HloOp) for f in all_functions for o in f.walk()):
        return []
    main = entry_of(all_functions)
    check_calls(main, {f.sym_name.data: f for f in all_functions})
    driver = InOrder(module, store)
    for other in list(module.body.block.ops):
        if isinstance(other, MeshOp) and other.devices == 1:
            edit.erase(other)
        elif isinstance(other, MeshOp):
            driver.refuse(other, f"it is for {other.devices} devices")
        elif not isinstance(other, FuncOp):
            driver.refuse(other, "it is no function")
    with edit.transaction(module):
        driver.sweep(main.body.block)
        functions.apply(main)
        name_ports(main)
        if not driver.refusals:
            for function in all_functions:
                if function is not main:
                    edit.erase(function)
    if store.keys():
        module.attributes.setdefault("lamina.params", StringAttr("params.safetensors"))
    return driver.refusals


def entry_of(functions: Sequence[FuncOp]) -> FuncOp:
    """The function @main, of one block. Raises InputError."""
    main = next((f for f in functions if f.sym_name.data == "main"), None)
    if main is None or main.is_declaration or len(main.body.blocks) != 1:
        raise InputError("stablehlo-to-relay: the module has no @main with a body", op=main or None)
    return main


def check_calls(main: FuncOp, functions: dict[str, FuncOp]) -> None:
    """Raises UnsupportedError where functions call themselves, also through others, or are too large in place."""
    sizes: dict[str, int] = {}
    open_: set[str] = set()
    stack: list[tuple[str, bool]] = [(main.sym_name.data, False)]
    while stack:
        name, done = stack.pop()
        if name not in functions or name in sizes:
            continue
        called = [(op, callee) for op in functions[name].walk() if (callee := callee_of(op))]
        if done:
            open_.discard(name)
            inside = sum(sizes.get(callee, 0) for _, callee in called)
            sizes[name] = inside + sum(1 for _ in functions[name].walk())
            if sizes[name] > MOST_OPS:
                what = f"@{name} has {sizes[name]} ops when its calls are put in place; the most are {MOST_OPS}"
                raise UnsupportedError(what, op=functions[name])
            continue
        open_.add(name)
        stack.append((name, True))
        for op, callee in called:
            if callee in open_:
                raise UnsupportedError(f"@{callee} calls itself", op=op)
            stack.append((callee, False))


def name_ports(main: FuncOp) -> None:
    """Name arguments and results as JAX does: by the location of the one, the `jax.result_info` of the other."""
    block = main.body.block
    given = [a.location.desc.data if isinstance(a.location, NameLoc) else "" for a in block.args]
    results: list[Any] = list(main.res_attrs or ())
    infos = [a.data.get("jax.result_info") for a in results]
    said = [i.data if isinstance(i, StringAttr) else "" for i in infos] or [""] * len(main.function_type.outputs)
    for key, names in (("arg_attrs", given), ("res_attrs", said)):
        old: list[Any] = list(main.properties.get(key) or ())  # type: ignore[call-overload]
        kept = [a.data.get(NAME) for a in old] or [None] * len(names)
        entries = [k or (StringAttr(n) if n else None) for k, n in zip(kept, names, strict=True)]
        main.properties.pop(key, None)
        if any(e is not None for e in entries):
            main.properties[key] = ArrayAttr([DictionaryAttr({NAME: e} if e is not None else {}) for e in entries])


def grouped(refusals: Iterable[MissingRule]) -> list[tuple[str, str, list[str], MissingRule]]:
    """MissingRules by name and reason, each with the places where it stands."""
    found: dict[tuple[str, str], tuple[list[str], MissingRule]] = {}
    for refusal in refusals:
        places, _ = found.setdefault((refusal.name, refusal.reason), ([], refusal))
        position = source_position(refusal.op.location)
        places.append(":".join(map(str, position)) if position else "?")
    return [(name, reason, places, first) for (name, reason), (places, first) in found.items()]


def refused(refusals: Sequence[MissingRule]) -> LaminaError:
    """The error of a program, all that is missing in one line."""
    groups = grouped(refusals)
    texts = [f"{name} ({len(places)}x, {reason})" for name, reason, places, _ in groups]
    what = "is" if len(texts) == 1 else "are"
    hint = "`lamina check` lists the places"
    return UnsupportedError(
        f"{'; '.join(texts[:8])}{'; ...' if len(texts) > 8 else ''} {what} not supported", hint=hint, op=groups[0][3].op
    )
