"""The second stair: index equations become loops, and schedules are applied to them; one rule for each op.

Each te.compute becomes a naive loop nest, then the ops of the function's te.schedule rewrite it one by one, as
written. `@main` goes from tensors to buffers; its results become trailing arguments.

Before:
    %y = te.compute "y" [4] sum [2] (%i, %k) : tensor<4xf32> {
      %x = te.read %X[%i * 2 + %k] : tensor<8xf32>
      te.yield %x : f32
    }
After:
    tir.for %i = 0 to 4 "y.i" {
      tir.for %k = 0 to 2 reduction "y.k" {
        tir.block "y" init { ... } do { %acc = tir.load %y[%i] ... tir.store %s, %y[%i] : memref<4xf32> }
      }
    }

With `stop_after=N` only the first N primitives of each schedule are applied, to look at the state between them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, cast

from xdsl.dialects.builtin import FunctionType, IndexType, IntegerAttr, ModuleOp, StringAttr, TensorType, i64
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops, discard
from lamina.dialects.index.index_map import IndexMapAttr
from lamina.dialects.index.sizes import shape_attrs, symbolic_shape
from lamina.dialects.schedule.nest.edits import unique_axis
from lamina.dialects.schedule.nest.scopes import open_registers
from lamina.dialects.schedule.ops import ScheduleOp, ScheduleState, in_order
from lamina.dialects.target import module_target
from lamina.dialects.te import ops as te
from lamina.dialects.te.extents import tensor_extents
from lamina.dialects.te.extern import ExternOp
from lamina.dialects.te.scan import ScanOp
from lamina.dialects.te.tensor_intrin import TensorIntrinOp
from lamina.dialects.tir import ops as tir
from lamina.dialects.tir.memory import extents_of
from lamina.errors import InputError, UsageError
from lamina.passes.base import Context, ModulePass, has_location
from lamina.passes.relay.partition.external_backends import OUTPUTS, check_on_buffers, is_declaration
from lamina.passes.rules.conversion import Conversion

# The files that hold rules enter them as they are imported.
from lamina.passes.te_to_tir import computes as computes
from lamina.passes.te_to_tir import externs as externs
from lamina.passes.te_to_tir.calls import is_lowered, lower_main
from lamina.passes.te_to_tir.intrinsics import IntrinsicTable
from lamina.passes.te_to_tir.lowering import Lowering, Place, copy_nest, memref
from lamina.passes.te_to_tir.reshapes import is_reshape
from lamina.passes.te_to_tir.rules import calls as calls
from lamina.passes.te_to_tir.rules import elements as elements
from lamina.passes.te_to_tir.rules import primitives, stages
from lamina.passes.te_to_tir.scans import place_states


@dataclass(frozen=True)
class TeToTirPass(ModulePass):
    name = "te-to-tir"
    needed: ClassVar[bool] = True

    stop_after: int = -1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.stop_after < -1:
            raise UsageError(f"te-to-tir: stop-after is {self.stop_after}; it is a number of primitives, -1 for all")
        lowered, _ = apply_schedules(op, ctx, self.stop_after)
        with edit.counted_elsewhere():
            for schedule in lowered.schedules.values():
                edit.take(schedule)
                discard(schedule.body)
            edit.erase_all(lowered.declared.values())
        for left in all_ops(op):
            if left.name.startswith("te."):
                raise InputError(f"te-to-tir leaves {left.name} behind", op=left)


@dataclass
class Lowered:
    """A module whose functions are naive loops, and what is left to do with them."""

    schedules: dict[str, ScheduleOp] = field(default_factory=dict[str, ScheduleOp])
    functions: dict[str, tir.FuncOp] = field(default_factory=dict[str, tir.FuncOp])
    arguments: dict[str, dict[str, SSAValue]] = field(default_factory=dict[str, dict[str, SSAValue]])
    """The buffers of each function by argument name."""
    declared: dict[str, TensorIntrinOp] = field(default_factory=dict[str, TensorIntrinOp])
    kernels: dict[str, tir.FuncOp] = field(default_factory=dict[str, tir.FuncOp])
    """Functions that were loops before."""
    mains: list[MainOp] = field(default_factory=list[MainOp])
    reshapes: set[str] = field(default_factory=set[str])
    """Functions that only give a tensor another shape."""


tops: Conversion[Lowered, None] = Conversion("te-to-tir", "a module")


@tops.lowers(te.FuncOp)
def function(op: te.FuncOp, lowered: Lowered) -> None:
    """A tir.func of naive loops, which the function's schedule then rewrites."""
    name = op.sym_name.data
    if is_reshape(op):
        lowered.reshapes.add(name)
    lowered.functions[name], lowered.arguments[name] = lower_function(op)
    edit.insert_before(op, lowered.functions[name])
    edit.take(op)
    discard(op.body)


