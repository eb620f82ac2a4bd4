"""Branches, and loops whose number of trips is known at compile time: their bodies are put in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import (
    AnyValue,
    Builder,
    NeedsValueError,
    Node,
    SequenceValue,
)
from lamina.frontends.onnx.registry import onnx_op

MOST_TRIPS = 1024
"""Longer loops are refused: each trip is code of its own."""


def part(b: Builder, x: Value, axis: int, place: int) -> Value:
    """The slice of `x` at a place of an axis, without that axis."""
    cut = b.op("strided_slice", x, begin=[place], end=[place + 1], strides=[1], axes=[axis])
    return b.reshape(cut, (*x.shape[:axis], *x.shape[axis + 1 :]))


def stacked(b: Builder, values: Sequence[Value], axis: int = 0) -> Value:
    """Tensors of one shape along a new axis."""
    rows = [b.op("expand_dims", v, axis=axis) for v in values]
    return rows[0] if len(rows) == 1 else b.op("concatenate", *rows, axis=axis)


def _flag(v: AnyValue, n: Node, what: str) -> bool:
    if not isinstance(v, Value):
        raise n.fail(f"{what} is no tensor")
    if v.array is None:
        raise NeedsValueError(v, what, where=n.where)
    if v.array.size != 1:
        raise n.fail(f"{what} must be one boolean, has {v.array.size}")
    return bool(v.array.reshape(-1)[0])


@onnx_op("If", held=True)
def if_then_else(n: Node, b: Builder) -> list[AnyValue]:
    """The branch that a known condition takes; else both, and the results of the one that is taken."""
    condition = n.input(0)
    branches: list[Any] = [n.attr("then_branch"), n.attr("else_branch")]
    if condition.array is not None:
        taken = 0 if _flag(condition, n, "the condition") else 1
        return b.subgraph(branches[taken], [], ("then", "else")[taken])
    before = b.block.last_op
    then, other = (b.subgraph(g, [], tag) for g, tag in zip(branches, ("then", "else"), strict=True))
    results: list[AnyValue] = []
    for x, y in zip(then, other, strict=False):
        same = isinstance(x, Value) and isinstance(y, Value) and (x.shape, x.logical) == (y.shape, y.logical)
        if not same or _checks_since(b, before):
            # Another shape in each branch, or one that must not run when the other is taken.
            raise NeedsValueError(condition, "the condition", where=n.where)
        assert isinstance(x, Value) and isinstance(y, Value)
        flag = b.reshape(condition, ())
        results.append(b.held(b.op("where", flag, b.plain(x), b.plain(y)), x.logical))
    return results


def _checks_since(b: Builder, before: Any) -> bool:
    op = b.block.first_op if before is None else before.next_op
    while op is not None:
        if op.name == "relay.check_divisor":
            return True
        op = op.next_op
    return False


@onnx_op("Loop", held=True)
def loop(n: Node, b: Builder) -> list[AnyValue]:
    """Trips until the count is reached or the condition is false, both known when the model is compiled."""
    body: Any = n.attr("body")
    limit = int(n.array(0, "the number of trips").reshape(-1)[0]) if n.has(0) else None
    going = _flag(n.any(1), n, "the condition") if n.has(1) else True
    carried: list[AnyValue] = [n.any(i) for i in range(2, len(n.inputs))]
    scans: list[list[Value]] = [[] for _ in range(len(body.output) - 1 - len(carried))]
    trip = 0
    while going and (limit is None or trip < limit):
        if trip >= MOST_TRIPS:
            raise n.needs_machine(f"a loop of more than {MOST_TRIPS} trips is not supported")
        inputs = [b.constant(np.int64(trip)), b.constant(np.bool_(True)), *carried]
        condition, *made = b.subgraph(body, inputs, f"trip{trip}")
        going = _flag(condition, n, "the condition")
        carried = made[: len(carried)]
        for scan, v in zip(scans, made[len(carried) :], strict=True):
            if not isinstance(v, Value):
                raise n.unsupported("loops that collect sequences are not supported")
            scan.append(v)
        trip += 1
    if not trip and scans:
        raise n.needs_machine("a loop without a trip has results whose shape is unknown")
    return [*carried, *(stacked(b, scan) for scan in scans)]


@onnx_op("Scan")
def scan(n: Node, b: Builder) -> list[AnyValue]:
    """A loop over slices of its last inputs, collecting slices of its last outputs. Opset 8 had a batch around it."""
    if n.version < 9:
        return _batched_scan(n, b)
    body: Any = n.attr("body")
    count = n.attr("num_scan_inputs")
    states, sequences = n.values()[: len(n.inputs) - count], n.values()[len(n.inputs) - count :]
    axes = [n.axis(a, v.rank) for a, v in zip(n.attr("scan_input_axes", (0,) * count), sequences, strict=True)]
    ways = n.attr("scan_input_directions", (0,) * count)
    outputs = len(body.output) - len(states)
    out_ways = n.attr("scan_output_directions", (0,) * outputs)
    final, collected = _scanned(n, b, body, states, sequences, axes, ways, out_ways, "")
    out_axes = n.attr("scan_output_axes", (0,) * outputs)
    joined = [stacked(b, c, n.axis(a, c[0].rank + 1)) for c, a in zip(collected, out_axes, strict=True)]
    return [*final, *joined]


def _scanned(
    n: Node, b: Builder, body: Any, states: Sequence[Value], sequences: Sequence[Value], axes: Sequence[int],
    ways: Sequence[int], out_ways: Sequence[int], tag: str,
) -> tuple[list[Value], list[list[Value]]]:  # fmt: skip
    lengths = {v.shape[a] for v, a in zip(sequences, axes, strict=True)}
    if len(lengths) != 1:
        raise n.fail(f"the scanned inputs have lengths {sorted(lengths)}")
    length = lengths.pop()
    if not 0 < length <= MOST_TRIPS:
        raise n.needs_machine(f"a scan of {length} steps is not supported, only of 1 to {MOST_TRIPS}")
    collected: list[list[Value]] = [[] for _ in out_ways]
    current = list(states)
    for t in range(length):
        slices = [part(b, v, a, length - 1 - t if way else t) for v, a, way in zip(sequences, axes, ways, strict=True)]
        made = b.subgraph(body, [*current, *slices], f"{tag}step{t}")
        tensors = [v for v in made if isinstance(v, Value)]
        if len(tensors) != len(made):
            raise n.unsupported("scans of sequences are not supported")
        current = tensors[: len(states)]
        for found, v, way in zip(collected, tensors[len(states) :], out_ways, strict=True):
            found.insert(0 if way else len(found), v)
    return current, collected


def _batched_scan(n: Node, b: Builder) -> list[AnyValue]:
    """Opset 8: every input has an axis of batches in front, and each batch is scanned by itself."""
    body: Any = n.attr("body")
    if n.has(0):
        raise n.unsupported("sequences of different lengths are not supported")
    inputs = [n.input(i) for i in range(1, len(n.inputs))]
    count = n.attr("num_scan_inputs")
    ways = n.attr("directions", (0,) * count)
    results: list[list[Value]] = []
    for k in range(inputs[0].shape[0]):
        here = [part(b, v, 0, k) for v in inputs]
        states, sequences = here[: len(here) - count], here[len(here) - count :]
        out_ways = (0,) * (len(body.output) - len(states))
        final, collected = _scanned(n, b, body, states, sequences, (0,) * count, ways, out_ways, f"batch{k}.")
        results.append([*final, *(stacked(b, c) for c in collected)])
    return [stacked(b, column) for column in zip(*results, strict=True)]


def sequence_of(values: Sequence[Value]) -> SequenceValue:
    """Tensors as a sequence."""
    return SequenceValue(list(values), values[0].logical if values else "float32")
