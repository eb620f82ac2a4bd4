"""The run-time as IR: the thread pool and the runner of program tables (`pool.mlir`), the tables themselves, and
conversions that not every processor has (`float_support.mlir`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lamina.backends.cpu.jit import FLOAT_SUPPORT, JitLibrary, Machine, compile_object, load_objects
from lamina.backends.cpu.object_cache import ObjectCache, cache_key

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.dialects.llvm_target import ops as llvm

HEADER_BYTES = 256
"""Size of the pool's block before the list of threads; the layout is drawn in pool.mlir."""

# Any x86-64: the run-time spends its time waiting, and one object serves every target.
_MACHINE = Machine("x86_64-unknown-linux-gnu", "x86-64", "")

_library: JitLibrary | None = None
_float_support: JitLibrary | None = None


class Entry(NamedTuple):
    """One call of a program: kernel(args, lo, hi) over [0, extent), `grain` iterations at a time."""

    kernel: str
    extent: int
    grain: int
    arguments: Sequence[tuple[int, int]]
    """(base, byte offset) of each buffer; (0, 0) is the status block."""


def resource_text(name: str) -> str:
    """A module of the run-time as text: `pool` or `float_support`."""
    return Path(__file__).with_name(f"{name}.mlir").read_text()


def resource_module(name: str) -> ModuleOp:
    """A module of the run-time at the llvm level."""
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.parser import Parser

    from lamina.dialects.llvm_target import LLVM
    from lamina.dialects.target import LAMINA

    context = Context()
    for dialect in (Builtin, LLVM, LAMINA):
        context.load_dialect(dialect)
    return Parser(context, resource_text(name), f"{name}.mlir").parse_module()


def resource_object(name: str, cache: ObjectCache | None = None) -> bytes:
    """A module of the run-time compiled; from the cache without parsing anything."""
    from lamina.backends.cpu.compile_kernels import object_key

    key = ""
    if cache is not None:
        key = cache_key("runtime", object_key(resource_text(name), _MACHINE), _emitter_digest())
        found = cache.get(key)
        if found is not None:
            return found
    from lamina.backends.cpu.emit import emit_module

    data = compile_object(emit_module(resource_module(name)), _MACHINE)
    if cache is not None:
        cache.put(key, data)
    return data


def _emitter_digest() -> str:
    """The sources that turn the module into LLVM text, by content."""
    folder = Path(__file__).parent
    return cache_key(*(path.read_bytes() for path in sorted(folder.glob("emit*.py"))))


def runtime_library(cache: ObjectCache | None = None) -> JitLibrary:
    """The pool and the runner loaded, once a process."""
    global _library
    if _library is None:
        exports = ("lamina_run", "lamina_parallel", "lamina_pool_start", "lamina_pool_stop")
        _library = load_objects([resource_object("pool", cache)], exports)
    return _library


def float_support(cache: ObjectCache | None = None) -> JitLibrary:
    """The conversions that 16-bit floats need on older processors, loaded once a process."""
    global _float_support
    if _float_support is None:
        _float_support = load_objects([resource_object("float_support", cache)], FLOAT_SUPPORT)
    return _float_support


def program_globals(name: str, entries: Sequence[Entry]) -> list[llvm.GlobalOp]:
    """`@<name>.program` and `@<name>.arguments` for the runner; the kernels must be llvm.funcs of the module."""
    from xdsl.builder import Builder
    from xdsl.dialects.builtin import DenseArrayBase, DenseIntElementsAttr, IntegerAttr, TensorType, i64
    from xdsl.ir import Block, Region, SSAValue
    from xdsl.rewriter import InsertPoint

    from lamina.dialects.llvm_target import ops as llvm

    pointer = llvm.LLVMPointerType()
    row = llvm.LLVMStructType.from_type_list([pointer, i64, i64, i64, i64])
    table = llvm.LLVMArrayType(len(entries), row)
    block = Block()
    builder = Builder(InsertPoint.at_end(block))
    value: SSAValue = builder.insert(llvm.PoisonOp.create(result_types=[table])).results[0]
    numbers: dict[int, SSAValue] = {}
    arguments: list[int] = []
    for i, entry in enumerate(entries):
        fields: list[SSAValue] = [builder.insert(llvm.AddressOfOp(entry.kernel, pointer)).results[0]]
        for number in (entry.extent, entry.grain, len(arguments) // 2, len(entry.arguments)):
            if number not in numbers:
                numbers[number] = builder.insert(llvm.ConstantOp(IntegerAttr(number, i64), i64)).results[0]
            fields.append(numbers[number])
        for j, field in enumerate(fields):
            place = DenseArrayBase.from_list(i64, [i, j])
            value = builder.insert(llvm.InsertValueOp(place, value, field)).results[0]
        for base, offset in entry.arguments:
            arguments += (base, offset)
    builder.insert(llvm.ReturnOp(value))
    rows = len(arguments) // 2
    binding = llvm.LLVMArrayType(rows, llvm.LLVMArrayType(2, i64))
    dense = DenseIntElementsAttr.from_list(TensorType(i64, [rows, 2]), arguments) if rows else None
    external = llvm.LinkageAttr("external")
    body = Region(block)
    program = llvm.GlobalOp(table, f"{name}.program", external, constant=True, alignment=64, body=body)
    if dense is None:
        binding = llvm.LLVMArrayType(1, llvm.LLVMArrayType(2, i64))
        dense = DenseIntElementsAttr.from_list(TensorType(i64, [1, 2]), [0, 0])
    given = llvm.GlobalOp(binding, f"{name}.arguments", external, constant=True, value=dense, alignment=64)
    return [program, given]
