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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp as MainReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.accesses import over_values
from lamina.dialects.dtypes import dtype_name, is_float, is_unsigned
from lamina.dialects.index_map import Condition
from lamina.dialects.linear import Linear
from lamina.dialects.te import ops as te
from lamina.dialects.te.schedule import PrimitiveOp, ScheduleOp, ScheduleState
from lamina.dialects.tir import ops as tir
from lamina.dialects.tir.checks import CheckOp
from lamina.dialects.tir.memory import type_of
from lamina.dialects.tir.nest import unique_axis, wrap
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location


@dataclass(frozen=True)
class TeToTirPass(ModulePass):
    name = "te-to-tir"

    stop_after: int = -1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        schedules: dict[str, ScheduleOp] = {}
        functions: dict[str, tir.FuncOp] = {}
        arguments: dict[str, dict[str, SSAValue]] = {}
        for top in list(op.ops):
            if isinstance(top, ScheduleOp):
                name = top.func.root_reference.data
                if name in schedules:
                    raise InputError(f"te-to-tir: @{name} has two schedules", op=top)
                schedules[name] = top
            elif isinstance(top, te.FuncOp):
                lowered, names = lower_function(top)
                functions[top.sym_name.data] = lowered
                arguments[top.sym_name.data] = names
                op.body.block.insert_op_before(lowered, top)
                top.detach()
                top.erase(safe_erase=False)
            elif isinstance(top, MainOp) and not top.is_declaration:
                lower_main(top)
        for name, schedule in schedules.items():
            if name not in functions:
                raise InputError(f"te-to-tir: the schedule of @{name} has no function", op=schedule)
            apply_schedule(schedule, functions[name], arguments[name], self.stop_after)
            schedule.detach()
            schedule.erase()
        for left in op.walk():
            if left.name.startswith("te."):
                raise InputError(f"te-to-tir leaves {left.name} behind", op=left)


def apply_schedule(
    schedule: ScheduleOp, func: tir.FuncOp, arguments: dict[str, SSAValue], stop_after: int = -1
) -> None:
    """Apply primitives from the top. Raises InputError at the primitive that cannot be applied."""
    state = ScheduleState(func, arguments)
    for n, primitive in enumerate(schedule.body.block.ops):
        if n == stop_after:
            return
        if not isinstance(primitive, PrimitiveOp):
            raise InputError(
                f"schedule of @{schedule.func.root_reference.data}: {primitive.name} is no schedule primitive",
                op=primitive,
            )
        try:
            primitive.apply(state)
        except VerifyException as e:
            name = schedule.func.root_reference.data
            raise InputError(f"schedule of @{name}, {primitive.name}: {e}", op=primitive) from None


# -- functions ------------------------------------------------------------------------------------------


def memref(type_: Attribute) -> MemRefType[Attribute]:
    """The buffer that holds a tensor."""
    if type(type_) is not TensorType:
        raise VerifyException(f"te-to-tir: {type_} is no tensor")
    return tir.buffer_type(type_.get_shape(), type_.element_type)


def lower_function(func: te.FuncOp) -> tuple[tir.FuncOp, dict[str, SSAValue]]:
    """The naive loop nests of a te.func, and its buffers by argument name."""
    returns = func.body.block.last_op
    assert isinstance(returns, te.ReturnOp)
    in_types = [memref(t) for t in func.function_type.inputs]
    out_types = [memref(t) for t in func.function_type.outputs]
    lowered = tir.FuncOp.make(func.sym_name.data, [*in_types, *out_types], len(out_types))
    lowered.location = func.location
    lowered.attributes = dict(func.attributes)
    block = lowered.body.block
    buffers: dict[SSAValue, SSAValue] = {}
    names: dict[str, SSAValue] = {}
    for n, (old, new) in enumerate(zip(func.body.block.args, block.args, strict=False)):
        buffers[old] = new
        new.name_hint = old.name_hint
        names[old.name_hint or f"arg{n}"] = new
    copies: list[tuple[SSAValue, SSAValue]] = []
    for value, out in zip(returns.values, list(block.args)[len(in_types) :], strict=True):
        if isinstance(value.owner, te.ComputeOp) and value not in buffers:
            buffers[value] = out
            out.name_hint = f"{value.name_hint}_out" if value.name_hint else None
        else:  # an argument, or a value that is returned twice
            copies.append((value, out))
    axes: dict[str, int] = {}
    for op in func.body.block.ops:
        if isinstance(op, te.ComputeOp):
            if op.result not in buffers:
                alloc = tir.AllocOp.make(op.stage.data, memref(op.result.type))
                alloc.location = op.location
                block.add_op(alloc)
                buffers[op.result] = alloc.result
            nest = lower_compute(op, buffers, axes)
            inherit_location(nest, op)
            block.add_op(nest)
        elif op is not returns:
            raise InputError(f"te-to-tir: {op.name} cannot stand in a te.func", op=op)
    for value, out in copies:
        block.add_op(_copy_nest(buffers[value], out, unique_axis(lowered, "copy")))
    return lowered, names


