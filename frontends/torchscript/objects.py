"""Objects of a script: its pickle read by an allow-list of opcodes and of torch's own functions. Nothing is called.

A tensor is its array, where it lies in the file, a quantised one with its scales; an object of the script's classes
keeps the name of its class, and one of a class that has a `__setstate__` what that takes.
"""

from __future__ import annotations

import ast
import pickletools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lamina.dialects.dtypes import itemsize, numpy_dtype
from lamina.errors import InputError, UnsupportedError
from lamina.frontends.aten.quantization import Quantization, QuantizedArray
from lamina.frontends.builder import checked_nbytes

STORAGES = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "QInt8Storage": "int8", "QUInt8Storage": "uint8",
    "QInt32Storage": "int32",
}  # fmt: skip
"""Element types by the names of torch's storages."""
LISTS = ("build_intlist", "build_tensorlist", "build_doublelist", "build_boollist", "restore_type_tag")
MOST_OPCODES = 1 << 24


@dataclass
class ScriptObject:
    """An object of a class of the script."""

    type: str
    """The name of its class: `__torch__.torch.nn.modules.linear.Linear`."""
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    state: Any = None
    """The argument of the class's `__setstate__`, where the attributes are not given one by one."""
    made: bool = False
    """Whether the code has made it, so that it ends with the call."""


