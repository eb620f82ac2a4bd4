"""Runs relay functions by the ops' numpy oracles: what every other way to run a program is compared with.

Slow and simple: one array for each value, freed after its last use. No recursion, however deep calls nest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.infos import tensor_info
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp, ReturnOp
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.rules.terms import all_results
from lamina.errors import InputError, UnsupportedError
from lamina.interpreters.external import run_declared
from lamina.passes.relay.partition.external_backends import is_declaration

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

Observer: TypeAlias = "Callable[[SSAValue, Any], None]"
Compute: TypeAlias = "Callable[[RelayOp, Sequence[Any]], Sequence[Any]]"
"""The results of an op on arrays."""


def main_function(module: ModuleOp, name: str = "main") -> func.FuncOp:
    """The function of that name. Raises InputError when the module has none."""
    for op in module.body.block.ops:
        if isinstance(op, func.FuncOp) and op.sym_name.data == name:
            return op
    raise InputError(f"no function @{name} in the module")


def run_relay(
    function: func.FuncOp,
    arrays: Sequence[Array],
    store: ParamStore | None = None,
    observe: Observer | None = None,
    compute: Compute | None = None,
) -> list[Array]:
    """The results of a function on arrays; `observe(value, array)` sees every value as it is computed.

    `compute` gives the results of an op, by default its oracle's in the types that it states (`run_op`).
    """
    block = function.body.block
    for n, (argument, array) in enumerate(zip(block.args, arrays, strict=True)):
        info = tensor_info(argument.type)
        if array.shape != info.shape or str(array.dtype) != info.dtype:
            raise InputError(f"argument {n} of @{function.sym_name.data} is {array.dtype}{array.shape}, not {info}")
    with np.errstate(all="ignore"):
        return _Run(store or ParamStore(), _functions(function), observe, compute or run_op).run(block, arrays)


def _functions(function: func.FuncOp) -> dict[str, func.FuncOp]:
    siblings = function.parent.ops if function.parent is not None else ()
    return {op.sym_name.data: op for op in siblings if isinstance(op, func.FuncOp)}


class _Frame:
    """A block being run, and where its results go."""

    def __init__(self, block: Block, arrays: Sequence[Any], caller: Operation | None) -> None:
        self.values: dict[SSAValue, Any] = dict(zip(block.args, arrays, strict=True))
        self.ops: Iterator[Operation] = iter(block.ops)
        self.caller = caller
        self.left: dict[SSAValue, int] = {}

    def use(self, value: SSAValue) -> Any:
        """The array of a value, forgotten with its last use."""
        array = self.values[value]
        left = self.left.get(value)
        if left is None:
            left = value.uses.get_length()
        self.left[value] = left - 1
        if left == 1:
            del self.values[value]
        return array


class _Run:
    def __init__(
        self, store: ParamStore, functions: dict[str, func.FuncOp], observe: Observer | None, compute: Compute
    ) -> None:
        self.store = store
        self.functions = functions
        self.observe = observe
        self.compute = compute

    def run(self, block: Block, arrays: Sequence[Array]) -> list[Array]:
        frames = [_Frame(block, arrays, None)]
        while True:
            frame = frames[-1]
            op = next(frame.ops)
            if isinstance(op, (func.ReturnOp, ReturnOp)):
                results = [frame.values[v] for v in op.operands]
                frames.pop()
                if frame.caller is None:
                    return [np.asarray(r) for r in results]
                self.keep(frames[-1], frame.caller, results)
            elif isinstance(op, CallOp):
                callee, *arguments = (frame.use(v) for v in op.operands)
                frames.append(_Frame(callee.body.block, arguments, op))
            elif isinstance(op, func.CallOp):
                callee = self.functions[op.callee.string_value()]
                if is_declaration(callee):
                    self.keep(frame, op, run_declared(callee, [frame.use(v) for v in op.operands], self.store))
                    continue
                frames.append(_Frame(callee.body.block, [frame.use(v) for v in op.operands], op))
            elif isinstance(op, FnOp):
                frame.values[op.result] = op
            elif isinstance(op, ConstantOp):
                self.keep(frame, op, [self.store.get(op.value)])  # type: ignore[arg-type]
            elif isinstance(op, RelayOp):
                self.keep(frame, op, self.compute(op, [frame.use(v) for v in op.operands]))
            else:
                raise UnsupportedError(f"{op.name} has no reference semantics", op=op)

    def keep(self, frame: _Frame, op: Operation, arrays: Sequence[Any]) -> None:
        for value, array in zip(op.results, arrays, strict=True):
            if self.observe is not None:
                self.observe(value, array)
            if value.first_use is not None:
                frame.values[value] = array


def run_op(op: RelayOp, arrays: Sequence[Any]) -> list[Array]:
    """The results of one op by its numpy oracle, in the types that the op states."""
    oracle: Any = getattr(op, "np_ref", None)
    if oracle is None:
        raise UnsupportedError(f"{op.name} has no reference semantics", op=op)
    try:
        return [np.asarray(found) for found in all_results(oracle(*arrays, **attrs_of(op)))]
    except ZeroDivisionError as e:
        raise InputError(str(e), op=op) from None
