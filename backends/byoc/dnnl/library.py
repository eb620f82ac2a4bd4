"""oneDNN's C interface by ctypes: where the library is found, its functions, and the numbers of its enumerations.

It is looked for where the environment variable LAMINA_DNNL_LIBRARY says, else in the wheel `onednn-cpu-gomp`, which the
extra `lamina[dnnl]` installs, else among the system's libraries. All 3.x have the same interface.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from typing import Any

VARIABLE = "LAMINA_DNNL_LIBRARY"
WHEEL = "onednn-cpu-gomp"
SYSTEM = "libdnnl.so.3"
MISSING = f"oneDNN is not installed (pip install 'lamina[dnnl]', or name its library in {VARIABLE})"
MAJOR = 3
SPINS, POLLS = "GOMP_SPINCOUNT", 2000
"""Polls before an idle thread sleeps: some 50 us, longer than from one primitive to the next."""

# -- dnnl_types.h --------------------------------------------------------------------------------------------------

MAX_RANK = 12
ANY = 1
"""The format tag that leaves the layout to a primitive."""
INFERENCE = 96
CPU = 1
IN_ORDER = 1
THREADPOOL = 8
"""A kind of cpu_runtime."""
DTYPES = {"float32": 3, "int32": 4, "int8": 5, "uint8": 6}
UNIMPLEMENTED = 3
_STATUS = {1: "out of memory", 2: "invalid arguments", UNIMPLEMENTED: "not implemented", 5: "runtime error"}
CONVOLUTION, DECONVOLUTION = 0x1, 0xA
ELTWISE = {
    "relu": 0x20, "tanh": 0x21, "abs": 0x24, "sqrt": 0x25, "linear": 0x26, "logistic": 0x29, "exp": 0x2A,
    "swish": 0x2C, "log": 0x2D, "clip": 0x2E, "gelu": 0x31, "round": 0x32, "mish": 0x33,
}  # fmt: skip
BINARY = {"add": 0x1FFF0, "multiply": 0x1FFF1, "divide": 0x1FFF4, "subtract": 0x1FFF5}
POOL_MAX, POOL_AVG_WITH_PADDING, POOL_AVG = 0x1FF, 0x2FF, 0x3FF
LRN_ACROSS_CHANNELS = 0xAFF
SOFTMAX, LOG_SOFTMAX = 0x30000, 0x30001
USE_GLOBAL_STATS, USE_SCALE, USE_SHIFT = 1, 2, 4
SRC_MD, WEIGHTS_MD, DST_MD, SCRATCHPAD_MD, ARGUMENT_MD = 129, 131, 133, 136, 255
STRIDES, INNER_BLOCKS = 14, 263
SCRATCHPAD_BY_USER = 1
SRC, SRC_1, DST, WEIGHTS, BIAS, MEAN, VARIANCE, SCALE, SHIFT, SCRATCHPAD = 1, 2, 17, 33, 41, 49, 50, 51, 52, 80
MULTIPLE_SRC = 1024
VNNI = 0x8 | 0x40
"""Bits of the instruction set: 8-bit products of AVX2 and of AVX-512 that do not saturate on the way."""


def post_operand(number: int) -> int:
    """The argument that is the operand of a binary post-op."""
    return 32768 * (number + 1) | SRC_1


class DnnlError(Exception):
    """A call that oneDNN refused; `status` says how."""

    def __init__(self, function: str, status: int) -> None:
        super().__init__(f"{function}: {_STATUS.get(status, f'status {status}')}")
        self.status = status


Dims = ctypes.c_int64 * MAX_RANK


class Argument(ctypes.Structure):
    """dnnl_exec_arg_t."""

    _fields_ = [("arg", ctypes.c_int), ("memory", ctypes.c_void_p)]


class _Version(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int) for name in ("major", "minor", "patch")),
        ("hash", ctypes.c_char_p),
        ("cpu_runtime", ctypes.c_uint),
        ("gpu_runtime", ctypes.c_uint),
    ]


def dims(numbers: Any) -> Any:
    """A dnnl_dims_t."""
    return Dims(*numbers)


def _signatures() -> dict[str, tuple[Any, ...]]:
    """The argument types of the functions; those that make something write it to the address that comes first."""
    p, i, n, f = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_float
    made, d = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int64)
    described = made, p  # a primitive descriptor, for an engine
    return {
        "engine_create": (made, i, n),
        "stream_create": (made, p, ctypes.c_uint),
        "stream_wait": (p,),
        "memory_desc_create_with_strides": (made, i, d, i, d),
        "memory_desc_create_with_tag": (made, i, d, i, i),
        "memory_desc_clone": (made, p),
        "memory_desc_destroy": (p,),
        "memory_desc_permute_axes": (made, p, ctypes.POINTER(i)),
        "memory_desc_query": (p, i, p),
        "memory_create": (made, p, p, p),
        "memory_set_data_handle": (p, p),
        "memory_destroy": (p,),
        "post_ops_create": (made,),
        "post_ops_append_eltwise": (p, i, f, f),
        "post_ops_append_binary": (p, i, p),
        "post_ops_destroy": (p,),
        "primitive_attr_create": (made,),
        "primitive_attr_set_post_ops": (p, p),
        "primitive_attr_set_scratchpad_mode": (p, i),
        "primitive_attr_destroy": (p,),
        "primitive_create": (made, p),
        "primitive_execute": (p, p, i, p),
        "primitive_destroy": (p,),
        "primitive_desc_destroy": (p,),
        "reorder_primitive_desc_create": (made, p, p, p, p, p),
        "concat_primitive_desc_create": (*described, p, i, i, made, p),
        "binary_primitive_desc_create": (*described, i, p, p, p, p),
        "convolution_forward_primitive_desc_create": (*described, i, i, p, p, p, p, d, d, d, d, p),
        "deconvolution_forward_primitive_desc_create": (*described, i, i, p, p, p, p, d, d, d, d, p),
        "matmul_primitive_desc_create": (*described, p, p, p, p, p),
        "eltwise_forward_primitive_desc_create": (*described, i, i, p, p, f, f, p),
        "softmax_forward_primitive_desc_create": (*described, i, i, p, p, i, p),
        "pooling_forward_primitive_desc_create": (*described, i, i, p, p, d, d, d, d, d, p),
        "lrn_forward_primitive_desc_create": (*described, i, i, p, p, ctypes.c_int64, f, f, f, p),
        "batch_normalization_forward_primitive_desc_create": (*described, i, p, p, f, ctypes.c_uint, p),
        "layer_normalization_forward_primitive_desc_create": (*described, i, p, p, p, f, ctypes.c_uint, p),
    }


_OTHERS: dict[str, tuple[Any, ...]] = {
    "memory_desc_equal": (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p),
    "memory_desc_get_size": (ctypes.c_size_t, ctypes.c_void_p),
    "primitive_desc_query_md": (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int),
    "get_effective_cpu_isa": (ctypes.c_int,),
}
"""Functions that return no status: what they return, and what they take."""


_parallel: set[int] = set()
"""The processes in which oneDNN has used several threads: this one, and those it was forked from."""


@dataclass(frozen=True)
class Library:
    """A loaded oneDNN."""

    path: str
    version: tuple[int, int, int]
    functions: Mapping[str, Any]
    """By their names without `dnnl_`."""
    engine: Any
    stream: Any
    get_threads: Callable[[], int] | None
    set_threads: Callable[[int], None]
    """OpenMP's; nothing to ask where the library is built without."""
    has_exact_bytes: bool
    """Whether products of 8-bit numbers are summed exactly on this machine."""

    def call(self, function: str, *arguments: Any) -> None:
        """Call a function that returns a status. Raises DnnlError."""
        status = self.functions[function](*arguments)
        if status:
            raise DnnlError(function, status)

    def make(self, function: str, *arguments: Any) -> Any:
        """Call a function and return the handle that it writes to its first argument."""
        made = ctypes.c_void_p()
        self.call(function, ctypes.byref(made), *arguments)
        return made.value

    @staticmethod
    def usable_threads(count: int) -> int:
        """As many threads, or one in a child forked from a process that has used several.

        The child has none of them, and GCC's OpenMP would wait for them for ever.
        """
        process = os.getpid()
        if count == 1 or (_parallel and process not in _parallel):
            return 1
        _parallel.add(process)
        return count

    @contextmanager
    def threads(self, count: int) -> Generator[None]:
        """Use so many threads while it lasts: the number is that of OpenMP for the calling thread."""
        before: int = count if self.get_threads is None else self.get_threads()
        if before == count:
            yield
            return
        self.set_threads(count)
        try:
            yield
        finally:
            self.set_threads(before)


