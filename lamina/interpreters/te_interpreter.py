"""Runs te by its definition, with every index checked.

Each `te.compute` is evaluated on whole grids: a dimension is an array that varies along its own axis, index
expressions and scalars broadcast against each other, and the reduced axes are folded at the end. A grid beyond
`CHUNK` elements is cut along its outer dimensions. A guarded read gives zero where its guard fails; an index
outside its dimension where no guard protects it is an error that names the buffer, the expression, and the
values of the dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import IndexType, TensorType, i1
from xdsl.ir import Attribute, Block, SSAValue

from lamina.dialects.dtypes import dtype_name, is_unsigned
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear, constant, linear_text
from lamina.dialects.index.sizes import ArgAttrs, argument_extents
from lamina.dialects.scalar.oracles import element_dtype, evaluate, signless
from lamina.dialects.schedule.nest.edits import substitute_in
from lamina.dialects.te.extern import ExternOp
from lamina.dialects.te.ops import (
    CallOp,
    CheckOp,
    ComputeOp,
    ConditionOp,
    FuncOp,
    IndexOp,
    ParamOp,
    ReadOp,
    ReturnOp,
    YieldOp,
)
from lamina.dialects.te.scan import ScanOp
from lamina.dialects.tir import ops as tir
from lamina.dialects.tir.memory import type_of
from lamina.errors import InputError
from lamina.interpreters.accesses import OutOfBoundsError, value_name
from lamina.interpreters.reductions import check, reduce
from lamina.interpreters.tir_interpreter import run_tir_func

CHUNK = 1 << 22
"""Elements of one grid, reduced dimensions included."""


@dataclass
class Program:
    """The things that a te.func may refer to: functions it calls by name, and parameters by their attribute."""

    functions: Mapping[str, FuncOp] = field(default_factory=dict[str, FuncOp])
    param: Callable[[Attribute], np.ndarray[Any, Any]] | None = None


def run_te_func(
    func: FuncOp, arrays: Sequence[np.ndarray[Any, Any]], program: Program | None = None
) -> list[np.ndarray[Any, Any]]:
    """The results of a te.func on arrays of its argument types; a size is given as an integer."""
    program = program or Program()
    block = func.body.block
    if len(arrays) != len(block.args):
        raise InputError(f"@{func.sym_name.data} takes {len(block.args)} arrays, got {len(arrays)}")
    values: dict[SSAValue, np.ndarray[Any, Any]] = {}
    indices: dict[Atom, int] = {
        a: int(array) for a, array in zip(block.args, arrays, strict=True) if isinstance(a.type, IndexType)
    }
    for n, (argument, array) in enumerate(zip(block.args, arrays, strict=True)):
        if argument not in indices:
            extents = argument_extents(argument, cast("ArgAttrs", func.arg_attrs))
            shape = tuple(e.evaluate(indices) for e in extents)
            what = f"argument {n} of @{func.sym_name.data}"
            values[argument] = _checked(what, argument.type, np.asarray(array), shape)
    for op in block.ops:
        if isinstance(op, ComputeOp):
            values.update(zip(op.tensors, run_compute(op, values, indices), strict=True))
        elif isinstance(op, ScanOp):
            values.update(zip(op.tensors, run_scan(op, values, indices), strict=True))
        elif isinstance(op, ExternOp):
            values.update(zip(op.tensors, run_extern(op, values, indices), strict=True))
        elif isinstance(op, ReturnOp):
            return [values[v] for v in op.values]
        elif isinstance(op, ParamOp):
            if program.param is None:
                raise InputError(f"no store holds the parameter {op.param}", op=op)
            type_ = cast("TensorType[Attribute]", op.result.type)
            values[op.result] = _checked("the parameter", type_, program.param(op.param), type_.get_shape())
        elif isinstance(op, CallOp):
            name = op.callee.string_value()
            callee = program.functions.get(name)
            if callee is None:
                raise InputError(f"there is no function @{name}", op=op)
            results = run_te_func(callee, [values[v] for v in op.arguments], program)
            values.update(zip(op.res, results, strict=True))
        else:
            raise InputError(f"{op.name} is no op of a te.func", op=op)
    raise InputError(f"@{func.sym_name.data} ends without te.return", op=func)


def _checked(what: str, type_: Attribute, array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The array, if it is of a tensor type and of a shape."""
    if array.shape != shape or array.dtype != element_dtype(type_):
        raise InputError(f"{what} is {type_}, got {array.dtype} of shape {array.shape}")
    return array


