"""Bases of the op families: what all elementwise, broadcasting and reducing ops have in common.

An op of a family states its meaning once, on one element, and the family makes the index equation:

    Elementwise  y[i] = te_element(x[i])                       one operand, same shape, FUSION_KIND elemwise
    Broadcast    y[i] = te_element(a[i'], b[i''], ...)         NumPy's broadcasting, FUSION_KIND broadcast
    Reduction    te_reduce(x, axes) over `axis`, then `keepdims`  FUSION_KIND comm_reduce

and restricts the element types by the ClassVar DTYPES. The families give default samples; an op whose domain is
narrower sets RANGES, one with attributes adds its own in `extra_samples`.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypedDict, Unpack

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, TensorType, f64, i1, i64
from xdsl.irdl import BaseAttr, operand_def, prop_def, result_def

from lamina.dialects.attributes import ExtentsAttr, to_attribute
from lamina.dialects.infos import TensorInfo, TypeMismatch
from lamina.dialects.lazy import te
from lamina.dialects.relay.base import (
    OpPattern,
    Precision,
    RelayOp,
    broadcast_shapes,
    normalize_axis,
    same_dtype,
    sample,
)
from lamina.dialects.rules.op_protocol import Sample

if TYPE_CHECKING:
    import numpy as np

    from lamina.dialects.te.build import Index, IterVar, Tensor

    Array: TypeAlias = np.ndarray[Any, Any]

FLOATS = ("float32", "float64", "float16", "bfloat16")
SIGNED = ("int32", "int64", "int8", "int16")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
BOOL = ("bool",)
ALL = NUMBERS + BOOL


# -- attribute fields: integers are i64, reals f64, flags i1, lists dense arrays -------------------


def int_prop(default: int | None = None) -> IntegerAttr:
    """An i64 property; without a default it must be given."""
    return prop_def(IntegerAttr.constr(i64), default_value=None if default is None else IntegerAttr(default, i64))  # type: ignore[arg-type, return-value]


def float_prop(default: float | None = None) -> FloatAttr:
    """An f64 property; without a default it must be given."""
    return prop_def(FloatAttr.constr(f64), default_value=None if default is None else FloatAttr(default, f64))  # type: ignore[arg-type, return-value]


def bool_prop(default: bool) -> IntegerAttr:
    """A flag."""
    return prop_def(IntegerAttr.constr(i1), default_value=IntegerAttr(int(default), i1))  # type: ignore[arg-type, return-value]


def str_prop(default: str | None = None) -> StringAttr:
    """A string property; without a default it must be given."""
    return prop_def(StringAttr, default_value=None if default is None else StringAttr(default))  # type: ignore[arg-type]


def ints_prop(default: tuple[int, ...] | None = None) -> DenseArrayBase:
    """A list of integers, which may depend on symbols; without a default it must be given."""
    value = None if default is None else to_attribute(default)
    return prop_def(DenseArrayBase.constr(i64) | BaseAttr(ExtentsAttr), default_value=value)  # type: ignore[arg-type, return-value]


def floats_prop(default: tuple[float, ...] | None = None) -> DenseArrayBase:
    """A list of reals; without a default it must be given."""
    value = None if default is None else to_attribute(default)
    return prop_def(DenseArrayBase.constr(f64), default_value=value)  # type: ignore[arg-type, return-value]


def check_dtype(dtype: str, allowed: tuple[str, ...]) -> str:
    """The dtype. Raises TypeMismatch when the op does not take it."""
    if dtype not in allowed:
        raise TypeMismatch(f"takes {_dtype_words(allowed)}, got {dtype}")
    return dtype


def _dtype_words(allowed: tuple[str, ...]) -> str:
    words: list[str] = []
    rest = set(allowed)
    for word, group in (("floats", FLOATS), ("integers", INTEGERS), ("signed integers", SIGNED), ("bool", BOOL)):
        if rest.issuperset(group):
            words.append(word)
            rest -= set(group)
    words += [d for d in allowed if d in rest]
    return " or ".join(words)


# -- by how they fuse ------------------------------------------------------------------------------


class Keywords(TypedDict, total=False):
    """Keywords that the header of any op's class may have (`RelayOp.__init_subclass__`)."""

    fusion_kind: OpPattern
    precision: Precision
    commutes: bool
    divides: bool
    layouts: tuple[str, ...]
    dtypes: tuple[str, ...]
    result_dtype: str
    empty: bool
    exact: bool
    ranges: tuple[Any, ...]