@tops.lowers(ScheduleOp)
def schedule(op: ScheduleOp, lowered: Lowered) -> None:
    """Its primitives, applied to the loops of its function one after the other."""
    name = op.func.root_reference.data
    if name in lowered.schedules:
        raise InputError(f"te-to-tir: @{name} has two schedules", op=op)
    lowered.schedules[name] = op


@tops.lowers(TensorIntrinOp)
def tensor_intrin(op: TensorIntrinOp, lowered: Lowered) -> None:
    """Nothing: te.tensorize puts its body where loops compute what it describes."""
    name = op.sym_name.data
    if name in lowered.declared:
        raise InputError(f"te-to-tir: @{name} is declared twice", op=op)
    lowered.declared[name] = op


@tops.lowers(MainOp)
def main(op: MainOp, lowered: Lowered) -> None:
    """The same on buffers; results become trailing arguments."""
    if is_declaration(op):
        lowered.functions[op.sym_name.data] = declare_on_buffers(op)
    elif not op.is_declaration:
        lowered.mains.append(op)


@tops.lowers(tir.FuncOp)
def kernel(op: tir.FuncOp, lowered: Lowered) -> None:
    """Itself."""
    lowered.kernels[op.sym_name.data] = op


def lower_module(op: ModuleOp) -> Lowered:
    """Let the functions of a module be naive loops, and `@main` work on buffers."""
    lowered = Lowered()
    for top in list(op.ops):
        if tops.find(type(top)) is not None:
            tops.lower(top, lowered)
    for each in lowered.mains:
        if not is_lowered(each):
            lower_main(each, lowered.kernels | lowered.functions, lowered.reshapes)
    called = {
        c.callee.root_reference.data for each in lowered.mains for c in each.body.block.ops if type(c) is tir.CallOp
    }
    for name in lowered.reshapes - called if lowered.mains else ():
        # All calls of it have become none.
        edit.erase(lowered.functions.pop(name))
        left = lowered.schedules.pop(name, None)
        if left is not None:
            edit.take(left)
            discard(left.body)
    return lowered


def apply_schedules(op: ModuleOp, ctx: Context, stop_after: int = -1) -> tuple[Lowered, dict[str, ScheduleState]]:
    """Let the functions of a module be the loops that their schedules say; these stay, and know their loops.

    Raises InputError at the primitive that cannot be applied.
    """
    # A program does not stop between two levels; a schedule may end after any of its primitives.
    with edit.transaction(op):
        lowered = lower_module(op)
    intrinsics = IntrinsicTable(lowered.declared, ctx, lower_function, module_target(op))
    states: dict[str, ScheduleState] = {}
    for name, schedule in lowered.schedules.items():
        if name not in lowered.functions:
            raise InputError(f"te-to-tir: the schedule of @{name} has no function", op=schedule)
        func, arguments = lowered.functions[name], lowered.arguments[name]
        states[name] = apply_schedule(schedule, func, arguments, stop_after, intrinsics)
    return lowered, states


def apply_schedule(
    schedule: ScheduleOp,
    func: tir.FuncOp,
    arguments: dict[str, SSAValue],
    stop_after: int = -1,
    intrinsics: IntrinsicTable | None = None,
) -> ScheduleState:
    """Apply primitives from the top. Raises InputError at the primitive that cannot be applied."""
    state = ScheduleState(func, arguments, intrinsics=intrinsics)
    for n, primitive in enumerate(in_order(schedule.body.block.ops)):
        if n == stop_after or edit.is_spent():
            break
        rule = primitives.find(type(primitive))
        if rule is None:
            raise InputError(
                f"schedule of @{schedule.func.root_reference.data}: {primitive.name} is no schedule primitive",
                op=primitive,
            )
        try:
            with edit.transaction(primitive, "applied", rule.where):
                rule.function(primitive, state)
        except VerifyException as e:
            name = schedule.func.root_reference.data
            raise InputError(f"schedule of @{name}, {primitive.name}: {e}", op=primitive) from None
        for handle in primitive.results:
            loop = state.loops.get(handle)
            if loop is not None and not has_location(loop):
                loop.location = primitive.location
    else:
        _check_registers(state, schedule)
    for op in all_ops(func):
        if not has_location(op):
            around = op.parent_op()
            op.location = around.location if around is not None and around is not func else schedule.location
    return state