def run_compute(
    op: ComputeOp, values: Mapping[SSAValue, np.ndarray[Any, Any]], indices: Mapping[Atom, int] | None = None
) -> list[np.ndarray[Any, Any]]:
    """The tensors that a te.compute defines.

    `values` holds the tensors that it reads, `indices` the sizes and times around it.
    """
    indices = indices or {}
    extents = tuple(e.evaluate(indices) for e in op.extents())
    rank = len(op.spatial)
    spatial, reduced = extents[:rank], extents[rank:]
    results = [np.empty(spatial, element_dtype(t)) for t in op.result_types]
    if results[0].size == 0:
        return results
    if 0 in reduced:
        for result, start in zip(results, _fold(op, [()] * len(results), reduced, results), strict=True):
            signless(result)[...] = start
        return results
    for box in _boxes(extents, rank):
        found = _evaluate_body(op, box, values, indices)
        shape = tuple(high - low for low, high in box)
        if op.combiner is not None:
            found = _fold(op, [np.broadcast_to(v, shape) for v in found], reduced, results)
        place = tuple(slice(low, high) for low, high in box[:rank])
        for result, value in zip(results, found, strict=True):
            signless(result)[place] = value
    return results


def run_scan(
    op: ScanOp, values: Mapping[SSAValue, np.ndarray[Any, Any]], indices: Mapping[Atom, int]
) -> list[np.ndarray[Any, Any]]:
    """The tensors that a te.scan defines, one time after the other."""
    tensors = dict(values)
    states: list[np.ndarray[Any, Any]] = []
    for state, init, extents in zip(op.states, op.inits, op.extents(), strict=True):
        shape = tuple(e.evaluate(indices) for e in extents)
        tensors[state] = np.empty(shape, element_dtype(state.type))
        begun = min(op.first, shape[0])
        tensors[state][:begun] = values[init][:begun]
        states.append(tensors[state])
    for time in range(op.first, op.extent().evaluate(indices)):
        now: dict[Atom, int] = {**indices, op.var: time}
        for inner in op.body.block.ops:
            if isinstance(inner, ComputeOp):
                tensors.update(zip(inner.tensors, run_compute(inner, tensors, now), strict=True))
        for state, slice_ in zip(states, op.slices, strict=True):
            state[time] = tensors[slice_]
    return states


def run_extern(
    op: ExternOp, values: Mapping[SSAValue, np.ndarray[Any, Any]], indices: Mapping[Atom, int]
) -> list[np.ndarray[Any, Any]]:
    """The tensors that the tir of a te.extern computes."""
    arrays = [values[v] for v in op.inputs]
    shapes = [a.shape for a in arrays] + [tuple(e.evaluate(indices) for e in extents) for extents in op.extents()]
    return run_tir_func(_kernel_of(op, shapes, indices), arrays)


def _kernel_of(op: ExternOp, shapes: Sequence[tuple[int, ...]], indices: Mapping[Atom, int]) -> tir.FuncOp:
    """The tir of an extern as a function of its inputs and outputs, with numbers for the sizes."""
    old = op.body.block.args
    types = [tir.buffer_type(s, type_of(a).element_type) for s, a in zip(shapes, old, strict=True)]
    func = tir.FuncOp.make(op.stage.data, types, len(op.tensors))
    func.location = op.location
    values: dict[SSAValue, SSAValue] = {}
    for a, b in zip(old, func.body.block.args, strict=True):
        values[a] = b
        b.name_hint = a.name_hint
    func.body.block.add_ops([inner.clone(values) for inner in op.body.block.ops])
    numbers = {v: constant(n) for v, n in indices.items()}
    for inner in func.body.walk():
        if any(v in numbers for v in inner.operands):
            substitute_in(inner, numbers, RangeCache())
    return func


def _fold(
    op: ComputeOp, terms: Sequence[Any], reduced: tuple[int, ...], results: Sequence[np.ndarray[Any, Any]]
) -> list[np.ndarray[Any, Any]]:
    """Terms over the whole grid, folded over the trailing dimensions from the first term to the last."""
    assert op.combiner is not None
    if op.reducer:
        combine, identity = (region.block for region in op.reducer)
        held = _evaluate_block(identity, [])
        if 0 in reduced:
            return held
        spatial = np.shape(terms[0])[: len(op.spatial)]
        rows = [np.reshape(t, (*spatial, -1)) for t in terms]
        for k in range(rows[0].shape[-1]):
            held = _evaluate_block(combine, [*held, *(r[..., k] for r in rows)])
        return held
    (result,) = results
    type_ = op.result.type.element_type
    unsigned = is_unsigned(dtype_name(type_)) and type_ != i1
    if 0 in reduced:
        return [np.asarray(reduce(op.combiner.data, np.empty((0,), signless(result).dtype), (0,), unsigned))]
    axes = tuple(range(len(op.spatial), len(op.spatial) + len(reduced)))
    return [np.asarray(reduce(op.combiner.data, terms[0], axes, unsigned))]


def _evaluate_block(block: Block, arguments: Sequence[Any]) -> list[Any]:
    """The values that a block of arithmetic yields for its arguments."""
    scalars: dict[SSAValue, Any] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        if isinstance(op, YieldOp):
            return [np.asarray(scalars[v]) for v in op.values]
        scalars[op.results[0]] = evaluate(op, [scalars[v] for v in op.operands])
    raise InputError("a region ends without te.yield")


