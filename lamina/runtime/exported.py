"""Nets of shared libraries that `Executable.export` has written, in this process.

    net = ExportedNet("net.so")
    results = net.run({"x": x})

What is read before any code of the file runs: its headers, its description and the digest of all but the weights, so
that a damaged file, one for another machine and one that is no net are refused. A stranger's library is code all the
same: load what you trust.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import mmap
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from lamina.backends.cpu.machines import check_runs_here
from lamina.backends.cpu.processors import available_threads
from lamina.backends.cpu.runtime.interface import ABI, CNet
from lamina.backends.link.elf_object import ELF_MAGIC, RECORDS
from lamina.backends.link.shared_object import BUILD_ID, DESCRIPTION, DIGEST, OWNER, build_id_of
from lamina.backends.link.wasm_module import DESCRIPTION as MODULE_DESCRIPTION
from lamina.backends.link.wasm_module import DIGEST_BYTES
from lamina.backends.link.wasm_object import WASM_MAGIC, custom_section
from lamina.dialects.aligned_arrays import aligned_bytes
from lamina.dialects.machine_spec import TargetSpec, is_wasm
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.runtime.direct_call import address_of
from lamina.runtime.given_arrays import given_outputs
from lamina.runtime.machine_code import load_library, unload_library
from lamina.runtime.ports import SIZE, Port, check_inputs, naming_sizes
from lamina.runtime.program import DEFAULT_SPINS
from lamina.runtime.program_file import digests_of
from lamina.runtime.runnable import Runnable
from lamina.runtime.session import KeptValue

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]

_AGAIN = "export the net again"
_LOAD, _NOTE = 1, 4
_DYNAMIC_OBJECT = 3

_i32, _u32, _i64, _ptr = ctypes.c_int32, ctypes.c_uint32, ctypes.c_int64, ctypes.c_void_p
SIZES_FUNCTION = ctypes.CFUNCTYPE(_i32, _ptr, _u32, _ptr, _ptr)
START_FUNCTION = ctypes.CFUNCTYPE(_i32, _ptr, _ptr, _u32, _i64)
RUN_FUNCTION = ctypes.CFUNCTYPE(_i32, _ptr, _ptr, _ptr)
STOP_FUNCTION = ctypes.CFUNCTYPE(None, _ptr)
PACK_FUNCTION = ctypes.CFUNCTYPE(_i32, _ptr, _ptr)
RUN_SHAPES_FUNCTION = ctypes.CFUNCTYPE(_i32, _ptr, ctypes.c_uint64, _ptr, _ptr, _ptr)
TEXT_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_char_p, _i32)
"""The functions of `lamina_net`, for ctypes."""


class NetFile(NamedTuple):
    """A library as its file describes it."""

    description: Mapping[str, Any]
    build_id: str
    code_bytes: int
    """Headers, tables and code: all before the weights."""
    weight_bytes: int
    inputs: tuple[Port, ...]
    """Sizes, which the shapes of the others tell, come first."""
    outputs: tuple[Port, ...]
    target: TargetSpec

    @property
    def name(self) -> str:
        return self.description["name"]


def is_net(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a shared library does."""
    try:
        with open(path, "rb") as file:
            return file.read(len(ELF_MAGIC)) == ELF_MAGIC
    except OSError:
        return False


def read_net(path: str | os.PathLike[str], verify: bool = False) -> NetFile:
    """Read what a library says of itself, and compare it with its digest; with `verify` the weights too.

    Raises InputError for a file that is no exported net, or is damaged.
    """
    with _opened(path) as file:
        return _read_open(file, str(path), verify)


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return open(path, "rb")
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read: {getattr(e, 'strerror', None) or e}", where=str(path)) from None


def _read_open(file: BinaryIO, where: str, verify: bool) -> NetFile:
    try:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read: {getattr(e, 'strerror', None) or e}", where=where) from None
    with data, memoryview(data) as view:
        return _read(view, where, verify)


class _Loaded:
    """A library in this process with the states of its calls, until the last reference to it goes."""

    def __init__(self, file: BinaryIO, where: str) -> None:
        try:
            self.library = load_library(file)
        except OSError as e:
            raise InputError(f"cannot be loaded: {e}", where=where) from None
        self.lock = threading.Lock()
        self.free: list[_State] = []
        # Threads of the states wait in its code. Two finalizers, one for them and one for the library, would run in any
        # order where a cycle of references is collected.
        weakref.finalize(self, _unload, self.library, self.free).atexit = False

    def taken(self) -> _State | None:
        """A state that no call uses, if there is one."""
        with self.lock:
            while self.free:
                state = self.free.pop()
                if state.process == os.getpid():  # the threads of a forked process are not here
                    return state
        return None

    def give_back(self, state: _State) -> None:
        with self.lock:
            self.free.append(state)

    def end_threads(self) -> None:
        """End the threads of states that no call uses."""
        with self.lock:
            states = self.free[:]
            self.free.clear()
        for state in states:
            state.end()


