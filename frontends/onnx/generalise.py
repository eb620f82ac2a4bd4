"""Behaviour of a converter on a tensor of unknown extents, found out by asking it for several choices of them.

Asked for draws of the extents (`extents.py`), a converter writes down the ops that it would emit: a trace. Where all
traces have the same ops, these are emitted, on tensors with `?`:

    n = 7:   relay.reshape %x {newshape = [14, 2]}          relay.reshape %x {newshape = [-1, 2]}
    n = 31:  relay.reshape %x {newshape = [62, 2]}

An attribute or constant that differs is an expression of the extents; the op is then one that takes it as an operand
(`open_attributes.py`). A draw with a trace of its own - a shortcut for an extent of 1 - has to compute the same: both
are evaluated on random numbers, by numpy. Where extents have to be equal, or 1, for a converter to accept them, they
are drawn so; the run will see whether they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lamina.dialects.dtypes import numpy_dtype
from lamina.errors import LaminaError
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import (
    AnyValue,
    Builder,
    NeedsExtentError,
    NeedsValueError,
    OptionalValue,
    SequenceValue,
)
from lamina.frontends.onnx.extents import (
    DRAWS,
    FEWEST,
    GENERIC,
    Draws,
    Extent,
    Number,
    Taken,
    dim_at,
    entry_at,
)
from lamina.frontends.onnx.merging import Merged, Merging, Varied, columns_of
from lamina.frontends.onnx.open_attributes import emit_merged, emit_varied
from lamina.frontends.onnx.open_values import OpenValue, dims_of, with_draws
from lamina.frontends.onnx.traces import Ref, Trace, TraceBuilder, evaluated

if TYPE_CHECKING:
    from numpy.typing import NDArray

Inputs: TypeAlias = "Sequence[AnyValue | None]"
Run: TypeAlias = "Callable[[Builder, list[AnyValue | None]], AnyValue | Sequence[AnyValue] | None]"
"""A converter, or anything that emits ops on some values. None where it does not take them."""

_REFUSALS = (LaminaError, OverflowError, ValueError, IndexError, MemoryError)
MOST_EVALUATED = 200_000
"""Elements; larger draws are not compared by numbers."""


def generalised(b: Builder, inputs: Inputs, run: Run) -> list[AnyValue] | None:
    """The results of a converter on inputs of which extents are unknown. None where it does not take them.

    Raises NeedsValueError as the converter does, NeedsExtentError where it takes no extents at all, or does what
    depends on them otherwise than can be said.
    """
    return _Generalisation(b, inputs, run).result()


@dataclass
class _Generalisation:
    b: Builder
    inputs: Inputs
    run: Run
    tensors: list[Value | OpenValue] = field(default_factory=list["Value | OpenValue"])
    """The inputs, and what is in them, by number."""
    numbers: dict[int, int] = field(default_factory=dict[int, int])
    taken: Taken = field(default_factory=dict[Draws, Draws])
    refusal: Exception | None = None

    def result(self) -> list[AnyValue] | None:
        for value in self.inputs:
            self._collect(value)
        if not self._find_taken():
            raise self._refused()
        traces: dict[int, Trace] = {}
        for k in range(DRAWS):
            found = self._traced(k)
            if found is None:
                return None
            if isinstance(found, Trace):
                traces[k] = found
        keys = [t.key for k, t in traces.items() if k < GENERIC]
        common = max(keys, key=keys.count, default=None)
        if common is None or keys.count(common) < FEWEST:
            raise self._differs("other ops are needed for other extents")
        same = {k: t for k, t in traces.items() if t.key == common}
        merging = Merging(self.tensors, self.extents(), self.taken, self._differs)
        merged = merging.merged(same)
        for k, trace in traces.items():
            if k not in same:
                self._compare(merged, trace, k)
        made = emit_merged(self.b, merged, self.tensors, columns_of(merged, same))
        return self._outputs(merging, merged, traces, made)

    # -- draws ---------------------------------------------------------------------------------------------------

    def _collect(self, value: AnyValue | None) -> None:
        if isinstance(value, SequenceValue):
            for v in value.items:
                self._collect(v)
        elif isinstance(value, OptionalValue):
            self._collect(value.item)
        elif value is not None and id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.tensors)
            self.tensors.append(value)

    def extents(self) -> list[Extent]:
        """All that numbers can be expressions of."""
        found: dict[Extent, None] = {}
        for t in self.tensors:
            found.update({d: None for d in dims_of(t) if isinstance(d, Extent)})
            if isinstance(t, OpenValue):
                found.update(dict.fromkeys(t.read_from()))
        return list(found)

    def _find_taken(self) -> bool:
        """Whether the converter takes the inputs, if need be with some extents taken to be others.

        Extents of tensors are seen by the ops, which refuse others while they run. An extent among the numbers of a
        shape is seen by nobody: where several choices fit that make other ops, the run has to tell what is meant.
        """
        written = {e.draws for t in self.tensors if isinstance(t, OpenValue) for e in t.read_from()}
        fitting: list[tuple[Taken, Any]] = []
        for taken in self._choices():
            if fitting and len(taken) != len(fitting[0][0]):
                break
            self.taken = taken
            found = [self._traced(k) for k in (0, 1)]
            if not any(isinstance(f, Exception) for f in found):
                if not written.intersection(taken):
                    return True
                fitting.append((taken, [f.exact() for f in found if isinstance(f, Trace)]))
        if not fitting or any(made != fitting[0][1] for _, made in fitting):
            return False
        self.taken = fitting[0][0]
        return True

    def _choices(self) -> Iterator[Taken]:
        """Extents taken to be others: none; one to be another, or to be what the same axis of another input is, or any
        of their axes, or 1; two of them so."""
        yield {}
        extents = self.extents()
        unknown = list(dict.fromkeys(e.draws for e in extents))[:6]
        axes = {e.draws: {o.axis for o in extents if o.draws == e.draws} for e in extents}
        known = [(a, d) for t in self.tensors for a, d in enumerate(dims_of(t)) if isinstance(d, int) and d != 1]
        single: list[tuple[Draws, Draws]] = []
        for n, u in enumerate(unknown):
            alike = sorted(known, key=lambda place: (place[0] not in axes[u], place[1]))
            constants = list(dict.fromkeys(d for _, d in alike))[:8]
            single += [(u, v) for v in (*unknown[:n], *((c,) * DRAWS for c in (*constants, 1)))]
        yield from ({u: v} for u, v in single)
        for first, second in combinations(single, 2):
            if first[0] != second[0] and first[0] != second[1]:
                yield dict((first, second))

    def _traced(self, k: int) -> Trace | Exception | None:
        tracer = TraceBuilder(self.b)
        given = [self._at(v, k, tracer) for v in self.inputs]
        if any(g is _UNKNOWN for g in given):
            return KeyError(k)
        try:
            made = self.run(tracer, given)
        except NeedsValueError:
            raise
        except _REFUSALS as e:
            self.refusal = self.refusal or e
            return e
        if made is None:
            return None
        outputs = [made] if isinstance(made, Value | OpenValue | SequenceValue | OptionalValue) else list(made)
        return tracer.trace(outputs)

    def _at(self, value: AnyValue | None, k: int, tracer: TraceBuilder) -> Any:
        """An input in a draw."""
        if value is None:
            return None
        if isinstance(value, SequenceValue):
            items = [self._at(v, k, tracer) for v in value.items]
            return _UNKNOWN if _UNKNOWN in items else SequenceValue(items, value.dtype)
        if isinstance(value, OptionalValue):
            item = self._at(value.item, k, tracer)
            return _UNKNOWN if item is _UNKNOWN else OptionalValue(item)
        n = self.numbers[id(value)]
        if isinstance(value, Value):
            if value.array is None:
                return tracer.given(value.shape, value, n)
            return Value(value.shape, value.dtype, array=value.array, name=value.name, logical=value.logical)
        if value.entries is not None:
            entries = [entry_at(e, k, self.taken) for e in value.entries.reshape(-1)]
            if None in entries:
                return _UNKNOWN
            array = np.array(entries, numpy_dtype(value.dtype)).reshape(value.entries.shape)
            return Value(array.shape, value.dtype, array=array, logical=value.logical)
        shape = [dim_at(d, k, self.taken) for d in value.dims]
        if None in shape:
            return _UNKNOWN
        return tracer.given(tuple(d for d in shape if d is not None), value, n)

    def _refused(self) -> NeedsExtentError:
        said = self.refusal.what if isinstance(self.refusal, LaminaError) else str(self.refusal)
        return NeedsExtentError(
            f"fits none of the extents that were tried for those known at run time only; for instance {said}",
            where=self.b.where,
            hint="give the model fixed extents",
        )

    def _differs(self, what: str) -> NeedsExtentError:
        return NeedsExtentError(
            f"an extent decides how this is computed, and it is known at run time only: {what}",
            where=self.b.where,
            hint="give the model fixed extents",
        )

    # -- draws with traces of their own --------------------------------------------------------------------------

    def _compare(self, merged: Merged, trace: Trace, k: int) -> None:
        """Raise NeedsExtentError where the merged ops compute anything else than a trace in its draw."""
        sizes = [prod(i.shape) for op in trace.ops for i in op.results]
        sizes += [v.array.size for v in trace.constants if v.array is not None]
        if sum(sizes) > MOST_EVALUATED:
            return
        draw = np.random.default_rng(k)
        given: dict[int, NDArray[Any]] = {}
        for n, t in enumerate(self.tensors):
            shape = [dim_at(d, k, self.taken) for d in dims_of(t)]
            if t.array is None and None not in shape and prod(d or 0 for d in shape) <= MOST_EVALUATED:
                whole = draw.integers(0, 2, [d or 0 for d in shape])
                given[n] = whole.astype(numpy_dtype(t.dtype))
        try:
            attrs = [{m: self._attr_at(v, k) for m, v in found.items()} for found in merged.attrs]
            constants = [c.at(k, self.taken) if isinstance(c, Varied) else c.array for c in merged.constants]
            ours = evaluated(merged.trace, attrs, constants, given)
            theirs = evaluated(trace, [o.attrs for o in trace.ops], [c.array for c in trace.constants], given)
        except (*_REFUSALS, KeyError, TypeError, AttributeError, ZeroDivisionError):
            return  # numpy refuses it, or it is not known in this draw
        computed = [merged.trace.ref(leaf) is not None for leaf in merged.trace.leaves()]
        for mine, other, is_computed in zip(ours, theirs, computed, strict=False):
            if not is_computed:
                continue  # its entries are found from all draws
            if mine.shape != other.shape or not np.allclose(
                mine.astype(np.float64), other.astype(np.float64), 1e-4, 1e-4, equal_nan=True
            ):
                raise self._differs("some extents are special")
        if len(ours) != len(theirs):
            raise self._differs("the number of results")

    def _attr_at(self, value: Any, k: int) -> Any:
        if isinstance(value, list):
            return tuple(entry_at(v, k, self.taken) for v in value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return value.at(k, self.taken) if isinstance(value, Number) else value

    # -- results -------------------------------------------------------------------------------------------------

    def _outputs(
        self, merging: Merging, merged: Merged, traces: Mapping[int, Trace], made: Mapping[Ref, Value | OpenValue]
    ) -> list[AnyValue]:
        columns = {k: t.leaves() for k, t in traces.items()}
        leaves = merged.trace.leaves()
        fitting = {k: c for k, c in columns.items() if [len(v.shape) for v in c] == [len(v.shape) for v in leaves]}
        results: list[Value | OpenValue] = []
        for n, leaf in enumerate(leaves):
            ref = merged.trace.ref(leaf)
            if ref is None:
                results.append(self._constant_output(merging, {k: c[n] for k, c in fitting.items()}))
                continue
            value = made[ref] if ref in made else self.tensors[ref[1]]
            if isinstance(value, OpenValue) and value.entries is None and value.ssa is not None and ref[0] == "op":
                draws = [
                    tuple(fitting[k][n].shape[a] if k in fitting else None for k in range(DRAWS))
                    for a in range(len(leaf.shape))
                ]
                value = with_draws(value.ssa, value.dtype, leaf.logical, draws)
            elif value.logical != leaf.logical:
                value = _logical(value, leaf.logical)
            results.append(value)
        rest = iter(results)
        return [_rebuilt(o, rest) for o in merged.trace.outputs]

    def _constant_output(self, merging: Merging, values: Mapping[int, Value]) -> Value | OpenValue:
        value = merging.constant(values)
        if isinstance(value, Value):
            return value
        leaf = next(iter(values.values()))
        if value.entries is not None:
            return OpenValue(leaf.shape, leaf.dtype, entries=value.entries, logical=leaf.logical)
        return emit_varied(self.b, value, merging.extents, self.taken)


_UNKNOWN: Any = object()
"""An input in a draw in which one of its extents is not known."""


def _logical(value: Value | OpenValue, logical: str) -> Value | OpenValue:
    if isinstance(value, Value):
        return Value(value.shape, value.dtype, ssa=value.ssa, array=value.array, name=value.name, logical=logical)
    return value.held(logical)


def _rebuilt(value: AnyValue, leaves: Iterator[Value | OpenValue]) -> AnyValue:
    if isinstance(value, SequenceValue):
        return SequenceValue([next(leaves) for _ in value.items], value.dtype)
    if isinstance(value, OptionalValue):
        item: Any = None if value.item is None else _rebuilt(value.item, leaves)
        return OptionalValue(item)
    return next(leaves)