class UnaryKeywords(Keywords, total=False):
    """Of an op of one operand also its equation and its oracle."""

    te_element: Callable[[Any], Any]
    np_ref: Callable[[Any], Any]


class BinaryKeywords(Keywords, total=False):
    """Of an op of two operands also its equation and its oracle."""

    te_element: Callable[[Any, Any], Any]
    np_ref: Callable[[Any, Any], Any]


class Injective(RelayOp, fusion_kind=OpPattern.INJECTIVE):
    """Each element of the one result is one of the operands', at another place."""

    result = result_def(TensorType)


class Opaque(RelayOp):
    """One result, which no other op is fused with."""

    result = result_def(TensorType)


class OutFusable(RelayOp, fusion_kind=OpPattern.OUT_ELEMWISE_FUSABLE):
    """One result, which elementwise ops may be fused to."""

    result = result_def(TensorType)


# -- elementwise -----------------------------------------------------------------------------------


class Elementwise(RelayOp):
    """One operand; each element of the result depends on the element at the same place."""

    FUSION_KIND: ClassVar[OpPattern] = OpPattern.ELEMWISE
    DTYPES: ClassVar[tuple[str, ...]] = FLOATS
    RESULT_DTYPE: ClassVar[str | None] = None
    """The element type of the result, None for that of the operand."""
    RANGES: ClassVar[tuple[float, float] | None] = None
    """The interval that samples are drawn from, None for the whole domain."""

    x = operand_def(TensorType)
    result = result_def(TensorType)

    def __init_subclass__(cls, **facts: Unpack[UnaryKeywords]) -> None:
        super().__init_subclass__(**facts)

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        (x,) = types
        dtype = check_dtype(x.dtype, cls.DTYPES)
        return TensorInfo(x.shape, cls.RESULT_DTYPE or dtype)

    @staticmethod
    @abc.abstractmethod
    def te_element(*elements: Any, **attrs: Any) -> Any:
        """One element of the result from that of the operand."""

    @classmethod
    def te_compute(cls, *tensors: Any, **attrs: Any) -> Tensor:
        (x,) = tensors
        return te.compute(x.shape, lambda *i: cls.te_element(x[i], **attrs), stage_name(cls))

    @classmethod
    def samples(cls) -> list[Sample]:
        return [*elementwise_samples(cls), *cls.extra_samples()]

    @staticmethod
    def extra_samples() -> list[Sample]:
        return []


def stage_name(op_type: type[RelayOp]) -> str:
    """The name of the te stage that computes the op: the last part of the op's name."""
    return op_type.name.rpartition(".")[2]


def elementwise_samples(cls: type[Elementwise], **attrs: Any) -> list[Sample]:
    """Odd sizes, size 1, rank 0, each dtype, special values, wrong dtype and wrong arity."""
    ranges = (cls.RANGES,)
    found: list[Sample] = []

    def add(shape: tuple[int, ...], dtype: str, **kw: Any) -> None:
        if dtype in cls.DTYPES:
            found.append(sample((shape, dtype), attrs=attrs, ranges=ranges, **kw))

    for shape, dtype in (
        ((2, 3, 5), "float32"),
        ((1,), "float32"),
        ((), "float32"),
        ((7, 1), "float64"),
        ((3, 17), "float16"),
        ((5, 3), "bfloat16"),
        ((2, 9), "int32"),
        ((13,), "int64"),
        ((1, 7), "int8"),
        ((11,), "int16"),
        ((3, 5), "uint8"),
        ((), "uint32"),
        ((5,), "bool"),
        ((1, 1), "bool"),
    ):
        add(shape, dtype)
    if cls.DTYPES[0] in FLOATS:
        for shape, dtype in (((23,), "float32"), ((19,), "float64")):
            # The domain's edges, signed zeros, NaN and infinities.
            found.append(sample((shape, dtype), attrs=attrs, finite=False))
    else:
        for shape in ((4, 1, 3), (31,), (2, 2, 2, 3), (0, 3)):
            add(shape, cls.DTYPES[-1])
    for dtype in ("bool", "int32", "float32"):
        if dtype not in cls.DTYPES:
            found.append(sample(((3,), dtype), attrs=attrs, error=f"got {dtype}"))
            break
    found.append(sample((2,), (2,), attrs=attrs, error="takes 1 operand, got 2"))
    return found


# -- broadcast -------------------------------------------------------------------------------------


