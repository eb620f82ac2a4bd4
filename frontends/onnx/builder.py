"""Interface of converters: values, nodes, and the builder that emits Relay ops or folds them.

An op whose operands are all known and small is evaluated by its numpy oracle instead of emitted: that is all that
is needed for the chains of Shape, Gather and Concat with which exporters compute the shapes of reshapes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import FileLineColLoc, FusedLoc, IntAttr, NameLoc, NoneAttr, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.dtypes import tensor_type
from lamina.dialects.infos import TensorInfo, TypeMismatch, tensor_info
from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import ConstantOp, make_constant
from lamina.dialects.relay.meaning import np_results, result_infos
from lamina.dialects.relay.params import INLINE_BYTES, ParamStore
from lamina.errors import InputError, LaminaError, UnsupportedError
from lamina.frontends.onnx.attributes import attribute_values
from lamina.frontends.onnx.bodies import RawNode
from lamina.frontends.onnx.extents import Draws, fresh_draws
from lamina.frontends.onnx.frames import Frame
from lamina.frontends.onnx.source import shown
from lamina.frontends.onnx.strings import Strings
from lamina.frontends.onnx.tensors import checked_nbytes, decode, dtype_of, type_name

if TYPE_CHECKING:
    from concurrent.futures import Future
    from pathlib import Path

    from numpy.typing import NDArray
    from onnx import GraphProto

    from lamina.frontends.onnx.open_values import OpenValue

FOLD_BYTES = 1 << 18
_UNFIT = re.compile(r"[^A-Za-z0-9_]+")


def name_hint(name: str) -> str:
    """An ONNX name as an SSA name: other characters become underscores, a digit in front gets one."""
    text = _UNFIT.sub("_", name[:96]).strip("_")[:64]
    return text if text and not text[0].isdigit() else f"t_{text}" if text else ""


def param_key(name: str) -> str:
    """The key of a weight: the initialiser's name, or a hash of it when it is long or not printable."""
    if name.isprintable() and len(name) <= 200 and '"' not in name and "\\" not in name:
        return name
    return "param_" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class NeedsValueError(UnsupportedError):
    """A shape, axis or count is computed at run time; with the values of the inputs `names` it would be known."""

    def __init__(self, value: Value, what: str, *, where: str) -> None:
        super().__init__(f"{what} is computed at run time", where=where, hint="only constant ones can be compiled")
        self.value = value
        self.names: tuple[str, ...] = ()


class NeedsDataError(NeedsValueError):
    """The value is data rather than a shape or an axis: a program for one value of it is of little use."""


class NeedsMachineError(UnsupportedError):
    """A program of kernels in a fixed order cannot do this; the virtual machine can."""


class NeedsExtentError(UnsupportedError):
    """The way to compute something depends on an extent that only the run tells."""


class Value:
    """A tensor during import: its type, its array where it is a constant, its SSA value once it has one."""

    __slots__ = ("array", "digest", "dtype", "logical", "name", "shape", "ssa")

    def __init__(
        self, shape: tuple[int, ...], dtype: str, *, ssa: SSAValue | None = None, array: NDArray[Any] | None = None,
        name: str = "", logical: str = "",
    ) -> None:  # fmt: skip
        self.shape = shape
        self.logical = logical or dtype
        """ONNX's name of the type: of float8 and int4 tensors `dtype` is the type of the bytes that hold them."""
        self.dtype = dtype
        self.ssa = ssa
        self.array = array
        self.name = name
        self.digest: Future[str] | None = None
        """That of the array, where a thread is at it."""

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def info(self) -> TensorInfo:
        return TensorInfo(self.shape, self.dtype)

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass
class SequenceValue:
    """A sequence of tensors: it exists during import only."""

    items: list[Value | OpenValue]
    dtype: str = "float32"

    def __str__(self) -> str:
        return f"a sequence of {len(self.items)}"


@dataclass
class OptionalValue:
    """A tensor or sequence that may be missing: it exists during import only."""

    item: Value | OpenValue | SequenceValue | None

    def __str__(self) -> str:
        return f"optional {'none' if self.item is None else self.item}"


AnyValue: TypeAlias = "Value | OpenValue | SequenceValue | OptionalValue"


