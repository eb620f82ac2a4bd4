"""Functions that are called, choices between two, and loops: in place where the condition is known, else run."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block

from lamina.dialects.dtypes import tensor_type
from lamina.frontends import control
from lamina.frontends.builder import Value
from lamina.frontends.frames import Frame, Mark, inside
from lamina.frontends.network import Network, NetworkNode, NodeBuilder
from lamina.frontends.tensorflow.convert_lists import ListValue, dense
from lamina.frontends.tensorflow.table import TABLE

MOST_TRIPS = 256
"""Trips of a loop that is put in place: each is code of its own."""
MOST_NODES_OF_LOOP = 1 << 10
"""Nodes of all trips of a loop that is put in place, those of loops in it counted."""
MOST_NODES_OF_LOOPS = 1 << 12
"""Nodes of all loops that are put in place, or followed so far in vain."""
DEEPEST_TRIAL = 2
"""Loops in loops that are followed for a trip to learn what their lists hold."""


def body_of(b: NodeBuilder, node: NetworkNode, name: str, operands: Sequence[Value]) -> Network:
    """The function of an attribute, which takes so many operands."""
    body = node.attr(name)
    if not isinstance(body, Network):
        raise b.fail(f"there is no {name}")
    if len(body.inputs) != len(operands):
        raise b.fail(f"the {name} takes {len(body.inputs)} values, {len(operands)} are given")
    return body


@TABLE.op("PartitionedCall", "StatefulPartitionedCall")
def call(b: NodeBuilder, node: NetworkNode, *operands: Value) -> list[Value]:
    return b.inline(body_of(b, node, "f", operands), operands)


def _truth(b: NodeBuilder, value: Value) -> Value:
    """A condition as one boolean: numbers are true where they are not zero, other tensors where they have elements."""
    if value.rank:
        return b.tensor(0 not in value.shape)
    return b.cast(value, "bool")


@TABLE.op("If", "StatelessIf")
def choice(b: NodeBuilder, node: NetworkNode, given: Value, *operands: Value) -> list[Value]:
    """The results of one of two functions."""
    bodies = [body_of(b, node, f"{way}_branch", operands) for way in ("then", "else")]
    condition = _truth(b, given)
    if condition.array is not None:
        return b.inline(bodies[0 if condition.array.item() else 1], operands)

    def way(body: Network) -> control.Body:
        return lambda values: [dense(b, v) for v in b.inline(body, values)]

    return control.choice(b, condition, [way(body) for body in bodies], list(operands))


@TABLE.op("While", "StatelessWhile")
def loop(b: NodeBuilder, node: NetworkNode, *operands: Value) -> list[Value]:
    """The body again and again, as long as the condition holds of what it gives."""
    condition, body = (body_of(b, node, name, operands) for name in ("cond", "body"))
    if len(body.results) != len(operands):
        raise b.fail(f"a trip makes {len(body.results)} values of {len(operands)}")
    mark = Mark(b)
    found = _in_place(b, condition, body, list(operands))
    if found is None:
        mark.undo()
        found = _running(b, condition, body, _with_shapes(b, body, operands))
    return found


def _with_shapes(b: NodeBuilder, body: Network, operands: Sequence[Value]) -> list[Value]:
    """The operands with lists as tensors; the shape of elements that none was set of is what a trip makes of it."""
    if not any(isinstance(v, ListValue) and v.is_open for v in operands):
        return [dense(b, v) for v in operands]
    deep = b.notes.get("trials", 0)
    if deep >= DEEPEST_TRIAL:
        raise b.unsupported("loops in loops that fill lists of unknown shapes are too deep")
    block = Block()
    frame = Frame(block, b.frame)
    taken = [v if isinstance(v, ListValue) else _argument(block, v) for v in operands]
    b.notes["trials"] = deep + 1
    with inside(b, block, frame):
        after = b.inline(body, taken)
    b.notes["trials"] = deep
    for op in reversed(list(block.ops)):
        block.detach_op(op)
        op.drop_all_references()
    made = [Value(v.shape[1:], v.dtype) if not isinstance(v, ListValue) else v for v in after]
    return [dense(b, v, like) for v, like in zip(operands, made, strict=True)]


def _argument(block: Block, value: Value) -> Value:
    """A value of the same type that a function is given."""
    ssa = block.insert_arg(tensor_type(value.shape, value.dtype), len(block.args))
    return Value(value.shape, value.dtype, ssa=ssa)


def _in_place(b: NodeBuilder, condition: Network, body: Network, values: list[Value]) -> list[Value] | None:
    """The results where the condition is known of each trip; None where it is not, or there are too many."""
    is_inner, done = "loop" in b.notes, b.notes.get("loops", 0)
    begin = b.notes.setdefault("loop", b.count)
    try:
        if done > MOST_NODES_OF_LOOPS:
            return None
        return _trips(b, condition, body, values, begin + MOST_NODES_OF_LOOP)
    finally:
        if not is_inner:
            del b.notes["loop"]
            b.notes["loops"] = done + b.count - begin


def _trips(b: NodeBuilder, condition: Network, body: Network, values: list[Value], most: int) -> list[Value] | None:
    """The results of so many trips that no more than `most` nodes of the import are converted."""
    for _ in range(MOST_TRIPS + 1):
        if b.count > most:
            return None
        more = _truth(b, _one(b, b.inline(condition, values)))
        if more.array is None:
            return None
        if not more.array.item():
            return values
        values = b.inline(body, values)
    return None


def _one(b: NodeBuilder, values: Sequence[Value]) -> Value:
    if len(values) != 1:
        raise b.fail(f"the condition gives {len(values)} values")
    return values[0]


def _running(b: NodeBuilder, condition: Network, body: Network, operands: Sequence[Value]) -> list[Value]:
    """The loop as a function, and a call of it; what no trip changes is no argument, but seen from inside."""
    kept = _unchanged(body)
    carried = [v for v, same in zip(operands, kept, strict=True) if not same]
    if not carried:
        return list(operands)  # it has no trip, or no end

    def whole(values: list[Value]) -> list[Value]:
        """The operands with what is carried at its places."""
        now = iter(values)
        return [v if same else next(now) for v, same in zip(operands, kept, strict=True)]

    def more(values: list[Value]) -> Value:
        return _truth(b, _one(b, b.inline(condition, whole(values))))

    def trip(values: list[Value]) -> list[Value]:
        after = b.inline(body, whole(values))
        return [dense(b, v) for v, same in zip(after, kept, strict=True) if not same]

    return whole(control.loop(b, more, trip, carried))


def _unchanged(body: Network) -> list[bool]:
    """Whether each result is the operand at its place, handed through."""
    sources = {
        out: node.inputs[0] for node in body.nodes if node.op == "Identity" for out in node.outputs if node.inputs
    }

    def origin(name: str) -> str:
        for _ in body.nodes:
            name = sources.get(name, name)
            if name not in sources:
                break
        return name

    return [origin(r) == p.name for r, p in zip(body.results, body.inputs, strict=True)]
