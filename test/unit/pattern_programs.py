"""Programs and patterns for tests: functions written as lines of text, random ops, random patterns over them."""

from __future__ import annotations

import random
from io import StringIO
from typing import Any

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.printer import Printer
from xdsl.rewriter import InsertPoint

from lamina.dialects import relay as r
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import array_dense
from lamina.dialects.rules.patterns import Alternatives, Pattern
from lamina.dialects.rules.terms import inserting
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.passes.rules.dataflow_pattern import is_op, wildcard

F32 = tensor_type((3,), "float32")
UNARY = ("exp", "nn.relu", "abs", "tanh", "erf", "negative")
BINARY = ("add", "subtract", "maximum")
T = "tensor<4xf32>"


def module_of(body: str, results: str = "%out", params: str = f"%x: {T}, %y: {T}", types: str = T) -> ModuleOp:
    """`func.func @main` with the lines of a body; `;` separates ops."""
    lines = "\n".join(line.strip() for line in body.replace(";", "\n").splitlines())
    text = f"func.func @main({params}) -> ({types}) {{\n{lines}\nreturn {results} : {types}\n}}"
    module = parse_text(LaminaContext(), text, "test.mlir")
    module.verify()
    return module


def value(module: ModuleOp, name: str = "out") -> SSAValue:
    for op in module.walk():
        for v in (*op.results, *(a for g in op.regions for b in g.blocks for a in b.args)):
            if v.name_hint == name:
                return v
    raise KeyError(name)


def text(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue()


def names(module: ModuleOp) -> list[str]:
    return [o.name.removeprefix("relay.") for o in module.walk() if o.name.startswith("relay.")]


def unary(*steps: str, start: str = "x") -> str:
    """Lines of a chain of unary ops, each value named by its op; the last one is %out."""
    lines: list[str] = []
    at = start
    for i, s in enumerate(steps):
        name = "out" if i == len(steps) - 1 else f"v{i}"
        lines.append(f"%{name} = relay.{s} %{at} : {T}")
        at = name
    return "\n".join(lines)


def word(name: str) -> Any:
    at: Any = r
    for part in name.split("."):
        at = getattr(at, part)
    return at


def program(rng: random.Random, ops: int) -> ModuleOp:
    """Random ops on two inputs and a constant; what nobody reads is returned."""
    body = Block(arg_types=[F32, F32])
    with inserting(Builder(InsertPoint.at_end(body))):
        constant = ConstantOp.make(array_dense(np.array([0.5, -1.0, 2.0], np.float32)))
        body.add_op(constant)
        values: list[SSAValue] = [*body.args, constant.result]
        for _ in range(ops):
            near = values[-rng.choice((2, 4, 12)) :]
            if rng.random() < 0.5:
                values.append(word(rng.choice(UNARY))(rng.choice(near)))
            else:
                values.append(word(rng.choice(BINARY))(rng.choice(near), rng.choice(values)))
    results = [v for v in values if isinstance(v.owner, Operation) and v.first_use is None] or values[-1:]
    body.add_op(func.ReturnOp(*results))
    return ModuleOp([func.FuncOp("main", ([F32, F32], [v.type for v in results]), Region(body))])


def random_pattern(rng: random.Random, depth: int, shared: list[Pattern]) -> Pattern:
    roll = rng.random()
    if depth == 0 or roll < 0.15:
        return rng.choice(shared) if rng.random() < 0.6 else wildcard()
    if roll < 0.35:
        return Alternatives([random_pattern(rng, depth - 1, shared) for _ in range(2)])
    name = rng.choice((*UNARY[:3], *BINARY[:2]))
    made = is_op(name)(*(random_pattern(rng, depth - 1, shared) for _ in range(1 + (name in BINARY))))
    if rng.random() < 0.2:
        shared.append(made)
    return made
