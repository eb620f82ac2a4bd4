"""The virtual machine against programs written in Python: recursion, closures, data, loops, unknown extents."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from lamina.dialects.relay import RELAY
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import GlobalOp, ProgramOp
from lamina.dialects.relay.functional.adt import ConstructOp, MatchOp
from lamina.dialects.relay.functional.control import IfOp
from lamina.dialects.relay.functional.refs import RefCreateOp, RefReadOp, RefWriteOp
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.dialects.relay.functional.vm import CallLoweredOp, InvokeTvmOp
from lamina.driver.compiled_kernels import CompiledKernels, evaluate
from lamina.errors import InputError
from lamina.interpreters.beyond_programs import needs_machine
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.verification import verify_module
from lamina.vm.memory import ON_VALUES
from lamina.vm.vm import AdtValue, Kernels, ReferenceKernels, VirtualMachine, value_text

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]

WAYS = pytest.mark.parametrize("kernels", [ReferenceKernels, CompiledKernels])


SHORT = {
    "LIST": "!relay.adt<@List, tensor<f32>>",
    "FUNCTIONS": "!relay.adt<@Functions>",
    "ROWS_16": "tensor<?x16xf32, #relay.dims<n, _>>",
    "ROWS_8": "tensor<?x8xf32, #relay.dims<n, _>>",
}
"""Types by a shorter name."""


def parsed(text: str) -> ModuleOp:
    for name, type_ in SHORT.items():
        text = text.replace(name, type_)
    module = parse_text(LaminaContext(), text, "test.mlir")
    verify_module(module)
    return module


def machine(text: str, kernels: type[Kernels]) -> VirtualMachine:
    return VirtualMachine(parsed(text), kernels())


RECURSION = """
func.func @factorial(%n: tensor<i64>) -> tensor<i64> {
  %one = relay.constant dense<1> : tensor<i64>
  %more = relay.greater %n, %one : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = relay.if %more -> tensor<i64> {
    %less = relay.subtract %n, %one : tensor<i64>
    %f = func.call @factorial(%less) : (tensor<i64>) -> tensor<i64>
    %p = relay.multiply %n, %f : tensor<i64>
    relay.yield %p : tensor<i64>
  } else {
    relay.yield %one : tensor<i64>
  }
  return %r : tensor<i64>
}
func.func @fibonacci(%n: tensor<i64>) -> tensor<i64> {
  %one = relay.constant dense<1> : tensor<i64>
  %fib = relay.fn captures(%k = %one : tensor<i64>) self %me (%m: tensor<i64>) -> tensor<i64> {
    %more = relay.greater %m, %k : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %r = relay.if %more -> tensor<i64> {
      %a = relay.subtract %m, %k : tensor<i64>
      %b = relay.subtract %a, %k : tensor<i64>
      %x = relay.call %me(%a) : (tensor<i64>) -> tensor<i64>
      %y = relay.call %me(%b) : (tensor<i64>) -> tensor<i64>
      %s = relay.add %x, %y : tensor<i64>
      relay.yield %s : tensor<i64>
    } else {
      relay.yield %m : tensor<i64>
    }
    relay.return %r : tensor<i64>
  }
  %r = relay.call %fib(%n) : (tensor<i64>) -> tensor<i64>
  return %r : tensor<i64>
}
func.func @even(%n: tensor<i64>) -> tensor<i1> {
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %done = relay.equal %n, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = relay.if %done -> tensor<i1> {
    relay.yield %done : tensor<i1>
  } else {
    %less = relay.subtract %n, %one : tensor<i64>
    %odd = func.call @odd(%less) : (tensor<i64>) -> tensor<i1>
    relay.yield %odd : tensor<i1>
  }
  return %r : tensor<i1>
}
func.func @odd(%n: tensor<i64>) -> tensor<i1> {
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %more = relay.greater %n, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = relay.if %more -> tensor<i1> {
    %less = relay.subtract %n, %one : tensor<i64>
    %even = func.call @even(%less) : (tensor<i64>) -> tensor<i1>
    relay.yield %even : tensor<i1>
  } else {
    relay.yield %more : tensor<i1>
  }
  return %r : tensor<i1>
}
"""


@WAYS
def test_recursion_is_that_of_python(kernels: type[Kernels]) -> None:
    vm = machine(RECURSION, kernels)

    def fibonacci(n: int) -> int:
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    for n in range(8):
        assert int(vm.run([np.int64(n)], "factorial")[0]) == math.factorial(n)
        assert int(vm.run([np.int64(n)], "fibonacci")[0]) == fibonacci(n)
        assert bool(vm.run([np.int64(n)], "even")[0]) == (n % 2 == 0)


def test_calls_nest_deeper_than_pythons() -> None:
    vm = machine(RECURSION, ReferenceKernels)
    n, expected = 5000, 1
    for k in range(2, n + 1):
        expected = (expected * k) % 2**64
    signed = expected - 2**64 if expected >= 2**63 else expected
    assert int(vm.run([np.int64(n)], "factorial")[0]) == signed


def test_a_recursion_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten calls may wait here, instead of ten million; calls whose result is the caller's do not wait."""
    monkeypatch.setattr("lamina.vm.vm.MOST_FRAMES", 10)
    vm = machine(RECURSION, ReferenceKernels)
    assert int(vm.run([np.int64(10)], "factorial")[0]) == math.factorial(10)
    with pytest.raises(InputError, match="more than 10 calls wait for each other: the recursion does not end"):
        vm.run([np.int64(11)], "factorial")
    assert bool(vm.run([np.int64(100)], "even")[0])


