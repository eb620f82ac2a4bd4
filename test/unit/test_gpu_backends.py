"""PTX and CUDA C: taken by NVIDIA's tools where these are installed, and run on the CPU, a thread for each thread."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import lamina
from lamina import te
from lamina.backends import cuda, nvptx, rocm
from lamina.backends.llvm.device.compile import DeviceCodeError, device_code
from lamina.backends.nvptx.target import PTX_VERSION, nvptx_target
from lamina.errors import InputError, UsageError
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline

from . import gpu_on_cpu, gpu_programs
from .gpu_programs import PIPELINE
from .test_gpu_passes import check, lowered

pytestmark = pytest.mark.slow

CTX = LaminaContext()
TILE = {"vy": 2, "vx": 2, "ty": 4, "tx": 4, "iy": 2, "ix": 2, "kk": 4}
TWO_WARPS = TILE | {"tx": 16}

PROGRAMS = {
    **{f"vadd_{n}": gpu_programs.vector_add(n) for n in (0, 1, 63, 64, 65, 1000)},
    "vadd_wide": gpu_programs.vector_add_wide(512),
    "matmul": gpu_programs.matmul(32, 64, 16, TWO_WARPS),
    "matmul_registers": gpu_programs.matmul(32, 64, 16, TWO_WARPS, registers=True),
    "matmul_tails": gpu_programs.matmul(19, 23, 7, TILE),
    "stencil": gpu_programs.stencil(9, 14, 4, 4),
    "softmax": gpu_programs.softmax(3, 37, 8),
    "reversal": gpu_programs.reversal(3, 8),
    "row_sum": gpu_programs.row_sum(5, 13, 2, 5, True),
    "row_sum_outer": gpu_programs.row_sum(5, 13, 2, 4, False),
    "nested_sums": gpu_programs.nested_sums(7, 9, 3, 4, 3),
    "argmax": gpu_programs.argmax(3, 17, 4),
}


def installed(tool: str) -> str | None:
    found = shutil.which(tool)
    if found is None:
        found = next((str(p) for p in sorted(Path("/usr/local").glob(f"cuda*/bin/{tool}"))), None)
    return found


PTXAS, NVCC = installed("ptxas"), installed("nvcc")


@pytest.fixture(scope="module")
def modules() -> dict[str, ModuleOp]:
    return {name: lowered(p, PIPELINE) for name, p in PROGRAMS.items()}


# -- run on the CPU ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cuda_library(modules: dict[str, ModuleOp], tmp_path_factory: pytest.TempPathFactory) -> Any:
    texts = {name: (m, cuda.compile_device(m, "sm_80")) for name, m in modules.items()}
    return gpu_on_cpu.build_cuda(texts, tmp_path_factory.mktemp("cuda"))


@pytest.fixture(scope="module")
def llvm_library(modules: dict[str, ModuleOp], tmp_path_factory: pytest.TempPathFactory) -> Any:
    texts = {name: (m, nvptx.llvm_text(m, "sm_80")) for name, m in modules.items()}
    return gpu_on_cpu.build_llvm(texts, tmp_path_factory.mktemp("llvm"))


needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")


@needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_cuda_c_gives_what_numpy_gives(name: str, modules: dict[str, ModuleOp], cuda_library: Any) -> None:
    program = PROGRAMS[name]
    check(program, gpu_on_cpu.run(modules[name], cuda_library, name, program.inputs))


@needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_llvm_text_gives_what_numpy_gives(name: str, modules: dict[str, ModuleOp], llvm_library: Any) -> None:
    program = PROGRAMS[name]
    check(program, gpu_on_cpu.run(modules[name], llvm_library, name, program.inputs))


@pytest.fixture(scope="module")
def amd_library(modules: dict[str, ModuleOp], tmp_path_factory: pytest.TempPathFactory) -> Any:
    texts = {name: (m, rocm.llvm_text(m, "gfx90a")) for name, m in modules.items()}
    return gpu_on_cpu.build_llvm(texts, tmp_path_factory.mktemp("amd"))


@needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_llvm_text_for_amd_gives_what_numpy_gives(name: str, modules: dict[str, ModuleOp], amd_library: Any) -> None:
    program = PROGRAMS[name]
    check(program, gpu_on_cpu.run(modules[name], amd_library, name, program.inputs))


@needs_compiler
def test_a_schedule_written_for_tvm_runs(tmp_path: Path) -> None:
    """The tutorial's matrix product: tiles in shared memory that the threads of a block fetch together."""
    a, b = te.placeholder((32, 32), name="A"), te.placeholder((32, 32), name="B")
    k = te.reduce_axis((0, 32), name="k")

    def product(i: Any, j: Any) -> Any:
        return te.sum(a[i, k] * b[k, j], axis=k)

    c = te.compute((32, 32), product, name="C")
    s = te.create_schedule(c.op)
    aa, bb, local = s.cache_read(a, "shared", [c]), s.cache_read(b, "shared", [c]), s.cache_write(c, "local")
    axes = [te.thread_axis(f"{kind}.{axis}") for kind in ("blockIdx", "threadIdx") for axis in "yx"]
    y, x = s[c].op.axis
    by, yi = s[c].split(y, factor=16)
    bx, xi = s[c].split(x, factor=16)
    ty, yi = s[c].split(yi, nparts=4)
    tx, xi = s[c].split(xi, nparts=4)
    s[c].reorder(by, bx, ty, tx, yi, xi)
    s[local].compute_at(s[c], tx)
    ko, ki = s[local].split(s[local].op.reduce_axis[0], factor=8)
    s[local].reorder(ko, ki, *s[local].op.axis)
    for tile in (aa, bb):
        s[tile].compute_at(s[local], ko)
        fused = s[tile].fuse(*s[tile].op.axis)
        t1, fused = s[tile].split(fused, nparts=4)
        t2, fused = s[tile].split(fused, nparts=4)
        s[tile].bind(t1, axes[2])
        s[tile].bind(t2, axes[3])
    for loop, axis in zip((by, bx, ty, tx), axes, strict=True):
        s[c].bind(loop, axis)
    module = lamina.lower(s, [a, b, c], simple_mode=True)
    for p in parse_pipeline(PIPELINE):
        p.apply(CTX, module)
    text = cuda.compile_device(module, "sm_80")
    assert text.count("__shared__") == 2
    rng = np.random.default_rng(0)
    left, right = (rng.integers(-4, 5, (32, 32)).astype(np.float32) for _ in range(2))
    library = gpu_on_cpu.build_cuda({"tvm": (module, text)}, tmp_path)
    (got,) = gpu_on_cpu.run(module, library, "tvm", [left, right])
    np.testing.assert_array_equal(got, left @ right)