def _loops(names: list[str], extents: list[int], reductions: int, axes: dict[str, int], stage: str) -> list[tir.ForOp]:
    loops: list[tir.ForOp] = []
    for n, (name, extent) in enumerate(zip(names, extents, strict=True)):
        axis = f"{stage}.{name}"
        seen = axes.get(axis, 0)
        axes[axis] = seen + 1
        loops.append(
            tir.ForOp.make(
                extent,
                f"{axis}_{seen}" if seen else axis,
                reduction=n >= len(names) - reductions,
                hint=name,
            )
        )
    return loops


def _copy_nest(source: SSAValue, target: SSAValue, stage: str) -> Operation:
    shape = list(type_of(target).get_shape())
    loops = _loops([f"i{n}" for n in range(len(shape))], shape, 0, {}, stage)
    index = [Linear.dim(v.var) for v in loops]
    load = tir.LoadOp.make(source, index)
    body = Block([load, tir.StoreOp.make(load.result, target, index)])
    return _nest(loops, tir.BlockOp.make(stage, None, body))


def _nest(loops: list[tir.ForOp], block: tir.BlockOp) -> Operation:
    if not loops:
        return block
    holder = Block()
    holder.add_op(block)
    wrap(loops, holder)
    return loops[0]


def lower_compute(op: te.ComputeOp, buffers: dict[SSAValue, SSAValue], axes: dict[str, int]) -> Operation:
    """The loop nest of one compute."""
    stage = op.stage.data
    source = op.body.block
    names = [a.name_hint or f"i{n}" for n, a in enumerate(source.args)]
    target = buffers[op.result]
    if op.combiner is not None and 0 in op.reduced:  # a reduction over nothing: its initial value
        loops = _loops(names[: len(op.spatial)], list(op.spatial), 0, axes, stage)
        element = op.result.type.element_type
        start = identity(op.combiner.data, dtype_name(element), element)
        store = tir.StoreOp.make(start.results[0], target, [Linear.dim(v.var) for v in loops])
        return _nest(loops, tir.BlockOp.make(stage, None, Block([start, store])))
    loops = _loops(names, [*op.spatial, *op.reduced], len(op.reduced), axes, stage)
    variables: dict[SSAValue, SSAValue] = dict(zip(source.args, (v.var for v in loops), strict=True))
    index = [Linear.dim(v.var) for v in loops[: len(op.spatial)]]
    body = Block()
    accumulator = None
    if op.combiner is not None:
        accumulator = tir.LoadOp.make(target, index)
        body.add_op(accumulator)
    value = _lower_body(source, body, variables, buffers)
    init = None
    if accumulator is not None and op.combiner is not None:
        dtype = dtype_name(op.result.type.element_type)
        combined = combine(op.combiner.data, dtype, accumulator.result, value)
        body.add_op(combined)
        value = combined.results[0]
        start = identity(op.combiner.data, dtype, value.type)
        init = Block([start, tir.StoreOp.make(start.results[0], target, index)])
    body.add_op(tir.StoreOp.make(value, target, index))
    return _nest(loops, tir.BlockOp.make(stage, init, body))