def _boxes(extents: tuple[int, ...], spatial: int) -> list[list[tuple[int, int]]]:
    """The grid cut along its spatial dimensions into boxes of at most CHUNK elements, where that is possible."""
    steps = list(extents)
    total = int(np.prod(extents, dtype=np.int64))
    for d in range(spatial):
        if total <= CHUNK:
            break
        total //= steps[d]
        steps[d] = max(1, min(steps[d], CHUNK // max(total, 1)))
        total *= steps[d]
    boxes: list[list[tuple[int, int]]] = [[]]
    for extent, step in zip(extents, steps, strict=True):
        cuts = [(low, min(low + step, extent)) for low in range(0, extent, step)]
        boxes = [[*box, cut] for box in boxes for cut in cuts]
    return boxes


def _evaluate_body(
    op: ComputeOp,
    box: list[tuple[int, int]],
    tensors: Mapping[SSAValue, np.ndarray[Any, Any]],
    indices: Mapping[Atom, int],
) -> list[np.ndarray[Any, Any]]:
    block = op.body.block
    rank = len(box)
    scalars: dict[SSAValue, Any] = {cast(SSAValue, v): np.asarray(n) for v, n in indices.items()}
    for d, (argument, (low, high)) in enumerate(zip(block.args, box, strict=True)):
        shape = [1] * rank
        shape[d] = high - low
        scalars[argument] = np.arange(low, high).reshape(shape)
    for inner in block.ops:
        if isinstance(inner, ReadOp):
            scalars[inner.result] = _read(op, inner, scalars, tensors)
        elif isinstance(inner, YieldOp):
            return [np.asarray(scalars[v]) for v in inner.values]
        elif isinstance(inner, IndexOp):
            dims: dict[Atom, Any] = {i: scalars[v] for i, v in enumerate(inner.indices)}
            scalars[inner.results[0]] = np.asarray(inner.map.data.results[0].evaluate(dims))
        elif isinstance(inner, ConditionOp):
            dims = {i: scalars[v] for i, v in enumerate(inner.indices)}
            scalars[inner.results[0]] = _holds(inner.set.data.conditions, dims)
        elif isinstance(inner, CheckOp):
            scalars[inner.result] = check(inner, scalars[inner.value], scalars[inner.condition])
        else:
            scalars[inner.results[0]] = evaluate(inner, [scalars[v] for v in inner.operands])
    raise InputError("the body ends without te.yield", op=op)


def _holds(conditions: Sequence[Condition], dims: Mapping[Atom, Any]) -> Any:
    result: Any = np.asarray(True)
    for c in conditions:
        value = np.asarray(c.form.evaluate(dims))
        result = result & (value == 0 if c.equal else value >= 0)
    return result


def _read(
    compute: ComputeOp,
    read: ReadOp,
    scalars: Mapping[SSAValue, Any],
    tensors: Mapping[SSAValue, np.ndarray[Any, Any]],
) -> np.ndarray[Any, Any]:
    tensor = tensors[read.tensor]
    dims: dict[Atom, Any] = {i: scalars[v] for i, v in enumerate(read.indices)}
    guard = _holds(read.guard.data.conditions, dims) if read.guard else None
    places: list[np.ndarray[Any, Any]] = []
    for axis, (form, extent) in enumerate(zip(read.map.data.results, tensor.shape, strict=True)):
        index = np.asarray(form.evaluate(dims))
        outside = (index < 0) | (index >= extent)
        if outside.any():
            wrong = outside if guard is None else outside & guard
            if wrong.any():
                raise _out_of_bounds(compute, read, form, axis, extent, index, wrong, scalars)
            index = np.where(outside, 0, index)
        places.append(index)
    held = signless(tensor)
    if guard is None:
        return np.asarray(held[tuple(places)])
    if held.size == 0:
        return np.zeros(np.broadcast_shapes(guard.shape, *(p.shape for p in places)), held.dtype)
    return np.where(guard, held[tuple(places)], np.zeros((), held.dtype))


def _out_of_bounds(
    compute: ComputeOp,
    read: ReadOp,
    form: Linear,
    axis: int,
    extent: int,
    index: np.ndarray[Any, Any],
    wrong: np.ndarray[Any, Any],
    scalars: Mapping[SSAValue, Any],
) -> OutOfBoundsError:
    first = tuple(int(p[0]) for p in np.nonzero(wrong)) if wrong.ndim else ()

    def at(value: Any) -> int:
        # A dimension that either of the two does not vary with is taken at its first place.
        array = np.asarray(value)
        return int(array[tuple(min(f, n - 1) for f, n in zip(first, array.shape, strict=False))])

    names = {i: value_name(v) for i, v in enumerate(read.indices)}
    text = linear_text(form, lambda d: names[d] if isinstance(d, int) else str(d))
    # The loops that the index is written with, and those that an index read from memory varies with.
    loops = compute.body.block.args
    told = [v for d, v in enumerate(loops) if v in read.indices or (d < wrong.ndim and wrong.shape[d] > 1)]
    dims = ", ".join(f"{value_name(v)} = {at(scalars[v])}" for v in told)
    return OutOfBoundsError(
        f'te.compute "{compute.stage.data}" reads {value_name(read.tensor)} at {text} = {at(index)}, outside dimension '
        f"{axis} of extent {extent}" + (f", where {dims}" if dims else ""),
        op=read,
    )
