"""Branches and loops that the virtual machine runs.

    %y = relay.if %c -> tensor<?xf32> { ... relay.yield %a : ... } else { ... }

    %loop = relay.fn captures(...) self %self (%i: tensor<i64>, %going: tensor<i1>, %x: tensor<?xf32>) -> ... {
      ... relay.if of %i < the count and %going: the body, and a call of %self with what comes next
    }

A loop is a function that calls itself last; the machine runs such a call in the place of its caller. What a loop
collects are rows, one appended by each trip.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import FunctionType, TensorType
from xdsl.ir import Block, SSAValue

from lamina.dialects.dtypes import numpy_dtype, tensor_type
from lamina.dialects.relay.core import CallOp, FnOp, ReturnOp
from lamina.dialects.relay.functional.control import IfOp, YieldOp
from lamina.dialects.relay.value_types import is_dynamic
from lamina.errors import UnsupportedError
from lamina.frontends.builder import Value
from lamina.frontends.frames import Frame, Mark, inside
from lamina.frontends.onnx import convert_control
from lamina.frontends.onnx.builder import AnyValue, Builder, Node
from lamina.frontends.onnx.extents import Dim, Extent, number_of
from lamina.frontends.onnx.open_convert_values import of_type, through
from lamina.frontends.onnx.open_values import OpenValue, dims_of, emitted, known_as, open_type, unknown, vector
from lamina.frontends.onnx.registry import open_op

Tensor: TypeAlias = "Value | OpenValue"

_NOWHERE: Any = None
_OPEN = Extent(_NOWHERE, 0, ())
"""An extent of which nothing is assumed."""


def _tensors(n: Node, values: Sequence[AnyValue], what: str) -> list[Tensor]:
    found = [v for v in values if isinstance(v, Value | OpenValue)]
    if len(found) != len(values):
        raise n.unsupported(f"{what} that are sequences or optional are known while a model is imported only")
    return found


def _flag(n: Node, b: Builder, value: AnyValue, what: str) -> Tensor:
    """A condition: tensor<i1>."""
    if not isinstance(value, Value | OpenValue) or value.dtype != "bool":
        raise n.fail(f"{what} must be one boolean, is {value}")
    if not dims_of(value):
        return value
    return through(b, "reshape", value, newshape=[])


@open_op("If")
def if_then_else(n: Node, b: Builder) -> list[AnyValue]:
    condition = b.ssa(_flag(n, b, n.any(0), "the condition"))
    blocks: list[Block] = []
    made: list[list[Tensor]] = []
    for tag in ("then", "else"):
        block = Block()
        with inside(b, block):
            made.append(_tensors(n, b.subgraph(n.attr(f"{tag}_branch"), [], tag), "results of a branch"))
            # Constants and what is outside become values of this function before the branch ends.
            yielded = [b.ssa(v) for v in made[-1]]
        block.add_op(YieldOp.make(*yielded))
        blocks.append(block)
    pairs = list(zip(*made, strict=False))
    types = [open_type(_common(n, x, y), x.dtype) for x, y in pairs]
    op = IfOp.make(condition, blocks[0], blocks[1], types)
    op.location = b.location
    b.block.add_op(op)
    results: list[AnyValue] = []
    for ssa, (x, y) in zip(op.results, pairs, strict=True):
        same = [d.draws if isinstance(d, Extent) else d for d in dims_of(x)] == [
            d.draws if isinstance(d, Extent) else d for d in dims_of(y)
        ]
        dims = [Extent(ssa, a, d.draws) if isinstance(d, Extent) else d for a, d in enumerate(dims_of(x))]
        results.append(known_as(ssa, dims, x.dtype, x.logical) if same else unknown(b, ssa, x.dtype, x.logical))
    return results


def _common(n: Node, x: Tensor, y: Tensor) -> list[Dim]:
    """The known extents of a tensor that is one of two. Raises where ranks or types differ."""
    if x.logical != y.logical or len(dims_of(x)) != len(dims_of(y)):
        raise n.unsupported(f"one branch gives {x}, the other {y}: the rank and the type of a result must be known")
    return [d if isinstance(d, int) and d == e else _OPEN for d, e in zip(_shape(x), _shape(y), strict=True)]


def _shape(x: Tensor) -> list[Dim]:
    """The extents that the type of the SSA value tells, which may be fewer than are known."""
    if isinstance(x, OpenValue) and x.ssa is not None and is_dynamic(x.ssa.type):
        known = cast("TensorType[Any]", x.ssa.type).get_shape()
        return [e if e >= 0 else _OPEN for e in known]
    return list(dims_of(x))


# -- loops -----------------------------------------------------------------------------------------


@dataclass
class _Loop:
    """A loop: its trips, and what it makes of a place in it and of what is carried."""

    node: Node
    count: Tensor | None
    """The number of trips, int64 of shape [], where that is bounded."""
    going: Tensor | None
    """Whether there is a first trip, a condition; every trip says whether there is another."""
    carried: list[Tensor]
    body: Any
    """Called with the builder, the place and what is carried: whether it goes on, what is carried on, the rows."""


def _run(b: Builder, loop: _Loop) -> tuple[list[Tensor], list[Tensor]]:
    """The last of what is carried, and the collected rows."""
    dims = [_shape(v) for v in loop.carried]
    while True:
        built = _Function(b, loop, dims)
        wider = built.build()
        if wider is None:
            return built.call()
        dims = wider


class _Function:
    """The function of a loop, for what is assumed of the extents of what is carried."""

    def __init__(self, b: Builder, loop: _Loop, dims: Sequence[Sequence[Dim]]) -> None:
        self.b = b
        self.loop = loop
        self.dims = dims
        self.types = [open_type(d, v.dtype) for d, v in zip(dims, loop.carried, strict=True)]
        self.block = Block(arg_types=[tensor_type((), "int64"), tensor_type((), "bool"), *self.types])
        self.frame = Frame(self.block, b.frame)
        self.rows: list[Tensor] = []
        self.row_types: list[Any] = []

    def build(self) -> list[list[Dim]] | None:
        """Build it; what has to be assumed of the extents instead where that does not hold."""
        b, n = self.b, self.loop.node
        place, going = (Value((), t, ssa=a) for t, a in zip(("int64", "bool"), self.block.args, strict=False))
        hints = ("i", "going", *(f"x{k}" for k in range(len(self.types))))
        for argument, hint in zip(self.block.args, hints, strict=True):
            argument.name_hint = hint
        taken = list(self.block.args[2:])
        trip = Block()
        with inside(b, self.block, self.frame):
            condition = b.ssa(going)
            if self.loop.count is not None:
                inner = b.op("less", place, Value((), "int64", ssa=b.ssa(self.loop.count)))
                condition = b.ssa(b.op("logical_and", going, inner))
            with inside(b, trip):
                before = [unknown(b, a, v.dtype, v.logical) for a, v in zip(taken, self.loop.carried, strict=True)]
                further, after, self.rows = self.loop.body(b, place, before)
                wider = self._wider(after)
                if wider is not None:
                    return wider
                self._finish(condition, trip, place, taken, _flag(n, b, further, "the condition"), after)
        return None

    def _wider(self, after: Sequence[Tensor]) -> list[list[Dim]] | None:
        """The extents with those left open that a trip changes."""
        n, changed = self.loop.node, False
        found: list[list[Dim]] = []
        for dims, x, first in zip(self.dims, after, self.loop.carried, strict=True):
            if x.logical != first.logical or len(dims_of(x)) != len(dims):
                raise n.unsupported(f"a trip makes {x} of {first}: the rank and the type must stay")
            opened = [d if not isinstance(d, int) or d == e else _OPEN for d, e in zip(dims, _shape(x), strict=True)]
            changed = changed or any(o is not d for o, d in zip(opened, dims, strict=True))
            found.append(opened)
        return found if changed else None

    def _finish(
        self, condition: SSAValue, trip: Block, place: Value, taken: Sequence[SSAValue], further: Tensor,
        after: Sequence[Tensor],
    ) -> None:  # fmt: skip
        b, block = self.b, self.block
        self.row_types = [open_type([_OPEN, *_shape(r)], r.dtype) for r in self.rows]
        collected: list[SSAValue] = []
        for k, type_ in enumerate(self.row_types):
            argument = block.insert_arg(type_, 2 + len(taken) + k)
            argument.name_hint = f"rows{k}"
            collected.append(argument)
        outputs = [*self.types, *self.row_types]
        type_ = FunctionType.from_lists([tensor_type((), "int64"), tensor_type((), "bool"), *outputs], outputs)
        itself = block.insert_arg(type_, len(block.args))
        itself.name_hint = "self"
        self.frame.recursive = True
        longer = [emitted(b, "append", unknown(b, a, r.dtype), r) for a, r in zip(collected, self.rows, strict=True)]
        following = b.op("add", place, b.constant(np.int64(1)))
        arguments = [b.ssa(v) for v in (following, further, *after, *longer)]
        call = CallOp.make(itself, *arguments)
        call.location = b.location
        trip.add_ops([call, YieldOp.make(*call.results)])
        otherwise = Block()
        otherwise.add_op(YieldOp.make(*taken, *collected))
        choice = IfOp.make(condition, trip, otherwise, outputs)
        choice.location = b.location
        block.add_ops([choice, ReturnOp.make(*choice.results)])

    def call(self) -> tuple[list[Tensor], list[Tensor]]:
        """Put the function and a first call of it where the loop stands."""
        b, loop = self.b, self.loop
        captures = list(self.frame.captured)
        fn = FnOp.make(self.block, captures=[b.frame.here(c) for c in captures], recursive=True)
        fn.location = b.location
        fn.result.name_hint = "loop"
        b.block.add_op(fn)
        going = loop.going if loop.going is not None else b.constant(np.bool_(True))
        none = [_no_rows(b, r) for r in self.rows]
        arguments = [b.ssa(v) for v in (b.constant(np.int64(0)), going, *loop.carried, *none)]
        call = CallOp.make(fn, *arguments)
        call.location = b.location
        b.block.add_op(call)
        count = len(loop.carried)
        finals = [unknown(b, s, v.dtype, v.logical) for s, v in zip(call.results, loop.carried, strict=False)]
        rows = [unknown(b, s, r.dtype, r.logical) for s, r in zip(call.results[count:], self.rows, strict=True)]
        return finals, rows


def _no_rows(b: Builder, row: Tensor) -> Value:
    """An array without rows, to append the first one to; extents that are not known yet are 0."""
    shape = (0, *(d if isinstance(d, int) else 0 for d in _shape(row)))
    return b.constant(np.zeros(shape, numpy_dtype(row.dtype)))


def _listed(made: AnyValue | Sequence[AnyValue] | None) -> list[AnyValue]:
    assert isinstance(made, Sequence), "control flow has its results in a list"
    return list(made)


@open_op("Loop", first=True)
def loop(n: Node, b: Builder) -> list[AnyValue]:
    """Put in place trip by trip where all of that is known; else a function."""
    mark = Mark(b)
    try:
        return _listed(convert_control.loop(n, b))
    except UnsupportedError:
        mark.undo()
    body: Any = n.attr("body")
    count = _count(n, b, 0) if n.has(0) else None
    going = _flag(n, b, n.any(1), "the condition") if n.has(1) else None
    carried = _tensors(n, [n.any(i) for i in range(2, len(n.inputs))], "values that a loop carries")

    def trip(b: Builder, place: Value, before: list[Tensor]) -> tuple[AnyValue, list[Tensor], list[Tensor]]:
        further, *made = b.subgraph(body, [place, b.constant(np.bool_(True)), *before], "trip")
        tensors = _tensors(n, made, "values that a loop carries or collects")
        return further, tensors[: len(before)], tensors[len(before) :]

    finals, rows = _run(b, _Loop(n, count, going, carried, trip))
    return [*finals, *rows]


def _count(n: Node, b: Builder, i: int) -> Tensor:
    value = n.any(i)
    if not isinstance(value, Value | OpenValue) or dims_of(value) not in ((), (1,)):
        raise n.fail("the number of trips must be one integer")
    value = of_type(b, value, "int64")
    return through(b, "reshape", value, newshape=[]) if dims_of(value) else value


@open_op("Scan", first=True)
def scan(n: Node, b: Builder) -> list[AnyValue]:
    """A loop over the slices of its last inputs."""
    mark = Mark(b)
    if all(isinstance(v, Value) for v in n.inputs):
        try:
            return _listed(convert_control.scan(n, b))
        except UnsupportedError:
            mark.undo()
    if n.version < 9:
        raise n.unsupported("a scan of batches takes extents that are known only", "export to opset 9 or later")
    body: Any = n.attr("body")
    number = n.attr("num_scan_inputs")
    inputs = _tensors(n, [n.any(i) for i in range(len(n.inputs))], "values that a scan carries")
    states, sequences = inputs[: len(inputs) - number], inputs[len(inputs) - number :]
    outputs = len(body.output) - len(states)
    axes = [
        n.axis(a, len(dims_of(v))) for a, v in zip(n.attr("scan_input_axes", (0,) * number), sequences, strict=True)
    ]
    ways = n.attr("scan_input_directions", (0,) * number)
    length = through(b, "reshape", vector(b, [number_of(dims_of(sequences[0])[axes[0]])]), newshape=[])
    sequences = [through(b, "reverse", v, axis=a) if w else v for v, a, w in zip(sequences, axes, ways, strict=True)]

    def step(b: Builder, place: Value, before: list[Tensor]) -> tuple[AnyValue, list[Tensor], list[Tensor]]:
        slices = [through(b, "take", v, place, axis=a, mode="clip") for v, a in zip(sequences, axes, strict=True)]
        made = _tensors(n, b.subgraph(body, [*before, *slices], "step"), "values of a scan")
        return b.constant(np.bool_(True)), made[: len(before)], made[len(before) :]

    finals, rows = _run(b, _Loop(n, length, None, states, step))
    out_ways = n.attr("scan_output_directions", (0,) * outputs)
    out_axes = n.attr("scan_output_axes", (0,) * outputs)
    turned = [through(b, "reverse", v, axis=0) if w else v for v, w in zip(rows, out_ways, strict=True)]
    return [*finals, *(_moved(n, b, v, a) for v, a in zip(turned, out_axes, strict=True))]


def _moved(n: Node, b: Builder, rows: Tensor, axis: int) -> Tensor:
    """Rows along another axis than the first."""
    rank = len(dims_of(rows))
    place = n.axis(axis, rank)
    order = [*range(1, place + 1), 0, *range(place + 1, rank)]
    return through(b, "transpose", rows, axes=order) if place else rows
