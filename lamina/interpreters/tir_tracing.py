"""Runs tir on expressions instead of numbers: what each element of the outputs is, in terms of the inputs' elements.

    table = TraceTable()
    before, after = (trace_tir_func(f, [5], table) for f in (naive, scheduled))
    assert before == after

Two kernels give equal traces where they compute the same expressions, up to the algebra that `trace_table.py` tells:
the order in which a reduction takes its terms does not count, a missing, doubled or wrong term does. The run makes all
checks that a run on numbers makes: bounds, elements never written, races between iterations and threads, barriers.

Control and indices need numbers. They come from the sizes and loops; an index that is read from an input does where
the input is given as integers (`concrete`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Attribute, Operation

from lamina.dialects.dtypes import scalar_type
from lamina.dialects.index.linear import row_major_strides
from lamina.dialects.scalar.oracles import SCALAR_OPS, element_dtype, signless
from lamina.dialects.tir.intrinsics import IntrinsicOp
from lamina.dialects.tir.memory import type_of
from lamina.dialects.tir.ops import FuncOp
from lamina.errors import InputError
from lamina.interpreters.reductions import CheckFailure
from lamina.interpreters.tir_interpreter import Kernel, buffer_name, shape_for, size_values
from lamina.interpreters.tir_memory import Memory, output_range
from lamina.interpreters.tir_reductions import TraceCompiler
from lamina.interpreters.tir_statements import Barriers
from lamina.interpreters.tir_values import Domain
from lamina.interpreters.trace_table import KINDS, TraceTable


class TraceError(InputError):
    """A kernel cannot be traced: its indices or its control depend on the inputs' values."""


class TraceMemory(Memory):
    """A buffer of expressions."""

    __slots__ = ()

    def __init__(self, name: str, shape: tuple[int, ...], elements: Sequence[int] | None) -> None:
        super().__init__(name, np.empty(0), False)
        self.shape = shape
        self.strides = row_major_strides(shape)
        count = int(np.prod(shape, dtype=np.int64))
        self.flat = [0] * count if elements is None else list(elements)
        self.written = bytearray(b"\0" if elements is None else b"\1") * count


def trace_tir_func(
    func: FuncOp,
    sizes: Sequence[int] = (),
    table: TraceTable | None = None,
    concrete: Mapping[int, Any] | None = None,
    barriers: Barriers = "auto",
) -> list[list[int]]:
    """The expressions of all elements of the outputs, in the order of memory.

    `sizes` are the values of the kernel's `index` arguments. `concrete` gives the values of integer inputs by their
    position among the arguments, `barriers` is as in `run_tir_func`. Results that share a table can be compared.
    Raises what a run raises, and TraceError.
    """
    return Trace(func, table or TraceTable(), barriers).run(sizes, concrete)


