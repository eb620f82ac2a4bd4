"""Networks as files of named nodes hold them, and their import by a table of converters.

What formats of that kind share: TFLite, Keras, MXNet, TensorFlow, Caffe, Darknet. A format reads its file into a
`Network` and declares a converter for each operator:

    TABLE = ConverterTable("keras")

    @TABLE.op("ReLU", "relu")
    def relu(b: NodeBuilder, node: NetworkNode, x: Value) -> Value: ...

A converter is given the values of the node's inputs, None for one that is left out, and returns the result, or a
sequence of results for the node's outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import FileLineColLoc, FusedLoc, IntAttr, NameLoc, NoneAttr, StringAttr
from xdsl.ir import Block, Operation

from lamina.dialects.dtypes import dtype_name, tensor_type
from lamina.dialects.infos import TypeMismatch
from lamina.dialects.relay import find_op
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.relay.program_state import STATE, StateVariable, state_attribute
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError, shown
from lamina.frontends.builder import LIMIT, Value, checked_nbytes, function_of, name_hint
from lamina.frontends.formats import Shapes
from lamina.frontends.imported import ImportedModel, Port
from lamina.frontends.support import SupportReport, UnsupportedOp
from lamina.frontends.tensor_builder import UNFIT, TensorBuilder

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import TensorType


@dataclass(frozen=True)
class NetworkNode:
    """An operator with the names of the values that it takes and gives; an input without a name is left out."""

    op: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    index: int = 0
    """Its place among the nodes of its file, or the line of it in a text."""
    refusal: str = ""
    """The reason why it cannot be imported, where the reader knows one."""

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute, the default where it is absent."""
        return self.attributes.get(name, default)

    @property
    def bodies(self) -> tuple[Network, ...]:
        """The networks among its attributes: of what it calls, of its branches, of its loop."""
        return tuple(v for v in self.attributes.values() if isinstance(v, Network))


@dataclass(frozen=True, eq=False)
class NetworkState:
    """A value that a network keeps from one run to the next: it becomes an input and an output."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    initial: NDArray[Any]
    """Its value before the first run; of rank 0 the number that all elements have."""


@dataclass(frozen=True)
class Network:
    """A graph of nodes in an order in which each value is there before it is taken."""

    label: str
    inputs: tuple[Port, ...]
    """Ports of what it takes; an extent that is open is -1."""
    nodes: tuple[NetworkNode, ...]
    outputs: tuple[Port, ...]
    """Ports of what it gives, with the names that the user knows; shapes and types are found by the import."""
    results: tuple[str, ...]
    """The values of the outputs."""
    weights: Mapping[str, NDArray[Any]] = field(default_factory=dict[str, "NDArray[Any]"])
    states: tuple[NetworkState, ...] = ()

    @staticmethod
    def named(
        label: str, inputs: Sequence[Port], nodes: Sequence[NetworkNode], results: Mapping[str, str],
        weights: Mapping[str, NDArray[Any]],
    ) -> Network:  # fmt: skip
        """A network whose outputs are values by the names that the user knows."""
        outputs = tuple(Port(name, (), "") for name in results)
        return Network(label, tuple(inputs), tuple(nodes), outputs, tuple(results.values()), weights)


Converter: TypeAlias = "Callable[..., Value | Sequence[Value]]"
_C = TypeVar("_C", bound=Converter)


class ConverterTable:
    """The converters of a format, from the files `convert_*.py` of its folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        """The folder in `frontends/`."""
        self._converters: dict[str, Converter] = {}
        self._is_loaded = False

    def op(self, *names: str) -> Callable[[_C], _C]:
        """Registers the converter of operators."""

        def register(convert: _C) -> _C:
            for name in names:
                if name in self._converters:
                    raise TypeError(f"{name} has two converters")
                self._converters[name] = convert
            return convert

        return register

    def converters(self) -> Mapping[str, Converter]:
        """All converters by operator."""
        if not self._is_loaded:
            folder = Path(__file__).parent / self.folder
            for path in sorted(folder.glob("convert_*.py")):
                import_module(f"lamina.frontends.{self.folder}.{path.stem}")
            self._is_loaded = True
        return self._converters


