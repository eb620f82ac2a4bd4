"""TensorFlow Lite models of a few operators, written with the builders of the package `tflite`.

x, y = T((1, 8)), T((1, 8))
data = one("RELU", [x], [y])
data = build(Graph([x], [y], [Op("ADD", [x, T.of(np.ones(8))], [y], {"fused_activation_function": "RELU"})]))
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import flatbuffers  # pyright: ignore[reportMissingTypeStubs]
import numpy as np

from lamina.frontends.tflite.schema import DTYPES, fields, names, table

CODES = {name: dtype for dtype, name in DTYPES.items()}
OPTIONS = {
    "CONV_2D": "Conv2DOptions", "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions", "CONV_3D": "Conv3DOptions",
    "CONV_3D_TRANSPOSE": "Conv3DOptions", "AVERAGE_POOL_2D": "Pool2DOptions", "MAX_POOL_2D": "Pool2DOptions",
    "L2_POOL_2D": "Pool2DOptions", "L2_NORMALIZATION": "L2NormOptions", "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions", "BATCH_MATMUL": "BatchMatMulOptions", "TOPK_V2": "TopKV2Options",
    "SPACE_TO_BATCH_ND": "SpaceToBatchNDOptions", "BATCH_TO_SPACE_ND": "BatchToSpaceNDOptions",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions", "UNIDIRECTIONAL_SEQUENCE_LSTM":
    "UnidirectionalSequenceLSTMOptions", "BIDIRECTIONAL_SEQUENCE_LSTM": "BidirectionalSequenceLSTMOptions",
    "BIDIRECTIONAL_SEQUENCE_RNN": "BidirectionalSequenceRNNOptions", "RNN": "RNNOptions", "LSTM": "LSTMOptions",
    "SVDF": "SVDFOptions", "PADV2": "PadV2Options", "ATAN2": "ATan2Options", "DEPTH_TO_SPACE": "DepthToSpaceOptions",
    **dict.fromkeys(("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_ANY", "REDUCE_ALL"),
        "ReducerOptions"),
}  # fmt: skip
"""The tables of options whose names do not follow from those of the operators."""
VERSIONS = {"BROADCAST_TO": 2}
"""Versions of operators that LiteRT has only from a later one on."""


@dataclass(eq=False)
class T:
    """A tensor; one with data is a constant."""

    shape: Sequence[int] = ()
    dtype: str = "float32"
    data: Any = None
    scale: Any = None
    """One number or one for each place on `axis`."""
    zero_point: Any = 0
    axis: int = 0
    name: str = ""
    is_variable: bool = False
    signature: Sequence[int] | None = None
    sparsity: Any = None
    """What writes it into a FlatBuffers builder and returns its offset."""

    @staticmethod
    def of(array: Any, dtype: str | None = None, **more: Any) -> T:
        """A constant."""
        values = np.asarray(array)
        kind = dtype or {"float64": "float32", "int64": "int32"}.get(str(values.dtype), str(values.dtype))
        return T(values.shape, kind, values if kind == "int4" else values.astype(kind), **more)

    def bytes(self) -> bytes:
        """The data as a file has them."""
        values = np.asarray(self.data)
        if self.dtype != "int4":
            return values.tobytes()
        flat = values.reshape(-1).astype(np.uint8) & 15
        flat = np.append(flat, np.zeros(flat.size % 2, np.uint8))
        return (flat[::2] | flat[1::2] << 4).tobytes()


@dataclass
class Op:
    """An operator; what begins with `custom ` is a custom one. Options are by the reader's names of their fields."""

    name: str
    inputs: Sequence[T | None]
    outputs: Sequence[T]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    custom: bytes = b""
    version: int = 1
    intermediates: Sequence[T] = ()


@dataclass
class Graph:
    """A subgraph."""

    inputs: Sequence[T]
    outputs: Sequence[T]
    ops: Sequence[Op]
    repeat: int = 1
    """How often the tables of the operators are listed."""


def one(name: str, inputs: Sequence[T | None], outputs: Sequence[T], custom: bytes = b"", **options: Any) -> bytes:
    """A model of one operator, whose inputs are those of its operands that are not constant."""
    given = [t for t in inputs if t is not None and t.data is None and not t.is_variable]
    return build(Graph(given, outputs, [Op(name, inputs, outputs, options, custom)]))


def build(*graphs: Graph) -> bytes:
    """A model of some subgraphs, of which the first one is run."""
    return _Writer().model(graphs)


def options_of(name: str) -> str:
    """The table of an operator's options, empty where it has none."""
    found = OPTIONS.get(name) or "".join(w.capitalize() for w in name.split("_")) + "Options"
    return found if found in names("BuiltinOptions").values() or found in names("BuiltinOptions2").values() else ""