def _unload(library: ctypes.CDLL, states: Sequence[_State]) -> None:
    for state in states:
        state.end()
    unload_library(library)


def _read(view: memoryview, where: str, verify: bool) -> NetFile:
    if bytes(view[:4]) == WASM_MAGIC[:4]:
        return _read_module(view, where, verify)
    segments = _segments(view, where)
    notes = _notes(view, segments, where)
    # The digest comes first: what follows is read of bytes that are what was written.
    found = notes.get((OWNER, DIGEST))
    if found is None or (OWNER, DESCRIPTION) not in notes:
        raise _no_net(where)
    at, size = found
    length = int.from_bytes(view[at + 32 : at + 40], "little")
    identity = notes.get((b"GNU\0", BUILD_ID), (0, 0))
    if size != 40 or not at + size <= length <= len(view) or identity[1] != 20 or identity[0] + 20 > length:
        raise _damaged(where)
    code = bytearray(view[:length])
    code[at : at + 40] = bytes(40)
    code[identity[0] : identity[0] + 20] = bytes(20)
    digest = hashlib.sha256(code).digest()
    if digest != bytes(view[at : at + 32]):
        raise _damaged(where)
    at, size = notes[OWNER, DESCRIPTION]
    description: dict[str, Any] = json.loads(bytes(view[at : at + size]))
    build_id = bytes(view[identity[0] : identity[0] + 20])
    if build_id != build_id_of(digest, bytes.fromhex(description["weights"])):
        raise _damaged(where)
    last = max(((offset, size) for kind, offset, size in segments if kind == _LOAD), default=(0, 0))
    weights = last[1] if last[0] >= length else 0
    if last[0] + last[1] > len(view) or weights != description["bytes"]:
        raise _damaged(where)
    return _net_file(description, build_id, view, (length, last[0], last[0] + weights), where, verify)


def _read_module(view: memoryview, where: str, verify: bool) -> NetFile:
    """The same of a module of WebAssembly, whose weights are all that stands behind its code."""
    try:
        found = custom_section(view, MODULE_DESCRIPTION)
    except (IndexError, ValueError):
        found = None
    if found is None:
        raise _no_net(where)
    at, size = found
    text = at + DIGEST_BYTES + 8
    length = int.from_bytes(view[at + DIGEST_BYTES : text], "little")
    if not text <= at + size <= length <= len(view):
        raise _damaged(where)
    code = bytearray(view[:length])
    code[at : at + DIGEST_BYTES] = bytes(DIGEST_BYTES)
    digest = hashlib.sha256(code).digest()
    if digest != bytes(view[at : at + DIGEST_BYTES]):
        raise _damaged(where)
    description: dict[str, Any] = json.loads(bytes(view[text : at + size]))
    if description["bytes"] != len(view) - length:
        raise _damaged(where)
    build_id = build_id_of(digest, bytes.fromhex(description["weights"]))
    return _net_file(description, build_id, view, (length, length, len(view)), where, verify)


def _net_file(
    description: Mapping[str, Any],
    build_id: bytes,
    view: memoryview,
    places: tuple[int, int, int],
    where: str,
    verify: bool,
) -> NetFile:
    """A file by its description, which is what was written; `places` are the length of all before the weights, where
    these begin and where they end. They are compared with `verify`."""
    length, first, end = places
    if description["abi"] != ABI:
        raise InputError(f"has version {description['abi']} of the interface, not {ABI}", where=where, hint=_AGAIN)
    if verify and digest_of_weights(view[first:end], description).hex() != description["weights"]:
        raise _damaged(where)
    inputs, outputs = named_ports(description)
    target = TargetSpec(**description["target"])
    return NetFile(description, build_id.hex(), length, end - first, inputs, outputs, target)


def named_ports(description: Mapping[str, Any]) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """The inputs, sizes first, and the outputs of a net by its description."""
    sides = [tuple(map(Port.from_plain, description[side])) for side in ("inputs", "outputs")]
    names = [p.name for p in sides[0] if p.dtype == SIZE]
    inputs, outputs = (naming_sizes(side, names) if names else side for side in sides)
    return inputs, outputs


