"""te.extern: tir among index equations, from Python and from text, at every level."""

# Equations are lambdas, whose parameters nobody annotates.
# pyright: standard

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.te import lib as te
from lamina.dialects.te.build import Tensor
from lamina.dialects.te.ir_builder import IRBuilder, extern
from lamina.dialects.te.ops import FuncOp
from lamina.errors import InputError
from lamina.interpreters.accesses import OutOfBoundsError
from lamina.interpreters.te_interpreter import run_te_func
from lamina.interpreters.tir_interpreter import run_tir_func
from lamina.interpreters.tir_memory import UninitialisedError
from lamina.ir.context import LaminaContext
from lamina.passes.te_to_tir.te_to_tir import lower_function


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs, levels = _load("te_programs"), _load("te_levels")


def random(*shape: int, seed: int = 0, dtype: str = "float32") -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def test_a_matrix_product_between_equations() -> None:
    def product(ib: IRBuilder, ins: Any, outs: Any) -> None:
        (a, b), (c,) = ins, outs
        with ib.for_range(0, 5, "i") as i, ib.for_range(0, 7, "j") as j:
            c[i, j] = 0.0
            with ib.for_range(0, 6, "k") as k:
                c[i, j] = c[i, j] + a[i, k] * b[k, j]

    def build(a: Tensor, b: Tensor) -> Tensor:
        doubled = te.compute((5, 6), lambda i, k: a[i, k] * 2.0, "doubled")
        (c,) = extern([(5, 7)], [doubled, b], product, "product")
        return te.compute((5, 7), lambda i, j: c[i, j] + 1.0, "more")

    a, b = random(5, 6), random(6, 7, seed=1)
    schedule = """te.schedule @f {
      %i, %j = te.loops "more" [2]
      te.vectorize %j
      %p, %q = te.loops "doubled" [2]
      te.parallel %p
    }"""
    levels.agree_everywhere(programs.program([(5, 6), (6, 7)], build), [a, b], [2 * a @ b + 1], schedule)


def test_two_results_offsets_conditions_and_a_buffer_of_its_own() -> None:
    def body(ib: IRBuilder, ins: Any, outs: Any) -> None:
        x, (shifted, last) = ins[0], outs
        held = ib.allocate("float32", (10,), "held")
        with ib.for_range(0, 10, "i") as i:
            held[i] = te.maximum(x[i], 0.0)
        with ib.for_range(3, 10, "i") as i:
            shifted[i - 3] = held[i] + te.cast(i, "float32")
        with ib.for_range(0, 10, "i", kind="parallel") as i:
            with ib.if_scope(i < 4):
                last[i] = True
            with ib.if_scope(i >= 4):
                last[i] = x[i] > held[i - 4]

    def build(x: Tensor) -> Any:
        return tuple(extern([(7,), (10,)], [x], body, "parts", ["float32", "bool"]))

    x = random(10)
    held = np.maximum(x, 0)
    last = np.concatenate([np.ones(4, bool), x[4:] > held[:6]])
    levels.agree_everywhere(programs.program([(10,)], build), [x], [(held + np.arange(10, dtype="f4"))[3:], last])


def test_indices_read_from_memory() -> None:
    def body(ib: IRBuilder, ins: Any, outs: Any) -> None:
        (x, place), (y,) = ins, outs
        with ib.for_range(0, 6, "i") as i:
            y[place[i]] = x[i]

    def build(x: Tensor) -> Tensor:
        place = te.compute((6,), lambda i: te.cast((i * 5 + 2) % 6, "int32"), "place")
        return extern([(6,)], [x, place], body, "scatter")[0]

    x = random(6)
    expected = np.empty_like(x)
    expected[(np.arange(6) * 5 + 2) % 6] = x
    levels.agree_everywhere(programs.program([(6,)], build), [x], [expected])


