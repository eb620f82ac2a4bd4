"""The tir interpreter: values, and what it reports (bounds, uninitialised elements, races) at te and tir."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from lamina.dialects.tir.ops import FuncOp
from lamina.driver.execute import run_module
from lamina.errors import InputError, UsageError
from lamina.interpreters.accesses import OutOfBoundsError
from lamina.interpreters.tir_interpreter import run_tir_func
from lamina.interpreters.tir_memory import RaceError, UninitialisedError
from lamina.ir.context import LaminaContext
from lamina.passes.tir.loops.lower_blocks import LowerBlocksPass

CTX = LaminaContext()


def parse(text: str) -> ModuleOp:
    module = Parser(CTX, text).parse_module()
    module.verify()
    return module


def run(text: str, *arrays: Any, entry: str = "f") -> Any:
    results = run_module(parse(text), CTX, entry, arrays)
    return next(iter(results.values())) if len(results) == 1 else results


def f32(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


# -- values --------------------------------------------------------------------------------------------------


def test_a_reduction_starts_anew_for_each_element() -> None:
    text = """
    tir.func @f(%X: memref<2x3xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
      tir.for %k = 0 to 3 reduction "k" {
        tir.for %i = 0 to 2 "i" {
          tir.block "y" init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %y[%i] : memref<2xf32>
          } do {
            %acc = tir.load %y[%i] : memref<2xf32>
            %x = tir.load %X[%i, %k] : memref<2x3xf32>
            %s = arith.addf %acc, %x : f32
            tir.store %s, %y[%i] : memref<2xf32>
          }
        }
      }
    }"""
    np.testing.assert_array_equal(run(text, np.arange(6, dtype=np.float32).reshape(2, 3)), [3, 12])


def test_a_loop_ends_at_the_least_of_its_bounds() -> None:
    text = """
    tir.func @f(%X: memref<5xf32>, %y: memref<5xf32>) attributes {outputs = 1 : i64} {
      tir.for %io = 0 to 2 "io" {
        tir.for %ii = 0 to 4 min [%io * -4 + 5] "ii" {
          %x = tir.load %X[%io * 4 + %ii] : memref<5xf32>
          %n = arith.negf %x : f32
          tir.store %n, %y[%io * 4 + %ii] : memref<5xf32>
        }
      }
    }"""
    np.testing.assert_array_equal(run(text, f32(1, 2, 3, 4, 5)), [-1, -2, -3, -4, -5])


def test_vectors_go_lane_by_lane_under_their_guards() -> None:
    text = """
    tir.func @f(%X: memref<6xf32>, %y: memref<6xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 2 "i" {
        %x = tir.load %X[%i * 4 + lane] where [%i * -4 - lane + 5 >= 0] : memref<6xf32>, vector<4xf32>
        %k = tir.load %X[%i] : memref<6xf32>
        %b = tir.broadcast %k : f32 to vector<4xf32>
        %two = arith.constant dense<2.0> : vector<4xf32>
        %r = math.fma %x, %two, %b : vector<4xf32>
        %c = tir.condition [lane - 2 >= 0] : vector<4xi1>
        %s = tir.select %c, %x, %r : vector<4xi1>, vector<4xf32>
        tir.store %s, %y[%i * 4 + lane] where [%i * -4 - lane + 5 >= 0] : memref<6xf32>, vector<4xf32>
      }
    }"""
    np.testing.assert_array_equal(run(text, f32(1, 2, 3, 4, 5, 6)), [3, 5, 3, 4, 12, 14])


def test_a_guarded_load_gives_zero_without_reading() -> None:
    text = """
    tir.func @f(%X: memref<3xi32>, %y: memref<4xi32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 4 "i" {
        %x = tir.load %X[%i - 1] where [%i - 1 >= 0] : memref<3xi32>
        tir.store %x, %y[%i] : memref<4xi32>
      }
    }"""
    np.testing.assert_array_equal(run(text, np.array([7, 8, 9], np.int32)), [0, 7, 8, 9])


def test_an_index_may_come_from_memory() -> None:
    text = """
    tir.func @f(%X: memref<3xf32>, %I: memref<2xi64>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 2 "i" {
        %n = tir.load %I[%i] : memref<2xi64>
        %k = arith.index_cast %n : i64 to index
        %x = tir.load %X[%k] : memref<3xf32>
        tir.store %x, %y[%i] : memref<2xf32>
      }
    }"""
    np.testing.assert_array_equal(run(text, f32(1, 2, 3), np.array([2, 0])), [3, 1])
    with pytest.raises(OutOfBoundsError, match=r"%X\[%k\] at \[3\]"):
        run(text, f32(1, 2, 3), np.array([2, 3]))


def test_unsigned_elements_are_stored_as_such() -> None:
    text = """
    tir.func @f(%X: memref<2xui8>, %y: memref<2xui8>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 2 "i" {
        %x = tir.load %X[%i] : memref<2xui8>
        %two = arith.constant 2 : i8
        %d = arith.divui %x, %two : i8
        tir.store %d, %y[%i] : memref<2xui8>
      }
    }"""
    result = run(text, np.array([200, 9], np.uint8))
    assert result.dtype == np.uint8
    np.testing.assert_array_equal(result, [100, 4])


# -- conditions, predicates, sizes ------------------------------------------------------------------------------


def test_a_condition_decides_what_runs() -> None:
    text = """
    tir.func @f(%X: memref<5xf32>, %y: memref<5xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 5 "i" {
        %x = tir.load %X[%i] : memref<5xf32>
        tir.store %x, %y[%i] : memref<5xf32>
        tir.if [%i - 2 >= 0, %i mod 2 == 0] {
          %n = arith.negf %x : f32
          tir.store %n, %y[%i] : memref<5xf32>
        }
      }
    }"""
    np.testing.assert_array_equal(run(text, f32(1, 2, 3, 4, 5)), [1, 2, -3, 4, -5])


SUMS = """
tir.func @f(%n: index, %k: index, %X: memref<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>},
            %y: memref<?xf32> {te.shape = #te.map<(d0, d1) -> (d0)>}) attributes {outputs = 1 : i64} {
  tir.for %io = 0 to min [(%n + 3) floordiv 4] "io" {
    tir.for %r = 0 to min [%k] reduction "r" {
      tir.for %ii = 0 to 4 "ii" {
        tir.block "y" WHERE init {
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %y[%io * 4 + %ii] : memref<?xf32>
        } do {
          %acc = tir.load %y[%io * 4 + %ii] : memref<?xf32>
          %x = tir.load %X[%io * 4 + %ii, %r] : memref<?x?xf32>
          %s = arith.addf %acc, %x : f32
          tir.store %s, %y[%io * 4 + %ii] : memref<?xf32>
        }
      }
    }
  }
}"""
WHERE = "where [%n - %io * 4 - %ii - 1 >= 0]"


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (3, 0), (4, 2), (5, 3), (9, 4)])
def test_a_predicate_keeps_a_block_within_its_sizes(shape: tuple[int, int]) -> None:
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    expected = x.sum(1)
    np.testing.assert_array_equal(run(SUMS.replace("WHERE", WHERE), *shape, x), expected)
    np.testing.assert_array_equal(run(SUMS.replace("WHERE", WHERE), x), expected)  # the array tells the sizes
    module = parse(SUMS.replace("WHERE", WHERE))
    LowerBlocksPass().apply(CTX, module)
    (found,) = run_module(module, CTX, "f", {"X": x}).values()
    np.testing.assert_array_equal(found, expected)


def test_without_its_predicate_the_block_leaves_the_buffer() -> None:
    with pytest.raises(OutOfBoundsError, match=r"writes %y\[.*\] at \[5\], outside dimension 0 of extent 5.*%ii = 1"):
        run(SUMS.replace("WHERE", ""), np.ones((5, 3), np.float32))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ((5, 3, np.ones((5, 4), np.float32)), r"input 'X' has shape \[5, 4\], expected \[5, 3\]"),
        ((-1, 3, np.ones((5, 3), np.float32)), "-1 is no size"),
        ((2.5, 3, np.ones((5, 3), np.float32)), "a size is one integer"),
        ((np.ones(5, np.float32),), "input 'X': rank 1 given"),
    ],
)
def test_arrays_fit_the_sizes(inputs: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(SUMS.replace("WHERE", WHERE), *inputs)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (
            (5, 3, np.ones((5, 4), np.float32)),
            r"here of shape \[5, 3\], got float32 of shape \(5, 4\)",
        ),
        ((5, 3), "@f takes 3 inputs, got 2"),
        ((-5, 3, np.ones((5, 3), np.float32)), "argument 0 of @f is a size, got -5"),
    ],
)
def test_a_kernel_checks_what_it_is_given(inputs: tuple[Any, ...], message: str) -> None:
    func = next(op for op in parse(SUMS.replace("WHERE", WHERE)).walk() if isinstance(op, FuncOp))
    with pytest.raises(InputError, match=message):
        run_tir_func(func, inputs)


def test_a_buffer_is_as_large_as_its_sizes() -> None:
    text = """
    tir.func @f(%n: index, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64} {
      %t = tir.alloc "t" scope "global" [%n + 1, 2] : memref<?x2xf32>
      %x = arith.constant 3.0 : f32
      tir.for %i = 0 to min [%n] "i" {
        tir.store %x, %t[%i + SHIFT, 1] : memref<?x2xf32>
        %z = tir.load %t[%i + SHIFT, 1] : memref<?x2xf32>
        tir.store %z, %y[%i] : memref<?xf32>
      }
    }"""
    np.testing.assert_array_equal(run(text.replace("SHIFT", "1"), 4), [3, 3, 3, 3])
    with pytest.raises(OutOfBoundsError, match=r"%t\[%i \+ 2, 1\] at \[5, 1\], outside dimension 0 of extent 5"):
        run(text.replace("SHIFT", "2"), 4)


# -- indices out of bounds -------------------------------------------------------------------------------------


def test_an_index_out_of_bounds_is_reported_at_tir() -> None:
    text = """
    tir.func @f(%X: memref<2x4xf32>, %y: memref<2x4xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 2 "y.i" {
        tir.for %j = 0 to 4 "y.j" {
          tir.block "y" {
            %x = tir.load %X[%i, %j + 1] : memref<2x4xf32>
            tir.store %x, %y[%i, %j] : memref<2x4xf32>
          }
        }
      }
    }"""
    with pytest.raises(OutOfBoundsError) as e:
        run(text, np.zeros((2, 4), np.float32))
    assert str(e.value) == (
        'stage "y" reads %X[%i, %j + 1] at [0, 4], outside dimension 1 of extent 4, '
        'where %i = 0 of loop "y.i", %j = 3 of loop "y.j"'
    )


def test_an_index_out_of_bounds_is_reported_at_te() -> None:
    text = """
    te.func @f(%X: tensor<2x4xf32>) -> tensor<2x4xf32> {
      %y = te.compute "y" [2, 4] (%i, %j) : tensor<2x4xf32> {
        %x = te.read %X[%i, %j + 1] : tensor<2x4xf32>
        te.yield %x : f32
      }
      te.return %y : tensor<2x4xf32>
    }"""
    with pytest.raises(OutOfBoundsError) as e:
        run(text, np.zeros((2, 4), np.float32))
    message = str(e.value)
    assert 'te.compute "y" reads %X at %j + 1 = 4, outside dimension 1 of extent 4' in message and "%j = 3" in message


def test_a_store_out_of_bounds_names_its_lane() -> None:
    text = """
    tir.func @f(%y: memref<6xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 2 "i" {
        %x = arith.constant dense<1.0> : vector<4xf32>
        tir.store %x, %y[%i * 4 + lane] : memref<6xf32>, vector<4xf32>
      }
    }"""
    with pytest.raises(OutOfBoundsError, match=r"tir.store writes %y\[%i \* 4 \+ lane\] at \[6\].*lane = 2"):
        run(text)


# -- elements without a value ------------------------------------------------------------------------------------


def test_an_element_that_nothing_has_written_is_not_read() -> None:
    text = """
    tir.func @f(%y: memref<4xf32>) attributes {outputs = 1 : i64} {
      %t = tir.alloc "t" scope "global" : memref<4xf32>
      tir.for %i = 0 to 4 "i" {
        %x = tir.load %t[%i] : memref<4xf32>
        tir.store %x, %y[%i] : memref<4xf32>
      }
    }"""
    with pytest.raises(UninitialisedError, match=r'reads %t\[0\] before it is written, where %i = 0 of loop "i"'):
        run(text)


def test_outputs_are_written_entirely() -> None:
    text = """
    tir.func @f(%y: memref<2x4xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 4 "i" {
        %x = arith.constant 1.0 : f32
        tir.store %x, %y[0, %i] : memref<2x4xf32>
      }
    }"""
    with pytest.raises(UninitialisedError, match=r"@f never writes %y\[1, 0\]"):
        run(text)


def test_a_buffer_is_new_in_each_iteration() -> None:
    text = """
    tir.func @f(%y: memref<2xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 2 "i" {
        %t = tir.alloc "t" scope "register" : memref<1xf32>
        %x = arith.constant 1.0 : f32
        tir.store %x, %t[0] where [%i == 0] : memref<1xf32>
        %r = tir.load %t[0] : memref<1xf32>
        tir.store %r, %y[%i] : memref<2xf32>
      }
    }"""
    with pytest.raises(UninitialisedError, match=r"reads %t\[0\] .* %i = 1"):
        run(text)


# -- races -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["parallel", "vectorized"])
def test_two_iterations_must_not_write_one_element(kind: str) -> None:
    text = f"""
    tir.func @f(%y: memref<2xf32>) attributes {{outputs = 1 : i64}} {{
      tir.for %i = 0 to 4 {kind} "i" {{
        %x = arith.constant 1.0 : f32
        tir.store %x, %y[%i floordiv 2] : memref<2xf32>
      }}
    }}"""
    with pytest.raises(RaceError, match=r'loop "i" \(%i\) race: %y\[0\] is written by iterations 0 and 1'):
        run(text)


def test_a_race_within_a_loop_that_a_team_shares_out_names_the_loop() -> None:
    text = """
    tir.func @f(%y: memref<2xf32>) attributes {outputs = 1 : i64} {
      tir.team {
        tir.for %i = 0 to 4 parallel "y.i" {
          %x = arith.constant 1.0 : f32
          tir.store %x, %y[%i floordiv 2] : memref<2xf32>
        }
      }
    }"""
    with pytest.raises(RaceError, match=r'loop "y.i" \(%i\) race: %y\[0\] is written by iterations 0 and 1'):
        run(text)


def test_an_iteration_must_not_read_what_another_writes() -> None:
    text = """
    tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 4 parallel "i" {
        %x = tir.load %X[%i] : memref<4xf32>
        tir.store %x, %y[%i] : memref<4xf32>
        %z = tir.load %y[%i - 1] where [%i - 1 >= 0] : memref<4xf32>
      }
    }"""
    with pytest.raises(RaceError, match=r"%y\[0\] is written by iteration 0 and read by iteration 1"):
        run(text, f32(1, 2, 3, 4))


def test_an_element_that_others_have_read_must_not_be_written() -> None:
    text = """
    tir.func @f(%y: memref<4xf32>) attributes {outputs = 1 : i64} {
      %x = arith.constant 1.0 : f32
      tir.for %j = 0 to 4 "j" {
        tir.store %x, %y[%j] : memref<4xf32>
      }
      tir.for %i = 0 to 4 parallel "i" {
        %z = tir.load %y[3] : memref<4xf32>
        tir.store %z, %y[%i] : memref<4xf32>
      }
    }"""
    with pytest.raises(RaceError, match=r"%y\[3\] is read by several iterations and written by iteration 3"):
        run(text)


def test_a_buffer_of_the_iteration_is_its_own() -> None:
    text = """
    tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 4 parallel "i" {
        %t = tir.alloc "t" scope "global" : memref<1xf32>
        %x = tir.load %X[%i] : memref<4xf32>
        tir.store %x, %t[0] : memref<1xf32>
        %z = tir.load %t[0] : memref<1xf32>
        tir.store %z, %y[%i] : memref<4xf32>
      }
    }"""
    np.testing.assert_array_equal(run(text, f32(1, 2, 3, 4)), [1, 2, 3, 4])


# -- @main -----------------------------------------------------------------------------------------------------

KERNEL = """
tir.func @twice(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "i" {
    %x = tir.load %X[%i] : memref<4xf32>
    %s = arith.addf %x, %x : f32
    tir.store %s, %y[%i] : memref<4xf32>
  }
}
"""
MAIN = (
    KERNEL
    + """