LOOP = """
func.func @main(%n: tensor<i64>, %x: tensor<4xf64>) -> (tensor<i64>, tensor<4xf64>) {
  %zero = relay.constant dense<0> : tensor<i64>
  %loop = relay.fn captures(%end = %n : tensor<i64>) self %again
      (%i: tensor<i64>, %s: tensor<4xf64>) -> (tensor<i64>, tensor<4xf64>) {
    %more = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %r, %t = relay.if %more -> (tensor<i64>, tensor<4xf64>) {
      %one = relay.constant dense<1> : tensor<i64>
      %j = relay.add %i, %one : tensor<i64>
      %half = relay.constant dense<0.5> : tensor<f64>
      %u = relay.multiply %s, %half : (tensor<4xf64>, tensor<f64>) -> tensor<4xf64>
      %f = relay.cast %j {dtype = "float64"} : (tensor<i64>) -> tensor<f64>
      %v = relay.add %u, %f : (tensor<4xf64>, tensor<f64>) -> tensor<4xf64>
      %a, %b = relay.call %again(%j, %v) : (tensor<i64>, tensor<4xf64>) -> (tensor<i64>, tensor<4xf64>)
      relay.yield %a, %b : tensor<i64>, tensor<4xf64>
    } else {
      relay.yield %i, %s : tensor<i64>, tensor<4xf64>
    }
    relay.return %r, %t : tensor<i64>, tensor<4xf64>
  }
  %r, %t = relay.call %loop(%zero, %x) : (tensor<i64>, tensor<4xf64>) -> (tensor<i64>, tensor<4xf64>)
  return %r, %t : tensor<i64>, tensor<4xf64>
}
"""


@WAYS
def test_a_loop_of_twenty_thousand_steps_takes_no_stack(kernels: type[Kernels]) -> None:
    vm = machine(LOOP, kernels)
    deepest = 0
    plain = vm._enter  # pyright: ignore[reportPrivateUsage]

    def counted(*args: Any) -> None:
        nonlocal deepest
        plain(*args)
        deepest = max(deepest, len(vm._frames))  # pyright: ignore[reportPrivateUsage]

    vm._enter = counted  # type: ignore[method-assign]  # pyright: ignore[reportPrivateUsage]
    start = np.array([1.0, -2.0, 0.0, 5.0])
    steps = 20_000
    count, total = vm.run([np.int64(steps), start])
    expected = start
    for i in range(1, steps + 1):
        expected = expected * 0.5 + i
    assert int(count) == steps and deepest == 1
    np.testing.assert_allclose(total, expected, rtol=1e-12)


