"""The short way into a program of fixed shapes: what is the same in every call is made once.

A call of a small model is as long as its way in. Here it looks at each input once, takes fresh arrays for the results
and fills in their addresses; whatever is not as declared goes the long way, which says what is wrong.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.backends.cpu.pool import STATUS_WORDS
from lamina.dialects.numpy_dtypes import numpy_dtype

if TYPE_CHECKING:
    from lamina.runtime.compiled import Port
    from lamina.runtime.program import Failure, Program, ThreadPool

    Array = np.ndarray[Any, np.dtype[Any]]


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
            if type(array) is not np.ndarray or array.dtype != dtype or array.shape != shape:
                return None
            if not array.flags.c_contiguous:
                return None
            found.append(array)
        return found

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
