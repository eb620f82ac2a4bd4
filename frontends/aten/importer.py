"""From a graph of ATen calls to `func.func @main` of Relay ops on tensors.

Weights go to the parameter store under their names in the model; each op carries the module and the line of its call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import PurePath
from typing import Any

from xdsl.ir import Block, Operation

from lamina.dialects.index.symbols import with_symbols
from lamina.dialects.infos import TensorInfo, is_symbolic
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.relay.program_state import STATE, state_attribute
from lamina.dialects.relay.random.threefry import KEY
from lamina.dialects.relay.symbolic import state_symbols, type_of_info
from lamina.dialects.relay.value_types import is_dynamic
from lamina.errors import InputError, LaminaError
from lamina.frontends.aten.builder import AtenBuilder, OwnConverter
from lamina.frontends.aten.functional import VIEWS, is_in_place, out_of_place
from lamina.frontends.aten.graph import AtenCall, AtenGraph, Input, Ref, refs
from lamina.frontends.aten.nested import MOST_CALLS, calls_within, every_call, outer_name, prepared
from lamina.frontends.aten.quantization import PackedCell, PackedWeights
from lamina.frontends.aten.quantized import QuantizedValue, of_quantized, takes_quantized
from lamina.frontends.aten.table import by_table, entry, spellings
from lamina.frontends.builder import LIMIT, Value, checked_nbytes, function_of, name_hint
from lamina.frontends.dimensions import Dimensions
from lamina.frontends.imported import ImportedModel, Port
from lamina.frontends.support import SupportReport, UnsupportedOp
from lamina.frontends.tensor_builder import UNFIT

NO_CONVERTER = "no converter"
GETITEM = "getitem"
"""The target of a call that takes one of several results."""
ASSERTIONS = frozenset(
    (
        *("_assert_async", "_assert_scalar", "_assert_tensor_metadata", "sym_constrain_range"),
        *("sym_constrain_range_for_size", "_print"),
    )
)
"""Operators that compute nothing."""

RANDOM_KEY = "lamina.random_key"
"""The last input of a program that draws random numbers, ten uint64 that are random themselves."""


def import_graph(
    graph: AtenGraph, limit: int = LIMIT, named_weights: bool = False, own: Mapping[str, OwnConverter] | None = None,
    *, draws: bool = False, dimensions: Dimensions | None = None,
) -> ImportedModel:  # fmt: skip
    """Import a graph; with `named_weights` its small weights are parameters as well. `dimensions` are those of its
    inputs, where some extents depend on symbols.

    `own` are converters that go before the table's. With `draws` the graph is a part of a program of torch's, which
    keeps the state: one that draws random numbers gets the input RANDOM_KEY behind its own. Without it such calls are
    refused, and weights that are changed become state.

    Raises LaminaError naming the call; UnsupportedError lists all operators that are missing.
    """
    graph = prepared(graph, keeps=not draws)
    if any(not _is_known(c) and own_of(c, own or {}) is None for c in every_call(graph)):
        raise report_of(graph, limit, dimensions).error()
    importer = _Importer(graph, limit, draws, dimensions)
    importer.builder.own = own or {}
    importer.builder.named_weights = named_weights
    return importer.run()


def _is_known(call: AtenCall) -> bool:
    return call.target == GETITEM or call.packet in ASSERTIONS or entry(call) is not None


def report_of(graph: AtenGraph, limit: int = LIMIT, dimensions: Dimensions | None = None) -> SupportReport:
    """The report on a graph: each operator that cannot be imported, with its places and a reason."""
    graph = prepared(graph)
    with _symbols_of(dimensions):
        refused = _refused(graph, limit, dimensions=dimensions)
    supported: dict[str, int] = {}
    missing: dict[tuple[str, str], list[str]] = {}
    outer = {id(call) for call in graph.calls}
    for call in every_call(graph):
        if call.target == GETITEM:
            continue
        reason = refused.get(call.name) if id(call) in outer else None if _is_known(call) else NO_CONVERTER
        if reason is not None:
            missing.setdefault((call.target, reason), []).append(str(call.place) or call.name)
        else:
            supported[call.target] = supported.get(call.target, 0) + 1
    rows = [
        UnsupportedOp(target.partition(".")[0], target.partition(".")[2], 0, len(places), tuple(places), reason)
        for (target, reason), places in missing.items()
    ]
    return SupportReport.of(graph.label, sum(1 for _ in every_call(graph)), supported, rows, "frontends/aten")


def refused_calls(graph: AtenGraph, limit: int = LIMIT, *, draws: bool = False) -> dict[str, str]:
    """The calls of a graph that cannot be imported, by name, with the reason of each; `draws` as in `import_graph`.

    What follows from results whose types the source does not tell is refused as well.
    """
    found: dict[str, str] = {}
    for name, reason in _refused(prepared(graph, keeps=not draws), limit, draws=draws).items():
        found.setdefault(outer_name(name), reason)
    return found


def _symbols_of(dimensions: Dimensions | None) -> AbstractContextManager[Any]:
    return nullcontext() if dimensions is None or dimensions.symbols is None else with_symbols(dimensions.symbols)


def _refused(
    graph: AtenGraph, limit: int, *, draws: bool = False, dimensions: Dimensions | None = None
) -> dict[str, str]:
    """`refused_calls` of a graph that is prepared."""
    importer = _Importer(graph, limit, draws, dimensions)
    for given in graph.inputs:
        importer.take(given)
    found: dict[str, str] = {}
    for call in importer.graph.calls:
        if call.packet in ASSERTIONS:
            continue
        if call.refusal:
            found[call.name] = call.refusal
        elif not _is_known(call):
            found[call.name] = NO_CONVERTER
        elif not all(map(_is_known, calls_within(call))):
            found[call.name] = "its graphs have operators without a converter"
        elif any(r.name not in importer.values for r in refs((call.args, list(call.kwargs.values())))):
            found[call.name] = "takes what stays eager"
        else:
            try:
                importer.values[call.name] = importer.called(call)
                continue
            except LaminaError as e:
                found[call.name] = e.what
                if dimensions is not None and dimensions.symbols is not None:
                    dimensions.symbols.forget(0)
        importer.assume(call)
    return found


class _Importer:
    def __init__(self, graph: AtenGraph, limit: int, draws: bool = False, dimensions: Dimensions | None = None) -> None:
        self.graph = graph
        self.dimensions = dimensions if dimensions is not None and dimensions.symbols is not None else None
        """The dimensions of the inputs, where some depend on symbols."""
        self.store = ParamStore()
        self.block = Block()
        self.builder = AtenBuilder(self.block, self.store, graph.label, limit)
        self.values: dict[str, Any] = {}
        self.key: Port | None = None
        self.builder.inline = self._inline
        if draws:
            self.builder.take_key = self._take_key

    def _take_key(self) -> Value:
        """Add the key of random numbers, behind all other inputs."""
        self.key = self.take(Input(RANDOM_KEY, KEY.shape, KEY.dtype))
        return self.values[RANDOM_KEY]

    def run(self) -> ImportedModel:
        """Import the whole graph."""
        with _symbols_of(self.dimensions):
            imported = self._imported()
        if self.dimensions is not None:
            state_symbols(imported.module, self.dimensions.narrowed(self.builder.where))
        return imported

    def _imported(self) -> ImportedModel:
        inputs = [port for i in self.graph.inputs if (port := self.take(i)) is not None]
        self._calls(self.graph)
        self.builder.call = None
        if self.key is not None:
            inputs.append(self.key)
        results: list[Any] = []
        outputs: list[Port] = []
        for output in self.graph.outputs:
            value = self._argument(output.value)
            if value is None:
                continue
            tensor = self.builder.tensor(value)
            results.append(self.builder.ssa(tensor))
            outputs.append(_port(output.name, tensor.info))
        stem = PurePath(self.graph.label).stem or "model"
        module = self.builder.module(inputs, outputs, results, stem)
        if self.graph.states:
            function_of(module).attributes[STATE] = state_attribute(self.graph.states)
        return ImportedModel(module, self.store, tuple(inputs), tuple(outputs), {}, self.graph.label)

    def _calls(self, graph: AtenGraph) -> None:
        for call in graph.calls:
            if call.packet not in ASSERTIONS:
                self.values[call.name] = self.called(call)

    def _inline(self, graph: AtenGraph, operands: Sequence[Any]) -> list[Any]:
        """Import a graph in the graph where the builder stands, which sees its operands alone, and draws no numbers."""
        b = self.builder
        call, outer, take_key = b.call, self.values, b.take_key
        assert call is not None
        if len(graph.inputs) != len(operands):
            raise b.fail(f"a graph of {len(graph.inputs)} inputs is given {len(operands)} values")
        for given, value in zip(graph.inputs, operands, strict=True):
            if value.info != TensorInfo(given.shape, given.dtype):
                raise b.fail(f"{given.name} is given {value}, expected {Value(given.shape, given.dtype)}")
        b.nested_calls += len(graph.calls)
        if b.nested_calls > MOST_CALLS:
            raise b.unsupported(f"the bodies of loops and choices are more than {MOST_CALLS} calls")
        try:
            self.values = {i.name: v for i, v in zip(graph.inputs, operands, strict=True)}
            b.take_key = None
            self._calls(graph)
            return [self._argument(o.value) for o in graph.outputs]
        finally:
            self.values, b.take_key = outer, take_key
            b.enter(call)

    def take(self, given: Input) -> Port | None:
        """Add an input: the port of one, None for a weight."""
        where = f"{self.graph.label}: {given.key or given.name}"
        checked_nbytes(given.shape, given.dtype, self.builder.limit, where)
        if given.array is not None:
            value = Value(given.shape, given.dtype, array=given.array, name=given.key)
            quantization = given.quantization
            self.values[given.name] = value if quantization is None else QuantizedValue(value, quantization)
            return None
        info = TensorInfo(given.shape, given.dtype)
        argument = self.block.insert_arg(type_of_info(info), len(self.block.args))
        name = given.key or given.name
        argument.name_hint = name_hint(name) or None
        self.values[given.name] = Value(given.shape, given.dtype, ssa=argument, name=name)
        return _port(name, info)

    def _argument(self, given: Any) -> Any:
        """An argument with its references replaced by values."""
        if isinstance(given, Ref):
            if given.name not in self.values:
                raise InputError(f"the value {given.name!r} is not defined here", where=self.builder.where)
            return self.values[given.name]
        if isinstance(given, (list, tuple)):
            return [self._argument(g) for g in given]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(given, (PackedWeights, PackedCell)):
            return given.mapped(self._argument)
        return given

    def called(self, call: AtenCall) -> Any:
        """The results of a call."""
        self.builder.enter(call)
        if call.refusal:
            raise self.builder.unsupported(call.refusal)
        args = [self._argument(a) for a in call.args]
        kwargs = {k: self._argument(v) for k, v in call.kwargs.items()}
        open_ = self.dimensions
        asked = len(open_.guards) if open_ is not None else 0
        try:
            made = args[0][args[1]] if call.target == GETITEM else converted(self.builder, call, args, kwargs)
        except LaminaError as e:
            if open_ is not None:
                open_.refused(asked, e)
            raise
        except UNFIT as e:
            # What is no number for numpy is a symbol, where there are some.
            if open_ is not None and isinstance(e, TypeError):
                open_.narrowed(self.builder.where)
                raise self.builder.unsupported("counts with extents that only a run tells", "give their sizes") from e
            # A file may say anything; the converters check what a program of torch's own may get wrong.
            raise self.builder.fail(f"cannot be imported: {type(e).__name__}: {e}"[:200]) from e
        if open_ is not None and open_.guards:
            open_.narrowed(self.builder.where)
        if call.in_place and call.packet not in VIEWS and isinstance(made, Value):
            made = self.builder.broadcast(self.builder.cast(made, args[0].dtype), args[0].shape)
        if isinstance(made, Value) and isinstance(made.ssa and made.ssa.owner, Operation) and made.ssa is not None:
            if made.ssa.name_hint is None:
                made.ssa.name_hint = name_hint(call.name) or None
        self._check(call, made)
        return made

    def _check(self, call: AtenCall, made: Any) -> None:
        """Raise UnsupportedError where a result is not of the type that the source tells."""
        told: list[Any] = call.results if isinstance(call.results, list) else [call.results]
        values: list[Any] = list(made) if isinstance(made, (list, tuple)) else [made]  # pyright: ignore[reportUnknownArgumentType]
        for info, value in zip(told, values, strict=False):
            if isinstance(info, TensorInfo) and isinstance(value, Value) and not _fits(value.info, info):
                raise self.builder.unsupported(f"gives {value}, expected {Value(info.shape, info.dtype)}")

    def assume(self, call: AtenCall) -> None:
        """Let what is known of a call's results stand for them."""
        if call.results is None:
            return
        infos: list[Any] = call.results if isinstance(call.results, list) else [call.results]
        if not all(isinstance(i, TensorInfo) for i in infos):
            return
        values = list(map(self.unknown, infos))
        self.values[call.name] = values if isinstance(call.results, list) else values[0]

    def unknown(self, info: TensorInfo) -> Value:
        """A tensor of which nothing but the type is known."""
        argument = self.block.insert_arg(type_of_info(info), len(self.block.args))
        return Value(info.shape, info.dtype, ssa=argument)


