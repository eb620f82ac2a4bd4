"""AMD GPUs by LLVM's intrinsics: what they do otherwise than other GPUs."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, i64
from xdsl.dialects.llvm import ATOMIC_ORDERING_KEYWORDS
from xdsl.ir import Attribute

from lamina.backends.llvm.device.lower import DeviceReplay, GpuMachine, device_tir_to_llvm
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.tir.control import BarrierOp
from lamina.passes.rules.conversion import Conversion
from lamina.passes.tir_to_llvm.rules import Step

GLOBAL, PRIVATE = 1, 5
"""The address spaces of buffers and of a thread's own memory."""
GROUP = StringAttr("workgroup")
_ORDERINGS = {word: IntegerAttr(number, i64) for number, word in ATOMIC_ORDERING_KEYWORDS.items()}

rocm_tir_to_llvm: Conversion[DeviceReplay, Step] = Conversion(
    "rocm-tir-to-llvm", "a kernel of the device", base=device_tir_to_llvm
)
"""The rules of AMD GPUs where they are not those of all."""


@rocm_tir_to_llvm.lowers(BarrierOp)
def barrier(op: BarrierOp, replay: DeviceReplay) -> Step:
    """One of the whole work-group between fences: the instruction alone orders no memory.

    That of a warp is the same: how wide a wave is, 32 threads or 64, is the machine's matter, and LLVM drops the
    instruction where the group is one wave.
    """

    def step() -> None:
        for new in (_fence("release"), llvm.CallIntrinsicOp("llvm.amdgcn.s.barrier", [], []), _fence("acquire")):
            replay.b.add(new)
        replay.forget()

    return step


def _fence(ordering: str) -> llvm.FenceOp:
    return llvm.FenceOp.create(properties={"ordering": _ORDERINGS[ordering], "syncscope": GROUP})


def _bounds(threads: list[int] | None) -> list[Attribute]:
    if threads is None:
        return []
    count = prod(threads)
    return [ArrayAttr([StringAttr("amdgpu-flat-work-group-size"), StringAttr(f"{count},{count}")])]


ROCM = GpuMachine(
    rocm_tir_to_llvm,
    "code for AMD GPUs",
    {"threadIdx": "llvm.amdgcn.workitem.id", "blockIdx": "llvm.amdgcn.workgroup.id"},
    "rocdl.kernel",
    _bounds,
    stack_space=PRIVATE,
    buffer_space=GLOBAL,
    infers=False,
)
