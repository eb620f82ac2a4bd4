"""Traces: kernels that compute the same have equal ones, any other kernel has not."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from lamina.dialects.tir.ops import FuncOp
from lamina.errors import InputError
from lamina.interpreters.accesses import OutOfBoundsError
from lamina.interpreters.reductions import CheckFailure
from lamina.interpreters.tir_interpreter import run_tir_func
from lamina.interpreters.tir_memory import RaceError, UninitialisedError
from lamina.interpreters.tir_tracing import Trace, TraceError, trace_tir_func
from lamina.interpreters.trace_table import TraceTable, same
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline


def kernel(text: str, pipeline: str = "") -> FuncOp:
    ctx = LaminaContext()
    module: ModuleOp = parse_text(ctx, text, "f.mlir")
    run_pipeline(module, ctx, parse_pipeline(pipeline))
    module.verify()
    return next(op for op in module.walk() if isinstance(op, FuncOp))


MATMUL = """
te.func @f(%A: tensor<4x6xf32>, %B: tensor<6x5xf32>, %b: tensor<5xf32>) -> tensor<4x5xf32> {
  %C = te.compute "C" [4, 5] sum [6] (%i, %j, %k) : tensor<4x5xf32> {
    %x = te.read %A[%i, %k] : tensor<4x6xf32>
    %y = te.read %B[%k, %j] : tensor<6x5xf32>
    %p = arith.mulf %x, %y : f32
    te.yield %p : f32
  }
  %D = te.compute "D" [4, 5] (%i, %j) : tensor<4x5xf32> {
    %x = te.read %C[%i, %j] : tensor<4x5xf32>
    %y = te.read %b[%j] : tensor<5xf32>
    %d = arith.subf %x, %y : f32
    te.yield %d : f32
  }
  te.return %D : tensor<4x5xf32>
}
"""
SCHEDULES = {
    "reordered": """%i, %j, %k = te.loops "C" [3]  te.reorder %k, %j, %i""",
    "with a tail": """
      %i, %j, %k = te.loops "C" [3]  %ko, %ki = te.split %k [-1, 4]  %jo, %ji = te.split %j [-1, 3]
      te.reorder %jo, %ki, %i, %ko, %ji  te.vectorize %ji""",
    "attached": """
      %i, %j = te.loops "D" [2]  %jo, %ji = te.split %j [-1, 2]  %ci, %cj, %ck = te.compute_at "C" at %jo [3]
      te.reorder %ck, %ci, %cj  te.parallel %i""",
    "cached": """
      %i, %j, %k = te.loops "C" [3]  %a = te.cache_read "A" in "C" at %i scope "global" [1]
      te.reorder %k, %j""",
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_order_of_a_reduction_does_not_show(name: str) -> None:
    table = TraceTable()
    plain = trace_tir_func(kernel(MATMUL, "te-to-tir"), (), table)
    text = MATMUL + f"te.schedule @f {{ {SCHEDULES[name]} }}"
    for pipeline in ("te-to-tir", "te-to-tir,tir-lower-blocks", "te-to-tir,tir-lower-blocks,tir-vectorize-loop"):
        found = trace_tir_func(kernel(text, pipeline), (), table)
        assert same(table, plain, found) is None
        assert found == plain


def test_a_multiply_add_is_a_product_and_a_sum() -> None:
    table = TraceTable()
    plain = trace_tir_func(kernel(MATMUL, "te-to-tir"), (), table)
    fused = kernel(MATMUL, "te-to-tir,tir-lower-blocks,tir-fuse-multiply-add")
    assert any(op.name == "math.fma" for op in fused.walk())
    assert trace_tir_func(fused, (), table) == plain


# -- other kernels -----------------------------------------------------------------------------------------------

SUM = """
tir.func @f(%A: memref<4x6xf32>, %B: memref<4x6xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "i" {
    tir.for %k = 0 to 6 reduction "k" {
      tir.block "y" init {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %y[%i] : memref<4xf32>
      } do {
        %acc = tir.load %y[%i] : memref<4xf32>
        %a = tir.load %A[%i, %k] : memref<4x6xf32>
        %b = tir.load %B[%i, %k] : memref<4x6xf32>
        %d = arith.subf %a, %b : f32
        %s = arith.addf %acc, %d : f32
        tir.store %s, %y[%i] : memref<4xf32>
      }
    }
  }
}"""
MUTATIONS = {
    "operands swapped": ("arith.subf %a, %b", "arith.subf %b, %a"),
    "term dropped": ("%k = 0 to 6", "%k = 0 to 5"),
    "term doubled": ("tir.store %s,", "%e = arith.addf %s, %d : f32 tir.store %e,"),
    "one term twice, another never": ("%A[%i, %k]", "%A[%i, %k floordiv 2 * 2]"),
    "index off by one": ("%B[%i, %k]", "%B[%i, (%k + 1) mod 6]"),
    "element shifted": ("%A[%i, %k]", "%A[(%i + 1) mod 4, %k]"),
    "other input": ("tir.load %B[", "tir.load %A["),
    "other combiner": ("arith.addf", "arith.mulf"),
    "maximum": ("arith.addf", "arith.maximumf"),
    "init that is not neutral": ("constant 0.0", "constant 1.0"),
    "condition on a term": ('tir.block "y"', 'tir.block "y" where [%k * -1 + 4 >= 0]'),
    "guard on a load": ("tir.load %A[%i, %k]", "tir.load %A[%i, %k] where [%k - 1 >= 0]"),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
def test_another_kernel_has_another_trace(name: str) -> None:
    table = TraceTable()
    plain = trace_tir_func(kernel(SUM), (), table)
    old, new = MUTATIONS[name]
    assert SUM.count(old) == 1
    found = trace_tir_func(kernel(SUM.replace(old, new)), (), table)
    said = same(table, plain, found)
    assert said is not None and said.startswith("element "), name


def test_what_differs_is_shown() -> None:
    table = TraceTable()
    plain = trace_tir_func(kernel(SUM), (), table)
    found = trace_tir_func(kernel(SUM.replace("%k = 0 to 6", "%k = 0 to 1")), (), table)
    assert same(table, plain, found) == (
        "element 0 of output 0 is arith.subf f32(arg0[0], arg1[0]), not add(arith.subf f32(arg0[0], arg1[0]), "
        "arith.subf f32(arg0[1], arg1[1]), arith.subf f32(arg0[2], arg1[2]), arith.subf f32(arg0[3], arg1[3]), "
        "arith.subf f32(arg0[4], arg1[4]), arith.subf f32(arg0[5], ...))"
    )


def test_terms_are_counted_whatever_their_order() -> None:
    """Sums of random terms: equal just where the multisets are."""
    r = random.Random(1)

    def total(terms: list[int]) -> str:
        body = "".join(
            f"%x{n} = tir.load %A[{t}] : memref<8xf32> %s{n + 1} = arith.addf %s{n}, %x{n} : f32 "
            for n, t in enumerate(terms)
        )
        return (
            "tir.func @f(%A: memref<8xf32>, %y: memref<1xf32>) attributes {outputs = 1 : i64} { "
            f"%s0 = arith.constant 0.0 : f32 {body} tir.store %s{len(terms)}, %y[0] : memref<1xf32> }}"
        )

    table = TraceTable()
    seen: dict[tuple[int, ...], Any] = {}
    for _ in range(60):
        terms = [r.randrange(3) for _ in range(r.randrange(5))]
        found = trace_tir_func(kernel(total(terms)), (), table)
        key = tuple(sorted(terms))
        assert seen.setdefault(key, found) == found
    traces = [str(t) for t in seen.values()]
    assert len(seen) > 15 and len(set(traces)) == len(traces)


def test_lanes_that_add_zero_add_nothing() -> None:
    table = TraceTable()
    text = SUM.replace("%k = 0 to 6", "%k = 0 to 8").replace("[%i, %k]", "[%i, %k] where [%k * -1 + 5 >= 0]")
    assert trace_tir_func(kernel(text), (), table) == trace_tir_func(kernel(SUM), (), table)


@pytest.mark.parametrize(("op", "start"), [("mulf", "1.0"), ("maximumf", "0xFF800000"), ("minimumf", "0x7F800000")])
def test_neutral_elements_of_other_combiners_go(op: str, start: str) -> None:
    table = TraceTable()
    text = SUM.replace("arith.addf", f"arith.{op}")
    given = trace_tir_func(kernel(text.replace("0.0", start)), (), table)
    assert given != trace_tir_func(kernel(text), (), table)
    name = {"mulf": "mul", "maximumf": "max", "minimumf": "min"}[op]
    assert table.text(given[0][0]).startswith(f"{name}(arith.subf f32(arg0[0], arg1[0]), arith.subf")


@pytest.mark.parametrize(("op", "neutral"), [("subf", "0.0"), ("divf", "1.0")])
def test_a_right_operand_that_changes_nothing_goes(op: str, neutral: str) -> None:
    table = TraceTable()
    kept = f"%n = arith.constant {neutral} : f32 %c = arith.{op} %d, %n : f32 %s = arith.addf %acc, %c"
    changed = kept.replace("%d, %n", "%n, %d")
    plain = trace_tir_func(kernel(SUM), (), table)
    assert trace_tir_func(kernel(SUM.replace("%s = arith.addf %acc, %d", kept)), (), table) == plain
    assert trace_tir_func(kernel(SUM.replace("%s = arith.addf %acc, %d", changed)), (), table) != plain


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("%s = arith.addf %two, %three : f32", "5.0"),
        ("%p = arith.mulf %x, %two : f32 %z = arith.mulf %zero, %p : f32 %s = arith.addf %z, %three : f32", "3.0"),
        ("%s = arith.mulf %two, %three : f32", "6.0"),
    ],
)
def test_what_constants_decide_is_a_constant(expression: str, value: str) -> None:
    """The sum and the product of two numbers, and 0 * x."""
    text = f"""
    tir.func @f(%X: memref<1xf32>, %y: memref<1xf32>) attributes {{outputs = 1 : i64}} {{
      %x = tir.load %X[0] : memref<1xf32>
      %zero = arith.constant 0.0 : f32
      %two = arith.constant 2.0 : f32
      %three = arith.constant 3.0 : f32
      {expression}
      tir.store %s, %y[0] : memref<1xf32>
    }}"""
    table = TraceTable()
    ((found,),) = trace_tir_func(kernel(text), (), table)
    assert table.text(found) == value and table.value(found) == float(value)


# -- reducers of the user's own ------------------------------------------------------------------------------------

ARGMAX = """
te.func @f(%X: tensor<3x8xf32>) -> (tensor<3xi32>, tensor<3xf32>) {
  %i, %v = te.compute "argmax" [3] reduce [8] (%r, %k) : tensor<3xi32>, tensor<3xf32> {
    %x = te.read %X[%r, %k] : tensor<3x8xf32>
    %n = te.index [%k] : index
    %p = arith.index_cast %n : index to i32
    te.yield %p, %x : i32, f32
  } combine (%i0, %v0, %i1, %v1) {
    %less = arith.cmpf olt, %v0, %v1 : f32
    %i2 = arith.select %less, %i1, %i0 : i32
    %v2 = arith.maximumf %v0, %v1 : f32
    te.yield %i2, %v2 : i32, f32
  } identity {
    %i = arith.constant -1 : i32
    %v = arith.constant 0xFF800000 : f32
    te.yield %i, %v : i32, f32
  }
  te.return %i, %v : tensor<3xi32>, tensor<3xf32>
}
"""


def test_terms_of_an_argmax_may_come_in_another_order() -> None:
    table = TraceTable()
    plain = trace_tir_func(kernel(ARGMAX, "te-to-tir"), (), table)
    schedule = (
        """te.schedule @f { %r, %k = te.loops "argmax" [2]  %ko, %ki = te.split %k [-1, 3]  te.reorder %ki, %ko, %r }"""
    )
    for pipeline in ("te-to-tir", "te-to-tir,tir-lower-blocks"):
        assert trace_tir_func(kernel(ARGMAX + schedule, pipeline), (), table) == plain
    for old, new in (("olt", "ogt"), ("[%r, %k]", "[%r, (%k + 1) mod 8]"), ("te.index [%k]", "te.index [%k * 2]")):
        assert trace_tir_func(kernel(ARGMAX.replace(old, new), "te-to-tir"), (), table) != plain


def test_a_condition_in_a_reduction_sees_what_has_been_added() -> None:
    text = """
    tir.func @f(%A: memref<6xf32>, %y: memref<1xf32>, %z: memref<1xf32>) attributes {outputs = 2 : i64} {
      tir.for %k = 0 to 6 reduction "k" {
        tir.block "y" init {
          %one = arith.constant 1.0 : f32
          tir.store %one, %y[0] : memref<1xf32>
        } do {
          %acc = tir.load %y[0] : memref<1xf32>
          %a = tir.load %A[%k] : memref<6xf32>
          %s = arith.subf %acc, %a : f32
          tir.store %s, %y[0] : memref<1xf32>
          tir.if [%k - 5 >= 0] {
            tir.store %s, %z[0] : memref<1xf32>
          }
        }
      }
    }"""
    table = TraceTable()
    ((last,), (seen,)) = trace_tir_func(kernel(text), (), table)
    assert last == seen and table.text(last).startswith("arith.subf f32(arith.subf f32(")


def test_an_argmax_may_start_from_what_is_computed() -> None:
    table = TraceTable()
    computed = ARGMAX.replace(
        "%i = arith.constant -1 : i32",
        "%zero = arith.constant 0 : i32 %one = arith.constant 1 : i32 %i = arith.subi %zero, %one : i32",
    )
    plain = trace_tir_func(kernel(computed, "te-to-tir"), (), table)
    schedule = 'te.schedule @f { %r, %k = te.loops "argmax" [2]  te.reorder %k, %r }'
    assert trace_tir_func(kernel(computed + schedule, "te-to-tir"), (), table) == plain
    assert trace_tir_func(kernel(computed.replace("%zero, %one", "%one, %zero"), "te-to-tir"), (), table) != plain


# -- control and indices ---------------------------------------------------------------------------------------------

GATHER = """
tir.func @f(%X: memref<5xf32>, %I: memref<3xi64>, %y: memref<3xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 3 "i" {
    %n = tir.load %I[%i] : memref<3xi64>
    %k = arith.index_cast %n : i64 to index
    %x = tir.load %X[%k + 1] : memref<5xf32>
    tir.store %x, %y[%i] : memref<3xf32>
  }
}"""


def test_an_index_from_memory_needs_its_value() -> None:
    table = TraceTable()
    with pytest.raises(TraceError, match="an index depends on the values of the inputs"):
        trace_tir_func(kernel(GATHER), (), table)
    found = trace_tir_func(kernel(GATHER), (), table, {1: np.array([3, 0, 1])})
    assert found == [[table.leaves(0, 5)[n] for n in (4, 1, 2)]]
    with pytest.raises(OutOfBoundsError, match=r"%X\[%k \+ 1\] at \[5\]"):
        trace_tir_func(kernel(GATHER), (), table, {1: np.array([3, 4, 1])})


def test_choices_that_constants_decide_are_made() -> None:
    text = """
    tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 4 "i" {
        %x = tir.load %X[%i] : memref<4xf32>
        %c = tir.condition [%i - 2 >= 0] : i1
        %z = arith.constant 7.0 : f32
        %s = arith.select %c, %x, %z : f32
        %less = arith.cmpf olt, %x, %z : f32
        %t = arith.select %less, %s, %z : f32
        tir.store %t, %y[%i] : memref<4xf32>
      }
    }"""
    table = TraceTable()
    ((first, second, third, _),) = trace_tir_func(kernel(text), (), table)
    assert table.text(first) == table.text(second) == "7.0"
    assert table.text(third) == "arith.select f32(arith.cmpf 4 i1(arg0[2], 7.0), arg0[2], 7.0)"


def test_sizes_are_given() -> None:
    text = """
    tir.func @f(%n: index, %X: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>},
                %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to min [%n] "i" {
        %x = tir.load %X[%n - %i - 1] : memref<?xf32>
        tir.store %x, %y[%i] : memref<?xf32>
      }
    }"""
    table = TraceTable()
    trace = Trace(kernel(text), table)
    for n in (0, 1, 5):
        assert trace.run([n]) == [table.leaves(1, n)[::-1]]
    with pytest.raises(InputError, match="has 1 sizes, got 0"):
        trace.run([])


# -- the same checks -----------------------------------------------------------------------------------------------


def test_threads_compute_what_loops_do() -> None:
    threads = """
    tir.func @f(%X: memref<2x4xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
      tir.for %b = 0 to 2 thread "blockIdx.x" "b" {
        %s = tir.alloc "s" scope "shared" : memref<4xf32>
        tir.for %t = 0 to 4 thread "threadIdx.x" "t" {
          %x = tir.load %X[%b, %t] : memref<2x4xf32>
          tir.store %x, %s[%t] : memref<4xf32>
          tir.barrier "shared"
          tir.if [%t == 0] {
            %p = tir.load %s[3] : memref<4xf32>
            %q = tir.load %s[1] : memref<4xf32>
            %u = tir.load %s[2] : memref<4xf32>
            %v = arith.addf %p, %q : f32
            %w = arith.addf %u, %x : f32
            %z = arith.addf %v, %w : f32
            tir.store %z, %y[%b] : memref<2xf32>
          }
        }
      }
    }"""
    loops = """
    tir.func @f(%X: memref<2x4xf32>, %y: memref<2xf32>) attributes {outputs = 1 : i64} {
      tir.for %b = 0 to 2 "b" {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %y[%b] : memref<2xf32>
        tir.for %t = 0 to 4 "t" {
          %x = tir.load %X[%b, %t] : memref<2x4xf32>
          %a = tir.load %y[%b] : memref<2xf32>
          %s = arith.addf %a, %x : f32
          tir.store %s, %y[%b] : memref<2xf32>
        }
      }
    }"""
    table = TraceTable()
    assert trace_tir_func(kernel(threads), (), table) == trace_tir_func(kernel(loops), (), table)
    with pytest.raises((RaceError, UninitialisedError)):
        trace_tir_func(kernel(threads.replace('tir.barrier "shared"', "")), (), table, barriers="written")


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("%A[%i, %k]", "%A[%i, %k + 1]", OutOfBoundsError),
        ("tir.store %zero, %y[%i] : memref<4xf32>\n", "\n", UninitialisedError),
        ('%k = 0 to 6 reduction "k"', '%k = 0 to 6 parallel reduction "k"', RaceError),
        ("%i = 0 to 4", "%i = 0 to 3", UninitialisedError),
    ],
)
def test_what_is_wrong_on_numbers_is_wrong_on_traces(old: str, new: str, error: type[Exception]) -> None:
    assert SUM.count(old) == 1
    wrong = kernel(SUM.replace(old, new))
    with pytest.raises(error) as on_traces:
        trace_tir_func(wrong)
    with pytest.raises(error) as on_numbers:
        run_tir_func(wrong, [np.zeros((4, 6), np.float32)] * 2)
    assert str(on_traces.value) == str(on_numbers.value)


def test_a_check_that_constants_fail_fails() -> None:
    text = """
    tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 4 "i" {
        %x = tir.load %X[%i] : memref<4xf32>
        %c = tir.condition [%i * -1 + LAST >= 0] : i1
        %z = tir.check %x, %c "too far" : f32
        tir.store %z, %y[%i] : memref<4xf32>
      }
    }"""
    table = TraceTable()
    assert trace_tir_func(kernel(text.replace("LAST", "3")), (), table) == [table.leaves(0, 4)]
    with pytest.raises(CheckFailure, match="too far"):
        trace_tir_func(kernel(text.replace("LAST", "2")), (), table)


def test_a_dot_product_of_the_machine_is_the_sum_that_it_is() -> None:
    intrinsic = """
    tir.func @f(%A: memref<16xi8>, %B: memref<16xi8>, %y: memref<4xi32>) attributes {outputs = 1 : i64} {
      %zero = arith.constant dense<0> : vector<4xi32>
      %a = tir.load %A[lane] : memref<16xi8>, vector<16xi8>
      %b = tir.load %B[lane] : memref<16xi8>, vector<16xi8>
      %c = tir.intrinsic "llvm.x86.avx512.vpdpbusd.128"(%zero, %a, %b)
        : (vector<4xi32>, vector<16xi8>, vector<16xi8>) -> vector<4xi32>
      tir.store %c, %y[lane] : memref<4xi32>, vector<4xi32>
    }"""
    loops = """
    tir.func @f(%A: memref<16xi8>, %B: memref<16xi8>, %y: memref<4xi32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 4 "i" {
        tir.for %k = 0 to 4 reduction "k" {
          tir.block "y" init {
            %zero = arith.constant 0 : i32
            tir.store %zero, %y[%i] : memref<4xi32>
          } do {
            %acc = tir.load %y[%i] : memref<4xi32>
            %a = tir.load %A[%i * 4 + %k] : memref<16xi8>
            %b = tir.load %B[%i * 4 + %k] : memref<16xi8>
            %wa = arith.extui %a : i8 to i32
            %wb = arith.extsi %b : i8 to i32
            %p = arith.muli %wa, %wb : i32
            %s = arith.addi %acc, %p : i32
            tir.store %s, %y[%i] : memref<4xi32>
          }
        }
      }
    }"""
    table = TraceTable()
    assert trace_tir_func(kernel(intrinsic), (), table) == trace_tir_func(kernel(loops), (), table)
    signed = loops.replace("arith.extui", "arith.extsi")
    assert trace_tir_func(kernel(intrinsic), (), table) != trace_tir_func(kernel(signed), (), table)


# -- schedules for threads, and the passes that make kernels of them -----------------------------------------------

BOUND = {
    "fetched together": """
      %i, %j, %k = te.loops "C" [3]
      %io, %ii = te.split %i [-1, 2]  %jo, %ji = te.split %j [-1, 4]  %ko, %ki = te.split %k [-1, 3]
      te.reorder %io, %jo, %ko, %ii, %ji, %ki
      %a, %b = te.cache_read "A" in "C" at %ko scope "shared" [2]
      te.bind %io "blockIdx.y"  te.bind %jo "blockIdx.x"  te.bind %ii "threadIdx.y"  te.bind %ji "threadIdx.x"
    """,
    "reduced across threads": """
      %i, %j, %k = te.loops "C" [3]  te.bind %i "blockIdx.y"  te.bind %k "threadIdx.x"
    """,
    "virtual threads": """
      %i, %j, %k = te.loops "C" [3]  %io, %ii = te.split %i [-1, 2]  te.reorder %io, %j, %ii, %k
      te.bind %io "blockIdx.y"  te.bind %j "threadIdx.x"  te.bind %ii "vthread"
    """,
}
STEPS = [
    "te-to-tir", "tir-lower-thread-allreduce", "tir-lower-blocks", "tir-unify-thread-binding",
    "tir-inject-virtual-thread", "tir-thread-sync",
]  # fmt: skip


@pytest.mark.parametrize("name", BOUND)
def test_kernels_for_threads_compute_the_same_at_every_step(name: str) -> None:
    table = TraceTable()
    plain = trace_tir_func(kernel(MATMUL, "te-to-tir"), (), table)
    text = MATMUL + f"te.schedule @f {{ {BOUND[name]} }}"
    for count in range(1, len(STEPS) + 1):
        found = trace_tir_func(kernel(text, ",".join(STEPS[:count])), (), table)
        assert same(table, plain, found) is None, STEPS[count - 1]
    found = trace_tir_func(kernel(text, ",".join(STEPS)), (), table, barriers="written")
    assert same(table, plain, found) is None
