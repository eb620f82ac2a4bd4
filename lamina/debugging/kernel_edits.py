"""Changes that may make a program of the te or tir level smaller. The verifier and a run say which candidates count.

Ops are known by their place in the walk over the module, which is the same in a copy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator, Pure

from lamina.debugging.entry import draw_inputs, entry_of
from lamina.debugging.minimise import minimised, smallest
from lamina.debugging.program import Program
from lamina.debugging.subgraph import function_name
from lamina.dialects.entry_names import argument_names
from lamina.dialects.index.linear import constant
from lamina.dialects.schedule.nest.edits import substitute
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.te import ops as te
from lamina.dialects.tir import ops as tir
from lamina.errors import LaminaError
from lamina.ir.parsing import parse_text
from lamina.ir.printing import module_text

Holds = Callable[[Program], bool]
Kernel = te.FuncOp | tir.FuncOp


def changed(program: Program, change: Callable[[ModuleOp], object]) -> Program | None:
    """A copy of the program, changed, without what nothing reads any more; None where the change fails."""
    copy = program.clone()
    try:
        if change(copy.module) is False:
            return None
        drop_dead(copy.module)
    except (LaminaError, ValueError, AssertionError, KeyError, IndexError):
        return None  # no such program: half of the changes that are tried come to nothing
    return copy


# -- kernels -------------------------------------------------------------------------------------------------------


def one_kernel(program: Program) -> Iterator[Program]:
    """A kernel alone, without `@main`, on inputs that are drawn."""
    kernels = [op for op in program.module.ops if isinstance(op, Kernel)]
    if len(kernels) == 1 and program.main is None:
        return
    for n in range(len(kernels)):
        found = changed(program, lambda module, n=n: _only(module, n))
        if found is not None:
            yield found if program.bare else with_drawn_inputs(found)


def _only(module: ModuleOp, n: int) -> None:
    kernel = [op for op in module.ops if isinstance(op, Kernel)][n]
    for op in list(module.ops):
        mine = isinstance(op, ScheduleOp) and op.func.root_reference == kernel.sym_name
        if op is not kernel and not mine and (function_name(op) is not None or isinstance(op, ScheduleOp)):
            op.detach()
            op.erase()


def with_drawn_inputs(program: Program) -> Program:
    """The program with small whole numbers as inputs, as `lamina debug compare` draws them."""
    return replace(program, arrays=draw_inputs(entry_of(program.module.clone()), {}, {}, 0))


# -- statements ----------------------------------------------------------------------------------------------------


def fewest_statements(program: Program, holds: Holds, over: Callable[[], bool]) -> Program:
    """As few statements as show the fault: loops, stores, calls, primitives, and what computes for them."""
    places = [n for n, op in enumerate(program.module.walk()) if _is_statement(op)]
    best = program

    def kept(few: list[int]) -> bool:
        nonlocal best
        found = changed(program, lambda module: _erase(module, set(places).difference(few)))
        if found is None or not holds(found):
            return False
        best = found
        return True

    if kept([]):
        return best
    minimised(places, kept, over)
    return best


def _is_statement(op: Operation) -> bool:
    if op.has_trait(IsTerminator) or isinstance(op, ModuleOp | MainOp | Kernel) or op.parent is None:
        return False
    return not op.results or isinstance(op.parent_op(), ScheduleOp)


def _erase(module: ModuleOp, places: set[int]) -> bool:
    """Erase the ops at these places with what reads their results. False where a result of the program would go."""
    doomed: dict[Operation, None] = {}
    pending = [op for n, op in enumerate(module.walk()) if n in places]
    while pending:
        op = pending.pop()
        if op in doomed:
            continue
        if op.has_trait(IsTerminator):
            return False
        doomed[op] = None
        pending += [use.operation for r in op.results for use in r.uses]
    for op in doomed:
        for r in op.results:
            for use in list(r.uses):
                if use.operation not in doomed and not _inside(use.operation, doomed):
                    return False
    for op in [op for op in doomed if not _inside(op, doomed)]:
        op.detach()
        op.erase(safe_erase=False)
    return bool(doomed)


def _inside(op: Operation, others: dict[Operation, None]) -> bool:
    parent = op.parent_op()
    while parent is not None:
        if parent in others:
            return True
        parent = parent.parent_op()
    return False


def drop_dead(module: ModuleOp) -> None:
    """Drop what computes values that nothing reads."""
    again = True
    while again:
        again = False
        for op in reversed(list(module.walk())):
            free = isinstance(op, tir.LoadOp | te.ReadOp | tir.AllocOp) or op.has_trait(Pure)
            if free and op.results and op.parent is not None and all(r.first_use is None for r in op.results):
                op.detach()
                op.erase()
                again = True


def without_nesting(program: Program) -> Iterator[Program]:
    """Programs with one loop replaced by its first iteration, or one condition by what stands under it."""
    for n, op in enumerate(program.module.walk()):
        if isinstance(op, tir.ForOp | tir.IfOp | tir.BlockOp):
            found = changed(program, lambda module, n=n: _dissolve(_at(module, n)))
            if found is not None:
                yield found


def _dissolve(op: Operation) -> bool:
    if isinstance(op, tir.ForOp):
        substitute(op.var, constant(0))
        if op.var.first_use is not None:
            return False
    block = op.regions[0].block
    place = op.parent
    if place is None or block.args and not isinstance(op, tir.ForOp):
        return False
    for inner in list(block.ops):
        if inner.has_trait(IsTerminator):
            inner.detach()
            inner.erase()
            continue
        inner.detach()
        place.insert_op_before(inner, op)
    op.detach()
    op.erase()
    return True


def _at(module: ModuleOp, n: int) -> Operation:
    return next(op for k, op in enumerate(module.walk()) if k == n)


# -- values --------------------------------------------------------------------------------------------------------


def without_values(program: Program) -> Iterator[Program]:
    """The result of an op is one of its operands, else the number one."""
    for n, op in enumerate(program.module.walk()):
        if len(op.results) != 1 or isinstance(op, arith.ConstantOp) or isinstance(op.parent_op(), ScheduleOp):
            continue
        for k in range(len(op.operands)):
            if op.operands[k].type == op.results[0].type:
                found = changed(program, lambda module, n=n, k=k: _replace(_at(module, n), k))
                if found is not None:
                    yield found
        if isinstance(op.results[0].type, IntegerType | AnyFloat) and not isinstance(op.parent, ModuleOp):
            found = changed(program, lambda module, n=n: _replace(_at(module, n), None))
            if found is not None:
                yield found


def _replace(op: Operation, k: int | None) -> None:
    result = op.results[0]
    if k is not None:
        result.replace_all_uses_with(op.operands[k])
        return
    type_: Any = result.type
    one: Any = IntegerAttr if type(type_) is IntegerType else FloatAttr
    value: Attribute = one(1, type_)
    made = arith.ConstantOp.create(properties={"value": value}, result_types=[type_])
    assert op.parent is not None
    op.parent.insert_op_before(made, op)
    result.replace_all_uses_with(made.result)


def without_attributes(program: Program) -> Iterator[Program]:
    """An attribute that no op declares is gone; those of the module among them."""
    for n, op in enumerate(program.module.walk()):
        for name in op.attributes:
            if not name.startswith("lamina."):
                found = changed(program, lambda module, n=n, name=name: _at(module, n).attributes.pop(name))
                if found is not None:
                    yield found


# -- extents -------------------------------------------------------------------------------------------------------


def shortened(program: Program, holds: Holds) -> Program:
    """The program with smaller extents: each where it stands, in all types, shapes, loops and factors at once."""
    for extent in _extents(program.module):
        if extent in _extents(program.module):
            program = _with_least(program, extent, holds)
    return program


def _with_least(program: Program, extent: int, holds: Holds) -> Program:
    found: dict[int, Program] = {}
    text = module_text(program.module)

    def fits(size: int) -> bool:
        smaller = _with_extent(program, text, extent, size)
        if smaller is None or not holds(smaller):
            return False
        found[size] = smaller
        return True

    return found.get(smallest(extent, fits), program)


def _extents(module: ModuleOp) -> list[int]:
    found: set[int] = set()
    for op in module.walk():
        values: list[SSAValue] = [*op.results, *(a for region in op.regions for b in region.blocks for a in b.args)]
        types: list[Any] = [v.type for v in values]
        found.update(int(e) for t in types if type(t) in (TensorType, MemRefType) for e in t.get_shape())
        if isinstance(op, tir.ForOp) and not op.is_dynamic:
            found.add(op.trip)
    return sorted((e for e in found if e > 1), reverse=True)


def _with_extent(program: Program, text: str, extent: int, size: int) -> Program | None:
    """The program whose text has another number in the place of one: what does not fit then does not verify."""
    number = re.compile(rf"(?<![\w.%@-]){extent}(?![\w.])|(?<![\w.%@-]){extent}(?=x)|(?<=\dx){extent}(?=[x>])")
    ctx = program.context()
    try:
        rows = (row if "#lamina.target" in row else number.sub(str(size), row) for row in text.split("\n"))
        module = parse_text(ctx, "\n".join(rows), "candidate.mlir")
        main = entry_of(module.clone())
    except Exception:
        return None  # the text is no module any more
    shapes = {n: v.type for n, v in zip(argument_names(main, main.body.block.args), main.body.block.args, strict=True)}
    arrays: dict[str, Any] = {}
    for name, array in program.arrays.items():
        type_ = shapes.get(name)
        values = np.asarray(array)
        if isinstance(type_, TensorType | MemRefType):
            wanted = type_.get_shape()
            if len(wanted) != values.ndim or any(a > b for a, b in zip(wanted, values.shape, strict=True)):
                return None
            values = np.ascontiguousarray(values[tuple(map(slice, wanted))]).reshape(wanted)
        arrays[name] = values
    return replace(program, module=module, arrays=arrays, computes="")


# -- arguments -----------------------------------------------------------------------------------------------------


def without_arguments(program: Program) -> Iterator[Program]:
    """A lone kernel takes only what it reads or writes."""
    if program.main is None:
        found = changed(program, _drop_arguments)
        if found is not None:
            main = entry_of(found.module.clone())
            names = set(argument_names(main, main.body.block.args))
            yield replace(found, arrays={n: a for n, a in found.arrays.items() if n in names})


def _drop_arguments(module: ModuleOp) -> bool:
    kernel = next(op for op in module.ops if isinstance(op, Kernel))
    block: Block = kernel.body.block
    inputs = len(block.args) - (int(kernel.outputs.value.data) if isinstance(kernel, tir.FuncOp) else 0)
    unused = [n for n, a in enumerate(block.args) if a.first_use is None]
    for n in reversed(unused):
        block.erase_arg(block.args[n])
    if not unused:
        return False
    attrs: Sequence[Any] | None = kernel.arg_attrs.data if kernel.arg_attrs is not None else None
    kept = [n for n in range(len(block.args) + len(unused)) if n not in unused]
    if attrs is not None:
        kernel.properties["arg_attrs"] = ArrayAttr([attrs[n] for n in kept])
    outputs = kernel.function_type.outputs
    kernel.properties["function_type"] = FunctionType.from_lists(list(block.arg_types), list(outputs))
    if isinstance(kernel, tir.FuncOp):
        kernel.properties["outputs"] = IntegerAttr(sum(1 for n in kept if n >= inputs), i64)
    return True