class NamedItems(tuple[Any, ...]):
    """A tuple whose items have names, as those of `typing.NamedTuple`."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, names: Sequence[str], items: Sequence[Any]) -> NamedItems:
        """The items with their names. Raises ValueError where there are more or fewer."""
        if len(names) != len(items):
            raise ValueError(f"{len(items)} items of {len(names)}")
        made = cls(items)
        made.names = tuple(names)
        return made

    def named(self, name: str) -> Any:
        """The item of a name. Raises ValueError where there is none."""
        return self[self.names.index(name)]


def named_fields(definition: Any) -> list[str] | None:
    """The names of the items that a class defines, None where it is no `NamedTuple`."""
    if not isinstance(definition, ast.ClassDef) or [ast.unparse(b) for b in definition.bases] != ["NamedTuple"]:
        return None
    return [n.target.id for n in definition.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]


@dataclass(frozen=True)
class _Name:
    module: str
    name: str


class _Mark:
    pass


_CONSTANTS: dict[str, Callable[[], Any]] = {
    "EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple, "NONE": lambda: None, "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False, "MARK": _Mark,
}  # fmt: skip
_VALUES = frozenset(
    (
        *("BINUNICODE", "BINUNICODE8", "SHORT_BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1", "LONG4"),
        *("BINFLOAT", "INT", "FLOAT"),
    )
)


def read_objects(data: bytes, storage: Callable[[str], np.ndarray[Any, Any]] | None, where: str, limit: int) -> Any:
    """The object of a pickle; `storage` gives the bytes of a tensor's storage by its key, zeros stand for all without.

    Raises InputError for what is no pickle of a script, UnsupportedError for a function that is not on the list.
    """
    return _Reader(storage, where, limit).read(data)


class _Reader:
    def __init__(self, storage: Callable[[str], np.ndarray[Any, Any]] | None, where: str, limit: int) -> None:
        self.storage = storage
        self.where = where
        self.limit = limit
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def read(self, data: bytes) -> Any:
        """The last object on the stack."""
        for count, (opcode, argument, _) in enumerate(pickletools.genops(data)):
            if count > MOST_OPCODES:
                raise InputError("has too many objects", where=self.where)
            if opcode.name == "STOP":
                return self.stack[-1]
            self.step(opcode.name, argument)
        raise InputError("ends too early", where=self.where)

    def step(self, name: str, argument: Any) -> None:
        """One opcode."""
        stack = self.stack
        if name in _CONSTANTS:
            stack.append(_CONSTANTS[name]())
        elif name in _VALUES:
            stack.append(argument)
        elif name in ("BINPUT", "LONG_BINPUT"):
            self.memo[argument] = stack[-1]
        elif name == "MEMOIZE":
            self.memo[len(self.memo)] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(self.memo[argument])
        elif name == "GLOBAL":
            module, _, word = argument.partition(" ")
            stack.append(_Name(module, word))
        elif name == "STACK_GLOBAL":
            word, module = stack.pop(), stack.pop()
            stack.append(_Name(str(module), str(word)))
        elif name in ("TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"):
            items = self._marked() if name == "TUPLE" else [stack.pop() for _ in range(int(name[-1]))][::-1]
            stack.append(tuple(items))
        elif name in ("APPENDS", "APPEND"):
            items = self._marked() if name == "APPENDS" else [stack.pop()]
            stack[-1].extend(items)
        elif name in ("SETITEMS", "SETITEM"):
            items = self._marked() if name == "SETITEMS" else [stack.pop() for _ in range(2)][::-1]
            stack[-1].update(zip(items[::2], items[1::2], strict=True))
        elif name == "NEWOBJ":
            stack.pop()
            stack.append(self._object(stack.pop()))
        elif name == "BUILD":
            state = stack.pop()
            if isinstance(stack[-1], ScriptObject) and isinstance(state, dict):
                stack[-1].attributes.update(state)  # pyright: ignore[reportUnknownArgumentType]
            elif isinstance(stack[-1], ScriptObject):
                stack[-1].state = state
        elif name == "BINPERSID":
            stack.append(self._storage(stack.pop()))
        elif name == "REDUCE":
            arguments = stack.pop()
            stack.append(self._called(stack.pop(), arguments))
        elif name not in ("PROTO", "FRAME"):
            raise UnsupportedError(f"the opcode {name} of a pickle is not supported", where=self.where)

    def _marked(self) -> list[Any]:
        """The objects above the last mark, which are taken off."""
        items: list[Any] = []
        while not isinstance(item := self.stack.pop(), _Mark):
            items.append(item)
        return items[::-1]

    def _object(self, name: Any) -> ScriptObject:
        if not isinstance(name, _Name) or not name.module.startswith("__torch__"):
            raise self._refused(name)
        return ScriptObject(f"{name.module}.{name.name}")

    def _refused(self, name: Any) -> UnsupportedError:
        said = f"{name.module}.{name.name}" if isinstance(name, _Name) else str(name)[:80]
        return UnsupportedError(
            f"holds {said}, which is no part of a script", where=self.where, hint="save torch.jit.trace(model, inputs)"
        )

    def _storage(self, given: Any) -> tuple[str, np.ndarray[Any, Any] | None]:
        """The element type and the elements of a storage."""
        kind, storage, key, *_ = given
        if kind != "storage" or not isinstance(storage, _Name) or storage.name not in STORAGES:
            raise self._refused(storage)
        dtype = STORAGES[storage.name]
        if self.storage is None:
            return dtype, None
        data = self.storage(str(key))
        return dtype, data[: len(data) // itemsize(dtype) * itemsize(dtype)].view(numpy_dtype(dtype))

    def _called(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        name = function.name if isinstance(function, _Name) else ""
        if name == "_rebuild_tensor_v2" and function.module == "torch._utils":
            return self._tensor(*arguments[:4])
        if name == "_rebuild_qtensor" and function.module == "torch._utils":
            return self._quantized(*arguments[:5])
        if name == "_rebuild_parameter" and function.module == "torch._utils":
            return arguments[0]
        if name == "OrderedDict" and function.module == "collections":
            return dict(arguments[0]) if arguments else {}
        if name in LISTS and function.module == "torch.jit._pickle":
            return arguments[0]
        raise self._refused(function)

    def _quantized(self, storage: Any, offset: int, shape: Any, strides: Any, quantizer: Any) -> QuantizedArray:
        """A quantised tensor; its quantizer is (scheme, scale, zero point), or (scheme, scales, zero points, axis)."""
        array, (scheme, *rest) = self._tensor(storage, offset, shape, strides), quantizer
        name = scheme.name if isinstance(scheme, _Name) and scheme.module == "torch" else ""
        if name not in ("per_tensor_affine", "per_channel_affine"):
            said = f"a tensor of the scheme {name or str(scheme)[:80]} is not supported"
            raise UnsupportedError(said, where=self.where, hint="quantise it by tensor, or by channel")
        quantization = Quantization.of(*rest[: 2 if name == "per_tensor_affine" else 3])
        axis = quantization.axis
        if axis is not None and not (0 <= axis < array.ndim and array.shape[axis] == quantization.scale.size):
            raise InputError(f"a tensor of shape {array.shape} has {quantization.scale.size} scales", where=self.where)
        return QuantizedArray(array, quantization)

    def _tensor(self, storage: Any, offset: int, shape: Any, strides: Any) -> np.ndarray[Any, Any]:
        dtype, elements = storage
        checked_nbytes(shape, dtype, self.limit, self.where)
        if not all(shape) or elements is None:
            return np.broadcast_to(np.zeros((), numpy_dtype(dtype)), shape)
        last = offset + sum((e - 1) * s for e, s in zip(shape, strides, strict=True))
        if offset < 0 or min(strides, default=0) < 0 or last >= len(elements):
            raise InputError("a tensor does not fit its data", where=self.where, hint="is the file whole?")
        steps = [s * elements.itemsize for s in strides]
        return np.lib.stride_tricks.as_strided(elements[offset:], shape, steps, writeable=False)