LISTS = """
relay.type @List<A> { Nil, Cons(!relay.var<A>, !relay.adt<@List, !relay.var<A>>) }
func.func @map(%f: (tensor<f32>) -> tensor<f32>, %l: LIST) -> LIST {
  %r = relay.match %l : LIST -> LIST {
    case Cons(%h: tensor<f32>, %t: LIST) {
      %d = relay.call %f(%h) : (tensor<f32>) -> tensor<f32>
      %rest = func.call @map(%f, %t) : ((tensor<f32>) -> tensor<f32>, LIST) -> LIST
      %made = relay.construct Cons(%d, %rest) : (tensor<f32>, LIST) -> LIST
      relay.yield %made : LIST
    }
    case Nil {
      relay.yield %l : LIST
    }
  }
  return %r : LIST
}
func.func @fold(%s: tensor<f32>, %l: LIST) -> tensor<f32> {
  %r = relay.match %l : LIST -> tensor<f32> {
    case Cons(%h: tensor<f32>, %t: LIST) {
      %half = relay.constant dense<0.5> : tensor<f32>
      %a = relay.multiply %s, %half : tensor<f32>
      %b = relay.add %a, %h : tensor<f32>
      %all = func.call @fold(%b, %t) : (tensor<f32>, LIST) -> tensor<f32>
      relay.yield %all : tensor<f32>
    }
    case Nil {
      relay.yield %s : tensor<f32>
    }
  }
  return %r : tensor<f32>
}
func.func @main(%l: LIST, %k: tensor<f32>) -> (LIST, tensor<f32>) {
  %scale = relay.fn captures(%c = %k : tensor<f32>) (%x: tensor<f32>) -> tensor<f32> {
    %y = relay.multiply %x, %c : tensor<f32>
    relay.return %y : tensor<f32>
  }
  %m = func.call @map(%scale, %l) : ((tensor<f32>) -> tensor<f32>, LIST) -> LIST
  %s = func.call @fold(%k, %m) : (tensor<f32>, LIST) -> tensor<f32>
  return %m, %s : LIST, tensor<f32>
}
"""


def list_value(values: list[float]) -> AdtValue:
    made = AdtValue("Nil")
    for v in reversed(values):
        made = AdtValue("Cons", np.float32(v), made)
    return made


def list_of(value: AdtValue) -> list[float]:
    found: list[float] = []
    while value.constructor == "Cons":
        found.append(float(value.fields[0]))
        value = value.fields[1]
    return found


@WAYS
@pytest.mark.parametrize("count", [0, 1, 7, 300])
def test_lists_are_mapped_and_folded_as_in_python(kernels: type[Kernels], count: int) -> None:
    random = np.random.default_rng(count)
    values = [float(np.float32(v)) for v in random.uniform(-2, 2, count)]
    mapped, folded = machine(LISTS, kernels).run([list_value(values), np.float32(1.5)])
    scaled = [float(np.float32(v) * np.float32(1.5)) for v in values]
    assert list_of(mapped) == scaled
    total = 1.5
    for v in scaled:
        total = total * 0.5 + v
    assert float(folded) == pytest.approx(total, rel=1e-4, abs=1e-5)


def test_values_of_any_depth_are_printed() -> None:
    text = value_text(list_value([1.0] * 20_000))
    assert text.startswith("Cons(1., Cons(1., ") and text.endswith("Nil" + ")" * 20_000)


KEPT = """
relay.type @Functions { End, More((tensor<i32>) -> tensor<i32>, FUNCTIONS) }
func.func @make(%i: tensor<i32>, %made: FUNCTIONS) -> FUNCTIONS {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %more = relay.greater %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = relay.if %more -> FUNCTIONS {
    %f = relay.fn captures(%k = %i : tensor<i32>) (%x: tensor<i32>) -> tensor<i32> {
      %y = relay.multiply %x, %k : tensor<i32>
      relay.return %y : tensor<i32>
    }
    %all = relay.construct More(%f, %made) : ((tensor<i32>) -> tensor<i32>, FUNCTIONS) -> FUNCTIONS
    %less = relay.subtract %i, %one : tensor<i32>
    %s = func.call @make(%less, %all) : (tensor<i32>, FUNCTIONS) -> FUNCTIONS
    relay.yield %s : FUNCTIONS
  } else {
    relay.yield %made : FUNCTIONS
  }
  return %r : FUNCTIONS
}
func.func @apply(%all: FUNCTIONS, %x: tensor<i32>) -> tensor<i32> {
  %r = relay.match %all : FUNCTIONS -> tensor<i32> {
    case More(%f: (tensor<i32>) -> tensor<i32>, %rest: FUNCTIONS) {
      %y = relay.call %f(%x) : (tensor<i32>) -> tensor<i32>
      %one = relay.constant dense<1> : tensor<i32>
      %z = relay.add %y, %one : tensor<i32>
      %s = func.call @apply(%rest, %z) : (FUNCTIONS, tensor<i32>) -> tensor<i32>
      relay.yield %s : tensor<i32>
    }
    case End {
      relay.yield %x : tensor<i32>
    }
  }
  return %r : tensor<i32>
}
func.func @main(%n: tensor<i32>, %x: tensor<i32>) -> tensor<i32> {
  %end = relay.construct End() : () -> FUNCTIONS
  %all = func.call @make(%n, %end) : (tensor<i32>, FUNCTIONS) -> FUNCTIONS
  %r = func.call @apply(%all, %x) : (FUNCTIONS, tensor<i32>) -> tensor<i32>
  return %r : tensor<i32>
}
"""


