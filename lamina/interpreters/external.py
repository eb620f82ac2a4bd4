"""Functions that external backends run: what a program says of them, and how they are called.

A program's table has a row without a kernel for each call. Whoever runs the program runs the rows before it, calls the
backend with arrays that lie where the kernels' buffers do, and goes on behind it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.errors import InputError, LaminaError
from lamina.passes.relay.partition.external_backends import CODE, CONSTANTS, OUTPUTS, compiler_of, runnable_backend

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ArrayAttr, MemRefType
    from xdsl.ir import Attribute, Operation

    from lamina.dialects.relay.params import ParamStore

    Array: TypeAlias = NDArray[Any]

Shape = tuple[tuple[int, ...], str]
"""The shape and the dtype of an array."""


@dataclass(frozen=True)
class ExternalFunction:
    """A function of an external backend: its code, and what it takes and gives."""

    name: str
    compiler: str
    code: str
    constants: tuple[int, ...]
    """The numbers of its constants among the program's parameters."""
    arguments: tuple[Shape, ...]
    """The inputs, and behind them the results."""
    outputs: int
    """The number of results, which are the last arguments."""

    @staticmethod
    def of(attr: Any) -> ExternalFunction:
        """From an entry of `lamina.program`."""
        data: Mapping[str, Any] = attr.data
        constants = tuple(c.value.data for c in data["constants"])
        arguments = tuple(_shape(t) for t in data["arguments"])
        name, compiler, code = (data[k].data for k in ("name", "compiler", "code"))
        return ExternalFunction(name, compiler, code, constants, arguments, data["outputs"].value.data)

    def plain(self) -> list[Any]:
        arguments = [[list(shape), dtype] for shape, dtype in self.arguments]
        return [self.name, self.compiler, self.code, list(self.constants), arguments, self.outputs]

    @staticmethod
    def from_plain(data: Sequence[Any]) -> ExternalFunction:
        name, compiler, code, constants, arguments, outputs = data
        shapes = tuple((tuple(shape), dtype) for shape, dtype in arguments)
        return ExternalFunction(name, compiler, code, tuple(constants), shapes, outputs)


def _shape(type_: Attribute) -> Shape:
    from xdsl.dialects.builtin import MemRefType, TensorType

    from lamina.dialects.dtypes import dtype_name

    assert isinstance(type_, (MemRefType, TensorType))
    shaped = cast("MemRefType[Attribute]", type_)
    return shaped.get_shape(), dtype_name(shaped.element_type)


@dataclass(frozen=True)
class ExternalCall:
    """An entry of a program that calls an external function."""

    entry: int
    function: int
    """The number of the function among the program's external functions."""
    arguments: tuple[tuple[int, int], ...]
    """Base and byte offset of each argument."""

    @staticmethod
    def of(attr: Any) -> ExternalCall:
        return ExternalCall.from_plain(list(attr.iter_values()))

    def plain(self) -> list[int]:
        return [self.entry, self.function, *(n for pair in self.arguments for n in pair)]

    @staticmethod
    def from_plain(data: Sequence[int]) -> ExternalCall:
        entry, function, *numbers = data
        return ExternalCall(entry, function, tuple(zip(numbers[::2], numbers[1::2], strict=True)))


class LoadedCall:
    """A call that is ready: its backend has loaded the code."""

    def __init__(self, call: ExternalCall, function: ExternalFunction, run: Callable[..., None]) -> None:
        self.entry = call.entry
        self.compiler = function.compiler
        self._run = run
        self._inputs = len(function.arguments) - function.outputs
        self._arguments = [
            (base, offset, shape, numpy_dtype(dtype), prod(shape) * numpy_dtype(dtype).itemsize)
            for (base, offset), (shape, dtype) in zip(call.arguments, function.arguments, strict=True)
        ]

    def run(self, bases: Sequence[int]) -> None:
        """Call it with the program's base pointers, the status block, which is base 0, left out."""
        arrays = [
            _array(bases[base - 1] + offset, shape, dtype, size) for base, offset, shape, dtype, size in self._arguments
        ]
        self._run(arrays[: self._inputs], arrays[self._inputs :])


def _array(address: int, shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> Array:
    """Memory at an address as an array. Whoever gives the address keeps the memory."""
    if not size:
        return np.empty(shape, dtype)
    memory: Any = (ctypes.c_char * size).from_address(address)
    return np.frombuffer(memory, dtype).reshape(shape)


def load_calls(
    functions: Sequence[ExternalFunction], calls: Sequence[ExternalCall], params: Sequence[Array], threads: int
) -> list[LoadedCall]:
    """Load the functions of a program. Raises InputError naming a backend that is not here or cannot run."""
    loaded = [_load(f.name, f.compiler, f.code, [params[n] for n in f.constants], threads) for f in functions]
    return [LoadedCall(c, functions[c.function], loaded[c.function]) for c in calls]


def _load(name: str, compiler: str, code: str, constants: Sequence[Array], threads: int) -> Callable[..., None]:
    backend = runnable_backend(compiler)
    try:
        return backend.load(code, constants, threads)
    except LaminaError:
        raise
    except Exception as e:
        said = " ".join(str(e).split())[:300]
        what = f"the external backend {compiler!r} does not load @{name}: {type(e).__name__}: {said}"
        raise InputError(what, hint="it may have been compiled for another version") from e


# -- declarations, at the levels above the program table --------------------------------------------------------


def declared_outputs(declaration: Operation) -> int:
    """The number of results of an external function, on tensors or on buffers."""
    from xdsl.dialects.builtin import IntegerAttr
    from xdsl.dialects.func import FuncOp

    count = declaration.attributes.get(OUTPUTS)
    assert isinstance(declaration, FuncOp)
    return count.value.data if isinstance(count, IntegerAttr) else len(declaration.function_type.outputs)


def run_declared(declaration: Operation, arrays: Sequence[Array], store: ParamStore) -> list[Array]:
    """The results of an external function on arrays."""
    return load_declared(declaration, store, 1)(arrays)


def load_declared(declaration: Operation, store: ParamStore, threads: int) -> Callable[[Sequence[Array]], list[Array]]:
    """Return a function that calls an external one on arrays. Raises InputError where its backend cannot run."""
    from xdsl.dialects.builtin import StringAttr
    from xdsl.dialects.func import FuncOp

    assert isinstance(declaration, FuncOp)
    code = declaration.attributes[CODE]
    assert isinstance(code, StringAttr)
    constants = cast("ArrayAttr[Attribute]", declaration.attributes[CONSTANTS])
    values = [np.ascontiguousarray(store.get(c)) for c in constants]  # type: ignore[arg-type]
    name, compiler = declaration.sym_name.data, compiler_of(declaration) or ""
    run = _load(name, compiler, code.data, values, threads)
    type_ = declaration.function_type
    taken = [_shape(t) for t in (*type_.inputs, *type_.outputs)]
    made = [(shape, numpy_dtype(dtype)) for shape, dtype in taken[len(taken) - declared_outputs(declaration) :]]

    def call(arrays: Sequence[Array]) -> list[Array]:
        results = [np.empty(shape, dtype) for shape, dtype in made]
        try:
            run([np.asarray(a, order="C") for a in arrays], results)
        except LaminaError:
            raise
        except Exception as e:
            said = " ".join(str(e).split())[:300]
            what = f"the external backend {compiler!r} failed: {type(e).__name__}: {said}"
            raise InputError(what, op=declaration) from e
        return results

    return call
