"""The short way into a program of fixed shapes: what is the same in every call is made once.

A call of a small model is as long as its way in. Here it looks at each input once, takes fresh arrays for the results
and fills in their addresses; whatever is not as declared goes the long way, which says what is wrong.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from lamina.backends.cpu.pool import STATUS_WORDS
from lamina.dialects.numpy_dtypes import numpy_dtype

if TYPE_CHECKING:
    from lamina.runtime.compiled import Port
    from lamina.runtime.program import Failure, Program, ThreadPool

    Array = np.ndarray[Any, np.dtype[Any]]


def _is_compact(array: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> TypeGuard[Array]:
    """Whether it is an array of this type and shape, its elements one behind the other."""
    return (
        type(array) is np.ndarray and array.dtype == dtype and array.shape == shape and bool(array.flags.c_contiguous)
    )


class DirectCall:
    """The calls of one program; they take turns."""

    def __init__(self, inputs: Sequence[Port], outputs: Sequence[Port], arena: int, params: Sequence[int]) -> None:
        self._inputs = [(p.name, numpy_dtype(p.dtype), p.shape) for p in inputs]
        self._outputs = [(p.shape, numpy_dtype(p.dtype)) for p in outputs]
        count = len(inputs) + len(outputs)
        self._status = (ctypes.c_int64 * STATUS_WORDS)()
        self._bases = (ctypes.c_void_p * (2 + count + len(params)))(
            ctypes.addressof(self._status), arena, *[None] * count, *params
        )

    @staticmethod
    def fits(ports: Sequence[Port]) -> bool:
        """Whether all are tensors of known shape."""
        return all(p.extents is None and p.dtype not in ("", "index") for p in ports)

    def arrays(self, inputs: Mapping[str, Any]) -> list[Array] | None:
        """The inputs in order, if they are arrays just as declared."""
        if len(inputs) != len(self._inputs):
            return None
        found: list[Array] = []
        for name, dtype, shape in self._inputs:
            array = inputs.get(name)
            if not _is_compact(array, dtype, shape):
                return None
            found.append(array)
        return found

    def are_apart(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
        """Whether all are arrays just as declared, and none of those that are written has memory of another."""
        if len(inputs) != len(self._inputs) or len(outputs) != len(self._outputs):
            return False
        for (_, dtype, shape), array in zip(self._inputs, inputs, strict=True):
            if not _is_compact(array, dtype, shape):
                return False
        for (shape, dtype), array in zip(self._outputs, outputs, strict=True):
            if not _is_compact(array, dtype, shape) or not array.flags.writeable:
                return False
        for n, output in enumerate(outputs):
            if any(np.may_share_memory(output, other) for other in (*inputs, *outputs[:n])):
                return False
        return True

    def outputs(self) -> list[Array]:
        """Arrays for the results."""
        return [np.empty(shape, dtype) for shape, dtype in self._outputs]

    def run(self, program: Program, pool: ThreadPool, arrays: Sequence[Array]) -> Failure | None:
        """All entries of the program on its inputs and outputs, in this order."""
        bases = self._bases
        for n, array in enumerate(arrays, 2):
            bases[n] = array.__array_interface__["data"][0]
        failure = program.run_on(bases, self._status, pool, 0, program.entries)
        if failure is not None:
            self._status[:2] = 0, 0
        return failure