# -- NVIDIA's tools ------------------------------------------------------------------------------------------------


def assembled(ptx: str, arch: str, folder: Path) -> str:
    """What ptxas says of a text that it takes."""
    assert PTXAS is not None
    path = folder / "kernel.ptx"
    path.write_text(ptx)
    done = subprocess.run(
        [PTXAS, "-v", "-arch", arch, "-o", str(folder / "kernel.cubin"), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:2000]
    return done.stderr


@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "vadd_0"])
def test_ptxas_takes_the_ptx(name: str, arch: str, modules: dict[str, ModuleOp], tmp_path: Path) -> None:
    told = assembled(nvptx.compile_device(modules[name], arch), arch, tmp_path)
    assert "spill" not in told or " 0 bytes spill stores, 0 bytes spill loads" in told


@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed")
@pytest.mark.parametrize("arch", PTX_VERSION)
def test_every_architecture_assembles(arch: str, modules: dict[str, ModuleOp], tmp_path: Path) -> None:
    assembled(nvptx.compile_device(modules["softmax"], arch), arch, tmp_path)


@pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")
@pytest.mark.parametrize(
    ("name", "arch"),
    [
        ("vadd_65", "sm_80"),
        ("vadd_wide", "sm_90"),
        ("matmul_tails", "sm_90"),
        ("softmax", "sm_80"),
        ("argmax", "sm_90"),
    ],
)
def test_nvcc_takes_the_cuda_c(name: str, arch: str, modules: dict[str, ModuleOp], tmp_path: Path) -> None:
    assert NVCC is not None
    path = tmp_path / f"{name}.cu"
    path.write_text(cuda.compile_module(modules[name], arch))
    done = subprocess.run(
        [NVCC, "-arch", arch, "-ptx", "-Werror", "all-warnings", "-o", str(tmp_path / "out.ptx"), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:2000]


# -- what the texts are made of --------------------------------------------------------------------------------------


def test_vectors_are_one_access(modules: dict[str, ModuleOp]) -> None:
    ptx = nvptx.compile_device(modules["vadd_wide"], "sm_90")
    assert "ld.global.nc.v4" in ptx and "st.global.v4" in ptx
    text = cuda.compile_device(modules["vadd_wide"], "sm_90")
    assert "*reinterpret_cast<const float4*>(A + " in text and "make_float4(" in text


def test_shared_memory_is_the_block_s(modules: dict[str, ModuleOp]) -> None:
    ptx = nvptx.compile_device(modules["matmul"], "sm_90")
    assert "st.shared" in ptx and "ld.shared" in ptx and "bar.sync" in ptx
    assert ".maxntid 16, 4" in ptx
    text = cuda.compile_device(modules["matmul"], "sm_90")
    assert text.count("__shared__") == 2 and text.count("__syncthreads();") == 2


def test_elements_in_registers_stay_there(modules: dict[str, ModuleOp]) -> None:
    """16 elements a thread: 16 multiplications for 4 + 4 loads of the inner loop, and no memory of the thread's own."""
    ptx = nvptx.compile_device(modules["matmul_registers"], "sm_90")
    assert ptx.count("fma.rn.f32") == 16 and ptx.count("ld.shared") == 8
    assert ".local" not in ptx and ptx.count("st.global") == 16


def test_threads_of_one_warp_wait_alone(modules: dict[str, ModuleOp]) -> None:
    assert "bar.warp.sync" in nvptx.compile_device(modules["matmul_tails"], "sm_90")
    assert "__syncwarp();" in cuda.compile_device(modules["matmul_tails"], "sm_90")


def test_what_is_only_read_is_constant(modules: dict[str, ModuleOp]) -> None:
    text = cuda.compile_device(modules["vadd_65"], "sm_90")
    assert "vadd_kernel0(long long n_, const float* __restrict__ A, const float* __restrict__ B, float* " in text
    assert "__launch_bounds__(64)" in text


def test_an_empty_grid_is_not_launched(modules: dict[str, ModuleOp]) -> None:
    text = cuda.compile_module(modules["vadd_65"], "sm_90")
    assert "if (((n + 63) / 64) > 0) vadd_kernel0<<<dim3(((n + 63) / 64)), dim3(64)>>>(n, A, B, c_out);" in text


# -- mistakes ----------------------------------------------------------------------------------------------------------


def test_an_unknown_architecture_is_named(modules: dict[str, ModuleOp]) -> None:
    with pytest.raises(UsageError, match="no GPU architecture 'sm_1'; it is one of sm_75, sm_80"):
        nvptx.compile_device(modules["vadd_1"], "sm_1")


@pytest.mark.parametrize("compile_device", [nvptx.compile_device, cuda.compile_device])
def test_a_module_without_kernels(compile_device: Any) -> None:
    with pytest.raises(InputError, match="the module has no kernels; bind loops to threads"):
        compile_device(ModuleOp([]), "sm_90")


def kernel(body: str, type_: str = "f32") -> ModuleOp:
    text = f"""
    tir.func @k(%x: memref<8x{type_}>, %y: memref<8x{type_}>) attributes {{device, outputs = 1 : i64}} {{
      tir.for %t = 0 to 8 thread "threadIdx.x" "t" {{
        %v = tir.load %x[%t] : memref<8x{type_}>
        {body}
        tir.store %r, %y[%t] : memref<8x{type_}>
      }}
    }}"""
    return Parser(CTX, text).parse_module()


@pytest.mark.parametrize(
    ("op", "type_", "said"),
    [
        ("math.sin", "f32", "llvm.intr.sin of f32 has no PTX"),
        ("math.exp", "f64", "llvm.intr.exp of f64 has no PTX"),
        ("math.erf", "f64", "needs erf, which PTX has not"),
    ],
)
def test_what_has_no_ptx_is_refused_by_name(op: str, type_: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        nvptx.compile_device(kernel(f"%r = {op} %v : {type_}", type_), "sm_90")


def test_cuda_c_has_more_functions_than_ptx() -> None:
    assert "sinf(v)" in cuda.compile_device(kernel("%r = math.sin %v : f32"), "sm_90")
    with pytest.raises(InputError, match="cuda: math.ctpop of i32 has no row"):
        cuda.compile_device(kernel("%r = math.ctpop %v : i32", "i32"), "sm_90")


def test_the_end_of_llvm_is_told() -> None:
    """Its process is not ours."""
    text = "declare float @llvm.exp.f32(float)\ndefine ptx_kernel void @k(ptr %p) {\n"
    text += "%x = load float, ptr %p\n%y = call float @llvm.exp.f32(float %x)\nstore float %y, ptr %p\nret void\n}\n"
    with pytest.raises(DeviceCodeError, match="LLVM ends with status .* on a kernel for sm_90"):
        device_code(text, nvptx_target("sm_90"), "asm")
    with pytest.raises(DeviceCodeError):
        device_code("no assembly", nvptx_target("sm_90"), "asm")
