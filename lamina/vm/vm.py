"""The virtual machine: runs relay programs with control flow, functions as values, data types and unknown extents.

    machine = VirtualMachine(module, CompiledKernels())    keeps what it has compiled from run to run
    machine.run([array])                                   the results of @main
    machine.run([array], "f")                              of another function

What tensor ops stand together between control flow is compiled as ordinary programs are, or computed by the ops'
oracles (`segments.py`); the rest is walked here. There is no recursion in Python, however deep the program's is, and a
call whose results are returned as they are takes the place of its caller: loops written as recursion run in constant
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects.infos import TensorInfo, TypeMismatch
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp, GlobalOp, ReturnOp
from lamina.dialects.relay.functional.adt import ConstructOp, MatchOp, TypeOp
from lamina.dialects.relay.functional.adt_patterns import Constructors, Pattern
from lamina.dialects.relay.functional.control import IfOp, YieldOp
from lamina.dialects.relay.functional.refs import RefCreateOp, RefReadOp, RefWriteOp
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.dialects.relay.functional.vm import CallLoweredOp, InvokeTvmOp
from lamina.dialects.relay.value_dependent import BecomesStatic, OnHost, ValueDependent
from lamina.dialects.relay.value_types import AdtType, has_unknown_extent
from lamina.errors import InputError, UnsupportedError
from lamina.interpreters.external import load_declared
from lamina.passes.relay.partition.external_backends import is_declaration
from lamina.vm.memory import ON_VALUES, check_kills
from lamina.vm.segments import Kernels, ReferenceKernels, Segment, owned
from lamina.vm.values import (
    AdtValue,
    Cell,
    Closure,
    GlobalFunction,
    Value,
    check_tensor,
    check_value,
    matches,
    value_text,
)

MOST_FRAMES = 10_000_000
"""Calls that wait for others; a program that needs more does not end."""


@dataclass
class _Step:
    """One thing to do: an op, or a segment."""

    do: Callable[[_Frame, _Step], None]
    op: Operation
    segment: Segment | None = None
    tail: bool = False
    """Whether the results of a call are at once those of the function."""
    patterns: tuple[Pattern, ...] = ()
    open_types: bool = False
    """Whether a result has an extent that is unknown before."""


_Plan: TypeAlias = "list[_Step]"


class _Frame:
    """A call that has not returned: its values, where it is, and the regions that it is inside of."""

    __slots__ = ("caller", "outer", "place", "plan", "sizes", "values")

    def __init__(self, plan: _Plan, caller: _Step | None) -> None:
        self.plan = plan
        self.place = 0
        self.values: dict[SSAValue, Value] = {}
        self.outer: list[tuple[_Plan, int]] = []
        """The plans and steps to go on with when a region has yielded, the innermost last."""
        self.caller = caller
        """The step of the frame below that waits for the results."""
        self.sizes: dict[str, int] = {}
        """The extents that have names."""


class VirtualMachine:
    """Runs the functions of a module. Plans and compiled segments are kept from run to run."""

    def __init__(self, module: ModuleOp, kernels: Kernels) -> None:
        self.kernels = kernels
        self.functions: dict[str, func.FuncOp] = {
            op.sym_name.data: op for op in module.body.block.ops if isinstance(op, func.FuncOp)
        }
        self._types = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, TypeOp)}
        self._plans: dict[Block, _Plan] = {}
        self._open: dict[Operation, bool] = {}
        self._constants: dict[Operation, Any] = {}
        self._externals: dict[str, Callable[[Sequence[Any]], Sequence[Any]] | None] = {}
        self._kernels: dict[Operation, tuple[Segment, list[int]] | None] = {}
        self._frames: list[_Frame] = []
        self._results: list[Value] | None = None

    def run(self, args: Sequence[Any], entry: str = "main", names: Sequence[str] = ()) -> list[Value]:
        """The results of a function. Raises InputError where an argument does not fit or the program does wrong.

        `names` are what the caller calls the arguments.
        """
        function = self._function(entry, None)
        inputs = function.function_type.inputs.data
        if len(args) != len(inputs):
            raise InputError(f"@{entry} takes {len(inputs)} arguments, {len(args)} are given")
        sizes: dict[str, int] = {}
        called = [f"input {n!r}" for n in names] or [f"argument {n} of @{entry}" for n in range(len(args))]
        values = [
            check_value(a, t, sizes, what, self._declared) for a, t, what in zip(args, inputs, called, strict=True)
        ]
        self._frames = []
        self._results = None
        self._enter(GlobalFunction(function), values, None, False)
        frames = self._frames
        while self._results is None:
            frame = frames[-1]
            step = frame.plan[frame.place]
            frame.place += 1
            step.do(frame, step)
        results, self._results = self._results, None
        return results

    def _declared(self, type_: AdtType) -> Constructors:
        found = self._types.get(type_.adt.data)
        if found is None:
            raise InputError(f"there is no data type @{type_.adt.data} in the module")
        return found.instance(type_)

    def _function(self, name: str, op: Operation | None) -> func.FuncOp:
        function = self.functions.get(name)
        if function is None or not function.body.blocks:
            raise InputError(f"there is no function @{name} with a body in the module", op=op)
        return function

    def segments(self) -> Iterator[Segment]:
        """The tensor ops between control flow, of every function whether it is called or not."""
        for function in self.functions.values():
            for op in function.walk():
                if isinstance(op, (func.FuncOp, FnOp, IfOp, MatchOp)):
                    for region in op.regions:
                        for block in region.blocks:
                            yield from (s.segment for s in self._plan(block) if s.segment is not None)
                elif isinstance(op, InvokeTvmOp) and (called := op.function()) is not None:
                    found = self._kernel(called)
                    if found is not None:
                        yield found[0]

    # -- plans -----------------------------------------------------------------------------------------------------

    def _plan(self, block: Block) -> _Plan:
        plan = self._plans.get(block)
        if plan is None:
            plan = self._plans[block] = self._make_plan(block)
        return plan

    def _make_plan(self, block: Block) -> _Plan:
        check_kills(block)
        plan: _Plan = []
        run: list[RelayOp] = []

        def close() -> None:
            if run:
                segment = Segment(tuple(run))
                plan.append(_Step(self._run_segment, run[-1], segment))
                run.clear()

        for op in block.ops:
            if _is_compiled(op):
                run.append(op)
                continue
            if isinstance(op, ConstantOp) and not _is_read_by_others(op):
                continue
            close()
            plan.append(self._make_step(op))
        return plan

    def _make_step(self, op: Operation) -> _Step:
        if isinstance(op, ValueDependent):
            return _Step(self._value_dependent, op, open_types=True)
        do = self._steps().get(type(op))
        if do is None:
            raise UnsupportedError(f"{op.name} cannot be run", op=op)
        step = _Step(do, op)
        step.open_types = any(map(has_unknown_extent, op.result_types))
        if isinstance(op, (CallOp, CallLoweredOp, func.CallOp)):
            step.tail = is_tail(op)
        if isinstance(op, MatchOp):
            step.patterns = tuple(op.case_patterns())
        return step

    def _steps(self) -> dict[type[Operation], Callable[[_Frame, _Step], None]]:
        return {
            ConstantOp: self._constant,
            FnOp: self._closure,
            GlobalOp: self._global,
            CallOp: self._call,
            func.CallOp: self._call_global,
            ReturnOp: self._return,
            func.ReturnOp: self._return,
            YieldOp: self._yield,
            IfOp: self._if,
            MatchOp: self._match,
            TupleOp: self._tuple,
            TupleGetItemOp: self._tuple_get_item,
            ConstructOp: self._construct,
            RefCreateOp: self._ref_create,
            RefReadOp: self._ref_read,
            RefWriteOp: self._ref_write,
            CallLoweredOp: self._call,
            InvokeTvmOp: self._invoke,
            **dict.fromkeys(ON_VALUES, self._on_values),
        }

    # -- tensors ---------------------------------------------------------------------------------------------------

    def _run_segment(self, frame: _Frame, step: _Step) -> None:
        segment = step.segment
        assert segment is not None
        values = frame.values
        results = self.kernels.run(segment, [values[v] for v in segment.inputs])
        for value, result in zip(segment.outputs, results, strict=True):
            values[value] = result
        for n, type_ in segment.named:
            self._check(results[n], type_, frame, segment.outputs[n].owner)

    def _check(self, value: Value, type_: Attribute, frame: _Frame, op: object) -> None:
        """Check a result that is a tensor against a type that leaves something open."""
        if isinstance(type_, TensorType):
            what = f"the result of {op.name}" if isinstance(op, Operation) else "an argument"
            try:
                check_tensor(value, type_, frame.sizes, what)  # pyright: ignore[reportUnknownArgumentType]
            except InputError as e:
                raise InputError(e.what, op=op if isinstance(op, Operation) else None) from None

    def _constant(self, frame: _Frame, step: _Step) -> None:
        op = step.op
        assert isinstance(op, ConstantOp)
        array = self._constants.get(op)
        if array is None:
            array = self._constants[op] = self.kernels.store.get(op.value)  # type: ignore[arg-type]
        frame.values[op.result] = array

    def _value_dependent(self, frame: _Frame, step: _Step) -> None:
        op = step.op
        assert isinstance(op, ValueDependent)
        arrays = [frame.values[v] for v in op.operands]
        attrs = attrs_of(op)
        try:
            if isinstance(op, OnHost):
                results = [owned(np.asarray(r)) for r in op.on_host(*arrays, **attrs)]
            else:
                assert isinstance(op, BecomesStatic)
                infos = [TensorInfo(a.shape, str(a.dtype)) for a in arrays]
                static = op.static(infos, {n: arrays[n] for n in op.NEEDED}, **attrs)
                taken = [arrays[n] for n in static.operands]
                results = self.kernels.run_op(static.op, static.attrs, taken, op)
        except TypeMismatch as e:
            raise InputError(f"{op.name.removeprefix('relay.')}: {e}", op=op) from None
        for value, result in zip(op.results, results, strict=True):
            self._check(result, value.type, frame, op)
            frame.values[value] = result

    # -- functions -------------------------------------------------------------------------------------------------

    def _closure(self, frame: _Frame, step: _Step) -> None:
        op = step.op
        assert isinstance(op, FnOp)
        frame.values[op.result] = Closure(op, [frame.values[v] for v in op.operands])

    def _global(self, frame: _Frame, step: _Step) -> None:
        op = step.op
        assert isinstance(op, GlobalOp)
        frame.values[op.result] = GlobalFunction(self._function(op.callee.string_value(), op))

    def _call(self, frame: _Frame, step: _Step) -> None:
        callee, *arguments = (frame.values[v] for v in step.op.operands)
        self._enter(callee, arguments, step, step.tail)

    def _call_global(self, frame: _Frame, step: _Step) -> None:
        op = step.op
        assert isinstance(op, func.CallOp)
        name, arguments = op.callee.string_value(), [frame.values[v] for v in op.operands]
        external = self._external(name)
        if external is not None:
            self._keep(frame, step, external(arguments))
            return
        self._enter(GlobalFunction(self._function(name, op)), arguments, step, step.tail)

    def _external(self, name: str) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
        """A function that runs the code of an external backend; None for a function that has none."""
        if name not in self._externals:
            function = self.functions.get(name)
            found = None
            if function is not None and is_declaration(function):
                found = load_declared(function, self.kernels.store, self.kernels.threads)
            self._externals[name] = found
        return self._externals[name]

    def _enter(
        self, callee: Closure | GlobalFunction, arguments: list[Value], caller: _Step | None, tail: bool
    ) -> None:
        function = callee.function
        block = function.body.block
        frames = self._frames
        if tail and len(frames) > 0:
            caller = frames.pop().caller
        elif len(frames) >= MOST_FRAMES:
            raise InputError(f"more than {MOST_FRAMES} calls wait for each other: the recursion does not end")
        frame = _Frame(self._plan(block), caller)
        if isinstance(callee, Closure):
            arguments = [*arguments, *callee.captured, callee]
            frame.values.update(zip(block.args, arguments, strict=False))
        else:
            frame.values.update(zip(block.args, arguments, strict=True))
        is_open = self._open.get(function)
        if is_open is None:
            is_open = self._open[function] = any(has_unknown_extent(t) for t in block.arg_types)
        if is_open:
            for argument in block.args:
                if has_unknown_extent(argument.type):
                    self._check(frame.values[argument], argument.type, frame, None)
        frames.append(frame)

    def _return(self, frame: _Frame, step: _Step) -> None:
        results = [frame.values[v] for v in step.op.operands]
        self._frames.pop()
        waiting = frame.caller
        if waiting is None:
            self._results = results
            return
        self._keep(self._frames[-1], waiting, results)

    def _keep(self, frame: _Frame, step: _Step, results: Sequence[Value]) -> None:
        if isinstance(step.op, InvokeTvmOp):
            for out, result in zip(step.op.outs, results, strict=True):
                np.copyto(frame.values[out], result)
            return
        for value, result in zip(step.op.results, results, strict=True):
            frame.values[value] = result
            if step.open_types:
                self._check(result, value.type, frame, step.op)

    def _invoke(self, frame: _Frame, step: _Step) -> None:
        """Run a kernel into its destinations; one that is no run of tensor ops is called, and its results copied."""
        op = step.op
        assert isinstance(op, InvokeTvmOp)
        callee, arguments = frame.values[op.callee], [frame.values[v] for v in op.ins]
        found = self._kernel(callee.function)
        if found is None:
            self._enter(callee, arguments, step, False)
            return
        segment, places = found
        self.kernels.run(segment, arguments, [frame.values[op.outs[n]] for n in places])

    def _kernel(self, function: FnOp | func.FuncOp) -> tuple[Segment, list[int]] | None:
        """A function as a segment, and which of its results each output is. None where it is more than tensor ops on
        tensors."""
        if function not in self._kernels:
            block = function.body.block
            *ops, last = block.ops
            returned = list(last.operands)
            found = None
            takes_tensors = all(isinstance(a.type, TensorType) for a in block.args)
            if all(_is_compiled(o) or isinstance(o, ConstantOp) for o in ops) and block.args and takes_tensors:
                segment = Segment([o for o in ops if isinstance(o, RelayOp)], block.args)
                if len(segment.outputs) == len(returned) and set(segment.outputs) == set(returned):
                    found = segment, [returned.index(v) for v in segment.outputs]
            self._kernels[function] = found
        return self._kernels[function]

    def _on_values(self, frame: _Frame, step: _Step) -> None:
        """Run an op that takes values from the frame and puts others there."""
        op = step.op
        ON_VALUES[type(op)](op, frame.values)
        for result in op.results if step.open_types else ():
            self._check(frame.values[result], result.type, frame, op)

    # -- control flow ----------------------------------------------------------------------------------------------

    def _if(self, frame: _Frame, step: _Step) -> None:
        op = step.op
        assert isinstance(op, IfOp)
        self._go_inside(frame, (op.true_region if frame.values[op.condition] else op.false_region).block)

    def _match(self, frame: _Frame, step: _Step) -> None:
        op = step.op
        value = frame.values[op.operands[0]]
        for pattern, region in zip(step.patterns, op.regions, strict=True):
            found: list[Value] = []
            if matches(pattern, value, found):
                frame.values.update(zip(region.block.args, found, strict=True))
                self._go_inside(frame, region.block)
                return
        raise InputError(f"no case fits {value_text(value)[:200]}", op=op)

    def _go_inside(self, frame: _Frame, block: Block) -> None:
        frame.outer.append((frame.plan, frame.place))
        frame.plan, frame.place = self._plan(block), 0

    def _yield(self, frame: _Frame, step: _Step) -> None:
        results = [frame.values[v] for v in step.op.operands]
        frame.plan, frame.place = frame.outer.pop()
        self._keep(frame, frame.plan[frame.place - 1], results)

    # -- data ------------------------------------------------------------------------------------------------------

    def _tuple(self, frame: _Frame, step: _Step) -> None:
        frame.values[step.op.results[0]] = tuple(frame.values[v] for v in step.op.operands)

    def _tuple_get_item(self, frame: _Frame, step: _Step) -> None:
        op = step.op
        assert isinstance(op, TupleGetItemOp)
        frame.values[op.result] = frame.values[op.tuple_value][op.index.value.data]

    def _construct(self, frame: _Frame, step: _Step) -> None:
        op = step.op
        assert isinstance(op, ConstructOp)
        frame.values[op.result] = AdtValue(op.constructor.data, *(frame.values[v] for v in op.operands))

    def _ref_create(self, frame: _Frame, step: _Step) -> None:
        frame.values[step.op.results[0]] = Cell(frame.values[step.op.operands[0]])

    def _ref_read(self, frame: _Frame, step: _Step) -> None:
        frame.values[step.op.results[0]] = frame.values[step.op.operands[0]].value

    def _ref_write(self, frame: _Frame, step: _Step) -> None:
        cell, value = step.op.operands
        frame.values[cell].value = frame.values[value]


def is_tail(op: Operation) -> bool:
    """Whether the results of a call, as they are, become those of the function that it stands in."""
    while True:
        following = op.next_op
        if following is None or tuple(following.operands) != tuple(op.results):
            return False
        if isinstance(following, (ReturnOp, func.ReturnOp)):
            return True
        outer = following.parent_op()
        if not isinstance(following, YieldOp) or outer is None:
            return False
        op = outer


def _is_compiled(op: Operation) -> TypeGuard[RelayOp]:
    """Whether an op is part of a segment."""
    return isinstance(op, RelayOp) and not isinstance(op, ValueDependent) and type(op) not in ON_VALUES


def _is_read_by_others(op: ConstantOp) -> bool:
    """Whether anything but the tensor ops of segments, which have constants of their own, reads a constant."""
    users = (use.operation for use in op.result.uses)
    return any(not _is_compiled(u) for u in users)


__all__ = [
    "AdtValue",
    "Kernels",
    "ReferenceKernels",
    "VirtualMachine",
    "value_text",
]