class Trace:
    """A kernel, compiled to be traced, once or for several sizes."""

    def __init__(self, func: FuncOp, table: TraceTable, barriers: Barriers = "auto") -> None:
        self.func = func
        self.table = table
        self._kernel = Kernel(func, Traces(table), TraceCompiler, barriers)

    def run(self, sizes: Sequence[int] = (), concrete: Mapping[int, Any] | None = None) -> list[list[int]]:
        """The expressions of the outputs for these sizes."""
        func, args = self.func, self.func.body.block.args
        start, end = output_range(func)
        indices = [a for a in args if isinstance(a.type, IndexType)]
        if len(indices) != len(sizes):
            raise InputError(f"@{func.sym_name.data} has {len(indices)} sizes, got {len(sizes)}")
        given = iter(sizes)
        values = [next(given) if isinstance(a.type, IndexType) else None for a in args]
        known = size_values(func, values)
        arguments: list[Any] = []
        for n, argument in enumerate(args):
            if isinstance(argument.type, IndexType):
                arguments.append(known[argument])
                continue
            shape = shape_for(func, n, known)
            count = int(np.prod(shape, dtype=np.int64))
            elements: Sequence[int] | None = None
            if n < start:
                array = (concrete or {}).get(n)
                if array is None:
                    elements = self.table.leaves(n, count)
                else:
                    elements = self._constants(n, np.asarray(array), shape)
            arguments.append(TraceMemory(buffer_name(argument), shape, elements))
        self._kernel.run(arguments)
        return [m.flat for m in arguments[start:end]]

    def _constants(self, n: int, array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> list[int]:
        argument = self.func.body.block.args[n]
        if array.shape != shape:
            raise InputError(f"argument {n} of @{self.func.sym_name.data} has the shape {list(shape)}")
        held = signless(array.astype(element_dtype(type_of(argument)))).reshape(-1)
        return [self.table.constant(v) for v in held]


class Traces(Domain):
    """Expressions, by their numbers in a table; lanes are lists of them, and indices integers."""

    def __init__(self, table: TraceTable) -> None:
        self.table = table
        self._truth = {b: table.constant(np.bool_(b)) for b in (False, True)}

    def fresh(self, name: str, type_: Attribute, shape: tuple[int, ...]) -> Memory:
        return TraceMemory(name, shape, None)

    def zero(self, element: Attribute) -> int:
        return self.table.constant(np.zeros((), element_dtype(element))[()])

    def poison(self, element: Attribute) -> int:
        return self.table.operation("nothing", ())

    def vector(self, values: list[Any], element: Attribute) -> Any:
        return values

    def taken(self, values: Any) -> Any:
        return values

    def truth(self, holds: bool) -> int:
        return self._truth[bool(holds)]

    def integer(self, value: int) -> int:
        return int(value)

    def broadcast(self, value: Any, lanes: int) -> list[Any]:
        return [value] * lanes

    def constant(self, op: Operation) -> Any:
        value = np.asarray(SCALAR_OPS[op.name](op))
        is_index = isinstance(_element(op.results[0].type), IndexType)
        if isinstance(op.results[0].type, VectorType):
            values = np.broadcast_to(value, _lanes(op))
            return [int(v) if is_index else self.table.constant(v) for v in values]
        return int(value) if is_index else self.table.constant(value[()])

    def function(self, op: Operation) -> Callable[..., Any]:
        if isinstance(op, IntrinsicOp):
            return self._intrinsic(op)
        scalar = self._scalar(op, _scalar_name(op))
        type_ = op.results[0].type
        if not isinstance(type_, VectorType):
            return scalar
        vectors = [isinstance(o.type, VectorType) for o in op.operands]
        lanes = _lanes(op)
        if op.name == "tir.bitcast":
            raise TraceError("the bits of a value are no expression of the inputs", op=op)
        if all(vectors):
            return lambda *operands: [scalar(*lane) for lane in zip(*operands, strict=True)]

        def run(*operands: Any) -> list[Any]:
            spread = [o if v else [o] * lanes for o, v in zip(operands, vectors, strict=True)]
            return [scalar(*lane) for lane in zip(*spread, strict=True)]

        return run

    def _multiply_add(self, element: Attribute) -> Callable[[int, int, int], int]:
        combine, add, multiply = self.table.combine, self.table.kind("add", element), self.table.kind("mul", element)
        assert add is not None and multiply is not None

        def run(a: int, b: int, c: int) -> int:
            return combine(add, combine(multiply, a, b), c)

        return run

    # -- scalars --

    def _scalar(self, op: Operation, name: str) -> Callable[..., Any]:
        """Return a function from the operands' expressions to the op's (for an index, integers)."""
        table = self.table
        element = _element(op.results[0].type)
        if name == "arith.select":
            return self._select(op)
        if name == "tir.check":
            return self._check(op)
        if isinstance(element, IndexType) or any(isinstance(_element(o.type), IndexType) for o in op.operands):
            return self._on_indices(op, name)
        kind = table.kind(KINDS[name], element) if name in KINDS else None
        combine = table.combine
        if kind is not None:
            return partial(combine, kind)
        if name == "math.fma":
            return self._multiply_add(element)
        if name not in SCALAR_OPS:
            raise TraceError(f"{op.name} has no meaning to the tir interpreter", op=op)
        return self._operation(op, name, _neutral_right(name, element))

    def _operation(self, op: Operation, name: str, neutral: Any) -> Callable[..., Any]:
        """An op whose algebra is not used, save that constants are computed."""
        table = self.table
        head = (name, *_told(op), str(_element(op.results[0].type)))
        unary = len(op.operands) == 1
        ignored = None if neutral is None else table.constant(neutral)
        handler = SCALAR_OPS[name]

        def run(*operands: int) -> int:
            if operands[-1] == ignored and not unary:
                return operands[0]
            values = [table.value(o) for o in operands]
            if all(v is not None for v in values):
                return table.constant(np.asarray(handler(op, *values))[()])
            return table.operation(head, operands)

        return run

    def _select(self, op: Operation) -> Callable[..., Any]:
        table = self.table
        head = ("arith.select", str(_element(op.results[0].type)))
        is_index = isinstance(_element(op.results[0].type), IndexType)

        def run(condition: int, then: Any, otherwise: Any) -> Any:
            holds = table.value(condition)
            if holds is not None:
                return then if holds else otherwise
            if then == otherwise:
                return then
            if is_index:
                raise TraceError("an index depends on the values of the inputs", op=op)
            return table.operation(head, (condition, then, otherwise))

        return run

    def _check(self, op: Operation) -> Callable[..., Any]:
        def run(value: Any, condition: int) -> Any:
            if self.table.value(condition) == np.False_:
                raise CheckFailure(cast(Any, op.properties["message"]).data, op=op)
            return value

        return run

    def _on_indices(self, op: Operation, name: str) -> Callable[..., Any]:
        """Arithmetic on indices is done with numbers."""
        table = self.table
        handler = SCALAR_OPS.get(name)
        if handler is None:
            raise TraceError(f"{op.name} has no meaning to the tir interpreter", op=op)
        indices = [isinstance(_element(o.type), IndexType) for o in op.operands]
        gives_index = isinstance(_element(op.results[0].type), IndexType)

        def run(*operands: Any) -> Any:
            values = [np.int64(o) if i else table.value(o) for o, i in zip(operands, indices, strict=True)]
            if any(v is None for v in values):
                raise TraceError("an index depends on the values of the inputs", op=op)
            value = np.asarray(handler(op, *values))[()]
            return int(value) if gives_index else table.constant(value)

        return run

    def _intrinsic(self, op: IntrinsicOp) -> Callable[..., Any]:
        """A machine's dot products, fused multiply-adds and rounding, as what they are."""
        name = op.row.name
        result = _element(op.results[0].type)
        multiply_add = self._multiply_add(result)
        if name.startswith("llvm.fma."):

            def fused(*lanes: list[int]) -> list[int]:
                return [multiply_add(*lane) for lane in zip(*lanes, strict=True)]

            return fused
        if name.startswith("llvm.lrint."):
            nearest, whole = self._rounding(_element(op.operands[0].type), result)

            def rounded(lanes: list[int]) -> list[int]:
                return [whole(nearest(lane)) for lane in lanes]

            return rounded
        casts = next((c for start, c in _DOTS.items() if name.startswith(start)), None)
        if casts is None:
            raise TraceError(f"{name} has no meaning as an expression", op=op)
        widened = [self._widened(c, _element(o.type), result) for c, o in zip(casts, op.operands[1:], strict=True)]

        def run(acc: list[int], a: list[int], b: list[int]) -> list[int]:
            group = len(a) // len(acc)
            found: list[int] = []
            for n, total in enumerate(acc):
                for m in range(n * group, n * group + group):
                    total = multiply_add(widened[0](a[m]), widened[1](b[m]), total)
                found.append(total)
            return found

        return run

    def _rounding(self, source: Attribute, target: Attribute) -> tuple[Callable[[int], int], Callable[[int], int]]:
        """To the nearest integer, halves to the even one, and that as an integer."""
        from xdsl.dialects import arith, math
        from xdsl.ir import Block

        operand = Block(arg_types=[source]).args[0]
        nearest = math.RoundEvenOp.create(operands=[operand], result_types=[source])
        whole = arith.FPToSIOp.create(operands=[operand], result_types=[target])
        return self._operation(nearest, "math.roundeven", None), self._operation(whole, "arith.fptosi", None)

    def _widened(self, name: str, source: Attribute, target: Attribute) -> Callable[[int], int]:
        from xdsl.ir import Block

        from lamina.dialects.tir.vectors import CASTS

        operand = Block(arg_types=[source]).args[0]
        op_type = CASTS.get(name)
        if op_type is None:
            from xdsl.dialects import arith

            op_type = arith.ExtFOp
        return self._operation(op_type.create(operands=[operand], result_types=[target]), f"arith.{name}", None)


_DOTS = {
    "llvm.x86.avx512.vpdpbusd": ("extui", "extsi"),
    "llvm.x86.avx512.vpdpwssd": ("extsi", "extsi"),
    "llvm.x86.avx512bf16.dpbf16ps": ("extf", "extf"),
}
"""The intrinsics that are dot products, and how their factors become as wide as the sum."""


def _lanes(op: Operation) -> int:
    return cast("VectorType[Attribute]", op.results[0].type).get_shape()[0]


def _element(type_: Attribute) -> Attribute:
    if isinstance(type_, VectorType):
        return cast("VectorType[Attribute]", type_).element_type
    return scalar_type(type_)


def _scalar_name(op: Operation) -> str:
    """The arith op that does the same to each lane."""
    if op.name == "tir.select":
        return "arith.select"
    if op.name == "tir.compare":
        return "arith.cmpf" if cast(Any, op).is_float() else "arith.cmpi"
    if op.name == "tir.cast":
        return f"arith.{cast(Any, op).kind.data}"
    return op.name


def _told(op: Operation) -> tuple[str, ...]:
    """The properties that tell an op from others of its name: the predicate."""
    predicate = op.properties.get("predicate")
    return () if predicate is None else (str(cast(Any, predicate).value.data),)


def _neutral_right(name: str, element: Attribute) -> Any:
    """The right operand that changes nothing."""
    dtype = element_dtype(element)
    if name in ("arith.subf", "arith.subi"):
        return dtype.type(0)
    if name in ("arith.divf", "arith.divsi", "arith.divui", "arith.floordivsi"):
        return dtype.type(1)
    return None
