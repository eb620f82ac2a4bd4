"""Import of models whose named dimensions stay open: converters are given shapes of numbers that depend on symbols.

A converter computes with numbers (`lamina.dialects.index.symbols`). What it makes of them, attributes and elements of
shapes, depends on the symbols then: `relay.reshape {newshape = #relay.extents<batch, seq, 8, 64>}`. Where it asks what
the symbols do not tell, the model is refused: other ops would be right for other sizes. What bounds sizes from above,
as a table of positions does, becomes a condition of the module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.index.symbol_forms import factors_of
from lamina.dialects.index.symbols import SymbolicExtent, Symbols
from lamina.dialects.infos import is_symbolic
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, NeedsExtentError, Node

if TYPE_CHECKING:
    from lamina.dialects.relay.base import RelayOp

    Convert: TypeAlias = "Callable[[Node, SymbolicBuilder], Value]"


def has_symbols(array: Any) -> bool:
    """Whether an element of an array depends on symbols."""
    return array is not None and array.dtype == object and any(map(is_symbolic, array.reshape(-1)))


class SymbolicBuilder(Builder):
    """Emits ops on tensors whose extents depend on symbols; constants may be made of such numbers."""

    def __init__(self, symbols: Symbols, *what: Any) -> None:
        super().__init__(*what)
        self.symbols = symbols
        symbols.takes_guards = True
        self.sources: dict[str, tuple[SSAValue, int]] = {}
        """The argument and the axis that tell each symbol."""

    def unknown(self, what: str) -> NeedsExtentError:
        """The error of a node that asks more than the symbols tell."""
        return NeedsExtentError(what, where=self.where, hint="give the model fixed extents")

    def check_size(self, shape: Sequence[int], dtype: str) -> None:
        if not any(map(is_symbolic, shape)):
            super().check_size(shape, dtype)

    def extents(self, numbers: Any) -> Value:
        array = np.empty(np.shape(numbers), object)
        array[...] = numbers
        return self._of_numbers(array, "int64")

    def splat(self, number: Any, shape: tuple[int, ...], name: str = "") -> Value:
        if not any(map(is_symbolic, shape)):
            return super().splat(number, shape, name)
        return self.op("full", self.constant(np.asarray(number)), shape=list(shape), dtype=str(number.dtype))

    def _of_numbers(self, array: Any, dtype: str) -> Value:
        if not has_symbols(array):
            return self.constant(array.astype(dtype))
        return Value(array.shape, dtype, array=array)

    def _fold(self, op_type: type[RelayOp], operands: Sequence[Value], attrs: dict[str, Any]) -> list[Value] | None:
        listed: list[Any] = [a for a in attrs.values() if isinstance(a, (list, tuple))]
        if any(is_symbolic(v) for a in listed for v in a):
            return None
        if not any(has_symbols(o.array) for o in operands):
            return super()._fold(op_type, operands, attrs)
        from lamina.dialects.relay.meaning import np_results, result_infos

        infos = result_infos(op_type, [o.info for o in operands], attrs)
        if any(i.dtype not in ("int64", "int32", "bool") for i in infos):
            return None  # numbers of other types are computed when the program runs
        arrays = [o.array for o in operands if o.array is not None]
        if op_type.name == "relay.cast":
            return [self._of_numbers(arrays[0], infos[0].dtype)]
        found = np_results(op_type, arrays, {k: v for k, v in attrs.items() if v is not None})
        return [self._of_numbers(np.asarray(f, object), i.dtype) for f, i in zip(found, infos, strict=True)]

    def ssa(self, value: Any) -> SSAValue:
        array = value.array
        if array is None or value.ssa is not None or not has_symbols(array):
            return super().ssa(value)
        numbers = [self._number(v) for v in array.reshape(-1)]
        joined = numbers[0] if len(numbers) == 1 else self.op("concatenate", *numbers, axis=0)
        made = self.cast(self.reshape(joined, array.shape), value.dtype)
        value.ssa = super().ssa(made)
        return value.ssa

    def _number(self, number: Any) -> Value:
        """int64[1]"""
        form = number.form if isinstance(number, SymbolicExtent) else constant(int(number))
        return self._form(form)

    def _form(self, form: Linear) -> Value:
        total: Value | None = None
        for atom, coefficient in form.terms.items():
            if isinstance(atom, tuple):
                kind, inner, divisor = atom
                name = "floor_divide" if kind == "floordiv" else "floor_mod"
                term = self.op(name, self._form(inner), self._one(divisor))
            else:
                first, *others = (self._symbol(name) for name in factors_of(atom))
                term = first
                for other in others:
                    term = self.op("multiply", term, other)
            if coefficient != 1:
                term = self.op("multiply", term, self._one(coefficient))
            total = term if total is None else self.op("add", total, term)
        if total is None:
            return self._one(form.const)
        return self.op("add", total, self._one(form.const)) if form.const else total

    def _one(self, number: int) -> Value:
        return self.constant(np.array([number], np.int64))

    def _symbol(self, name: str) -> Value:
        argument, axis = self.sources[name]
        source = Value(self.told(argument), "", ssa=argument)
        shape = self.op("shape_of", source, dtype="int64")
        return self.op("strided_slice", shape, begin=[axis], end=[axis + 1])

    def told(self, argument: SSAValue) -> tuple[int, ...]:
        """The shape of an argument, numbers of the symbols among its extents; those that it is the first to tell are
        known from it."""
        from lamina.dialects.relay.symbolic import symbolic_info

        info = symbolic_info(argument.type, self.symbols)
        assert info is not None
        for axis, extent in enumerate(info.shape):
            if isinstance(extent, SymbolicExtent):
                self.sources.setdefault(str(extent), (argument, axis))
        return info.shape


def converted(node: Node, b: SymbolicBuilder, convert: Any) -> Any:
    """The results of a converter. Raises NeedsExtentError where it asks what the symbols do not tell."""
    special = _CONVERTERS.get(node.op_type) if any(_depends(v) for v in node.inputs) else None
    try:
        made = convert(node, b) if special is None else special(node, b)
    except (TypeError, AttributeError) as e:
        raise b.unknown(f"takes no extents that are open: {e}") from e
    least = b.symbols.least()
    for guard in b.symbols.guards:
        # What bounds sizes from above is a condition of the model; what leaves small ones out is a shortcut.
        if guard.kind != "ge" or not guard.holds(least):
            raise b.unknown(f"asks whether {guard}")
    b.symbols.assume()
    return made


def _depends(value: Any) -> bool:
    return isinstance(value, Value) and has_symbols(value.array)


def _range(n: Node, b: SymbolicBuilder) -> Value:
    """start + step * (0, 1, ...): running sums of ones that leave the last one out."""
    start, stop, step = (n.array(i, what).reshape(-1) for i, what in enumerate(("the start", "the limit", "the step")))
    if not start.size == stop.size == step.size == 1:
        raise n.fail("start, limit and step must be scalars")
    first, last, by = (v if is_symbolic(v) else int(v) for v in (start[0], stop[0], step[0]))
    if not by:
        raise n.fail("the step is 0")
    count: Any = (last - first + by - (1 if by > 0 else -1)) // by
    if not count >= 0:
        raise n.fail(f"counts from {first} to {last}")
    dtype = n.input(0).dtype
    one = b.constant(np.ones((), dtype))
    places = b.op("cumsum", b.op("full", one, shape=[count], dtype=dtype), axis=0, dtype=dtype, exclusive=True)
    if by != 1:
        places = b.op("multiply", places, b.constant(np.array(by, dtype)))
    return b.op("add", places, n.input(0)) if is_symbolic(first) or first else places


_CONVERTERS: Mapping[str, Convert] = {"Range": _range}
