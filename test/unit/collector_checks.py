"""Compilations leave the collector of cycles nothing to look at, and their garbage to it in the end."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Generator

import pytest

from lamina.ir import collector
from lamina.ir.collector import quiet_gc


class Cycle:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.own = self


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """A thousand objects are many, two thousand enough; the collector runs when it is told to."""
    monkeypatch.setattr(collector, "MANY", 1000)
    monkeypatch.setattr(collector, "AT_LAST", 2000)
    monkeypatch.setattr(collector, "_waiting", 0)
    monkeypatch.setattr(collector, "_alive", 0)
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(100_000)
    gc.enable()
    yield
    gc.set_threshold(*before)


def compiled(objects: int) -> weakref.ref[Cycle]:
    """What a compilation of so many objects leaves behind."""
    with quiet_gc():
        assert not gc.isenabled()
        ref = weakref.ref(Cycle())
        kept = [[n] for n in range(objects)]
    assert gc.isenabled() and len(kept) == objects
    return ref


def test_many_objects_are_old_at_the_end() -> None:
    left = compiled(1200)
    assert gc.get_count()[0] < 1000, "none of them is looked at next"
    assert left() is not None
    gc.collect()
    assert left() is None, "nor is it lost"


def test_few_objects_are_young() -> None:
    left = compiled(500)
    gc.collect(0)
    assert left() is None


def test_garbage_of_many_compilations_is_collected() -> None:
    first, second = compiled(1200), compiled(1200)
    assert first() is None and second() is None


def test_garbage_is_looked_for_less_often_where_much_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    alive = [[n] for n in range(12_000)]
    for _ in range(2):
        compiled(1200)
    assert collector._alive >= len(alive)  # pyright: ignore[reportPrivateUsage]
    # Whatever else the process holds.
    monkeypatch.setattr(collector, "_alive", 12_000)
    waiting = [compiled(1200) for _ in range(4)]
    assert all(left() is not None for left in waiting), "4,800 are less than half of what is alive"
    compiled(1200)
    assert all(left() is None for left in waiting)


def test_what_a_program_has_frozen_stays_frozen() -> None:
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        left = compiled(1200)
        assert gc.get_freeze_count() == count
        gc.collect(0)
        assert left() is None
    finally:
        gc.unfreeze()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with quiet_gc():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_weights_do_not_wait_for_the_collector() -> None:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    from lamina.frontends.onnx import load_onnx

    weight = numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    port = helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, 64])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [64, 64])
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [port], [result], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    gc.disable()
    try:
        store = weakref.ref(load_onnx(model).store)
        assert store() is None
    finally:
        gc.enable()
