"""Target `opencl`: programs of threads as OpenCL C, run by a driver against NumPy; PoCL runs them on the processor."""

# The functions of programs are lambdas, as TVM's users write them.
# pyright: standard
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

import lamina
from lamina.backends import opencl
from lamina.compat import tvm
from lamina.compat.tvm import te
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.runtime import opencl as driver

from .opencl_driver import needs_driver, run_program
from .test_gpu_backends import PROGRAMS
from .test_gpu_passes import check
from .test_te_targets import row_sums, vector_add

OCLGRIND = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")
SIZES = (0, 1, 63, 64, 65, 10**6 + 1)


# -- the program of TVM's first tutorial ---------------------------------------------------------------------------


def test_the_text_of_vector_add() -> None:
    fadd = vector_add("opencl")
    (kernels,) = fadd.imported_modules
    text = kernels.get_source()
    assert kernels.type_key == "opencl" and text == fadd.get_source("opencl")
    assert "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\nvoid myadd_kernel0(const long n, " in text
    assert "get_group_id(0)" in text and "get_local_id(0)" in text and "fp64" not in text
    assert "__global__" in fadd.get_source("cuda") and ".entry" in fadd.get_source("ptx")
    assert "__kernel" in vector_add("cuda").get_source("opencl")


@needs_driver
def test_vector_add_runs() -> None:
    fadd = vector_add("opencl")
    dev = tvm.device("opencl", 0)
    assert dev.exist and tvm.runtime.enabled("opencl") and not tvm.opencl(99).exist
    for size in SIZES:
        a, b = np.random.default_rng(size).random((2, size), np.float32)
        c = tvm.nd.array(np.full(size, 7, np.float32), dev)
        fadd(tvm.nd.array(a, dev), tvm.nd.array(b, dev), c)
        tvm.testing.assert_allclose(c.numpy(), a + b, rtol=0)
        timing = fadd.time_evaluator("myadd", dev, number=2, repeat=3)(a, b, c)
        assert len(timing.results) == 3 and timing.mean >= 0


# -- shared memory, barriers, reductions by threads ----------------------------------------------------------------


def product(m: int, n: int, k: int, tile: int) -> tuple[Any, list[Any]]:
    """A product of matrices by blocks of tile x tile threads, which fetch tiles of both sides together."""
    a, b = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), name="r")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    s = te.create_schedule(c.op)
    left, right = s.cache_read(a, "shared", [c]), s.cache_read(b, "shared", [c])
    by, ty = s[c].split(c.op.axis[0], tile)
    bx, tx = s[c].split(c.op.axis[1], tile)
    ro, ri = s[c].split(r, tile)
    s[c].reorder(by, bx, ty, tx, ro, ri)
    y, x = te.thread_axis("threadIdx.y"), te.thread_axis("threadIdx.x")
    s[c].bind(by, te.thread_axis("blockIdx.y"))
    s[c].bind(bx, te.thread_axis("blockIdx.x"))
    s[c].bind(ty, y)
    s[c].bind(tx, x)
    for cached in (left, right):
        s[cached].compute_at(s[c], ro)
        for axis, thread in zip(s[cached].op.axis, (y, x), strict=True):
            _, inner = s[cached].split(axis, tile)
            s[cached].bind(inner, thread)
    return s, [a, b, c]


@needs_driver
@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 16), (19, 23, 7)])
def test_a_product_by_tiles_in_shared_memory(m: int, n: int, k: int) -> None:
    kernel = lamina.build(*product(m, n, k, 8), "opencl")
    text = kernel.get_source("opencl")
    assert text.count("__local float") == 2 and "barrier(CLK_LOCAL_MEM_FENCE" in text
    rng = np.random.default_rng(m)
    a, b = rng.integers(-4, 5, (m, k)).astype(np.float32), rng.integers(-4, 5, (k, n)).astype(np.float32)
    c = np.full((m, n), 7, np.float32)
    kernel(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


@needs_driver
@pytest.mark.parametrize(("rows", "columns"), [(5, 64), (33, 70), (1, 1), (64, 15), (0, 3), (3, 0)])
def test_a_sum_over_threads(rows: int, columns: int) -> None:
    a, out = np.random.default_rng(0).random((rows, columns), np.float32), np.full(rows, 7, np.float32)
    lamina.build(*row_sums(), "opencl")(a, out)
    np.testing.assert_allclose(out, a.sum(1), rtol=1e-5)


@needs_driver
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["vadd_wide", "stencil", "softmax", "reversal", "row_sum_outer", "nested_sums", "argmax"]
)
def test_programs_of_all_kinds(name: str) -> None:
    check(PROGRAMS[name], run_program(PROGRAMS[name]))


