"""Gradients of whole programs: against finite differences, in training, and how they grow with the program."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

import lamina
from lamina.context import LaminaContext
from lamina.dialects import relay as r
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.terms import inserting
from lamina.errors import UnsupportedError
from lamina.parsing import parse_text
from lamina.passes.relay.first_order_gradient import FirstOrderGradient
from lamina.runtime.relay_reference import main_function, run_relay
from lamina.runtime.vm import AdtValue, CompiledKernels, ReferenceKernels, VirtualMachine, evaluate
from lamina.verification import verify_module

terms: Any = r
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
    again = parsed(str(made))
    assert str(again) == str(made)
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


# -- control flow and calls ------------------------------------------------------------------------

KERNELS = pytest.mark.parametrize("kernels", [ReferenceKernels, CompiledKernels])

LOOP = """
func.func @power(%x: tensor<f64>, %n: tensor<i64>) -> tensor<f64> {
  %zero = relay.constant dense<0> : tensor<i64>
  %more = relay.greater %n, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = relay.if %more -> tensor<f64> {
    %one = relay.constant dense<1> : tensor<i64>
    %less = relay.subtract %n, %one : tensor<i64>
    %f = func.call @power(%x, %less) : (tensor<f64>, tensor<i64>) -> tensor<f64>
    %p = relay.multiply %x, %f : tensor<f64>
    relay.yield %p : tensor<f64>
  } else {
    %o = relay.constant dense<1.0> : tensor<f64>
    relay.yield %o : tensor<f64>
  }
  return %r : tensor<f64>
}
func.func @main(%x: tensor<f64>, %k: tensor<f64>, %n: tensor<i64>) -> tensor<f64> {
  %xx = relay.sin %x : tensor<f64>
  %power = relay.global @power : (tensor<f64>, tensor<i64>) -> tensor<f64>
  %two = relay.constant dense<2> : tensor<i64>
  %y = relay.call %power(%xx, %two) : (tensor<f64>, tensor<i64>) -> tensor<f64>
  %scale = relay.fn captures(%c = %k : tensor<f64>) (%a: tensor<f64>) -> tensor<f64> {
    %p = relay.multiply %a, %c : tensor<f64>
    relay.return %p : tensor<f64>
  }
  %loop = relay.fn captures(%f = %scale : (tensor<f64>) -> tensor<f64>, %x0 = %x : tensor<f64>)
      self %again (%n2: tensor<i64>, %s: tensor<f64>) -> tensor<f64> {
    %zero = relay.constant dense<0> : tensor<i64>
    %more = relay.greater %n2, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %r = relay.if %more -> tensor<f64> {
      %one = relay.constant dense<1> : tensor<i64>
      %less = relay.subtract %n2, %one : tensor<i64>
      %s2 = relay.call %f(%s) : (tensor<f64>) -> tensor<f64>
      %s3 = relay.sin %s2 : tensor<f64>
      %s4 = relay.add %s3, %x0 : tensor<f64>
      %q = relay.call %again(%less, %s4) : (tensor<i64>, tensor<f64>) -> tensor<f64>
      relay.yield %q : tensor<f64>
    } else {
      relay.yield %s : tensor<f64>
    }
    relay.return %r : tensor<f64>
  }
  %z = relay.call %loop(%n, %y) : (tensor<i64>, tensor<f64>) -> tensor<f64>
  return %z : tensor<f64>
}
"""


@KERNELS
@pytest.mark.parametrize("count", [0, 1, 7])
def test_recursion_and_captured_functions(kernels: Any, count: int) -> None:
    def expected(x: Array, k: Array) -> Any:
        y = np.sin(x) ** 2
        for _ in range(count):
            y = np.sin(y * k) + x
        return y

    values = [np.asarray(0.7), np.asarray(1.3)]
    machine = VirtualMachine(differentiated(parsed(LOOP)), kernels())
    y, into_x, into_k, into_n = machine.run([*values, np.asarray(count)])
    np.testing.assert_allclose(y, expected(*values))
    np.testing.assert_allclose(into_x, by_differences(expected, values, 0), rtol=1e-7)
    np.testing.assert_allclose(into_k, by_differences(expected, values, 1), rtol=1e-7, atol=1e-9)
    assert np.array_equal(into_n, 0) and np.asarray(into_n).dtype == np.int64


def test_recursion_may_be_deep() -> None:
    machine = VirtualMachine(differentiated(parsed(LOOP)), ReferenceKernels())
    count = 3000
    y, into_x, *_ = machine.run([np.asarray(0.7), np.asarray(0.5), np.asarray(count)])
    # At the fixed point y = sin(y / 2) + x: dy/dx = 1 / (1 - cos(y / 2) / 2).
    np.testing.assert_allclose(into_x, 1 / (1 - np.cos(y / 2) / 2), rtol=1e-9)


@KERNELS
def test_the_branch_taken_has_the_gradient(kernels: Any) -> None:
    text = """
    func.func @main(%t: tuple<tensor<3xf64>, tensor<3xf64>>, %c: tensor<i1>, %d: tensor<i1>)
        -> (tensor<3xf64>, tensor<f64>) {
      %x = relay.tuple_get_item %t[0] : tuple<tensor<3xf64>, tensor<3xf64>>
      %y = relay.tuple_get_item %t[1] : tuple<tensor<3xf64>, tensor<3xf64>>
      %a, %b = relay.if %c -> (tensor<3xf64>, tuple<tensor<3xf64>, tensor<i1>>) {
        %p = relay.multiply %x, %y : tensor<3xf64>
        %u = relay.if %d -> tensor<3xf64> {
          %e = relay.exp %p : tensor<3xf64>
          relay.yield %e : tensor<3xf64>
        } else {
          relay.yield %x : tensor<3xf64>
        }
        %v = relay.tuple(%p, %d) : tuple<tensor<3xf64>, tensor<i1>>
        relay.yield %u, %v : tensor<3xf64>, tuple<tensor<3xf64>, tensor<i1>>
      } else {
        %v = relay.tuple(%y, %c) : tuple<tensor<3xf64>, tensor<i1>>
        relay.yield %x, %v : tensor<3xf64>, tuple<tensor<3xf64>, tensor<i1>>
      }
      %f = relay.tuple_get_item %b[0] : tuple<tensor<3xf64>, tensor<i1>>
      %s = relay.sum %f : (tensor<3xf64>) -> tensor<f64>
      %q = relay.multiply %s, %s : tensor<f64>
      return %a, %q : tensor<3xf64>, tensor<f64>
    }
    """
    machine = VirtualMachine(differentiated(parsed(text)), kernels())
    random = np.random.default_rng(1)
    arrays = [random.normal(size=3), random.normal(size=3)]
    for c in (False, True):
        for d in (False, True):

            def expected(x: Array, y: Array, c: bool = c, d: bool = d) -> Any:
                p = x * y if c else y
                a = np.exp(p) if c and d else x
                return np.sum(a) + np.sum(p) ** 2

            _, _, (into_x, into_y), into_c, _ = machine.run([tuple(arrays), np.asarray(c), np.asarray(d)])
            np.testing.assert_allclose(into_x, by_differences(expected, arrays, 0), rtol=1e-7, atol=1e-8)
            np.testing.assert_allclose(into_y, by_differences(expected, arrays, 1), rtol=1e-7, atol=1e-8)
            assert into_c == np.False_


TREES = """
relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }
relay.type @Tree { Leaf(tensor<2xf64>, tensor<i64>), Node(FOREST, tuple<tensor<f64>, tensor<i64>>) }
func.func @sum(%forest: FOREST) -> tensor<2xf64> {
  %r = relay.match %forest : FOREST -> tensor<2xf64> {
    case Cons(Leaf(%x : tensor<2xf64>, _), Cons(Leaf(%y : tensor<2xf64>, %n : tensor<i64>), %rest : FOREST)) {
      %p = relay.multiply %x, %y : tensor<2xf64>
      %s = func.call @sum(%rest) : (FOREST) -> tensor<2xf64>
      %q = relay.add %p, %s : tensor<2xf64>
      relay.yield %q : tensor<2xf64>
    }
    case Cons(%tree : !relay.adt<@Tree>, %rest : FOREST) {
      %t = relay.match %tree : !relay.adt<@Tree> -> tensor<2xf64> {
        case Leaf(%x : tensor<2xf64>, _) {
          relay.yield %x : tensor<2xf64>
        }
        case Node(%inner : FOREST, (%w : tensor<f64>, _)) {
          %i = func.call @sum(%inner) : (FOREST) -> tensor<2xf64>
          %v = relay.multiply %i, %w : (tensor<2xf64>, tensor<f64>) -> tensor<2xf64>
          relay.yield %v : tensor<2xf64>
        }
      }
      %s = func.call @sum(%rest) : (FOREST) -> tensor<2xf64>
      %q = relay.add %t, %s : tensor<2xf64>
      %e = relay.sin %q : tensor<2xf64>
      relay.yield %e : tensor<2xf64>
    }
    case _ {
      %z = relay.constant dense<1.5> : tensor<2xf64>
      relay.yield %z : tensor<2xf64>
    }
  }
  return %r : tensor<2xf64>
}
func.func @main(%forest: FOREST, %w: tensor<f64>, %x: tensor<2xf64>) -> (tensor<2xf64>, !relay.adt<@Tree>) {
  %one = relay.constant dense<1> : tensor<i64>
  %leaf = relay.construct Leaf(%x, %one) : (tensor<2xf64>, tensor<i64>) -> !relay.adt<@Tree>
  %u = relay.tuple(%w, %one) : tuple<tensor<f64>, tensor<i64>>
  %node = relay.construct Node(%forest, %u) : (FOREST, tuple<tensor<f64>, tensor<i64>>) -> !relay.adt<@Tree>
  %nil = relay.construct Nil() : () -> FOREST
  %l1 = relay.construct Cons(%node, %nil) : (!relay.adt<@Tree>, FOREST) -> FOREST
  %l2 = relay.construct Cons(%leaf, %l1) : (!relay.adt<@Tree>, FOREST) -> FOREST
  %l3 = relay.construct Cons(%leaf, %l2) : (!relay.adt<@Tree>, FOREST) -> FOREST
  %l4 = relay.construct Cons(%node, %l3) : (!relay.adt<@Tree>, FOREST) -> FOREST
  %s = func.call @sum(%l4) : (FOREST) -> tensor<2xf64>
  return %s, %leaf : tensor<2xf64>, !relay.adt<@Tree>
}
""".replace("FOREST", "!relay.adt<@List, !relay.adt<@Tree>>")


def forest_sum(forest: Any) -> Any:
    if forest.constructor == "Nil":
        return np.full(2, 1.5)
    tree, rest = forest.fields
    if tree.constructor == "Leaf" and rest.constructor == "Cons" and rest.fields[0].constructor == "Leaf":
        return tree.fields[0] * rest.fields[0].fields[0] + forest_sum(rest.fields[1])
    own = tree.fields[0] if tree.constructor == "Leaf" else forest_sum(tree.fields[0]) * tree.fields[1][0]
    return np.sin(own + forest_sum(rest))


def listed(*trees: Any) -> AdtValue:
    made = AdtValue("Nil")
    for tree in reversed(trees):
        made = AdtValue("Cons", tree, made)
    return made


@KERNELS
def test_data_has_gradients_of_its_type(kernels: Any) -> None:
    count = np.asarray(3)

    def forest_of(a: Array, b: Array, c: Array, w: Array) -> AdtValue:
        leaves = [AdtValue("Leaf", v, count) for v in (a, b, c)]
        return listed(AdtValue("Node", listed(leaves[0], leaves[1], leaves[2]), (w, count)), leaves[1])

    def expected(a: Array, b: Array, c: Array, w: Array, outer: Array, x: Array) -> Any:
        node, leaf = AdtValue("Node", forest_of(a, b, c, w), (outer, count)), AdtValue("Leaf", x, count)
        return np.sum(forest_sum(listed(node, leaf, leaf, node))) + np.sum(x)

    random = np.random.default_rng(6)
    arrays = [np.asarray(random.normal(size=s)) for s in ((2,), (2,), (2,), (), (), (2,))]
    machine = VirtualMachine(differentiated(parsed(TREES)), kernels())
    _, leaf, into_forest, into_w, into_x = machine.run([forest_of(*arrays[:4]), *arrays[4:]])
    np.testing.assert_array_equal(leaf.fields[0], arrays[5])
    wanted = [by_differences(expected, arrays, n) for n in range(6)]
    node, rest = into_forest.fields
    inner, (into_inner, nothing) = node.fields
    found: list[Any] = []
    while inner.constructor == "Cons":
        found.append(inner.fields[0].fields[0])
        inner = inner.fields[1]
    # The second leaf stands in the forest twice.
    found[1] = found[1] + rest.fields[0].fields[0]
    for got, want in zip([*found, into_inner, into_w, into_x], wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)
    assert np.array_equal(nothing, 0) and np.asarray(nothing).dtype == np.int64


def test_extents_may_be_unknown() -> None:
    text = """
    func.func @main(%x: tensor<?x3xf64>, %b: tensor<3xf64>) -> tensor<f64> {
      %y = relay.add %x, %b : (tensor<?x3xf64>, tensor<3xf64>) -> tensor<?x3xf64>
      %z = relay.tanh %y : tensor<?x3xf64>
      %s = relay.sum %z : (tensor<?x3xf64>) -> tensor<f64>
      return %s : tensor<f64>
    }
    """
    module = differentiated(parsed(text))
    random = np.random.default_rng(2)
    for rows in (1, 4):
        arrays = [random.normal(size=(rows, 3)), random.normal(size=3)]
        _, into_x, into_b = evaluate(module, arrays)
        slope = 1 - np.tanh(arrays[0] + arrays[1]) ** 2
        np.testing.assert_allclose(into_x, slope)
        np.testing.assert_allclose(into_b, slope.sum(axis=0))


def test_the_function_may_call_itself() -> None:
    text = LOOP.replace("@main", "@other").replace("@power", "@main")
    _, into_x, _ = evaluate(differentiated(parsed(text)), [np.asarray(1.5), np.asarray(4)], kernels=ReferenceKernels())
    np.testing.assert_allclose(into_x, 4 * 1.5**3)


def test_a_function_that_is_passed_on_is_refused() -> None:
    text = """
    func.func @main(%c: tensor<i1>, %x: tensor<f64>) -> tensor<f64> {
      %f = relay.if %c -> ((tensor<f64>) -> tensor<f64>) {
        %g = relay.fn (%a: tensor<f64>) -> tensor<f64> {
          %b = relay.exp %a : tensor<f64>
          relay.return %b : tensor<f64>
        }
        relay.yield %g : (tensor<f64>) -> tensor<f64>
      } else {
        %g = relay.fn (%a: tensor<f64>) -> tensor<f64> {
          relay.return %a : tensor<f64>
        }
        relay.yield %g : (tensor<f64>) -> tensor<f64>
      }
      %y = relay.call %f(%x) : (tensor<f64>) -> tensor<f64>
      return %y : tensor<f64>
    }
    """
    with pytest.raises(UnsupportedError):
        differentiated(parsed(text))


# -- networks --------------------------------------------------------------------------------------


def residual_block(x: Any, w1: Any, g1: Any, b1: Any, w2: Any, g2: Any, b2: Any, ws: Any, wd: Any) -> Any:
    """Two convolutions with normalisation beside a strided shortcut, pooled, classified."""

    def normalised(y: Any, gamma: Any, beta: Any) -> Any:
        mean = terms.mean(y, axis=(0, 2, 3))
        wide = terms.mean(y, axis=(0, 2, 3), keepdims=True)
        variance = terms.variance(y, wide, axis=(0, 2, 3))
        return terms.nn.batch_norm(y, gamma, beta, mean, variance)

    y = terms.nn.conv2d(x, w1, strides=[2, 2], padding=[1, 1, 1, 1])
    y = terms.nn.relu(normalised(y, g1, b1))
    y = normalised(terms.nn.conv2d(y, w2, padding=[1, 1, 1, 1]), g2, b2)
    y = terms.nn.relu(terms.add(y, terms.nn.conv2d(x, ws, strides=[2, 2])))
    y = terms.nn.max_pool2d(y, pool_size=[2, 2], padding=[1, 0, 0, 1])
    y = terms.nn.batch_flatten(terms.nn.global_avg_pool2d(y))
    scores = terms.nn.log_softmax(terms.nn.dense(y, wd))
    return terms.multiply(scores, scores)


SHAPES = ((2, 3, 7, 6), (4, 3, 3, 3), (4,), (4,), (4, 4, 3, 3), (4,), (4,), (4, 3, 1, 1), (5, 4))


def test_residual_block_by_differences() -> None:
    module = program(residual_block, *((s, "float64") for s in SHAPES))
    random = np.random.default_rng(3)
    arrays = [random.normal(size=s) for s in SHAPES]
    plain, full = main_function(module), main_function(differentiated(module))
    found = run_relay(full, arrays)[1:]
    for operand, shape in enumerate(SHAPES):
        direction = random.normal(size=shape)
        sides = [
            float(
                np.sum(
                    run_relay(plain, [*arrays[:operand], arrays[operand] + by * direction, *arrays[operand + 1 :]])[0]
                )
            )
            for by in (1e-6, -1e-6)
        ]
        expected = (sides[0] - sides[1]) / 2e-6
        np.testing.assert_allclose(
            np.sum(found[operand] * direction), expected, rtol=1e-5, err_msg=f"operand {operand}"
        )


@pytest.mark.slow
@pytest.mark.parametrize("opt_level", [0, 3, 4])
def test_residual_block_compiled(opt_level: int) -> None:
    module = differentiated(program(residual_block, *((s, "float32") for s in SHAPES)))
    random = np.random.default_rng(4)
    arrays = [random.normal(size=s).astype(np.float32) for s in SHAPES]
    expected = run_relay(main_function(module), arrays)
    run = lamina.compile(module, opt_level=opt_level, threads=1, cache=False)
    for found, want in zip(run(*arrays), expected, strict=True):
        np.testing.assert_allclose(found, want, rtol=2e-3, atol=1e-3 * max(1.0, float(np.max(np.abs(want)))))


def perceptron(x: Any, targets: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    """The loss of two layers on classes of points."""
    hidden = terms.tanh(terms.nn.bias_add(terms.nn.dense(x, w1), b1))
    scores = terms.nn.log_softmax(terms.nn.bias_add(terms.nn.dense(hidden, w2), b2))
    return terms.nn.cross_entropy_with_logits(scores, targets)


@pytest.mark.slow
def test_perceptron_learns_compiled() -> None:
    random = np.random.default_rng(5)
    x = random.normal(size=(64, 2)).astype(np.float32)
    classes = (x[:, 0] * x[:, 1] > 0).astype(int)
    targets = np.eye(2, dtype=np.float32)[classes]
    weights = [
        random.normal(size=(16, 2)), np.zeros(16), 0.5 * random.normal(size=(2, 16)), np.zeros(2),
    ]  # fmt: skip
    weights = [w.astype(np.float32) for w in weights]
    types = [(a.shape, "float32") for a in (x, targets, *weights)]
    run = lamina.compile(differentiated(program(perceptron, *types)), threads=1, cache=False)
    losses: list[float] = []
    for _ in range(50):
        loss, _, _, *gradients = run(x, targets, *weights)
        losses.append(float(loss))
        weights = [w - np.float32(1.0) * g for w, g in zip(weights, gradients, strict=True)]
    assert losses[-1] < 0.25 * losses[0]
    hidden = np.tanh(x @ weights[0].T + weights[1])
    assert np.mean(np.argmax(hidden @ weights[2].T + weights[3], axis=1) == classes) > 0.95


# -- growth ----------------------------------------------------------------------------------------


def chain(count: int) -> ModuleOp:
    def build(x: Any) -> Any:
        y = x
        for n in range(count):
            y = terms.multiply(y, x) if n % 3 else terms.tanh(y)
        return y

    return program(build, ((4,), "float32"))


def seconds(count: int) -> float:
    module = chain(count)
    start = time.perf_counter()
    FirstOrderGradient().apply(LaminaContext(), module)
    return time.perf_counter() - start


@pytest.mark.slow
def test_time_is_linear_in_a_deep_program() -> None:
    seconds(500)
    assert seconds(16000) < 16 * 3 * min(seconds(1000) for _ in range(3))


def test_every_op_is_met_once() -> None:
    """The reverse program of a chain has a fixed number of ops for each of its."""

    def size(count: int) -> int:
        module = chain(count)
        FirstOrderGradient().apply(LaminaContext(), module)
        return len(list(module.walk()))

    assert size(300) - size(200) == size(200) - size(100)
