"""Gradients of programs with control flow, calls and data against finite differences."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina import transform
from lamina.driver.compiled_kernels import CompiledKernels, evaluate
from lamina.errors import UnsupportedError
from lamina.vm.vm import AdtValue, ReferenceKernels, VirtualMachine

sys.path.insert(0, str(Path(__file__).parent))
from gradient_programs import Drawn, by_differences, differentiated, parsed  # noqa: E402

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]


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


def test_data_types_may_be_in_each_other() -> None:
    text = """
    relay.type @Inner { Link(!relay.adt<@Outer>), End }
    relay.type @Outer { Both(!relay.adt<@Inner>, tensor<f64>) }
    func.func @main(%o: !relay.adt<@Outer>) -> tensor<f64> {
      %r = relay.match partial %o : !relay.adt<@Outer> -> tensor<f64> {
        case Both(%i : !relay.adt<@Inner>, %t : tensor<f64>) {
          %s = relay.match partial %i : !relay.adt<@Inner> -> tensor<f64> {
            case Link(Both(_, %u : tensor<f64>)) {
              %p = relay.multiply %t, %u : tensor<f64>
              relay.yield %p : tensor<f64>
            }
          }
          relay.yield %s : tensor<f64>
        }
      }
      return %r : tensor<f64>
    }
    """
    inner = AdtValue("Both", AdtValue("End"), np.asarray(3.0))
    value = AdtValue("Both", AdtValue("Link", inner), np.asarray(5.0))
    found, gradient = evaluate(differentiated(parsed(text)), [value], kernels=ReferenceKernels())
    link, into_t = gradient.fields
    assert (found, into_t, link.fields[0].fields[1]) == (15.0, 3.0, 5.0)


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


def test_functions_that_come_in_are_refused() -> None:
    text = """
    func.func @main(%f: (tensor<f64>) -> tensor<f64>, %x: tensor<f64>) -> tensor<f64> {
      %y = relay.call %f(%x) : (tensor<f64>) -> tensor<f64>
      return %y : tensor<f64>
    }
    """
    with pytest.raises(UnsupportedError, match="@main takes or gives functions: which they are is not known"):
        differentiated(parsed(text))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_drawn_programs_by_differences(seed: int) -> None:
    text = Drawn(seed).main()
    plain = VirtualMachine(parsed(text), ReferenceKernels())
    full = VirtualMachine(differentiated(parsed(text)), ReferenceKernels())
    random = np.random.default_rng(seed)
    arrays = [random.uniform(-1, 1, 3) for _ in range(2)]
    flags = [np.asarray(bool(random.integers(2))) for _ in range(2)]

    def function(x: Array, y: Array) -> Any:
        return sum(np.sum(v) for v in plain.run([x, y, *flags]))

    *results, into_x, into_y, _, _ = full.run([*arrays, *flags])
    for got, want in zip(results, plain.run([*arrays, *flags]), strict=True):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_allclose(into_x, by_differences(function, arrays, 0), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(into_y, by_differences(function, arrays, 1), rtol=1e-6, atol=1e-7)


def test_the_gradient_of_a_text_is_compiled(tmp_path: Path) -> None:
    path = tmp_path / "loss.mlir"
    path.write_text(
        "func.func @main(%x: tensor<3xf32>) -> tensor<f32> {\n"
        "  %0 = relay.multiply %x, %x : tensor<3xf32>\n"
        "  %1 = relay.sum %0 : (tensor<3xf32>) -> tensor<f32>\n"
        "  return %1 : tensor<f32>\n"
        "}\n"
    )
    exe = lamina.compile(transform.FirstOrderGradient()(lamina.load(path)), cache=False)
    assert [p.name for p in exe.outputs][1] == "grad_x"
    loss, gradient = exe(np.array([1, -2, 3], np.float32))
    assert loss == 14
    np.testing.assert_array_equal(gradient, np.array([2, -4, 6], np.float32))


CLOSURE = """
func.func @main(%c: tensor<i1>, %k: tensor<f64>, %x: tensor<EXTENTxf64>) -> tensor<f64> {
  %f = relay.fn captures(%w = %k : tensor<f64>, %v = %x : tensor<EXTENTxf64>) (%a: tensor<f64>) -> tensor<f64> {
    %s = relay.sum %v : (tensor<EXTENTxf64>) -> tensor<f64>
    %p = relay.multiply %s, %w : tensor<f64>
    %r = relay.multiply %a, %p : tensor<f64>
    relay.return %r : tensor<f64>
  }
  %y = relay.if %c -> tensor<f64> {
    %z = relay.call %f(%k) : (tensor<f64>) -> tensor<f64>
    relay.yield %z : tensor<f64>
  } else {
    relay.yield %k : tensor<f64>
  }
  return %y : tensor<f64>
}
"""


def test_what_a_branch_does_not_call_has_zeros_where_they_can_be_made() -> None:
    """Of a closure that is called in one branch alone; of a tensor of an unknown extent there are no zeros."""
    machine = VirtualMachine(differentiated(parsed(CLOSURE.replace("EXTENT", "3"))), ReferenceKernels())
    x = np.array([1.0, 2.0, 4.0])
    for taken, into_k, into_x in ((True, 2 * 5 * x.sum(), np.full(3, 25.0)), (False, 1, np.zeros(3))):
        found = machine.run([np.asarray(taken), np.asarray(5.0), x])
        np.testing.assert_allclose(found[2], into_k)
        np.testing.assert_allclose(found[3], into_x)
    with pytest.raises(UnsupportedError, match="a closure that captures data or tensors of unknown extents"):
        differentiated(parsed(CLOSURE.replace("EXTENT", "?")))