class _Writer:
    def __init__(self) -> None:
        self.b: Any = flatbuffers.Builder(1024)
        self.codes: dict[tuple[str, int], int] = {}
        self.buffers: list[int] = [self._table("Buffer")]

    def model(self, graphs: Sequence[Graph]) -> bytes:
        subgraphs = self._offsets([self._graph(g) for g in graphs])
        codes = [self._code(name, version) for name, version in self.codes]
        root = self._table(
            "Model", version=3, subgraphs=subgraphs, operator_codes=self._offsets(codes),
            buffers=self._offsets(self.buffers),
        )  # fmt: skip
        self.b.Finish(root, b"TFL3")
        return bytes(self.b.Output())

    def _code(self, name: str, version: int) -> int:
        builtin, _, custom = name.partition(" ")
        number = {n: k for k, n in names("BuiltinOperator").items()}["CUSTOM" if custom else builtin]
        text = {"custom_code": self.b.CreateString(custom)} if custom else {}
        few = min(number, 127)
        return self._table("OperatorCode", deprecated_builtin_code=few, builtin_code=number, version=version, **text)

    def _graph(self, g: Graph) -> int:
        tensors: list[T] = []
        listed = [*g.inputs, *(t for op in g.ops for t in (*op.inputs, *op.outputs, *op.intermediates)), *g.outputs]
        for t in listed:
            if t is not None and not any(t is s for s in tensors):
                tensors.append(t)
        place = {id(t): k for k, t in enumerate(tensors)}

        def places(given: Sequence[T | None]) -> int:
            return self._ints([-1 if t is None else place[id(t)] for t in given])

        ops = self._offsets([self._op(op, places) for op in g.ops] * g.repeat)
        table_ = self._offsets([self._tensor(t, k) for k, t in enumerate(tensors)])
        return self._table(
            "SubGraph", tensors=table_, inputs=places(g.inputs), outputs=places(g.outputs), operators=ops
        )

    def _op(self, op: Op, places: Any) -> int:
        code = self.codes.setdefault((op.name, VERSIONS.get(op.name, op.version)), len(self.codes))
        parts: dict[str, Any] = {"opcode_index": code, "inputs": places(op.inputs), "outputs": places(op.outputs)}
        kind = options_of(op.name)
        if kind:
            slot = "builtin_options" if kind in names("BuiltinOptions").values() else "builtin_options2"
            numbers = {n: k for k, n in names("BuiltinOptions" + slot[15:]).items()}
            parts |= {slot: self._options(kind, op.options), f"{slot}_type": numbers[kind]}
        if op.custom:
            parts["custom_options"] = self.b.CreateByteVector(op.custom)
        if op.intermediates:
            parts["intermediates"] = places(op.intermediates)
        return self._table("Operator", **parts)

    def _options(self, kind: str, given: Mapping[str, Any]) -> int:
        values: dict[str, Any] = {}
        enumerations = {"fused_activation_function": "ActivationFunctionType", "padding": "Padding"}
        for name, value in given.items():
            if isinstance(value, str):
                found = {n: k for k, n in names(enumerations[name]).items()} if name in enumerations else None
                value = found[value] if found is not None else self.b.CreateString(value)
            elif isinstance(value, (list, tuple)):
                value = self._ints(value)
            values[name] = value
        return self._table(kind, **values)

    def _tensor(self, t: T, place: int) -> int:
        buffer = 0
        if t.data is not None:
            self.b.ForceDefaults(False)
            data = t.bytes()
            self.b.StartVector(1, len(data), 16)
            self.b.head -= len(data)
            self.b.Bytes[self.b.head : self.b.head + len(data)] = data
            self.buffers.append(self._table("Buffer", data=self.b.EndVector()))
            buffer = len(self.buffers) - 1
        parts: dict[str, Any] = {
            "shape": self._ints([max(1, e) if t.signature is not None else e for e in t.shape]),
            "type": {n: k for k, n in names("TensorType").items()}[CODES[t.dtype]],
            "buffer": buffer, "name": self.b.CreateString(t.name or f"t{place}"), "is_variable": t.is_variable,
        }  # fmt: skip
        if t.signature is not None:
            parts["shape_signature"] = self._ints(t.signature)
        if t.scale is not None:
            scale = np.atleast_1d(np.asarray(t.scale, np.float32))
            zero = np.broadcast_to(np.asarray(t.zero_point, np.int64), scale.shape)
            vectors = {"scale": self.b.CreateNumpyVector(scale), "zero_point": self.b.CreateNumpyVector(zero.copy())}
            parts["quantization"] = self._table("QuantizationParameters", quantized_dimension=t.axis, **vectors)
        if t.sparsity is not None:
            parts["sparsity"] = t.sparsity(self.b)
        return self._table("Tensor", **parts)

    def _table(self, kind: str, **values: Any) -> int:
        module = import_module(f"tflite.{kind}")
        methods = {f.name: f.method for f in fields(kind)}
        if unknown := set(values) - set(methods):
            raise KeyError(f"{kind} has no {sorted(unknown)}, it has {sorted(methods)}")
        getattr(module, f"{kind}Start")(self.b)
        for name, value in values.items():
            getattr(module, f"{kind}Add{methods[name]}")(self.b, value)
        return getattr(module, f"{kind}End")(self.b)

    def _ints(self, values: Any) -> int:
        return self.b.CreateNumpyVector(np.asarray(values, np.int32))

    def _offsets(self, offsets: Sequence[int]) -> int:
        self.b.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.b.PrependUOffsetTRelative(offset)
        return self.b.EndVector()


__all__ = ["Graph", "Op", "T", "build", "one", "options_of", "table"]
