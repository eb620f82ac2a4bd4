"""Descriptions of memory and of what is to be computed: oneDNN's objects, freed with ours."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Any

from lamina.backends.byoc.dnnl.library import (
    ANY,
    BINARY,
    DST_MD,
    DTYPES,
    ELTWISE,
    INNER_BLOCKS,
    SCRATCHPAD_BY_USER,
    SCRATCHPAD_MD,
    STRIDES,
    WEIGHTS_MD,
    Library,
    dims,
    post_operand,
)
from lamina.dialects.dtypes import numpy_dtype

Ints = Sequence[int]


def row_major(shape: Ints) -> list[int]:
    """The strides, in elements, of a tensor in the order of its axes."""
    return [prod(shape[n + 1 :]) for n in range(len(shape))]


class Layout:
    """A dnnl_memory_desc: a shape, a dtype, and where each element lies."""

    def __init__(self, library: Library, handle: Any, shape: Ints, dtype: str) -> None:
        self.library = library
        self.handle = handle
        self.shape = tuple(shape)
        self.dtype = dtype

    def __del__(self) -> None:
        self.library.functions["memory_desc_destroy"](self.handle)

    @staticmethod
    def strided(library: Library, shape: Ints, dtype: str, strides: Ints | None = None) -> Layout:
        """A layout with these strides, by default those of a contiguous array. A number is a tensor of rank 1."""
        shape = tuple(shape) or (1,)
        steps = row_major(shape) if strides is None else strides
        create = "memory_desc_create_with_strides"
        return Layout(library, library.make(create, len(shape), dims(shape), DTYPES[dtype], dims(steps)), shape, dtype)

    @staticmethod
    def any(library: Library, shape: Ints, dtype: str) -> Layout:
        """A layout that a primitive is to choose."""
        handle = library.make("memory_desc_create_with_tag", len(shape), dims(shape), DTYPES[dtype], ANY)
        return Layout(library, handle, shape, dtype)

    def permuted(self, order: Ints) -> Layout:
        """The same memory with axis `order[n]` as axis n."""
        places = [0] * len(order)
        for n, axis in enumerate(order):
            places[axis] = n
        handle = self.library.make("memory_desc_permute_axes", self.handle, (ctypes.c_int * len(order))(*places))
        return Layout(self.library, handle, [self.shape[a] for a in order], self.dtype)

    def of_dtype(self, dtype: str) -> Layout:
        """As many elements of another dtype in the same order; it must be dense."""
        found = ctypes.POINTER(ctypes.c_int64)()
        self.library.call("memory_desc_query", self.handle, STRIDES, ctypes.byref(found))
        return Layout.strided(self.library, self.shape, dtype, found[: len(self.shape)])

    @cached_property
    def bytes(self) -> int:
        return int(self.library.functions["memory_desc_get_size"](self.handle))

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is that of a contiguous array."""
        return self == Layout.strided(self.library, self.shape, self.dtype)

    @cached_property
    def is_dense(self) -> bool:
        """Whether the elements lie side by side, in an order of whole axes."""
        blocks = ctypes.c_int()
        self.library.call("memory_desc_query", self.handle, INNER_BLOCKS, ctypes.byref(blocks))
        return not blocks.value and self.bytes == prod(self.shape) * numpy_dtype(self.dtype).itemsize

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and bool(
            self.library.functions["memory_desc_equal"](self.handle, other.handle)
        )

    __hash__ = None  # type: ignore[assignment]


class Attributes:
    """Attributes of a primitive: operations on each element of a result before it is stored, in order."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._post = library.make("post_ops_create")
        self.operands: dict[int, Layout] = {}
        """The layout asked for by each post-op that has an operand."""
        self._count = 0

    def __del__(self) -> None:
        self.library.functions["post_ops_destroy"](self._post)

    def eltwise(self, name: str, alpha: float, beta: float) -> None:
        self.library.call("post_ops_append_eltwise", self._post, ELTWISE[name], alpha, beta)
        self._count += 1

    def binary(self, name: str, operand: Layout) -> int:
        """Append an op with an operand: the argument that this is."""
        self.library.call("post_ops_append_binary", self._post, BINARY[name], operand.handle)
        self.operands[post_operand(self._count)] = operand
        self._count += 1
        return post_operand(self._count - 1)

    def make(self) -> Any:
        """A dnnl_primitive_attr. Scratch memory is the caller's: that of the library belongs to one thread."""
        made = self.library.make("primitive_attr_create")
        self.library.call("primitive_attr_set_scratchpad_mode", made, SCRATCHPAD_BY_USER)
        self.library.call("primitive_attr_set_post_ops", made, self._post)
        return made


class Primitive:
    """A dnnl_primitive_desc and, once it is to run, its primitive."""

    def __init__(self, library: Library, create: str, *arguments: Any, attributes: Attributes | None = None) -> None:
        """Describe one by `dnnl_<create>_primitive_desc_create`. Raises DnnlError where oneDNN has none."""
        self.library = library
        attr = (attributes or Attributes(library)).make()
        try:
            self.handle = library.make(f"{create}_primitive_desc_create", *map(_plain, arguments), attr)
        finally:
            library.functions["primitive_attr_destroy"](attr)
        self._primitive: Any = None

    def __del__(self) -> None:
        if getattr(self, "handle", None) is not None:
            self.library.functions["primitive_desc_destroy"](self.handle)
            if self._primitive is not None:
                self.library.functions["primitive_destroy"](self._primitive)

    @property
    def primitive(self) -> Any:
        """The code, made when it is asked for."""
        if self._primitive is None:
            self._primitive = self.library.make("primitive_create", self.handle)
        return self._primitive

    def layout(self, what: int, shape: Ints, dtype: str, number: int = 0) -> Layout:
        """The layout that it wants for one of its tensors."""
        found = self.library.functions["primitive_desc_query_md"](self.handle, what, number)
        return Layout(self.library, self.library.make("memory_desc_clone", found), shape, dtype)

    def result(self, shape: Ints, dtype: str) -> Layout:
        return self.layout(DST_MD, shape, dtype)

    def weights(self, shape: Ints, dtype: str) -> Layout:
        return self.layout(WEIGHTS_MD, shape, dtype)

    @cached_property
    def scratchpad(self) -> Layout:
        return self.layout(SCRATCHPAD_MD, (), "uint8")


def _plain(argument: Any) -> Any:
    return argument.handle if isinstance(argument, Layout) else argument