@WAYS
@pytest.mark.parametrize("n", [0, 1, 6])
def test_each_closure_keeps_the_value_of_its_own_turn(kernels: type[Kernels], n: int) -> None:
    expected = 3
    for k in range(1, n + 1):
        expected = expected * k + 1
    assert int(machine(KEPT, kernels).run([np.int32(n), np.int32(3)])[0]) == expected


CHOICE = """
func.func @main(%x: ROWS_16, %w: tensor<8x16xf32>, %c: tensor<i1>) -> ROWS_8 {
  %0 = relay.nn.dense %x, %w : (ROWS_16, tensor<8x16xf32>) -> ROWS_8
  %r = relay.if %c -> ROWS_8 {
    %1 = relay.nn.relu %0 : ROWS_8
    %2 = relay.nn.softmax %1 : ROWS_8
    relay.yield %2 : ROWS_8
  } else {
    %1 = relay.mean %0 {axis = [0], keepdims = true} : (ROWS_8) -> tensor<1x8xf32>
    %2 = relay.subtract %0, %1 : (ROWS_8, tensor<1x8xf32>) -> ROWS_8
    relay.yield %2 : ROWS_8
  }
  return %r : ROWS_8
}
"""


@WAYS
def test_one_program_runs_for_every_batch_size(kernels: type[Kernels]) -> None:
    vm = machine(CHOICE, kernels)
    random = np.random.default_rng(5)
    w = random.normal(size=(8, 16)).astype(np.float32)
    for batch in (1, 3, 64, 3):
        x = random.normal(size=(batch, 16)).astype(np.float32)
        y = np.maximum(x @ w.T, 0)
        e = np.exp(y - y.max(axis=1, keepdims=True))
        plain = x @ w.T
        for chosen, expected in (
            (True, e / e.sum(axis=1, keepdims=True)),
            (False, plain - plain.mean(axis=0, keepdims=True)),
        ):
            found = vm.run([x, w, np.asarray(chosen)])[0]
            np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


def test_segments_are_compiled_once_for_all_sizes() -> None:
    kernels = CompiledKernels()
    vm = VirtualMachine(parsed(CHOICE), kernels)
    w = np.ones((8, 16), np.float32)
    for batch in (2, 5, 2, 0, 1):
        vm.run([np.ones((batch, 16), np.float32), w, np.asarray(True)])
    assert len(kernels.programs) == 2  # the dense and one side of the choice


def test_segments_that_are_none_for_all_sizes_are_compiled_by_shape() -> None:
    """Extents without names that have to be equal, and a row that is repeated."""
    text = """func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %s = relay.add %x, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
      return %s : tensor<?x4xf32>
    }"""
    kernels = CompiledKernels()
    vm = VirtualMachine(parsed(text), kernels)
    x = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
    for y in (x, x[:1], x):
        np.testing.assert_array_equal(vm.run([x, y])[0], x + y)
    assert len(kernels.programs) == 2
    with pytest.raises(InputError, match=r"shapes \(5, 4\) and \(2, 4\)"):
        vm.run([x, x[:2]])


