"""Programs that manage their memory, and `relay.debug`: the machine runs them as before the passes, in less memory."""

from __future__ import annotations

import random
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import lamina
from lamina.dialects.infos import tensor_info
from lamina.driver.compiled_kernels import CompiledKernels, evaluate
from lamina.errors import InputError
from lamina.interpreters.relay_reference import main_function
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.ir.verification import verify_module
from lamina.vm import memory as vm_memory
from lamina.vm.debugging import debugger
from lamina.vm.vm import Kernels, ReferenceKernels, VirtualMachine

from .test_relay_passes import Program, grow

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]

ALLOC = "relay-fuse-ops,relay-manifest-alloc"
LIFETIMES = f"{ALLOC},relay-manifest-lifetimes"
PLAN = f"{LIFETIMES},relay-memory-plan"
WAYS = pytest.mark.parametrize("kernels", [ReferenceKernels, CompiledKernels])


def parsed(text: str) -> ModuleOp:
    module = parse_text(LaminaContext(), text, "test.mlir")
    verify_module(module)
    return module


def passed(module: ModuleOp, passes: str) -> ModuleOp:
    run_pipeline(module, LaminaContext(), parse_pipeline(passes))
    verify_module(module)
    return module


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """New memory holds NaNs: what is read before it is written shows."""

    def fresh(size: int) -> Array:
        return np.full(size, 0xFF, np.uint8)

    monkeypatch.setattr(vm_memory, "fresh_bytes", fresh)


def drawn(seed: int) -> Program:
    draws = random.Random(seed)
    p = Program(draws.randrange, (1, draws.choice((3, 8, 16)), 6, 5))
    for _ in range(draws.randrange(4, 12)):
        grow(p)
    return p


def image(module: ModuleOp, seed: int) -> Array:
    (shape,) = [tensor_info(t).shape for t in main_function(module).body.block.arg_types]
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(np.float32)


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 150), marks=pytest.mark.long)], ids=str)
def test_random_programs_compute_the_same_in_their_own_memory(seeds: range) -> None:
    moved = 0
    for seed in seeds:
        p = drawn(seed)
        module = p.finish()
        x = image(module, seed)
        want = evaluate(module, [x], kernels=ReferenceKernels(p.store))
        for passes in (ALLOC, "relay-manifest-lifetimes", "relay-memory-plan"):
            passed(module, passes)
            at_rest = str(module)
            assert str(passed(module, passes.rpartition(",")[2])) == at_rest
            found = evaluate(module, [x], kernels=ReferenceKernels(p.store))
            for a, b in zip(found, want, strict=True):
                # How a sum is rounded depends on how its array lies in memory.
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5 * np.max(np.abs(b), initial=0))
        moved += str(module).count('dtype = "uint8"}')
    assert moved > len(seeds) / 3


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("seed", [3, *(pytest.param(n, marks=pytest.mark.long) for n in range(4, 30))])
def test_machine_code_writes_into_the_memory_it_is_given(seed: int) -> None:
    p = drawn(seed)
    module = p.finish()
    x = image(module, seed)
    want = evaluate(module, [x], kernels=ReferenceKernels(p.store))
    found = evaluate(passed(module, PLAN), [x], store=p.store)
    for a, b in zip(found, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * np.max(np.abs(b), initial=0))


CHAIN = """
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = relay.nn.dense %x, %x : tensor<64x64xf32>
  %1 = relay.nn.dense %0, %x : tensor<64x64xf32>
  %2 = relay.nn.dense %1, %x : tensor<64x64xf32>
  %3 = relay.nn.dense %2, %x : tensor<64x64xf32>
  %4 = relay.nn.dense %3, %x : tensor<64x64xf32>
  %5 = relay.nn.dense %4, %x : tensor<64x64xf32>
  return %5 : tensor<64x64xf32>
}
"""


