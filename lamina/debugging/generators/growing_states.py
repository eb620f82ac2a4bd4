"""State for programs with open extents: an input's rows come behind those of the runs before, and ops read all.

A program that a session runs writes the new rows where the past lies (`relay-state-append`); without a session it
takes the past and gives it back. Now and then the state is one that cannot grow so: its past is read by something else
as well, or comes behind the new rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from lamina.debugging.generators.draw import Draw
from lamina.debugging.generators.onnx_graph import CannotDraw
from lamina.debugging.generators.open_extents import MOST_ELEMENTS, OpenGraph, Run

PAST = "past"
"""The name of the number of rows so far."""
ROWS = "rows"
"""The name of an input that a graph gets for its state, as keys and values are shaped."""
OWN = 0.5
"""The probability that a graph with states gets such an input."""
OTHERWISE = 0.1
"""The probability of each way in which a state does not grow in place."""


class GrowingState(NamedTuple):
    """A state of a drawn program: the output that its input gets, and its type before the first run."""

    output: str
    shape: tuple[int, ...]
    """With no rows."""
    dtype: str
    axis: int
    """That of the rows."""


@dataclass
class _Rows:
    """The rows that a state grows by, and what reads the state."""

    input: onnx.ValueInfoProto
    axis: int
    graph: OpenGraph
    draw: Draw
    prefix: str

    @property
    def rank(self) -> int:
        return len(self.input.type.tensor_type.shape.dim)

    @property
    def last(self) -> int:
        """The extent of the last axis; 0 where it has a name."""
        return int(self.input.type.tensor_type.shape.dim[-1].dim_value)

    def node(self, op_type: str, inputs: Sequence[str], **attributes: Any) -> str:
        """The result of a node that is added to the graph."""
        nodes = self.graph.model.graph.node
        name = f"{self.prefix}{len(nodes)}"
        nodes.append(helper.make_node(op_type, inputs, [name], name=name, **attributes))
        return name

    def constant(self, array: Any, dtype: str = "float32") -> str:
        """The name of an initialiser that is added to the graph."""
        initializers = self.graph.model.graph.initializer
        initializers.append(numpy_helper.from_array(np.asarray(array, dtype), f"{self.prefix}w{len(initializers)}"))
        return str(initializers[-1].name)


def add_rows(graph: OpenGraph, draw: Draw) -> None:
    """Now and then give a graph an input of rows of several heads, [heads, n, width], of one of its open extents."""
    if not graph.ranges or not draw.chance(OWN):
        return
    heads, width, name = draw.integer(1, 4), draw.integer(1, 24), draw.choice([*graph.ranges])
    graph.inputs[ROWS] = draw.eighths((heads, 5, width)).astype(np.float32)
    graph.model.graph.input.append(helper.make_tensor_value_info(ROWS, TensorProto.FLOAT, [heads, name, width]))


def add_states(graph: OpenGraph, draw: Draw) -> dict[str, GrowingState]:
    """Give a graph states, one or two, by the names of their inputs; none where no input has rows."""
    infos = [i for i in graph.model.graph.input if i.name in graph.inputs and _axis_of_rows(i) is not None]
    infos = sorted(draw.shuffled(infos), key=lambda i: i.name != ROWS)
    found: dict[str, GrowingState] = {}
    rows = ""
    for n, info in enumerate(infos[: draw.integer(1, 2)]):
        axis = _axis_of_rows(info)
        assert axis is not None
        named = info.type.tensor_type.shape.dim[axis].dim_param
        if rows and named != rows:
            continue  # all states have as many rows
        rows = named
        found[f"past{n}"] = _add_state(_Rows(info, axis, graph, draw, f"s{n}_"), f"past{n}", f"present{n}")
    return found


def runs_of_states(graph: OpenGraph, runs: Sequence[Run]) -> list[Run]:
    """The runs at which all values, with the rows of the runs before, are small enough for the oracles.

    Raises CannotDraw where there are not two.
    """
    found: list[Run] = []
    past = 0
    for run in runs:
        if graph.elements({**run.sizes, PAST: past}) <= MOST_ELEMENTS:
            found.append(run)
            past += max(run.sizes.values())
    if len(found) < 2:
        raise CannotDraw("the states are large at all sizes")
    return found


def _axis_of_rows(info: onnx.ValueInfoProto) -> int | None:
    """The one axis whose extent has a name, of an input with floats or whole numbers of 32 bits or more."""
    if info.type.tensor_type.elem_type not in (TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64):
        return None
    named = [n for n, d in enumerate(info.type.tensor_type.shape.dim) if d.dim_param]
    return named[0] if len(named) == 1 else None


def _add_state(rows: _Rows, past: str, present: str) -> GrowingState:
    draw, proto = rows.draw, rows.graph.model.graph
    info = onnx.ValueInfoProto()
    info.CopyFrom(rows.input)
    info.name = past
    info.type.tensor_type.shape.dim[rows.axis].dim_param = PAST
    proto.input.append(info)
    parts = [past, rows.input.name]
    nodes = proto.node
    nodes.append(
        helper.make_node("Concat", parts[:: -1 if draw.chance(OTHERWISE) else 1], [present], present, axis=rows.axis)
    )
    kind = info.type.tensor_type.elem_type
    # A product that alone reads the rows of several heads reads them where they lie.
    alone = rows.input.name == ROWS and draw.chance(0.7)
    readers = [_scores] if alone else draw.sample([*_readers(rows, kind)], draw.integer(1, 2))
    made = [read(rows, present) for read in readers]
    if draw.chance(OTHERWISE):
        made.append(rows.node("Abs", [past]))
    for name in [present, *made]:
        proto.output.append(helper.make_tensor_value_info(name, kind, None))
    shape = tuple(0 if d.dim_param else d.dim_value for d in info.type.tensor_type.shape.dim)
    return GrowingState(present, shape, str(helper.tensor_dtype_to_np_dtype(kind)), rows.axis)


def _readers(rows: _Rows, kind: int) -> Iterator[Callable[[_Rows, str], str]]:
    """Readers of a state: each adds nodes and gives the name of their result."""
    yield _reduced
    yield lambda r, present: r.node("Abs", [present])
    yield lambda r, present: r.node("Transpose", [present], perm=r.draw.permutation(r.rank))
    if kind != TensorProto.FLOAT or rows.rank < 2:
        return
    if rows.axis != rows.rank - 1 and rows.last:
        yield _product
    if rows.axis == rows.rank - 2 and rows.last:
        yield _scores
        yield _attention


def _reduced(rows: _Rows, present: str) -> str:
    """The largest of all rows."""
    (version,) = (o.version for o in rows.graph.model.opset_import if o.domain in ("", "ai.onnx"))
    if version < 18:
        return rows.node("ReduceMax", [present], axes=[rows.axis], keepdims=rows.draw.integer(0, 1))
    axes = rows.constant([rows.axis], "int64")
    return rows.node("ReduceMax", [present, axes], keepdims=rows.draw.integer(0, 1))


def _product(rows: _Rows, present: str) -> str:
    """A product of the rows and a weight."""
    weight = rows.constant(rows.draw.eighths((rows.last, rows.draw.extent(24))))
    return rows.node("MatMul", [present, weight])


def _scores(rows: _Rows, present: str) -> str:
    """Products of the new rows and all."""
    perm = [*range(rows.rank - 2), rows.rank - 1, rows.rank - 2]
    return rows.node("MatMul", [rows.input.name, rows.node("Transpose", [present], perm=perm)])


def _attention(rows: _Rows, present: str) -> str:
    """The mean of all rows, by these products."""
    scaled = rows.node("Mul", [_scores(rows, present), rows.constant(rows.draw.eighths((), 1.0))])
    return rows.node("MatMul", [rows.node("Softmax", [scaled], axis=-1), present])


__all__ = ["PAST", "GrowingState", "add_rows", "add_states", "runs_of_states"]