class Node:
    """A node with its inputs looked up; the accessors raise what the user should read."""

    def __init__(self, raw: RawNode, inputs: Sequence[AnyValue | None], label: str) -> None:
        self.raw = raw
        self.op_type = raw.op_type
        self.version = raw.version
        self.inputs = list(inputs)
        self.outputs = raw.outputs
        self.where = f"{label}: {raw.title}"
        self.attrs = attribute_values(raw, self.where)

    def given(self, inputs: Sequence[AnyValue | None]) -> Node:
        """The node with other inputs."""
        other = copy(self)
        other.inputs = list(inputs)
        return other

    def as_op(self, op_type: str, inputs: Sequence[AnyValue | None], version: int, attrs: dict[str, Any]) -> Node:
        """A standard operator in the place of this node, for those whose meaning it is part of."""
        other = self.given(inputs)
        other.op_type, other.version, other.attrs = op_type, version, attrs
        return other

    def fail(self, what: str, hint: str = "") -> InputError:
        shapes = ", ".join("none" if v is None else str(v) for v in self.inputs[:6])
        return InputError(what, where=self.where, hint=hint or f"the inputs are {shapes or 'none'}")

    def unsupported(self, what: str, hint: str = "") -> UnsupportedError:
        return UnsupportedError(what, where=self.where, hint=hint or "change the model, or report the need")

    def has(self, i: int) -> bool:
        return i < len(self.inputs) and self.inputs[i] is not None

    def input(self, i: int) -> Value:
        value = self.any(i)
        if not isinstance(value, Value):
            raise self.fail(f"input {i} is {value}, no tensor")
        return value

    def any(self, i: int) -> AnyValue:
        """An input that may be a sequence or optional."""
        value = self.inputs[i] if i < len(self.inputs) else None
        if value is None:
            raise self.fail(f"input {i} is missing")
        return value

    def sequence(self, i: int) -> SequenceValue:
        """An input that is a sequence of tensors."""
        value = self.any(i)
        if isinstance(value, OptionalValue) and isinstance(value.item, SequenceValue):
            return value.item
        if not isinstance(value, SequenceValue):
            raise self.fail(f"input {i} is no sequence")
        return value

    def items(self, i: int) -> list[Value]:
        """The tensors of an input that is a sequence, all of known extents."""
        items = [v for v in self.sequence(i).items if isinstance(v, Value)]
        assert len(items) == len(self.sequence(i).items), "converters are asked for choices of open extents"
        return items

    def values(self) -> list[Value]:
        """All inputs of a variadic operator."""
        return [self.input(i) for i in range(len(self.inputs))]

    def wants_output(self, i: int) -> bool:
        return i < len(self.outputs) and bool(self.outputs[i])

    def attr(self, name: str, default: Any = None) -> Any:
        return self.attrs.get(name, default)

    def array(self, i: int, what: str) -> NDArray[Any]:
        """The value of an input that must be known at compile time."""
        value = self.input(i)
        if value.array is None:
            raise NeedsValueError(value, what, where=self.where)
        return value.array

    def ints(self, i: int, what: str) -> list[int]:
        """A list of integers that an input holds."""
        array = self.array(i, what)
        if array.dtype.kind not in "iu" or array.ndim > 1:
            raise self.fail(f"{what} must be a list of integers, is {self.input(i)}")
        if array.size > 64:
            raise self.fail(f"{what} has {array.size} numbers")
        return [int(v) for v in array.reshape(-1)]

    def needs_machine(self, what: str) -> NeedsMachineError:
        return NeedsMachineError(what, where=self.where, hint="change the model, or report the need")

    def axis(self, axis: int, rank: int) -> int:
        if not -rank <= axis < max(rank, 1):
            raise self.fail(f"axis {axis} is out of range for rank {rank}")
        return axis + rank if axis < 0 else axis

    def axes(self, axes: Sequence[int], rank: int) -> list[int]:
        found = [self.axis(a, rank) for a in axes]
        if len(set(found)) != len(found):
            raise self.fail(f"axes {list(axes)} name an axis twice")
        return found