def _port(name: str, info: TensorInfo) -> Port:
    type_: Any = type_of_info(info)
    return Port(name, type_.get_shape(), info.dtype, type=type_ if is_dynamic(type_) else None)


def _fits(found: TensorInfo, told: TensorInfo) -> bool:
    """Whether a type is the one that the source tells, as far as both tell numbers: forms of one size may differ."""
    pairs = zip(found.shape, told.shape, strict=False)
    same = all(is_symbolic(a) or is_symbolic(b) or a == b for a, b in pairs)
    return same and len(found.shape) == len(told.shape) and found.dtype == told.dtype


class ShapeTracer:
    """Results of calls as they come, for who follows a program by its shapes."""

    def __init__(self, label: str, limit: int = LIMIT, own: Mapping[str, OwnConverter] | None = None) -> None:
        self._importer = _Importer(AtenGraph(label, [], [], []), limit)
        self._importer.builder.own = own or {}
        self._roots: dict[str, str] = {}
        """The values of whose memory others are views, or which they are after a change in place."""
        self._sharing: dict[str, list[str]] = defaultdict(list)
        """The others of each."""

    def take(self, given: Input) -> None:
        """Add an input or a weight."""
        self._importer.take(given)

    def value(self, ref: Ref) -> Value:
        """The tensor of a reference."""
        return self._importer.values[ref.name]

    def call(self, call: AtenCall) -> Any:
        """The results of a call, which are kept under its name. Raises LaminaError."""
        if is_in_place(call):
            call = out_of_place(call)
        made = self._importer.values[call.name] = self._importer.called(call)
        if call.args and isinstance(call.args[0], Ref) and (call.in_place or call.packet in VIEWS):
            first = call.args[0].name
            root = self._roots[call.name] = self._roots.get(first, first)
            self._sharing[root].append(call.name)
            if call.in_place:
                self._importer.values[first] = made
                self._forget(root, {first, call.name})
        return made

    def _forget(self, root: str, known: set[str]) -> None:
        """Forget the numbers of what shares the memory of a value that has changed, but for those that are known."""
        values = self._importer.values
        for name in {root, *self._sharing[root]} - known:
            found = values[name]
            if isinstance(found, Value) and found.array is not None:
                values[name] = self._importer.unknown(found.info)
            elif isinstance(found, list):  # its parts have names of their own
                values[name] = [self._importer.unknown(v.info) if isinstance(v, Value) else v for v in found]  # pyright: ignore


def converted(b: AtenBuilder, call: AtenCall, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The results of a call by a converter of the user's, or the table. Raises UnsupportedError where no row fits."""
    own = own_of(call, b.own)
    if own is not None:
        return own(b, args, kwargs)
    if takes_quantized(call, args, kwargs):
        return of_quantized(b, call, args, kwargs)
    return by_table(b, call, args, kwargs)


def own_of(call: AtenCall, own: Mapping[str, OwnConverter]) -> OwnConverter | None:
    """The user's converter for a call."""
    return next((own[name] for name in spellings(call) if name in own), None) if own else None
