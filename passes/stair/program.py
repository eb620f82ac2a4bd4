"""`@main` of tir as data: the program table that the runner walks, one foreign call for a whole inference.

    @main.program    one row for each phase of each call: kernel, extent, grain, first argument, number of arguments
    @main.arguments  one row for each buffer argument: which base pointer, and the byte offset from it

The caller of the runner gives the base pointers in this order: status block, arena, inputs, outputs, parameters.
The module attribute `lamina.program` says what they are; `entries` names each row by the model's own nodes.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FusedLoc,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp as MainReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.target import module_target
from lamina.dialects.tir.ops import AllocOp, CallOp, ParamOp, ViewOp
from lamina.passes.stair.builder import POINTER

STATUS, ARENA, FIRST_INPUT = 0, 1, 2
"""Positions of the base pointers."""

ROW = llvm.LLVMStructType.from_type_list([POINTER, i64, i64, i64, i64])
GRAINS_PER_THREAD = 8
"""A parallel loop is cut into about this many slices for each thread, so that a late thread can catch up."""


class Phase(NamedTuple):
    """A part of a kernel: its symbol, the extent of its parallel loop, and which of the kernel's buffers it takes."""

    symbol: str
    extent: int
    arguments: list[int]


def lower_main(module: ModuleOp, main: MainOp, phases: dict[str, list[Phase]]) -> None:
    """Replace `@main` by its program table."""
    name = main.sym_name.data
    block = main.body.block
    outputs_attr = main.attributes.get("lamina.outputs")
    if not isinstance(outputs_attr, IntegerAttr):
        raise VerifyException(f"tir-to-llvm: @{name} has no 'lamina.outputs'; it does not come from te-to-tir")
    bases: dict[SSAValue, tuple[int, int]] = {a: (FIRST_INPUT + n, 0) for n, a in enumerate(block.args)}
    params: dict[Attribute, int] = {}
    arena_bytes = 0
    arguments: list[tuple[int, int]] = []
    rows: list[tuple[Phase, int]] = []
    labels: list[Attribute] = []
    for op in block.ops:
        if isinstance(op, AllocOp):
            if arena_bytes:
                raise VerifyException(f"tir-to-llvm: @{name} allocates more than its arena; run tir-plan-memory")
            arena_bytes = op.result.type.get_shape()[0]  # type: ignore[attr-defined]
            bases[op.result] = (ARENA, 0)
        elif isinstance(op, ViewOp):
            bases[op.result] = (bases[op.arena][0], op.offset.value.data)
        elif isinstance(op, ParamOp):
            position = params.setdefault(op.param, len(params))
            bases[op.results[0]] = (FIRST_INPUT + len(block.args) + position, 0)
        elif isinstance(op, CallOp):
            buffers = [bases[o] for o in op.operands]
            callee = op.callee.root_reference.data
            for phase in phases[callee]:
                rows.append((phase, len(arguments)))
                arguments += [buffers[n] for n in phase.arguments]
                labels.append(StringAttr(label(op, callee)))
        elif not isinstance(op, MainReturnOp):
            raise VerifyException(f"tir-to-llvm: {op.name} cannot stand in @{name}")
    target = module_target(module)
    threads = 1 if target is None else target.threads.data
    module.body.block.insert_op_before(_program(f"{name}.program", rows, threads), main)
    module.body.block.insert_op_before(_arguments(f"{name}.arguments", arguments), main)
    module.attributes["lamina.program"] = DictionaryAttr(
        {
            "name": StringAttr(name),
            "arena": IntegerAttr(arena_bytes, i64),
            "inputs": _described(main, 0, len(block.args) - outputs_attr.value.data),
            "outputs": _described(main, len(block.args) - outputs_attr.value.data, len(block.args)),
            "params": ArrayAttr(list(params)),
            "entries": ArrayAttr(labels),
        }
    )
    main.detach()
    main.erase(safe_erase=False)


def _described(main: MainOp, first: int, end: int) -> ArrayAttr[Attribute]:
    """Name and type of arguments."""
    found: list[Attribute] = []
    for n in range(first, end):
        argument = main.body.block.args[n]
        attrs = main.arg_attrs.data[n].data if main.arg_attrs else {}
        name = attrs.get("lamina.name") or StringAttr(argument.name_hint or f"arg{n}")
        found.append(DictionaryAttr({"name": name, "type": argument.type}))
    return ArrayAttr(found)


def label(op: Operation, callee: str) -> str:
    """A row's name: the nodes of the model that it computes, else the kernel's symbol."""
    names = list(dict.fromkeys(_names(op.location)))
    return " + ".join(names) if names else callee


def _names(location: LocationAttr) -> list[str]:
    if isinstance(location, NameLoc):
        return [location.desc.data]
    if isinstance(location, FusedLoc):
        return [n for part in location.locations.data for n in _names(part)]
    return []


def _program(symbol: str, rows: list[tuple[Phase, int]], threads: int) -> llvm.GlobalOp:
    type_ = llvm.LLVMArrayType(len(rows), ROW)
    ops: list[Operation] = [llvm.UndefOp.create(result_types=[type_])]
    table = ops[0].results[0]
    for n, (phase, first) in enumerate(rows):
        grain = phase.extent if threads == 1 else max(1, phase.extent // (threads * GRAINS_PER_THREAD))
        kernel: Operation = llvm.AddressOfOp.create(
            properties={"global_name": SymbolRefAttr(phase.symbol)}, result_types=[POINTER]
        )
        ops.append(kernel)
        numbers = (phase.extent, grain, first, len(phase.arguments))
        constants = [
            llvm.ConstantOp.create(properties={"value": IntegerAttr(v, i64)}, result_types=[i64]) for v in numbers
        ]
        ops += constants
        for field, value in enumerate([kernel, *constants]):
            insert = llvm.InsertValueOp.create(
                operands=[table, value.results[0]],
                properties={"position": DenseArrayBase.from_list(i64, [n, field])},
                result_types=[type_],
            )
            ops.append(insert)
            table = insert.results[0]
    ops.append(llvm.ReturnOp.create(operands=[table]))
    return llvm.GlobalOp(
        type_,
        symbol,
        llvm.LinkageAttr("external"),
        constant=True,
        body=Region(Block(ops)),
    )


def _arguments(symbol: str, arguments: list[tuple[int, int]]) -> llvm.GlobalOp:
    type_ = llvm.LLVMArrayType(max(len(arguments), 1), llvm.LLVMArrayType(2, i64))
    flat = [v for pair in arguments or [(0, 0)] for v in pair]
    value = DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(flat) // 2, 2]), flat)
    return llvm.GlobalOp(type_, symbol, llvm.LinkageAttr("external"), constant=True, value=value)