def _no_net(where: str) -> InputError:
    return InputError(
        "is no net that Lamina has exported", where=where, hint="`lamina compile MODEL -o FILE.so` writes them"
    )


def _damaged(where: str) -> InputError:
    return InputError("is damaged: it is not what was written", where=where, hint=f"copy it anew, or {_AGAIN}")


def _segments(view: memoryview, where: str) -> list[tuple[int, int, int]]:
    """Kind, offset and size of the segments of a library."""
    if len(view) < 64 or bytes(view[:4]) != ELF_MAGIC or view[4] not in (1, 2):
        raise _no_net(where)
    bits = 64 if view[4] == 2 else 32
    records = RECORDS[bits]
    header = records.header.unpack_from(view)
    kind, start, size, count = header[1], header[5], header[9], header[10]
    if kind != _DYNAMIC_OBJECT or size != records.program.size or start + count * size > len(view):
        raise _no_net(where)
    rows = [records.program.unpack_from(view, start + n * size) for n in range(count)]
    # The flags are in another place.
    return [(row[0], row[2], row[5]) if bits == 64 else (row[0], row[1], row[4]) for row in rows]


def _notes(
    view: memoryview, segments: Sequence[tuple[int, int, int]], where: str
) -> dict[tuple[bytes, int], tuple[int, int]]:
    """Offset and size of the content of each note, by its owner (to a multiple of four bytes) and kind."""
    found: dict[tuple[bytes, int], tuple[int, int]] = {}
    for kind, offset, size in segments:
        if kind != _NOTE:
            continue
        end = offset + size
        if end > len(view):
            raise _damaged(where)
        while offset + 12 <= end:
            owner, content, type_ = (int.from_bytes(view[offset + n : offset + n + 4], "little") for n in (0, 4, 8))
            name = -(-owner // 4) * 4
            at = offset + 12 + name
            if at + content > end:
                raise _damaged(where)
            found[bytes(view[offset + 12 : at]), type_] = at, content
            offset = at + -(-content // 4) * 4
    return found


def weights_digest(arrays: Sequence[memoryview]) -> bytes:
    """The digest of weights: of the digests of each."""
    return hashlib.sha256(b"".join(digests_of(arrays))).digest()


def digest_of_weights(view: memoryview, description: Mapping[str, Any]) -> bytes:
    """The digest of the weights in the data of a library."""
    pieces: list[memoryview] = []
    for dtype, shape, at in description["params"]:
        size = int(np.prod(shape, dtype=np.int64)) * numpy_dtype(dtype).itemsize
        pieces.append(view[at : at + size])
    return weights_digest(pieces)


class _State:
    """The memory of one call at a time."""

    def __init__(self, net: ExportedNet, size: int) -> None:
        self.memory = aligned_bytes(size)
        self.address = int(self.memory.ctypes.data)
        self.process = os.getpid()
        self._stop = net.stop
        net.check(net.start(self.address, net.params, net.threads, net.spins))
        self.inputs = (_ptr * max(len(net.inputs), 1))()
        self.outputs = (_ptr * max(len(net.outputs), 1))()

    def end(self) -> None:
        """End its threads."""
        if self.process == os.getpid():
            self._stop(self.address)


class _Shapes:
    """Shapes of the inputs of a call, as a library reads them."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        self._extents = [(_i64 * max(a.ndim, 1))(*a.shape) for a in arrays]
        self._pointers = (_ptr * max(len(arrays), 1))(*map(ctypes.addressof, self._extents))
        self.address = ctypes.addressof(self._pointers)


def _optional(record: CNet, name: str) -> int:
    """The address of a function that not every net has, 0 where there is none: records grow at their end."""
    member = getattr(CNet, name)
    return (record.bytes >= member.offset + member.size and getattr(record, name)) or 0


class ExportedNet(Runnable):
    """A net ready to run, from any thread: calls at the same time have a state each, with `threads` threads."""

    def __init__(
        self, path: str | os.PathLike[str], threads: int | None = None, verify: bool = False, name: str | None = None
    ) -> None:
        """Load a library, with as many threads as it was compiled for or `threads` says; `name` is that of the net.

        Raises InputError for a file that is no exported net, is damaged (weights are looked at with `verify` only), or
        is for another machine.
        """
        if threads is not None and (type(threads) is not int or threads < 1):
            raise UsageError(f"threads is a positive integer or None, not {threads!r}")
        self.path = str(path)
        with _opened(path) as file:
            self.file = _read_open(file, self.path, verify)
            ports = (*self.file.inputs, *self.file.outputs)
            if any(extent < 0 for port in ports if port.extents is None for extent in port.shape):
                what = "is a kernel whose extents are those of a call"
                raise UnsupportedError(what, where=self.path, hint="tvm.runtime.load_module(path) gives its function")
            if name is not None and name != self.file.name:
                raise UsageError(f"the net in it is {self.file.name!r}, not {name!r}")
            if is_wasm(self.file.target.triple):
                what, hint = "is a module of WebAssembly, which Python does not run", "node, browsers and wasmtime do"
                raise UnsupportedError(what, where=self.path, hint=f"{hint}: examples/deploy/wasm")
            try:
                check_runs_here(self.file.target)
            except InputError as e:
                e.where = str(path)
                raise
            self._loaded = _Loaded(file, self.path)
        record = CNet.in_dll(self._loaded.library, f"lamina_{self.file.name}")
        self.threads = min(threads or self.file.target.threads, record.threads)
        self.spins = DEFAULT_SPINS if self.threads <= available_threads() else 0
        self.target = self.file.target
        self.sizes, self.start, self._run = (
            SIZES_FUNCTION(record.sizes),
            START_FUNCTION(record.start),
            RUN_FUNCTION(record.run),
        )
        self.stop, self._text = STOP_FUNCTION(record.stop), TEXT_FUNCTION(record.text)
        self._run_shapes = RUN_SHAPES_FUNCTION(_optional(record, "run_shapes"))
        """Null where all extents are known."""
        self._weights = self._packed(record)
        self.params = None if self._weights is None else int(self._weights.ctypes.data)
        """The address of the weights, where the library has packed them now."""

    def _packed(self, record: CNet) -> Array | None:
        """The weights that a library packs when it is loaded; None where it has them."""
        pack = PACK_FUNCTION(_optional(record, "pack"))
        if not pack:
            return None
        weights, room = aligned_bytes(record.params_bytes), aligned_bytes(record.room_bytes)
        self.check(pack(int(weights.ctypes.data), int(room.ctypes.data)))
        return weights

    def described(self) -> NetFile:
        return self.file

    @property
    def notes(self) -> Mapping[str, Any]:
        """The notes that whoever exported it has kept with it."""
        return self.file.description.get("notes", {})

    @property
    def graph(self) -> Mapping[str, Any]:
        """The readers of each kernel (`lamina.driver.call_graph`). Raises UnsupportedError where it was left out."""
        if "graph" not in self.file.description:
            raise UnsupportedError("this library was exported without its graph", where=self.path)
        return self.file.description["graph"]

    def kept(self) -> list[KeptValue]:
        return [KeptValue.from_plain(v) for v in self.file.description["state"]]

    def check(self, code: int) -> None:
        """Raise InputError for a code that is not 0."""
        if code:
            raise InputError(self._text(code).decode(), where=f"net {self.file.name!r}")

    def run_on(self, inputs: Mapping[str, Any], out: Mapping[str, Array] | None) -> dict[str, Array]:
        given = check_inputs(self.file.inputs, inputs)
        sizes = [int(a) for p, a in zip(self.file.inputs, given, strict=True) if p.dtype == SIZE]
        arrays = given[len(sizes) :]
        outputs = [replace(p, shape=p.shape_for(sizes)) for p in self.outputs] if sizes else self.outputs
        results = given_outputs(outputs, out, arrays)
        shapes = _Shapes(arrays) if sizes else None
        state = self._state(shapes)
        try:
            for n, array in enumerate(arrays):
                state.inputs[n] = address_of(array)
            for n, array in enumerate(results):
                state.outputs[n] = address_of(array)
            if shapes is None:
                code = self._run(state.address, state.inputs, state.outputs)
            else:
                held = state.address, state.memory.nbytes, shapes.address
                code = self._run_shapes(*held, state.inputs, state.outputs)
            self.check(code)
        finally:
            self._loaded.give_back(state)
        return {p.name: r for p, r in zip(self.outputs, results, strict=True)}

    def _state(self, shapes: _Shapes | None) -> _State:
        """A state for these shapes: one that no call uses, where it is large enough."""
        found = self._loaded.taken()
        if found is not None and shapes is None:
            return found
        size = ctypes.c_uint64()
        told = shapes.address if shapes is not None else None
        self.check(self.sizes(told, self.threads, None, ctypes.addressof(size)))
        if found is not None and found.memory.nbytes >= size.value:
            return found
        had = 0
        if found is not None:
            had = found.memory.nbytes
            found.end()
            del found  # goes before there is more
        return _State(self, max(size.value, had + had // 4))

    def close(self) -> None:
        self._loaded.end_threads()
