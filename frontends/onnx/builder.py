"""Interface of converters: nodes, what they take besides tensors, and the builder that knows of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.dialects.builtin import FileLineColLoc, FusedLoc, IntAttr, NameLoc, NoneAttr, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.infos import is_symbolic
from lamina.dialects.relay.params import ParamStore
from lamina.errors import InputError, LaminaError, UnsupportedError, shown
from lamina.frontends.builder import RelayBuilder, Value, name_hint
from lamina.frontends.onnx.attributes import attribute_values
from lamina.frontends.onnx.bodies import RawNode
from lamina.frontends.onnx.extents import Draws, fresh_draws
from lamina.frontends.onnx.strings import Strings
from lamina.frontends.onnx.tensors import decode, dtype_of, type_name

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from onnx import GraphProto

    from lamina.frontends.onnx.open_values import OpenValue


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
        if array.dtype.kind not in "iuO" or array.ndim > 1:
            raise self.fail(f"{what} must be a list of integers, is {self.input(i)}")
        if array.size > 64:
            raise self.fail(f"{what} has {array.size} numbers")
        return [v if is_symbolic(v) else int(v) for v in array.reshape(-1)]

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


class Builder(RelayBuilder):
    """Emits the Relay ops of a function body, one ONNX node at a time."""

    def __init__(self, block: Block, store: ParamStore, label: str, folder: Path | None, limit: int) -> None:
        super().__init__(block, store, label, limit)
        self.folder = folder
        self.strings = Strings()
        """Those of the whole model."""
        self.node: Node | None = None
        self.subgraph: Callable[[GraphProto, Sequence[AnyValue], str], list[AnyValue]] = self._no_subgraph
        """Puts a branch or loop body of the node here: given its graph, its inputs and a name of its own."""
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

    def tensor(self, proto: Any, name: str = "") -> Value:
        """A constant from a TensorProto of the model."""
        array = decode(proto, self.where, self.folder, self.limit, self.strings)
        return Value(array.shape, str(array.dtype), array=array, name=name, logical=type_name(proto.data_type))

    def ssa(self, value: Value | OpenValue) -> SSAValue:
        """The SSA value in the function under construction; a constant is emitted at its first use in it."""
        if not isinstance(value, Value):
            return value.here(self)
        return super().ssa(value)

    def mismatch(self, what: str, operands: Sequence[Value | OpenValue]) -> LaminaError:
        return self.node.fail(what) if self.node is not None else super().mismatch(what, operands)

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


def described(name: str, value: Value) -> str:
    """For messages: the name and type of a value."""
    return f"{shown(name)}: {value}"


def set_hint(value: Value | OpenValue, name: str) -> None:
    """Name the SSA value after the ONNX tensor."""
    if value.ssa is not None and isinstance(value.ssa.owner, Operation) and value.ssa.name_hint is None:
        value.ssa.name_hint = name_hint(name) or None
