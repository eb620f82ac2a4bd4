"""The short way into a program whose sizes its inputs tell: what follows from their shapes is worked out once for each.

What follows is the sizes, the shapes of the results and how large workspaces are. Another call with inputs of these
shapes looks nothing up; whatever is not as declared goes the long way, which says what is wrong.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.errors import InputError
from lamina.runtime.direct_call import DirectCall, address_of
from lamina.runtime.ports import SIZE, check_inputs

if TYPE_CHECKING:
    from lamina.runtime.program_info import ProgramInfo

    Array = np.ndarray[Any, np.dtype[Any]]

MOST_SHAPES = 256
"""Combinations of shapes whose sizes are kept; the one unused for longest goes first."""


class _Sized(NamedTuple):
    """Sizes, and all that follows from the shapes of inputs."""

    sizes: list[Array]
    addresses: list[int]
    """Of the sizes."""
    outputs: list[tuple[str, tuple[int, ...], np.dtype[Any]]]
    workspaces: list[int]
    """Bytes."""


class SizedCall:
    """The calls of one program with sizes. Those at the same time have memory and threads of their own."""

    def __init__(self, info: ProgramInfo, direct: DirectCall) -> None:
        """`direct` has the program's memory and threads."""
        self.info, self._direct = info, direct
        self._tensors = [(p.name, numpy_dtype(p.dtype)) for p in info.inputs if p.dtype != SIZE]
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
        self._direct.on_addresses([*sized.addresses, *addresses], outputs, sized.workspaces)
        return results

    def into(self, inputs: Mapping[str, Any], given: Mapping[str, Array]) -> dict[str, Array]:
        """Run on arrays and sizes by name: the results by name, those given in their arrays.

        Memory that these share with inputs is as if it were apart: whoever gives them vouches for that. Raises
        InputError for what does not fit.
        """
        info = self.info
        arrays = check_inputs(info.inputs, inputs)
        sized = self._for_sizes([a for p, a in zip(info.inputs, arrays, strict=True) if p.dtype == SIZE])
        results = {
            name: given[name] if name in given else np.empty(shape, dtype) for name, shape, dtype in sized.outputs
        }
        for name, shape, dtype in sized.outputs:
            result = results[name]
            if result.shape != shape or result.dtype != dtype or not result.flags.c_contiguous:
                raise InputError(f"{dtype}{list(shape)} expected", where=f"output {name!r}")
        addresses = [address_of(r) for r in results.values()]
        self._direct.on_addresses([address_of(a) for a in arrays], addresses, sized.workspaces)
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
        info, values = self.info, [int(s) for s in sizes]
        return _Sized(
            sizes,
            [address_of(s) for s in sizes],
            [(p.name, p.shape_for(values), numpy_dtype(p.dtype)) for p in info.outputs],
            [max(prod(w.shape_for(values)), 1) * numpy_dtype(w.dtype).itemsize for w in info.workspaces],
        )
