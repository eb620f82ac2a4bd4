"""An ONNX graph being drawn: its tensors with their types and shapes, nodes, and the values of its inputs.

Types of results come from ONNX's own inference, node by node, so that a row of the table says nothing of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, prod
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, TypeProto, helper, numpy_helper
from onnx.shape_inference import infer_node_outputs

from lamina.debugging.generators.draw import ANY, Draw

MICROSOFT, LEARNED = "com.microsoft", "ai.onnx.ml"


class CannotDraw(Exception):
    """An operator cannot be put where it was drawn, or not in this operator set."""


@dataclass(eq=False)
class Tensor:
    """A value of the graph."""

    name: str
    dtype: str
    shape: tuple[int, ...] | None
    """None where only the values tell, or where it is no tensor."""
    bound: float = inf
    """About the largest magnitude; infinity where nobody knows."""
    array: Any = None
    """The values of an initialiser."""
    type: TypeProto | None = None
    used: bool = False
    folded: bool = False
    """Whether the importer computes it, of initialisers alone."""
    last: bool = False
    """Whether no other node is to follow it: a constant of formulas, off by roundings from that of others, which no
    run of the imported graph varies."""

    @property
    def rank(self) -> int:
        assert self.shape is not None
        return len(self.shape)

    @property
    def size(self) -> int:
        assert self.shape is not None
        return prod(self.shape)

    @property
    def is_float(self) -> bool:
        return "float" in self.dtype


def code(dtype: str) -> int:
    """ONNX's number of an element type."""
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def type_name(dtype: str) -> str:
    """An element type as operators' lists of types spell it."""
    return f"tensor({TensorProto.DataType.Name(code(dtype)).lower()})"


