"""The tables of an exported net: the constant `lamina_<net>` of `lamina.h`, and what `net.mlir` needs to know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntElementsAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from lamina.backends.cpu.runtime.interface import (
    ABI,
    CODES,
    NET,
    PORT,
    STATE_ALIGNMENT,
    UNKNOWN_CODE,
    Member,
    dlpack_type,
    integer_bits,
    record_bytes,
)
from lamina.backends.cpu.runtime.layout import DATA
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.machine_spec import pointer_bits
from lamina.dialects.target import TARGET, TargetAttr

POINTER = llvm.LLVMPointerType()
_BASES = 128
"""The offset of the base pointers in a state, as `net.mlir` has it."""
_PACKING_BASES = 64
"""That in the room that weights are packed in, as `pack.mlir` has it."""
FUNCTIONS = ("sizes", "start", "run", "stop", "text")
"""Of the record; each is the symbol `lamina.<name>`."""
PACK = "pack"
"""One more, of a net whose weights are packed as it is loaded."""
RUN_SHAPES = "run_shapes"
"""One more, of a net of open extents."""


@dataclass(frozen=True)
class NetTensor:
    """An input or output of a net."""

    name: str
    shape: tuple[int, ...]
    """An extent that a call tells is OPEN, or -1 - n for the value of input n."""
    dtype: str


@dataclass(frozen=True)
class NetSizes:
    """Parts of a net of open extents: sizes, which are its program's first inputs, places in memory that they tell, and
    the function `lamina.shapes` (`net_shapes.py`)."""

    sizes: int
    places: int
    function: llvm.FuncOp


@dataclass(frozen=True)
class NetPacking:
    """The program that packs weights as a net is loaded: offsets of these in the caller's memory, and of the stored
    ones in the data; `size` bytes of memory are packed weights."""

    packed: tuple[int, ...]
    stored: tuple[int, ...]
    size: int
    arena: int
    entries: int


@dataclass(frozen=True)
class Net:
    """A net as its tables describe it.

    `offsets` are those of its parameters in the data, `size` is the data's in bytes; -1 - n is offset n in what
    `packing` has made.
    """

    name: str
    target: TargetAttr
    built_by: str
    marker: int
    """A number by which a state of this net is known, of 63 bits."""
    inputs: tuple[NetTensor, ...]
    outputs: tuple[NetTensor, ...]
    arena: int
    entries: int
    messages: tuple[str, ...]
    offsets: tuple[int, ...]
    size: int
    packing: NetPacking | None = None
    open: NetSizes | None = None
    thread_memory: int = 0
    """Bytes that each thread has behind the arena."""

    @property
    def symbol(self) -> str:
        """The name that a library exports."""
        return f"lamina_{self.name}"

    @property
    def pointer_bytes(self) -> int:
        """Bytes of a pointer."""
        return pointer_bits(self.target.triple.data) // 8

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions of its record."""
        return (*FUNCTIONS, *([PACK] if self.packing else []), *([RUN_SHAPES] if self.open else []))

    @property
    def counts(self) -> tuple[int, int]:
        """The numbers of sizes and of places."""
        return (0, 0) if self.open is None else (self.open.sizes, self.open.places)

    @property
    def found_at(self) -> int:
        """The offset in a state of what follows from the shapes of a call."""
        ports = len(self.inputs) + len(self.outputs)
        return _lines(_BASES + self.pointer_bytes * (2 + ports + len(self.offsets) + sum(self.counts)))

    @property
    def arena_at(self) -> int:
        """The offset of the arena in a state."""
        return self.found_at + _lines(8 * sum(self.counts))

    @property
    def pool_at(self) -> int:
        """The offset of the pool in a state, but for the memory of threads."""
        return self.arena_at + _lines(max(self.arena, 1))

    @property
    def state_bytes(self) -> int:
        """Bytes of a state with one thread."""
        return self.pool_at + self.thread_memory

    @property
    def packing_arena_at(self) -> int:
        """The offset of the arena in the room that weights are packed in."""
        packing = self.packing
        count = 0 if packing is None else 2 + len(packing.packed) + len(packing.stored)
        return _lines(_PACKING_BASES + self.pointer_bytes * count)

    @property
    def room(self) -> int:
        """Bytes of the room that weights are packed in."""
        return 0 if self.packing is None else self.packing_arena_at + _lines(max(self.packing.arena, 1))


