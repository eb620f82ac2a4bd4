"""The arguments of a call of a kernel: what a program says of them, and arrays bound to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lamina.dialects.dtypes import numpy_dtype
from lamina.errors import InputError
from lamina.runtime.packed import PackedSignature
from lamina.te.expr import Var
from lamina.te.function import TensorFunction
from lamina.te.tensor import Tensor, placeholder

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Parameters:
    """The parameters of a kernel: sizes, inputs (tensors, and scalars as variables), outputs."""

    sizes: Sequence[Var]
    inputs: Sequence[Tensor | Var]
    outputs: Sequence[Tensor]

    @staticmethod
    def of(signature: PackedSignature) -> Parameters:
        """Those of a kernel that was no tensor program, by its own names."""
        tensors = [placeholder((1,) * len(a.extents), a.dtype, a.name) for a in signature.arguments]
        first = next((n for n, a in enumerate(signature.arguments) if a.output), len(tensors))
        return Parameters([Var(n) for n in signature.sizes], tensors[:first], tensors[first:])

    def all_parameters(self) -> list[Tensor | Var]:
        """Inputs and outputs."""
        return [*self.inputs, *self.outputs]


@dataclass(frozen=True)
class CallArguments:
    """The arguments that a kernel is called with."""

    name: str
    parameters: Parameters
    args: Sequence[Any]
    """The parameters in the order of a call."""
    signature: PackedSignature

    @staticmethod
    def of(
        name: str, signature: PackedSignature, function: TensorFunction | None, args: Sequence[Any]
    ) -> CallArguments:
        """Those of a kernel; without a function they are the kernel's: sizes that no extent tells, then the buffers.

        Raises InputError where nothing tells a size.
        """
        if function is None:
            parameters = Parameters.of(signature)
            free = [parameters.sizes[n] for n in signature.free]
            order: list[Any] = [*free, *parameters.all_parameters()]
        else:
            parameters = Parameters(function.sizes, function.inputs, function.outputs)
            order = list(args)
        # What the IR calls arguments is unique and printable; a message has the user's names.
        names = [t.name for t in parameters.all_parameters()]
        arguments = tuple(replace(a, name=n) for a, n in zip(signature.arguments, names, strict=True))
        signature = replace(signature, name=name, arguments=arguments)
        for n in signature.free:
            if not any(a is parameters.sizes[n] for a in order):
                size = signature.sizes[n]
                raise InputError(f"{name}: no argument tells the size {size!r}", hint="make it an argument of its own")
        return CallArguments(name, parameters, order, signature)

    def bound(self, args: Sequence[Any]) -> tuple[list[int], list[Array], list[Array], list[tuple[Array, Array]]]:
        """The sizes, checked inputs and outputs, and the outputs to copy to their arrays afterwards.

        Raises InputError for whatever does not fit.
        """
        if len(args) != len(self.args):
            names = ", ".join(a.name for a in self.args)
            raise InputError(f"{self.name} takes {len(self.args)} arguments ({names}), got {len(args)}")
        given = {id(a): getattr(v, "numpy_view", v) for a, v in zip(self.args, args, strict=True)}
        inputs = [
            _as_array(given[id(t)]) if isinstance(t, Tensor) else _as_number(t, given[id(t)])
            for t in self.parameters.inputs
        ]
        outputs = [given[id(t)] for t in self.parameters.outputs]
        # An output that is not compact is computed beside it; what is read must not change while it is read.
        compact = [np.empty(o.shape, o.dtype) if _is_strided(o) and o.flags.writeable else o for o in outputs]
        inputs = [a.copy() if any(_share(a, o) for o in compact) else a for a in inputs]
        for n, output in enumerate(outputs):
            if any(_share(output, other) for other in outputs[:n]):
                raise InputError("two outputs share memory", where=f"call of {self.name}")
        free = [given[id(self.parameters.sizes[n])] for n in self.signature.free]
        sizes, arrays = self.signature.bind([*free, *inputs, *compact])
        for name, size, known in zip(self.signature.sizes, self.parameters.sizes, sizes, strict=True):
            if not np.array_equal(given.get(id(size), known), known):
                told = given[id(size)]
                what = "an array" if np.ndim(told) else repr(told)
                raise InputError(f"{self.name}.{name} is {what}, the arrays have {name} = {known}")
        copies = [(o, c) for o, c in zip(outputs, compact, strict=True) if o is not c]
        return sizes, arrays[: len(inputs)], arrays[len(inputs) :], copies


def _is_strided(array: Any) -> bool:
    return isinstance(array, np.ndarray) and not cast("Array", array).flags.c_contiguous


def _share(a: Any, b: Any) -> bool:
    """Whether two arrays have memory in common."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return False
    x, y = cast("Array", a), cast("Array", b)
    return np.may_share_memory(x, y) and np.shares_memory(x, y)


def _as_number(scalar: Var, value: Any) -> Array:
    """A scalar argument as an array of rank 0."""
    try:
        return np.asarray(value, numpy_dtype(scalar.dtype))
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"{scalar.name} is a number of type {scalar.dtype}, not {value!r}") from None


def _as_array(value: Any) -> Array:
    """An argument as a compact numpy array, which shares its memory where that is possible."""
    try:
        return np.asarray(value, order="C")
    except (ValueError, TypeError, RuntimeError) as e:
        raise InputError(f"not an array: {' '.join(str(e).split())[:120]}") from None
