"""The levels below te in copies of this process, while this one packs the weights.

    this process    ... te ─┬─ packs weights, loads the run-time ──────────────────── program
    a copy                  └─ te to tir ─┬─ kernels, one after the other ─ @main ─┘
    more copies                           └─ kernels ─┘

A copy (`fork`) has the module, the passes and LLVM as they are in memory: no text is read again, nothing imported. At
tir every kernel stands for itself, so the copies take them from one queue, the largest first, and take each from there
to its object. What comes out is what one process makes, byte for byte.

A copy has nothing of the other threads of its origin but the locks that they hold: a process is not copied while one of
them is in code that the copy needs. A copy that fails, dies or falls silent has no result: its origin then does the
work itself, and meets the fault where it can name it.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from socket import socketpair
from time import perf_counter
from typing import IO, TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp

from lamina.backends.cpu.compile_kernels import compile_cached, default_workers
from lamina.backends.cpu.compile_worker import receive, send
from lamina.backends.llvm.emit import emit_kernel, emit_kernels
from lamina.dialects.fast_ir import all_ops, discard
from lamina.dialects.llvm_target.ops import FuncOp
from lamina.dialects.tir.checks import CheckOp
from lamina.dialects.tir.limits import unrolled_length
from lamina.dialects.tir.ops import FuncOp as Kernel
from lamina.driver.lowering_here import LAST, Kernels, LoweringHere, constants_of, has_many_kernels
from lamina.driver.pipelines import Progress
from lamina.driver.step_notes import step_note
from lamina.runtime.llvm_module import info_of_module

if TYPE_CHECKING:
    from lamina.driver.compilation import Compilation
    from lamina.driver.weight_packing import WeightPacking

_NUMBER = struct.Struct("<H")
"""A kernel in the queue. The pipe that holds it has room for 32,768 of them on Linux."""
READER = "lamina-read"
"""Beginning of the names of threads that read models; they end by themselves."""
MOST_KERNELS = 8192
"""More are for one process: the queue is a pipe that is filled before anybody reads it."""
LONGEST_SILENCE = 120.0
"""Seconds without a word after which a copy counts as lost. It says one after each pass and each kernel."""
_ALIVE, _OBJECT, _END = b"a", b"o", b"e"


_NEEDED = frozenset(("lamina", "xdsl", "llvmlite", "importlib", "_frozen_importlib", "numba"))
"""Packages that have locks, and that a copy runs: LLVM has one, every module one while it is imported."""


class CannotCopy(Exception):
    """The process cannot be copied now."""


def can_copy() -> bool:
    """Whether this process can be copied, and there is a second processor for the copy."""
    for thread in threading.enumerate():
        if thread.name.startswith(READER):
            thread.join(1)  # a model was read: it has nothing to do any more
    return sys.platform == "linux" and default_workers() > 1 and not _others_in_the_way()


def _others_in_the_way() -> bool:
    """Whether another thread is in code that a copy needs: it may hold a lock, which nobody would open there."""
    own = threading.get_ident()
    for ident, top in sys._current_frames().items():  # pyright: ignore[reportPrivateUsage]
        frame = top if ident != own else None
        while frame is not None:
            if str(frame.f_globals.get("__name__")).partition(".")[0] in _NEEDED:
                return True
            frame = frame.f_back
    return False


class Lowering:
    """Kernels on their way down in a copy, or in one that helps it: it takes them from the last pass."""

    def __init__(self, compilation: Compilation) -> None:
        self.compilation = compilation
        self.module = compilation.source.module
        self.target = compilation.settings.attr
        self.steps: list[tuple[str, float, str]] = []
        """The arguments of `Progress` for each pass, still to be reported."""
        self.alive: Callable[[], None] = lambda: None
        """Called after each pass and each kernel."""
        self._helpers: _Helpers | None = None
        self.ops = 0
        self.length = 0
        self.emitting = self.compiling = 0.0
        self.objects: dict[str, bytes] = {}

    def run(self) -> Kernels:
        """Lower and compile everything, with the help of more copies."""
        self.compilation.kernels = self
        self._lower(self.module, "te", "tir", self._step)
        kernels = [op for op in self.module.ops if isinstance(op, Kernel)]
        start = perf_counter()
        with _Helpers(self, kernels) as helpers:
            self._helpers = helpers
            self._lower(self.module, "tir", "llvm")
            info = info_of_module(self.module)
            symbols = [op.sym_name.data for op in self.module.ops if isinstance(op, FuncOp)]
            self._compile(emit_kernels(self.module, self.target))
            waiting = perf_counter()
            self.objects.update(helpers.result())
            self.compiling += perf_counter() - waiting
        spent = perf_counter() - start - self.emitting - self.compiling
        size = sum(map(len, self.objects.values())) / 1e6
        self.steps += [
            (LAST, spent, f"{self.ops} ops"),
            ("emit-llvm", self.emitting, f"{len(self.objects)} pieces, {self.length / 1e6:.1f} MB of LLVM assembly"),
            ("llvm-codegen", self.compiling, f"{size:.2f} MB of machine code"),
        ]
        # In the order of the kernels, whoever has made them.
        order = [*(s for s in symbols if s in self.objects), *(n for n in self.objects if n not in symbols)]
        return Kernels(info.plain(), list(info.params), {name: self.objects[name] for name in order})

    def _lower(self, module: ModuleOp, start: str, until: str, progress: Progress | None = None) -> None:
        self.compilation.settings.pipeline.run(module, self.compilation.ctx, progress, start, until)

    def _step(self, name: str, seconds: float, note: str) -> None:
        self.steps.append((name, seconds, note or step_note(name, self.module)))
        self.alive()

    def take(self, kernels: Iterable[Kernel]) -> dict[str, bytes]:
        """Lower and compile some kernels of the tir level by themselves; their objects."""
        self._helpers = None
        for kernel in kernels:
            kernel.detach()
            self._lower(ModuleOp([kernel], dict(self.module.attributes)), "tir", "llvm")
        return self.objects

    def share(self, kernels: Sequence[Kernel]) -> Iterable[Kernel]:
        return self._helpers.share(kernels) if self._helpers is not None else kernels

    def finished(self, functions: Sequence[FuncOp], declared: Mapping[str, FuncOp]) -> None:
        self._compile(emit_kernel(functions, declared, self.target))
        self.ops += len(functions) + sum(discard(f.body) for f in functions)

    def _compile(self, texts: Iterable[tuple[str, str]]) -> None:
        start = perf_counter()
        pieces = list(texts)
        between = perf_counter()
        for name, text in pieces:
            self.objects[name] = compile_cached(name, text, self.target, self.compilation.objects)
            self.length += len(text)
            self.alive()
        self.emitting += between - start
        self.compiling += perf_counter() - between


class _Helpers:
    """Copies that take kernels from the same queue as this process."""

    def __init__(self, lowering: Lowering, kernels: Sequence[Kernel]) -> None:
        self._lowering = lowering
        self._kernels = kernels
        self._copies: list[Copy] = []
        # The messages of checks are numbered in the order of the kernels.
        checked = any(isinstance(op, CheckOp) for k in kernels for op in all_ops(k))
        self._alone = checked or not 1 < len(kernels) <= MOST_KERNELS

    def __enter__(self) -> _Helpers:
        return self

    def __exit__(self, *_: object) -> None:
        for copy in self._copies:
            copy.close()

    def share(self, kernels: Sequence[Kernel]) -> Iterator[Kernel]:
        """Those that this process takes, one after the other."""
        if self._alone:
            yield from kernels
            return
        order = sorted(range(len(kernels)), key=lambda n: -unrolled_length(kernels[n].body.block.ops))
        queue, filling = os.pipe()
        try:
            with os.fdopen(filling, "wb") as sink:
                sink.write(b"".join(map(_NUMBER.pack, order)))
            origin = os.getpid()

            def claimed() -> Iterator[Kernel]:
                # Nobody waits for a copy whose origin has gone.
                while (os.getpid() == origin or os.getppid() == origin) and (data := os.read(queue, _NUMBER.size)):
                    yield kernels[_NUMBER.unpack(data)[0]]

            try:
                for _ in range(min(default_workers(), len(kernels)) - 1):
                    self._copies.append(Copy(lambda sink: self._help(claimed(), sink)))
            except CannotCopy:
                pass  # those that there are, and this process, do it
            yield from claimed()
        finally:
            os.close(queue)

    def _help(self, kernels: Iterator[Kernel], sink: IO[bytes]) -> None:
        """In a copy: take kernels as long as there are any, then send what they have become."""
        lowering = self._lowering
        before = set(lowering.objects)
        lowering.ops = lowering.length = 0
        lowering.alive = partial(send, cast(Any, sink), _ALIVE, b"")
        objects = lowering.take(kernels)
        _send_objects(sink, {name: data for name, data in objects.items() if name not in before})
        _send_json(sink, _END, [lowering.ops, lowering.length])

    def result(self) -> dict[str, bytes]:
        """The objects of the copies. Raises _Lost where one of them has not come to its end."""
        found: dict[str, bytes] = {}
        for copy in self._copies:
            end = None
            for kind, data in copy.messages():
                if kind == _OBJECT:
                    found.update([_object(data)])
                elif kind == _END:
                    end = json.loads(data)
                self._lowering.alive()
            if end is None:
                raise _Lost
            self._lowering.ops += end[0]
            self._lowering.length += end[1]
        return found


class _Lost(Exception):
    """A copy is gone before it was done."""


class Copy:
    """A copy of this process that does one thing and ends; what it writes to its sink is read here."""

    def __init__(self, work: Callable[[IO[bytes]], None]) -> None:
        """Raises CannotCopy where there is no memory for it, or another thread is in the way."""
        source, sink_end = socketpair()
        source.settimeout(LONGEST_SILENCE)
        origin, interval = os.getpid(), sys.getswitchinterval()
        try:
            # What the other threads are at must still be true when the process is copied.
            sys.setswitchinterval(3600)
            if _others_in_the_way():
                raise CannotCopy
            with warnings.catch_warnings():
                # Later Pythons count all threads, also those of NumPy's BLAS.
                warnings.simplefilter("ignore", DeprecationWarning)
                self.pid = os.fork()
                if self.pid == 0:
                    sys.setswitchinterval(interval)
                    source.close()
                    with os.fdopen(sink_end.detach(), "wb") as sink:
                        work(sink)
                    os._exit(0)
        except BaseException as error:
            if os.getpid() != origin:
                # Without what a program does at its end. The origin does the work again, and says what is wrong.
                os._exit(1)
            source.close()
            sink_end.close()
            if isinstance(error, OSError):
                raise CannotCopy from error
            raise
        finally:
            sys.setswitchinterval(interval)
        sink_end.close()
        with source:  # the file keeps it open
            self._source = source.makefile("rb")
        self._ended = False

    def messages(self) -> Iterator[tuple[bytes, bytes]]:
        """The messages of the copy, until it ends or says nothing for too long."""
        try:
            while (message := receive(self._source)) is not None:
                yield message
        except TimeoutError:
            return  # it will be killed
        self._ended = True

    def close(self) -> None:
        """End the copy if it has not ended yet."""
        self._source.close()
        try:
            if not self._ended:
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass  # the program collects its children by itself


class LoweringCopy:
    """A copy of this process that takes a module from te down. Making one raises CannotCopy."""

    def __init__(self, lowering: Lowering) -> None:
        self.constants = constants_of(lowering.module)
        self._copy = Copy(lambda sink: self._work(lowering, sink))

    def __enter__(self) -> LoweringCopy:
        return self

    def __exit__(self, *_: object) -> None:
        self._copy.close()

    def _work(self, lowering: Lowering, sink: IO[bytes]) -> None:
        lowering.alive = partial(send, cast(Any, sink), _ALIVE, b"")
        found = lowering.run()
        places = {attr: n for n, attr in enumerate(self.constants)}
        _send_objects(sink, found.objects)
        _send_json(sink, _END, [found.program, [places[p] for p in found.params], lowering.steps])

    def result(self, progress: Progress) -> Kernels | None:
        """Wait for the copy; its steps are reported then. None where it has failed."""
        objects: dict[str, bytes] = {}
        end = None
        for kind, data in self._copy.messages():
            if kind == _OBJECT:
                objects.update([_object(data)])
            elif kind == _END:
                end = json.loads(data)
        if end is None:
            return None
        program, params, steps = end
        for name, seconds, note in steps:
            progress(name, seconds, note)
        return Kernels(program, [self.constants[n] for n in params], objects)


class LoweringInCopies(LoweringHere):
    """Lowers and compiles the kernels in copies where there are many, and here where that fails."""

    ahead = False

    def kernels(self, weights: WeightPacking) -> Kernels:
        made = self._copied(weights) if has_many_kernels(self.compilation.source.module) else None
        return made if made is not None else super().kernels(weights)

    def _copied(self, weights: WeightPacking) -> Kernels | None:
        try:
            with LoweringCopy(Lowering(self.compilation)) as copy:
                weights.result(copy.constants)
                self.compilation.meanwhile()
                return copy.result(self.compilation.step)
        except CannotCopy:
            return None  # too little memory, or a thread has come


def _send_objects(sink: IO[bytes], objects: Mapping[str, bytes]) -> None:
    for name, data in objects.items():
        encoded = name.encode()
        send(cast(Any, sink), _OBJECT, _NUMBER.pack(len(encoded)) + encoded + data)


def _object(data: bytes) -> tuple[str, bytes]:
    end = _NUMBER.size + _NUMBER.unpack_from(data)[0]
    return data[_NUMBER.size : end].decode(), data[end:]


def _send_json(sink: IO[bytes], kind: bytes, value: Any) -> None:
    send(cast(Any, sink), kind, json.dumps(value).encode())
