"""The thread pool and the program runner: every iteration runs once, whatever the number of threads."""

from __future__ import annotations

import ctypes
import os
import threading
import time

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from lamina.backends.cpu.jit import JitLibrary, compile_object, named_target
from lamina.backends.cpu.link import load_objects
from lamina.backends.cpu.runtime.modules import runtime_module
from lamina.backends.llvm.emit import emit_kernels
from lamina.dialects.llvm_target import LLVM
from lamina.dialects.target import LAMINA
from lamina.passes.tir_to_llvm.program import Entry, program_globals
from lamina.runtime.program import Failure, Program, ThreadPool, available_threads

pytestmark = pytest.mark.slow

# count[i] += 1, fail stores a code when the first element of its buffer is odd
KERNELS = """
llvm.func @count(%args: !llvm.ptr, %lo: i64, %hi: i64, %thread: i64) attributes {no_unwind} {
  %one = llvm.mlir.constant(1 : i64) : i64
  %buffer = llvm.load %args : !llvm.ptr -> !llvm.ptr
  llvm.br ^next(%lo : i64)
^next(%i: i64):
  %more = llvm.icmp "slt" %i, %hi : i64
  llvm.cond_br %more, ^body, ^done
^body:
  %at = llvm.getelementptr %buffer[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %old = llvm.load %at : !llvm.ptr -> i64
  %new = llvm.add %old, %one : i64
  llvm.store %new, %at : i64, !llvm.ptr
  %j = llvm.add %i, %one : i64
  llvm.br ^next(%j : i64)
^done:
  llvm.return
}
llvm.func @fail(%args: !llvm.ptr, %lo: i64, %hi: i64, %thread: i64) {
  %one = llvm.mlir.constant(1 : i64) : i64
  %seven = llvm.mlir.constant(7 : i64) : i64
  %zero = llvm.mlir.constant(0 : i64) : i64
  %status = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %second = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %buffer = llvm.load %second : !llvm.ptr -> !llvm.ptr
  %value = llvm.load %buffer : !llvm.ptr -> i64
  %odd = llvm.and %value, %one : i64
  %bad = llvm.icmp "ne" %odd, %zero : i64
  llvm.cond_br %bad, ^report, ^done
^report:
  llvm.store %seven, %status : i64, !llvm.ptr
  llvm.br ^done
^done:
  llvm.return
}
"""
SIZE = 1000
ENTRIES = [
    Entry("count", SIZE, 7, [(1, 0)]),
    Entry("count", 1, 1, [(1, 8 * SIZE)]),
    Entry("fail", 1, 1, [(0, 0), (2, 0)]),
    Entry("count", SIZE, SIZE, [(1, 0)]),
]


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, LLVM, LAMINA):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


@pytest.fixture(scope="module")
def library() -> JitLibrary:
    module = parse(KERNELS)
    for op in program_globals("main", ENTRIES):
        module.body.block.add_op(op)
    module.verify()
    target = named_target("x86-64")
    return load_objects([compile_object(text, target) for _, text in emit_kernels(module, target)])


def run(library: JitLibrary, pool: ThreadPool | None, odd: int = 0) -> tuple[np.ndarray, Failure | None]:
    counts = np.zeros(SIZE + 1, np.int64)
    flag = np.array([odd], np.int64)
    program = Program(library, "main", len(ENTRIES))
    failure = program.run([counts.ctypes.data, flag.ctypes.data], pool)
    return counts, failure


def pool_of(threads: int, spins: int = 5000) -> ThreadPool:
    """A pool of so many threads even where the machine has fewer."""
    pool = ThreadPool(1, spins)
    pool.threads = threads
    return pool


def check(counts: np.ndarray) -> None:
    assert (counts[:SIZE] == 2).all() and counts[SIZE] == 1


