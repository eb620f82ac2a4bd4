"""Lists of tensors, as loops read and write them: TensorList, which TensorArrays of TensorFlow 2 are.

A list is a tensor with an axis in front. While all places are known it is a list of values instead, of which elements
that were never set are zero; a loop that is run has it as a tensor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamina.dialects.dtypes import itemsize
from lamina.frontends.builder import Value
from lamina.frontends.network import NetworkNode, NodeBuilder
from lamina.frontends.tensorflow.table import TABLE, ints

MOST_ITEMS = 1 << 12
"""Elements of a list whose values are kept one by one."""


class ListValue(Value):
    """A list whose elements are known one by one: None for one that was never set."""

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Value | None], element: tuple[int, ...], dtype: str) -> None:
        found = next((i for i in items if i is not None), None)
        super().__init__(element if found is None else found.shape, dtype)
        self.items = tuple(items)

    @property
    def is_open(self) -> bool:
        """Whether the shape of its elements is not known yet."""
        return any(e < 0 for e in self.shape)

    def __str__(self) -> str:
        return f"a list of {len(self.items)}"


def _shape(b: NodeBuilder, element: Value) -> tuple[int, ...]:
    """The shape of elements; a number of -1 is of any rank."""
    given = b.known(element, "the shape of the elements")
    return tuple(ints(b, element, "the shape of the elements")) if given.ndim == 1 else (-1,)


def dense(b: NodeBuilder, value: Value, like: Value | None = None) -> Value:
    """A list as one tensor; `like` is an element of it, or the whole. Others are what they are."""
    if not isinstance(value, ListValue):
        return value
    shape = value.shape if like is None or not value.is_open else like.shape
    if any(e < 0 for e in shape):
        raise b.unsupported("the shape of the elements of a list is not known")
    if all(item is None for item in value.items):
        return b.zeros((len(value.items), *shape), value.dtype)
    zero = b.zeros(shape, value.dtype)
    items = [zero if i is None else i for i in value.items]
    if any(i.shape != items[0].shape for i in items):
        raise b.unsupported("the elements of a list have several shapes")
    return b.op("stack", *items, axis=0)


@TABLE.op("TensorListReserve")
def reserve(b: NodeBuilder, node: NetworkNode, element: Value, count: Value) -> Value:
    many, dtype = int(b.number(count, "the number of elements")), str(node.attr("element_dtype"))
    shape = _shape(b, element)
    itemsize(dtype)
    if many < 0:
        raise b.fail(f"{many} elements are too few")
    if many > MOST_ITEMS:
        raise b.unsupported(f"a list of {many} elements is not supported, only of {MOST_ITEMS}")
    return ListValue([None] * many, shape, dtype)


@TABLE.op("EmptyTensorList")
def empty(b: NodeBuilder, node: NetworkNode, element: Value, most: Value) -> Value:
    dtype = str(node.attr("element_dtype"))
    itemsize(dtype)
    return ListValue([], _shape(b, element), dtype)


@TABLE.op("TensorListFromTensor")
def from_tensor(b: NodeBuilder, node: NetworkNode, x: Value, element: Value) -> Value:
    return x


@TABLE.op("TensorListStack")
def stack(b: NodeBuilder, node: NetworkNode, given: Value, element: Value) -> Value:
    shape = _shape(b, element)
    return dense(b, given, Value(shape, given.dtype) if all(e >= 0 for e in shape) else None)


def _length(value: Value) -> int:
    return len(value.items) if isinstance(value, ListValue) else value.shape[0]


@TABLE.op("TensorListLength")
def length(b: NodeBuilder, node: NetworkNode, given: Value) -> Value:
    return b.constant(np.int32(_length(given)))


@TABLE.op("TensorListElementShape")
def element_shape(b: NodeBuilder, node: NetworkNode, given: Value) -> Value:
    shape = given.shape if isinstance(given, ListValue) else given.shape[1:]
    return b.constant(np.asarray(shape, str(node.attr("shape_type") or "int32")))


@TABLE.op("TensorListGetItem")
def get_item(b: NodeBuilder, node: NetworkNode, given: Value, place: Value, element: Value) -> Value:
    if isinstance(given, ListValue) and place.array is not None:
        item = given.items[_known(b, given, place)]
        return item if item is not None else b.zeros(dense(b, given).shape[1:], given.dtype)
    return b.op("take", dense(b, given), b.reshape(place, ()), axis=0, mode="clip")


def _known(b: NodeBuilder, given: Value, place: Value) -> int:
    at = int(b.number(place, "the place"))
    if not 0 <= at < _length(given):
        raise b.fail(f"place {at} is outside {given}")
    return at


@TABLE.op("TensorListSetItem")
def set_item(b: NodeBuilder, node: NetworkNode, given: Value, place: Value, item: Value) -> Value:
    if isinstance(given, ListValue) and place.array is not None:
        at = _known(b, given, place)
        return ListValue([*given.items[:at], item, *given.items[at + 1 :]], item.shape, given.dtype)
    whole = dense(b, given, item)
    if whole.shape[1:] != item.shape:
        raise b.fail(f"{item} is no element of {whole}")
    return b.op("scatter_nd", whole, b.reshape(place, (1,)), item, mode="update")


@TABLE.op("TensorListPushBack")
def push_back(b: NodeBuilder, node: NetworkNode, given: Value, item: Value) -> Value:
    if isinstance(given, ListValue):
        if len(given.items) >= MOST_ITEMS:
            raise b.unsupported(f"lists of more than {MOST_ITEMS} elements are not supported")
        return ListValue([*given.items, item], item.shape, given.dtype)
    return b.op("concatenate", given, b.op("expand_dims", item, axis=0), axis=0)


@TABLE.op("TensorListPopBack")
def pop_back(b: NodeBuilder, node: NetworkNode, given: Value, element: Value) -> list[Value]:
    count = _length(given)
    if not count:
        raise b.fail("the list has no elements")
    last = get_item(b, node, given, b.tensor(count - 1), element)
    if isinstance(given, ListValue):
        return [ListValue(given.items[:-1], given.shape, given.dtype), last]
    return [b.slice(given, 0, 0, count - 1), last]


@TABLE.op("TensorListGather")
def gather(b: NodeBuilder, node: NetworkNode, given: Value, places: Value, element: Value) -> Value:
    return b.op("take", dense(b, given), places, axis=0, mode="clip")


@TABLE.op("TensorListConcatV2")
def concatenated(b: NodeBuilder, node: NetworkNode, given: Value, *_: Value) -> list[Value]:
    """The elements along their first axis, and how long each is there."""
    if isinstance(given, ListValue) and given.items and all(i is not None and i.rank for i in given.items):
        items = [i for i in given.items if i is not None]
        lengths = [i.shape[0] for i in items]
        joined = items[0] if len(items) == 1 else b.op("concatenate", *items, axis=0)
    else:
        whole = dense(b, given)
        if whole.rank < 2:
            raise b.fail("the elements have no axis")
        lengths = [whole.shape[1]] * whole.shape[0]
        joined = b.reshape(whole, (whole.shape[0] * whole.shape[1], *whole.shape[2:]))
    return [joined, b.constant(np.asarray(lengths, np.int64))]