def candidates() -> list[str]:
    """Paths where the library may be, the best place first."""
    named = os.environ.get(VARIABLE)
    if named:
        return [named]
    try:
        listed = files(WHEEL) or []
    except PackageNotFoundError:
        listed = []
    return [*(str(f.locate()) for f in listed if f.name == SYSTEM), SYSTEM]


def load() -> Library | str:
    """The library, or why there is none."""
    return _load(tuple(candidates()))


@contextmanager
def _short_spins() -> Generator[None]:
    """Libraries loaded meanwhile get an OpenMP whose idle threads sleep soon, unless the environment says otherwise.

    By default GCC's poll for milliseconds: where other threads want the processors, ours among them, everyone waits.
    """
    if any(name in os.environ for name in (SPINS, "OMP_WAIT_POLICY")):
        yield
        return
    os.environ[SPINS] = str(POLLS)
    try:
        yield
    finally:
        del os.environ[SPINS]


@cache
def _load(paths: tuple[str, ...]) -> Library | str:
    for path in paths:
        try:
            with _short_spins():
                loaded = ctypes.CDLL(path)
        except OSError as e:
            if os.environ.get(VARIABLE) == path:
                return f"oneDNN does not load from {path}, as {VARIABLE} says: {e}"
            continue
        return _library(loaded, path)
    return MISSING


