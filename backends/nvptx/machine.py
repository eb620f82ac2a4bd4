"""NVIDIA GPUs by LLVM's intrinsics: what they do otherwise than other GPUs."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, i32
from xdsl.ir import Attribute

from lamina.backends.llvm.device.lower import DeviceReplay, GpuMachine, device_tir_to_llvm
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.tir.control import BarrierOp
from lamina.passes.rules.conversion import Conversion
from lamina.passes.tir_to_llvm.rules import Step

BARRIERS = {
    "shared": ("llvm.nvvm.barrier.cta.sync.aligned.all", 0),
    "global": ("llvm.nvvm.barrier.cta.sync.aligned.all", 0),
    "warp": ("llvm.nvvm.bar.warp.sync", -1),
}
"""The intrinsic of each scope, and its operand: the barrier's number, or which threads of the warp wait."""

nvptx_tir_to_llvm: Conversion[DeviceReplay, Step] = Conversion(
    "nvptx-tir-to-llvm", "a kernel of the device", base=device_tir_to_llvm
)
"""The rules of NVIDIA GPUs where they are not those of all."""


@nvptx_tir_to_llvm.lowers(BarrierOp)
def barrier(op: BarrierOp, replay: DeviceReplay) -> Step:
    """The intrinsic of its scope."""
    name, operand = BARRIERS[op.scope.data]

    def step() -> None:
        replay.b.add(llvm.CallIntrinsicOp(name, [replay.b.constant(IntegerAttr(operand, i32), i32)], []))
        replay.forget()

    return step


def _bounds(threads: list[int] | None) -> list[Attribute]:
    if threads is None:
        return []
    return [ArrayAttr([StringAttr("nvvm.maxntid"), StringAttr(",".join(map(str, threads)))])]


_REGISTER = "llvm.nvvm.read.ptx.sreg"
NVPTX = GpuMachine(
    nvptx_tir_to_llvm,
    "PTX",
    {"threadIdx": f"{_REGISTER}.tid", "blockIdx": f"{_REGISTER}.ctaid"},
    "nvvm.kernel",
    _bounds,
)
