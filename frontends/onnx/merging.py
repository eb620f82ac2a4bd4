"""Merging of the traces of several draws: their common ops, and the differences, as expressions of the extents.

    draw 0, n = 7:   relay.reshape {newshape = [14, 2]}
    draw 1, n = 31:  relay.reshape {newshape = [62, 2]}       together: relay.reshape {newshape = [2 * n, 2]}

The traces have the same ops (`traces.py`). An integer of an attribute, or of a constant, that differs is fitted to the
extents (`extents.py`); where nothing fits, an extent decides what is computed, and the model is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import NeedsExtentError
from lamina.frontends.onnx.extents import DRAWS, Draws, Entry, Extent, Taken, entry_at, fit
from lamina.frontends.onnx.open_values import OpenValue
from lamina.frontends.onnx.traces import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ENTRIES = 64
"""Elements of a constant that differs; of a larger one no expressions are looked for."""


@dataclass
class Merged:
    """The common trace of all draws, with the differences as expressions."""

    trace: Trace
    attrs: list[dict[str, Any]]
    """Of each op: integers may be `Entry`s."""
    constants: list[Value | Varied]
    extents: list[Extent]
    """The extents that `Number`s are expressions of."""
    taken: Taken


@dataclass
class Varied:
    """A constant that differs from draw to draw."""

    arrays: dict[int, NDArray[Any]]
    name: str = ""
    entries: NDArray[np.object_] | None = None
    """Its integers as expressions of the extents, where its shape does not differ."""

    def at(self, k: int, taken: Taken) -> NDArray[Any]:
        """The value in a draw."""
        if k in self.arrays:
            return self.arrays[k]
        if self.entries is None:
            raise KeyError(k)
        first = next(iter(self.arrays.values()))
        found = [entry_at(e, k, taken) for e in self.entries.reshape(-1)]
        return np.array(found, first.dtype).reshape(first.shape)


@dataclass
class Merging:
    """Merges traces of one converter."""

    tensors: Sequence[Value | OpenValue]
    """Its inputs."""
    extents: list[Extent]
    taken: Taken
    differs: Callable[[str], NeedsExtentError]
    """The error for what is no expression of the extents."""

    def merged(self, traces: dict[int, Trace]) -> Merged:
        """The common trace of traces by draw. Raises `differs` where they do not."""
        first = next(iter(traces.values()))
        attrs: list[dict[str, Any]] = []
        for n, op in enumerate(first.ops):
            found: dict[str, Any] = {}
            for name, value in op.attrs.items():
                others = {k: t.ops[n].attrs[name] for k, t in traces.items()}
                if all(o == value for o in others.values()):
                    found[name] = value
                elif isinstance(value, int):
                    found[name] = self.fit(others, f"{name} of {op.type.name}")
                else:
                    columns = ({k: o[i] for k, o in others.items()} for i in range(len(value)))
                    found[name] = [self.fit(c, f"{name} of {op.type.name}") for c in columns]
            attrs.append(found)
        constants = [self.constant({k: t.constants[n] for k, t in traces.items()}) for n in range(len(first.constants))]
        return Merged(first, attrs, constants, self.extents, self.taken)

    def fit(self, values: Mapping[int, int], what: str) -> Entry:
        """An expression that has these values in these draws."""
        found = fit(values, self.extents, self.taken)
        if found is None:
            raise self.differs(what)
        return found

    def constant(self, values: Mapping[int, Value]) -> Value | Varied:
        """A constant that is the same in all draws, or what it is in each."""
        first = next(iter(values.values()))
        arrays = {k: v.array for k, v in values.items() if v.array is not None}
        one = first.array
        assert one is not None
        if all(a is one or (a.shape == one.shape and np.array_equal(a, one)) for a in arrays.values()):
            # An input that is a constant is that one, also in the function.
            return next((t for t in self.tensors if isinstance(t, Value) and t.array is one), first)
        varied = Varied(arrays, first.name)
        same = len({a.shape for a in arrays.values()}) == 1
        if same and one.size <= MOST_ENTRIES and all(_is_whole(a) for a in arrays.values()):
            entries = np.empty(one.size, object)
            for i in range(one.size):
                column = {k: int(a.reshape(-1)[i]) for k, a in arrays.items()}
                entries[i] = self.fit(column, "a constant")
            varied.entries = entries.reshape(one.shape)
        return varied


def columns_of(merged: Merged, same: Mapping[int, Trace]) -> list[list[list[Draws]]]:
    """The draws of the extents of each result of each op."""
    return [
        [
            [tuple(same[k].ops[n].results[r].shape[a] if k in same else None for k in range(DRAWS))
             for a in range(len(info.shape))]
            for r, info in enumerate(op.results)
        ]
        for n, op in enumerate(merged.trace.ops)
    ]  # fmt: skip


def _is_whole(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "iub" or (array.dtype.kind == "f" and bool(np.all(array == np.trunc(array))))