def _ignore(threads: int) -> None:
    """In the place of OpenMP's function where there is none."""


def _library(loaded: Any, path: str) -> Library | str:
    try:
        version = loaded.dnnl_version
        functions = {name: getattr(loaded, f"dnnl_{name}") for name in (*_signatures(), *_OTHERS)}
    except AttributeError as e:
        return f"{path} is no oneDNN of version {MAJOR}: {e}"
    version.restype = ctypes.POINTER(_Version)
    found = version().contents
    if found.major != MAJOR:
        return f"{path} is oneDNN {found.major}.{found.minor}, {MAJOR} is needed"
    if found.cpu_runtime == THREADPOOL:
        return f"{path} is a oneDNN that wants a thread pool of its caller"
    for name, taken in _signatures().items():
        functions[name].argtypes, functions[name].restype = list(taken), ctypes.c_int
    for name, (result, *taken) in _OTHERS.items():
        functions[name].argtypes, functions[name].restype = taken, result
    engine, stream = ctypes.c_void_p(), ctypes.c_void_p()
    if functions["engine_create"](ctypes.byref(engine), CPU, 0):
        return f"{path} has no engine for this machine"
    if functions["stream_create"](ctypes.byref(stream), engine, IN_ORDER):
        return f"{path} makes no stream on this machine"
    threads = getattr(loaded, "omp_get_max_threads", None), getattr(loaded, "omp_set_num_threads", _ignore)
    is_exact = bool(functions["get_effective_cpu_isa"]() & VNNI)
    version = found.major, found.minor, found.patch
    return Library(path, version, functions, engine.value, stream.value, *threads, is_exact)
