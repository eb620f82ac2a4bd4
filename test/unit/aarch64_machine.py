"""Programs for AArch64 run on this machine: an emulator of its instructions, and a run-time of forty of them.

The objects of a program are linked, without any library, with code that reads an image of the memory from its standard
input, runs the program's table as `pool.mlir` does without a pool, and writes the image back. In the image lie the
number of entries, the offsets of the base pointers, and what these point to.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lamina.dialects.aligned_arrays import ALIGNMENT
from lamina.runtime.program_file import StoredProgram
from lamina.runtime.program_info import ProgramInfo

Array = np.ndarray[Any, np.dtype[Any]]

EMULATOR, ASSEMBLER, LINKER = "qemu-aarch64", "aarch64-linux-gnu-as", "aarch64-linux-gnu-ld"
MISSING = ", ".join(tool for tool in (EMULATOR, ASSEMBLER, LINKER) if shutil.which(tool) is None)
"""The tools that are not here: of the Debian packages qemu-user and binutils-aarch64-linux-gnu."""

RUNNER = """
        .comm   image, IMAGE_BYTES, 64
        .comm   arguments, 8 * 64, 8
        .text
        .globl  _start
_start: adrp    x20, image
        add     x20, x20, :lo12:image
        mov     x21, x20
        ldr     x29, =IMAGE_BYTES
        add     x29, x20, x29
read:   mov     x0, #0
        mov     x1, x21
        sub     x2, x29, x21
        mov     x8, #63
        svc     #0
        cmp     x0, #0
        b.lt    failed
        add     x21, x21, x0
        b.gt    read
        cmp     x21, x29
        b.ne    failed
        adrp    x22, {name}.program
        add     x22, x22, :lo12:{name}.program
        adrp    x23, {name}.arguments
        add     x23, x23, :lo12:{name}.arguments
        adrp    x19, arguments
        add     x19, x19, :lo12:arguments
        ldr     x24, [x20]
entry:  cbz     x24, done
        ldp     x25, x26, [x22]         // the kernel, and how often its loop runs
        ldp     x27, x28, [x22, #24]    // the first argument, and how many there are
        add     x9, x23, x27, lsl #4
        mov     x10, x19
bind:   cbz     x28, call
        ldp     x11, x12, [x9], #16     // which base, and the offset from it
        add     x13, x20, #8
        ldr     x11, [x13, x11, lsl #3]
        add     x11, x11, x20
        add     x11, x11, x12
        str     x11, [x10], #8
        sub     x28, x28, #1
        b       bind
call:   mov     x0, x19
        mov     x1, #0
        mov     x2, x26
        mov     x3, #0                  // the number of the thread
        blr     x25
        add     x22, x22, #48
        sub     x24, x24, #1
        b       entry
done:   mov     x21, x20
write:  mov     x0, #1
        mov     x1, x21
        sub     x2, x29, x21
        mov     x8, #64
        svc     #0
        cmp     x0, #0
        b.lt    failed
        add     x21, x21, x0
        cmp     x21, x29
        b.lt    write
        mov     x0, #0
        b       exit
failed: mov     x0, #1
exit:   mov     x8, #93
        svc     #0
"""


def run(info: ProgramInfo, stored: StoredProgram, inputs: Sequence[Array], folder: Path) -> list[Array]:
    """The outputs of a program that was compiled for AArch64. Its kernels are not to fail."""
    status, arena = np.zeros(2, np.int64), np.zeros(max(info.fixed_memory(1), ALIGNMENT), np.uint8)
    outputs = [np.zeros(p.shape, p.dtype) for p in info.outputs]
    memory = [status, arena, *inputs, *outputs, *stored.params]
    offsets, end = list[int](), _aligned(8 * (1 + len(memory)))
    for array in memory:
        offsets.append(end)
        end = _aligned(end + array.nbytes)
    image = np.zeros(end, np.uint8)
    header = np.asarray([len(info.entries), *offsets], np.int64)
    for offset, array in zip([0, *offsets], [header, *memory], strict=True):
        image[offset : offset + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    program = _linked(info.name, stored, end, folder)
    ran = subprocess.run([EMULATOR, str(program)], input=image.tobytes(), capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    after = np.frombuffer(ran.stdout, np.uint8)
    assert after.size == end
    assert not after[offsets[0] : offsets[0] + 8].any(), "a kernel failed"
    found: list[Array] = []
    for offset, array in zip(offsets[2 + len(inputs) :], outputs, strict=False):
        found.append(after[offset : offset + array.nbytes].view(array.dtype).reshape(array.shape))
    return found


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _linked(name: str, stored: StoredProgram, size: int, folder: Path) -> Path:
    """The program with the run-time, which has room for an image of so many bytes."""
    source, runner, program = folder / "runner.s", folder / "runner.o", folder / "program"
    source.write_text(RUNNER.format(name=name))
    objects = [runner]
    for n, data in enumerate(stored.objects.values()):
        objects.append(folder / f"{n}.o")
        objects[-1].write_bytes(data)
    _done([ASSEMBLER, "--defsym", f"IMAGE_BYTES={size}", "-o", str(runner), str(source)])
    _done([LINKER, "-static", "-o", str(program), *map(str, objects)])
    return program


def _done(words: list[str]) -> None:
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
