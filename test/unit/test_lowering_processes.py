"""Kernels that copies of the process lower are those that one process makes, whatever becomes of the copies."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import IO, Any

import numpy as np
import pytest
from xdsl.ir import Operation

import lamina
from lamina.backends.cpu.compile_worker import receive
from lamina.dialects.listener import Listener
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.tir.ops import FuncOp
from lamina.driver import lowering_processes
from lamina.driver.compilation import Compilation, Source
from lamina.driver.lowering_here import LoweringHere
from lamina.driver.lowering_processes import CannotCopy, Copy, Lowering, LoweringCopy, _send_objects  # pyright: ignore[reportPrivateUsage]
from lamina.driver.settings import Settings
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.passes.tir_to_llvm.tir_to_llvm import TirToLlvmPass

LAYERS = range(3, 11)
"""Widths of layers: each is a kernel of its own."""
CHAIN = ("tanh", "nn.relu", "abs", "negative", "ceil", "floor", "sqrt", "exp")


def model() -> str:
    """A network of 72 relay ops in many kernels of a few elements, so large that workers are started for it."""
    lines = ["func.func @main(%x: tensor<2x2xf32>) -> tensor<2x10xf32> {"]
    value, width = "%x", 2
    for n in LAYERS:
        given, type_ = f"tensor<2x{width}xf32>", f"tensor<2x{n}xf32>"
        rows = [[(k + 3 * m) % 7 * 0.25 for k in range(width)] for m in range(n)]
        weight = f"tensor<{n}x{width}xf32>"
        lines.append(f"  %w{n} = relay.constant dense<{rows}> : {weight}")
        lines.append(f"  %d{n} = relay.nn.dense {value}, %w{n} : ({given}, {weight}) -> {type_}")
        value = f"%d{n}"
        for k, name in enumerate(CHAIN):
            lines.append(f"  %e{n}_{k} = relay.{name} {value} : {type_}")
            value = f"%e{n}_{k}"
        width = n
    return "\n".join([*lines, f"  return {value} : tensor<2x10xf32>", "}"])


def compiled(monkeypatch: pytest.MonkeyPatch, copied: bool) -> tuple[dict[str, bytes], dict[str, Any], list[str]]:
    """Objects, description and steps."""
    monkeypatch.setattr(lowering_processes, "default_workers", lambda: 3 if copied else 1)
    module = parse_text(LaminaContext(), model(), "net.mlir")
    steps: list[str] = []
    exe = lamina.compile(module, threads=1, cache=False, progress=lambda name, _s, _n: steps.append(name))
    stored = exe._stored  # pyright: ignore[reportPrivateUsage]
    assert stored is not None
    assert exe(np.ones((2, 2), np.float32)).shape == (2, 10)
    return stored.objects, stored.description, steps


@pytest.fixture(scope="module")
def alone() -> tuple[dict[str, bytes], dict[str, Any], list[str]]:
    with pytest.MonkeyPatch.context() as patch:
        return compiled(patch, copied=False)


Alone = tuple[dict[str, bytes], dict[str, Any], list[str]]


def test_copies_make_the_objects_of_one_process(monkeypatch: pytest.MonkeyPatch, alone: Alone) -> None:
    made: list[int] = []

    class Counted(Copy):
        def __init__(self, work: Any) -> None:
            super().__init__(work)
            made.append(self.pid)

    monkeypatch.setattr(lowering_processes, "Copy", Counted)
    monkeypatch.setattr(LoweringHere, "kernels", None)
    objects, description, steps = compiled(monkeypatch, copied=True)
    assert made, "a copy is made"
    assert list(objects.items()) == list(alone[0].items()) and description == alone[1]
    assert len(objects) > len(LAYERS)
    assert sorted(steps) == sorted(alone[2]), "the passes of a copy are reported too"


def test_a_copy_that_dies_has_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(self: LoweringCopy, lowering: Lowering, sink: IO[bytes]) -> None:
        _send_objects(sink, {"first": b"code"})
        sink.write(b"half")
        sink.flush()
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(LoweringCopy, "_work", dies)
    module = parse_text(LaminaContext(), "func.func @main() { return }", "net.mlir")
    compilation = Compilation(lambda: Source(module, ParamStore(), "net.mlir"), Settings.of("x86-64-v3"))
    with LoweringCopy(Lowering(compilation)) as copy:
        assert copy.result(lambda name, seconds, note: pytest.fail("no step is done")) is None


def test_a_copy_that_falls_silent_has_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock may be shut for ever in a copy."""
    monkeypatch.setattr(lowering_processes, "LONGEST_SILENCE", 0.2)

    def hangs(_: IO[bytes]) -> None:
        threading.Event().wait()

    copy = Copy(hangs)
    try:
        assert list(copy.messages()) == []
    finally:
        copy.close()
    with pytest.raises(ProcessLookupError):
        os.kill(copy.pid, 0)


