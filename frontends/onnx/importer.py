"""From an ONNX model to `func.func @main` of Relay ops on tensors.

    func.func @main(%data_0: tensor<1x3x224x224xf32> {lamina.name = "data_0"})
        -> (tensor<1x1000xf32> {lamina.name = "prob_1"})

Weights go to the parameter store under the initialisers' names; each op carries its node's name and place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.index.symbols import with_symbols
from lamina.dialects.infos import TensorInfo
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.relay.symbolic import state_symbols, type_of_info
from lamina.dialects.relay.value_types import is_dynamic
from lamina.errors import InputError, LaminaError, OpenExtentError, UnsupportedError, UsageError, shown
from lamina.frontends.builder import Value, checked_nbytes, name_hint
from lamina.frontends.dimensions import Dimensions, Findings, OpenInput
from lamina.frontends.formats import Shapes
from lamina.frontends.frames import Mark
from lamina.frontends.imported import ImportedModel, Port
from lamina.frontends.onnx.bodies import RawNode
from lamina.frontends.onnx.builder import (
    AnyValue,
    Builder,
    NeedsExtentError,
    NeedsMachineError,
    NeedsValueError,
    Node,
    OptionalValue,
    SequenceValue,
    set_hint,
)
from lamina.frontends.onnx.functions import function_of
from lamina.frontends.onnx.generalise import generalised
from lamina.frontends.onnx.graph import Graph, read_graph
from lamina.frontends.onnx.narrow import HELD, plain_array
from lamina.frontends.onnx.open_values import OpenValue, is_open
from lamina.frontends.onnx.registry import Converter, converters, open_converter, takes_held
from lamina.frontends.onnx.source import ModelSource, Source, read_model
from lamina.frontends.onnx.support import report_of
from lamina.frontends.onnx.tensors import DEFAULT_MAX_TENSOR_BYTES, decode, dtype_of, type_name

# Operators that only move elements of their first input, whatever their type.
MOVES = frozenset(
    ("", name)
    for name in (
        *("Identity", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Concat", "Split", "Slice", "Gather"),
        *("GatherElements", "GatherND", "Expand", "Tile", "Shape", "Size", "SpaceToDepth", "DepthToSpace"),
    )
)

# Operators with bodies: they are asked as they are, the nodes of their bodies one by one.
CONTROL = frozenset(("", name) for name in ("If", "Loop", "Scan"))

# Bodies in bodies, also by way of functions: each takes some of Python's stack.
DEEPEST_BODY = 64


def load_onnx(
    source: Source,
    shapes: Shapes | None = None,
    max_tensor_bytes: int = DEFAULT_MAX_TENSOR_BYTES,
    values: Mapping[str, Any] | None = None,
    machine: bool = True,
    any_size: bool = False,
) -> ImportedModel:
    """Import a model. `shapes` gives an input's shape by its name, or the size of a named dimension.

    `values` fixes inputs: they are constants of the imported model, which does not take them any more. Raises
    LaminaError naming file and node; UnsupportedError (status 3) lists all operators that are missing; its kind
    NeedsValueError names the inputs that decide a shape or an axis and would have to be fixed.

    Where values decide shapes or branches, or a loop is long, the module is one for the machine: it has `?`, relay.if
    and functions that call themselves. Without `machine` such a model is refused. With `any_size` extents that the
    model leaves open and `shapes` does not give may be any that its nodes take; the machine has no symbols.
    """
    model = read_model(source, apart=True)
    graph = read_graph(model.model, model.label)
    report = report_of(graph)
    if not report.ok:
        raise report.error()
    found = Findings()
    given = dict(shapes or {}), max_tensor_bytes, dict(values or {}), any_size, found
    for_machine = False
    try:
        while True:
            importer = _Importer(model, graph, *given, machine=for_machine)
            try:
                return importer.run()
            except (NeedsValueError, NeedsMachineError):
                if for_machine or not machine or importer.symbols is not None:
                    raise
                for_machine = True
            except (UnsupportedError, InputError) as e:
                found.take(e, importer.dimensions)
            graph = read_graph(model.model, model.label)
    except BaseException:
        # Whoever reads the model once more, for any size, does not wait until it has been read for this time.
        for weight in model.apart.values():
            weight.cancel()
        raise
    finally:
        # Of weights that nobody has wanted.
        for digest in model.digests.values():
            digest.cancel()


def _open_input(proto: Any) -> OpenInput:
    dims = proto.type.tensor_type.shape.dim
    return OpenInput(proto.name, tuple(None if d.HasField("dim_value") else d.dim_param for d in dims))


class _Importer:
    def __init__(
        self, model: ModelSource, graph: Graph, shapes: dict[str, Any], limit: int, fixed: dict[str, Any],
        any_size: bool, found: Findings, machine: bool = False,
    ) -> None:  # fmt: skip
        self.model = model
        self.graph = graph
        self.dimensions = Dimensions(list(map(_open_input, graph.inputs)), shapes, any_size, found)
        self.shapes = self.dimensions.shapes
        self.limit = limit
        self.fixed = fixed
        self.machine = machine
        """Whether the module may have what only the virtual machine runs."""
        self.store = ParamStore()
        self.block = Block()
        self.builder = Builder(self.block, self.store, model.label, model.folder, limit)
        self.builder.subgraph = self._subgraph
        self.values: dict[str, AnyValue] = {}
        self.arguments: dict[int, str] = {}
        self.results: list[SSAValue] = []
        self.depth = 0
        self.symbols = self.dimensions.symbols
        """Extents that the program is compiled for all values of; None where all are numbers."""
        self.sequences: dict[str, int | None] = {}

    def run(self) -> ImportedModel:
        self.dimensions.check_names(self.model.label)
        if self.symbols is None:
            return self._imported()
        with with_symbols(self.symbols):
            imported = self._imported()
        state_symbols(imported.module, self.dimensions.narrowed(self.builder.where))
        return imported

    def _imported(self) -> ImportedModel:
        inputs = [port for i in self.graph.inputs if not self._is_fixed(i) for port in self._inputs(i)]
        try:
            self._run(self.graph.nodes)
        finally:
            # The two know each other: what they hold, weights among it, would wait for the collector of cycles.
            del self.builder.subgraph
        outputs = [port for o in self.graph.outputs for port in self._outputs(o)]
        return ImportedModel(
            self.builder.module(inputs, outputs, self.results, self.model.label.removesuffix(".onnx")),
            self.store,
            tuple(inputs),
            tuple(outputs),
            self.graph.opset,
            self.model.label,
            self.sequences,
            self.builder.strings.known(),
        )

    # -- inputs ------------------------------------------------------------------------------------

    def _inputs(self, proto: Any) -> list[Port]:
        """The ports of an input: one for a tensor, one for each tensor of a sequence, none for what is not there."""
        kind, given = proto.type.WhichOneof("value"), self.shapes.get(proto.name)
        where = f"{self.model.label}: input {shown(proto.name)}"
        type_, optional = proto.type, kind == "optional_type"
        if optional:
            type_ = type_.optional_type.elem_type
            kind = type_.WhichOneof("value")
        if optional and proto.name in self.shapes and given is None:
            self.values[proto.name] = OptionalValue(None)
            return []
        if kind == "tensor_type":
            port, value = self._tensor(proto.name, type_.tensor_type, given, where)
            self.values[proto.name] = OptionalValue(value) if optional else value
            return [port]
        if kind != "sequence_type" or type_.sequence_type.elem_type.WhichOneof("value") != "tensor_type":
            raise UnsupportedError("is no tensor", where=where, hint="only tensors and sequences of them can be inputs")
        if proto.name not in self.shapes or given is None:
            raise UsageError("is a sequence", where=where, hint="give the shapes of its tensors with shapes=")
        element = type_.sequence_type.elem_type.tensor_type
        made = [self._tensor(f"{proto.name}[{k}]", element, shape, where) for k, shape in enumerate(given)]
        sequence = SequenceValue([v for _, v in made], type_name(element.elem_type))
        self.values[proto.name] = OptionalValue(sequence) if optional else sequence
        return [port for port, _ in made]

    def _tensor(self, name: str, tensor: Any, given: Any, where: str) -> tuple[Port, Value]:
        dtype = dtype_of(tensor.elem_type, where)
        shape = self._shape(given, tensor, where, name)
        checked_nbytes(shape, dtype, self.limit, where)
        type_ = type_of_info(TensorInfo(shape, dtype))
        argument = self.block.insert_arg(type_, len(self.block.args))
        argument.name_hint = name_hint(name) or None
        logical = type_name(tensor.elem_type)
        self.arguments[id(argument)] = name
        value = Value(shape, dtype, ssa=argument, name=name, logical=logical)
        return self._port(name, type_, value), value

    def _is_fixed(self, proto: Any) -> bool:
        """Whether the input's value is given; it is a constant then."""
        if proto.name not in self.fixed:
            return False
        array = np.asarray(self.fixed[proto.name])
        logical = type_name(proto.type.tensor_type.elem_type)
        if logical == "string" and array.dtype.kind not in "iu":
            array = self.builder.strings.encoded(array)
        elif logical in HELD and str(array.dtype) != HELD[logical]:
            array = plain_array(array, logical)
        self.values[proto.name] = Value(array.shape, str(array.dtype), array=array, name=proto.name, logical=logical)
        return True

    def _deciding(self, value: Value) -> tuple[str, ...]:
        """The inputs that a value is computed from."""
        seen: set[int] = set()
        found: set[str] = set()
        stack: list[SSAValue] = [] if value.ssa is None else [value.ssa]
        while stack:
            ssa = stack.pop()
            if id(ssa) in seen:
                continue
            seen.add(id(ssa))
            if isinstance(ssa.owner, Operation):
                stack.extend(ssa.owner.operands)
            elif id(ssa) in self.arguments:
                found.add(self.arguments[id(ssa)])
        return tuple(sorted(found))

    def _shape(self, given: Any, tensor: Any, where: str, name: str) -> tuple[int, ...]:
        declared = list(tensor.shape.dim) if tensor.HasField("shape") else None
        for d in declared or ():
            if d.dim_value < 0:
                raise InputError(f"the extent {d.dim_value} is negative", where=where, hint="give real sizes")
        if given is not None:
            if isinstance(given, int):
                raise UsageError("its shape must be a list of integers", where=where, hint="e.g. [1, 3, 224, 224]")
            shape = tuple(int(e) for e in given)
            if declared is not None and len(declared) != len(shape):
                raise UsageError(f"has rank {len(declared)}, the given shape {list(shape)} does not", where=where)
            if [e for e in shape if e < 0]:
                raise UsageError(f"the given shape {list(shape)} has a negative extent", where=where)
            for d, e in zip(declared or (), shape, strict=False):
                if d.HasField("dim_value") and d.dim_value != e:
                    raise UsageError(
                        f"the given shape {list(shape)} contradicts the extent {d.dim_value} of the model", where=where
                    )
            return shape
        if declared is None:
            raise UsageError("the model states no shape", where=where, hint="give one with shapes= (--shape)")
        return tuple(self._extent(name, n, d, where) for n, d in enumerate(declared))

    def _extent(self, name: str, axis: int, dim: Any, where: str) -> int:
        if dim.HasField("dim_value"):
            return int(dim.dim_value)
        size = self.dimensions.extent(name, axis, dim.dim_param)
        if size is not None:
            return size
        which = f"the dimension {shown(dim.dim_param)}" if dim.dim_param else "a dimension"
        raise OpenExtentError(f"{which} has no fixed size", where=where, hint="give its shape with shapes= (--shape)")

    # -- nodes -------------------------------------------------------------------------------------

    def _lookup(self, name: str) -> AnyValue | None:
        if not name:
            return None
        value = self.values.get(name)
        if value is None:
            where = f"{self.model.label}: initialiser {shown(name)}"
            tensor = self.graph.initializers.get(name)
            if tensor is None:
                raise InputError(f"the tensor {shown(name)} is not defined here", where=self.builder.where)
            value = self.values[name] = self._decoded(tensor, name, where, self.model.apart.get(name))
        return value

    def _decoded(self, tensor: Any, name: str, where: str, apart: Any = None) -> Value:
        array = decode(tensor, where, self.model.folder, self.limit, self.builder.strings, apart)
        value = Value(array.shape, str(array.dtype), array=array, name=name, logical=type_name(tensor.data_type))
        if apart is not None:
            value.digest = self.model.digests.get((name, array.shape))
        return value

    def _run(self, nodes: Iterable[RawNode]) -> None:
        """Import nodes in order; what has no converter is what its function does."""
        table = converters()
        stack = [iter(nodes)]
        while stack:
            raw = next(stack[-1], None)
            if raw is None:
                stack.pop()
                continue
            convert = table.get((raw.domain, raw.op_type))
            node = Node(raw, [self._lookup(i) for i in raw.inputs], self.model.label)
            if convert is not None and self._convert(node, convert):
                continue
            function = function_of(raw, node.inputs)
            if function is None:
                raise node.unsupported(
                    f"this use of {raw.op_type} is not supported"
                    if convert is not None
                    else f"the operator {raw.op_type} is not supported"
                )
            stack.append(self.graph.bodies.expand(function, raw))

    def _convert(self, node: Node, convert: Converter) -> bool:
        """Whether the converter took the node; it leaves to the operator's function what it does not."""
        self.builder.enter(node)
        held = [v.logical for v in node.inputs if isinstance(v, Value | OpenValue) and v.logical in HELD]
        moved = held[0] if held and (node.raw.domain, node.op_type) in MOVES else ""
        if held and not moved and not takes_held(node.raw.domain, node.op_type):
            return self._not_for(node, held[0])
        asked = len(self.dimensions.guards)
        try:
            made = convert(node, self.builder) if not self.machine else self._for_machine(node, convert)
        except NeedsValueError as e:
            e.names = e.names or self._deciding(e.value)
            raise
        except LaminaError as e:
            self.dimensions.refused(asked, e)
            raise
        except TypeError as e:
            # What is no number for numpy is a symbol, where there are some.
            if self.symbols is None:
                raise
            self.dimensions.narrowed(self.builder.where)
            raise node.unsupported("counts with extents that only a run tells", "give the sizes one by one") from e
        except (OverflowError, ValueError, IndexError, MemoryError) as e:
            # A number in the model that numpy or Python refuses; the converters check what they know of.
            raise node.fail(f"cannot be imported: {e or type(e).__name__}") from e
        if made is None:
            return False
        if self.dimensions.guards:
            self.dimensions.narrowed(self.builder.where)
        results = [made] if isinstance(made, Value | OpenValue | SequenceValue | OptionalValue) else list(made)
        for n, name in enumerate(node.outputs):
            if not name:
                continue
            if n >= len(results):
                raise node.unsupported(f"output {n} ({shown(name)}) is not supported", "remove its uses")
            value = results[n]
            if isinstance(value, Value | OpenValue):
                if moved and value.dtype == HELD[moved]:
                    value = self.builder.held(value, moved) if isinstance(value, Value) else value.held(moved)
                set_hint(value, name)
                if value.ssa is None and not value.name:
                    value.name = name
            self.values[name] = value
        return True

    def _for_machine(self, node: Node, convert: Converter) -> AnyValue | Sequence[AnyValue] | None:
        """The results of a node whose extents, count or condition may be known at run time only."""
        b, key = self.builder, (node.raw.domain, node.op_type)
        unknown, control = any(map(is_open, node.inputs)), key in CONTROL
        first = open_converter(*key, first=True) if unknown or control else None
        made = first(node, b) if first is not None else None
        if made is not None:
            return made
        mark = Mark(b)
        try:
            if not unknown or control:
                return convert(node, b)
            return generalised(b, node.inputs, lambda tracer, given: convert(node.given(given), tracer))
        except (NeedsValueError, NeedsExtentError):
            mark.undo()
            otherwise = open_converter(*key, first=False)
            made = otherwise(node, b) if otherwise is not None else None
            if made is None:
                raise
            return made

    def _not_for(self, node: Node, held: str) -> bool:
        """Elements of such a type are no numbers of the type that holds them: what computes with them is refused."""
        if node.op_type in ("Loop", "If", "Scan") or function_of(node.raw, node.inputs) is not None:
            return False
        hint = "LabelEncoder maps strings to numbers" if held == "string" else "cast to float32 first"
        raise node.unsupported(f"{node.op_type} of {held} is not supported", hint)

    def _subgraph(self, graph: Any, inputs: Sequence[AnyValue], tag: str) -> list[AnyValue]:
        """The outputs of a branch or loop body of the current node, put here."""
        node = self.builder.node
        assert node is not None
        scope = node.raw.scope.inside(graph, f"{node.raw.name or node.op_type}.{node.raw.index}.{tag}")
        if len(graph.input) != len(inputs):
            raise node.fail(f"its body has {len(graph.input)} inputs, expects {len(inputs)}")
        if self.depth >= DEEPEST_BODY:
            raise node.unsupported(f"bodies are nested deeper than {DEEPEST_BODY}", "flatten the control flow")
        self.depth += 1
        for formal, value in zip(graph.input, inputs, strict=True):
            self.values[scope.resolve(formal.name)] = value
        for tensor in graph.initializer:
            name = scope.resolve(tensor.name)
            self.values[name] = self._decoded(tensor, name, node.where)
        self._run(self.graph.bodies.flatten(graph.node, scope))
        outputs = [self._lookup(scope.resolve(o.name)) for o in graph.output]
        self.depth -= 1
        self.builder.enter(node)
        if None in outputs:
            raise node.fail("an output of its body is missing")
        return [o for o in outputs if o is not None]

    def _outputs(self, proto: Any) -> list[Port]:
        """The ports of an output, as of an input; how many a sequence has is kept in `sequences`."""
        value = self._lookup(proto.name)
        where = f"{self.model.label}: output {shown(proto.name)}"
        if isinstance(value, OptionalValue):
            value = value.item
        if isinstance(value, Value | OpenValue):
            code = proto.type.tensor_type.elem_type
            if code and type_name(code) != value.logical:
                raise InputError(
                    f"is declared as {type_name(code)}, the graph computes {value.logical}",
                    where=where,
                    hint="correct the declared type",
                )
            return [self._out(proto.name, value)]
        self.sequences[proto.name] = None if value is None else len(value.items)
        return [self._out(f"{proto.name}[{k}]", v) for k, v in enumerate(value.items)] if value is not None else []

    def _out(self, name: str, value: Value | OpenValue) -> Port:
        result = self.builder.ssa(value)
        self.results.append(result)
        return self._port(name, cast("TensorType[Any]", result.type), value)

    def _port(self, name: str, type_: TensorType[Any], value: Value | OpenValue) -> Port:
        logical = value.logical if value.logical in HELD else ""
        return Port(name, type_.get_shape(), value.dtype, logical, type_ if is_dynamic(type_) else None)
