"""Branches, loops, calls of subgraphs, and variables.

What both branches make is computed, and the condition chooses; a loop is put in place trip by trip, as long as its
condition is known when the model is imported.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder, moves
from lamina.frontends.tflite.graph import TfliteNode
from lamina.frontends.tflite.variables import Handle

MOST_TRIPS = 1024
"""Longer loops are refused: each trip is code of its own."""


@TABLE.op(*moves("IF"))
def if_(b: TfliteBuilder, node: TfliteNode, condition: Value, *operands: Value) -> Sequence[Value]:
    """The results of the branch that the condition takes, and the variables as it leaves them."""
    branches = [int(node.attr("then_subgraph_index", 0)), int(node.attr("else_subgraph_index", 0))]
    if condition.array is not None:
        return b.subgraph(branches[0 if b.number(condition, "the condition") else 1], operands)
    before = dict(b.states)
    then = b.subgraph(branches[0], operands)
    after, b.states = b.states, dict(before)
    other = b.subgraph(branches[1], operands)
    flag = b.reshape(b.cast(condition, "bool"), ())
    results = [_chosen(b, flag, x, y) for x, y in zip(then, other, strict=False)]
    for name in after.keys() & b.states.keys():
        if after[name] is not b.states[name]:
            b.states[name] = _chosen(b, flag, after[name], b.states[name])
    return results


def _chosen(b: TfliteBuilder, flag: Value, x: Value, y: Value) -> Value:
    if (x.shape, x.dtype) != (y.shape, y.dtype):
        raise b.unsupported(f"the branches give {x} and {y}: another type in each")
    return x if x is y else b.op("where", flag, x, y)


@TABLE.op(*moves("WHILE"))
def while_(b: TfliteBuilder, node: TfliteNode, *operands: Value) -> Sequence[Value]:
    """Trips as long as the condition holds, which must be known when the model is imported."""
    condition, body = int(node.attr("cond_subgraph_index", 0)), int(node.attr("body_subgraph_index", 0))
    carried = list(operands)
    for _ in range(MOST_TRIPS):
        (going,) = b.subgraph(condition, carried)
        if going.array is None:
            raise b.unsupported("a loop whose condition is computed at run time is not supported")
        if not b.number(going, "the condition"):
            return carried
        carried = b.subgraph(body, carried)
        if len(carried) != len(operands):
            raise b.fail(f"the loop carries {len(operands)} values, its body gives {len(carried)}")
    raise b.unsupported(f"a loop of more than {MOST_TRIPS} trips is not supported")


@TABLE.op(*moves("CALL"))
def call(b: TfliteBuilder, node: TfliteNode, *operands: Value) -> Sequence[Value]:
    """The results of a subgraph."""
    return b.subgraph(int(node.attr("subgraph", 0)), operands)


@TABLE.op(*moves("STABLEHLO_COMPOSITE"))
def composite(b: TfliteBuilder, node: TfliteNode, *operands: Value) -> Sequence[Value]:
    """A composition by what it is composed of."""
    return b.subgraph(int(node.attr("decomposition_subgraph_index", 0)), operands)


@TABLE.op("CALL_ONCE")
def call_once(b: TfliteBuilder, node: TfliteNode) -> Sequence[Value]:
    """Nothing: what the subgraph gives to variables has become their initial values."""
    return []


@TABLE.op(*moves("VAR_HANDLE"))
def var_handle(b: TfliteBuilder, node: TfliteNode) -> Value:
    """A handle of a variable."""
    return Handle(str(node.attr("container", "")), str(node.attr("shared_name", "")))


@TABLE.op(*moves("READ_VARIABLE"))
def read_variable(b: TfliteBuilder, node: TfliteNode, handle: Value) -> Value:
    """The value of a variable."""
    name = _variable(b, handle)
    if name not in b.states:
        raise b.fail(f"the variable {name!r} is read before it has a value")
    return b.states[name]


@TABLE.op(*moves("ASSIGN_VARIABLE"))
def assign_variable(b: TfliteBuilder, node: TfliteNode, handle: Value, value: Value) -> Sequence[Value]:
    """Another value of a variable."""
    b.states[_variable(b, handle)] = value
    return []


def _variable(b: TfliteBuilder, handle: Value) -> str:
    if not isinstance(handle, Handle):
        raise b.fail("the operand is no handle of a variable")
    return handle.variable
