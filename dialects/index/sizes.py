"""Sizes that are known only when a program runs: `index` arguments of a function, and the extents that they give.

    te.func @f(%n: index, %A: tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0 * 2, 4)>}) ...

An argument with an unknown dimension (`?`) says by `te.shape` what its extents are: one form for each dimension, over
the function's `index` arguments, counted from the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    MemRefType,
    NoneAttr,
    TensorType,
)
from xdsl.ir import Attribute, BlockArgument
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.dtypes import ELEMENT_TYPES, dtype_name, is_ir_type, itemsize
from lamina.dialects.index.index_map import LANE, IndexMap, IndexMapAttr
from lamina.dialects.index.linear import MAX_EXTENT, Linear, constant

SHAPE = "te.shape"
CONDITIONS = "te.conditions"
"""The attribute of the last size with what holds of all sizes."""
RANGE = "te.range"
"""The attribute of a size with what it may be: least, greatest and divisor."""
MAX_BYTES = 1 << 62
"""A larger array cannot be addressed."""

ArgAttrs: TypeAlias = "ArrayAttr[DictionaryAttr] | None"


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The extents of a tensor or buffer, DYNAMIC_INDEX for one that is not known."""
    assert isinstance(type_, (TensorType, MemRefType))
    return cast("TensorType[Attribute] | MemRefType[Attribute]", type_).get_shape()


def verify_storage(type_: Attribute, what: str) -> None:
    """A tensor or buffer is dense, of elements that machines have, and small enough to be addressed."""
    if type(type_) is not TensorType and type(type_) is not MemRefType:
        raise VerifyException(f"{what} is {type_}, which is neither a ranked tensor nor a ranked buffer")
    if type(type_) is MemRefType and not (
        isinstance(type_.layout, NoneAttr) and isinstance(type_.memory_space, NoneAttr)
    ):
        raise VerifyException(f"{what} is {type_}; a buffer is dense and row-major, without a layout or memory space")
    element = type_.element_type
    if not isinstance(element, IndexType) and not is_ir_type(element):
        raise VerifyException(f"{what} is {type_}; an element is one of {', '.join(map(str, ELEMENT_TYPES))}, index")
    known = [e for e in shape_of(type_) if e != DYNAMIC_INDEX]
    size = prod(known) * itemsize(dtype_name(element))
    # A flat buffer has the elements of all dimensions in one.
    if (type(type_) is TensorType and max(known, default=0) > MAX_EXTENT) or size > MAX_BYTES:
        raise VerifyException(
            f"{what} is {type_}, {size} bytes; extents are at most {MAX_EXTENT}, sizes at most {MAX_BYTES}"
        )


def shape_attrs(shapes: Sequence[IndexMapAttr | None]) -> ArrayAttr[DictionaryAttr]:
    """The argument attributes that give the arguments' extents."""
    return ArrayAttr([DictionaryAttr({} if s is None else {SHAPE: s}) for s in shapes])


def size_arguments(args: Sequence[BlockArgument]) -> list[BlockArgument]:
    """The arguments that are sizes."""
    return [a for a in args if isinstance(a.type, IndexType)]


def symbolic_shape(args: Sequence[BlockArgument], extents: Sequence[Linear]) -> IndexMapAttr | None:
    """The `te.shape` of an argument with these extents; None where all are numbers."""
    if all(e.is_constant for e in extents):
        return None
    sizes = size_arguments(args)
    mapping = {a: Linear.dim(n) for n, a in enumerate(sizes)}
    return IndexMapAttr(IndexMap(len(sizes), tuple(e.substitute(mapping) for e in extents)))  # type: ignore[arg-type]


def argument_extents(argument: BlockArgument, arg_attrs: ArgAttrs) -> list[Linear]:
    """The extents of a function's argument."""
    shape = shape_of(argument.type)
    if DYNAMIC_INDEX not in shape:
        return [constant(e) for e in shape]
    assert arg_attrs is not None
    map_ = arg_attrs.data[argument.index].data[SHAPE]
    assert isinstance(map_, IndexMapAttr)
    sizes = dict(enumerate(Linear.dim(a) for a in size_arguments(argument.block.args)))
    return [f.substitute(sizes) for f in map_.data.results]  # type: ignore[arg-type]


def verify_shapes(args: Sequence[BlockArgument], arg_attrs: ArgAttrs) -> None:
    """Each argument of unknown shape says what its extents are. Raises VerifyException."""
    sizes = len(size_arguments(args))
    for n, argument in enumerate(args):
        if isinstance(argument.type, IndexType):
            continue
        verify_storage(argument.type, f"argument {n}")
        shape = shape_of(argument.type)
        if DYNAMIC_INDEX not in shape:
            continue
        map_ = arg_attrs.data[n].data.get(SHAPE) if arg_attrs is not None else None
        if not isinstance(map_, IndexMapAttr):
            raise VerifyException(f"argument {n} is {argument.type}, but no {SHAPE} gives its extents")
        dims, forms = map_.data
        if dims != sizes or len(forms) != len(shape):
            raise VerifyException(
                f"argument {n} is {argument.type} in a function of {sizes} sizes, its {SHAPE} gives {len(forms)} "
                f"extents over {dims} sizes"
            )
        for form, extent in zip(forms, shape, strict=True):
            if LANE in form.dims():
                raise VerifyException(f"argument {n}: its {SHAPE} names `{LANE}`, the element of a vector")
            if extent != DYNAMIC_INDEX and form != constant(extent):
                raise VerifyException(f"argument {n} is {argument.type}, its {SHAPE} says {form} for {extent}")