@pytest.mark.parametrize(("passes", "most"), [(ALLOC, 6), (LIFETIMES, 2), (PLAN, 3)])
def test_memory_that_is_given_back_is_free(passes: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now = peak = 0

    def gone(size: int) -> None:
        nonlocal now
        now -= size

    def fresh(size: int) -> Array:
        nonlocal now, peak
        found = np.empty(size, np.uint8)
        weakref.finalize(found, gone, size)
        now += size
        peak = max(peak, now)
        return found

    monkeypatch.setattr(vm_memory, "fresh_bytes", fresh)
    module = passed(parsed(CHAIN), passes)
    (result,) = evaluate(module, [np.eye(64, dtype=np.float32)], kernels=ReferenceKernels())
    assert np.array_equal(result, np.eye(64))
    assert peak // (64 * 64 * 4) == most


UNKNOWN = """
func.func @main(%x: ROWS, %w: tensor<8x8xf32>) -> ROWS {
  %0 = relay.nn.softmax %x : ROWS
  %1 = relay.nn.dense %0, %w : (ROWS, tensor<8x8xf32>) -> ROWS
  %2 = relay.nn.softmax %1 : ROWS
  return %2 : ROWS
}
""".replace("ROWS", "tensor<?x8xf32, #relay.dims<n, _>>")


@WAYS
@pytest.mark.usefixtures("poisoned")
def test_extents_that_are_unknown_are_those_of_an_operand(kernels: type[Kernels]) -> None:
    module = passed(parsed(UNKNOWN), PLAN)
    assert str(module).count("relay.memory.kill") == 2
    machine, plain = VirtualMachine(module, kernels()), VirtualMachine(parsed(UNKNOWN), kernels())
    for n in (3, 1, 5):
        values = [np.random.default_rng(n).normal(size=s).astype(np.float32) for s in ((n, 8), (8, 8))]
        np.testing.assert_allclose(machine.run(values)[0], plain.run(values)[0], rtol=1e-5)


KERNELS = """
func.func @twice(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %b = relay.add %a, %a : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %twice = relay.global @twice : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %f = relay.fn (%p: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {Primitive = 1 : i64} {
    %0 = relay.exp %p : tensor<4xf32>
    %1 = relay.negative %0 : tensor<4xf32>
    relay.return %1, %0 : tensor<4xf32>, tensor<4xf32>
  }
  %a, %b = relay.call_lowered %twice(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %c, %d = relay.call_lowered %f(%b) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %e = relay.add %a, %c : tensor<4xf32>
  return %e, %d : tensor<4xf32>, tensor<4xf32>
}
"""


@WAYS
@pytest.mark.parametrize("passes", ["", "relay-manifest-alloc", "relay-manifest-alloc,relay-manifest-lifetimes"])
def test_kernels_give_results_in_any_order_and_what_they_are_given(kernels: type[Kernels], passes: str) -> None:
    module = passed(parsed(KERNELS), passes) if passes else parsed(KERNELS)
    assert ("call_lowered" in str(module)) == (not passes)
    x = np.linspace(-1, 1, 4, dtype=np.float32)
    e, d = evaluate(module, [x], kernels=kernels())
    np.testing.assert_allclose(d, np.exp(2 * x), rtol=1e-6)
    np.testing.assert_allclose(e, x - np.exp(2 * x), rtol=1e-5, atol=1e-6)


@WAYS
def test_a_kernel_that_calls_a_function_writes_into_what_it_is_given(kernels: type[Kernels]) -> None:
    text = """
func.func @exponential(%v: tensor<4xf32>) -> tensor<4xf32> {
  %w = relay.exp %v : tensor<4xf32>
  return %w : tensor<4xf32>
}
func.func @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = func.call @exponential(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.add %e, %e : tensor<4xf32>
  return %b : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %twice = relay.global @twice : (tensor<4xf32>) -> tensor<4xf32>
  %y = relay.call_lowered %twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
    x = np.linspace(-1, 1, 4, dtype=np.float32)
    module = passed(parsed(text), "relay-manifest-alloc")
    assert "relay.vm.invoke_tvm_op %twice" in str(module)
    np.testing.assert_allclose(evaluate(module, [x], kernels=kernels())[0], 2 * np.exp(x), rtol=1e-6)


@WAYS
def test_a_kernel_that_returns_a_value_twice_fills_both_places(kernels: type[Kernels]) -> None:
    text = """
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %f = relay.fn (%p: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {Primitive = 1 : i64} {
    %0 = relay.exp %p : tensor<4xf32>
    relay.return %0, %0 : tensor<4xf32>, tensor<4xf32>
  }
  %a, %b = relay.call_lowered %f(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
"""
    x = np.linspace(-1, 1, 4, dtype=np.float32)
    for found in evaluate(passed(parsed(text), ALLOC), [x], kernels=kernels()):
        np.testing.assert_allclose(found, np.exp(x), rtol=1e-6)


def in_storage(body: str, size: int = 32, offset: int = 0, shape: str = "[8]") -> str:
    return f"""
func.func @main(%x: tensor<8xf32>, %n: tensor<1xi64>) -> tensor<8xf32> {{
  %f = relay.fn (%a: tensor<8xf32>) -> tensor<8xf32> attributes {{Primitive = 1 : i64}} {{
    %b = relay.negative %a : tensor<8xf32>
    relay.return %b : tensor<8xf32>
  }}
  %size = relay.constant dense<{size}> : tensor<i64>
  %offset = relay.constant dense<{offset}> : tensor<i64>
  %shape = relay.constant dense<{shape}> : tensor<1xi64>
  %two = relay.constant dense<2> : tensor<i64>
  %s = relay.memory.alloc_storage %size, %shape, %two : tensor<1xi64>
{body}
}}
"""


WRITTEN = """
  %t = relay.memory.alloc_tensor %s, %offset, %shape : (tensor<1xi64>) -> tensor<8xf32>
  relay.vm.invoke_tvm_op %f(%x) into (%t) : (tensor<8xf32>) -> tensor<8xf32>
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (in_storage(WRITTEN + "return %t : tensor<8xf32>", size=31), "bytes 0 to 32 are not in a storage of 31 bytes"),
        (in_storage(WRITTEN + "return %t : tensor<8xf32>", 64, 40), "bytes 40 to 72 are not in a storage of 64 bytes"),
        (in_storage(WRITTEN + "return %t : tensor<8xf32>", 64, 3), "the offset 3 is no place for a float32"),
        (
            in_storage(WRITTEN + "relay.memory.kill %s : !relay.storage\nreturn %t : tensor<8xf32>"),
            "func.return uses %t after it was killed",
        ),
        (
            in_storage(
                WRITTEN + "relay.memory.kill %t : tensor<8xf32>\n%y = relay.negative %t : tensor<8xf32>\n"
                "return %y : tensor<8xf32>"
            ),
            "relay.negative uses %t after it was killed",
        ),
        (
            in_storage(WRITTEN.replace("%shape :", "%n :") + "return %t : tensor<8xf32>"),
            "the shape [7] is not that of tensor<8xf32>",
        ),
        (
            in_storage(
                "%eight = relay.constant dense<8> : tensor<1xi64>\n"
                "%less = relay.subtract %n, %eight : tensor<1xi64>\n"
                "%t = relay.memory.alloc_tensor %s, %offset, %less : (tensor<1xi64>) -> tensor<?xf32>\n"
                "return %x : tensor<8xf32>",
                offset=4,
            ),
            "the shape [-1] is not that of tensor<?xf32>",
        ),
        (
            in_storage(
                "%y = relay.vm.reshape_tensor %x, %n {newshape = [8]} "
                ": (tensor<8xf32>, tensor<1xi64>) -> tensor<8xf32>\n"
                "return %y : tensor<8xf32>"
            ),
            "vm.reshape_tensor: the shape is [7], newshape [8]",
        ),
    ],
    ids=str,
)
def test_mistakes_with_memory_are_said(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        evaluate(parsed(text), [np.zeros(8, np.float32), np.array([7])], kernels=ReferenceKernels())
    assert message in str(caught.value)


CHOICE = """
    %cond = relay.less %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %any = relay.any %cond : (tensor<8xi1>) -> tensor<i1>
    %c = relay.if %any -> tensor<8xf32> {
      relay.yield %a : tensor<8xf32>
    } else {
      %k = relay.exp %a : tensor<8xf32>
      relay.yield %k : tensor<8xf32>
    }
    %b = relay.negative %c : tensor<8xf32>"""


@WAYS
def test_a_kernel_that_chooses_writes_into_what_it_is_given(kernels: type[Kernels]) -> None:
    text = in_storage(WRITTEN + "return %t : tensor<8xf32>")
    text = text.replace("\n    %b = relay.negative %a : tensor<8xf32>", CHOICE)
    x = np.linspace(-1, 1, 8, dtype=np.float32)
    (found,) = evaluate(parsed(text), [x, np.array([7])], kernels=kernels())
    np.testing.assert_allclose(found, -np.exp(x), rtol=1e-6)


@WAYS
def test_a_kernel_may_take_a_tuple(kernels: type[Kernels]) -> None:
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %t = relay.tuple(%x, %x) : tuple<tensor<4xf32>, tensor<4xf32>>
      %k = relay.fn (%a: tensor<4xf32>, %u: tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
          attributes {Primitive = 1 : i64} {
        %r = relay.negative %a : tensor<4xf32>
        relay.return %r : tensor<4xf32>
      }
      %y = relay.call %k(%x, %t) : (tensor<4xf32>, tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }"""
    (found,) = evaluate(
        passed(parsed(text), "relay-manifest-alloc"), [np.arange(4, dtype=np.float32)], kernels=kernels()
    )
    assert found.tolist() == [0, -1, -2, -3]


@pytest.mark.parametrize(("extents", "fits"), [([2, 4], True), ([4, 2], False)], ids=str)
def test_newshape_may_leave_one_extent_to_the_shape(extents: list[int], fits: bool) -> None:
    text = """
    func.func @main(%x: tensor<8xf32>, %n: tensor<2xi64>) -> tensor<2x4xf32> {
      %y = relay.vm.reshape_tensor %x, %n {newshape = [2, -1]} : (tensor<8xf32>, tensor<2xi64>) -> tensor<2x4xf32>
      return %y : tensor<2x4xf32>
    }"""
    x = np.arange(8, dtype=np.float32)
    if fits:
        (found,) = evaluate(parsed(text), [x, np.array(extents)], kernels=ReferenceKernels())
        assert found.tolist() == x.reshape(2, 4).tolist()
    else:
        with pytest.raises(InputError, match=r"newshape \[2, -1\]"):
            evaluate(parsed(text), [x, np.array(extents)], kernels=ReferenceKernels())


def test_a_program_that_manages_its_memory_is_saved_and_loaded(tmp_path: Path) -> None:
    program = lamina.compile(passed(parsed(KERNELS), "relay-manifest-alloc,relay-manifest-lifetimes"))
    program.save(tmp_path / "program.lamina")
    x = {"x": np.linspace(-1, 1, 4, dtype=np.float32)}
    found, want = lamina.Executable.load(tmp_path / "program.lamina").run(x), program.run(x)
    assert [v.tolist() for v in found.values()] == [v.tolist() for v in want.values()]


def test_a_reshape_moves_nothing() -> None:
    text = """
func.func @main(%x: tensor<2x8xf32>) -> tensor<16xf32> {
  %y = relay.reshape %x {newshape = [16]} : (tensor<2x8xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}"""
    module = passed(parsed(text), ALLOC)
    x = np.arange(16, dtype=np.float32).reshape(2, 8)
    (y,) = evaluate(module, [x])
    assert np.shares_memory(x, y) and y.shape == (16,)
    assert not np.shares_memory(x, evaluate(parsed(text), [x])[0])


DEBUG = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = relay.exp %x : tensor<2xf32>
  %z = relay.debug %y {debug_func = "test.look"} : tensor<2xf32>
  %unused = relay.debug %x {debug_func = "test.look"} : tensor<2xf32>
  %w = relay.negative %z : tensor<2xf32>
  return %w : tensor<2xf32>
}
"""


@WAYS
@pytest.mark.parametrize("passes", ["", "relay-eliminate-common-subexpr,relay-dead-code-elimination", PLAN])
def test_a_debug_function_sees_each_value_in_turn(kernels: type[Kernels], passes: str) -> None:
    seen: list[tuple[Array, set[str]]] = []

    @debugger("test.look")
    def _(value: Array, stack: Mapping[str, Any]) -> None:
        seen.append((np.array(value), {*stack}))

    module = passed(parsed(DEBUG), passes) if passes else parsed(DEBUG)
    x = np.array([0, 1], np.float32)
    (w,) = evaluate(module, [x], kernels=kernels())
    np.testing.assert_allclose(w, -np.exp(x), rtol=1e-6)
    assert len(seen) == 2
    np.testing.assert_allclose(seen[0][0], np.exp(x), rtol=1e-6)
    np.testing.assert_array_equal(seen[1][0], x)
    assert {"x", "y"} <= seen[0][1] and "w" not in seen[1][1]


def test_a_compiled_program_calls_debug_functions() -> None:
    seen: list[Array] = []

    @debugger("test.look")
    def _(value: Array, _: Mapping[str, Any]) -> None:
        seen.append(np.array(value))

    found = lamina.compile(parsed(DEBUG)).run({"x": np.zeros(2, np.float32)})
    np.testing.assert_array_equal(found["w"], [-1, -1])
    assert [v.tolist() for v in seen] == [[1, 1], [0, 0]]


def test_a_debug_of_tvm_calls_its_function() -> None:
    from lamina.compat.tvm import relay

    seen: list[Array] = []

    def look(value: Array, _: Mapping[str, Any]) -> None:
        seen.append(np.array(value))

    x = relay.var("x", shape=(2,), dtype="float32")
    body = relay.tanh(relay.debug(relay.exp(x), look))
    function = relay.Function([x], body)
    found = relay.create_executor("debug").evaluate(function)(np.zeros(2, np.float32))
    np.testing.assert_allclose(found.numpy(), np.tanh([1, 1]), rtol=1e-6)
    assert [v.tolist() for v in seen] == [[1, 1]]
    assert 'debug(%0, debug_func="debugger_func' in str(function)


def test_a_gradient_goes_through_a_debug() -> None:
    text = DEBUG.replace(' {debug_func = "test.look"}', "")
    module = passed(parsed(text), "relay-first-order-gradient")
    x = np.array([0, 1], np.float32)
    w, grad = evaluate(module, [x], kernels=ReferenceKernels())
    np.testing.assert_allclose(grad, -np.exp(x), rtol=1e-6)
    np.testing.assert_allclose(w, -np.exp(x), rtol=1e-6)


def test_without_a_debug_function_the_value_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    evaluate(parsed(DEBUG.replace(' {debug_func = "test.look"}', "")), [np.zeros(2, np.float32)])
    assert capsys.readouterr().err == "debug %y: [1., 1.]\ndebug %x: [0., 0.]\n"


def test_a_debug_function_that_nobody_registered() -> None:
    with pytest.raises(InputError, match="no debug function 'test.lok' is registered"):
        evaluate(parsed(DEBUG.replace("test.look", "test.lok")), [np.zeros(2, np.float32)])