class Builder:
    """Emits the Relay ops of a function body, one ONNX node at a time."""

    def __init__(self, block: Block, store: ParamStore, label: str, folder: Path | None, limit: int) -> None:
        self.block = block
        """The block that ops are appended to: the body of the function, or a branch in it."""
        self.frame = Frame(block)
        """The function under construction."""
        self.store = store
        self.label = label
        self.folder = folder
        self.limit = limit
        self.strings = Strings()
        """Those of the whole model."""
        self.node: Node | None = None
        self.subgraph: Callable[[GraphProto, Sequence[AnyValue], str], list[AnyValue]] = self._no_subgraph
        """Puts a branch or loop body of the node here: given its graph, its inputs and a name of its own."""
        self.location: Any = None
        self._drawn = count()

    def enter(self, node: Node) -> None:
        """Begin a node: the ops that are emitted from now on belong to it."""
        self.node = node
        raw = node.raw
        name = raw.name or next((o for o in raw.outputs if o), raw.op_type)
        place = FileLineColLoc(StringAttr(self.label), IntAttr(raw.index), IntAttr(0))
        self.location = FusedLoc((NameLoc(StringAttr(name[:200]), NoneAttr()), place), NoneAttr())

    def _no_subgraph(self, graph: GraphProto, inputs: Sequence[AnyValue], tag: str) -> list[AnyValue]:
        raise UnsupportedError("bodies inside nodes are not supported here", where=self.where, hint=tag)

    def next_draws(self) -> Draws:
        """The draws of an extent of which nothing is known."""
        return fresh_draws(next(self._drawn))

    @property
    def where(self) -> str:
        return self.node.where if self.node is not None else self.label

    # -- constants ---------------------------------------------------------------------------------

    def constant(self, array: Any, dtype: str | None = None, name: str = "") -> Value:
        """A constant; it is written into the function when something uses it."""
        values = np.asarray(array) if dtype is None else np.asarray(array, dtype)
        return Value(values.shape, str(values.dtype), array=values, name=name)

    def scalar(self, number: float, like: Value) -> Value:
        """A constant of rank 0 with the element type of `like`."""
        from lamina.dialects.dtypes import numpy_dtype

        return self.constant(np.asarray(number).astype(numpy_dtype(like.dtype)))

    def splat(self, number: Any, shape: tuple[int, ...], name: str = "") -> Value:
        """A constant of one number repeated: it takes no memory until its values are asked for."""
        self.check_size(shape, str(number.dtype))
        return Value(shape, str(number.dtype), array=np.broadcast_to(number, shape), name=name)

    def tensor(self, proto: Any, name: str = "") -> Value:
        """A constant from a TensorProto of the model."""
        array = decode(proto, self.where, self.folder, self.limit, self.strings)
        return Value(array.shape, str(array.dtype), array=array, name=name, logical=type_name(proto.data_type))

    def check_size(self, shape: Sequence[int], dtype: str) -> None:
        checked_nbytes(shape, dtype, self.limit, self.where)

    def ssa(self, value: Value | OpenValue) -> SSAValue:
        """The SSA value in the function under construction; a constant is emitted at its first use in it."""
        if not isinstance(value, Value):
            return value.here(self)
        if value.array is None:
            assert value.ssa is not None
            return self.frame.here(value.ssa)
        found = value.ssa if value.ssa is not None and self.frame.sees(value.ssa) else self.frame.constant(value)
        if found is None:
            op = self._constant_op(value)
            if value.name:
                hint = StringAttr(value.name[:200])
                op.location = NameLoc(hint, NoneAttr())
                op.result.name_hint = name_hint(value.name) or None
            elif self.location is not None:
                op.location = self.location
            self.frame.entry.add_op(op)
            found = value.ssa = op.result
            self.frame.constants[id(value)] = (value, found)
        return found

    def _constant_op(self, value: Value) -> ConstantOp:
        array = value.array
        assert array is not None
        key = param_key(value.name) if value.name else "constant"
        if array.nbytes > INLINE_BYTES and not any(array.strides):
            number = array.flat[0]
            type_ = tensor_type(value.shape, value.dtype)
            recipe = f"full({number!r})"
            attr = self.store.derive((), recipe, type_, _filler(value.shape, number), key)
            return ConstantOp.make(attr, type_)
        digest = value.digest.result() if value.digest is not None else None
        return make_constant(np.ascontiguousarray(array).reshape(value.shape), self.store, key, digest)

    # -- ops ---------------------------------------------------------------------------------------

    def op(self, op_name: str, *operands: Value, **attrs: Any) -> Value:
        """The one result of `relay.<name>`."""
        return self.ops(op_name, *operands, **attrs)[0]

    def ops(self, op_name: str, *operands: Value, **attrs: Any) -> list[Value]:
        """The results of `relay.<name>`. Raises InputError naming the node where operands do not fit."""
        op_type: type[RelayOp] | None = find_op(f"relay.{op_name}")
        if op_type is None:
            raise self._lacks(op_name)
        try:
            # What a model quantises stays as the passes on quantised tensors look for it.
            if all(o.array is not None for o in operands) and not op_name.startswith("qnn."):
                folded = self._fold(op_type, operands, attrs)
                if folded is not None:
                    return folded
            op = op_type.make(*(self.ssa(o) for o in operands), **attrs)
        except TypeMismatch as e:
            raise self.mismatch(str(e).removeprefix(f"{op_type.name}: "), operands) from None
        op.location = self.location
        values: list[Value] = []
        for result in op.results:
            info = tensor_info(result.type)
            self.check_size(info.shape, info.dtype)
            values.append(Value(info.shape, info.dtype, ssa=result))
        self.block.add_op(op)
        return values

    def _lacks(self, op_name: str) -> LaminaError:
        return UnsupportedError(
            f"needs the op relay.{op_name}, which does not exist yet", where=self.where, hint="update Lamina"
        )

    def mismatch(self, what: str, operands: Sequence[Value | OpenValue]) -> LaminaError:
        if self.node is not None:
            return self.node.fail(what)
        return InputError(what, where=self.label, hint=f"the operands are {', '.join(map(str, operands))}")

    def _fold(self, op_type: type[RelayOp], operands: Sequence[Value], attrs: dict[str, Any]) -> list[Value] | None:
        """The results of an op on constants, None where they are better left to the compiler's passes."""
        infos = result_infos(op_type, [o.info for o in operands], attrs)
        for i in infos:
            self.check_size(i.shape, i.dtype)
        sizes = [
            checked_nbytes(i.shape, i.dtype, self.limit, self.where) for i in (*infos, *(o.info for o in operands))
        ]
        if sum(sizes) > FOLD_BYTES:
            return None
        arrays = [o.array for o in operands if o.array is not None]
        given = {k: v for k, v in attrs.items() if v is not None}
        return [self.constant(r) for r in np_results(op_type, arrays, given)]

    # -- element types that are held in others -----------------------------------------------------

    def plain(self, x: Value) -> Value:
        """A held tensor as one of the type that holds it."""
        return Value(x.shape, x.dtype, ssa=self.ssa(x) if x.array is None else x.ssa, array=x.array)

    def held(self, x: Value, logical: str) -> Value:
        """A tensor of bytes as one of the type that they hold."""
        return Value(x.shape, x.dtype, ssa=x.ssa, array=x.array, logical=logical)

    def type_of(self, code: int) -> str:
        """The name of an ONNX element type that a node asks for. Raises LaminaError where no tensor has it."""
        dtype_of(code, self.where)
        return type_name(code)

    # -- shorthands that several converters share ----------------------------------------------------

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """`x` in another shape, itself where it has that shape."""
        return x if tuple(shape) == x.shape else self.op("reshape", x, newshape=list(shape), allowzero=True)

    def contraction(self, op_name: str, x: Value, w: Value, **attrs: Any) -> Value:
        """A matrix product or convolution; those of 16-bit floats are accumulated in float32 and rounded once."""
        if x.dtype not in ("float16", "bfloat16") or w.dtype != x.dtype:
            return self.op(op_name, x, w, **attrs)
        return self.cast(self.op(op_name, x, w, out_dtype="float32", **attrs), x.dtype)

    def cast(self, x: Value, dtype: str) -> Value:
        return x if x.dtype == dtype else self.op("cast", x, dtype=dtype)


def _filler(shape: tuple[int, ...], number: Any) -> Any:
    def fill() -> NDArray[Any]:
        return np.full(shape, number)

    return fill


def described(name: str, value: Value) -> str:
    """For messages: the name and type of a value."""
    return f"{shown(name)}: {value}"


def set_hint(value: Value | OpenValue, name: str) -> None:
    """Name the SSA value after the ONNX tensor."""
    if value.ssa is not None and isinstance(value.ssa.owner, Operation) and value.ssa.name_hint is None:
        value.ssa.name_hint = name_hint(name) or None