class OnnxGraph:
    """A graph that grows node by node."""

    def __init__(self, draw: Draw, opset: int, exact: bool = True, fresh: float = 0.3) -> None:
        self.draw = draw
        self.opset = opset
        self.exact = exact
        """Whether floats are drawn as multiples of 1/8."""
        self.fresh = fresh
        """The probability that an operand is a new input though there is a fitting value."""
        self.tensors: list[Tensor] = []
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: dict[str, Any] = {}
        """The values of the graph's inputs."""
        self.free: set[str] = set()
        """Inputs that may take any value: no indices, sizes or scales."""
        self.outputs: list[Tensor] = []
        self.domains: dict[str, int] = {}
        self.alone: list[str] = []
        """Reasons why other implementations compute something else: their results are not compared then."""
        self._names = 0

    # -- values ----------------------------------------------------------------------------------------------------

    def _add(self, tensor: Tensor) -> Tensor:
        self.tensors.append(tensor)
        return tensor

    def name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def constant(self, array: Any, dtype: str | None = None) -> Tensor:
        """An initialiser."""
        array = np.asarray(array) if dtype is None else np.asarray(array).astype(np.dtype(dtype))
        bound = float(np.max(np.abs(array.astype(np.float64)))) if array.size and array.dtype != bool else 1.0
        return self._add(Tensor(self.name("w"), str(array.dtype), array.shape, bound, array))

    def given(self, array: Any, dtype: str | None = None) -> Tensor:
        """An input of the graph with values that matter, such as indices."""
        tensor = self.constant(array, dtype)
        tensor.name = tensor.name.replace("w", "x")
        self.inputs[tensor.name], tensor.array = tensor.array, None
        return tensor

    def either(self, array: Any, dtype: str | None = None) -> Tensor:
        """An initialiser or an input."""
        return self.constant(array, dtype) if self.draw.chance(0.5) else self.given(array, dtype)

    def values(self, dtype: str, shape: Sequence[int], bound: float = 4.0) -> Any:
        """Values for an input that may be anything."""
        draw = self.draw
        if dtype == "bool":
            return draw.integers(shape, 0, 1).astype(bool)
        if "float" in dtype:
            found = draw.eighths(shape, bound) if self.exact else draw.normal(shape, bound / 4).clip(-bound, bound)
            return found.astype(np.dtype(dtype))
        least, most = (0 if dtype[0] == "u" else -int(bound)), int(bound)
        return draw.integers(shape, least, most).astype(dtype)

    def fresh_input(self, dtype: str, shape: Sequence[int], bound: float = 4.0) -> Tensor:
        """An input of the graph that may take any value."""
        tensor = self.given(self.values(dtype, shape, bound))
        tensor.bound = bound
        self.free.add(tensor.name)
        return tensor

    def weight(self, shape: Sequence[int], dtype: str = "float32", scale: float | None = None) -> Tensor:
        """A weight of a layer: an initialiser, or now and then an input."""
        fan = prod(shape[1:]) or 1
        size = scale if scale is not None else 1 / float(fan) ** 0.5
        if self.exact:
            # Few bits, so that sums of products stay exact.
            step = 2.0 ** np.floor(np.log2(max(size, 1e-3)))
            array = self.draw.integers(shape, -2, 2) * step
        else:
            array = self.draw.normal(shape, size)
        tensor = self.constant(array, dtype)
        if self.draw.chance(0.06):
            tensor.name = tensor.name.replace("w", "x")
            self.inputs[tensor.name], tensor.array = tensor.array, None
        return tensor

    # -- what there is ---------------------------------------------------------------------------------------------

    def find(self, fits: Callable[[Tensor], bool]) -> Tensor | None:
        """A value that fits, a late one rather than an early one."""
        found = [t for t in self.tensors if t.shape is not None and t.array is None and not t.last and fits(t)]
        if not found:
            return None
        unused = [t for t in found if not t.used and t.name not in self.inputs]
        if unused and self.draw.chance(0.6):
            return unused[-1]
        return self.draw.choice(found[-8:])

    def some(
        self,
        dtypes: str | Sequence[str],
        rank: int | tuple[int, int] | None = None,
        shape: Sequence[int] | None = None,
        bound: float = inf,
        most: int | None = None,
        least: int = 1,
        where: Callable[[Tensor], bool] = lambda _: True,
    ) -> Tensor:
        """A value of one of the types, with that rank or shape, at most `most` elements and extents of `least` or more.

        One that there is, or a new input. Values beyond `bound` are brought below it.
        """
        dtypes = (dtypes,) if isinstance(dtypes, str) else dtypes
        ranks = (0, 5) if rank is None else (rank, rank) if isinstance(rank, int) else rank
        limit = most or self.draw.elements

        def fits(t: Tensor) -> bool:
            assert t.shape is not None
            if t.dtype not in dtypes or (shape is not None and t.shape != tuple(shape)):
                return False
            inside = ranks[0] <= t.rank <= ranks[1] and min(t.shape, default=least) >= least
            return (shape is not None or (inside and t.size <= limit)) and where(t)

        found = None if self.draw.chance(self.fresh) else self.find(fits)
        if found is None:
            for _ in range(20):
                drawn = (ranks[0], max(ranks[0], min(ranks[1], 4)))
                dims = tuple(shape) if shape is not None else self.draw.shape(drawn, limit, least)
                found = self._fresh(dtypes, dims, bound)
                if where(found):
                    break
                self.tensors.remove(found)
                del self.inputs[found.name]
            else:
                raise CannotDraw
        return self.tamed(found, bound)

    def _fresh(self, dtypes: Sequence[str], dims: tuple[int, ...], bound: float) -> Tensor:
        return self.fresh_input(self.draw.dtype(dtypes), dims, min(bound, 4.0))

    def tamed(self, tensor: Tensor, bound: float) -> Tensor:
        """The tensor with magnitudes of at most `bound`."""
        if tensor.bound <= bound or not isfinite(bound) or not tensor.is_float or self.draw.chance(0.02):
            return tensor
        if self.draw.chance(0.5) and self.opset >= 12:
            low, high = (self.constant(np.asarray(v), tensor.dtype) for v in (-bound, bound))
            (found,) = self.node("Clip", [tensor, low, high])
        else:
            if tensor.dtype in ("bfloat16",):
                raise CannotDraw
            (found,) = self.node("Tanh", [tensor])
            if bound < 1:
                (found,) = self.node("Mul", [found, self.constant(np.asarray(bound), tensor.dtype)])
        found.bound = bound
        return found

    def ordinary(self, tensor: Tensor) -> Tensor:
        """The tensor; what it is computed from takes no infinities and no NaN."""
        wanted = {tensor.name}
        for node in reversed(self.nodes):
            if not wanted.isdisjoint(node.output):
                wanted.update(node.input)
        self.free -= wanted
        return tensor

    def like(self, tensor: Tensor, bound: float = inf) -> Tensor:
        """Another value of the type and shape of a tensor."""
        return self.some(tensor.dtype, shape=tensor.shape, bound=bound)

    # -- nodes -----------------------------------------------------------------------------------------------------

    def since(self, op_type: str, domain: str = "") -> int:
        """The version of an operator in this operator set. Raises CannotDraw where there is none."""
        return self.schema(op_type, domain).since_version

    def release(self, domain: str, wanted: Sequence[int]) -> int:
        """The version of a domain that this graph has, one of those wanted. Raises CannotDraw where it is another."""
        version = self.domains.get(domain) or self.draw.choice(wanted)
        if version not in wanted:
            raise CannotDraw(f"{domain} {version}")
        self.domains[domain] = version
        return version

    def schema(self, op_type: str, domain: str = "") -> Any:
        version = self.opset if not domain else self.domains.get(domain) or VERSIONS.get(domain, 1)
        try:
            schema = onnx.defs.get_schema(op_type, version, domain)
        except onnx.defs.SchemaError:
            raise CannotDraw(op_type) from None
        if schema.deprecated:
            raise CannotDraw(op_type)
        return schema

    def foreign(
        self, op_type: str, inputs: Sequence[Tensor], types: Sequence[tuple[str, Sequence[int]]], **attributes: Any
    ) -> list[Tensor]:
        """A node in ONNX's domain of an operator that ONNX does not have: onnxruntime takes it."""
        results = [self.name(op_type.lower()[:12]) for _ in types]
        self.nodes.append(helper.make_node(op_type, [t.name for t in inputs], results, **attributes))
        for tensor in inputs:
            tensor.used = True
        made = [Tensor(r, d, tuple(s)) for r, (d, s) in zip(results, types, strict=True)]
        self.tensors += made
        return made

    def node(
        self,
        op_type: str,
        inputs: Sequence[Tensor | None],
        outputs: int = 1,
        domain: str = "",
        bound: float | None = None,
        types: Sequence[tuple[str, Sequence[int] | None]] | None = None,
        **attributes: Any,
    ) -> list[Tensor]:
        """Add a node: its results. `bound` is theirs, by default unknown.

        `types` are the results' where ONNX does not know the operator.
        """
        if not domain:
            self.schema(op_type)
        operands = [t for t in inputs if t is not None]
        if op_type in QUANTISING:
            for tensor in operands:
                if tensor.is_float:
                    self.ordinary(tensor)
        names = [t.name if t is not None else "" for t in inputs]
        while names and not names[-1]:
            names.pop()
        given = {k: v for k, v in attributes.items() if v is not None}
        if self.opset < 7 and op_type in BROADCASTING and not domain:
            given |= self._aligned(inputs)
        results = [self.name(op_type.lower()[:12]) for _ in range(outputs)]
        proto = helper.make_node(op_type, names, results, name=f"n{len(self.nodes)}", domain=domain, **given)
        if domain:
            self.domains.setdefault(domain, VERSIONS.get(domain, 1))
        made = (
            [Tensor(r, d, None if s is None else tuple(s)) for r, (d, s) in zip(results, types, strict=True)]
            if types is not None
            else self._inferred(proto, op_type, domain, operands)
        )
        for tensor in made:
            if tensor.shape is not None and tensor.size > 4 * self.draw.elements:
                raise CannotDraw(f"{op_type} makes {tensor.shape}")
        for tensor in operands:
            tensor.used = True
        folded = all(t.folded or t.array is not None for t in operands)
        for tensor in made:
            tensor.bound = inf if bound is None else bound
            tensor.folded = folded
            # What is computed of them twice over, and not once as a range is, has roundings.
            tensor.last = tensor.is_float and folded and any(t.folded for t in operands)
        self.nodes.append(proto)
        self.tensors += made
        return made

    def _aligned(self, inputs: Sequence[Tensor | None]) -> dict[str, int]:
        """Attributes that align the second operand with the first until operator set 7: its axes are some of
        the first one's in a row, by default the last."""
        x, y = inputs[:2]
        assert x is not None and y is not None and x.shape is not None and y.shape is not None
        if x.shape == y.shape:
            return {}
        found = [n for n in range(x.rank - y.rank + 1) if x.shape[n : n + y.rank] == y.shape]
        if not found:
            raise CannotDraw(f"{y.shape} is no part of {x.shape}")
        axis = self.draw.choice(found)
        last = axis == x.rank - y.rank
        return {"broadcast": 1} if last and self.draw.chance(0.5) or not y.rank else {"broadcast": 1, "axis": axis}

    def _inferred(self, proto: onnx.NodeProto, op_type: str, domain: str, inputs: Iterable[Tensor]) -> list[Tensor]:
        schema = self.schema(op_type, domain)
        types: dict[str, TypeProto] = {}
        data: dict[str, Any] = {}
        for t in inputs:
            types[t.name] = t.type or helper.make_tensor_type_proto(code(t.dtype), t.shape)
            if t.array is not None and t.size <= 4096:
                data[t.name] = numpy_helper.from_array(t.array, t.name)
        opset = self.opset
        opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, v) for d, v in self.domains.items())]
        try:
            found = infer_node_outputs(schema, proto, types, data, opset_imports=opsets)
            while not domain and not schema.has_type_and_shape_inference_function and opset < INFERRED:
                # Many first versions have none: the next one's tells, without the attributes that it does not know.
                opset += 1
                schema = onnx.defs.get_schema(op_type, opset)
                later = onnx.NodeProto.FromString(proto.SerializeToString())
                del later.attribute[:]
                its: dict[str, Any] = dict(schema.attributes)
                later.attribute.extend(a for a in proto.attribute if a.name in its and its[a.name].type.value == a.type)
                found = infer_node_outputs(schema, later, types, data, opset_imports=[helper.make_opsetid("", opset)])
        except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError) as e:
            raise CannotDraw(f"{op_type}: {e}") from None
        made: list[Tensor] = []
        for name in proto.output:
            type_ = found.get(name)
            if type_ is None or not type_.HasField("tensor_type"):
                made.append(Tensor(name, "", None, type=type_))
                continue
            tensor = type_.tensor_type
            dims = [d.dim_value if d.HasField("dim_value") else -1 for d in tensor.shape.dim]
            known = tensor.HasField("shape") and all(d >= 0 for d in dims)
            dtype = str(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
            made.append(Tensor(name, dtype, tuple(dims) if known else None, type=type_))
        return made

    # -- the model -------------------------------------------------------------------------------------------------

    def operators(self) -> Counter[str]:
        """The number of nodes of each operator, those of other domains with the domain before the name; bodies too."""
        return counted(self.nodes)

    def model(self, outputs: Sequence[Tensor] | None = None) -> onnx.ModelProto:
        """The model: its outputs are those given, or what nobody uses and some of what is used."""
        made = {name for n in self.nodes for name in n.output}
        ends = list(outputs) if outputs is not None else self._ends(made)
        if not ends:
            raise CannotDraw("a graph without results")
        used = {name for n in self.nodes for name in _names_used(n)} | {t.name for t in ends}
        by_name = {t.name: t for t in self.tensors}
        self.inputs = {name: array for name, array in self.inputs.items() if name in used}
        self.outputs = ends
        constants = [t for t in self.tensors if t.array is not None and t.name in used]
        opsets = [helper.make_opsetid("", self.opset), *(helper.make_opsetid(d, v) for d, v in self.domains.items())]
        # The table begins with operator set 5; those before it are of the same version.
        ir_version = helper.find_min_ir_version_for([helper.make_opsetid("", max(self.opset, 5))])
        # In the first versions initialisers are inputs as well.
        declared = [*self.inputs, *(t.name for t in constants if ir_version < 4)]
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info(n, code(by_name[n].dtype), by_name[n].shape) for n in declared],
            [_value_info(t) for t in ends],
            [numpy_helper.from_array(t.array, t.name) for t in constants],
        )
        return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version, producer_name="lamina-fuzz")

    def may_end(self, tensor: Tensor) -> bool:
        """Whether a value may be a result. Strings, and numbers that are held in bytes, stand in the middle."""
        return tensor.dtype in ANY and (tensor.type is None or tensor.type.HasField("tensor_type"))

    def _ends(self, made: set[str]) -> list[Tensor]:
        results = [t for t in self.tensors if t.name in made and self.may_end(t)]
        unused = [t for t in results if not t.used]
        others = [t for t in results if t.used and self.draw.chance(0.1)]
        return [t for t in results if t in unused or t in others]


