"""Kernels of the device become llvm functions for LLVM's NVPTX target.

The loops of threads turn into the registers that tell a thread its number, shared buffers into globals of address
space 3. Pointers of what a kernel only reads are `readonly`. What has no PTX is refused here: LLVM would end the
process. Host functions stay as they are.

Before:
    tir.func @f_kernel0(%x: memref<64xf32>, %y: memref<64xf32>) attributes {device, outputs = 1 : i64} {
      tir.for %t = 0 to 64 thread "threadIdx.x" "y.i" {
        %v = tir.load %x[%t] : memref<64xf32>
        tir.store %v, %y[%t] : memref<64xf32> } }
After:
    llvm.func @f_kernel0(%x: !llvm.ptr {llvm.noalias, llvm.readonly}, %y: !llvm.ptr {llvm.noalias})
        attributes {passthrough = [["nvvm.maxntid", "64,1,1"]], nvvm.kernel} {
      %0 = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32 ... }

Assumes `tir-split-host-device` and `tir-vectorize-loop`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IndexType, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block, Region

from lamina.backends.nvptx.device import lower_body
from lamina.backends.nvptx.device import nvptx_tir_to_llvm as nvptx_tir_to_llvm
from lamina.backends.nvptx.legal import check_legal
from lamina.dialects import edit
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.schedule.nest.threads import tag_of, thread_loops
from lamina.dialects.tir.control import BarrierOp
from lamina.dialects.tir.launch import DEVICE
from lamina.dialects.tir.memory import LoadOp, StoreOp
from lamina.dialects.tir.ops import FuncOp
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.tir_to_llvm.builder import POINTER


@dataclass(frozen=True)
class TirToLlvmPass(ModulePass):
    name = "nvptx-tir-to-llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in list(op.ops):
            if isinstance(func, FuncOp) and DEVICE in func.attributes:
                with edit.transaction(func):
                    for new in lower_kernel(func):
                        inherit_location(new, func)
                        edit.insert_before(func, new)
                    edit.erase(func, safe=False)


def lower_kernel(func: FuncOp) -> list[llvm.GlobalOp | llvm.FuncOp]:
    """The llvm function of a kernel, after its shared buffers."""
    arguments = list(func.body.block.args)
    types: list[Attribute] = [i64 if isinstance(a.type, IndexType) else POINTER for a in arguments]
    blocks, shared = lower_body(func, Block(arg_types=types))
    lowered = llvm.FuncOp(
        func.sym_name.data,
        llvm.LLVMFunctionType(types, llvm.LLVMVoidType()),
        linkage=llvm.LinkageAttr("external"),
        body=Region(blocks),
        other_props={"passthrough": _bounds(func), "arg_attrs": _argument_attributes(func)},
    )
    lowered.attributes["nvvm.kernel"] = UnitAttr()
    check_legal(lowered)
    return [*shared, lowered]


def _bounds(func: FuncOp) -> ArrayAttr[Attribute]:
    """The threads of a block, where they are a number."""
    loops = {tag_of(v): v for v in thread_loops(func, "threadIdx")}
    words: list[Attribute] = [StringAttr("nounwind")]
    if not any(v.is_dynamic for v in loops.values()):
        extents = [loops[f"threadIdx.{axis}"].trip if f"threadIdx.{axis}" in loops else 1 for axis in "xyz"]
        words.append(ArrayAttr([StringAttr("nvvm.maxntid"), StringAttr(",".join(map(str, extents)))]))
    return ArrayAttr(words)


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
