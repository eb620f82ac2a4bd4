"""The C interface of exported nets: declared here, read by what writes `lamina.h`, a library's tables, and ctypes.

A library exports one symbol, `lamina_<net>`, a constant `lamina_net`. Records grow at their end only: a caller that was
compiled against an older header finds its fields where they were, and `bytes` says which a library has.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

ABI = 1
"""The version of the interface: another one is another interface."""
STATE_ALIGNMENT = 64
"""Of a state, in bytes."""
OPEN = -(1 << 63)
"""In the place of an extent that the shapes of a call tell: DYNAMIC_INDEX, as types have it."""


class Member(NamedTuple):
    """A member of a record."""

    c: str
    """Its declaration in C, `@` in place of its name."""
    name: str
    what: str
    optional: bool = False
    """Whether a pointer that is needed may be null: to a function that not every net has."""


PORT = (
    Member("const char *@", "name", "of the model's input or output"),
    Member(
        "const int64_t *@",
        "shape",
        "an extent for each dimension; LAMINA_OPEN where a call's shapes tell it, -1 - n where input n, a number, does",
    ),
    Member("uint64_t @", "bytes", "of the tensor; 0 where a call tells an extent"),
    Member("int32_t @", "ndim", "the number of dimensions"),
    Member("uint8_t @", "code", "of the element type as in DLPack: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool"),
    Member("uint8_t @", "bits", "of an element"),
    Member("uint16_t @", "lanes", "always 1"),
)
"""`lamina_port`: a tensor, its elements one behind the other in order, at a multiple of their size."""

NET = (
    Member("uint32_t @", "abi", "LAMINA_VERSION of the library"),
    Member("uint32_t @", "bytes", "of this record as the library has it"),
    Member("const char *@", "name", "of the net"),
    Member("const char *@", "target", "the processor that it was compiled for"),
    Member("const char *@", "built_by", "the version of Lamina"),
    Member("const lamina_port *@", "inputs", "n_inputs of them"),
    Member("const lamina_port *@", "outputs", "n_outputs of them"),
    Member("uint32_t @", "n_inputs", "the number of inputs"),
    Member("uint32_t @", "n_outputs", "the number of outputs"),
    Member("uint32_t @", "threads", "the most that it was compiled for"),
    Member("uint32_t @", "alignment", "of a state, in bytes"),
    Member("uint64_t @", "params_bytes", "of the packed weights"),
    Member(
        "const void *@",
        "params",
        "the packed weights; null where they are in a file of their own, or `pack` is to make them",
    ),
    Member(
        "int32_t (*@)(const int64_t *const *inputs, uint32_t threads, int64_t *const *outputs, uint64_t *state_bytes)",
        "sizes",
        "for shapes of inputs (null: those of the ports): the outputs' shapes and the bytes of a state, where not null",
    ),
    Member(
        "int32_t (*@)(void *state, const void *params, uint32_t threads, int64_t spins)",
        "start",
        "make a state of memory; params null: the library's; spins: polls before an idle thread sleeps",
    ),
    Member(
        "int32_t (*@)(void *state, const void *const *inputs, void *const *outputs)",
        "run",
        "one inference on the first elements of all tensors",
    ),
    Member("void (*@)(void *state)", "stop", "end the threads of a state"),
    Member("const char *(*@)(int32_t code)", "text", "what a code that is not 0 says"),
    Member("uint64_t @", "room_bytes", "of the memory that `pack` works in; 0 where it is null"),
    Member(
        "int32_t (*@)(void *params, void *room)",
        "pack",
        "fill params_bytes of memory with packed weights, for `start`; null where the net needs no such",
        optional=True,
    ),
    Member(
        "int32_t (*@)(void *state, uint64_t state_bytes, const int64_t *const *shapes, const void *const *inputs,"
        " void *const *outputs)",
        "run_shapes",
        "`run` on inputs of these shapes, in a state of so many bytes; null where all extents are known",
        optional=True,
    ),
)
"""`lamina_net`: a net. Its functions have no state but the caller's; a state is for one call at a time."""


RECORDS = {"lamina_port": PORT, "lamina_net": NET}
"""The records by their names in C."""


class CallCode(NamedTuple):
    """A code below zero: the call was wrong. Those above zero are the net's own, of inputs that it cannot take."""

    number: int
    name: str
    text: str


CODES = (
    CallCode(-1, "NO_STATE", "the state has not been started for this net"),
    CallCode(-2, "UNALIGNED_STATE", f"the state is at no multiple of {STATE_ALIGNMENT} bytes"),
    CallCode(-3, "DEVICE", "a tensor is not in the memory of the processor"),
    CallCode(-4, "TYPE", "the elements of a tensor are of another type than its port's"),
    CallCode(-5, "SHAPE", "the shape of a tensor is another than its port's"),
    CallCode(-6, "STRIDES", "the elements of a tensor are not one behind the other in order"),
    CallCode(-7, "UNALIGNED", "a tensor is at an address that is no multiple of its elements' size"),
    CallCode(-8, "ABI", "the library has another version of the interface than lamina.h"),
    CallCode(-9, "NO_PARAMS", "the net has no weights of its own, and none were given"),
    CallCode(
        -10, "UNALIGNED_PARAMS", f"the weights are at no multiple of {STATE_ALIGNMENT} bytes, or the room of `pack`"
    ),
    CallCode(-11, "NO_SHAPES", "the net has open extents, and no shapes were given: `run_shapes` takes them"),
    CallCode(-12, "STATE_BYTES", "the state has fewer bytes than these shapes need"),
)
UNKNOWN_CODE = "there is no such code"
DLPACK_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 6}
"""DLDataTypeCode, by what begins the name of an element type."""


def dlpack_type(dtype: str) -> tuple[int, int]:
    """The code and the bits of an element type, `float32` for instance, as DLPack has them."""
    kind = dtype.rstrip("0123456789")
    return DLPACK_CODES[kind], 8 if kind == "bool" else int(dtype[len(kind) :])


def type_name(code: int, bits: int) -> str:
    """The name of an element type of DLPack. Raises KeyError where there is none."""
    kind = {c: name for name, c in DLPACK_CODES.items()}[code]
    return kind if kind == "bool" else f"{kind}{bits}"


_INTEGERS = {
    "uint8_t": ctypes.c_uint8,
    "uint16_t": ctypes.c_uint16,
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
}


def integer_bits(member: Member) -> int:
    """The bits of a member that is an integer; 0 for a pointer."""
    kind = _INTEGERS.get(member.c.removesuffix(" @"))
    return 8 * ctypes.sizeof(kind) if kind is not None else 0


def record_bytes(members: tuple[Member, ...], pointer: int) -> int:
    """The bytes of a record where a pointer has so many: in C each member is at a multiple of its own size."""
    at = 0
    for size in (integer_bits(m) // 8 or pointer for m in members):
        at += -at % size + size
    return at + -at % max(integer_bits(m) // 8 or pointer for m in members)


def _fields(members: tuple[Member, ...]) -> list[tuple[str, Any]]:
    return [(m.name, _INTEGERS.get(m.c.removesuffix(" @"), ctypes.c_void_p)) for m in members]


class CPort(ctypes.Structure):
    """`lamina_port` of this process."""

    _fields_ = _fields(PORT)


class CNet(ctypes.Structure):
    """`lamina_net` of this process."""

    _fields_ = _fields(NET)
