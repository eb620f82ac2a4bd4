"""Calls a kernel on arrays by the packed convention: what fits is bound, what does not is named.

kernel = PackedFunction.of(module)        # of the llvm level, through tir-make-packed-api
kernel(a, b, c)                           # writes c

The checks are those of the module attribute `lamina.packed`; their texts follow TVM's: `f.A.ndim is expected to equal
2, but got 1`, `Argument f.B.shape[0] has an unsatisfied constraint: 5 == n, where n = 4`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, MemRefType, ModuleOp, StringAttr
from xdsl.ir import Attribute

from lamina.dialects.dtypes import dtype_name, numpy_dtype
from lamina.dialects.index.index_map import IndexMapAttr
from lamina.dialects.index.linear import MAX_EXTENT, Atom, Linear, linear_text
from lamina.dialects.index.sizes import SHAPE
from lamina.errors import InputError
from lamina.passes.tir.threads.make_packed_api import PACKED
from lamina.runtime.compiled import CompiledProgram
from lamina.runtime.llvm_module import load_module

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

    Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class PackedArgument:
    """A buffer that the caller passes."""

    name: str
    dtype: str
    extents: tuple[Linear, ...]
    output: bool


@dataclass(frozen=True)
class PackedSignature:
    """The arguments that a caller passes, and those that give the sizes."""

    name: str
    sizes: tuple[str, ...]
    solved: dict[int, tuple[int, int]]
    """The argument and axis that give a size, in the order of computation."""
    arguments: tuple[PackedArgument, ...]

    @staticmethod
    def of(module: ModuleOp) -> PackedSignature:
        """Reads `lamina.packed`. Raises InputError for a module without it."""
        attr = module.attributes.get(PACKED)
        if not isinstance(attr, DictionaryAttr):
            raise InputError(f"the module has no {PACKED!r}; run tir-make-packed-api")
        data = attr.data
        sizes = [_fields(s) for s in _list(data["sizes"])]
        order = [_number(n) for n in _list(data["order"])]
        arguments: list[PackedArgument] = []
        for fields in (_fields(a) for a in _list(data["arguments"])):
            type_, shape = fields["type"], fields[SHAPE]
            assert isinstance(type_, MemRefType) and isinstance(shape, IndexMapAttr)
            element = cast("MemRefType[Attribute]", type_).element_type
            arguments.append(
                PackedArgument(_text(fields["name"]), dtype_name(element), shape.data.results, "output" in fields)
            )
        solved = {n: (_number(sizes[n]["argument"]), _number(sizes[n]["axis"])) for n in order}
        return PackedSignature(_text(data["name"]), tuple(_text(s["name"]) for s in sizes), solved, tuple(arguments))

    @property
    def free(self) -> list[int]:
        """The sizes that the caller passes as numbers, before the arrays."""
        return [n for n in range(len(self.sizes)) if n not in self.solved]

    def bind(self, args: Sequence[Any]) -> tuple[list[int], list[Array]]:
        """The sizes and the arrays of a call. Raises InputError for whatever does not fit."""
        free = self.free
        expected = len(free) + len(self.arguments)
        if len(args) != expected:
            raise InputError(f"{self.name}: num_args should be {expected}, but got {len(args)}")
        values: dict[int, int] = {n: self._size(self.sizes[n], v) for n, v in zip(free, args, strict=False)}
        arrays = [self._array(a, v) for a, v in zip(self.arguments, args[len(free) :], strict=True)]
        for size, (argument, axis) in self.solved.items():
            values[size] = self._solved(size, argument, axis, arrays[argument].shape[axis], values)
        known: dict[Atom, int] = {**values}
        for argument, array in zip(self.arguments, arrays, strict=True):
            for axis, (form, extent) in enumerate(zip(argument.extents, array.shape, strict=True)):
                if form.evaluate(known) != extent:
                    raise self._unsatisfied(argument, axis, extent, form, known)
        return [values[n] for n in range(len(self.sizes))], arrays

    def _size(self, name: str, value: Any) -> int:
        number = np.asarray(value)
        if number.shape != () or number.dtype.kind not in "iu" or not 0 <= int(number) <= MAX_EXTENT:
            raise InputError(f"{self.name}.{name} is expected to be a size, but got {value!r}")
        return int(number)

    def _array(self, argument: PackedArgument, value: Any) -> Array:
        where = f"{self.name}.{argument.name}"
        if not isinstance(value, np.ndarray):
            what = "NULL" if value is None else type(value).__name__
            raise InputError(f"{where} is expected to be an array, but got {what}")
        array = cast("Array", value)
        if array.ndim != len(argument.extents):
            raise InputError(f"{where}.ndim is expected to equal {len(argument.extents)}, but got {array.ndim}")
        if array.dtype != numpy_dtype(argument.dtype):
            given = array.dtype.name if array.dtype.isnative else f"byte-swapped {array.dtype.name}"
            raise InputError(f"{where}.dtype is expected to be {argument.dtype}, but got {given}")
        if not array.flags.c_contiguous:
            raise InputError(f"{where}.strides: expected to be a compact array")
        if argument.output and not array.flags.writeable:
            raise InputError(f"{where} is written, but the array is read-only")
        return array

    def _solved(self, size: int, argument: int, axis: int, extent: int, values: dict[int, int]) -> int:
        form = self.arguments[argument].extents[axis]
        coefficient = form.terms[size]
        known: dict[Atom, int] = {**values, size: 0}
        number, left = divmod(extent - form.evaluate(known), coefficient)
        if left or number < 0:
            raise self._unsatisfied(self.arguments[argument], axis, extent, form, {**values})
        return number

    def _unsatisfied(
        self, argument: PackedArgument, axis: int, extent: int, form: Linear, known: dict[Atom, int]
    ) -> InputError:
        def name(atom: Atom) -> str:
            return self.sizes[atom] if isinstance(atom, int) else str(atom)

        sizes = [f"{name(d)} = {known[d]}" for d in form.dims() if d in known]
        where = f", where {', '.join(sizes)}" if sizes else ""
        return InputError(
            f"Argument {self.name}.{argument.name}.shape[{axis}] has an unsatisfied constraint: "
            f"{extent} == {linear_text(form, name)}{where}"
        )


class PackedFunction:
    """A kernel that is called on arrays and writes its outputs."""

    def __init__(self, signature: PackedSignature, program: CompiledProgram) -> None:
        self.signature = signature
        self._program = program

    @staticmethod
    def of(module: ModuleOp, target: TargetAttr | None = None) -> PackedFunction:
        """The function of a module of the llvm level."""
        return PackedFunction(PackedSignature.of(module), load_module(module, None, target))

    def __call__(self, *args: Any) -> None:
        """Run once. Raises InputError for arguments that do not fit, or where a check of the kernel fails."""
        sizes, arrays = self.signature.bind(args)
        numbers = [np.asarray(n, np.int64) for n in sizes]
        outputs = [a for a, d in zip(arrays, self.signature.arguments, strict=True) if d.output]
        inputs = [a for a, d in zip(arrays, self.signature.arguments, strict=True) if not d.output]
        for n, output in enumerate(outputs):
            if any(np.shares_memory(output, other) for other in [*inputs, *outputs[:n]]):
                raise InputError(f"{self.signature.name}: an output shares memory with another argument")
        self._program.run_into([*numbers, *inputs], outputs)


def _fields(attr: Attribute) -> dict[str, Attribute]:
    assert isinstance(attr, DictionaryAttr)
    return dict(attr.data)


def _list(attr: Attribute) -> Sequence[Attribute]:
    assert isinstance(attr, ArrayAttr)
    return cast("ArrayAttr[Attribute]", attr).data


def _text(attr: Attribute) -> str:
    assert isinstance(attr, StringAttr)
    return attr.data


def _number(attr: Attribute) -> int:
    assert isinstance(attr, IntegerAttr)
    return attr.value.data