class NodeBuilder(TensorBuilder):
    """Emits the Relay ops of a network, one node at a time."""

    def __init__(self, block: Block, store: ParamStore, label: str, limit: int, table: ConverterTable) -> None:
        super().__init__(block, store, label, limit)
        self.table = table
        self.node: NetworkNode | None = None
        self.states: dict[str, Value] = {}
        """The values that are kept from run to run, by name, as they are at this place."""
        self.count = 0
        """Nodes that have been converted, those of bodies each time."""
        self.notes: dict[Any, Any] = {}
        """Facts that converters keep while a network is imported: numbers by name, the mask of a value."""

    def enter(self, node: NetworkNode | None) -> None:
        """Begin a node: the ops that are emitted from now on belong to it."""
        self.node = node
        if node is None:
            self.location = None
            return
        name = NameLoc(StringAttr((node.name or node.op)[:200]), NoneAttr())
        place = FileLineColLoc(StringAttr(self.label), IntAttr(node.index), IntAttr(0))
        self.location = FusedLoc((name, place), NoneAttr())

    @property
    def where(self) -> str:
        if self.node is None:
            return self.label
        name = f" {shown(self.node.name)}" if self.node.name else ""
        return f"{self.label}: {self.node.op}{name}"

    def known(self, x: Value | None, what: str) -> NDArray[Any]:
        """The values of an operand that must be constant. Raises UnsupportedError for one that is computed."""
        if x is None:
            raise self.fail(f"{what} is missing")
        if x.array is None:
            raise self.unsupported(f"{what} is computed at run time")
        return x.array

    def sized_by_values(self, op_name: str, *operands: Value, **attrs: Any) -> list[Value]:
        """The results of an op whose extents only its operands' values tell: -1 in the shape, for outputs alone."""
        op_type = find_op(f"relay.{op_name}")
        assert op_type is not None
        try:
            op = op_type.make(*map(self.ssa, operands), **attrs)
        except TypeMismatch as e:
            raise self.mismatch(str(e).removeprefix(f"{op_type.name}: "), operands) from None
        op.location = self.location
        self.block.add_op(op)
        results: list[Value] = []
        for result in op.results:
            type_ = cast("TensorType[Any]", result.type)
            shape = tuple(max(e, -1) for e in type_.get_shape())
            results.append(Value(shape, dtype_name(type_.element_type), ssa=result))
        return results

    def called(self, node: NetworkNode, values: Sequence[Value | None]) -> list[Value]:
        """The results of a node on these operands."""
        outer = self.node
        self.count += 1
        self.enter(node)
        convert = self.table.converters().get(node.op)
        if node.refusal or convert is None:
            raise self.unsupported(node.refusal or "the operator is not supported")
        if open_ := next((v for v in values if type(v) is Value and -1 in v.shape), None):
            raise self.unsupported(f"takes {open_}, whose size is known at run time only")
        try:
            made = convert(self, node, *values)
        except LaminaError:
            raise
        except UNFIT as e:
            # A file may say anything; the converters check what a writer of the format may get wrong.
            raise self.fail(f"cannot be imported: {type(e).__name__}: {e}"[:200]) from e
        results = [made] if isinstance(made, Value) else list(made)
        for name, value in zip(node.outputs, results, strict=False):
            if value.ssa is not None and isinstance(value.ssa.owner, Operation) and value.ssa.name_hint is None:
                value.ssa.name_hint = name_hint(name) or None
        self.enter(outer)
        return results

    def inline(self, network: Network, operands: Sequence[Value]) -> list[Value]:
        """The results of a whole network on these operands, its nodes put here."""
        values: dict[str, Value] = dict(zip((p.name for p in network.inputs), operands, strict=True))
        for name, array in network.weights.items():
            values[name] = Value(array.shape, str(array.dtype), array=array, name=name)
        for node in network.nodes:
            results = self.called(node, [self._taken(values, name) for name in node.inputs])
            if len(results) < len(node.outputs):
                self.enter(node)
                raise self.unsupported(f"gives {len(results)} results, {len(node.outputs)} are asked for")
            values.update(zip(node.outputs, results, strict=False))
        return [self._given(values, name) for name in network.results]

    def _taken(self, values: Mapping[str, Value], name: str) -> Value | None:
        return self._given(values, name) if name else None

    def _given(self, values: Mapping[str, Value], name: str) -> Value:
        found = values.get(name, self.states.get(name))
        if found is None:
            raise InputError(f"the value {name!r} is not defined here", where=self.where, hint="correct the model")
        return found


MakeBuilder: TypeAlias = "Callable[[Block, ParamStore], NodeBuilder]"


