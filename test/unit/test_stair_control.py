"""tir.if, loops with tails and register buffers as machine code: what a branch leaves in registers is joined."""

from __future__ import annotations

import numpy as np
import pytest

from . import tir_kernels as kernels


def ran(text: str, *arrays: np.ndarray) -> np.ndarray:
    """The output of @f as machine code; the interpreter says the same."""
    module = kernels.parse(text)
    (found,) = kernels.execute(module, arrays)
    (wanted,) = kernels.interpret(module, arrays)
    np.testing.assert_array_equal(found, wanted)
    return found


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def test_an_if_runs_where_its_conditions_hold() -> None:
    text = """
    tir.func @f(%X: memref<4x4xi32>, %y: memref<4x4xi32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 4 "i" {
        tir.for %j = 0 to 4 "j" {
          %x = tir.load %X[%i, %j] : memref<4x4xi32>
          tir.store %x, %y[%i, %j] : memref<4x4xi32>
          tir.if [%i - %j - 1 >= 0, %j mod 2 == 0] {
            %n = arith.addi %x, %x : i32
            tir.store %n, %y[%i, %j] : memref<4x4xi32>
          }
        }
      }
    }"""
    x = np.arange(1, 17, dtype=np.int32).reshape(4, 4)
    i, j = np.indices((4, 4))
    np.testing.assert_array_equal(ran(text, x), np.where((i > j) & (j % 2 == 0), 2 * x, x))


def test_what_was_loaded_before_a_store_under_a_condition_is_loaded_again() -> None:
    text = """
    tir.func @f(%X: memref<3xi32>, %y: memref<3xi32>) attributes {outputs = 1 : i64} {
      %s = tir.alloc "s" scope "global" : memref<1xi32>
      tir.for %i = 0 to 3 "i" {
        %x = tir.load %X[%i] : memref<3xi32>
        tir.store %x, %s[0] : memref<1xi32>
        %a = tir.load %s[0] : memref<1xi32>
        tir.if [%i - 1 == 0] {
          %t = arith.addi %a, %a : i32
          tir.store %t, %s[0] : memref<1xi32>
        }
        %b = tir.load %s[0] : memref<1xi32>
        tir.store %b, %y[%i] : memref<3xi32>
      }
    }"""
    np.testing.assert_array_equal(ran(text, ints(5, 6, 7)), [5, 12, 7])


def test_a_register_written_under_a_condition_keeps_its_value_elsewhere() -> None:
    text = """
    tir.func @f(%X: memref<6xi32>, %y: memref<2xi32>) attributes {outputs = 1 : i64} {
      %acc = tir.alloc "acc" scope "register" : memref<2xi32>
      %zero = arith.constant 0 : i32
      tir.for %u = 0 to 2 unrolled "u" {
        tir.store %zero, %acc[%u] : memref<2xi32>
      }
      tir.for %k = 0 to 6 reduction "k" {
        %x = tir.load %X[%k] : memref<6xi32>
        tir.for %v = 0 to 2 unrolled "v" {
          tir.if [%k mod 2 - %v == 0] {
            %a = tir.load %acc[%v] : memref<2xi32>
            %s = arith.addi %a, %x : i32
            tir.store %s, %acc[%v] : memref<2xi32>
          }
        }
      }
      tir.for %w = 0 to 2 unrolled "w" {
        %r = tir.load %acc[%w] : memref<2xi32>
        tir.store %r, %y[%w] : memref<2xi32>
      }
    }"""
    np.testing.assert_array_equal(ran(text, ints(1, 20, 3, 40, 5, 60)), [9, 120])


def test_a_register_first_written_under_a_condition_lives_on_in_later_iterations() -> None:
    text = """
    tir.func @f(%X: memref<4xi32>, %y: memref<4xi32>) attributes {outputs = 1 : i64} {
      %r = tir.alloc "r" scope "register" : memref<1xi32>
      tir.for %i = 0 to 4 "i" {
        tir.if [%i == 0] {
          %x = tir.load %X[3] : memref<4xi32>
          tir.store %x, %r[0] : memref<1xi32>
        }
        %v = tir.load %r[0] : memref<1xi32>
        tir.store %v, %y[%i] : memref<4xi32>
      }
    }"""
    np.testing.assert_array_equal(ran(text, ints(1, 2, 3, 4)), [4, 4, 4, 4])


def test_a_register_written_in_a_loop_that_may_be_empty_lives_on() -> None:
    text = """
    tir.func @f(%X: memref<4xi32>, %y: memref<4xi32>) attributes {outputs = 1 : i64} {
      %r = tir.alloc "r" scope "register" : memref<1xi32>
      tir.for %i = 0 to 4 "i" {
        tir.for %k = 0 to 2 min [1 - %i] "k" {
          %x = tir.load %X[%i] : memref<4xi32>
          tir.store %x, %r[0] : memref<1xi32>
        }
        %v = tir.load %r[0] : memref<1xi32>
        tir.store %v, %y[%i] : memref<4xi32>
      }
    }"""
    np.testing.assert_array_equal(ran(text, ints(7, 2, 3, 4)), [7, 7, 7, 7])


def test_an_unrolled_loop_may_have_a_tail() -> None:
    text = """
    tir.func @f(%X: memref<10xi32>, %y: memref<10xi32>) attributes {outputs = 1 : i64} {
      tir.for %o = 0 to 3 "o" {
        tir.for %i = 0 to 4 min [%o * -4 + 10] unrolled "i" {
          %x = tir.load %X[%o * 4 + %i] : memref<10xi32>
          tir.store %x, %y[%o * 4 + %i] : memref<10xi32>
        }
      }
    }"""
    x = np.arange(10, dtype=np.int32)
    np.testing.assert_array_equal(ran(text, x), x)