func.func @main(%a: memref<4xf32> {lamina.name = "data"}, %r: memref<4xf32> {lamina.name = "result"})
    attributes {lamina.outputs = 1 : i64} {
  %arena = tir.alloc "arena" scope "global" : memref<64xi8>
  %t = tir.view %arena[32] : memref<64xi8> to memref<4xf32>
  tir.call @twice(%a, %t) : memref<4xf32>, memref<4xf32>
  %u = tir.view %arena[AT] : memref<64xi8> to memref<4xf32>
  tir.call @twice(%u, %r) : memref<4xf32>, memref<4xf32>
  func.return
}
"""
)


def test_views_of_an_arena_share_their_bytes() -> None:
    results = run_module(parse(MAIN.replace("AT", "32")), CTX, "main", {"data": f32(1, 2, 3, 4)})
    assert list(results) == ["result"]
    np.testing.assert_array_equal(results["result"], [4, 8, 12, 16])


def test_what_an_external_function_gives_is_written_in_the_arena(monkeypatch: pytest.MonkeyPatch) -> None:
    outside = """
func.func private @outside(memref<4xf32>, memref<4xf32>) -> ()
    attributes {Compiler = "of_a_test", code = "", constants = [], outputs = 1 : i64}
"""
    text = MAIN.replace("AT", "32").replace("@twice(%a, %t)", "@outside(%a, %t)") + outside

    def add_one(_: Any, arrays: list[Any], store: Any) -> list[Any]:
        return [arrays[0] + 1]

    monkeypatch.setattr("lamina.driver.execute.run_declared", add_one)
    results = run_module(parse(text), CTX, "main", {"data": f32(1, 2, 3, 4)})
    np.testing.assert_array_equal(results["result"], [4, 6, 8, 10])


def test_a_view_of_unwritten_bytes_is_not_read() -> None:
    with pytest.raises(UninitialisedError, match="reads %u.0., which nothing has written"):
        run_module(parse(MAIN.replace("AT", "16")), CTX, "main", [f32(1, 2, 3, 4)])


def test_a_view_lies_inside_its_arena() -> None:
    with pytest.raises(InputError, match="%u ends at byte 76 of an arena of 64"):
        run_module(parse(MAIN.replace("AT", "60")), CTX, "main", [f32(1, 2, 3, 4)])


ROWS = """
tir.func @twice(%n: index, %X: memref<?x2xf32> {te.shape = #te.map<(d0) -> (d0, 2)>},
    %y: memref<?x2xf32> {te.shape = #te.map<(d0) -> (d0, 2)>}) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to min [%n] "i" {
    tir.for %j = 0 to 2 "j" {
      %x = tir.load %X[%i, %j] : memref<?x2xf32>
      %s = arith.addf %x, %x : f32
      tir.store %s, %y[%i, %j] : memref<?x2xf32>
    }
  }
}
func.func @main(%n: index, %m: index, %a: memref<2x?xf32> {te.shape = #te.map<(d0, d1) -> (2, d0)>},
    %r: memref<2x?xf32> {te.shape = #te.map<(d0, d1) -> (2, d0)>}) attributes {lamina.outputs = 1 : i64} {
  %t = tir.alloc "t" scope "global" [%n * 2] : memref<?xf32>
  tir.call @twice(%m, %a, %t) : index, memref<2x?xf32>, memref<?xf32>
  tir.call @twice(%m, %t, %r) : index, memref<?xf32>, memref<2x?xf32>
  func.return
}
"""


def test_a_kernel_takes_a_buffer_of_another_shape_with_as_many_elements() -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    three, two = np.array(3), np.array(2)
    (found,) = run_module(parse(ROWS), CTX, "main", [three, three, a]).values()
    np.testing.assert_array_equal(found, 4 * a)
    with pytest.raises(InputError, match="call of @twice: %X of 4 elements is given 6"):
        run_module(parse(ROWS), CTX, "main", [three, two, a])


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"date": f32(1, 2, 3, 4)}, "no input 'date'; did you mean 'data'?"),
        ({}, "no array is given for the input 'data'"),
        ({"data": f32(1)}, r"'data' has shape \[1\], expected \[4\]"),
        ({"data": np.zeros((4, 1), np.float32)}, "'data' has rank 2, expected 1"),
        ({"data": np.zeros(4)}, "'data' is float64, expected float32"),
        ([f32(1, 2, 3, 4)] * 2, r"1 inputs are expected \(data\), 2 are given"),
    ],
)
def test_wrong_inputs_are_named_before_anything_runs(inputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run_module(parse(MAIN.replace("AT", "32")), CTX, "main", inputs)


def test_an_unknown_entry_is_named() -> None:
    with pytest.raises(UsageError, match="no function @mian in the module; did you mean 'main'"):
        run_module(parse(MAIN.replace("AT", "32")), CTX, "mian", [])