def test_a_program_for_all_sizes_leaves_others_to_their_shapes() -> None:
    """Windows of 3 need as many elements; without are none."""
    text = """func.func @main(%x: tensor<1x1x?xf32>) -> tensor<1x1x?xf32> {
      %s = relay.nn.max_pool1d %x {pool_size = [3], padding = [1, 1]} : (tensor<1x1x?xf32>) -> tensor<1x1x?xf32>
      return %s : tensor<1x1x?xf32>
    }"""
    kernels = CompiledKernels()
    vm = VirtualMachine(parsed(text), kernels)
    for length in (4, 9, 1):
        x = np.random.default_rng(length).standard_normal((1, 1, length)).astype(np.float32)
        padded = np.pad(x[0, 0], 1, constant_values=-np.inf)
        expected = np.lib.stride_tricks.sliding_window_view(padded, 3).max(-1)
        np.testing.assert_array_equal(vm.run([x])[0][0, 0], expected)
    assert len(kernels.programs) == 1
    with pytest.raises(InputError, match="max_pool1d"):
        vm.run([np.ones((1, 1, 0), np.float32)])


CELLS = """
func.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %zero = relay.constant dense<0> : tensor<i32>
  %cell = relay.ref_create %zero : tensor<i32>
  %other = relay.ref_create %zero : tensor<i32>
  %loop = relay.fn captures(%r = %cell : !relay.ref<tensor<i32>>) self %again (%k: tensor<i32>) -> tensor<i32> {
    %end = relay.constant dense<0> : tensor<i32>
    %more = relay.greater %k, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = relay.if %more -> tensor<i32> {
      %old = relay.ref_read %r : !relay.ref<tensor<i32>>
      %new = relay.add %old, %k : tensor<i32>
      relay.ref_write %r, %new : tensor<i32>
      %one = relay.constant dense<1> : tensor<i32>
      %less = relay.subtract %k, %one : tensor<i32>
      %t = relay.call %again(%less) : (tensor<i32>) -> tensor<i32>
      relay.yield %t : tensor<i32>
    } else {
      relay.yield %k : tensor<i32>
    }
    relay.return %s : tensor<i32>
  }
  %done = relay.call %loop(%n) : (tensor<i32>) -> tensor<i32>
  %a = relay.ref_read %cell : !relay.ref<tensor<i32>>
  %b = relay.ref_read %other : !relay.ref<tensor<i32>>
  return %a, %b : tensor<i32>, tensor<i32>
}
"""


@WAYS
def test_a_cell_is_written_through_a_closure_and_no_other_is(kernels: type[Kernels]) -> None:
    assert [int(v) for v in machine(CELLS, kernels).run([np.int32(10)])] == [55, 0]


PARTIAL = """
relay.type @Flag { Off, On }
func.func @main(%f: !relay.adt<@Flag>, %x: tensor<f32>) -> tensor<f32> {
  %r = relay.match partial %f : !relay.adt<@Flag> -> tensor<f32> {
    case On { relay.yield %x : tensor<f32> }
  }
  return %r : tensor<f32>
}
"""


def mistake(text: str, args: list[Any], message: str, entry: str = "main") -> None:
    for kernels in (ReferenceKernels(), CompiledKernels()):
        with pytest.raises(InputError, match=message):
            evaluate(parsed(text), args, entry, kernels=kernels)


def test_what_does_not_fit_is_one_line() -> None:
    one = np.float32(1)
    mistake(PARTIAL, [AdtValue("Off"), one], "no case fits Off")
    mistake(PARTIAL, [AdtValue("Of"), one], r"argument 0 of @main holds Of of 0 fields; @Flag has Off of 0 fields, On")
    mistake(PARTIAL, [one, one], "argument 0 of @main is a !relay.adt<@Flag>, not a float32")
    mistake(PARTIAL, [AdtValue("Off", one), one], "argument 0 of @main holds Off of 1 fields; @Flag has")
    mistake(PARTIAL, [AdtValue("On"), np.float64(1)], r"argument 1 of @main is float64\[\], not tensor<f32>")
    mistake(PARTIAL, [AdtValue("On")], "@main takes 2 arguments, 1 are given")
    mistake(PARTIAL, [], "there is no function @f with a body", "f")
    mistake(LISTS, [AdtValue("Cons", one, one), one], "Cons in argument 0 of @main is a !relay.adt<@List, tensor<f32>>")
    w = np.ones((8, 16), np.float32)
    mistake(CHOICE, [np.ones((2, 15), np.float32), w, np.asarray(True)], r"argument 0 of @main is float32\[2, 15\]")


