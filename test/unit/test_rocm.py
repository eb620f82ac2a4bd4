"""Target `rocm`: kernels for AMD GPUs as assembly and as objects, whose parts are looked at; nothing runs them here."""

# The functions of programs are lambdas, as TVM's users write them.
# pyright: standard
from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import lamina
from lamina.backends import rocm
from lamina.backends.link.elf_object import FUNCTION, GLOBAL, OBJECT, ObjectFile, read_object
from lamina.backends.opencl.rows import OPENCL
from lamina.backends.rocm.target import ARCHITECTURES
from lamina.compat import tvm
from lamina.errors import InputError, UnsupportedError, UsageError

from . import gpu_programs
from .row_cases import cases, kernel
from .test_gpu_passes import lowered
from .test_te_targets import row_sums, vector_add

EM_AMDGPU, HSA = 224, 64
"""The machine, and the operating system in the identification, of ELF."""
DESCRIPTOR = struct.Struct("<III4xq20xIIIHH4x")
"""A kernel's descriptor: bytes of shared and of private memory, of arguments, the place of its code, its registers."""
PC_RELATIVE = 5
"""R_AMDGPU_REL64."""


class Kernel:
    """A kernel of an object, as its symbols and its descriptor have it."""

    def __init__(self, code: ObjectFile, name: str) -> None:
        symbols = {s.name: s for s in code.symbols}
        self.function, self.descriptor = symbols[name], symbols[f"{name}.kd"]
        section = code.sections[self.descriptor.section]
        at = self.descriptor.value
        shared, private, arguments, *_ = DESCRIPTOR.unpack_from(section.data, at)
        self.shared, self.private, self.arguments = shared, private, arguments
        self.relocations = [r for r in section.relocations if at <= r.offset < at + 64]
        self.code = code


def check(code: ObjectFile, name: str) -> Kernel:
    """A kernel that is whole: a function with code, and a descriptor of 64 bytes that refers to it."""
    found = Kernel(code, name)
    assert (found.function.kind, found.function.binding) == (FUNCTION, GLOBAL) and found.function.size > 0
    assert code.sections[found.function.section].name == ".text"
    assert (found.descriptor.kind, found.descriptor.binding, found.descriptor.size) == (OBJECT, GLOBAL, 64)
    (place,) = found.relocations
    assert place.kind == PC_RELATIVE and place.offset == found.descriptor.value + 16
    referred = code.symbols[place.symbol]
    assert code.sections[referred.section].name == ".text"
    return found


def test_the_object_of_vector_add(tmp_path: Path) -> None:
    fadd = vector_add("rocm")
    (kernels,) = fadd.imported_modules
    kernels.save(tmp_path / "myadd.o")
    data = (tmp_path / "myadd.o").read_bytes()
    assert data == fadd.get_object() and data[7] == HSA
    code = read_object(data, "myadd")
    assert (code.machine, code.bits) == (EM_AMDGPU, 64)
    found = check(code, "myadd_kernel0")
    assert (found.shared, found.private) == (0, 0) and found.arguments >= 32  # a size, three buffers
    (note,) = (s for s in code.sections if s.name == ".note")
    assert b"amdgcn-amd-amdhsa--gfx900" in bytes(note.data) and b"myadd_kernel0.kd" in bytes(note.data)


def test_the_text_of_vector_add(tmp_path: Path) -> None:
    fadd = vector_add("rocm -mcpu=gfx90a")
    (kernels,) = fadd.imported_modules
    text = kernels.get_source()
    assert kernels.type_key == "amdgcn" and text == fadd.get_source("amdgcn")
    assert '.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"' in text and ".amdhsa_kernel myadd_kernel0" in text
    assert text.count("global_load_dword") == 2 and "global_store_dword" in text and "flat_load" not in text
    assert "__global__" in fadd.get_source("cuda") and "gfx900" in vector_add("cuda").get_source("amdgcn")
    kernels.save(tmp_path / "myadd.s")
    assert (tmp_path / "myadd.s").read_text() == text


def test_shared_memory_and_barriers() -> None:
    tile = {"vy": 2, "vx": 2, "ty": 8, "tx": 16, "iy": 2, "ix": 2, "kk": 4}
    module = lowered(gpu_programs.matmul(64, 64, 16, tile), gpu_programs.PIPELINE)
    text = rocm.compile_device(module, "gfx90a")
    assert (
        text.count("s_barrier") >= 2
        and "ds_read" in text
        and "ds_write" in text
        and "flat_" not in text.split(".amdhsa")[0]
    )
    found = check(read_object(rocm.compile_object(module, "gfx90a"), "mm"), "mm_kernel0")
    assert found.shared >= 4 * (32 * 4 + 4 * 64)  # both tiles
    assert ".amdhsa_group_segment_fixed_size" in text and ".max_flat_workgroup_size: 128" in text


def test_a_sum_over_threads() -> None:
    built: Any = lamina.build(*row_sums(), "rocm")
    found = check(read_object(built.get_object(), "rows"), "default_function_kernel0")
    assert found.shared > 0 and "s_barrier" in built.get_source("amdgcn")


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_architecture(arch: str) -> None:
    module = lowered(gpu_programs.softmax(3, 37, 8), gpu_programs.PIPELINE)
    code = read_object(rocm.compile_object(module, arch), arch)
    check(code, "softmax_kernel0")
    assert any(f"amdgcn-amd-amdhsa--{arch}".encode() in bytes(s.data) for s in code.sections if s.name == ".note")


@pytest.mark.slow
def test_every_op_has_code_or_is_refused_by_name() -> None:
    """LLVM does not end on any of them."""
    chosen = cases(OPENCL.rows, (("f32", "i32"), ("i64", "f64")))
    taken: list[str] = []
    refused: set[str] = set()
    for name, case in chosen.items():
        try:
            rocm.llvm_text(ModuleOp([kernel(name, case)]), "gfx90a")
        except InputError as e:
            assert any(
                words in str(e) for words in ("no code for AMD GPUs", "which code for AMD", "cannot stand in")
            ), e
            refused.add(case.cls.name)
        else:
            taken.append(name)
    assert all(name.startswith("math.") for name in refused) and len(taken) > 250
    module = ModuleOp([kernel(name, chosen[name]) for name in taken])
    code = read_object(rocm.compile_object(module, "gfx90a"), "rows")
    for name in taken:
        check(code, f"k_{name}")


# -- mistakes --------------------------------------------------------------------------------------------------------


def test_kernels_are_not_run() -> None:
    fadd = vector_add("rocm")
    a = np.ones(4, np.float32)
    with pytest.raises(UnsupportedError, match="myadd: kernels for 'rocm' are compiled but not run"):
        fadd(a, a, a)
    assert not tvm.rocm(0).exist


def test_targets_that_there_are_not() -> None:
    with pytest.raises(UsageError, match="no GPU architecture 'gfx1'; it is one of gfx900, gfx906"):
        vector_add("rocm -mcpu=gfx1")
    with pytest.raises(UsageError, match="no GPU architecture 'sm_90'"):
        vector_add("rocm -arch=sm_90")
    with pytest.raises(UsageError, match="kernels for 'cuda' are a text"):
        vector_add("cuda").get_object()


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    kernels: Any = vector_add("cuda").imported_modules[0]
    with pytest.raises(UsageError, match="kernels for 'cuda' are a text"):
        kernels.save(tmp_path / "myadd.o")
    with pytest.raises(InputError, match="cannot write"):
        kernels.save(tmp_path / "no folder" / "myadd.cu")
    assert not list(tmp_path.iterdir())