def _check_registers(state: ScheduleState, schedule: ScheduleOp) -> None:
    """Raise InputError where a schedule ends with a buffer in registers of which nobody knows the number."""
    for alloc in open_registers(state.func) if state.unplaced else ():
        primitive = state.unplaced.get(alloc.stage.data)
        if primitive is not None:
            func, name = schedule.func.root_reference.data, primitive.name.removeprefix("te.")
            stage = cast("StringAttr", primitive.properties["stage"]).data
            what = f"schedule of @{func}, {primitive.name}: {name} of {stage!r}: its extents are known only at run time"
            hint = "a later primitive computes it in a loop over tiles"
            raise InputError(f"{what}, the number of registers is not", hint=hint, op=primitive)


# -- functions ------------------------------------------------------------------------------------------


def lower_function(func: te.FuncOp) -> tuple[tir.FuncOp, dict[str, SSAValue]]:
    """The naive loop nests of a te.func, and its buffers by argument name."""
    returns = func.body.block.last_op
    assert isinstance(returns, te.ReturnOp)
    in_types = [t if isinstance(t, IndexType) else memref(t) for t in func.function_type.inputs]
    out_types = [memref(t) for t in func.function_type.outputs]
    lowered = tir.FuncOp.make(func.sym_name.data, [*in_types, *out_types], len(out_types))
    shapes = _shapes(func)
    if any(s is not None for s in shapes):
        lowered.properties["arg_attrs"] = shape_attrs(shapes)
    lowered.location = func.location
    lowered.attributes = dict(func.attributes)
    block = lowered.body.block
    lowering = Lowering(block)
    places = lowering.places
    names: dict[str, SSAValue] = {}
    for n, (old, new) in enumerate(zip(func.body.block.args, block.args, strict=False)):
        new.name_hint = old.name_hint
        if isinstance(old.type, IndexType):
            lowering.sizes[old] = new
            continue
        places[old] = Place(new)
        names[old.name_hint or f"arg{n}"] = new
    for value, out in zip(returns.values, list(block.args)[len(in_types) :], strict=True):
        if isinstance(value.owner, (te.ComputeOp, ScanOp, ExternOp)) and value not in places:
            places[value] = Place(out)
            out.name_hint = f"{value.name_hint}_out" if value.name_hint else None
        else:  # an argument, or a value that is returned twice
            lowering.copies.append((value, out))
    for op in func.body.block.ops:
        if isinstance(op, ScanOp):
            place_states(op, lowering)
    for op in func.body.block.ops:
        lowering.put(op, stages.lower(op, lowering))
    return lowered, names


@stages.lowers(te.ReturnOp)
def returns(op: te.ReturnOp, lowering: Lowering) -> Iterable[Operation]:
    """Nothing for what is computed in the result's own buffer; a nest that copies what is not."""
    func = lowering.block.parent_op()
    assert isinstance(func, tir.FuncOp)
    for value, out in lowering.copies:
        axis = unique_axis(func, "copy")
        yield copy_nest(lowering.places[value], Place(out), extents_of(out), axis, lowering)


def _shapes(func: te.FuncOp) -> list[IndexMapAttr | None]:
    """The `te.shape` of each argument of the tir function: those of the te function, and those of its results."""
    args = func.body.block.args
    returns = func.body.block.last_op
    assert isinstance(returns, te.ReturnOp)
    return [
        None if isinstance(v.type, IndexType) else symbolic_shape(args, tensor_extents(v))
        for v in (*args, *returns.values)
    ]


def declare_on_buffers(declaration: MainOp) -> tir.FuncOp:
    """Make the declaration of an external function one on buffers: a kernel without a body, for its calls to fit.

    Raises InputError where it is neither on tensors nor on buffers.
    """
    type_ = declaration.function_type
    types = [*type_.inputs, *type_.outputs]
    if OUTPUTS not in declaration.attributes and all(isinstance(t, TensorType) for t in types):
        declaration.attributes[OUTPUTS] = IntegerAttr(len(type_.outputs), i64)
        declaration.properties["function_type"] = FunctionType.from_lists([memref(t) for t in types], [])
    check_on_buffers(declaration)
    taken = list(declaration.function_type.inputs)
    outputs = cast("IntegerAttr", declaration.attributes[OUTPUTS]).value.data
    return tir.FuncOp.make(declaration.sym_name.data, taken, outputs)
