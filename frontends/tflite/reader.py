"""Reading TensorFlow Lite's files: every offset, length and index is checked before it is followed.

The generated classes of the package `tflite` follow offsets within the file's bytes and raise where these end; what
they do not check is how much there is to read. Vectors may lie over each other, so that a small file could describe any
number of tensors and operands: `_Reader.count` bounds that.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.errors import InputError, LaminaError, UnsupportedError, printable, shown
from lamina.frontends.imported import Port
from lamina.frontends.network import Network
from lamina.frontends.tflite.buffers import Buffers
from lamina.frontends.tflite.graph import TensorQuantization, TfliteModel, TfliteNode, TfliteTensor
from lamina.frontends.tflite.schema import DTYPES, check_installed, fields, names, table

if TYPE_CHECKING:
    from numpy.typing import NDArray

DAMAGED = (
    ArithmeticError, AttributeError, AssertionError, LookupError, MemoryError, TypeError, ValueError, struct.error
)  # fmt: skip
"""Errors that reading beyond the end of a table or of the file raises."""
MOST_RANK = 32
SUBGRAPHS = ("then_subgraph_index", "else_subgraph_index", "cond_subgraph_index", "body_subgraph_index",
    "subgraph", "decomposition_subgraph_index")  # fmt: skip
"""The options that are places of subgraphs."""
HYBRID = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "SVDF", "BATCH_MATMUL", "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "LSTM", "RNN",
    "EMBEDDING_LOOKUP", "GATHER", "CONV_3D", "TRANSPOSE_CONV")  # fmt: skip
"""Operators with weights, which may be quantised by themselves."""


def read_model(source: Any, limit: int) -> TfliteModel:
    """Read a model from a path or bytes. Raises LaminaError."""
    label = "model" if isinstance(source, (bytes, bytearray)) else printable(str(source))
    check_installed(label)
    try:
        data = bytes(source) if isinstance(source, (bytes, bytearray)) else Path(source).read_bytes()
    except (OSError, ValueError) as e:
        raise InputError(f"cannot be read: {e}", where=label) from None
    if data[4:8] != b"TFL3":
        raise InputError("is no TensorFlow Lite model", where=label, hint="is the file whole?")
    try:
        return _Reader(data, label, limit).model()
    except LaminaError:
        raise
    except DAMAGED as e:
        what = f"is no TensorFlow Lite model that can be read: {type(e).__name__}: {e}"
        raise InputError(what[:200], where=label, hint="is the file whole?") from None


class _Reader:
    def __init__(self, data: bytes, label: str, limit: int) -> None:
        self.label = label
        self.root = table("Model").GetRootAs(data, 0)
        self.left = len(data) * 4 + 4096
        """Elements that may still be read: vectors of a file as it should be do not lie over each other."""
        self.buffers = Buffers(self.root, data, label, limit, self.count)
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.codes = [self._code(c) for c in self.tables(self.root, "OperatorCodes")]

    def count(self, table: Any, name: str) -> int:
        """The length of a vector. Raises InputError where all that were read are more than the file can have."""
        length = int(getattr(table, f"{name}Length")())
        self.left -= length + 1
        if self.left < 0:
            raise InputError("its vectors are longer than the file", where=self.label, hint="is the file whole?")
        return length

    def tables(self, table: Any, name: str) -> list[Any]:
        """The tables of a vector."""
        read: Callable[[int], Any] = getattr(table, name)
        return [read(k) for k in range(self.count(table, name))]

    def numbers(self, table: Any, name: str) -> NDArray[Any] | None:
        """The numbers of a vector, None where there is none."""
        return getattr(table, f"{name}AsNumpy")() if self.count(table, name) else None

    def ints(self, table: Any, name: str) -> list[int]:
        """The numbers of a vector of integers."""
        found = self.numbers(table, name)
        return [] if found is None else [int(v) for v in found]

    def fail(self, what: str) -> InputError:
        return InputError(what, where=self.label, hint="is the file whole?")

    # -- the model -----------------------------------------------------------------------------------

    def model(self) -> TfliteModel:
        """The whole model."""
        tables = self.tables(self.root, "Subgraphs")
        if not tables:
            raise self.fail("has no subgraph")
        subgraphs = [self._subgraph(t, k) for k, t in enumerate(tables)]
        return TfliteModel(self.label, subgraphs, self._reachable(subgraphs), self.shapes)

    def _reachable(self, subgraphs: Sequence[Network]) -> tuple[int, ...]:
        found, pending = {0}, [0]
        while pending:
            for node in subgraphs[pending.pop()].nodes:
                for name in SUBGRAPHS:
                    place = node.attr(name)
                    if place is None:
                        continue
                    if not 0 <= place < len(subgraphs):
                        raise self.fail(f"{node.op} names the subgraph {place}, there are {len(subgraphs)}")
                    if place not in found:
                        found.add(place)
                        pending.append(place)
        return tuple(sorted(found))

    def _code(self, code: Any) -> str:
        """The name of an operator; codes above 127 stand in a second field."""
        number = max(int(code.DeprecatedBuiltinCode()), int(code.BuiltinCode()))
        name = names("BuiltinOperator").get(number, f"operator {number}")
        return f"custom {self._text(code.CustomCode())}" if name == "CUSTOM" else name

    def _text(self, given: bytes | None) -> str:
        return (given or b"").decode("utf-8", "replace")

    # -- subgraphs -----------------------------------------------------------------------------------

    def _subgraph(self, graph: Any, place: int) -> Network:
        tables = self.tables(graph, "Tensors")
        tensors: list[TfliteTensor] = []
        taken: set[str] = set()
        for k, t in enumerate(tables):
            tensor = self._tensor(t, k, taken)
            taken.add(tensor.name)
            tensors.append(tensor)
        nodes = [self._node(o, k, tensors) for k, o in enumerate(self.tables(graph, "Operators"))]
        inputs = [self._of(tensors, i) for i in self.ints(graph, "Inputs")]
        outputs = [self._of(tensors, i) for i in self.ints(graph, "Outputs")]
        made = {name for node in nodes for name in node.outputs} | {t.name for t in inputs}
        weights: dict[str, Any] = {}
        for t, tensor in zip(tables, tensors, strict=True):
            array = None if tensor.name in made else self.buffers.array(t, tensor)
            if array is not None:
                weights[tensor.name] = array
        if not place:
            self.shapes = {t.name: t.shape for t in inputs}
        ports = tuple(Port(t.name, t.open_shape or (-1,) * len(t.shape), t.dtype) for t in inputs)
        if len(set(ports)) != len(ports):
            raise self.fail(f"subgraph {place} has an input twice")
        results = tuple(t.name for t in outputs)
        return Network(self.label, ports, tuple(nodes), tuple(Port(n, (), "") for n in results), results, weights)

    def _of(self, tensors: Sequence[TfliteTensor], place: int) -> TfliteTensor:
        if not 0 <= place < len(tensors):
            raise self.fail(f"names the tensor {place}, there are {len(tensors)}")
        return tensors[place]

    def _tensor(self, t: Any, place: int, taken: set[str]) -> TfliteTensor:
        name = self._text(t.Name()) or f"tensor_{place}"
        if name in taken:
            name = f"{name}:{place}"
        while name in taken:
            name += "'"
        where = f"{self.label}: tensor {shown(name)}"
        kind = names("TensorType").get(int(t.Type()), "")
        shape, signature = self.ints(t, "Shape"), self.ints(t, "ShapeSignature")
        if kind not in DTYPES:
            raise UnsupportedError(f"has the type {kind or t.Type()}, which is not supported", where=where)
        if len(shape) > MOST_RANK or min(shape, default=0) < -1:
            raise InputError(f"has the shape {shape[:MOST_RANK]}", where=where, hint="is the file whole?")
        is_open = bool(signature) and len(signature) == len(shape)
        open_shape = tuple(-1 if e < 0 else e for e in signature) if is_open else None
        plain = tuple(1 if e < 0 else e for e in shape)
        quantization = self._quantization(t.Quantization(), where)
        return TfliteTensor(name, plain, open_shape, DTYPES[kind], quantization, bool(t.IsVariable()))

    def _quantization(self, q: Any, where: str) -> TensorQuantization | None:
        if q is None:
            return None
        scale, zero = self.numbers(q, "Scale"), self.numbers(q, "ZeroPoint")
        if scale is None:
            return None
        zero = scale.astype("int64") * 0 if zero is None else zero
        if zero.size == 1 and scale.size > 1:
            zero = zero.repeat(scale.size)
        if zero.size != scale.size:
            raise InputError(f"has {scale.size} scales and {zero.size} zero points", where=where)
        return TensorQuantization(scale, zero, int(q.QuantizedDimension()))

    # -- operators -----------------------------------------------------------------------------------

    def _node(self, o: Any, place: int, tensors: Sequence[TfliteTensor]) -> TfliteNode:
        code = int(o.OpcodeIndex())
        if code >= len(self.codes):
            raise self.fail(f"operator {place} has the code {code}, there are {len(self.codes)}")
        op = self.codes[code]
        operands = [None if i == -1 else self._of(tensors, i) for i in self.ints(o, "Inputs")]
        results = [self._of(tensors, i) for i in self.ints(o, "Outputs")]
        attributes = {
            **self._options(o.BuiltinOptions(), int(o.BuiltinOptionsType()), "BuiltinOptions"),
            **self._options(o.BuiltinOptions2(), int(o.BuiltinOptions2Type()), "BuiltinOptions2"),
        }
        custom = self.numbers(o, "CustomOptions")
        name = results[0].name if results else f"operator_{place}"
        return TfliteNode(
            _kind(op, operands, results), name, tuple("" if t is None else t.name for t in operands),
            tuple(t.name for t in results), attributes, place, _refusal([*operands, *results]), tuple(operands),
            tuple(results), b"" if custom is None else custom.tobytes(),
        )  # fmt: skip

    def _options(self, union: Any, kind: int, enumeration: str) -> dict[str, Any]:
        """The fields of an operator's options."""
        name = names(enumeration).get(kind, "")
        if union is None or name in ("", "NONE"):
            return {}
        options = table(name)()
        options.Init(union.Bytes, union.Pos)
        found: dict[str, Any] = {}
        for f in fields(name):
            if f.is_vector:
                has_numbers = hasattr(options, f"{f.method}AsNumpy")
                found[f.name] = self.ints(options, f.method) if has_numbers else None
            else:
                value = getattr(options, f.method)()
                found[f.name] = self._text(value) if isinstance(value, bytes) else value
        if "init_subgraph_index" in found:  # CALL_ONCE
            found["subgraph"] = found["init_subgraph_index"]
        if "fused_activation_function" in found:
            found["fused_activation_function"] = names("ActivationFunctionType").get(
                found["fused_activation_function"], "unknown"
            )
        if "padding" in found:
            found["padding"] = names("Padding").get(found["padding"], "unknown")
        return found


def _kind(op: str, operands: Sequence[TfliteTensor | None], results: Sequence[TfliteTensor]) -> str:
    """The name of an operator, which says whether it works on quantised tensors."""
    given = [t for t in operands if t is not None]
    if not any(t.is_quantized for t in (*given, *results)) or op in ("QUANTIZE", "DEQUANTIZE"):
        return op
    given_floats = op == "EMBEDDING_LOOKUP" or any(t.dtype == "float32" for t in given)
    is_float = given_floats and any(t.dtype == "float32" for t in results)
    return f"hybrid {op}" if is_float and op in HYBRID else f"quantized {op}"


def _refusal(tensors: Sequence[TfliteTensor | None]) -> str:
    refused = ("string", "variant", "complex64", "complex128")
    found = next((t.dtype for t in tensors if t is not None and t.dtype in refused), None)
    return f"tensors of {found} are not supported" if found else ""
