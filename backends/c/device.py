"""Kernels of a device as text, in languages of C's family: what CUDA C and OpenCL C have in common.

A loop of threads is a variable, a vector as many variables as it has lanes; it is loaded and stored as a whole where
its address is a multiple of its size (buffers start at multiples of 16 bytes). What the languages spell otherwise are
the methods that a subclass gives.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
)
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.backends.c.expressions import INDEX_TYPE, condition, index, lanes_of, name_of
from lamina.backends.c.source import SourceFunction
from lamina.dialects.dtypes import scalar_type
from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import Linear, row_major_strides
from lamina.dialects.schedule.nest.threads import is_real, tag_of, thread_loops
from lamina.dialects.tir.control import BarrierOp, IfOp
from lamina.dialects.tir.launch import DEVICE
from lamina.dialects.tir.memory import AccessOp, AllocOp, LoadOp, StoreOp, extents_of, type_of
from lamina.dialects.tir.ops import BroadcastOp, ConditionOp, ForOp, FuncOp, IndexOp, SelectOp
from lamina.dialects.tir.prefetch import PrefetchOp
from lamina.errors import InputError
from lamina.passes.base import ModulePass
from lamina.passes.tir.arithmetic.fuse_multiply_add import FuseMultiplyAddPass
from lamina.passes.tir.loops.simplify import SimplifyPass
from lamina.passes.tir.loops.unroll_loop import UnrollLoopPass
from lamina.passes.tir.loops.vectorize_loop import VectorizeLoopPass

PASSES: tuple[ModulePass, ...] = (SimplifyPass(), VectorizeLoopPass(), UnrollLoopPass(), FuseMultiplyAddPass())
"""Passes on a kernel after `tir-split-host-device`."""

WIDEST = 16
"""The bytes of the widest load or store."""
WIDE_LANES = (16, 8, 4, 2)
"""The lanes of vectors that are loaded and stored, the widest first."""


def prepared_functions(module: ModuleOp) -> list[FuncOp]:
    """The functions of a module after PASSES, kernels first; the module is not changed."""
    copy = module.clone()
    for p in PASSES:
        p.apply(Context(), copy)
    return sorted((op for op in copy.ops if isinstance(op, FuncOp)), key=lambda f: DEVICE not in f.attributes)


def prepared_kernels(module: ModuleOp) -> list[FuncOp]:
    """The kernels of a module after PASSES. Raises InputError where there is none."""
    kernels = [f for f in prepared_functions(module) if DEVICE in f.attributes]
    if not kernels:
        raise InputError("the module has no kernels; bind loops to threads and run tir-split-host-device", op=module)
    return kernels


class DeviceFunction(SourceFunction):
    """A kernel as text."""

    language: ClassVar[str]
    """As errors name it: the target's name."""
    wide: ClassVar[dict[tuple[str, int], str]]
    """The vector types that are loaded and stored as a whole, by the type of an element and the lanes."""

    def __init__(self, func: FuncOp, taken: frozenset[str]) -> None:
        super().__init__(taken)
        self.func = func

    def fail(self, what: str, op: Operation) -> InputError:
        """The error for what has no text."""
        return InputError(f"{self.language}: {what}", op=op)

    # -- what languages spell in their own way -------------------------------------------------------------------

    @abc.abstractmethod
    def c_type(self, name: str, op: Operation) -> str:
        """The type of a scalar. Raises LaminaError where there is none."""

    @abc.abstractmethod
    def element_type(self, buffer: SSAValue, op: Operation) -> str:
        """The type of a buffer's elements. Raises LaminaError where there is none."""

    @abc.abstractmethod
    def literal(self, value: float | int, name: str) -> str:
        """A constant that is read back exactly."""

    @abc.abstractmethod
    def compute(self, op: Operation, operands: Sequence[str]) -> str:
        """One lane of an op, from one lane of each operand. Raises LaminaError without a row."""

    @abc.abstractmethod
    def thread(self, kind: str, axis: str) -> str:
        """The number of a thread or a block: `threadIdx`, `x`."""

    @abc.abstractmethod
    def barrier(self, scope: str) -> str:
        """The statement by which threads wait for each other."""

    @abc.abstractmethod
    def declare(self, op: AllocOp, element: str, size: int) -> None:
        """Write a buffer of the thread's own or of its block."""

    @abc.abstractmethod
    def minimum(self, a: str, b: str) -> str:
        """The lesser of two indices."""

    @abc.abstractmethod
    def wide_load(self, type_: str, buffer: str, place: str) -> str:
        """A vector as it is loaded."""

    @abc.abstractmethod
    def wide_store(self, type_: str, buffer: str, place: str, values: Sequence[str]) -> str:
        """The statement that stores a vector."""

    @abc.abstractmethod
    def component(self, lane: int) -> str:
        """The name of a lane of a vector."""

    def loaded(self, element: str, name: str) -> str:
        """An element as a value of its type."""
        return element

    # -- the whole -----------------------------------------------------------------------------------------------

    def waits(self) -> bool:
        return any(isinstance(op, BarrierOp) for op in self.func.walk())

    def is_apart(self, buffer: SSAValue) -> bool:
        """Whether nothing but this thread changes what it reads again: it may be a restricted pointer."""
        stored, loaded = ({op.buffer for op in self.func.walk() if isinstance(op, cls)} for cls in (StoreOp, LoadOp))
        return not (self.waits() and buffer in stored and buffer in loaded)

    def stored_buffers(self) -> set[SSAValue]:
        return {op.buffer for op in self.func.walk() if isinstance(op, StoreOp)}

    def block_threads(self) -> list[int] | None:
        """The threads of a block along x, y and z; None where only a call tells them."""
        loops = {tag_of(v): v for v in thread_loops(self.func, "threadIdx")}
        if any(v.is_dynamic for v in loops.values()):
            return None
        return [loops[tag].trip if (tag := f"threadIdx.{axis}") in loops else 1 for axis in "xyz"]

    def index_is_small(self) -> bool:
        """Whether 32 bits hold all indices: all sizes are known and small, and no number of the data is an index."""
        if any(isinstance(op, arith.IndexCastOp) and isinstance(op.result.type, IndexType) for op in self.func.walk()):
            return False
        buffers = [*self.func.body.block.args, *(o.result for o in self.func.walk() if isinstance(o, AllocOp))]
        for b in buffers:
            if not isinstance(b.type, MemRefType):
                return False
            shape = type_of(b).get_shape()
            if DYNAMIC_INDEX in shape or prod(shape) >= 1 << 31:
                return False
        return True

    # -- statements ----------------------------------------------------------------------------------------------

    def statement(self, op: Operation) -> None:
        if isinstance(op, ForOp):
            self.loop(op)
        elif isinstance(op, IfOp):
            self.inside(f"if ({condition(op.conditions(), self.atom(), self.ranges)})", op.body.block)
        elif isinstance(op, AllocOp):
            self.alloc(op)
        elif isinstance(op, BarrierOp):
            self.line(self.barrier(op.scope.data))
        elif isinstance(op, PrefetchOp):
            self.line(f"// {self.name(op.buffer_value())} is wanted soon")
        elif isinstance(op, LoadOp):
            self.load(op)
        elif isinstance(op, StoreOp):
            self.store(op)
        elif len(op.results) == 1 and not op.regions:
            self.value(op)
        else:
            raise self.fail(f"{op.name} has no row", op)

    def loop(self, op: ForOp) -> None:
        if is_real(op):
            kind, axis = tag_of(op).split(".")
            self.line(f"const {INDEX_TYPE} {self.name(op.var)} = {self.thread(kind, axis)};")
            self.block(op.body.block)
            return
        if op.kind.data not in ("serial", "unrolled"):
            raise self.fail(f"the loop {op.axis.data!r} is {op.kind.data} still", op)
        if op.kind.data == "unrolled":
            self.line("#pragma unroll")
        limits = [index(f, self.atom(), self.ranges) for f in op.limits()]
        limit = limits[0]
        for other in limits[1:]:
            limit = self.minimum(limit, other)
        variable = self.name(op.var)
        self.inside(f"for ({INDEX_TYPE} {variable} = 0; {variable} < {limit}; ++{variable})", op.body.block)

    def alloc(self, op: AllocOp) -> None:
        type_ = op.result.type
        if DYNAMIC_INDEX in type_.get_shape():
            raise self.fail(f"the size of the buffer {op.stage.data!r} is not known", op)
        if op.scope.data == "global":
            what = f'the buffer {op.stage.data!r} of scope "global" is made inside of a kernel'
            raise self.fail(f"{what}; run tir-unify-thread-binding", op)
        self.declare(op, self.element_type(op.result, op), max(prod(type_.get_shape()), 1))

    # -- accesses ------------------------------------------------------------------------------------------------

    def chunk(self, op: AccessOp, lanes: int) -> tuple[str, int] | None:
        """The vector type, and its lanes, by which a vector is accessed; None where it is lane by lane."""
        extents = extents_of(op.buffer_value())
        if op.conditions() or not all(e.is_constant for e in extents):
            return None
        flat = Linear()
        for form, stride in zip(op.forms(), row_major_strides([e.const for e in extents]), strict=True):
            flat = flat + form * stride
        name = name_of(scalar_type(type_of(op.buffer_value()).element_type))
        rest = Linear({a: c for a, c in flat.terms.items() if a != LANE}, flat.const)
        if flat.terms.get(LANE) != 1 or any(LANE in Linear.dim(a).dims() for a in rest.terms):
            return None
        for count in WIDE_LANES:
            if lanes % count or (name, count) not in self.wide:
                continue
            if all(c % count == 0 for c in rest.terms.values()) and rest.const % count == 0:
                return self.wide[name, count], count
        return None

    def load(self, op: LoadOp) -> None:
        lanes = lanes_of(op.result.type)
        type_name = name_of(op.result.type)
        element = self.c_type(type_name, op)
        buffer, zero = self.name(op.buffer), self.literal(0, type_name)
        wide = self.chunk(op, lanes) if lanes is not None else None
        names = self.define(op.results[0])
        if wide is not None and lanes is not None:
            type_, count = wide
            for start in range(0, lanes, count):
                whole = self.fresh("wide")
                self.line(f"const {type_} {whole} = {self.wide_load(type_, buffer, self.place(op, start))};")
                for n in range(count):
                    self.line(f"const {element} {names[start + n]} = {whole}.{self.component(n)};")
            return
        for n, name in enumerate(names):
            text = self.loaded(f"{buffer}[{self.place(op, n)}]", type_name)
            guard = self.guard(op, n)
            self.line(f"const {element} {name} = {f'({guard}) ? {text} : {zero}' if guard else text};")

    def store(self, op: StoreOp) -> None:
        lanes = lanes_of(op.value.type)
        values = self.lanes[op.value]
        buffer = self.name(op.buffer)
        wide = self.chunk(op, lanes) if lanes is not None else None
        if wide is not None and lanes is not None:
            type_, count = wide
            for start in range(0, lanes, count):
                self.line(self.wide_store(type_, buffer, self.place(op, start), values[start : start + count]))
            return
        for n in range(lanes or 1):
            guard = self.guard(op, n)
            self.line(f"{f'if ({guard}) ' if guard else ''}{buffer}[{self.place(op, n)}] = {values[n]};")

    # -- values --------------------------------------------------------------------------------------------------

    def define(self, value: SSAValue) -> list[str]:
        """A name for each lane of a value."""
        lanes = lanes_of(value.type)
        hint = value.name_hint or "v"
        names = [self.fresh(hint)] if lanes is None else [self.fresh(f"{hint}_{n}") for n in range(lanes)]
        self.lanes[value] = names
        return names

    def value(self, op: Operation) -> None:
        result = op.results[0]
        count = lanes_of(result.type) or 1
        if isinstance(op, arith.ConstantOp):
            self.lanes[result] = self.constant_lanes(op.value, result.type, op)
            return
        if isinstance(op, BroadcastOp):
            self.lanes[result] = self.lanes[op.value] * count
            return
        if isinstance(op, IndexOp):
            (form,) = over_values(op.map.data.results, op.operands)
            texts = [index(form, self.atom(n), self.ranges) for n in range(count)]
        elif isinstance(op, ConditionOp):
            found = op.set.data.conditions
            forms = over_values([c.form for c in found], op.operands)
            conditions = [Condition(f, c.equal) for f, c in zip(forms, found, strict=True)]
            texts = [condition(conditions, self.atom(n), self.ranges) for n in range(count)]
        elif isinstance(op, SelectOp):
            a, b, c = (self.lanes[o] for o in op.operands)
            texts = [f"({a[n]} ? {b[n]} : {c[n]})" for n in range(count)]
        else:
            given = [self.lanes[o] for o in op.operands]
            texts = [self.compute(op, [g[n] if len(g) > 1 else g[0] for g in given]) for n in range(count)]
        type_ = self.c_type(name_of(result.type), op)
        for name, text in zip(self.define(result), texts, strict=True):
            self.line(f"const {type_} {name} = {text};")

    def constant_lanes(self, attr: Attribute, type_: Attribute, op: Operation) -> list[str]:
        """The literal of a constant; of each lane for a vector."""
        name = name_of(type_)
        if isinstance(attr, (FloatAttr, IntegerAttr)):
            return [self.literal(attr.value.data, name)]  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        if isinstance(attr, DenseIntOrFPElementsAttr):
            numbers = attr.get_values()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            count = lanes_of(type_) or 1
            full = list(numbers) * count if len(numbers) == 1 else list(numbers)
            return [self.literal(n, name) for n in full]  # pyright: ignore[reportArgumentType]
        raise self.fail(f"the constant {attr} has no row", op)