def test_without_a_pool(library: JitLibrary) -> None:
    counts, failure = run(library, None)
    check(counts)
    assert failure is None


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_every_iteration_runs_once(library: JitLibrary, threads: int) -> None:
    with pool_of(threads) as pool:
        for _ in range(1000 // threads):
            check(run(library, pool)[0])


@pytest.mark.parametrize("spins", [0, 5000])
def test_sleeping_workers_wake(library: JitLibrary, spins: int) -> None:
    with pool_of(2, spins) as pool:
        for _ in range(20):
            check(run(library, pool)[0])
            time.sleep(0.002)


def test_a_kernel_that_fails_stops_the_program(library: JitLibrary) -> None:
    with pool_of(2) as pool:
        counts, failure = run(library, pool, odd=1)
    assert failure == Failure(7, 2)
    assert (counts[:SIZE] == 1).all()


def test_sub_ranges_run_alone(library: JitLibrary) -> None:
    counts = np.zeros(SIZE + 1, np.int64)
    program = Program(library, "main", len(ENTRIES))
    assert program.run([counts.ctypes.data, counts.ctypes.data], None, 1, 2) is None
    assert counts[SIZE] == 1 and not counts[:SIZE].any()
    with pytest.raises(ValueError, match="entries"):
        program.run([counts.ctypes.data, counts.ctypes.data], None, 1, 9)


def test_several_python_threads_share_a_pool(library: JitLibrary) -> None:
    wrong: list[object] = []

    def work() -> None:
        for _ in range(100):
            try:
                check(run(library, pool)[0])
            except AssertionError as error:
                wrong.append(error)

    with pool_of(3) as pool:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_a_forked_child_gets_workers_of_its_own(library: JitLibrary) -> None:
    with pool_of(2) as pool:
        check(run(library, pool)[0])
        child = os.fork()
        if child == 0:
            status = 1
            try:
                check(run(library, pool)[0])
                check(run(library, pool)[0])
                pool.close()
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        check(run(library, pool)[0])


def test_pools_come_and_go(library: JitLibrary) -> None:
    before = threads_of_process()
    for _ in range(50):
        with pool_of(3) as pool:
            check(run(library, pool)[0])
            pool.close()
    assert threads_of_process() == before
    closed = pool_of(3)
    closed.close()
    with pytest.raises(RuntimeError, match="closed"):
        run(library, closed)


def threads_of_process() -> int:
    return len(os.listdir("/proc/self/task"))


def test_a_pool_without_references_ends_its_threads(library: JitLibrary) -> None:
    before = threads_of_process()
    check(run(library, pool_of(3))[0])
    assert threads_of_process() == before


def test_as_many_threads_as_asked_for_else_as_there_are_processors() -> None:
    assert ThreadPool(None).threads == available_threads()
    many = ThreadPool(available_threads() + 1)
    assert (many.threads, many.spins) == (available_threads() + 1, 0)


def test_a_plain_python_function_is_a_kernel() -> None:
    """`parallel` takes any address with the kernel's signature."""
    seen: list[tuple[int, int]] = []

    def record(_: int, lo: int, hi: int) -> None:
        seen.append((lo, hi))

    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(record)
    address = ctypes.cast(kernel, ctypes.c_void_p).value
    assert address is not None
    with pool_of(2) as pool:
        pool.parallel(address, 0, 10, 4)
    assert sorted(seen) == [(0, 4), (4, 8), (8, 10)]


def test_no_two_threads_are_in_a_kernel_by_one_number() -> None:
    """Jobs follow each other at once, so that workers join late, leave and come again."""
    inside, faults, numbers = set[int](), list[int](), set[int]()
    lock = threading.Lock()

    def record(_: int, lo: int, hi: int, thread: int) -> None:
        with lock:
            if thread in inside:
                faults.append(thread)
            inside.add(thread)
            numbers.add(thread)
        time.sleep(1e-4 * (lo % 3))
        with lock:
            inside.discard(thread)

    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(record)
    address = ctypes.cast(kernel, ctypes.c_void_p).value
    assert address is not None
    with pool_of(4) as pool:
        for job in range(300):
            pool.parallel(address, 0, 1 + job % 17, 1)
    assert not faults
    assert numbers <= {0, 1, 2, 3} and len(numbers) > 1


@pytest.mark.parametrize("name", ["run", "pool", "alone", "float_support", "trace"])
def test_the_runtime_verifies_and_round_trips(name: str) -> None:
    module = runtime_module(name)
    module.verify()
    assert str(parse(str(module))) == str(module)


def test_slices_get_smaller_but_not_below_a_grain() -> None:
    slices: list[tuple[int, int]] = []

    def record(_: int, lo: int, hi: int) -> None:
        slices.append((lo, hi))

    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(record)
    address = ctypes.cast(kernel, ctypes.c_void_p).value
    assert address is not None
    with pool_of(2) as pool:
        pool.parallel(address, 0, 1000, 7)
    slices.sort()
    assert slices[0] == (0, 125) and slices[-1][1] == 1000
    assert all(end == start for (_, end), (start, _) in zip(slices, slices[1:], strict=False))
    sizes = [hi - lo for lo, hi in slices]
    assert sizes[:-1] == sorted(sizes[:-1], reverse=True) and min(sizes[:-1]) == 7