def test_the_same_loop_names_twice() -> None:
    def body(ib: IRBuilder, ins: Any, outs: Any) -> None:
        for half in (0, 4):
            with ib.for_range(0, 4, "i") as i:
                outs[0][i + half] = ins[0][i + half] * (half + 1.0)

    def build(x: Tensor) -> Tensor:
        (y,) = extern([(8,)], [x], body, "halves")
        return extern([(8,)], [y], body, "halves")[0]

    x = random(8)
    factor = np.array([1] * 4 + [25] * 4, np.float32)
    levels.agree_everywhere(programs.program([(8,)], build), [x], [x * factor])


def test_what_an_extern_forgets_to_write_is_told() -> None:
    def body(ib: IRBuilder, ins: Any, outs: Any) -> None:
        with ib.for_range(0, 3, "i") as i:
            outs[0][i] = ins[0][i]

    func = programs.program([(4,)], lambda x: extern([(4,)], [x], body, "short")[0])
    with pytest.raises(UninitialisedError, match=r"@short never writes %out0\[3\]"):
        run_te_func(func, [random(4)])


def test_an_index_outside_is_told() -> None:
    def body(ib: IRBuilder, ins: Any, outs: Any) -> None:
        with ib.for_range(0, 4, "i") as i:
            outs[0][i] = ins[0][i + 1]

    func = programs.program([(4,)], lambda x: extern([(4,)], [x], body, "beyond")[0])
    with pytest.raises(OutOfBoundsError, match="outside dimension 0 of extent 4"):
        run_te_func(func, [random(4)])


def test_an_input_cannot_be_written() -> None:
    def body(ib: IRBuilder, ins: Any, outs: Any) -> None:
        with ib.for_range(0, 4, "i") as i:
            ins[0][i] = outs[0][i]

    with pytest.raises(VerifyException, match="tir.store writes the input %X_buffer"):
        programs.program([(4,)], lambda x: extern([(4,)], [x], body, "wrong")[0])


def test_packed_functions_are_not_called_from_kernels() -> None:
    with pytest.raises(InputError, match="'tvm.contrib.cblas.matmul' cannot be called from a compiled kernel"):
        IRBuilder().call_packed("tvm.contrib.cblas.matmul")


@pytest.mark.parametrize(
    ("primitive", "message"),
    [
        ('%a = te.compute_at "e" at %i [1]', "compute_at of 'e'"),
        ('te.compute_inline "e"', "compute_inline of 'e'"),
        ('te.cache_write "e" scope "global"', "cache_write of 'e'"),
    ],
)
def test_an_extern_is_opaque_to_the_schedule(primitive: str, message: str) -> None:
    def body(ib: IRBuilder, ins: Any, outs: Any) -> None:
        with ib.for_range(0, 4, "i") as i:
            outs[0][i] = ins[0][i]

    def build(x: Tensor) -> Tensor:
        (e,) = extern([(4,)], [x], body, "e")
        return te.compute((4,), lambda i: e[i] + 1.0, "y")

    schedule = f'te.schedule @f {{ %i = te.loops "y" [1]\n {primitive} }}'
    with pytest.raises(InputError, match=f"{message}: .* opaque"):
        levels.run_scheduled(programs.program([(4,)], build), [random(4)], schedule)


SYMBOLIC = """
te.func @f(%n: index, %X: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %y = te.extern "reverse" (%x = %X) -> (%out [%n]) : (tensor<?xf32>) -> tensor<?xf32> {
    tir.for %i = 0 to min [%n] "i" {
      %v = tir.load %x[%i] : memref<?xf32>
      tir.store %v, %out[%n - %i - 1] : memref<?xf32>
    }
  }
  te.return %y : tensor<?xf32>
}
"""


@pytest.mark.parametrize("n", [0, 1, 5])
def test_an_extern_of_unknown_size(n: int) -> None:
    (func,) = Parser(LaminaContext(), SYMBOLIC).parse_module().ops
    assert isinstance(func, FuncOp)
    x = random(n)
    np.testing.assert_array_equal(run_te_func(func, [np.asarray(n), x])[0], x[::-1])
    np.testing.assert_array_equal(run_tir_func(lower_function(func)[0], [np.asarray(n), x])[0], x[::-1])
