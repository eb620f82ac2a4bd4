"""Kernels leave the last pass one by one, and weights are packed beside the passes: the program stays the same."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from lamina.backends.cpu.jit import named_target
from lamina.backends.llvm.emit import emit_kernel, emit_kernels
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.fast_ir import discard
from lamina.dialects.listener import Listener
from lamina.dialects.llvm_target.ops import FuncOp
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.target import TARGET
from lamina.dialects.tir.ops import FuncOp as Kernel
from lamina.driver.pipelines import Pipeline
from lamina.driver.weight_packing import WeightPacking
from lamina.errors import InputError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text

MODEL = """
!t = tensor<1x8x6x6xf32>
!w = tensor<8x8x3x3xf32>
func.func @main(%x: !t, %w: !w) -> !t {
  %c = relay.nn.conv2d %x, %w {padding = [1, 1, 1, 1]} : (!t, !w) -> !t
  %s = relay.nn.softmax %c {axis = 1} : (!t) -> !t
  %e = relay.tanh %s : !t
  return %e : !t
}
"""


Array = np.ndarray[Any, np.dtype[Any]]


def doubled(x: Array) -> Array:
    return x * 2


def lowered(ctx: LaminaContext) -> ModuleOp:
    module = parse_text(ctx, MODEL, "model.mlir")
    module.attributes[TARGET] = named_target("x86-64-v3")
    Pipeline(3).run(module, ctx)
    return module


def test_kernels_that_leave_early_have_the_text_of_whole_modules() -> None:
    expected = dict(emit_kernels(lowered(LaminaContext())))
    texts: dict[str, str] = {}

    class Taker(Listener):
        def share(self, kernels: Sequence[Kernel]) -> Sequence[Kernel]:
            return kernels

        def finished(self, functions: Sequence[FuncOp], declared: Mapping[str, FuncOp]) -> None:
            texts.update(emit_kernel(functions, declared, named_target("x86-64-v3")))
            for f in functions:
                discard(f.body)

    taker = Taker()
    taker.kernels = taker
    left = lowered(LaminaContext(listener=taker))
    assert len(texts) == len(expected) - 1 > 2, "all but the program table leave early"
    texts.update(emit_kernels(left))
    assert texts == expected


def test_what_is_discarded_needs_no_collector() -> None:
    enabled = gc.isenabled()
    gc.disable()
    try:
        module = lowered(LaminaContext())
        function = next(f for f in module.ops if isinstance(f, FuncOp) and len(list(f.body.blocks)) > 1)
        inside = [op for block in function.body.blocks for op in block.ops]
        parts = [weakref.ref(p) for op in inside for p in (op, *op.results)]
        parts += [weakref.ref(b) for b in function.body.blocks]
        count = len(inside)
        del inside
        assert discard(function.body) == count
        assert not list(function.body.blocks)
        assert [p() for p in parts if p() is not None] == []
    finally:
        if enabled:
            gc.enable()


def test_weights_are_the_same_whether_they_were_started_or_not() -> None:
    store = ParamStore()
    a = store.add("a", np.arange(6, dtype=np.float32).reshape(2, 3))
    twice = store.derive([a], "twice", tensor_type((2, 3), "float32"), doubled)
    with WeightPacking(store) as weights:
        weights.start([twice])
        found = weights.result([a, twice, a])
    assert [f.tolist() for f in found] == [[[0, 1, 2], [3, 4, 5]], [[0, 2, 4], [6, 8, 10]], [[0, 1, 2], [3, 4, 5]]]
    assert all(f.ctypes.data % 64 == 0 for f in found)
    assert store.is_derived(twice), "packed for one program: the store computes it again for the next"


def test_a_weight_that_cannot_be_computed_is_the_builds_error() -> None:
    store = ParamStore()
    a = store.add("a", np.zeros(2, np.float32))

    def fails(_: Any) -> Any:
        raise InputError("no such weight")

    bad = store.derive([a], "fails", tensor_type((2,), "float32"), fails)
    with WeightPacking(store) as weights:
        weights.start([a, bad])
        with pytest.raises(InputError, match="no such weight"):
            weights.result([a])


def test_an_error_elsewhere_ends_the_packing() -> None:
    store = ParamStore()
    started: list[int] = []

    def counted() -> Array:
        started.append(1)
        return np.zeros(1, np.float32)

    attrs = [store.derive([], f"n{n}", tensor_type((1,), "float32"), counted) for n in range(1000)]
    weights = WeightPacking(store)
    with pytest.raises(ZeroDivisionError), weights:
        weights._stopped = True  # pyright: ignore[reportPrivateUsage]
        weights.start(attrs)
        raise ZeroDivisionError
    assert len(started) < 1000


def test_a_derived_weight_that_is_a_view_is_copied_once() -> None:
    store = ParamStore()
    a = store.add("a", np.arange(6, dtype=np.float32).reshape(2, 3))

    def turned(x: Array) -> Array:
        return x.T

    b = store.derive([a], "turned", tensor_type((3, 2), "float32"), turned)
    c = store.derive([b], "doubled", tensor_type((3, 2), "float32"), doubled)
    (found,) = WeightPacking(store).result([b])
    assert found.flags.c_contiguous and found.ctypes.data % 64 == 0
    np.testing.assert_array_equal(found, [[0, 3], [1, 4], [2, 5]])
    np.testing.assert_array_equal(WeightPacking(store).result([c])[0], [[0, 6], [2, 8], [4, 10]])
