"""Programs whose gradients tests take, and gradients by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects import relay as r
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.rules.terms import inserting
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.printing import module_text
from lamina.ir.verification import verify_module
from lamina.passes.relay.functional.first_order_gradient import FirstOrderGradient

Array = np.ndarray[Any, Any]


def parsed(text: str) -> ModuleOp:
    module = parse_text(LaminaContext(), text, "test.mlir")
    verify_module(module)
    return module


def differentiated(module: ModuleOp) -> ModuleOp:
    """A copy of a module whose @main gives its gradients, verified and read back from its text."""
    made = module.clone()
    FirstOrderGradient().apply(LaminaContext(), made)
    verify_module(made)
    assert module_text(parsed(module_text(made))) == module_text(made)
    return made


def program(build: Any, *types: tuple[tuple[int, ...], str]) -> ModuleOp:
    """`@main` of relay terms: `build` gets its parameters and gives its results."""
    block = Block(arg_types=[tensor_type(s, d) for s, d in types])
    with inserting(Builder(InsertPoint.at_end(block))):
        made = build(*block.args)
    results: list[SSAValue] = [*made] if isinstance(made, tuple) else [made]  # pyright: ignore[reportUnknownArgumentType]
    block.add_op(func.ReturnOp(*results))
    type_ = FunctionType.from_lists(list(block.arg_types), [v.type for v in results])
    module = ModuleOp([func.FuncOp("main", type_, Region(block))])
    verify_module(module)
    return module


def by_differences(function: Any, arrays: list[Array], operand: int, step: float = 1e-6) -> Array:
    """The gradient of the sum of a function of arrays with respect to one of them."""
    found = np.zeros(arrays[operand].shape)
    for place in np.ndindex(*found.shape):
        sides: list[float] = []
        for by in (step, -step):
            copy = arrays[operand].copy()
            copy[place] += by
            sides.append(float(np.sum(function(*arrays[:operand], copy, *arrays[operand + 1 :]))))
        found[place] = (sides[0] - sides[1]) / (2 * step)
    return found


# -- drawn programs --------------------------------------------------------------------------------

TENSOR = "tensor<3xf64>"
BOTH = f"tuple<{TENSOR}, {TENSOR}>"
FUNCTION = f"({TENSOR}) -> {TENSOR}"
WITH_FUNCTION = f"tuple<{TENSOR}, {FUNCTION}>"
TWICE = f"""
func.func @twice(%t: {WITH_FUNCTION}) -> {TENSOR} {{
  %x = relay.tuple_get_item %t[0] : {WITH_FUNCTION}
  %f = relay.tuple_get_item %t[1] : {WITH_FUNCTION}
  %y = relay.call %f(%x) : {FUNCTION}
  %z = relay.call %f(%y) : {FUNCTION}
  return %z : {TENSOR}
}}"""


class Drawn:
    """The text of a random program over vectors of three; with `passing` it hands functions on."""

    def __init__(self, seed: int, passing: bool = False) -> None:
        self.random = np.random.default_rng(seed)
        self.passing = passing
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def main(self) -> str:
        """@main of two vectors and two truth values, which may call @g of two vectors and one truth value."""
        given = ["%x", "%y"]
        rows, results = self.body(given, ["%c", "%d"], 3, ["@g"])
        inner, inner_results = self.body(["%a", "%b"], ["%e"], 2, [])
        return f"""
