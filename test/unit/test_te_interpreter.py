"""The te interpreter: what it computes, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, StringAttr
from xdsl.dialects.math import Math
from xdsl.ir import Attribute
from xdsl.parser import Parser

from lamina.dialects.scalar.oracles import UndefinedError, fma
from lamina.dialects.te import TE
from lamina.dialects.te.ops import FuncOp
from lamina.errors import InputError
from lamina.interpreters import te_interpreter
from lamina.interpreters.accesses import OutOfBoundsError
from lamina.interpreters.te_interpreter import Program, run_te_func


def functions(text: str) -> dict[str, FuncOp]:
    context = Context()
    for dialect in (Builtin, Arith, Math, TE):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}


WINDOW = """
te.func @main(%X: tensor<8xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [4] sum [2] (%i, %k) : tensor<4xf32> {
    %x = te.read %X[%i * 2 + %k + OFFSET]GUARD : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<4xf32>
}
"""


def test_reduces_over_the_trailing_dimensions() -> None:
    func = functions(WINDOW.replace(" + OFFSET", "").replace("GUARD", ""))["main"]
    x = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(run_te_func(func, [x])[0], x[::2] + x[1::2])


def test_small_chunks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    func = functions(WINDOW.replace(" + OFFSET", "").replace("GUARD", ""))["main"]
    x = np.arange(8, dtype=np.float32)
    whole = run_te_func(func, [x])[0]
    monkeypatch.setattr(te_interpreter, "CHUNK", 3)
    np.testing.assert_array_equal(run_te_func(func, [x])[0], whole)


def test_unguarded_index_outside_names_buffer_expression_and_loops() -> None:
    func = functions(WINDOW.replace("OFFSET", "1").replace("GUARD", ""))["main"]
    with pytest.raises(OutOfBoundsError) as raised:
        run_te_func(func, [np.zeros(8, np.float32)])
    assert str(raised.value) == (
        'te.compute "y" reads %X at %i * 2 + %k + 1 = 8, outside dimension 0 of extent 8, where %i = 3, %k = 1'
    )


def test_negative_index_is_outside() -> None:
    func = functions(WINDOW.replace("+ OFFSET", "- 1").replace("GUARD", ""))["main"]
    with pytest.raises(OutOfBoundsError, match=r"= -1, outside dimension 0 of extent 8, where %i = 0, %k = 0"):
        run_te_func(func, [np.zeros(8, np.float32)])


def test_failing_guard_reads_zero() -> None:
    guarded = WINDOW.replace("OFFSET", "1").replace("GUARD", " where [%i * 2 + %k + 1 < 8]")
    x = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(run_te_func(functions(guarded)["main"], [x])[0], [3, 7, 11, 7])


def test_guard_that_does_not_cover_the_index_is_no_excuse() -> None:
    guarded = WINDOW.replace("OFFSET", "1").replace("GUARD", " where [%i >= 0]")
    with pytest.raises(OutOfBoundsError, match="= 8, outside dimension 0"):
        run_te_func(functions(guarded)["main"], [np.zeros(8, np.float32)])


def test_index_read_from_memory_is_checked() -> None:
    func = functions("""
    te.func @main(%X: tensor<5xf32>, %I: tensor<3xi64>) -> tensor<3xf32> {
      %y = te.compute "y" [3] (%i) : tensor<3xf32> {
        %a = te.read %I[%i] : tensor<3xi64>
        %b = arith.index_cast %a : i64 to index
        %x = te.read %X[%b] : tensor<5xf32>
        te.yield %x : f32
      }
      te.return %y : tensor<3xf32>
    }
    """)["main"]
    x = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(run_te_func(func, [x, np.array([4, 0, 2])])[0], [4, 0, 2])
    with pytest.raises(OutOfBoundsError, match=r"at %b = 5, outside dimension 0 of extent 5, where %i = 1"):
        run_te_func(func, [x, np.array([4, 5, 2])])


def division(op: str) -> FuncOp:
    return functions(f"""
    te.func @main(%A: tensor<3xi8>, %B: tensor<3xi8>) -> tensor<3xi8> {{
      %y = te.compute "y" [3] (%i) : tensor<3xi8> {{
        %a = te.read %A[%i] : tensor<3xi8>
        %b = te.read %B[%i] : tensor<3xi8>
        %c = arith.{op} %a, %b : i8
        te.yield %c : i8
      }}
      te.return %y : tensor<3xi8>
    }}
    """)["main"]


def test_divisions_round_as_their_names_say() -> None:
    a, b = np.array([-7, 7, -8], np.int8), np.array([2, -2, 2], np.int8)
    expected = {"divsi": [-3, -3, -4], "floordivsi": [-4, -4, -4], "ceildivsi": [-3, -3, -4], "remsi": [-1, 1, 0]}
    for op, values in expected.items():
        np.testing.assert_array_equal(run_te_func(division(op), [a, b])[0], values, op)
    np.testing.assert_array_equal(run_te_func(division("divui"), [a, b])[0], [124, 0, 124])


def test_undefined_integer_operations_are_errors() -> None:
    a, zero, minus = np.array([1, -128, 0], np.int8), np.array([1, 0, 1], np.int8), np.array([1, -1, 1], np.int8)
    with pytest.raises(UndefinedError, match="arith.divsi divides by zero"):
        run_te_func(division("divsi"), [a, zero])
    with pytest.raises(UndefinedError, match="arith.remsi divides the smallest integer by -1"):
        run_te_func(division("remsi"), [a, minus])
    with pytest.raises(UndefinedError, match="arith.shli shifts 8 bits by less than 0 or more than 7"):
        run_te_func(division("shli"), [a, minus])


def test_calls_run_the_callee() -> None:
    found = functions("""
    te.func @main(%X: tensor<2xf32>) -> tensor<2xf32> {
      %y = te.call @double(%X) : (tensor<2xf32>) -> tensor<2xf32>
      te.return %y : tensor<2xf32>
    }
    te.func @double(%X: tensor<2xf32>) -> tensor<2xf32> {
      %y = te.compute "y" [2] (%i) : tensor<2xf32> {
        %x = te.read %X[%i] : tensor<2xf32>
        %s = arith.addf %x, %x : f32
        te.yield %s : f32
      }
      te.return %y : tensor<2xf32>
    }
    """)
    x = np.array([1, 2], np.float32)
    np.testing.assert_array_equal(run_te_func(found["main"], [x], Program(found))[0], [2, 4])
    with pytest.raises(InputError, match="there is no function @double"):
        run_te_func(found["main"], [x])


def test_parameters_come_from_the_program() -> None:
    func = functions("""
    te.func @main() -> tensor<2xf32> {
      %w = te.param "w" : tensor<2xf32>
      te.return %w : tensor<2xf32>
    }
    """)["main"]
    w = np.array([1, 2], np.float32)
    store: dict[Attribute, np.ndarray[Any, Any]] = {StringAttr("w"): w}
    np.testing.assert_array_equal(run_te_func(func, [], Program(param=store.__getitem__))[0], w)
    with pytest.raises(InputError, match='no store holds the parameter "w"'):
        run_te_func(func, [])
    for other, got in ((w[:1], r"float32 of shape \(1,\)"), (w.astype(float), r"float64 of shape \(2,\)")):
        with pytest.raises(InputError, match=rf"the parameter is tensor<2xf32>, got {got}"):
            run_te_func(func, [], Program(param=lambda _, other=other: other))


def test_wrong_arguments_are_refused() -> None:
    func = functions(WINDOW.replace(" + OFFSET", "").replace("GUARD", ""))["main"]
    with pytest.raises(InputError, match="takes 1 arrays, got 0"):
        run_te_func(func, [])
    with pytest.raises(InputError, match=r"argument 0 of @main is tensor<8xf32>, got float64 of shape \(8,\)"):
        run_te_func(func, [np.zeros(8)])


def test_fma_rounds_once() -> None:
    a = np.float32(1 + 2**-12)
    assert fma(a, a, np.float32(-(1 + 2**-11))) == np.float32(2**-24)
    b = np.float64(1 + 2**-30)
    assert fma(b, b, np.float64(-(1 + 2**-29))) == np.float64(2**-60)
    with np.errstate(all="ignore"):
        assert np.isinf(fma(np.float64(1e308), np.float64(10), np.float64(1)))
