"""The short way into a program whose sizes its inputs tell: what follows from their shapes is worked out once for each.

What follows is the sizes, the shapes of the results and where in how much memory the program works. Another call with
inputs of these shapes looks nothing up; whatever is not as declared goes the long way, which says what is wrong.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.runtime.direct_call import DirectCall, address_of
from lamina.runtime.ports import SIZE, ShapeTable, check_inputs

if TYPE_CHECKING:
    from lamina.runtime.program_info import ProgramInfo, WorkingMemory

    Array = np.ndarray[Any, np.dtype[Any]]

MOST_SHAPES = 256
"""Combinations of shapes whose sizes are kept; the one unused for longest goes first."""


class _Sized(NamedTuple):
    """Sizes, and all that follows from the shapes of inputs."""

    sizes: list[Array]
    addresses: list[int]
    """Of the sizes."""
    outputs: list[tuple[str, tuple[int, ...], np.dtype[Any]]]
    working: WorkingMemory


class SizedCall:
    """The calls of one program with sizes. Those at the same time have memory and threads of their own."""

    def __init__(self, info: ProgramInfo, direct: DirectCall) -> None:
        """`direct` has the program's memory and threads."""
        self.info, self._direct = info, direct
        self._tensors = [(p.name, numpy_dtype(p.dtype)) for p in info.inputs if p.dtype != SIZE]
        self._outputs = [(p.name, numpy_dtype(p.dtype)) for p in info.outputs]
        self._shapes = ShapeTable(info.outputs)
        self._known: OrderedDict[tuple[tuple[int, ...], ...], _Sized] = OrderedDict()

    @staticmethod
    def fits(info: ProgramInfo) -> bool:
        """Whether the program has sizes, and they come before its other inputs."""
        kinds = [p.dtype == SIZE for p in info.inputs]
        return any(kinds) and kinds == sorted(kinds, reverse=True)

    def __call__(self, inputs: Mapping[str, Any]) -> dict[str, Array] | None:
        """The results by name where `inputs` is a dict of arrays as declared; else None, and nothing has run.

        Raises InputError for shapes that do not fit each other.
        """
        if not isinstance(inputs, dict) or len(inputs) != len(self._tensors):
            return None
        addresses: list[int] = []
        shapes: list[tuple[int, ...]] = []
        for name, dtype in self._tensors:
            array = inputs.get(name)
            if type(array) is not np.ndarray or array.dtype != dtype or not array.flags.c_contiguous:
                return None
            shapes.append(array.shape)
            addresses.append(address_of(array))
        sized = self._sized(tuple(shapes), inputs)
        results = {name: np.empty(shape, dtype) for name, shape, dtype in sized.outputs}
        outputs = [address_of(r) for r in results.values()]
        self._direct.on_addresses([*sized.addresses, *addresses], outputs, sized.working)
        return results

    def into(self, sizes: Sequence[int], inputs: Mapping[str, int], lent: Mapping[str, Array]) -> dict[str, Array]:
        """Run for sizes in order on the addresses of inputs by name: the results by name, those lent in their arrays.

        Nothing is checked. Memory that results share with inputs is as if it were apart: whoever lends it vouches for
        that. Raises InputError as kernels do.
        """
        sized = self._for_sizes([np.asarray(s, np.int64) for s in sizes])
        results = {name: lent[name] if name in lent else np.empty(shape, dtype) for name, shape, dtype in sized.outputs}
        given = [inputs[name] for name, _ in self._tensors]
        self._direct.on_addresses([*sized.addresses, *given], [address_of(r) for r in results.values()], sized.working)
        return results

    def drop_lanes(self) -> None:
        """Let the memory and the threads go of calls at the same time as others."""
        self._direct.drop_lanes()

    def _sized(self, shapes: tuple[tuple[int, ...], ...], inputs: Mapping[str, Any]) -> _Sized:
        known = self._known
        found = known.get(shapes)
        if found is None:
            found = known[shapes] = self._worked_out(inputs)
            while len(known) > MOST_SHAPES:
                known.popitem(last=False)
        return found

    def _worked_out(self, inputs: Mapping[str, Any]) -> _Sized:
        pairs = zip(self.info.inputs, check_inputs(self.info.inputs, inputs), strict=True)
        return self._for_sizes([a for p, a in pairs if p.dtype == SIZE])

    def _for_sizes(self, sizes: list[Array]) -> _Sized:
        numbers = [int(s) for s in sizes]
        shapes = self._shapes.for_sizes(numbers)
        outputs = [(name, shape, dtype) for (name, dtype), shape in zip(self._outputs, shapes, strict=True)]
        return _Sized(sizes, [address_of(s) for s in sizes], outputs, self.info.working_memory(numbers))