def test_loops_and_vectors_stand_under_conditions() -> None:
    text = """
    tir.func @f(%X: memref<4x8xi32>, %y: memref<4x4xi32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 4 "i" {
        %acc = tir.alloc "acc" scope "register" : memref<4xi32>
        %zero = arith.constant dense<0> : vector<4xi32>
        tir.store %zero, %acc[lane] : memref<4xi32>, vector<4xi32>
        tir.if [%i - 1 >= 0] {
          tir.for %k = 0 to 2 reduction "k" {
            tir.if [%i + %k - 3 >= 0] {
              %x = tir.load %X[%i, %k * 4 + lane] : memref<4x8xi32>, vector<4xi32>
              %a = tir.load %acc[lane] : memref<4xi32>, vector<4xi32>
              %s = arith.addi %a, %x : vector<4xi32>
              tir.store %s, %acc[lane] : memref<4xi32>, vector<4xi32>
            }
          }
        }
        %r = tir.load %acc[lane] : memref<4xi32>, vector<4xi32>
        tir.store %r, %y[%i, lane] : memref<4x4xi32>, vector<4xi32>
      }
    }"""
    x = np.arange(32, dtype=np.int32).reshape(4, 8)
    expected = np.zeros((4, 4), np.int32)
    expected[2] = x[2, 4:]
    expected[3] = x[3, :4] + x[3, 4:]
    np.testing.assert_array_equal(ran(text, x), expected)


@pytest.mark.parametrize("condition", ["%i - 2 >= 0", "%i == 0"])
def test_scalars_and_vectors_share_a_register_buffer(condition: str) -> None:
    """A vector over scalars, a scalar into a vector, and a loop that ends in another layout than it began with."""
    text = """
    tir.func @f(%X: memref<4x4xi32>, %y: memref<4x4xi32>) attributes {outputs = 1 : i64} {
      %r = tir.alloc "r" scope "register" : memref<4xi32>
      tir.for %u = 0 to 4 unrolled "u" {
        %x = tir.load %X[0, %u] : memref<4x4xi32>
        tir.store %x, %r[%u] : memref<4xi32>
      }
      tir.for %i = 0 to 4 "i" {
        %v = tir.load %r[lane] : memref<4xi32>, vector<4xi32>
        %x = tir.load %X[%i, lane] : memref<4x4xi32>, vector<4xi32>
        %s = arith.addi %v, %x : vector<4xi32>
        tir.if [CONDITION] {
          tir.store %s, %r[lane] : memref<4xi32>, vector<4xi32>
          %one = arith.constant 1 : i32
          tir.store %one, %r[2] : memref<4xi32>
        }
        tir.for %w = 0 to 4 unrolled "w" {
          %e = tir.load %r[%w] : memref<4xi32>
          tir.store %e, %y[%i, %w] : memref<4x4xi32>
        }
      }
    }"""
    ran(text.replace("CONDITION", condition), np.arange(16, dtype=np.int32).reshape(4, 4))


def test_a_check_under_a_condition_is_not_asked_elsewhere() -> None:
    text = """
    tir.func @f(%X: memref<3xi32>, %y: memref<3xi32>) attributes {outputs = 1 : i64} {
      %zero = arith.constant 0 : i32
      tir.for %i = 0 to 3 "i" {
        %x = tir.load %X[%i] : memref<3xi32>
        tir.store %x, %y[%i] : memref<3xi32>
        tir.if [%i - 1 >= 0] {
          %ok = arith.cmpi ne, %x, %zero : i32
          %d = tir.check %x, %ok "division by zero" : i32
          %q = arith.divsi %d, %d : i32
          tir.store %q, %y[%i] : memref<3xi32>
        }
      }
    }"""
    np.testing.assert_array_equal(ran(text, ints(0, 5, 6)), [0, 1, 1])


def test_an_unrolled_loop_of_no_iteration_leaves_nothing() -> None:
    text = """
    tir.func @f(%X: memref<2xi32>, %y: memref<2xi32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 2 "i" {
        %x = tir.load %X[%i] : memref<2xi32>
        tir.store %x, %y[%i] : memref<2xi32>
        tir.for %u = 0 to 0 unrolled "u" {
          tir.store %x, %y[0] : memref<2xi32>
        }
      }
    }"""
    np.testing.assert_array_equal(ran(text, ints(3, 4)), [3, 4])


def test_lanes_of_a_register_buffer_need_not_be_neighbours() -> None:
    text = """
    tir.func @f(%X: memref<8xi32>, %y: memref<3x8xi32>) attributes {outputs = 1 : i64} {
      %r = tir.alloc "r" scope "register" : memref<4x2xi32>
      tir.for %i = 0 to 3 "i" {
        tir.for %u = 0 to 2 unrolled "u" {
          %x = tir.load %X[lane + %u * 4] : memref<8xi32>, vector<4xi32>
          tir.store %x, %r[lane, %u] where [%i + lane - 1 >= 0] : memref<4x2xi32>, vector<4xi32>
        }
        tir.for %w = 0 to 2 unrolled "w" {
          %e = tir.load %r[3 - lane, %w] where [2 - lane >= 0] : memref<4x2xi32>, vector<4xi32>
          tir.store %e, %y[%i, lane + %w * 4] : memref<3x8xi32>, vector<4xi32>
        }
      }
    }"""
    x = np.arange(1, 9, dtype=np.int32)
    row = np.concatenate([x[3::-1], x[:3:-1]])
    row[[3, 7]] = 0
    np.testing.assert_array_equal(ran(text, x), [row] * 3)
