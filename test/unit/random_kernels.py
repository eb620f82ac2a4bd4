"""Random kernels of tir for tests of passes: loops with tails, conditions, guarded accesses, buffers of their own.

Every buffer is filled before anything else happens, every access is guarded to stay within its buffer: a kernel does no
wrong whatever it computes.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, i32
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Linear, constant, floordiv, mod
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, buffer_type, type_of
from lamina.dialects.tir.ops import ForOp, FuncOp, IfOp

SCOPES = ("global", "global", "local", "register")


class RandomKernel:
    """Draws a kernel `@f` of two inputs and one output of i32."""

    def __init__(self, seed: int, *, registers: bool = False, chain: bool = False, statements: bool = True) -> None:
        self.r = random.Random(seed)
        self.registers = registers
        self.names = 0
        shapes = [[self.r.randint(1, 6) for _ in range(self.r.randint(1, 3))] for _ in range(3)]
        types = [buffer_type(s, i32) for s in shapes]
        self.func = FuncOp.make("f", types, 1)
        self.inputs: list[SSAValue] = list(self.func.body.block.args[:2])
        self.output: SSAValue = self.func.body.block.args[2]
        self.writable: list[SSAValue] = [self.output]
        self.module = ModuleOp([self.func])
        block = self.func.body.block
        self.fill(block, self.output)
        for _ in range(self.r.randint(1, 3) if statements and not chain else 0):
            self.statement(block, [], 0)
        if chain:
            self.chain(block)
        self.module.verify()

    def arrays(self) -> list[np.ndarray[Any, Any]]:
        generator = np.random.default_rng(self.r.randint(0, 1 << 30))
        shapes = [t.get_shape() for t in self.func.function_type.inputs.data[:2] if isinstance(t, MemRefType)]
        return [generator.integers(-9, 10, s).astype(np.int32) for s in shapes]

    def axis(self) -> str:
        self.names += 1
        return f"a{self.names}"

    def chain(self, block: Block) -> None:
        """Buffers each of which is computed from the one before, and sometimes from an older one."""
        shape = [self.r.randint(1, 4) for _ in range(self.r.randint(1, 2))]
        buffers: list[SSAValue] = []
        for n in range(self.r.randint(2, 5)):
            extents = shape if self.r.random() < 0.8 else [e + 1 for e in shape]
            alloc = AllocOp.make(f"t{n}", buffer_type(extents, i32))
            block.add_op(alloc)
            if buffers:
                self.map(block, [buffers[-1], self.r.choice(buffers)], alloc.result, extents)
            else:
                self.fill(block, alloc.result)
            buffers.append(alloc.result)
        loops = [ForOp.make(e, self.axis()) for e in type_of(self.output).get_shape()]
        load = self.load(buffers[-1], [v.var for v in loops])
        store = StoreOp.make(load.result, self.output, [Linear.dim(v.var) for v in loops])
        self.nest(block, loops, [load, store])

    def map(self, block: Block, sources: list[SSAValue], target: SSAValue, extents: list[int]) -> None:
        loops = [ForOp.make(e, self.axis(), kind=self.r.choice(["serial", "parallel"])) for e in extents]  # type: ignore[arg-type]
        index = [Linear.dim(v.var) for v in loops]
        loads: list[LoadOp] = []
        for source in sources:
            # Element by element, or from the other end: then it cannot be in place.
            sizes = type_of(source).get_shape()
            back = self.r.random() < 0.2
            forms = [constant(e - 1) - f if back else f for f, e in zip(index, sizes, strict=True)]
            inside = [
                c for f, e in zip(forms, sizes, strict=True) for c in (Condition(f), Condition(constant(e - 1) - f))
            ]
            loads.append(LoadOp.make(source, forms, inside if list(sizes) != extents else ()))
        total = arith.AddiOp(loads[0].result, loads[1].result)
        self.nest(block, loops, [*loads, total, StoreOp.make(total.result, target, index)])

    # -- statements ------------------------------------------------------------------------------------------------

    def fill(self, block: Block, buffer: SSAValue) -> None:
        """Write every element."""
        shape = type_of(buffer).get_shape()
        register = isinstance(buffer.owner, AllocOp) and buffer.owner.scope.data == "register"
        loops = [ForOp.make(e, self.axis(), kind="unrolled" if register else "serial") for e in shape]
        source = self.r.choice(self.inputs)
        load = self.load(source, [v.var for v in loops])
        body: list[Operation] = [load, StoreOp.make(load.result, buffer, [Linear.dim(v.var) for v in loops])]
        self.nest(block, loops, body)

    def nest(self, block: Block, loops: list[ForOp], body: list[Operation]) -> None:
        place = block
        for loop in loops:
            place.add_op(loop)
            place = loop.body.block
        place.add_ops(body)

    def statement(self, block: Block, variables: list[SSAValue], depth: int) -> None:
        draw = self.r.random()
        if depth < 3 and draw < 0.5:
            self.loop(block, variables, depth)
        elif depth < 3 and draw < 0.65 and variables:
            holder = IfOp.make([self.condition(variables) for _ in range(self.r.randint(1, 2))])
            block.add_op(holder)
            self.statements(holder.body.block, variables, depth + 1)
        elif depth < 3 and draw < 0.75:
            self.buffer(block, variables, depth)
        else:
            self.compute(block, variables)

    def statements(self, block: Block, variables: list[SSAValue], depth: int) -> None:
        for _ in range(self.r.randint(1, 2)):
            self.statement(block, variables, depth)

    def loop(self, block: Block, variables: list[SSAValue], depth: int) -> None:
        kind = self.r.choice(["serial", "serial", "unrolled"])
        loop = ForOp.make(self.r.randint(0 if self.r.random() < 0.1 else 1, 5), self.axis(), kind=kind)  # type: ignore[arg-type]
        if variables and self.r.random() < 0.4:
            loop.set_min_bounds([self.form(variables)])
        block.add_op(loop)
        self.statements(loop.body.block, [*variables, loop.var], depth + 1)

    def buffer(self, block: Block, variables: list[SSAValue], depth: int) -> None:
        """A buffer that lives in the block."""
        shape = [self.r.randint(1, 4) for _ in range(self.r.randint(1, 2))]
        scope = self.r.choice(SCOPES) if self.registers else "global"
        alloc = AllocOp.make(self.axis(), buffer_type(shape, i32), scope)
        block.add_op(alloc)
        self.fill(block, alloc.result)
        if scope != "register":
            self.writable.append(alloc.result)
            self.statements(block, variables, depth + 1)
        else:
            load = LoadOp.make(alloc.result, [constant(self.r.randrange(e)) for e in shape])
            block.add_op(load)
            block.add_op(self.store(load.result, variables))
        # Read once more at the end, so that what was written matters.
        if scope != "register":
            load = self.load(alloc.result, variables)
            block.add_ops([load, self.store(load.result, variables)])
            self.writable.remove(alloc.result)

    def compute(self, block: Block, variables: list[SSAValue]) -> None:
        a = self.load(self.r.choice([*self.inputs, *self.writable]), variables)
        b = self.load(self.r.choice([*self.inputs, *self.writable]), variables)
        op = self.r.choice([arith.AddiOp, arith.SubiOp, arith.MaxSIOp, arith.XOrIOp])(a.result, b.result)
        block.add_ops([a, b, op])
        value: SSAValue = op.result
        if self.r.random() < 0.3:
            number = arith.ConstantOp(IntegerAttr(self.r.randint(-3, 3), i32))
            more = arith.MuliOp(value, number.result)
            block.add_ops([number, more])
            value = more.result
        block.add_op(self.store(value, variables))

    # -- accesses --------------------------------------------------------------------------------------------------

    def form(self, variables: list[SSAValue]) -> Linear:
        form = constant(self.r.randint(-2, 5))
        for v in self.r.sample(variables, min(len(variables), self.r.randint(0, 2))):
            form = form + Linear.dim(v) * self.r.choice([-2, -1, -1, 1, 1, 1, 2, 3])
        if self.r.random() < 0.15:
            form = self.r.choice([floordiv, mod])(form, self.r.randint(2, 4))
        return form

    def condition(self, variables: list[SSAValue]) -> Condition:
        return Condition(self.form(variables), self.r.random() < 0.15)

    def place(self, buffer: SSAValue, variables: list[SSAValue]) -> tuple[list[Linear], list[Condition]]:
        forms = [self.form(variables) for _ in type_of(buffer).get_shape()]
        guard: list[Condition] = []
        for form, extent in zip(forms, type_of(buffer).get_shape(), strict=True):
            guard += [Condition(form), Condition(constant(extent - 1) - form)]
        return forms, guard

    def load(self, buffer: SSAValue, variables: list[SSAValue]) -> LoadOp:
        return LoadOp.make(buffer, *self.place(buffer, variables))

    def store(self, value: SSAValue, variables: list[SSAValue]) -> StoreOp:
        target = self.r.choice(self.writable)
        return StoreOp.make(value, target, *self.place(target, variables))
