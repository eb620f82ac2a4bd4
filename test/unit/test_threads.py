"""GPU threads simulated: who runs what, memory of blocks and threads, barriers, and the races that lack one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

from lamina.dialects.tir.ops import FuncOp
from lamina.errors import InputError
from lamina.interpreters.accesses import OutOfBoundsError
from lamina.interpreters.tir_interpreter import run_tir_func
from lamina.interpreters.tir_memory import RaceError, UninitialisedError
from lamina.interpreters.tir_threads import BarrierError
from lamina.ir.context import LaminaContext


def run(text: str, *inputs: Any) -> np.ndarray[Any, Any]:
    module = Parser(LaminaContext(), text).parse_module()
    module.verify()
    (func,) = (op for op in module.walk() if isinstance(op, FuncOp))
    return run_tir_func(func, inputs, "written")[0]


def floats(*shape: int) -> np.ndarray[Any, Any]:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


BARRIER = 'tir.barrier "shared"'

# A row of 8 is summed by 8 threads: each step adds the upper half of what is left to the lower.
REDUCTION = """
tir.func @f(%X: memref<3x8xf32>, %y: memref<3xf32>) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to 3 thread "blockIdx.x" "b" {
    %s = tir.alloc "s" scope "shared" : memref<8xf32>
    tir.for %t = 0 to 8 thread "threadIdx.x" "t" {
      %x = tir.load %X[%b, %t] : memref<3x8xf32>
      tir.store %x, %s[%t] : memref<8xf32>
      FIRST
      tir.for %k = 0 to 3 "k" {
        tir.if [%t * -1 + 3 - %k * 2 + (%k + 1) floordiv 3 >= 0] {
          %a = tir.load %s[%t] : memref<8xf32>
          %h = tir.load %s[%t + 4 - %k * 2 + %k floordiv 2] : memref<8xf32>
          %c = arith.addf %a, %h : f32
          tir.store %c, %s[%t] : memref<8xf32>
        }
        SECOND
      }
      tir.if [%t == 0] {
        %a = tir.load %s[0] : memref<8xf32>
        tir.store %a, %y[%b] : memref<3xf32>
      }
    }
  }
}"""


def reduction(first: str = BARRIER, second: str = BARRIER) -> np.ndarray[Any, Any]:
    return run(REDUCTION.replace("FIRST", first).replace("SECOND", second), floats(3, 8))


def test_a_reduction_with_barriers_is_right() -> None:
    np.testing.assert_array_equal(reduction(), floats(3, 8).sum(1))


def test_a_missing_barrier_in_a_loop_is_a_race() -> None:
    with pytest.raises(RaceError, match=r"%s\[\d\] is .* by thread \(blockIdx.x = 0, threadIdx.x = \d\)"):
        reduction(second="")


def test_without_a_barrier_a_thread_does_not_see_what_later_ones_write() -> None:
    with pytest.raises(UninitialisedError, match=r"reads %s\[4\] before it is written.*%t = 0 of loop \"t\""):
        reduction(first="")


DIVERGENT = """
tir.func @f(%y: memref<4xi32>) attributes {{outputs = 1 : i64}} {{
  %one = arith.constant 1 : i32
  tir.for %t = 0 to 4 thread "threadIdx.x" "t" {{
    tir.store %one, %y[%t] : memref<4xi32>
    {body}
  }}
}}"""


def test_a_barrier_that_a_thread_never_reaches_names_barrier_and_thread() -> None:
    with pytest.raises(BarrierError) as e:
        run(DIVERGENT.format(body=f"tir.if [%t - 2 >= 0] {{ {BARRIER} }}"))
    assert str(e.value) == (
        'tir.barrier "shared" is reached by thread (threadIdx.x = 2), but not by thread (threadIdx.x = 0), '
        "which has ended"
    )
    assert e.value.op is not None and e.value.op.name == "tir.barrier"


def test_threads_do_not_meet_at_two_barriers() -> None:
    body = f"tir.if [%t - 2 >= 0] {{ {BARRIER} }} tir.if [%t * -1 + 1 >= 0] {{ {BARRIER} }}"
    with pytest.raises(BarrierError, match=r"thread \(threadIdx.x = 0\), while thread \(threadIdx.x = 2\) waits at"):
        run(DIVERGENT.format(body=body))


def test_threads_do_not_meet_in_different_iterations() -> None:
    body = f'tir.for %k = 0 to 2 "k" {{ tir.if [%k - %t floordiv 3 == 0] {{ {BARRIER} }} }}'
    with pytest.raises(BarrierError, match=r"threads \(threadIdx.x = 0\) and \(threadIdx.x = 3\) in different iter"):
        run(DIVERGENT.format(body=body))


def test_a_loop_shorter_than_its_axis_leaves_threads_idle() -> None:
    body = f'tir.for %u = 0 to 2 thread "threadIdx.x" "u" {{ {BARRIER} }}'
    with pytest.raises(BarrierError, match=r"but not by thread \(threadIdx.x = 2\)"):
        run(DIVERGENT.format(body=body))


def test_a_loop_shorter_than_its_axis_runs_in_the_first_threads() -> None:
    text = f"""
    tir.func @f(%X: memref<8xf32>, %y: memref<8xf32>) {{
      tir.for %b = 0 to 1 thread "blockIdx.x" "b" {{
        %s = tir.alloc "s" scope "shared" : memref<8xf32>
        tir.for %u = 0 to 3 thread "threadIdx.x" "u" {{
          %zero = arith.constant 0.0 : f32
          tir.store %zero, %s[%u] : memref<8xf32>
        }}
        tir.for %t = 0 to 8 thread "threadIdx.x" "t" {{
          %x = tir.load %X[%t] : memref<8xf32>
          tir.store %x, %s[%t] where [%t - 3 >= 0] : memref<8xf32>
          {BARRIER}
          %v = tir.load %s[%t * -1 + 7] : memref<8xf32>
          tir.store %v, %y[%t] : memref<8xf32>
        }}
      }}
    }}"""
    np.testing.assert_array_equal(run(text, floats(8)), [7, 6, 5, 4, 3, 0, 0, 0])


def test_loops_over_one_axis_are_the_same_threads() -> None:
    text = """
    tir.func @f(%X: memref<2x4xf32>, %y: memref<2x4xf32>) attributes {outputs = 1 : i64} {
      tir.for %b = 0 to 2 thread "blockIdx.x" "b" {
        %s = tir.alloc "s" scope "shared" : memref<4xf32>
        tir.for %t = 0 to 4 thread "threadIdx.x" "t" {
          %x = tir.load %X[%b, %t] : memref<2x4xf32>
          tir.store %x, %s[%t] : memref<4xf32>
        }
        BETWEEN
        tir.for %u = 0 to 4 thread "threadIdx.x" "u" {
          %x = tir.load %s[PLACE] : memref<4xf32>
          tir.store %x, %y[%b, %u] : memref<2x4xf32>
        }
      }
    }"""
    own = text.replace("PLACE", "%u").replace("BETWEEN", "")
    np.testing.assert_array_equal(run(own, floats(2, 4)), floats(2, 4))
    other = text.replace("PLACE", "%u * -1 + 3")
    np.testing.assert_array_equal(run(other.replace("BETWEEN", BARRIER), floats(2, 4)), floats(2, 4)[:, ::-1])
    with pytest.raises((RaceError, UninitialisedError)):
        run(other.replace("BETWEEN", ""), floats(2, 4))


def test_each_outermost_nest_is_a_launch_of_its_own() -> None:
    text = """
    tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
      %t = tir.alloc "t" scope "global" : memref<4xf32>
      tir.for %a = 0 to 4 thread "blockIdx.x" "a" {
        %x = tir.load %X[%a] : memref<4xf32>
        tir.store %x, %t[%a] : memref<4xf32>
      }
      tir.for %b = 0 to 4 thread "blockIdx.x" "b" {
        %x = tir.load %t[%b * -1 + 3] : memref<4xf32>
        tir.store %x, %y[%b] : memref<4xf32>
      }
    }"""
    np.testing.assert_array_equal(run(text, floats(4)), [3, 2, 1, 0])


@pytest.mark.parametrize(
    ("index", "found"),
    [("%b", None), ("%b * -1 + 1", r"written by thread \(blockIdx.x = 0\) and read by thread \(blockIdx.x = 1\)")],
)
def test_blocks_are_in_no_order(index: str, found: str | None) -> None:
    text = f"""
    tir.func @f(%X: memref<2xf32>, %y: memref<2xf32>) attributes {{outputs = 1 : i64}} {{
      tir.for %b = 0 to 2 thread "blockIdx.x" "b" {{
        %x = tir.load %X[%b] : memref<2xf32>
        tir.store %x, %y[%b] : memref<2xf32>
        tir.if [%b - 1 >= 0] {{
          %z = tir.load %y[{index}] : memref<2xf32>
        }}
      }}
    }}"""
    if found is None:
        run(text, floats(2))
    else:
        with pytest.raises(RaceError, match=found):
            run(text, floats(2))


def test_a_barrier_does_not_order_blocks() -> None:
    text = f"""
    tir.func @f(%y: memref<1xf32>) attributes {{outputs = 1 : i64}} {{
      %x = arith.constant 1.0 : f32
      tir.for %b = 0 to 2 thread "blockIdx.x" "b" {{
        {BARRIER}
        tir.store %x, %y[0] : memref<1xf32>
        {BARRIER}
      }}
    }}"""
    with pytest.raises(RaceError, match=r"written by thread \(blockIdx.x = 0\) and by thread \(blockIdx.x = 1\)"):
        run(text)


def test_what_stands_beside_the_loops_is_done_by_all_threads() -> None:
    text = """
    tir.func @f(%X: memref<2xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
      tir.for %b = 0 to 2 thread "blockIdx.x" "b" {
        %x = tir.load %X[%b] : memref<2xf32>
        %r = tir.alloc "r" scope "local" : memref<1xf32>
        tir.store %x, %r[0] : memref<1xf32>
        tir.for %t = 0 to 4 thread "threadIdx.x" "t" {
          %z = tir.load %r[0] : memref<1xf32>
          tir.if [%t - 3 == 0] {
            tir.store %z, %y[%b] : memref<2xf32>
          }
        }
      }
    }"""
    np.testing.assert_array_equal(run(text, floats(2)), [0, 1])
    with pytest.raises(RaceError, match=r"thread \(blockIdx.x = 0, threadIdx.x = 0\) and by thread \(.*x = 1\)"):
        run(text.replace("tir.if [%t - 3 == 0]", "tir.if [%t >= 0]"), floats(2))


def test_shared_memory_inside_the_threads_is_one_buffer_for_the_block() -> None:
    text = f"""
    tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {{outputs = 1 : i64}} {{
      tir.for %t = 0 to 4 thread "threadIdx.x" "t" {{
        %s = tir.alloc "s" scope "SCOPE" : memref<4xf32>
        %x = tir.load %X[%t] : memref<4xf32>
        tir.store %x, %s[%t] : memref<4xf32>
        {BARRIER}
        %z = tir.load %s[%t * -1 + 3] : memref<4xf32>
        tir.store %z, %y[%t] : memref<4xf32>
      }}
    }}"""
    np.testing.assert_array_equal(run(text.replace("SCOPE", "shared"), floats(4)), [3, 2, 1, 0])
    for scope in ("local", "global", "register"):
        with pytest.raises(UninitialisedError, match=r"reads %s\[3\] before"):
            run(text.replace("SCOPE", scope), floats(4))


TILES = """
tir.func @f(%X: memref<3x4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %t = 0 to 4 thread "threadIdx.x" "t" {
    %acc = tir.alloc "acc" scope "local" : memref<1xf32>
    %zero = arith.constant 0.0 : f32
    tir.store %zero, %acc[0] : memref<1xf32>
    tir.for %k = 0 to 3 "k" {
      %s = tir.alloc "s" scope "shared" : memref<4xf32>
      %x = tir.load %X[%k, %t] : memref<3x4xf32>
      tir.store %x, %s[%t] : memref<4xf32>
      tir.barrier "shared"
      %z = tir.load %s[%t * -1 + 3] : memref<4xf32>
      %a = tir.load %acc[0] : memref<1xf32>
      %b = arith.addf %a, %z : f32
      tir.store %b, %acc[0] : memref<1xf32>
      AGAIN
    }
    %r = tir.load %acc[0] : memref<1xf32>
    tir.store %r, %y[%t] : memref<4xf32>
  }
}"""


def test_the_next_iteration_overwrites_what_others_still_read() -> None:
    np.testing.assert_array_equal(run(TILES.replace("AGAIN", BARRIER), floats(3, 4)), floats(3, 4).sum(0)[::-1])
    with pytest.raises(
        RaceError, match=r"%s\[1\] is written by thread \(threadIdx.x = 1\) and read by thread .*= 2\), no"
    ):
        run(TILES.replace("AGAIN", ""), floats(3, 4))


def test_shared_memory_holds_nothing_at_the_start_of_an_iteration() -> None:
    text = TILES.replace("AGAIN", BARRIER).replace(
        "tir.store %x, %s[%t] : memref<4xf32>",
        "tir.if [%k == 0] { tir.store %x, %s[%t] : memref<4xf32> }",
    )
    with pytest.raises(UninitialisedError, match=r"reads %s\[3\] .*%k = 1"):
        run(text, floats(3, 4))


def test_warp_barriers_hold_groups_of_32_together() -> None:
    text = """
    tir.func @f(%y: memref<64xi32>) attributes {outputs = 1 : i64} {
      tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
        %s = tir.alloc "s" scope "shared" : memref<64xi32>
        %one = arith.constant 1 : i32
        tir.store %one, %s[%t] : memref<64xi32>
        tir.barrier "warp"
        %z = tir.load %s[(%t + SHIFT) mod 64] : memref<64xi32>
        tir.store %z, %y[%t] : memref<64xi32>
      }
    }"""
    same_warp = text.replace("(%t + SHIFT) mod 64", "%t floordiv 32 * 32 + (%t + 5) mod 32")
    assert run(same_warp).sum() == 64
    with pytest.raises((RaceError, UninitialisedError)):
        run(text.replace("SHIFT", "5"))
    other_way = text.replace("(%t + SHIFT) mod 64", "%t floordiv 32 * -1 + %t")  # warp 1 reads warp 0's element 31
    with pytest.raises(RaceError, match=r"threadIdx.x = 31\) and read by thread \(threadIdx.x = 32\)"):
        run(other_way)


VIRTUAL = """
tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %t = 0 to 2 thread "threadIdx.x" "t" {
    %s = tir.alloc "s" scope "shared" : memref<4xf32>
    %sum = tir.alloc "sum" scope "local" : memref<2xf32>
    tir.for %v = 0 to 2 thread "vthread" "v" {
      %own = tir.alloc "own" scope "local" : memref<1xf32>
      %x = tir.load %X[%v * 2 + %t] : memref<4xf32>
      tir.store %x, %own[0] : memref<1xf32>
      tir.store %x, %s[%v * 2 + %t] : memref<4xf32>
      MEET
      %z = tir.load %s[%v * -2 - %t + 3] : memref<4xf32>
      %w = tir.load %own[0] : memref<1xf32>
      %d = arith.subf %z, %w : f32
      tir.store %d, %sum[PLACE] : memref<2xf32>
    }
    tir.for %u = 0 to 2 "u" {
      %d = tir.load %sum[%u] : memref<2xf32>
      tir.store %d, %y[%u * 2 + %t] : memref<4xf32>
    }
  }
}"""


def test_virtual_threads_go_from_barrier_to_barrier_within_a_thread() -> None:
    text = VIRTUAL.replace("PLACE", "%v")
    np.testing.assert_array_equal(run(text.replace("MEET", BARRIER), floats(4)), [3, 1, -1, -3])
    with pytest.raises((RaceError, UninitialisedError)):
        run(text.replace("MEET", ""), floats(4))
    with pytest.raises(BarrierError, match='not reached by all iterations of loop "v"'):
        run(text.replace("MEET", f"{BARRIER} tir.if [%v == 0] {{ {BARRIER} }}"), floats(4))
    with pytest.raises(RaceError, match=r'loop "v" \(%v\) race: %sum\[0\] is written by iterations 0 and 1'):
        run(VIRTUAL.replace("PLACE", "0").replace("MEET", BARRIER), floats(4))


SYMBOLIC = """
tir.func @f(%n: index, %X: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>},
            %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64} {
  tir.for %b = 0 to min [(%n + 63) floordiv 64] thread "blockIdx.x" "b" {
    tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
      tir.block "y" GUARD {
        %x = tir.load %X[%b * 64 + %t] : memref<?xf32>
        %s = arith.addf %x, %x : f32
        tir.store %s, %y[%b * 64 + %t] : memref<?xf32>
      }
    }
  }
}"""


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 200])
def test_a_vector_addition_is_right_for_every_size(n: int) -> None:
    text = SYMBOLIC.replace("GUARD", "where [%n - %b * 64 - %t - 1 >= 0]")
    np.testing.assert_array_equal(run(text, n, floats(n)), floats(n) * 2)


def test_a_missing_guard_is_an_index_out_of_bounds() -> None:
    with pytest.raises(OutOfBoundsError, match=r"at \[65\], outside dimension 0 of extent 65.*%b = 1 .*%t = 1"):
        run(SYMBOLIC.replace("GUARD", ""), 65, floats(65))


def test_the_extent_of_an_axis_is_known_at_the_launch() -> None:
    text = """
    tir.func @f(%y: memref<4xf32>) attributes {outputs = 1 : i64} {
      tir.for %b = 0 to 2 thread "blockIdx.x" "b" {
        tir.for %t = 0 to min [%b] thread "threadIdx.x" "t" { }
      }
    }"""
    with pytest.raises(InputError, match=r'extent of loop "t" \(threadIdx.x\) is not known when its threads start'):
        run(text)


def test_a_barrier_outside_of_threads_is_refused() -> None:
    with pytest.raises(InputError, match='tir.barrier "shared" stands outside of any loop of threads'):
        run('tir.func @f() attributes {outputs = 0 : i64} { tir.barrier "shared" }')


# -- kernels as schedules leave them: the barriers are implied -----------------------------------------------------


def run_without(text: str, *inputs: Any) -> np.ndarray[Any, Any]:
    module = Parser(LaminaContext(), text).parse_module()
    module.verify()
    (func,) = (op for op in module.walk() if isinstance(op, FuncOp))
    return run_tir_func(func, inputs)[0]


def test_threads_meet_between_statements_where_no_barrier_is_written() -> None:
    alloc = '%s = tir.alloc "s" scope "shared" : memref<4xf32>'
    axis = 'tir.for %t = 0 to 4 thread "threadIdx.x" "t" {'
    text = TILES.replace("AGAIN", "").replace(BARRIER, "").replace(alloc, "").replace(axis, f"{alloc} {axis}")
    for tag in ("threadIdx.x", "vthread"):
        found = run_without(text.replace("threadIdx.x", tag), floats(3, 4))
        np.testing.assert_array_equal(found, floats(3, 4).sum(0)[::-1])
    tree = REDUCTION.replace("FIRST", "").replace("SECOND", "")
    np.testing.assert_array_equal(run_without(tree, floats(3, 8)), floats(3, 8).sum(1))
    # A condition that differs by thread is one statement: one thread writes in it what another one reads.
    neighbour = tree.replace("%s[%t + 4 - %k * 2 + %k floordiv 2]", "%s[%t + 1]")
    with pytest.raises(RaceError, match=r'loop "t" \(%t\) race: %s\[1\] is read by several iterations and'):
        run_without(neighbour, floats(3, 8))


def test_what_stands_beside_the_loops_is_done_once() -> None:
    text = """
    tir.func @f(%X: memref<2xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
      tir.for %b = 0 to 2 thread "blockIdx.x" "b" {
        %r = tir.alloc "r" scope "global" : memref<4xf32>
        tir.for %t = 0 to 4 thread "threadIdx.x" "t" {
          %x = tir.load %X[%b] : memref<2xf32>
          tir.store %x, %r[%t] : memref<4xf32>
        }
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %y[%b] : memref<2xf32>
        tir.for %k = 0 to 4 "k" {
          %a = tir.load %y[%b] : memref<2xf32>
          %x = tir.load %r[%k] : memref<4xf32>
          %s = arith.addf %a, %x : f32
          tir.store %s, %y[%b] : memref<2xf32>
        }
      }
    }"""
    np.testing.assert_array_equal(run_without(text, floats(2)), [0, 4])


@pytest.mark.parametrize(("value", "races"), [("%x", False), ("%own", True)])
def test_threads_may_fetch_the_same_together(value: str, races: bool) -> None:
    text = f"""
    tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {{outputs = 1 : i64}} {{
      %s = tir.alloc "s" scope "shared" : memref<4xf32>
      tir.for %t = 0 to 4 thread "threadIdx.x" "t" {{
        tir.for %u = 0 to 4 thread "threadIdx.x" "u" {{
          %x = tir.load %X[%u] : memref<4xf32>
          %own = tir.load %X[%t] : memref<4xf32>
          tir.store {value}, %s[%u] : memref<4xf32>
        }}
        %z = tir.load %s[%t * -1 + 3] : memref<4xf32>
        tir.store %z, %y[%t] : memref<4xf32>
      }}
    }}"""
    if races:
        with pytest.raises(RaceError, match=r'loop "t" \(%t\) race: %s\[0\] is written by iterations 0 and 1'):
            run_without(text, floats(4))
    else:
        np.testing.assert_array_equal(run_without(text, floats(4)), [3, 2, 1, 0])


def test_a_recurrence_along_threads_is_a_race() -> None:
    text = """
    tir.func @f(%y: memref<4xf32>) attributes {outputs = 1 : i64} {
      %one = arith.constant 1.0 : f32
      tir.for %AXIS = 0 to 4 thread "TAG" "t" {
        tir.block "y" {
          %p = tir.load %y[%AXIS - 1] where [%AXIS - 1 >= 0] : memref<4xf32>
          %s = arith.addf %p, %one : f32
          tir.store %s, %y[%AXIS] : memref<4xf32>
        }
      }
    }"""
    for tag in ("threadIdx.x", "blockIdx.y", "vthread"):
        with pytest.raises(RaceError, match=r'loop "t" .* is written by iteration 0 and read by iteration 1'):
            run_without(text.replace("AXIS", "t").replace("TAG", tag))
