"""The short way into a program: what goes it, what goes the long way, and that a failure is forgotten."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lamina
from lamina import te
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.errors import InputError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.runtime.direct_call import DirectCall, address_of
from lamina.runtime.llvm_module import load_module

RATIO = """
func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %z = relay.floor_divide %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %z : tensor<4xi32>
}"""


@pytest.fixture(scope="module")
def ratio() -> Any:
    return lamina.compile(parse_text(LaminaContext(), RATIO, "ratio.mlir"), threads=1)


def values(*numbers: int) -> Any:
    return np.array(numbers, np.int32)


CHECKED = """
tir.func @f(%X: memref<4xi32>, %y: memref<4xi32>) attributes {outputs = 1 : i64} {
  %zero = arith.constant 0 : i32
  tir.for %i = 0 to 4 "i" {
    %x = tir.load %X[%i] : memref<4xi32>
    %ok = arith.cmpi ne, %x, %zero : i32
    %d = tir.check %x, %ok "division by zero" : i32
    %q = arith.divsi %d, %d : i32
    tir.store %q, %y[%i] : memref<4xi32>
  }
}
func.func @main(%a: memref<4xi32> {lamina.name = "x"}, %r: memref<4xi32> {lamina.name = "y"})
    attributes {lamina.outputs = 1 : i64} {
  tir.call @f(%a, %r) : memref<4xi32>, memref<4xi32>
  func.return
}"""


def test_a_failed_call_is_forgotten() -> None:
    ctx = LaminaContext()
    module = parse_text(ctx, CHECKED, "f.mlir")
    run_pipeline(module, ctx, parse_pipeline("tir-to-llvm"))
    program = load_module(module, None)
    for _ in range(2):
        with pytest.raises(InputError, match="division by zero"):
            program.run({"x": values(1, 0, 1, 1)})
        assert program.run({"x": values(7, 8, 9, 1)})["y"].tolist() == [1, 1, 1, 1]


OPEN = """
tir.func @f(%X: memref<4xi32>, %y: memref<?xi32> {te.shape = #te.map<() -> (4)>}) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "i" {
    %x = tir.load %X[%i] : memref<4xi32>
    tir.store %x, %y[%i] : memref<?xi32>
  }
}
func.func @main(%a: memref<4xi32> {lamina.name = "x"},
                %r: memref<?xi32> {lamina.name = "y", te.shape = #te.map<() -> (4)>})
    attributes {lamina.outputs = 1 : i64} {
  tir.call @f(%a, %r) : memref<4xi32>, memref<?xi32>
  func.return
}"""


def test_an_extent_that_a_map_gives_goes_the_long_way() -> None:
    ctx = LaminaContext()
    module = parse_text(ctx, OPEN, "f.mlir")
    run_pipeline(module, ctx, parse_pipeline("tir-to-llvm"))
    assert load_module(module, None).run({"x": values(1, 2, 3, 4)})["y"].tolist() == [1, 2, 3, 4]


def test_results_of_calls_are_arrays_of_their_own(ratio: Any) -> None:
    first = ratio(values(8, 8, 8, 8), values(1, 2, 4, 8))
    second = ratio(values(9, 9, 9, 9), values(1, 3, 9, 9))
    assert (first.tolist(), second.tolist()) == ([8, 4, 2, 1], [9, 3, 1, 1])


def test_what_is_not_as_declared_goes_the_long_way(ratio: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    call = DirectCall.__call__

    def watched(self: DirectCall, inputs: Any) -> Any:
        found = call(self, inputs)
        seen.append(found is not None)
        return found

    monkeypatch.setattr(DirectCall, "__call__", watched)
    x, y = values(8, 8, 8, 8), values(1, 2, 4, 8)
    pairs = np.stack([y, y], 1)
    assert ratio(x, y).tolist() == ratio(x, pairs[:, 0]).tolist() == [8, 4, 2, 1]
    for wrong in ({"x": x}, {"x": x, "y": y[:3]}, {"x": x, "y": y.astype(np.int64)}, {"x": x, "z": y}):
        with pytest.raises(InputError):
            ratio.run(wrong)
    # What the short way refuses is looked at again on the long one.
    assert seen == [True, *[False] * 10]


def test_kernels_go_it_too_where_what_they_write_is_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    x = te.placeholder((4,), name="X")

    def mirrored(i: Any) -> Any:
        return x[3 - i]

    reverse = te.compute((4,), mirrored, name="R")
    kernel = lamina.build(te.create_schedule(reverse.op), [x, reverse])
    seen: list[bool] = []
    into = DirectCall.into

    def watched(self: DirectCall, inputs: Any, outputs: Any) -> bool:
        seen.append(into(self, inputs, outputs))
        return seen[-1]

    monkeypatch.setattr(DirectCall, "into", watched)
    given, found, pairs = np.arange(4, dtype=np.float32), np.empty(4, np.float32), np.zeros((4, 2), np.float32)
    kernel(given, found)
    assert found.tolist() == [3, 2, 1, 0]
    kernel(found, found)
    assert found.tolist() == [0, 1, 2, 3]
    overlapping = np.arange(6, dtype=np.float32)
    kernel(overlapping[:4], overlapping[2:])
    assert overlapping.tolist() == [0, 1, 3, 2, 1, 0]
    kernel(given, pairs[:, 1])
    assert pairs[:, 1].tolist() == [3, 2, 1, 0]
    kernel(given[::-1], found)
    assert found.tolist() == [0, 1, 2, 3]
    found.flags.writeable = False
    for wrong in (found, found[:3], np.empty(4, np.float64)):
        with pytest.raises(InputError):
            kernel(given, wrong)
    assert seen == [True, *[False] * 7]


def test_the_address_of_an_array_is_that_of_its_first_element() -> None:
    whole: Any = np.arange(24, dtype=np.int16).reshape(4, 6)
    half = whole.astype(numpy_dtype("bfloat16"))
    for array in (whole, whole[2:], whole[1:, 3], whole[::-1], half, np.empty((0, 3)), np.array(1.5)):
        assert address_of(array) == array.__array_interface__["data"][0]