NAMES = """
func.func @main(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {
  %0 = relay.add %x, %y : tensor<?xf32, #relay.dims<n>>
  return %0 : tensor<?xf32, #relay.dims<n>>
}
func.func @wrong(%x: tensor<?xf32, #relay.dims<n>>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.add %x, %y : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @claim(%x: tensor<?xf32, #relay.dims<n>>, %s: tensor<1xi32>) -> tensor<?xf32, #relay.dims<n>> {
  %0 = relay.dyn.reshape %x, %s : (tensor<?xf32, #relay.dims<n>>, tensor<1xi32>) -> tensor<?xf32, #relay.dims<n>>
  return %0 : tensor<?xf32, #relay.dims<n>>
}
func.func @wrong_claim(%x: tensor<?xf32, #relay.dims<n>>, %s: tensor<1xi32>) -> tensor<?xf32, #relay.dims<n>> {
  %0 = relay.dyn.zeros %s : (tensor<1xi32>) -> tensor<?xf32, #relay.dims<n>>
  return %0 : tensor<?xf32, #relay.dims<n>>
}
func.func @zeros(%s: tensor<1xi32>) -> tensor<?xf32, #relay.dims<n>> {
  %0 = relay.dyn.zeros %s : (tensor<1xi32>) -> tensor<?xf32, #relay.dims<n>>
  return %0 : tensor<?xf32, #relay.dims<n>>
}
func.func @wrong_call(%x: tensor<?xf32, #relay.dims<n>>, %s: tensor<1xi32>) -> tensor<?xf32, #relay.dims<n>> {
  %0 = func.call @zeros(%s) : (tensor<1xi32>) -> tensor<?xf32, #relay.dims<n>>
  %1 = relay.negative %0 : tensor<?xf32, #relay.dims<n>>
  return %1 : tensor<?xf32, #relay.dims<n>>
}
"""


def test_extents_of_one_name_are_equal_when_the_program_runs() -> None:
    three, four = np.ones(3, np.float32), np.ones(4, np.float32)
    length = np.array([4], np.int32)
    assert evaluate(parsed(NAMES), [four, length], "claim")[0].shape == (4,)
    assert evaluate(parsed(NAMES), [four, length], "wrong_claim")[0].shape == (4,)
    mistake(NAMES, [three, four], "argument 1 of @main has n = 4, elsewhere it is 3")
    mistake(NAMES, [three, length], r"6? ?.*3 elements", "claim")
    mistake(NAMES, [three, length], "the result of relay.dyn.zeros has n = 4, elsewhere it is 3", "wrong_claim")
    mistake(NAMES, [three, length], "the result of func.call has n = 4, elsewhere it is 3", "wrong_call")
    mistake(NAMES, [three, four], "add: shapes .* do not broadcast", "wrong")


def test_ordinary_programs_need_no_machine() -> None:
    plain = "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }"
    assert not needs_machine(parsed(plain))
    assert all(needs_machine(parsed(text)) for text in (RECURSION, LOOP, LISTS, KEPT, CHOICE, CELLS, NAMES))


def test_the_ops_beyond_programs_are_those_that_the_machine_runs() -> None:
    control = (IfOp, MatchOp, ConstructOp, GlobalOp, CallLoweredOp, InvokeTvmOp)
    values = (TupleOp, TupleGetItemOp, RefCreateOp, RefReadOp, RefWriteOp)
    own = [o for o in ON_VALUES if not issubclass(o, RelayOp)]
    beyond = {op.name for op in RELAY.operations if issubclass(op, ProgramOp)}
    assert beyond == {o.name for o in (*control, *values, *own)}


def test_lowering_says_what_it_cannot_lower() -> None:
    from lamina.driver.pipelines import Pipeline

    module = parsed(CHOICE)
    with pytest.raises(
        InputError, match="@main has an argument whose extents are unknown; run the module by lamina.vm.vm"
    ):
        Pipeline(1).run(module, LaminaContext())
