"""The builder that converters of ATen's operators are given, and what they raise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import FileLineColLoc, FusedLoc, IntAttr, NameLoc, NoneAttr, StringAttr
from xdsl.ir import Block

from lamina.dialects.dtypes import is_float
from lamina.dialects.relay.params import ParamStore
from lamina.frontends.aten.graph import AtenCall, AtenGraph, DType
from lamina.frontends.aten.promotion import float_type, result_type
from lamina.frontends.builder import Value
from lamina.frontends.tensor_builder import TensorBuilder

OwnConverter: TypeAlias = "Callable[[AtenBuilder, Sequence[Any], Mapping[str, Any]], Any]"
"""A converter of the user's: the results of a call from its positional arguments and those by name."""


class AtenBuilder(TensorBuilder):
    """Emits the Relay ops of a graph, one call at a time."""

    def __init__(self, block: Block, store: ParamStore, label: str, limit: int) -> None:
        super().__init__(block, store, label, limit)
        self.call: AtenCall | None = None
        self.own: Mapping[str, OwnConverter] = {}
        """Converters of the user's, by operators (`relu`, `add.Tensor`, `mine.op`); they go before the table."""
        self.take_key: Callable[[], Value] | None = None
        """Adds the key of random numbers to the inputs; None where a program is not given one."""
        self._key: Value | None = None
        self.inline: Callable[[AtenGraph, Sequence[Any]], list[Any]] = self._cannot_inline
        """Converts the calls of a graph in a graph where the builder stands: its results on operands."""
        self.nested_calls = 0
        """Calls of graphs in graphs that have been converted so far."""
        self.shared: dict[object, Value] = {}
        """Constants that many calls need, such as the zero points of quantised tensors, by what tells them apart."""

    def enter(self, call: AtenCall) -> None:
        """Begin a call: the ops that are emitted from now on belong to it."""
        self.call = call
        place = call.place
        name = NameLoc(StringAttr((place.module or call.name)[:200]), NoneAttr())
        file, line = (place.file, place.line) if place.file else (self.label, 0)
        self.location = FusedLoc((name, FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(0))), NoneAttr())

    def _cannot_inline(self, graph: AtenGraph, operands: Sequence[Any]) -> list[Any]:
        raise self.unsupported("graphs in graphs are not supported here")

    @property
    def where(self) -> str:
        if self.call is None:
            return self.label
        place = str(self.call.place)
        return f"{self.label}: {self.call.target}" + (f" ({place})" if place else "")

    # -- operands ------------------------------------------------------------------------------------

    def common(self, *operands: Any) -> list[Value]:
        """Operands as tensors of the type that their result has."""
        dtype = result_type(operands)
        return [self.tensor(o, dtype) for o in operands]

    def floats(self, *operands: Any) -> list[Value]:
        """Operands of a function of real numbers."""
        dtype = float_type(result_type(operands))
        return [self.tensor(o, dtype) for o in operands]

    def drawn(self, distribution: str, first: Any, second: Any, shape: Sequence[int], dtype: str) -> Value:
        """Random numbers of `relay.random.uniform` (from `first` to `second`) or `normal` (mean and deviation).

        Raises UnsupportedError where the program has no key.
        """
        if self.take_key is None:
            raise self.unsupported("draws random numbers", "call eval() on the model; torch.compile takes it")
        wide = dtype if dtype in ("float32", "float64") else "float32"
        if not is_float(dtype):
            raise self.unsupported(f"random numbers of {dtype} are not supported")
        self.check_size(shape, wide)
        if 0 in shape:
            return self.filled(0, shape, dtype)
        self._key = self._key or self.take_key()
        parameters = [self.reshape(self.tensor(v, wide), ()) for v in (first, second)]
        after, numbers = self.ops(
            f"random.{distribution}", self._key, *parameters, out_shape=tuple(shape), out_dtype=wide
        )
        self._key = after
        return self.cast(numbers, dtype)

    def shared_constant(self, array: Any) -> Value:
        """A constant that stands once in the function, however many calls need it."""
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.shared:
            self.shared[key] = self.constant(array)
        return self.shared[key]

    def dtype(self, given: DType | None, otherwise: str) -> str:
        """The element type of an argument `dtype`."""
        return otherwise if given is None else given.name


def tensors(values: Iterable[Any]) -> list[Value]:
    """The tensors among values."""
    return [v for v in values if isinstance(v, Value)]