def _lower_body(
    source: Block, target: Block, variables: dict[SSAValue, SSAValue], buffers: dict[SSAValue, SSAValue]
) -> SSAValue:
    """Copy an equation with reads as loads; returns what it yields."""
    values = dict(variables)

    def values_of(operands: Sequence[SSAValue]) -> list[SSAValue]:
        return [_as_index(v, target, values) for v in operands]

    for op in source.ops:
        if isinstance(op, te.YieldOp):
            return values.get(op.value, op.value)
        if isinstance(op, te.ReadOp):
            operands = values_of(op.indices)
            forms = over_values(op.map.data.results, operands)
            conditions: list[Condition] = []
            if op.guard is not None:
                guards = over_values([c.form for c in op.guard.data.conditions], operands)
                conditions = [Condition(f, c.equal) for f, c in zip(guards, op.guard.data.conditions, strict=True)]
            new: Operation = tir.LoadOp.make(buffers[op.tensor], forms, conditions)
        elif isinstance(op, te.IndexOp):
            (form,) = over_values(op.map.data.results, values_of(op.indices))
            new = tir.IndexOp.of(form)
        elif isinstance(op, te.ConditionOp):
            guards = over_values([c.form for c in op.set.data.conditions], values_of(op.indices))
            new = tir.ConditionOp.of(
                [Condition(f, c.equal) for f, c in zip(guards, op.set.data.conditions, strict=True)]
            )
        elif isinstance(op, te.CheckOp):
            value, condition = (_through_index_op(v, target, values, variables) for v in op.operands)
            new = CheckOp.make(value, condition, op.message.data)
        elif op.name.startswith(("arith.", "math.")):
            operands = [_through_index_op(v, target, values, variables) for v in op.operands]
            new = type(op).create(
                operands=operands,
                result_types=list(op.result_types),
                properties=dict(op.properties),
                attributes=dict(op.attributes),
            )
        else:
            raise InputError(f"te-to-tir: {op.name} cannot stand in a te.compute", op=op)
        new.location = op.location
        target.add_op(new)
        values[op.results[0]] = new.results[0]
        new.results[0].name_hint = op.results[0].name_hint
    raise VerifyException("te-to-tir: a te.compute without te.yield")


def _as_index(value: SSAValue, target: Block, values: dict[SSAValue, SSAValue]) -> SSAValue:
    found = values.get(value, value)
    assert isinstance(found.type, IndexType)
    return found


def _through_index_op(
    value: SSAValue, target: Block, values: dict[SSAValue, SSAValue], variables: dict[SSAValue, SSAValue]
) -> SSAValue:
    """An operand of arithmetic; a loop variable enters arithmetic only through tir.index."""
    if value in variables:
        index = tir.IndexOp.of(Linear.dim(variables[value]))
        target.add_op(index)
        return index.result
    return values.get(value, value)


_COMBINE = {
    "sum": (arith.AddfOp, arith.AddiOp, arith.AddiOp),
    "prod": (arith.MulfOp, arith.MuliOp, arith.MuliOp),
    "max": (arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp),
    "min": (arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp),
}


def combine(combiner: str, dtype: str, a: SSAValue, b: SSAValue) -> Operation:
    """The op that adds one term to a reduction; booleans are added by or, multiplied by and."""
    if dtype == "bool":
        op_type = {"sum": arith.OrIOp, "max": arith.OrIOp, "prod": arith.AndIOp, "min": arith.AndIOp}[combiner]
        return op_type.create(operands=[a, b], result_types=[a.type])
    float_op, int_op, unsigned_op = _COMBINE[combiner]
    if is_float(dtype):
        return float_op(a, b)
    return (unsigned_op if is_unsigned(dtype) else int_op)(a, b)


def identity(combiner: str, dtype: str, type_: Attribute) -> arith.ConstantOp:
    """The constant that a reduction starts from."""
    if is_float(dtype):
        value = {"sum": 0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}[combiner]
        return arith.ConstantOp(FloatAttr(value, cast("AnyFloat", type_)))
    assert type(type_) is IntegerType
    bits = type_.width.data
    if dtype == "bool" or is_unsigned(dtype):
        low, high = 0, -1  # all ones, as signless integers print
    else:
        low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    number = {"sum": 0, "prod": 1, "max": low, "min": high}[combiner]
    return arith.ConstantOp(IntegerAttr(number, type_))


# -- @main: tensors to buffers --------------------------------------------------------------------------------


def lower_main(main: MainOp) -> None:
    """Calls on tensors become calls on buffers; results become trailing arguments."""
    block = main.body.block
    returns = block.last_op
    assert isinstance(returns, MainReturnOp)
    buffers: dict[SSAValue, SSAValue] = {}
    for arg in list(block.args):
        new = block.insert_arg(memref(arg.type), len(block.args))
        new.name_hint = arg.name_hint
        buffers[arg] = new
    outs: list[SSAValue] = []
    for value in returns.operands:
        out = block.insert_arg(memref(value.type), len(block.args))
        if isinstance(value.owner, te.CallOp) and value not in buffers:
            buffers[value] = out
        outs.append(out)
    for op in list(block.ops):
        new_ops: list[Operation] = []
        if isinstance(op, te.CallOp):
            for result in op.results:
                if result not in buffers:
                    alloc = tir.AllocOp.make(op.callee.root_reference.data, memref(result.type))
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
            block.insert_op_before(new, op)
    for op in reversed(list(block.ops)):
        if isinstance(op, (te.CallOp, te.ParamOp)) or op is returns:
            op.detach()
            op.erase(safe_erase=False)
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