BROADCASTING = frozenset(("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less"))
"""Operators that broadcast their second operand, until operator set 7 by attributes."""
QUANTISING = frozenset(("QuantizeLinear", "DynamicQuantizeLinear", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"))
"""Operators that make integers of floats, which is nowhere defined for NaN."""
INFERRED = 9
"""The operator set by which operators of all before it have an inference of types."""
VERSIONS: Mapping[str, int] = {MICROSOFT: 1, LEARNED: 3, "ai.onnx.preview.training": 1}


def _value_info(tensor: Tensor) -> onnx.ValueInfoProto:
    if tensor.type is not None and tensor.shape is None:
        return helper.make_value_info(tensor.name, tensor.type)
    return helper.make_tensor_value_info(tensor.name, code(tensor.dtype), tensor.shape)


def counted(nodes: Iterable[onnx.NodeProto]) -> Counter[str]:
    """The number of nodes of each operator, those of other domains with the domain before the name; bodies too."""
    counts: Counter[str] = Counter()
    for n in nodes:
        counts[f"{n.domain}.{n.op_type}" if n.domain else n.op_type] += 1
        for a in n.attribute:
            for g in [a.g] if a.type == onnx.AttributeProto.GRAPH else a.graphs:
                counts += counted(g.node)
    return counts


def _names_used(node: onnx.NodeProto) -> list[str]:
    """The names of tensors that a node uses, also inside its bodies."""
    names = list(node.input)
    for a in node.attribute:
        if a.type == onnx.AttributeProto.GRAPH:
            for inner in a.g.node:
                names += _names_used(inner)
            names += [o.name for o in a.g.output]
    return names


@dataclass
class Drawn:
    """A program that was drawn, with what to run it on."""

    program: bytes
    is_onnx: bool
    inputs: dict[str, Any]
    free: set[str] = field(default_factory=set[str])
    operators: Counter[str] = field(default_factory=Counter[str])
    exact: bool = True
    comparable: bool = True
    """Whether onnxruntime and ONNX's own reference compute what the standard says."""
