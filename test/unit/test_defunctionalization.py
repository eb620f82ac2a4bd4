"""Programs that hand functions on: as data they compute the same, and have gradients."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.relay.core import CallOp, FnOp
from lamina.driver.compiled_kernels import CompiledKernels
from lamina.errors import UsageError
from lamina.ir.context import LaminaContext
from lamina.ir.printing import module_text
from lamina.ir.verification import verify_module
from lamina.passes.relay.functional.defunctionalization import Defunctionalization
from lamina.vm.vm import ReferenceKernels, VirtualMachine

sys.path.insert(0, str(Path(__file__).parent))
from gradient_programs import Drawn, by_differences, differentiated, parsed  # noqa: E402

pytestmark = pytest.mark.slow

F = "(tensor<f64>) -> tensor<f64>"

CHOSEN = """
func.func @twice(%f: F, %x: tensor<f64>) -> tensor<f64> {
  %y = relay.call %f(%x) : F
  %z = relay.call %f(%y) : F
  return %z : tensor<f64>
}
func.func @square(%x: tensor<f64>) -> tensor<f64> {
  %y = relay.multiply %x, %x : tensor<f64>
  return %y : tensor<f64>
}
func.func @main(%c: tensor<i1>, %k: tensor<f64>, %x: tensor<f64>) -> tensor<f64> {
  %f = relay.if %c -> (F) {
    %g = relay.fn captures(%w = %k : tensor<f64>) (%a: tensor<f64>) -> tensor<f64> {
      %b = relay.multiply %a, %w : tensor<f64>
      %s = relay.sin %b : tensor<f64>
      relay.return %s : tensor<f64>
    }
    relay.yield %g : F
  } else {
    %g = relay.global @square : F
    relay.yield %g : F
  }
  %y = func.call @twice(%f, %x) : (F, tensor<f64>) -> tensor<f64>
  return %y : tensor<f64>
}
""".replace("F", F)

# compose gives a closure of its two arguments, power one of itself; each is a function of functions.
COMPOSED = """
func.func @compose(%f: F, %g: F) -> (F) {
  %h = relay.fn captures(%f0 = %f : F, %g0 = %g : F) (%a: tensor<f64>) -> tensor<f64> {
    %b = relay.call %f0(%a) : F
    %c = relay.call %g0(%b) : F
    relay.return %c : tensor<f64>
  }
  return %h : F
}
func.func @main(%n: tensor<i64>, %k: tensor<f64>, %x: tensor<f64>) -> tensor<f64> {
  %f = relay.fn captures(%w = %k : tensor<f64>) (%a: tensor<f64>) -> tensor<f64> {
    %b = relay.multiply %a, %w : tensor<f64>
    %s = relay.sin %b : tensor<f64>
    relay.return %s : tensor<f64>
  }
  %power = relay.fn captures(%base = %f : F) self %again (%m: tensor<i64>) -> (F) {
    %one = relay.constant dense<1> : tensor<i64>
    %more = relay.greater %m, %one : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %r = relay.if %more -> (F) {
      %less = relay.subtract %m, %one : tensor<i64>
      %rest = relay.call %again(%less) : (tensor<i64>) -> (F)
      %both = func.call @compose(%base, %rest) : (F, F) -> (F)
      relay.yield %both : F
    } else {
      relay.yield %base : F
    }
    relay.return %r : F
  }
  %p = relay.call %power(%n) : (tensor<i64>) -> (F)
  %y = relay.call %p(%x) : F
  return %y : tensor<f64>
}
""".replace("F", F)

# Functions in lists whose element is a type parameter, and in a data type that declares them.
LISTED = (
    """
relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }
relay.type @Step { Apply(F), Shift(tensor<f64>) }
func.func @run(%steps: STEPS, %x: tensor<f64>) -> tensor<f64> {
  %r = relay.match %steps : STEPS -> tensor<f64> {
    case Nil { relay.yield %x : tensor<f64> }
    case Cons(Apply(%f : F), %rest : STEPS) {
      %y = relay.call %f(%x) : F
      %z = func.call @run(%rest, %y) : (STEPS, tensor<f64>) -> tensor<f64>
      relay.yield %z : tensor<f64>
    }
    case Cons(Shift(%by : tensor<f64>), %rest : STEPS) {
      %y = relay.add %x, %by : tensor<f64>
      %z = func.call @run(%rest, %y) : (STEPS, tensor<f64>) -> tensor<f64>
      relay.yield %z : tensor<f64>
    }
  }
  return %r : tensor<f64>
}
func.func @second(%fs: FUNCTIONS) -> (F) {
  %r = relay.match partial %fs : FUNCTIONS -> (F) {
    case Cons(_, Cons(%f : F, _)) { relay.yield %f : F }
  }
  return %r : F
}
func.func @main(%k: tensor<f64>, %x: tensor<f64>) -> tensor<f64> {
  %f = relay.fn captures(%w = %k : tensor<f64>) (%a: tensor<f64>) -> tensor<f64> {
    %b = relay.multiply %a, %w : tensor<f64>
    %s = relay.sin %b : tensor<f64>
    relay.return %s : tensor<f64>
  }
  %g = relay.fn (%a: tensor<f64>) -> tensor<f64> {
    %b = relay.exp %a : tensor<f64>
    relay.return %b : tensor<f64>
  }
  %n = relay.construct Nil() : () -> FUNCTIONS
  %n1 = relay.construct Cons(%f, %n) : (F, FUNCTIONS) -> FUNCTIONS
  %n2 = relay.construct Cons(%g, %n1) : (F, FUNCTIONS) -> FUNCTIONS
  %h = func.call @second(%n2) : (FUNCTIONS) -> (F)
  %s1 = relay.construct Apply(%h) : (F) -> STEP
  %s2 = relay.construct Shift(%k) : (tensor<f64>) -> STEP
  %s3 = relay.construct Apply(%g) : (F) -> STEP
  %l0 = relay.construct Nil() : () -> STEPS
  %l1 = relay.construct Cons(%s3, %l0) : (STEP, STEPS) -> STEPS
  %l2 = relay.construct Cons(%s2, %l1) : (STEP, STEPS) -> STEPS
  %l3 = relay.construct Cons(%s1, %l2) : (STEP, STEPS) -> STEPS
  %y = func.call @run(%l3, %x) : (STEPS, tensor<f64>) -> tensor<f64>
  return %y : tensor<f64>
}
""".replace("STEPS", "!relay.adt<@List, !relay.adt<@Step>>")
    .replace("STEP", "!relay.adt<@Step>")
    .replace("FUNCTIONS", "!relay.adt<@List, F>")
    .replace("F", F)
)


def chosen(c: Any, k: Any, x: Any) -> Any:
    return np.sin(k * np.sin(k * x)) if c else x**4


def composed(n: Any, k: Any, x: Any) -> Any:
    for _ in range(max(int(n), 1)):
        x = np.sin(k * x)
    return x


def listed(k: Any, x: Any) -> Any:
    return np.exp(np.sin(k * x) + k)


CASES: list[tuple[str, Callable[..., Any], list[Any]]] = [
    (CHOSEN, chosen, [np.asarray(True)]),
    (CHOSEN, chosen, [np.asarray(False)]),
    (COMPOSED, composed, [np.asarray(1)]),
    (COMPOSED, composed, [np.asarray(4)]),
    (LISTED, listed, []),
]
every_case = pytest.mark.parametrize(("text", "function", "first"), CASES)


def without_functions(module: ModuleOp) -> ModuleOp:
    """A copy of a module after the pass, verified and read back from its text."""
    made = module.clone()
    Defunctionalization().apply(LaminaContext(), made)
    verify_module(made)
    assert module_text(parsed(module_text(made))) == module_text(made)
    return made


@every_case
def test_no_function_is_a_value(text: str, function: Callable[..., Any], first: list[Any]) -> None:
    made = without_functions(parsed(text))
    VirtualMachine(made, ReferenceKernels()).run([*first, np.asarray(1.3), np.asarray(0.7)])
    # What others may call stays; @main and the functions that were made have no functions.
    for op in made.body.block.ops:
        if op.name == "func.func" and (op.properties["sym_name"].data == "main" or "sym_visibility" in op.properties):  # type: ignore[attr-defined]
            for inner in all_ops(op):
                assert not isinstance(inner, (FnOp, CallOp))
                assert not any(isinstance(v.type, FunctionType) for v in inner.results)
    again = made.clone()
    Defunctionalization().apply(LaminaContext(), again)
    assert str(again) == str(made)


@every_case
def test_the_values_stay(text: str, function: Callable[..., Any], first: list[Any]) -> None:
    given = [*first, np.asarray(1.3), np.asarray(0.7)]
    for module in (parsed(text), without_functions(parsed(text))):
        (found,) = VirtualMachine(module, ReferenceKernels()).run(given)
        np.testing.assert_allclose(found, function(*given), rtol=1e-12)


@every_case
def test_captures_have_gradients(text: str, function: Callable[..., Any], first: list[Any]) -> None:
    values = [np.asarray(1.3), np.asarray(0.7)]
    machine = VirtualMachine(differentiated(parsed(text)), ReferenceKernels())
    found, *gradients = machine.run([*first, *values])
    np.testing.assert_allclose(found, function(*first, *values))
    for n, gradient in enumerate(gradients[len(first) :]):
        expected = by_differences(partial(function, *first), values, n)
        np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-9)


def test_machine_code_agrees() -> None:
    module, given = differentiated(parsed(CHOSEN)), [np.asarray(True), np.asarray(1.3), np.asarray(0.7)]
    found = VirtualMachine(module, CompiledKernels()).run(given)
    for got, want in zip(found, VirtualMachine(module, ReferenceKernels()).run(given), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9)


@pytest.mark.parametrize(("text", "function", "first"), [CASES[0], CASES[3]])
def test_gradients_of_gradients(text: str, function: Callable[..., Any], first: list[Any]) -> None:
    """Differentiated programs hand their pullbacks on."""
    values = [np.asarray(1.3), np.asarray(0.7)]
    once = VirtualMachine(differentiated(parsed(text)), ReferenceKernels())
    twice = VirtualMachine(differentiated(differentiated(parsed(text))), ReferenceKernels())
    found = twice.run([*first, *values])[-2:]

    def results(*v: Any) -> Any:
        return sum(np.sum(g) for g in once.run([*first, *v]) if g.dtype == np.float64)

    for n, gradient in enumerate(found):
        np.testing.assert_allclose(gradient, by_differences(results, values, n), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 40))])
def test_drawn_programs_that_hand_functions_on(seed: int) -> None:
    text = Drawn(seed, passing=True).main()
    plain = VirtualMachine(parsed(text), ReferenceKernels())
    as_data = VirtualMachine(without_functions(parsed(text)), ReferenceKernels())
    full = VirtualMachine(differentiated(parsed(text)), ReferenceKernels())
    random = np.random.default_rng(seed)
    arrays = [random.uniform(-1, 1, 3) for _ in range(2)]
    flags = [np.asarray(bool(random.integers(2))) for _ in range(2)]
    *results, into_x, into_y, _, _ = full.run([*arrays, *flags])
    for machine in (plain, as_data):
        for got, want in zip(results, machine.run([*arrays, *flags]), strict=True):
            np.testing.assert_array_equal(got, want)

    def function(x: Any, y: Any) -> Any:
        return sum(np.sum(v) for v in plain.run([x, y, *flags]))

    # Of a large value the differences say nothing about what changes it little.
    close = 1e-7 * max(1.0, abs(function(*arrays)))
    np.testing.assert_allclose(into_x, by_differences(function, arrays, 0), rtol=1e-6, atol=close)
    np.testing.assert_allclose(into_y, by_differences(function, arrays, 1), rtol=1e-6, atol=close)


def test_drawn_programs_do_hand_functions_on() -> None:
    assert sum("call @twice" in Drawn(seed, passing=True).main() for seed in range(40)) >= 20


def test_data_that_could_hold_functions_and_does_not() -> None:
    text = """
    relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }
    func.func @main(%x: tensor<f64>) -> tensor<f64> {
      %n = relay.construct Nil() : () -> !relay.adt<@List, F>
      %r = relay.match %n : !relay.adt<@List, F> -> tensor<f64> {
        case Nil { relay.yield %x : tensor<f64> }
        case Cons(%f : F, _) {
          %y = relay.call %f(%x) : F
          relay.yield %y : tensor<f64>
        }
      }
      return %r : tensor<f64>
    }
    """.replace("F", F)
    made = without_functions(parsed(text))
    assert VirtualMachine(made, ReferenceKernels()).run([np.asarray(3.0)]) == [3.0]
    found = VirtualMachine(differentiated(parsed(text)), ReferenceKernels()).run([np.asarray(3.0)])
    assert found == [3.0, 1.0]


def test_the_pass_as_tvm_spells_it() -> None:
    import lamina.compat.tvm as tvm
    from lamina.compat.tvm import relay

    a, b, c, k, x = (relay.var(n, shape=(), dtype="bool" if n == "c" else "float32") for n in "abckx")
    f = relay.var("f")
    choice = relay.If(c, relay.Function([a], relay.multiply(a, k)), relay.Function([b], relay.exp(b)))
    mod = tvm.IRModule.from_expr(relay.Function([c, k, x], relay.Let(f, choice, relay.Call(f, [relay.Call(f, [x])]))))
    found = relay.transform.Defunctionalization(mod["main"], mod)
    assert found is mod["main"] and "match (%f)" in mod.astext()
    given = [np.asarray(True), np.float32(3), np.float32(2)]
    assert relay.create_executor("vm", mod).evaluate()(*given).numpy() == 18
    with pytest.raises(UsageError, match="takes a function of the module"):
        relay.transform.Defunctionalization(choice.true_branch, mod)


def test_functions_with_type_parameters_have_gradients() -> None:
    """A text that is generic is made one for the types of each call; its functions are handed on as any."""
    from lamina.compat.tvm import parser

    text = """#[version = "0.0.5"]
    def @twice[A](%f: fn (A) -> A, %x: A) -> A { %f(%f(%x)) }
    def @main(%x: Tensor[(3), float64], %k: Tensor[(2), float64]) -> (Tensor[(3), float64], Tensor[(2), float64]) {
      let %g = fn (%a: Tensor[(3), float64]) -> Tensor[(3), float64] { sin(%a) };
      let %h = fn (%a: Tensor[(2), float64]) -> Tensor[(2), float64] { multiply(%a, %k) };
      (@twice(%g, %x), @twice(%h, %k))
    }
    """
    x, k = np.array([0.1, 0.2, 0.3]), np.array([1.5, -0.5])
    made = differentiated(parser.fromtext(text).ir()[0])
    first, second, into_x, into_k = VirtualMachine(made, ReferenceKernels()).run([x, k])
    np.testing.assert_allclose(first, np.sin(np.sin(x)))
    np.testing.assert_allclose(second, k**3)
    np.testing.assert_allclose(into_x, np.cos(np.sin(x)) * np.cos(x))
    np.testing.assert_allclose(into_k, 3 * k**2)