func.func @g(%a: {TENSOR}, %b: {TENSOR}, %e: tensor<i1>) -> {TENSOR} {{
{inner}  return {inner_results[-1]} : {TENSOR}
}}
func.func @main(%x: {TENSOR}, %y: {TENSOR}, %c: tensor<i1>, %d: tensor<i1>) -> ({TENSOR}, {TENSOR}) {{
{rows}  return {results[-1]}, {results[-2]} : {TENSOR}, {TENSOR}
}}{TWICE * self.passing}"""

    def body(self, values: list[str], flags: list[str], depth: int, callees: list[str]) -> tuple[str, list[str]]:
        """Some ops that read values, and all the values there are then."""
        values = list(values)
        text = ""
        for _ in range(int(self.random.integers(2, 6))):
            text += self.step(values, flags, depth, callees)
        return text, values

    def pick(self, values: list[str]) -> str:
        return str(values[int(self.random.integers(len(values)))])

    def step(self, values: list[str], flags: list[str], depth: int, callees: list[str]) -> str:
        a, b, made = self.pick(values), self.pick(values), self.name()
        kind = int(self.random.integers(7 if depth else 3))
        values.append(made)
        if kind == 0:
            op = self.pick(["tanh", "sin", "sigmoid", "negative"])
            return f"{made} = relay.{op} {a} : {TENSOR}\n"
        if kind <= 2:
            op = self.pick(["add", "subtract", "multiply"])
            return f"{made} = relay.{op} {a}, {b} : {TENSOR}\n"
        if kind == 3:
            pair = self.name()
            return (
                f"{pair} = relay.tuple({a}, {b}) : {BOTH}\n"
                f"{made} = relay.tuple_get_item {pair}[{int(self.random.integers(2))}] : {BOTH}\n"
            )
        if kind == 4:
            values.pop()
            regions = [self.body(values, flags, depth - 1, callees) for _ in range(2)]
            values.append(made)
            first, second = (f"{rows}relay.yield {inner[-1]} : {TENSOR}\n" for rows, inner in regions)
            return f"{made} = relay.if {self.pick(flags)} -> {TENSOR} {{\n{first}}} else {{\n{second}}}\n"
        if kind == 5 and callees:
            types = f"({TENSOR}, {TENSOR}, tensor<i1>)"
            return f"{made} = func.call @g({a}, {b}, {self.pick(flags)}) : {types} -> {TENSOR}\n"
        # A closure of one of the values, called twice.
        if self.passing:
            return self.handed_on(values[:-1], flags, made)
        function, text = self.closure(a)
        once = self.name()
        return (
            f"{text}{once} = relay.call {function}({b}) : {FUNCTION}\n"
            f"{made} = relay.call {function}({once}) : {FUNCTION}\n"
        )

    def closure(self, value: str) -> tuple[str, str]:
        """A function of a vector that captures one: its name, and its text."""
        function, kept, parameter = (self.name() for _ in range(3))
        rows, inner = self.body([kept, parameter], [], 0, [])
        return function, (
            f"{function} = relay.fn captures({kept} = {value} : {TENSOR}) ({parameter}: {TENSOR}) -> {TENSOR} {{\n"
            f"{rows}relay.return {inner[-1]} : {TENSOR}\n}}\n"
        )

    def handed_on(self, values: list[str], flags: list[str], made: str) -> str:
        """One of two closures, the second of which calls the first, given in a tuple to a function that calls it."""
        first, text = self.closure(self.pick(values))
        second, kept, parameter, inside, chosen, pair = (self.name() for _ in range(6))
        return (
            f"{text}{second} = relay.fn captures({kept} = {first} : {FUNCTION}) "
            f"({parameter}: {TENSOR}) -> {TENSOR} {{\n"
            f"{inside} = relay.call {kept}({parameter}) : {FUNCTION}\n{inside}s = relay.sin {inside} : {TENSOR}\n"
            f"relay.return {inside}s : {TENSOR}\n}}\n"
            f"{chosen} = relay.if {self.pick(flags)} -> ({FUNCTION}) {{\nrelay.yield {first} : {FUNCTION}\n}} else {{\n"
            f"relay.yield {second} : {FUNCTION}\n}}\n"
            f"{pair} = relay.tuple({self.pick(values)}, {chosen}) : {WITH_FUNCTION}\n"
            f"{made} = func.call @twice({pair}) : ({WITH_FUNCTION}) -> {TENSOR}\n"
        )


def chain(count: int) -> ModuleOp:
    """Products and hyperbolic tangents, each of the one before."""

    def build(x: Any) -> Any:
        y = x
        for n in range(count):
            y = r.multiply(y, x) if n % 3 else r.tanh(y)
        return y

    return program(build, ((4,), "float32"))