class Broadcast(RelayOp):
    """Two operands of one dtype, extended against each other by NumPy's rule."""

    FUSION_KIND: ClassVar[OpPattern] = OpPattern.BROADCAST
    DTYPES: ClassVar[tuple[str, ...]] = NUMBERS
    RESULT_DTYPE: ClassVar[str | None] = None
    RANGES: ClassVar[tuple[tuple[float, float] | None, ...] | None] = None
    """The interval that samples of each operand are drawn from, None for the whole domain."""

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    result = result_def(TensorType)

    def __init_subclass__(cls, **facts: Unpack[BinaryKeywords]) -> None:
        super().__init_subclass__(**facts)

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        lhs, rhs = types
        dtype = check_dtype(same_dtype(lhs, rhs), cls.DTYPES)
        return TensorInfo(broadcast_shapes(lhs.shape, rhs.shape), cls.RESULT_DTYPE or dtype)

    @staticmethod
    @abc.abstractmethod
    def te_element(*elements: Any, **attrs: Any) -> Any:
        """One element of the result from one of each operand."""

    @classmethod
    def te_compute(cls, *tensors: Any, **attrs: Any) -> Tensor:
        return broadcast_compute(partial(cls.te_element, **attrs), *tensors, name=stage_name(cls))

    @classmethod
    def samples(cls) -> list[Sample]:
        return [*broadcast_samples(cls), *cls.extra_samples()]

    @staticmethod
    def extra_samples() -> list[Sample]:
        return []


def broadcast_compute(element: Callable[..., Any], *tensors: Tensor, name: str) -> Tensor:
    """`element` of the operands' elements at the places that NumPy's broadcasting gives."""
    shape = broadcast_shapes(*(t.shape for t in tensors))

    def body(*i: Index) -> Any:
        return element(*(t[te.broadcast_index(t, i)] for t in tensors))

    return te.compute(shape, body, name)


def broadcast_samples(cls: type[Broadcast], **attrs: Any) -> list[Sample]:
    """Equal shapes, each way of broadcasting, rank 0, each dtype, wrong shapes and wrong dtypes."""
    found: list[Sample] = []

    def add(a: tuple[int, ...], b: tuple[int, ...], dtype: str, **kw: Any) -> None:
        if dtype in cls.DTYPES:
            found.append(sample((a, dtype), (b, dtype), attrs=attrs, ranges=kw.pop("ranges", cls.RANGES), **kw))

    first = cls.DTYPES[0]
    add((2, 3, 5), (2, 3, 5), first)
    add((2, 3, 5), (5,), first)
    add((7, 1), (1, 3), first)
    add((), (4, 1), first)
    add((1, 3, 1, 3), (3, 1, 1), first)
    add((1,), (1,), first)
    for a, b, dtype in (
        ((3, 7), (3, 1), "float64"),
        ((9,), (9,), "float16"),
        ((5, 1), (3,), "bfloat16"),
        ((4, 5), (4, 5), "int32"),
        ((3, 1), (7,), "int64"),
        ((23,), (23,), "int8"),
        ((3, 2), (2,), "int16"),
        ((5, 5), (5, 1), "uint8"),
        ((), (), "uint32"),
        ((13,), (13,), "bool"),
        ((2, 1), (1, 2), "bool"),
    ):
        add(a, b, dtype)
    if first in FLOATS:
        add((27,), (27,), "float32", finite=False, ranges=None)
        add((1, 29), (29,), "float64", finite=False, ranges=None)
    found.append(sample(((2, 3), first), ((2, 4), first), attrs=attrs, error="do not broadcast"))
    found.append(sample(((2,), "float32"), ((2,), "int32"), attrs=attrs, error="float32 and int32"))
    for dtype in ("bool", "float32"):
        if dtype not in cls.DTYPES:
            found.append(sample(((3,), dtype), ((3,), dtype), attrs=attrs, error=f"got {dtype}"))
            break
    return found


# -- reduction -------------------------------------------------------------------------------------


def reduced_axes(axis: tuple[int, ...], exclude: bool, rank: int) -> tuple[int, ...]:
    """The axes that are reduced, ascending: all for an empty list, the others for `exclude` (TVM's GetReduceAxes)."""
    if not axis:
        return tuple(range(rank))
    listed = [normalize_axis(a, rank) for a in axis]
    if len(set(listed)) != len(listed):
        raise TypeMismatch(f"axis {list(axis)} names an axis twice")
    return tuple(a for a in range(rank) if (a in listed) != exclude)


def reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    """The shape left when the axes are reduced."""
    if keepdims:
        return tuple(1 if a in axes else e for a, e in enumerate(shape))
    return tuple(e for a, e in enumerate(shape) if a not in axes)


