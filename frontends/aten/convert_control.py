"""Control flow of `torch.cond`, `while_loop`, `scan` and `map`: in place where it is known, else run.

Graphs among the arguments are the bodies; they see nothing but what they are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lamina.frontends import control
from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.convert_shape import stack
from lamina.frontends.aten.graph import AtenGraph
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value
from lamina.frontends.frames import Mark

MOST_TRIPS = 256
"""Trips of a loop whose condition is known of each, and that is put in place."""
MOST_CALLS = 1 << 11
"""Calls of all trips of a loop that is put in place.

On Emerald Rapids a trip of a loop costs 50 to 90 us more than the same in place, 2.5 us of a small recurrent cell; a
call in place takes 3 ms to compile, so that such a loop takes 6 s at most.
"""


def _truth(b: AtenBuilder, given: Any) -> Value:
    """A condition as one boolean."""
    return b.reshape(b.tensor(given, "bool"), ())


def _tensors(b: AtenBuilder, values: Sequence[Any]) -> list[Value]:
    return [b.tensor(v) for v in values]


@aten_op("higher_order.cond")
def cond(
    b: AtenBuilder, pred: Any, true_fn: AtenGraph, false_fn: AtenGraph, operands: Sequence[Any] = ()
) -> list[Value]:
    """The results of one of two graphs."""

    def way(body: AtenGraph) -> control.Body:
        return lambda values: b.inline(body, values)

    return control.choice(b, _truth(b, pred), [way(true_fn), way(false_fn)], _tensors(b, operands))


@aten_op("higher_order.while_loop")
def while_loop(
    b: AtenBuilder, cond_fn: AtenGraph, body_fn: AtenGraph, carried_inputs: Sequence[Any],
    additional_inputs: Sequence[Any] = (),
) -> list[Value]:  # fmt: skip
    """The last of what a graph makes of values, as long as another one gives true of them."""
    carried, further = _tensors(b, carried_inputs), _tensors(b, additional_inputs)

    def more(values: list[Value]) -> Value:
        (found,) = b.inline(cond_fn, [*values, *further])
        return _truth(b, found)

    def trip(values: list[Value]) -> list[Value]:
        return b.inline(body_fn, [*values, *further])

    mark = Mark(b)
    begin, values = b.nested_calls, carried
    for _ in range(MOST_TRIPS + 1):
        going = more(values).array
        if going is None:
            break
        if not going.item():
            return values
        values = trip(values)
        if b.nested_calls - begin > MOST_CALLS:
            break
    mark.undo()
    return control.loop(b, more, trip, carried)


@aten_op("higher_order.scan")
def scan(
    b: AtenBuilder, combine_fn: AtenGraph, init: Sequence[Any], xs: Sequence[Value],
    additional_inputs: Sequence[Any] = (),
) -> list[Value]:  # fmt: skip
    """Values that a graph carries through the rows of tensors, and the rows that it makes of each."""
    return _scanned(b, combine_fn, _tensors(b, init), list(xs), _tensors(b, additional_inputs))


@aten_op("higher_order.map_impl")
def map_impl(b: AtenBuilder, body: AtenGraph, xs: Sequence[Value], args: Sequence[Any] = ()) -> list[Value]:
    """Rows that a graph makes of each row of tensors."""
    return _scanned(b, body, [], list(xs), _tensors(b, args))


def _scanned(
    b: AtenBuilder, body: AtenGraph, carried: list[Value], xs: list[Value], further: list[Value]
) -> list[Value]:
    """The rows in place where their calls are few, else the first in place and a loop over the others."""
    lengths = {x.shape[0] if x.rank else 0 for x in xs}
    if len(lengths) != 1 or not (length := lengths.pop()):
        raise b.unsupported(f"rows of {', '.join(map(str, xs)) or 'nothing'} are not supported")

    def step(place: int | Value, before: list[Value]) -> tuple[list[Value], list[Value]]:
        made = b.inline(body, [*before, *(_row(b, x, place) for x in xs), *further])
        return made[: len(carried)], made[len(carried) :]

    begin = b.nested_calls
    carried, first = step(0, carried)
    if length * (b.nested_calls - begin) <= MOST_CALLS:
        made = [first]
        for place in range(1, length):
            carried, rows = step(place, carried)
            made.append(rows)
        return [*carried, *(stack(b, rows) for rows in zip(*made, strict=True))]
    collected = [_with_rows(b, row, length) for row in first]

    def trip(values: list[Value]) -> list[Value]:
        place, *before = values
        after, rows = step(place, before[: len(carried)])
        written = [_written(b, into, row, place) for into, row in zip(before[len(carried) :], rows, strict=True)]
        return [b.add(place, 1), *after, *written]

    def more(values: list[Value]) -> Value:
        return b.one("less", values[0], length)

    return control.loop(b, more, trip, [b.constant(np.int64(1)), *carried, *collected])[1:]


def _row(b: AtenBuilder, x: Value, place: int | Value) -> Value:
    """A row of a tensor: [...] of [n, ...]."""
    if isinstance(place, Value):
        return b.op("take", x, place, axis=0, mode="clip")
    return b.reshape(b.slice(x, 0, place, place + 1), x.shape[1:])


def _with_rows(b: AtenBuilder, row: Value, length: int) -> Value:
    """A row with so many in all, the others of zeros: [length, ...] of [...]."""
    return b.op("concatenate", b.op("expand_dims", row, axis=0), b.zeros((length - 1, *row.shape), row.dtype), axis=0)


def _written(b: AtenBuilder, into: Value, row: Value, place: Value) -> Value:
    """The tensor [n, ...] with the row [...] at a place of the run."""
    here = b.op("equal", b.constant(np.arange(into.shape[0])), place)
    return b.choose(b.reshape(here, (into.shape[0], *(1 for _ in row.shape))), row, into)
