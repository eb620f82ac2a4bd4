"""Random kernels with a vectorized loop: tails, conditions, inner loops, buffers of one iteration, divisions.

Each iteration of the vectorized loop reads and writes only elements of its own, of buffers in memory and registers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, SSAValue

from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, buffer_type, type_of
from lamina.dialects.tir.ops import ForOp, IfOp

from .random_kernels import RandomKernel


class RandomVectorKernel(RandomKernel):
    """Draws a kernel `@f` of two inputs and one output of i32 with a vectorized loop."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, chain=False, statements=False)
        r = self.r
        self.outer = [
            ForOp.make(r.randint(1, 3), self.axis(), kind=r.choice(["serial", "unrolled"]))
            for _ in range(r.randint(0, 2))
        ]
        self.vector = ForOp.make(r.choice([1, 2, 3, 4, 8]), self.axis(), kind="vectorized")
        self.index = Linear.dim(self.vector.var)
        stride = self.vector.trip
        for loop in reversed(self.outer):
            self.index = self.index + Linear.dim(loop.var) * stride
            stride *= loop.trip
        self.size = max(stride - r.choice([0, 0, 1, 2, 3]), 1)
        block = self.func.body.block
        unrolled = all(loop.kind.data == "unrolled" for loop in self.outer)
        scope = "register" if unrolled and r.random() < 0.7 else "global"
        own = AllocOp.make("own", buffer_type([self.size], i32), scope)
        block.add_op(own)
        self.own: SSAValue = own.result
        self.fill(block, self.own)
        variables = [loop.var for loop in self.outer]
        if variables and r.random() < 0.4:
            self.vector.set_min_bounds([self.form(variables)])
        self.variables = [*variables, self.vector.var]
        self.nest(block, [*self.outer, self.vector], [])
        if r.random() < 0.5 and self.outer:
            # The usual tail: what lies beyond the buffer.
            rest = constant(self.size) - self.index + Linear.dim(self.vector.var)
            self.vector.set_min_bounds([*self.vector.min_bounds(), rest])
        for _ in range(r.randint(1, 3)):
            self.lane_statement(self.vector.body.block, self.variables, 0)
        self.read_back(block, scope)
        self.module.verify()

    def arrays(self) -> list[np.ndarray[Any, Any]]:
        """The second input, whose elements divide, is odd."""
        first, second = super().arrays()
        return [first, second | 1]

    def read_back(self, block: Block, scope: str) -> None:
        """Let the output show every element of the own buffer, folded into it."""
        extents = type_of(self.output).get_shape()
        loop = ForOp.make(self.size, self.axis(), kind="unrolled" if scope == "register" else "serial")
        index = [Linear.dim(loop.var) if n == 0 else constant(0) for n in range(len(extents))]
        inside = [Condition(constant(extents[0] - 1) - index[0])]
        old = LoadOp.make(self.output, index, inside)
        load = LoadOp.make(self.own, [Linear.dim(loop.var)])
        total = arith.AddiOp(old.result, load.result)
        self.nest(block, [loop], [old, load, total, StoreOp.make(total.result, self.output, index, inside)])

    def place_of_own(self) -> tuple[list[Linear], list[Condition]]:
        return [self.index], [Condition(constant(self.size - 1) - self.index)]

    def lane_statement(self, block: Block, variables: list[SSAValue], depth: int) -> None:
        draw = self.r.random()
        if depth < 2 and draw < 0.3:
            holder = IfOp.make([self.condition(variables) for _ in range(self.r.randint(1, 2))])
            block.add_op(holder)
            self.lane_statement(holder.body.block, variables, depth + 1)
        elif depth < 2 and draw < 0.5:
            loop = ForOp.make(self.r.randint(1, 3), self.axis())
            if self.r.random() < 0.5:
                loop.set_min_bounds([self.form(variables)])
            block.add_op(loop)
            self.lane_statement(loop.body.block, [*variables, loop.var], depth + 1)
        elif depth < 2 and draw < 0.65:
            alloc = AllocOp.make(self.axis(), buffer_type([2], i32))
            block.add_op(alloc)
            loads = [self.load(self.inputs[0], variables) for _ in range(2)]
            stores = [StoreOp.make(v.result, alloc.result, [constant(n)]) for n, v in enumerate(loads)]
            block.add_ops([*loads, *stores])
            load = LoadOp.make(alloc.result, [constant(self.r.randrange(2))])
            block.add_op(load)
            self.combine(block, load.result)
        else:
            load = self.load(self.r.choice(self.inputs), variables)
            block.add_op(load)
            self.combine(block, load.result)

    def combine(self, block: Block, value: SSAValue) -> None:
        """own[index] = own[index] (+, /, max) value"""
        old = LoadOp.make(self.own, *self.place_of_own())
        block.add_op(old)
        if self.r.random() < 0.25:
            # Where the index is in bounds the divisor is not zero; what idle lanes load is.
            forms, guard = self.place(self.inputs[1], self.variables)
            holder = IfOp.make(guard)
            block.add_op(holder)
            block = holder.body.block
            divisor = LoadOp.make(self.inputs[1], forms)
            quotient = self.r.choice([arith.DivSIOp, arith.RemSIOp, arith.FloorDivSIOp])(value, divisor.result)
            block.add_ops([divisor, quotient])
            value = quotient.results[0]
        final = self.r.choice([arith.AddiOp, arith.MaxSIOp, arith.SubiOp])(old.result, value)
        block.add_ops([final, StoreOp.make(final.results[0], self.own, *self.place_of_own())])