@pytest.mark.slow
@pytest.mark.skipif(not OCLGRIND.exists(), reason="no simulator of OpenCL: apt-get install oclgrind")
@pytest.mark.parametrize("barriers", [True, False])
def test_threads_race_without_their_barriers_alone(barriers: bool, tmp_path: Path) -> None:
    """In a process with another driver, which simulates each access of each thread."""
    (tmp_path / "oclgrind.icd").write_text(f"{OCLGRIND}\n")
    words = ["matmul_tails", "argmax", *([] if barriers else ["--without-barriers"])]
    done = subprocess.run(
        [sys.executable, "-m", "unit.opencl_driver", *words],
        env={**os.environ, "OCL_ICD_VENDORS": f"{tmp_path}/", "OCLGRIND_DATA_RACES": "1"},
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout == "Oclgrind Simulator\n", done.stderr[-2000:]
    assert ("data race" in done.stderr) == (not barriers), done.stderr[:2000]


@needs_driver
def test_kernels_with_a_buffer_between_them() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((n,), lambda i: b[i] * 2.0 + b[n - 1 - i], name="C")
    s = te.create_schedule(c.op)
    for stage in (b, c):
        outer, inner = s[stage].split(stage.op.axis[0], 32)
        s[stage].bind(outer, te.thread_axis("blockIdx.x"))
        s[stage].bind(inner, te.thread_axis("threadIdx.x"))
    kernel = lamina.build(s, [a, c], "opencl")
    assert kernel.get_source("opencl").count("__kernel") == 2
    for size in (77, 0, 32):  # the buffer between has another size each time
        x, out = np.random.default_rng(size).random(size, np.float32), np.full(size, 7, np.float32)
        kernel(x, out)
        np.testing.assert_allclose(out, (x + 1) * 2 + (x + 1)[::-1], rtol=1e-6)


@needs_driver
def test_a_loop_around_a_kernel_is_the_host_s() -> None:
    a = te.placeholder((4, 40), name="A")
    scale = te.var("scale", "float32")
    b = te.compute((4, 40), lambda j, i: a[j, i] * scale, name="B")
    s = te.create_schedule(b.op)
    s[b].bind(b.op.axis[1], te.thread_axis("threadIdx.x"))
    kernel = lamina.build(s, [scale, a, b], "opencl")
    assert "const long j" in kernel.get_source("opencl")
    x, out = np.random.default_rng(4).random((4, 40), np.float32), np.zeros((4, 40), np.float32)
    kernel(2.5, x, out)
    np.testing.assert_array_equal(out, x * np.float32(2.5))


@needs_driver
def test_places_that_data_tell() -> None:
    """Indices of 64 bits, although all sizes are small."""
    a, places = te.placeholder((50,), name="A"), te.placeholder((33,), "int64", name="places")
    g = te.compute((33,), lambda i: a[places[i]], name="G")
    s = te.create_schedule(g.op)
    s[g].bind(g.op.axis[0], te.thread_axis("threadIdx.x"))
    kernel = lamina.build(s, [a, places, g], "opencl")
    assert "typedef long index_t;" in kernel.get_source("opencl")
    x, where, out = np.arange(50, dtype=np.float32), np.arange(33)[::-1].copy(), np.zeros(33, np.float32)
    kernel(x, where, out)
    np.testing.assert_array_equal(out, x[where])


# -- element types ---------------------------------------------------------------------------------------------------


def doubled(dtype: str, threads: int = 32) -> Any:
    """y[i] = x[i] * x[i] + x[i], a block of threads for each part."""
    n = te.var("n")
    x = te.placeholder((n,), dtype, name="x")
    y = te.compute((n,), lambda i: x[i] * x[i] + x[i], name="y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(y.op.axis[0], threads)
    s[y].bind(outer, te.thread_axis("blockIdx.x"))
    s[y].bind(inner, te.thread_axis("threadIdx.x"))
    return lamina.build(s, [x, y], "opencl")


@needs_driver
@pytest.mark.parametrize(
    "dtype",
    ["float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"],
)
def test_types_of_elements(dtype: str) -> None:
    kernel = doubled(dtype)
    kind = np.dtype(getattr(ml_dtypes, dtype) if dtype == "bfloat16" else dtype)
    x = np.random.default_rng(1).integers(0, 7, 70).astype(kind)
    y = np.zeros(70, kind)
    kernel(x, y)
    np.testing.assert_array_equal(y.astype(np.float64), (x * x + x).astype(np.float64))
    assert ("cl_khr_fp64 : enable" in kernel.get_source("opencl")) == (dtype == "float64")


@needs_driver
def test_bits_and_choices() -> None:
    x = te.placeholder((37,), "int32", name="x")
    y = te.compute((37,), lambda i: x[i] % 3 == 1, name="y")
    z = te.compute((37,), lambda i: te.if_then_else(y[i], x[i], 0 - x[i]), name="z")
    s = te.create_schedule(z.op)
    for stage in (y, z):
        s[stage].bind(stage.op.axis[0], te.thread_axis("threadIdx.x"))
    kernel = lamina.build(s, [x, y, z], "opencl")
    values, bits, out = np.arange(37, dtype=np.int32), np.zeros(37, bool), np.zeros(37, np.int32)
    kernel(values, bits, out)
    np.testing.assert_array_equal(bits, values % 3 == 1)
    np.testing.assert_array_equal(out, np.where(bits, values, -values))


@needs_driver
def test_an_array_with_strides_is_written() -> None:
    whole = np.zeros((70, 2), np.float32)
    x = np.arange(70, dtype=np.float32)
    doubled("float32")(x, whole[:, 1])
    np.testing.assert_array_equal(whole[:, 1], x * x + x)
    assert not whole[:, 0].any()


# -- mistakes --------------------------------------------------------------------------------------------------------


def test_without_a_driver_a_call_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_library", lambda: None)
    monkeypatch.setattr(driver, "devices", lambda: ())
    fadd = vector_add("opencl")
    a = np.ones(4, np.float32)
    with pytest.raises(UnsupportedError, match="libOpenCL.so.1 is not installed; on Debian, pocl-opencl-icd") as error:
        fadd(a, a, np.empty(4, np.float32))
    assert "\n" not in str(error.value)
    assert not tvm.opencl(0).exist and not tvm.runtime.enabled("opencl")
    with pytest.raises(InputError, match=r"there is no device opencl\(0\)"):
        tvm.nd.array(a, tvm.opencl(0))


def test_arguments_that_do_not_fit() -> None:
    fadd = vector_add("opencl")
    a = np.ones(4, np.float32)
    for args, said in (
        ((a, a), "myadd takes 3 arguments"),
        ((a, a, np.ones(5, np.float32)), "unsatisfied constraint: 5 == n"),
        ((a, a.astype(np.float64), a.copy()), "myadd.B.dtype is expected to be float32, but got float64"),
    ):
        with pytest.raises(LaminaError, match=said):
            fadd(*args)


@needs_driver
def test_devices_that_there_are_not_or_that_differ() -> None:
    fadd = vector_add("opencl")
    a = np.ones(4, np.float32)
    arrays = [tvm.nd.array(a, tvm.opencl(0)) for _ in range(3)]
    arrays[1].device = tvm.opencl(99)
    with pytest.raises(UsageError, match="arrays of one call are on the devices 0, 99"):
        fadd(*arrays)
    for array in arrays:
        array.device = tvm.opencl(99)
    with pytest.raises(UnsupportedError, match="none of number 99"):
        fadd(*arrays)


@needs_driver
def test_what_a_driver_refuses_is_one_line() -> None:
    with pytest.raises(InputError, match=r"does not build the program: .*build failed \(-11\)") as error:
        driver.OpenClProgram(driver.device(), "__kernel void f() { no such thing; }")
    assert "\n" not in str(error.value)
    program = driver.OpenClProgram(driver.device(), "__kernel void f(__global int* x) { x[0] = 1; }")
    with pytest.raises(InputError, match="no kernel 'g'"):
        program.launch("g", [1], [1], [])
    buffer = driver.device().buffer(4)
    said = r"does not run f on \[1\] blocks of \[1048576\] threads: invalid work-(group|item) size"
    with pytest.raises(InputError, match=said):
        program.launch("f", [1], [1 << 20], [buffer])
    driver.device().release(buffer)


@needs_driver
def test_a_copy_of_the_process_is_told_that_it_has_no_devices() -> None:
    fadd = vector_add("opencl")
    a = np.ones(4, np.float32)
    fadd(a, a, a.copy())
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            fadd(a, a, a.copy())
        except UnsupportedError as error:
            os.write(writing, str(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with open(reading, "rb") as told:
        assert b"OpenCL programs do not run in a copy of the process" in told.read()


def test_options_of_the_target() -> None:
    with pytest.raises(UsageError, match="target 'opencl' has no option 'arch'"):
        vector_add("opencl -arch=sm_90")
    with pytest.raises(LaminaError, match="has 64 threads; at most 32 are possible"):
        vector_add("opencl -max_num_threads=32")
    assert tvm.target.Target("opencl").keys == ["opencl", "gpu"]


def test_a_kernel_of_any_name() -> None:
    from .test_gpu_backends import kernel

    module = kernel("%r = arith.addf %v, %v : f32")
    for op in module.ops:
        op.properties["sym_name"] = StringAttr("not a name")
    assert opencl.kernel_names(module) == {"not a name": "kernel_of_device"}
    assert "void kernel_of_device(" in opencl.compile_device(module)