def test_a_helper_that_fails_is_missed(monkeypatch: pytest.MonkeyPatch, alone: Alone) -> None:
    def fails(self: Any, kernels: Iterator[FuncOp], sink: IO[bytes]) -> None:
        next(kernels)
        raise ZeroDivisionError

    monkeypatch.setattr(lowering_processes._Helpers, "_help", fails)  # pyright: ignore[reportPrivateUsage]
    objects, _, steps = compiled(monkeypatch, copied=True)
    assert objects == alone[0] and sorted(steps) == sorted(alone[2])


@pytest.mark.parametrize("ours", [True, False])
def test_a_process_with_a_thread_in_our_code_is_not_copied(ours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that it holds would stay shut in the copy; threads that are elsewhere do not matter."""
    monkeypatch.setattr(lowering_processes, "default_workers", lambda: 2)
    inside, done = threading.Event(), threading.Event()

    class Stream(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            inside.set()
            done.wait()
            return b""

    stream = Stream()
    thread = threading.Thread(target=receive if ours else Stream.read, args=(stream,))
    thread.start()
    try:
        assert inside.wait(10)
        assert lowering_processes.can_copy() != ours
        if ours:
            with pytest.raises(CannotCopy):
                Copy(lambda sink: None)
        else:
            copy = Copy(lambda sink: _send_objects(sink, {"here": b""}))
            assert len(list(copy.messages())) == 1
            copy.close()
    finally:
        done.set()
        thread.join()


def test_a_copy_whose_origin_gives_up_is_ended() -> None:
    def waits(sink: IO[bytes]) -> None:
        while True:
            os.read(block, 1)

    block, other = os.pipe()
    copy = Copy(waits)
    copy.close()
    os.close(block)
    os.close(other)
    with pytest.raises(ChildProcessError):
        os.waitpid(copy.pid, os.WNOHANG)


def test_kernels_that_are_lowered_elsewhere_are_declared() -> None:
    text = """
tir.func @here(%x: memref<8xf32>) { tir.for %i = 0 to 8 "i" {
  %v = tir.load %x[%i] : memref<8xf32>
  tir.store %v, %x[%i] : memref<8xf32> } }
tir.func @there(%x: memref<8xf32>) { tir.for %i = 0 to 8 parallel "i" {
  %v = tir.load %x[%i] : memref<8xf32>
  tir.store %v, %x[%i] : memref<8xf32> } }
"""

    class Taker(Listener):
        def share(self, kernels: Sequence[FuncOp]) -> Sequence[FuncOp]:
            return [k for k in kernels if k.sym_name.data == "here"]

        def finished(self, functions: Sequence[Operation], declared: Mapping[str, Operation]) -> None:
            pass

    taker = Taker()
    taker.kernels = taker
    ctx = LaminaContext(listener=taker)
    module = parse_text(ctx, text, "kernels.mlir")
    TirToLlvmPass().apply(ctx, module)
    found: list[Any] = list(module.ops)
    assert [(f.sym_name.data, len(f.body.blocks) > 0) for f in found] == [
        ("here.body", True),
        ("here", True),
        ("there", False),
    ]
