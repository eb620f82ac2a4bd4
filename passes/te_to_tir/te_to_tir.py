"""The second stair: index equations become loops, and schedules are applied to them.

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

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp as MainReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops, discard
from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.index_map import IndexMapAttr
from lamina.dialects.index.linear import Linear
from lamina.dialects.index.sizes import SHAPE, shape_attrs, symbolic_shape, verify_shapes
from lamina.dialects.schedule.nest.edits import unique_axis
from lamina.dialects.schedule.ops import PrimitiveOp, ScheduleOp, ScheduleState
from lamina.dialects.target import module_target
from lamina.dialects.te import ops as te
from lamina.dialects.te.extents import tensor_extents
from lamina.dialects.te.extern import ExternOp
from lamina.dialects.te.scan import ScanOp
from lamina.dialects.te.tensor_intrin import TensorIntrinOp
from lamina.dialects.tir import ops as tir
from lamina.dialects.tir.memory import extents_of
from lamina.errors import InputError, UsageError, did_you_mean
from lamina.passes.base import Context, ModulePass, has_location, inherit_location
from lamina.passes.relay.partition.external_backends import OUTPUTS, check_on_buffers, is_declaration
from lamina.passes.te_to_tir.computes import lower_compute
from lamina.passes.te_to_tir.externs import lower_extern
from lamina.passes.te_to_tir.intrinsics import IntrinsicTable
from lamina.passes.te_to_tir.lowering import Lowering, Place, copy_nest, memref
from lamina.passes.te_to_tir.reshapes import is_reshape, share_buffers
from lamina.passes.te_to_tir.scans import lower_scan, place_states


@dataclass(frozen=True)
class TeToTirPass(ModulePass):
    name = "te-to-tir"
    needed: ClassVar[bool] = True

    stop_after: int = -1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.stop_after < -1:
            raise UsageError(f"te-to-tir: stop-after is {self.stop_after}; it is a number of primitives, -1 for all")
        # A program does not stop between two levels; a schedule may end after any of its primitives.
        with edit.transaction(op):
            lowered = lower_module(op)
        intrinsics = IntrinsicTable(lowered.declared, ctx, lower_function, module_target(op))
        for name, schedule in lowered.schedules.items():
            if name not in lowered.functions:
                raise InputError(f"te-to-tir: the schedule of @{name} has no function", op=schedule)
            apply_schedule(schedule, lowered.functions[name], lowered.arguments[name], self.stop_after, intrinsics)
        with edit.counted_elsewhere():
            for schedule in lowered.schedules.values():
                edit.take(schedule)
                discard(schedule.body)
            edit.erase_all(lowered.declared.values())
        for left in all_ops(op):
            if left.name.startswith("te."):
                raise InputError(f"te-to-tir leaves {left.name} behind", op=left)


@dataclass(frozen=True)
class Lowered:
    """A module whose functions are naive loops, and what is left to do with them."""

    schedules: dict[str, ScheduleOp]
    functions: dict[str, tir.FuncOp]
    arguments: dict[str, dict[str, SSAValue]]
    """The buffers of each function by argument name."""
    declared: dict[str, TensorIntrinOp]


def lower_module(op: ModuleOp) -> Lowered:
    """Let the functions of a module be naive loops, and `@main` work on buffers."""
    schedules: dict[str, ScheduleOp] = {}
    mains: list[MainOp] = []
    functions: dict[str, tir.FuncOp] = {}
    kernels: dict[str, tir.FuncOp] = {}
    arguments: dict[str, dict[str, SSAValue]] = {}
    declared: dict[str, TensorIntrinOp] = {}
    reshapes: set[str] = set()
    for top in list(op.ops):
        if isinstance(top, ScheduleOp):
            name = top.func.root_reference.data
            if name in schedules:
                raise InputError(f"te-to-tir: @{name} has two schedules", op=top)
            schedules[name] = top
        elif isinstance(top, te.FuncOp):
            if is_reshape(top):
                reshapes.add(top.sym_name.data)
            lowered, names = lower_function(top)
            functions[top.sym_name.data] = lowered
            arguments[top.sym_name.data] = names
            edit.insert_before(top, lowered)
            edit.take(top)
            discard(top.body)
        elif isinstance(top, TensorIntrinOp):
            if top.sym_name.data in declared:
                raise InputError(f"te-to-tir: @{top.sym_name.data} is declared twice", op=top)
            declared[top.sym_name.data] = top
        elif isinstance(top, MainOp) and is_declaration(top):
            functions[top.sym_name.data] = declare_on_buffers(top)
        elif isinstance(top, MainOp) and not top.is_declaration:
            mains.append(top)
        elif isinstance(top, tir.FuncOp):
            kernels[top.sym_name.data] = top
    for main in mains:
        if not _is_lowered(main):
            lower_main(main, kernels | functions, reshapes)
    called = {c.callee.root_reference.data for main in mains for c in main.body.block.ops if type(c) is tir.CallOp}
    for name in reshapes - called if mains else ():
        # All calls of it have become none.
        kernel = functions.pop(name)
        edit.erase(kernel)
        left = schedules.pop(name, None)
        if left is not None:
            edit.take(left)
            discard(left.body)
    return Lowered(schedules, functions, arguments, declared)


def apply_schedule(
    schedule: ScheduleOp,
    func: tir.FuncOp,
    arguments: dict[str, SSAValue],
    stop_after: int = -1,
    intrinsics: IntrinsicTable | None = None,
) -> None:
    """Apply primitives from the top. Raises InputError at the primitive that cannot be applied."""
    state = ScheduleState(func, arguments, intrinsics=intrinsics)
    for n, primitive in enumerate(schedule.body.block.ops):
        if n == stop_after or edit.is_spent():
            break
        if not isinstance(primitive, PrimitiveOp):
            raise InputError(
                f"schedule of @{schedule.func.root_reference.data}: {primitive.name} is no schedule primitive",
                op=primitive,
            )
        try:
            with edit.transaction(primitive, "applied"):
                state.apply(primitive)
        except VerifyException as e:
            name = schedule.func.root_reference.data
            raise InputError(f"schedule of @{name}, {primitive.name}: {e}", op=primitive) from None
        for handle in primitive.results:
            loop = state.loops.get(handle)
            if loop is not None and not has_location(loop):
                loop.location = primitive.location
    for op in all_ops(func):
        if not has_location(op):
            around = op.parent_op()
            op.location = around.location if around is not None and around is not func else schedule.location


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
    lowering = Lowering()
    places = lowering.places
    names: dict[str, SSAValue] = {}
    for n, (old, new) in enumerate(zip(func.body.block.args, block.args, strict=False)):
        new.name_hint = old.name_hint
        if isinstance(old.type, IndexType):
            lowering.sizes[old] = new
            continue
        places[old] = Place(new)
        names[old.name_hint or f"arg{n}"] = new
    copies: list[tuple[SSAValue, SSAValue]] = []
    for value, out in zip(returns.values, list(block.args)[len(in_types) :], strict=True):
        if isinstance(value.owner, (te.ComputeOp, ScanOp, ExternOp)) and value not in places:
            places[value] = Place(out)
            out.name_hint = f"{value.name_hint}_out" if value.name_hint else None
        else:  # an argument, or a value that is returned twice
            copies.append((value, out))
    for op in func.body.block.ops:
        if isinstance(op, ScanOp):
            place_states(op, lowering, block)
    for op in func.body.block.ops:
        if isinstance(op, te.ComputeOp):
            lowering.allocate(op.tensors, op.stage.data, op.extents()[: len(op.spatial)], block)
            nest = lower_compute(op, lowering)
            inherit_location(nest, op)
            block.add_op(nest)
        elif isinstance(op, ScanOp):
            for nest in lower_scan(op, lowering):
                inherit_location(nest, op)
                block.add_op(nest)
        elif isinstance(op, ExternOp):
            for n, (result, extents) in enumerate(zip(op.tensors, op.extents(), strict=True)):
                name = op.stage.data if len(op.tensors) == 1 else f"{op.stage.data}.v{n}"
                lowering.allocate([result], name, extents, block)
            nest = lower_extern(op, lowering)
            inherit_location(nest, op)
            block.add_op(nest)
        elif op is not returns:
            raise InputError(f"te-to-tir: {op.name} cannot stand in a te.func", op=op)
    for value, out in copies:
        extents = extents_of(out)
        nest = copy_nest(places[value], Place(out), extents, unique_axis(lowered, "copy"), lowering)
        inherit_location(nest, returns)
        block.add_op(nest)
    return lowered, names


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


# -- @main: tensors to buffers --------------------------------------------------------------------------------


def _is_lowered(main: MainOp) -> bool:
    """Whether the function is on buffers already."""
    return "lamina.outputs" in main.attributes and not main.function_type.outputs


def _check_main(main: MainOp) -> None:
    """Raise InputError for a function that is not one block on tensors and sizes."""
    name = main.sym_name.data
    if len(main.body.blocks) != 1:
        raise InputError(f"te-to-tir: @{name} branches; it is one list of calls", op=main)
    for n, type_ in enumerate(main.function_type.inputs):
        if not isinstance(type_, (IndexType, TensorType)):
            raise InputError(f"te-to-tir: argument {n} of @{name} is {type_}, neither a tensor nor a size", op=main)
    for n, type_ in enumerate(main.function_type.outputs):
        if not isinstance(type_, TensorType):
            raise InputError(f"te-to-tir: result {n} of @{name} is {type_}, not a tensor", op=main)
    try:
        verify_shapes(main.body.block.args, main.arg_attrs)
    except VerifyException as e:
        raise InputError(f"te-to-tir: @{name}: {e}", op=main) from None


def _check_call(op: te.CallOp, functions: dict[str, tir.FuncOp]) -> None:
    """Raise InputError where the function is not there or takes something else."""
    name = op.callee.root_reference.data
    callee = functions.get(name)
    if callee is None:
        hint = did_you_mean(name, list(functions))
        raise InputError(f"te-to-tir: there is no function @{name} to call", hint=hint, op=op)
    for t in [*op.operand_types, *op.result_types]:
        if not isinstance(t, (IndexType, TensorType)):
            raise InputError(f"te-to-tir: the call of @{name} has {t}, neither a tensor nor a size", op=op)
    given = [t if isinstance(t, IndexType) else memref(t) for t in [*op.operand_types, *op.result_types]]
    taken = list(callee.function_type.inputs)
    if given != taken or callee.outputs.value.data != len(op.results):
        inputs, outputs = (
            taken[: len(taken) - callee.outputs.value.data],
            taken[len(taken) - callee.outputs.value.data :],
        )
        raise InputError(
            f"te-to-tir: the call does not fit @{name}, which takes ({_texts(inputs)}) and gives ({_texts(outputs)})",
            op=op,
        )


def _texts(types: Sequence[Attribute]) -> str:
    return ", ".join(str(t).replace("memref", "tensor", 1) for t in types)


def lower_main(main: MainOp, functions: dict[str, tir.FuncOp], reshapes: Container[str] = ()) -> None:
    """Calls on tensors become calls on buffers; results become trailing arguments.

    What a function of `reshapes` gives is, where that can be, in the buffer that it is given: nothing is called.
    """
    _check_main(main)
    block = main.body.block
    returns = block.last_op
    assert isinstance(returns, MainReturnOp)
    buffers: dict[SSAValue, SSAValue] = {}
    for arg in list(block.args):
        type_ = arg.type if isinstance(arg.type, IndexType) else memref(arg.type)
        new = block.insert_arg(type_, len(block.args))
        new.name_hint = arg.name_hint
        buffers[arg] = new
    outs: list[SSAValue] = []
    for value in returns.operands:
        out = block.insert_arg(memref(value.type), len(block.args))
        if isinstance(value.owner, te.CallOp) and value not in buffers:
            buffers[value] = out
        outs.append(out)
    own = {name for name, kernel in functions.items() if kernel.body.block.ops}
    shared = share_buffers(block, reshapes, own, buffers)
    for op in list(block.ops):
        new_ops: list[Operation] = []
        if isinstance(op, te.CallOp) and op in shared:
            _check_call(op, functions)
            buffers[op.results[0]] = buffers[shared[op]]
        elif isinstance(op, te.CallOp):
            _check_call(op, functions)
            for result in op.results:
                if result not in buffers:
                    name = op.callee.root_reference.data
                    sizes = [buffers[v] for v in op.operands if isinstance(v.type, IndexType)]
                    extents = _result_extents(functions.get(name), result.index, sizes)
                    alloc = tir.AllocOp.make(name, memref(result.type), extents=extents)
                    alloc.result.name_hint = result.name_hint
                    buffers[result] = alloc.result
                    new_ops.append(alloc)
            operands = [buffers[v] for v in [*op.operands, *op.results]]
            new_ops.append(
                tir.CallOp.create(operands=operands, properties={"callee": op.callee}, attributes=dict(op.attributes))
            )
        elif isinstance(op, te.ParamOp):
            param = tir.ParamOp.create(properties={"param": op.param}, result_types=[memref(op.result.type)])
            param.results[0].name_hint = op.result.name_hint
            buffers[op.result] = param.results[0]
            new_ops.append(param)
        elif op is returns:
            for value, out in zip(returns.operands, outs, strict=True):
                if buffers[value] is not out:
                    new_ops.append(tir.CopyOp.create(operands=[buffers[value], out]))
            new_ops.append(MainReturnOp())
        else:
            raise InputError(f"te-to-tir: {op.name} cannot stand in @{main.sym_name.data}", op=op)
        for new in new_ops:
            inherit_location(new, op)
            edit.insert_before(op, new)
    for op in reversed(list(block.ops)):
        if isinstance(op, (te.CallOp, te.ParamOp)) or op is returns:
            edit.erase(op, safe=False)
    count = len(main.function_type.inputs)
    for arg in list(block.args)[:count]:
        block.erase_arg(arg)
    types = list(block.arg_types)
    arg_attrs = list(main.arg_attrs.data) if main.arg_attrs else None
    res_attrs = list(main.res_attrs.data) if main.res_attrs else None
    main.properties["function_type"] = FunctionType.from_lists(types, [])
    main.properties.pop("res_attrs", None)
    if arg_attrs is not None or res_attrs is not None:
        from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr

        empty = DictionaryAttr({})
        attrs = [*(arg_attrs or [empty] * count), *(res_attrs or [empty] * len(outs))]
        main.properties["arg_attrs"] = ArrayAttr(attrs)
    main.attributes["lamina.outputs"] = IntegerAttr(len(outs), i64)


def _result_extents(callee: tir.FuncOp | None, index: int, sizes: list[SSAValue]) -> list[Linear] | None:
    """The extents of a call's result over the sizes that it is called with; None where they are all numbers."""
    if callee is None or callee.arg_attrs is None:
        return None
    attrs = callee.arg_attrs.data[len(callee.arg_attrs.data) - callee.outputs.value.data + index]
    map_ = cast("DictionaryAttr", attrs).data.get(SHAPE)
    return over_values(map_.data.results, sizes) if isinstance(map_, IndexMapAttr) else None