class Reduction(RelayOp):
    """Reduces the axes in `axis` (all when empty; with `exclude` all the others); `keepdims` leaves extents of 1."""

    FUSION_KIND: ClassVar[OpPattern] = OpPattern.COMM_REDUCE
    PRECISION: ClassVar[Precision | None] = Precision.NEVER
    DTYPES: ClassVar[tuple[str, ...]] = NUMBERS
    RESULT_DTYPE: ClassVar[str | None] = None
    EMPTY: ClassVar[bool] = True
    """Whether a reduction over no elements has a value (sum and prod have, max has not)."""

    data = operand_def(TensorType)
    axis = ints_prop(())
    keepdims = bool_prop(False)
    exclude = bool_prop(False)
    result = result_def(TensorType)

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        return cls.reduced_type(types[0], attrs["axis"], attrs["keepdims"], attrs["exclude"])

    @classmethod
    def reduced_type(cls, data: TensorInfo, axis: tuple[int, ...], keepdims: bool, exclude: bool) -> TensorInfo:
        """The type of `data` reduced. Raises TypeMismatch for a dtype or an axis that does not fit."""
        dtype = check_dtype(data.dtype, cls.DTYPES)
        axes = reduced_axes(axis, exclude, len(data.shape))
        if not cls.EMPTY and 0 in [data.shape[a] for a in axes]:
            raise TypeMismatch(f"reduces no elements: axes {list(axes)} of shape {data.shape}")
        return TensorInfo(reduced_shape(data.shape, axes, keepdims), cls.RESULT_DTYPE or dtype)

    @classmethod
    def samples(cls) -> list[Sample]:
        return [*reduction_samples(cls), *cls.extra_samples()]

    @staticmethod
    def extra_samples() -> list[Sample]:
        return []


def reduce_compute(
    x: Tensor,
    axes: tuple[int, ...],
    keepdims: bool,
    reducer: Callable[..., Any],
    element: Callable[..., Any] | None = None,
    *,
    name: str,
) -> Tensor:
    """`reducer` over the axes of `element(place in x)`, by default of the element of `x` there.

    `element` takes all indices of `x`, those of reduced axes included.
    """
    loops: dict[int, IterVar] = {a: te.reduce_axis(x.shape[a], f"k{a}") for a in axes}

    def body(*i: Index) -> Any:
        kept = iter(i)
        place: list[Any] = []
        for a in range(x.ndim):
            if a in loops:
                place.append(loops[a].index())
                if keepdims:
                    next(kept)
            else:
                place.append(next(kept))
        value = x[tuple(place)] if element is None else element(*place)
        # Rank 0, or `exclude` of every axis: nothing is left to reduce.
        return reducer(value, axis=list(loops.values())) if loops else value

    return te.compute(reduced_shape(x.shape, axes, keepdims), body, name)


def reduction_samples(
    cls: type[Reduction], extra_operands: Callable[..., Any] | None = None, **attrs: Any
) -> list[Sample]:
    """Each way to name the axes, negative ones, size 1, rank 0, dtypes, and axes that are wrong.

    `extra_operands(shape, attrs, dtype)` gives the types of further operands.
    """
    found: list[Sample] = []

    def add(shape: tuple[int, ...], dtype: str | None = None, error: str | None = None, **kw: Any) -> None:
        dtype = dtype or cls.DTYPES[0]
        if dtype in cls.DTYPES or error:
            given = {**attrs, **kw}
            more = extra_operands(shape, given, dtype) if extra_operands else ()
            found.append(sample((shape, dtype), *more, attrs=given, error=error))

    add((2, 3, 5))
    add((2, 3, 5), axis=(1,))
    add((2, 3, 5), axis=(-1,), keepdims=True)
    add((2, 3, 4, 5), axis=(0, -2))
    add((2, 3, 5), axis=(1,), exclude=True)
    add((3, 4, 2), axis=(-1,), exclude=True, keepdims=True)
    add((1, 1), axis=(0,))
    add((7,), keepdims=True)
    add(())
    for shape, dtype in (
        ((3, 5), "float64"),
        ((5, 3), "int32"),
        ((7, 3), "int64"),
        ((3, 9), "int8"),
        ((3, 3), "uint8"),
        ((4, 3), "bool"),
    ):
        add(shape, dtype, axis=(1,))
    add((2, 3), axis=(2,), error="axis 2 is out of range for rank 2")
    add((2, 3), axis=(1, -1), error="twice")
    if not cls.EMPTY:
        add((2, 0), axis=(1,), error="reduces no elements")
    for dtype in ("bool", "float32"):
        if dtype not in cls.DTYPES:
            add((3,), dtype, error=f"got {dtype}")
            break
    return found
