"""A kernel of the device as an llvm function, for GPUs of any kind."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IndexType, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block, Region

from lamina.backends.llvm.device.legal import check_legal
from lamina.backends.llvm.device.lower import GpuMachine, lower_body
from lamina.dialects import edit
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.schedule.nest.threads import tag_of, thread_loops
from lamina.dialects.tir.control import BarrierOp
from lamina.dialects.tir.launch import DEVICE
from lamina.dialects.tir.memory import LoadOp, StoreOp
from lamina.dialects.tir.ops import FuncOp
from lamina.passes.base import inherit_location


def lower_kernels(module: ModuleOp, machine: GpuMachine) -> None:
    """Lower all kernels of a module, in place; functions of the host stay. Raises InputError."""
    for func in list(module.ops):
        if isinstance(func, FuncOp) and DEVICE in func.attributes:
            with edit.transaction(func):
                for new in lower_kernel(func, machine):
                    inherit_location(new, func)
                    edit.insert_before(func, new)
                edit.erase(func, safe=False)


def lower_kernel(func: FuncOp, machine: GpuMachine) -> list[llvm.GlobalOp | llvm.FuncOp]:
    """The llvm function of a kernel, after its shared buffers."""
    arguments = list(func.body.block.args)
    types: list[Attribute] = [i64 if isinstance(a.type, IndexType) else machine.buffer_type for a in arguments]
    blocks, shared = lower_body(func, Block(arg_types=types), machine)
    lowered = llvm.FuncOp(
        func.sym_name.data,
        llvm.LLVMFunctionType(types, llvm.LLVMVoidType()),
        linkage=llvm.LinkageAttr("external"),
        body=Region(blocks),
        other_props={"passthrough": _words(func, machine), "arg_attrs": _argument_attributes(func)},
    )
    lowered.attributes[machine.kernel] = UnitAttr()
    check_legal(lowered, machine.rules.name, machine.code)
    return [*shared, lowered]


def _words(func: FuncOp, machine: GpuMachine) -> ArrayAttr[Attribute]:
    """The attributes of a kernel, among them the threads of a block where they are a number."""
    loops = {tag_of(v): v for v in thread_loops(func, "threadIdx")}
    threads: list[int] | None = None
    if not any(v.is_dynamic for v in loops.values()):
        threads = [loops[f"threadIdx.{axis}"].trip if f"threadIdx.{axis}" in loops else 1 for axis in "xyz"]
    return ArrayAttr([StringAttr("nounwind"), *machine.bounds(threads)])


def _argument_attributes(func: FuncOp) -> ArrayAttr[Attribute]:
    """No other pointer of the kernel reaches a buffer; but other threads do, where they wait for each other."""
    loaded = {op.buffer for op in func.walk() if isinstance(op, LoadOp)}
    stored = {op.buffer for op in func.walk() if isinstance(op, StoreOp)}
    waits = any(isinstance(op, BarrierOp) for op in func.walk())
    found: list[Attribute] = []
    for a in func.body.block.args:
        words: dict[str, Attribute] = {}
        if not isinstance(a.type, IndexType):
            if not (waits and a in loaded and a in stored):
                words["llvm.noalias"] = UnitAttr()
            if a not in stored:
                words["llvm.readonly"] = UnitAttr()
        found.append(DictionaryAttr(words))
    return ArrayAttr(found)
