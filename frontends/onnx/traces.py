"""Traces: the ops that a converter emits, written down in place of being emitted.

A converter that is asked about some draw of the unknown extents (`generalise.py`) emits into a block of its own. Its
trace has the ops with their attributes, and where each operand comes from; two traces with one key have the same ops,
and differ in no more than integers and constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Block, SSAValue

from lamina.dialects.dtypes import tensor_type
from lamina.dialects.infos import TensorInfo, tensor_info
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.meaning import np_results
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import AnyValue, Builder, OptionalValue, SequenceValue
from lamina.frontends.onnx.open_values import OpenValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ref: TypeAlias = "tuple[str, int, int]"
"""`("in", n, 0)` an input, `("const", n, 0)` a constant, `("op", n, r)` a result."""


@dataclass
class TracedOp:
    """One op of a trace."""

    type: type[RelayOp]
    operands: list[Ref]
    attrs: dict[str, Any]
    results: list[TensorInfo]


@dataclass
class Trace:
    """The ops, constants and outputs that a converter emits in one draw."""

    ops: list[TracedOp]
    constants: list[Value]
    outputs: list[AnyValue]
    refs: dict[SSAValue, Ref]
    key: Any = None

    def leaves(self) -> list[Value]:
        """The tensors among the outputs and in them."""
        return list(_leaves(self.outputs))

    def exact(self) -> Any:
        """The ops with all that their attributes and constants are."""
        ops = [(o.type, o.operands, sorted(o.attrs.items())) for o in self.ops]
        outputs = [v for v in self.leaves() if v.array is not None]
        return ops, [a.tolist() for v in (*self.constants, *outputs) if (a := v.array) is not None and a.size <= 64]

    def ref(self, value: Value) -> Ref | None:
        """The origin of an output; None for a constant."""
        return None if value.array is not None else self.refs[value.ssa]  # type: ignore[index]


class TraceBuilder(Builder):
    """Writes ops into a block of its own. Constants are arguments of it: no weight is hashed or copied."""

    def __init__(self, like: Builder) -> None:
        super().__init__(Block(), like.store, like.label, like.folder, like.limit)
        self.node, self.strings = like.node, like.strings
        self.location = FileLineColLoc(StringAttr(like.label), IntAttr(0), IntAttr(0))
        self.refs: dict[SSAValue, Ref] = {}
        self.constants: list[Value] = []

    def ssa(self, value: Value | OpenValue) -> SSAValue:
        if value.ssa is None:
            assert isinstance(value, Value)
            value.ssa = self._argument(value, ("const", len(self.constants), 0))
            self.constants.append(value)
        return value.ssa

    def given(self, shape: tuple[int, ...], like: Value | OpenValue, n: int) -> Value:
        """An input of the converter."""
        value = Value(shape, like.dtype, name=like.name, logical=like.logical)
        value.ssa = self._argument(value, ("in", n, 0))
        return value

    def _argument(self, value: Value, ref: Ref) -> SSAValue:
        argument = self.block.insert_arg(tensor_type(value.shape, value.dtype), len(self.block.args))
        self.refs[argument] = ref
        return argument

    def trace(self, outputs: list[AnyValue]) -> Trace:
        ops: list[TracedOp] = []
        for op in self.block.ops:
            assert isinstance(op, RelayOp)
            self.refs.update({r: ("op", len(ops), n) for n, r in enumerate(op.results)})
            operands = [self.refs[v] for v in op.operands]
            ops.append(TracedOp(type(op), operands, attrs_of(op), [tensor_info(t) for t in op.result_types]))
        trace = Trace(ops, self.constants, outputs, self.refs)
        shapes = tuple(_form(o, trace) for o in outputs)
        trace.key = (tuple((o.type, tuple(o.operands), _fixed(o.attrs)) for o in ops), len(self.constants), shapes)
        return trace


def _fixed(attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    """The attributes that may not differ between draws: all but integers."""
    found: list[Any] = []
    for name, value in sorted(attrs.items()):
        if type(value) is int:
            found.append((name, "int"))
        elif isinstance(value, tuple) and value and all(type(v) is int for v in cast("tuple[Any, ...]", value)):
            found.append((name, "ints", len(cast("tuple[Any, ...]", value))))
        else:
            found.append((name, value))
    return tuple(found)


def _form(value: AnyValue, trace: Trace) -> Any:
    if isinstance(value, Value):
        return (trace.ref(value), len(value.shape), value.dtype, value.logical)
    if isinstance(value, SequenceValue):
        return ("sequence", *(_form(v, trace) for v in value.items))
    assert isinstance(value, OptionalValue)
    return ("optional", None if value.item is None else _form(value.item, trace))


def _leaves(values: Sequence[AnyValue]) -> Iterator[Value]:
    for v in values:
        if isinstance(v, Value):
            yield v
        elif isinstance(v, SequenceValue):
            yield from _leaves(v.items)
        elif isinstance(v, OptionalValue) and v.item is not None:
            yield from _leaves([v.item])


def evaluated(
    trace: Trace, attrs: Sequence[dict[str, Any]], constants: Sequence[Any], given: Mapping[int, NDArray[Any]]
) -> list[NDArray[Any]]:
    """The outputs of a trace, by numpy."""
    values: dict[Ref, Any] = {("const", n, 0): c for n, c in enumerate(constants)}
    values.update({("in", n, 0): a for n, a in given.items()})
    for n, op in enumerate(trace.ops):
        results = np_results(op.type, [values[r] for r in op.operands], attrs[n])
        values.update({("op", n, r): a for r, a in enumerate(results)})
    leaves = trace.leaves()
    refs = [trace.ref(v) for v in leaves]
    return [v.array if r is None else values[r] for v, r in zip(leaves, refs, strict=True)]  # type: ignore[misc]
