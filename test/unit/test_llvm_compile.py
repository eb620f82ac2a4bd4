"""Kernels compiled in worker processes: the same bytes as alone, and a dead worker names its kernel."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from lamina.backends.cpu import compile_kernels, jit
from lamina.backends.cpu.compile_kernels import KernelCompiler, compile_all
from lamina.backends.cpu.jit import (
    CompileError,
    Machine,
    assembly,
    compile_object,
    host_target,
    machine_of,
    named_target,
)
from lamina.backends.cpu.link import load_objects
from lamina.backends.cpu.object_cache import ObjectCache, object_key
from lamina.errors import InternalError, UsageError

from .turns import each_second

TARGET = named_target("x86-64")


def kernel(i: int) -> str:
    return f"define i32 @k{i}(i32 %0) {{\n  %2 = add i32 %0, {i}\n  ret i32 %2\n}}\n"


TEXTS = {f"k{i}": kernel(i) for i in range(12)}
# The code generator has no instruction for this and ends the process.
FATAL = (
    'define void @f() {\n  call void asm sideeffect "nonsense", "~{memory}"()\n  ret void\n}\n',
    "define void @f(ptr %0) {\n  %2 = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> zeroinitializer, "
    "<16 x i32> zeroinitializer, <16 x i32> zeroinitializer)\n  store <16 x i32> %2, ptr %0\n  ret void\n}\n"
    "declare <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32>, <16 x i32>, <16 x i32>)\n",
)


@pytest.fixture(autouse=True)
def always_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_kernels, "_SERIAL_BYTES", 0)


def test_workers_give_the_same_bytes() -> None:
    alone = compile_all(TEXTS, TARGET, workers=1)
    assert list(alone) == list(TEXTS)
    assert compile_all(TEXTS, TARGET, workers=2) == alone
    library = load_objects(alone.values())
    assert library.function("k7", ctypes.c_int32, ctypes.c_int32)(10) == 17


def test_results_come_in_the_order_of_submission() -> None:
    with KernelCompiler(TARGET, workers=3) as compiler:
        for name in reversed(TEXTS):
            compiler.submit(name, TEXTS[name])
        assert list(compiler.result()) == list(reversed(TEXTS))


@pytest.mark.parametrize("workers", [1, 2])
def test_bad_text_names_the_kernel(workers: int) -> None:
    texts = TEXTS | {"broken": "define void @broken() {\n  ret i32 0\n}\n"}
    with pytest.raises(InternalError, match="kernel 'broken': LLVM refuses"):
        compile_all(texts, TARGET, workers)


@pytest.mark.parametrize("text", FATAL)
def test_a_worker_that_dies_names_the_kernel(text: str) -> None:
    with pytest.raises(InternalError, match="LLVM died on kernel 'fatal'|kernel 'fatal'"):
        compile_all(TEXTS | {"fatal": text}, TARGET, workers=2)


def test_an_error_of_the_caller_ends_the_workers() -> None:
    with pytest.raises(ZeroDivisionError), KernelCompiler(TARGET, workers=2) as compiler:
        for name, text in TEXTS.items():
            compiler.submit(name, text)
        raise ZeroDivisionError


def test_a_kernel_given_twice_is_refused() -> None:
    with pytest.raises(InternalError, match="twice"), KernelCompiler(TARGET, workers=1) as compiler:
        compiler.submit("k", kernel(1))
        compiler.submit("k", kernel(2))


@pytest.mark.parametrize("workers", [1, 2])
def test_the_second_compilation_comes_from_the_cache(tmp_path: Path, workers: int) -> None:
    cache = ObjectCache(tmp_path / "cache")
    first = compile_all(TEXTS, TARGET, workers, cache)
    assert (cache.hits, cache.misses) == (0, len(TEXTS))
    assert compile_all(TEXTS, TARGET, workers, cache) == first
    assert cache.hits == len(TEXTS)


def test_the_key_covers_text_and_machine() -> None:
    machine = machine_of(TARGET)
    keys = {
        object_key(kernel(1), machine),
        object_key(kernel(2), machine),
        object_key(kernel(1), machine._replace(cpu="x86-64-v3")),
        object_key(kernel(1), machine._replace(features="+avx2")),
        object_key(kernel(1), machine._replace(triple="aarch64-unknown-linux-gnu")),
    }
    assert len(keys) == 5


def test_a_worker_needs_little() -> None:
    probe = "import sys, lamina.backends.cpu.compile_worker, lamina.backends.cpu.jit; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {"xdsl", "numpy", "onnx", "rich"} & loaded
    # What a triple says, in a file that imports nothing.
    assert {m for m in loaded if m.startswith("lamina.dialects.")} == {"lamina.dialects.machine_spec"}


def test_the_same_text_gives_the_same_bytes() -> None:
    assert compile_object(kernel(3), TARGET) == compile_object(kernel(3), TARGET)


def test_stack_slots_become_registers() -> None:
    text = (
        "define i32 @f(i32 %0) {\n  %2 = alloca i32, i32 1\n  store i32 %0, ptr %2\n"
        "  %3 = load i32, ptr %2\n  ret i32 %3\n}\n"
    )
    assert "rsp" not in assembly(text, TARGET)


def test_no_ir_pass_reorders_a_kernel() -> None:
    """Two loads stay in their order, and a loop stays a loop: LLVM's vectorizer and scheduler of IR do not run."""
    text = (
        "define void @f(ptr noalias %0, ptr noalias %1, i64 %2) {\nbb0:\n  br label %bb1\nbb1:\n"
        "  %3 = phi i64 [ 0, %bb0 ], [ %7, %bb1 ]\n  %4 = getelementptr float, ptr %0, i64 %3\n"
        "  %5 = load float, ptr %4\n  %6 = getelementptr float, ptr %1, i64 %3\n  store float %5, ptr %6\n"
        "  %7 = add i64 %3, 1\n  %8 = icmp slt i64 %7, %2\n  br i1 %8, label %bb1, label %bb2\nbb2:\n  ret void\n}\n"
    )
    shown = assembly(text, named_target("x86-64-v4"))
    assert "ymm" not in shown and "zmm" not in shown


