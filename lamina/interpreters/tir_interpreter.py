"""Runs tir one element at a time, with every access checked.

A function is compiled once into closures over a list of values (the environment); no text is evaluated. Checked
are: indices in bounds, no element read before it is written (a vector's lane is then NaN or the smallest integer,
since the idle lanes of a tail may do so), no element touched by two iterations of a loop that
runs them at once (parallel or vectorized) or by two threads where one writes it, and every element of the outputs
written. An error names the buffer, the index and the loops around it with the values of their variables.

The init of a block runs when all its reduction loops are at their first iteration. These are the reduction loops
around it within which its buffer lives: an `alloc` inside a consumer's reduction loop makes a new buffer each time.
A block whose predicate fails runs neither its init nor its body.

How loops of kind `thread` and barriers run is told in `tir_threads.py`, what values are in `tir_values.py`: numbers
here, expressions of the inputs in `tir_tracing.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType

from lamina.dialects.index.sizes import ArgAttrs, argument_extents
from lamina.dialects.scalar.oracles import element_dtype
from lamina.dialects.tir.memory import type_of
from lamina.dialects.tir.ops import FuncOp
from lamina.errors import InputError
from lamina.interpreters.tir_accesses import buffer_name as buffer_name
from lamina.interpreters.tir_launches import Launches
from lamina.interpreters.tir_memory import Memory, UninitialisedError, output_range
from lamina.interpreters.tir_statements import Barriers
from lamina.interpreters.tir_values import Domain, Numbers


def run_tir_func(func: FuncOp, inputs: Sequence[Any], barriers: Barriers = "auto") -> list[np.ndarray[Any, Any]]:
    """The outputs of a kernel: `inputs` gives an array for each buffer that it reads, an integer for each size.

    Threads wait for each other at the barriers that are `written`, or between statements where barriers are `implied`,
    as in a kernel that `tir-thread-sync` has not seen yet; `auto` takes a kernel without any barrier to be one.
    Raises InputError (see the errors above) where the kernel does wrong or an array does not fit its type.
    """
    values = bind_arguments(func, inputs)
    start, end = output_range(func)
    kernel = Kernel(func, barriers=barriers)
    kernel.run(values)
    return [m.array for m in values[start:end]]


def bind_arguments(func: FuncOp, inputs: Sequence[Any]) -> list[Any]:
    """Sizes and buffers for all arguments of a kernel. Raises InputError where an array does not fit."""
    args = func.body.block.args
    count, _ = output_range(func)
    name = func.sym_name.data
    if len(inputs) != count:
        raise InputError(f"@{name} takes {count} inputs, got {len(inputs)}")
    sizes = size_values(func, inputs)
    values: list[Any] = []
    for n, (argument, given) in enumerate(zip(args, inputs, strict=False)):
        if isinstance(argument.type, IndexType):
            values.append(int(given))
            continue
        array = np.ascontiguousarray(given).reshape(np.shape(given))
        shape = shape_for(func, n, sizes)
        if array.shape != shape or array.dtype != element_dtype(argument.type):
            where = f", here of shape {list(shape)}" if DYNAMIC_INDEX in type_of(argument).get_shape() else ""
            raise InputError(
                f"argument {n} of @{name} is {argument.type}{where}, got {array.dtype} of shape {array.shape}"
            )
        values.append(Memory(buffer_name(argument), array, True))
    for n, argument in enumerate(args[count:], count):
        values.append(Memory.fresh(buffer_name(argument), argument.type, shape_for(func, n, sizes)))
    return values


def size_values(func: FuncOp, inputs: Sequence[Any]) -> dict[Any, int]:
    """The value of each size. Raises InputError for one that is no size."""
    found: dict[Any, int] = {}
    for n, (argument, given) in enumerate(zip(func.body.block.args, inputs, strict=False)):
        if isinstance(argument.type, IndexType):
            if np.ndim(given) or not isinstance(np.asarray(given)[()], (int, np.integer)) or int(given) < 0:
                raise InputError(f"argument {n} of @{func.sym_name.data} is a size, got {given!r}")
            found[argument] = int(given)
    return found


def shape_for(func: FuncOp, n: int, sizes: dict[Any, int]) -> tuple[int, ...]:
    """The extents of a buffer argument. Raises InputError where one is negative."""
    extents = argument_extents(func.body.block.args[n], cast(ArgAttrs, func.arg_attrs))
    shape = tuple(int(e.evaluate(sizes)) for e in extents)
    if any(e < 0 for e in shape):
        raise InputError(f"argument {n} of @{func.sym_name.data} would have the shape {list(shape)}")
    return shape


class Kernel:
    """A tir.func, compiled for a domain of values."""

    def __init__(
        self,
        func: FuncOp,
        domain: Domain | None = None,
        compiler_type: type[Launches] = Launches,
        barriers: Barriers = "auto",
    ) -> None:
        compiler = compiler_type(func, domain or Numbers(), barriers)
        block = func.body.block
        self.func = func
        self._arguments = [compiler.slot(a) for a in block.args]
        self._steps = compiler.steps(block)
        self._env = compiler.env

    def run(self, arguments: Sequence[Any]) -> None:
        """Execute on the sizes and buffers of all arguments; the outputs among them must be written entirely."""
        env = list(self._env)
        for slot, value in zip(self._arguments, arguments, strict=True):
            env[slot] = value
        with np.errstate(all="ignore"):
            for step in self._steps:
                step(env)
        for memory in arguments[slice(*output_range(self.func))]:
            missing = memory.written.find(0)
            if missing >= 0:
                raise UninitialisedError(
                    f"@{self.func.sym_name.data} never writes %{memory.name}{memory.place(missing)}", op=self.func
                )