def _lines(size: int) -> int:
    return -(-size // STATE_ALIGNMENT) * STATE_ALIGNMENT


def net_module(net: Net) -> ModuleOp:
    """The module of a net's tables at the llvm level."""
    return _Tables(net).module()


class _Tables:
    def __init__(self, net: Net) -> None:
        self.net = net
        self.ops: list[Operation] = []
        self.texts: dict[str, str] = {}
        """Symbols of strings."""

    def module(self) -> ModuleOp:
        net = self.net
        packing = net.packing
        for name in net.functions:
            # Only their addresses are taken: `net.mlir` knows their types.
            type_ = llvm.LLVMFunctionType([], llvm.LLVMVoidType())
            self.ops.append(llvm.FuncOp(f"lamina.{name}", type_, llvm.LinkageAttr("external")))
        shapes = [self._shape(t, f"lamina.shape.{n}") for n, t in enumerate((*net.inputs, *net.outputs))]
        of_outputs = shapes[len(net.inputs) :]
        self._numbers("lamina.facts", self._facts())
        self._numbers("lamina.offsets", net.offsets)
        if packing is not None:
            self._packing(packing)
        if net.open is not None:
            self.ops.append(net.open.function)
        self._numbers("lamina.ranks", [len(t.shape) for t in net.outputs])
        self._pointers("lamina.outputs", of_outputs)
        # By code, from the least on; one that is none comes first, and 0 is none either.
        below = [c.text for c in sorted(CODES, key=lambda c: c.number)]
        texts = (UNKNOWN_CODE, *below, UNKNOWN_CODE, *net.messages)
        self._pointers("lamina.texts", [self._text(t) for t in texts])
        inputs = self._ports("lamina.inputs", net.inputs, shapes)
        outputs = self._ports("lamina.output_ports", net.outputs, of_outputs)
        self.ops.append(
            llvm.GlobalOp(IntegerType(8), DATA, llvm.LinkageAttr("external"), constant=True, alignment=STATE_ALIGNMENT)
        )
        values: dict[str, int | str | None] = {
            "abi": ABI,
            "bytes": record_bytes(NET, net.pointer_bytes),
            "name": self._text(net.name),
            "target": self._text(f"{net.target.triple.data} {net.target.cpu.data}"),
            "built_by": self._text(net.built_by),
            "inputs": inputs,
            "outputs": outputs,
            "n_inputs": len(net.inputs),
            "n_outputs": len(net.outputs),
            "threads": net.target.threads.data,
            "alignment": STATE_ALIGNMENT,
            "params_bytes": net.size if packing is None else packing.size,
            "params": DATA if packing is None else None,
            "room_bytes": net.room,
            PACK: None,
            RUN_SHAPES: None,
            **{name: f"lamina.{name}" for name in net.functions},
        }
        self._record(net.symbol, NET, [values])
        module = ModuleOp(self.ops)
        module.attributes[TARGET] = net.target
        return module

    def _facts(self) -> tuple[int, ...]:
        """The numbers that `net.mlir` needs to know."""
        net = self.net
        sizes, places = net.counts
        return (
            net.marker,
            sizes + len(net.inputs),
            len(net.outputs),
            len(net.offsets),
            net.arena_at,
            net.pool_at,
            net.entries,
            len(CODES) + 1,
            len(CODES) + 1 + len(net.messages) + 1,
            int(net.packing is not None),
            sizes,
            places,
            net.found_at,
            net.thread_memory,
        )

    def _packing(self, packing: NetPacking) -> None:
        facts = (len(packing.packed), len(packing.stored), self.net.packing_arena_at, packing.entries)
        self._numbers("lamina.pack_facts", facts)
        self._numbers("lamina.pack_offsets", (*packing.packed, *packing.stored))

    # -- constants -------------------------------------------------------------------------------------------------

    def _text(self, text: str) -> str:
        """The symbol of a string that ends with a zero byte."""
        found = self.texts.get(text)
        if found is None:
            found = self.texts[text] = f"lamina.text.{len(self.texts)}"
            value = StringAttr(text + "\0")
            type_ = llvm.LLVMArrayType(len(value.data.encode()), IntegerType(8))
            self._add(llvm.GlobalOp(type_, found, llvm.LinkageAttr("internal"), constant=True, value=value))
        return found

    def _shape(self, tensor: NetTensor, symbol: str) -> str:
        self._numbers(symbol, tensor.shape, "internal")
        return symbol

    def _numbers(self, symbol: str, numbers: Sequence[int], linkage: str = "external") -> None:
        numbers = numbers or [0]
        type_ = llvm.LLVMArrayType(len(numbers), i64)
        value = DenseIntElementsAttr.from_list(TensorType(i64, [len(numbers)]), numbers)
        self._add(llvm.GlobalOp(type_, symbol, llvm.LinkageAttr(linkage), constant=True, alignment=8, value=value))

    def _pointers(self, symbol: str, symbols: Sequence[str]) -> None:
        type_ = llvm.LLVMArrayType(max(len(symbols), 1), POINTER)
        self._filled(symbol, type_, {(n,): s for n, s in enumerate(symbols)}, {})

    def _ports(self, symbol: str, tensors: Sequence[NetTensor], shapes: Sequence[str]) -> str:
        rows: list[dict[str, int | str]] = []
        for tensor, shape in zip(tensors, shapes, strict=False):
            code, bits = dlpack_type(tensor.dtype)
            size = prod(tensor.shape) * bits // 8 if min(tensor.shape, default=0) >= 0 else 0
            said = {"name": self._text(tensor.name), "shape": shape, "bytes": size, "ndim": len(tensor.shape)}
            rows.append({**said, "code": code, "bits": bits, "lanes": 1})
        self._record(symbol, PORT, rows, array=True, linkage="internal")
        return symbol

    def _record(
        self,
        symbol: str,
        members: Sequence[Member],
        rows: Sequence[Mapping[str, int | str | None]],
        array: bool = False,
        linkage: str = "external",
    ) -> None:
        """A constant of a record of the interface, or of an array of them; None is a null pointer."""
        row = llvm.LLVMStructType.from_type_list([_type_of(m) for m in members])
        type_ = llvm.LLVMArrayType(max(len(rows), 1), row) if array else row
        pointers: dict[tuple[int, ...], str] = {}
        integers: dict[tuple[int, ...], IntegerAttr[Any]] = {}
        for n, values in enumerate(rows):
            for m, member in enumerate(members):
                value, place = values[member.name], (n, m) if array else (m,)
                if isinstance(value, str):
                    pointers[place] = value
                elif value is not None:
                    integers[place] = IntegerAttr(value, integer_bits(member))
        self._filled(symbol, type_, pointers, integers, linkage)

    def _filled(
        self,
        symbol: str,
        type_: Attribute,
        pointers: dict[tuple[int, ...], str],
        integers: dict[tuple[int, ...], IntegerAttr[Any]],
        linkage: str = "external",
    ) -> None:
        # There are hundreds of fields: ops are made without the constructors that look at what they are given.
        ops: list[Operation] = [llvm.ZeroOp.create(result_types=[type_])]
        value: SSAValue = ops[0].results[0]
        fields: dict[str | IntegerAttr[Any], SSAValue] = {}
        for place in sorted({*pointers, *integers}):
            said = pointers[place] if place in pointers else integers[place]
            field = fields.get(said)
            if field is None:
                ops.append(_address(said) if isinstance(said, str) else _constant(said))
                field = fields[said] = ops[-1].results[0]
            position = {"position": DenseArrayBase.from_list(i64, place)}
            ops.append(llvm.InsertValueOp.create(operands=[value, field], result_types=[type_], properties=position))
            value = ops[-1].results[0]
        ops.append(llvm.ReturnOp(value))
        body = Region(Block(ops))
        self._add(llvm.GlobalOp(type_, symbol, llvm.LinkageAttr(linkage), constant=True, alignment=8, body=body))

    def _add(self, op: Operation) -> None:
        self.ops.append(op)


def _address(symbol: str) -> Operation:
    return llvm.AddressOfOp.create(result_types=[POINTER], properties={"global_name": SymbolRefAttr(symbol)})


def _constant(value: IntegerAttr[Any]) -> Operation:
    return llvm.ConstantOp.create(result_types=[value.type], properties={"value": value})


def _type_of(member: Member) -> Attribute:
    bits = integer_bits(member)
    return IntegerType(bits) if bits else POINTER