def test_an_unknown_symbol_is_an_error() -> None:
    library = load_objects([compile_object(kernel(1), TARGET)])
    with pytest.raises(CompileError, match="symbol 'nothing'"):
        library.address("nothing")


def test_an_unknown_triple_is_an_error() -> None:
    with pytest.raises(CompileError, match="unknown triple"):
        compile_object(kernel(1), Machine("nothing-at-all", "", ""))


def test_targets_by_name() -> None:
    v4 = named_target("x86-64-v4", threads=3)
    assert (v4.vector_bits.data, v4.registers.data, v4.threads.data) == (512, 32, 3)
    assert v4.has_feature("avx512f") and not named_target("x86-64-v3").has_feature("avx512f")
    assert named_target("x86-64-v3").lanes(32) == 8
    assert v4.with_threads(1) == named_target("x86-64-v4")
    host = named_target("cpu", 1)
    assert host == host_target(1) and host.feature_list() == sorted(host.feature_list(), key=lambda f: f[1:])
    with pytest.raises(UsageError, match="did you mean 'x86-64-v4'"):
        named_target("x86_64-v4")


def test_a_worker_that_was_started_early_takes_what_comes() -> None:
    with KernelCompiler(TARGET, workers=2) as compiler:
        assert not compiler.has_workers()
        for _ in range(3):
            compiler.start_worker()
        assert compiler.has_workers()
        assert len(compiler._threads) == 2  # pyright: ignore[reportPrivateUsage]
        compiler.submit("one", "define i32 @one() {\n  ret i32 1\n}\n")
        objects = compiler.result()
    assert load_objects(objects.values()).function("one", ctypes.c_int32)() == 1
    with KernelCompiler(TARGET, workers=2) as idle:
        idle.start_worker()
        assert idle.result() == {}


LOOP = """define void @loop(ptr %p, ptr %q, i64 %n) {
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %at = mul i64 %i, 12
  %a = getelementptr i8, ptr %p, i64 %at
  %v = load float, ptr %a
  %to = mul i64 %i, 20
  %b = getelementptr i8, ptr %q, i64 %to
  store float %v, ptr %b
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %end
end:
  ret void
}
"""


def test_addresses_of_large_texts_stay_as_written() -> None:
    machine = machine_of(named_target("x86-64-v3"))
    large = LOOP + ";" * jit.UNROLLED_TEXT
    small, as_written = assembly(LOOP, machine), assembly(large, machine)
    assert "addq\t$20, %rsi" in small and "addq\t$20" not in as_written and "(%rsi," in as_written
    assert assembly(LOOP, machine) == small, "the next text is not touched"


ORDERED = """
import hashlib, sys
from lamina.backends.cpu.runtime.modules import HERE, runtime_object
for system in sys.argv[1:]:
    print(hashlib.sha256(runtime_object("net", None, system)).hexdigest())
"""


@pytest.mark.parametrize(
    "system", each_second(["wasm32", "linux_riscv64", "linux_armv7", "linux_aarch64", "macosx_aarch64"])
)
def test_code_does_not_depend_on_what_was_compiled_before(system: str) -> None:
    """Options of LLVM are the process's: those for x86 must not reach the code of others."""

    def digests(*systems: str) -> list[str]:
        done = subprocess.run([sys.executable, "-c", ORDERED, *systems], capture_output=True, text=True, check=True)
        return done.stdout.split()

    (alone,) = digests(system)
    _, behind = digests("linux_x86_64", system)
    assert alone == behind


def test_one_process_and_two_give_the_same_bytes() -> None:
    texts = TEXTS | {"large": LOOP + ";" * jit.UNROLLED_TEXT, "small": LOOP.replace("@loop", "@small")}
    assert compile_all(texts, TARGET, workers=1) == compile_all(texts, TARGET, workers=2)


def test_a_worker_that_was_killed_while_it_waited_is_an_error() -> None:
    worker = compile_kernels._Worker(machine_of(TARGET))  # pyright: ignore[reportPrivateUsage]
    worker.process.kill()
    worker.process.wait()
    with pytest.raises(InternalError, match="LLVM died on kernel 'late': signal 9"):
        worker.compile("late", kernel(1))
    assert worker.process.stderr is not None
    worker.process.stderr.close()
