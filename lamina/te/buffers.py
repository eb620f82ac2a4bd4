"""te.decl_buffer: what a program demands of the memory of a tensor.

    Ab = te.decl_buffer(a.shape, a.dtype, name="A", offset_factor=1, strides=[te.var("s"), 1])
    te.decl_tensor_intrin(c.op, statements, binds={a: Ab})

Statements index buffers by their dimensions, so a demand changes no code here: it is compared with the memory that
the tensor has, and refused where that is other than demanded. The memory of an argument or of an intermediate result
is compact, row by row; what an intrinsic is given is a part of such memory, whose rows lie apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from lamina.errors import UnsupportedError
from lamina.te.expr import IntImm, Var, dtype_of
from lamina.te.mistakes import checked_name, fail
from lamina.te.tensor import Tensor, same_size, shape_of


class Buffer:
    """Memory as it is wanted: extents, type of the elements, distances between rows, where it begins."""

    def __init__(
        self,
        shape: Sequence[Any],
        dtype: str,
        name: str,
        strides: Sequence[Any],
        elem_offset: Any,
        scope: str,
        data_alignment: int,
        offset_factor: int,
    ) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype
        self.name = name
        self.strides = tuple(strides)
        self.elem_offset = elem_offset
        self.scope = scope
        self.data_alignment = data_alignment
        self.offset_factor = offset_factor

    def access_ptr(self, access_mask: Any, *_: Any, **__: Any) -> Any:
        """Refused: there are no addresses in these programs."""
        raise no_address(self.name)

    def __repr__(self) -> str:
        return f"Buffer({self.name}, {list(self.shape)}, {self.dtype})"


def decl_buffer(
    shape: Any,
    dtype: Any = None,
    name: str = "buffer",
    data: Any = None,
    strides: Any = None,
    elem_offset: Any = None,
    scope: str = "",
    data_alignment: int = -1,
    offset_factor: int = 0,
    buffer_type: str = "",
) -> Buffer:
    """A buffer for `binds`, `in_buffers` and `out_buffers`. Raises LaminaError for strides of another rank."""
    extents = shape_of(shape)
    rows = list(shape_of(strides)) if strides is not None else []
    if rows and len(rows) != len(extents):
        raise fail(f"the buffer {name!r} has {len(extents)} dimensions and {len(rows)} strides")
    if data is not None or buffer_type == "auto_broadcast":
        what = "data" if data is not None else "buffer_type='auto_broadcast'"
        raise UnsupportedError(f"decl_buffer with {what} is not bridged", hint="declare the buffer without it")
    dtype = dtype_of("float32" if dtype is None else dtype)
    return Buffer(extents, dtype, checked_name(name), rows, elem_offset, scope, data_alignment, offset_factor)


def check_binds(binds: Any, tensors: Sequence[Tensor], what: str, parts: bool = False) -> None:
    """Compare demands by their tensors with the memory these have; with `parts` it is a part of other memory.

    Raises LaminaError where one cannot be met.
    """
    if binds is None:
        return
    if not isinstance(binds, Mapping):
        raise fail(f"binds of {what} are buffers by tensors, not {binds!r}")
    for tensor, buffer in cast("Mapping[Any, Any]", binds).items():
        if not any(t is tensor for t in tensors):
            raise fail(f"binds of {what}: {tensor!r} is none of its tensors")
        check_buffer(buffer, tensor, parts)


def check_buffer(buffer: Any, tensor: Tensor, parts: bool = False) -> None:
    """Compare a demand with the memory of a tensor. Raises LaminaError where it cannot be met."""
    if not isinstance(buffer, Buffer):
        raise fail(f"{tensor.name!r} is bound to {buffer!r}, which is no buffer", hint="te.decl_buffer(...)")
    same = buffer.dtype == tensor.dtype and len(buffer.shape) == tensor.ndim
    if not same or not all(map(same_size, buffer.shape, tensor.shape)):
        raise fail(f"the buffer {buffer.name!r} is {list(buffer.shape)} {buffer.dtype}, the tensor {tensor}")
    step: Any = 1
    for n in reversed(range(len(buffer.strides))):
        wanted, extent = buffer.strides[n], tensor.shape[n]
        free = parts and (n + 1 < tensor.ndim or isinstance(wanted, Var))
        compact = isinstance(wanted, IntImm) and step is not None and int(wanted) == step
        if not free and not compact:
            raise UnsupportedError(
                f"the buffer {buffer.name!r} wants steps of {wanted} along dimension {n}, the memory of {tensor.name!r}"
                " is compact",
                hint="leave strides out",
            )
        step = step * int(extent) if step is not None and isinstance(extent, IntImm) else None
    offset = buffer.elem_offset
    if not parts and offset is not None and not (isinstance(offset, (int, IntImm)) and int(offset) == 0):
        raise UnsupportedError(
            f"the buffer {buffer.name!r} begins at {offset}, the memory of {tensor.name!r} at 0",
            hint="leave elem_offset out",
        )


def no_address(name: str) -> UnsupportedError:
    """The error for a program that wants the address of a buffer, to give it to a function of another language."""
    return UnsupportedError(
        f"the address of {name!r} is wanted", hint=f"write the statements: ib.buffer_ptr({name})[i] = ..."
    )


__all__ = ["Buffer", "check_binds", "check_buffer", "decl_buffer", "no_address"]