def import_network(
    network: Network, table: ConverterTable, shapes: Shapes | None = None, limit: int | None = None,
    *, named_weights: bool = False, make: MakeBuilder | None = None,
) -> ImportedModel:  # fmt: skip
    """Import a network. `shapes` gives those of inputs whose extents are open, or that are to have others.

    With `named_weights` also small weights that have names are parameters.
    `make` makes the builder of a format that has one of its own.

    Raises LaminaError naming the node; UnsupportedError lists all operators that are missing.
    """
    report = report_of(network, table)
    if not report.ok:
        raise report.error()
    block, store = Block(), ParamStore()
    most = LIMIT if limit is None else limit
    builder = make(block, store) if make is not None else NodeBuilder(block, store, network.label, most, table)
    builder.named_weights = named_weights
    inputs = [_with_shape(port, shapes or {}, network.label) for port in network.inputs]
    known = [p.name for p in network.inputs]
    if unknown := next((name for name in shapes or {} if name not in known), None):
        raise UsageError(f"there is no input {unknown!r}", where=network.label, hint=f"inputs: {', '.join(known)}")
    kept, pairs = _state_ports(network)
    operands = [_argument(builder, port) for port in inputs]
    builder.states = {s.name: _argument(builder, port) for s, port in zip(network.states, kept, strict=True)}
    results = builder.inline(network, operands)
    builder.enter(None)
    outputs = [_output(p.name, v) for p, v in zip(network.outputs, results, strict=True)]
    for state, pair in zip(network.states, pairs, strict=True):
        value = builder.states[state.name]
        if (value.shape, value.dtype) != (state.shape, state.dtype):
            raise builder.fail(f"the state {state.name!r} changes its type to {value}")
        results.append(value)
        outputs.append(Port(pair.output, state.shape, state.dtype))
    stem = PurePath(network.label).stem or "model"
    module = builder.module([*inputs, *kept], outputs, [builder.ssa(v) for v in results], stem)
    if pairs:
        function_of(module).attributes[STATE] = state_attribute(pairs)
    return ImportedModel(module, store, (*inputs, *kept), tuple(outputs), {}, network.label)


def _output(name: str, value: Value) -> Port:
    """The port of a result."""
    type_ = cast("TensorType[Any]", value.ssa.type) if value.ssa is not None and -1 in value.shape else None
    return Port(name, value.shape, value.dtype, type=type_)


def _argument(b: NodeBuilder, port: Port) -> Value:
    """An argument of the function for an input."""
    checked_nbytes(port.shape, port.dtype, b.limit, f"{b.label}: {shown(port.name)}")
    argument = b.block.insert_arg(tensor_type(port.shape, port.dtype), len(b.block.args))
    argument.name_hint = name_hint(port.name) or None
    return Value(port.shape, port.dtype, ssa=argument, name=port.name)


def _state_ports(network: Network) -> tuple[list[Port], list[StateVariable]]:
    """The inputs of a network's states, by names that nothing else has, and what is kept with their outputs."""
    taken = {p.name for p in (*network.inputs, *network.outputs)}
    ports: list[Port] = []
    pairs: list[StateVariable] = []
    for state in network.states:
        name = state.name
        while name in taken or f"{name}:next" in taken:
            name += "'"
        taken |= {name, f"{name}:next"}
        ports.append(Port(name, state.shape, state.dtype))
        pairs.append(StateVariable(name, f"{name}:next", state.initial))
    return ports, pairs


def report_of(network: Network, table: ConverterTable) -> SupportReport:
    """The report on a network: each operator that no converter takes, with the names of its nodes and a reason.

    The bodies of nodes count too, each once.
    """
    known = table.converters()
    supported: dict[str, int] = {}
    missing: dict[tuple[str, str], list[str]] = {}
    networks = [network]
    for part in networks:
        for node in part.nodes:
            reason = node.refusal or ("" if node.op in known else "no converter")
            if reason:
                missing.setdefault((node.op, reason), []).append(node.name or str(node.index))
            else:
                supported[node.op] = supported.get(node.op, 0) + 1
            networks += [body for body in node.bodies if not any(body is n for n in networks)]
    rows = [UnsupportedOp("", op, 0, len(names), tuple(names), reason) for (op, reason), names in missing.items()]
    count = sum(len(part.nodes) for part in networks)
    return SupportReport.of(network.label, count, supported, rows, f"frontends/{table.folder}")


def _with_shape(port: Port, shapes: Shapes, label: str) -> Port:
    """An input with the shape that the user gives it; the first extent is 1 where nothing else tells it."""
    given = shapes.get(port.name)
    if isinstance(given, (int, str)):
        raise UsageError(f"the shape of {port.name!r} is a list of extents", where=label)
    where = f"{label}: input {shown(port.name)}"
    if given is not None:
        fits = len(given) == len(port.shape) and all(e in (-1, g) for e, g in zip(port.shape, given, strict=True))
        if not fits:
            extents = ", ".join("?" if e < 0 else str(e) for e in port.shape)
            raise UsageError(f"has the shape [{extents}], {list(given)} is given", where=where)
        return Port(port.name, tuple(given), port.dtype)
    if -1 in port.shape[1:]:
        extents = ",".join("?" if e < 0 else str(e) for e in port.shape)
        hint = f"give it: --shape {port.name}={extents}"
        raise UnsupportedError(f"has the open shape [{extents}]", where=where, hint=hint)
    return Port(port.name, tuple(1 if e < 0 else e for e in port.shape), port.dtype)
