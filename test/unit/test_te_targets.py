"""Targets of `lamina.build`: GPUs as text, this machine with and without checks, and how targets are written."""

# The functions of programs are lambdas, as TVM's users write them.
# pyright: standard
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.parser import Parser

import lamina
from lamina.compat import tvm
from lamina.compat.tvm import te
from lamina.dialects.machine_spec import TargetSpec
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.ir.context import LaminaContext
from lamina.ir.targets import spec_of
from lamina.tensor.program import te_module
from lamina.tensor.target import target_of

from .host_features import needs
from .te_tutorials import Calls, cuda_convolution, intrinsics


def vector_add(tgt: str) -> Any:
    """TVM's first program, whole."""
    tgt_host = "llvm"
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.placeholder((n,), name="B")
    C = te.compute(A.shape, lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    bx, tx = s[C].split(C.op.axis[0], factor=64)
    if tgt == "cuda" or tgt.startswith("rocm") or tgt.startswith("opencl") or tgt.startswith("nvptx"):
        s[C].bind(bx, te.thread_axis("blockIdx.x"))
        s[C].bind(tx, te.thread_axis("threadIdx.x"))
    return tvm.build(s, [A, B, C], tgt, target_host=tgt_host, name="myadd")


def test_vector_add_for_this_machine() -> None:
    fadd = vector_add("llvm")
    for size in (0, 1, 63, 64, 65, 10**6 + 1):
        a, b = np.random.default_rng(size).random((2, size), np.float32)
        c = np.full(size, 7, np.float32)
        fadd(tvm.nd.array(a), b, c)
        np.testing.assert_array_equal(c, a + b)


def test_vector_add_as_cuda() -> None:
    fadd = vector_add("cuda")
    (kernels,) = fadd.imported_modules
    text = kernels.get_source()
    assert kernels.type_key == "cuda" and text == fadd.get_source("cuda")
    assert "__global__ void __launch_bounds__(64) myadd_kernel0(" in text
    assert "blockIdx.x" in text and "threadIdx.x" in text and "if (" in text
    assert "tir.launch @myadd_kernel0 grid [(%n + 63) floordiv 64] block [64]" in fadd.get_source()
    assert 'te.bind %ii "threadIdx.x"' in fadd.get_source("te")


def test_vector_add_as_ptx() -> None:
    fadd = vector_add("nvptx")
    text = fadd.imported_modules[0].get_source()
    assert fadd.imported_modules[0].type_key == "ptx"
    assert ".visible .entry myadd_kernel0(" in text and "%ctaid.x" in text and ".target sm_80" in text
    assert "__global__" in fadd.get_source("cuda")
    assert ".target sm_90" in vector_add("nvptx -mcpu=sm_90").get_source("ptx")


def test_kernels_of_a_gpu_are_not_run() -> None:
    fadd = vector_add("cuda")
    a = np.ones(4, np.float32)
    for call in (fadd, fadd["myadd"], fadd.time_evaluator("myadd", tvm.cuda(0))):
        with pytest.raises(UnsupportedError, match="myadd: kernels for 'cuda' are compiled but not run") as error:
            call(a, a, a)
        assert "\n" not in str(error.value)
    with pytest.raises(UsageError, match="no format 'ptxx'; did you mean 'ptx'"):
        fadd.get_source("ptxx")
    with pytest.raises(UsageError, match="no function 'other'"):
        fadd.get_function("other")


def two_stages() -> tuple[Any, Any, Any, Any]:
    A = te.placeholder((256,), name="A")
    B = te.compute(A.shape, lambda i: A[i] + 1.0, name="B")
    C = te.compute(A.shape, lambda i: B[i] * 2.0, name="C")
    return te.create_schedule(C.op), A, B, C


@pytest.mark.parametrize("target", ["cuda", "nvptx"])
def test_what_runs_on_no_thread_is_refused(target: str) -> None:
    s, A, B, C = two_stages()
    with pytest.raises(InputError, match="no loop is bound to threads, so there is no kernel"):
        lamina.build(s, [A, C], target)
    s[C].bind(C.op.axis[0], te.thread_axis("threadIdx.x"))
    with pytest.raises(InputError, match="A is used outside of all kernels") as error:
        lamina.build(s, [A, C], target)
    assert error.value.where.startswith(f"{__file__}:")
    s[B].compute_inline()
    assert "(256)" in lamina.build(s, [A, C], "cuda").get_source("cuda")


def test_what_a_block_has_at_most() -> None:
    s, A, B, C = two_stages()
    s[C].bind(C.op.axis[0], te.thread_axis("threadIdx.x"))
    s[B].compute_inline()
    with pytest.raises(LaminaError, match="has 256 threads; at most 128 are possible"):
        lamina.build(s, [A, C], {"kind": "cuda", "arch": "sm_90", "max_threads_per_block": 128})
    with pytest.raises(UsageError, match="sanitize checks what runs here"):
        lamina.build(s, [A, C], "cuda", sanitize=True)


@pytest.mark.parametrize("tutorial", [intrinsics, cuda_convolution], ids=lambda t: t.__name__)
def test_tutorials_for_gpus_as_kernels(tutorial: Any) -> None:
    calls = Calls()
    program = tutorial(calls)
    calls.make(program.schedule)
    assert program.threads
    built = lamina.build(program.schedule, program.args, "cuda")
    text = built.get_source("cuda")
    assert text.count("__global__") == 1
    if tutorial is cuda_convolution:
        assert text.count("__shared__") == 2 and "float4" in text and "__sync" in text
        assert ".shared" in built.get_source("ptx")


def row_sums() -> tuple[Any, list[Any]]:
    """TVM's tutorial on reductions: rows of any length, summed by the threads of a block together."""
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), "k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    ko, ki = s[B].split(B.op.reduce_axis[0], factor=16)
    BF = s.rfactor(B, ki)
    xo, xi = s[B].split(s[B].op.axis[0], factor=32)
    s[B].bind(xo, te.thread_axis("blockIdx.x"))
    s[B].bind(xi, te.thread_axis("threadIdx.y"))
    tx = te.thread_axis("threadIdx.x")
    s[B].bind(s[B].op.reduce_axis[0], tx)
    s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
    s[B].set_store_predicate(tx.var.equal(0))
    return s, [A, B]


def test_a_sum_over_threads_as_kernels() -> None:
    text = lamina.build(*row_sums(), "cuda").get_source("cuda")
    assert "__launch_bounds__(512)" in text and ("__shared__" in text or "__shfl" in text), text
    assert ".entry" in lamina.build(*row_sums(), "nvptx").get_source("ptx")


@pytest.mark.parametrize(("rows", "columns"), [(5, 64), (33, 70), (1, 1), (64, 15), (0, 3), (3, 0)])
def test_a_sum_over_threads_runs_in_turn_on_this_machine(rows: int, columns: int) -> None:
    a, out = np.random.default_rng(0).random((rows, columns), np.float32), np.full(rows, 7, np.float32)
    lamina.build(*row_sums())(a, out)
    np.testing.assert_allclose(out, a.sum(1), rtol=1e-5)


def test_a_kernel_that_checks_itself() -> None:
    A = te.placeholder((8,), name="A")
    places = te.placeholder((8,), "int32", name="places")
    B = te.compute((8,), lambda i: A[places[i]], name="B")
    s = te.create_schedule(B.op)
    a, where, out = np.arange(8, dtype=np.float32), np.arange(8, dtype=np.int32)[::-1].copy(), np.empty(8, np.float32)
    checked = lamina.build(s, [A, places, B], sanitize=True)
    checked(a, where, out)
    np.testing.assert_array_equal(out, a[::-1])
    where[3] = 8
    with pytest.raises(LaminaError, match="A") as error:
        checked(a, where, out)
    assert "\n" not in str(error.value)


# -- modules instead of schedules ----------------------------------------------------------------------------------


def test_what_lower_gives_can_be_built() -> None:
    n, scale = te.var("n"), te.var("scale", "float32")
    A = te.placeholder((n * 2,), name="A")
    B = te.compute((n,), lambda i: A[i * 2] * scale, name="B")
    s = te.create_schedule(B.op)
    s[B].split(B.op.axis[0], 8)
    kernel = tvm.build(tvm.lower(s, [scale, A, B]), target="llvm", name="halved")
    a, out = np.arange(14, dtype=np.float32), np.empty(7, np.float32)
    kernel(np.float32(3).reshape(()), a, out)
    np.testing.assert_array_equal(out, a[::2] * 3)
    assert kernel.entry_name == "halved"
    with pytest.raises(LaminaError, match=r"halved.A.shape\[0\] has an unsatisfied constraint: 13 == n \* 2"):
        kernel(np.float32(3).reshape(()), a[:13], out)


def test_a_program_that_was_written_as_text_can_be_built() -> None:
    s, A, B, C = two_stages()
    s[C].bind(C.op.axis[0], te.thread_axis("threadIdx.x"))
    s[B].compute_inline()
    module = te_module(s, [A, C])[0]
    again = Parser(LaminaContext(), str(module)).parse_module()
    a, out = np.arange(256, dtype=np.float32), np.empty(256, np.float32)
    lamina.build(again, name="main")(a, out)
    np.testing.assert_array_equal(out, (a + 1) * 2)
    assert "again_kernel0" in lamina.build(again, target="cuda", name="again").get_source("cuda")
    again.body.block.add_op(next(iter(again.ops)).clone())
    with pytest.raises(InputError, match="build takes a module of one te.func or tir.func, here is @main, @main"):
        lamina.build(again)
    with pytest.raises(LaminaError, match="build takes a schedule and the arguments"):
        lamina.build(s)


# -- how targets are written ---------------------------------------------------------------------------------------


def test_options_of_a_target() -> None:
    assert str(target_of("llvm -mcpu=x86-64-v2 -keys=cpu")) == "llvm -mcpu=x86-64-v2 -keys=cpu"
    machine = target_of("llvm -mcpu=nehalem -num-cores=1").attr
    assert machine is not None and (machine.cpu.data, machine.vector_bits.data) == ("x86-64-v2", 128)
    assert machine.threads.data == 1
    narrow = target_of("llvm -mattr=-avx512f,-avx").attr
    assert narrow is not None and narrow.vector_bits.data == 128
    assert not [f for f in narrow.feature_list() if f.startswith("+avx512")]
    assert target_of(tvm.target.Target("cuda -arch=sm_90", host="llvm")).arch == "sm_90"
    assert target_of({"kind": "cuda", "arch": "sm_86"}).arch == "sm_86"
    assert str(tvm.target.cuda(arch="sm_86")) == "cuda -arch=sm_86"
    assert str(tvm.target.llvm("-num-cores=1")) == "llvm -num-cores=1"
    with pytest.raises(UsageError, match="a host is 'llvm', not 'cuda'"):
        tvm.target.Target("cuda", host="cuda")
    enabled = [t for t in ("llvm", "cuda", "nvptx", "llvm -mcpu=nehalem", "") if tvm.runtime.enabled(t)]
    assert enabled == ["llvm", "llvm -mcpu=nehalem"]
    assert [t for t in ("llvm", "cuda") if tvm.testing.device_enabled(t)] == ["llvm"]
    with tvm.target.Target("llvm") as found:
        assert target_of(found) is found


@pytest.mark.parametrize(
    ("cpu", "level", "bits"),
    [("core-avx2", "x86-64-v3", 256), ("znver3", "x86-64-v3", 256), ("znver4", "x86-64-v4", 512)],
)
def test_processors_by_their_level(cpu: str, level: str, bits: int) -> None:
    needs(level)
    machine = target_of(f"llvm -mcpu={cpu}").attr
    assert machine is not None and (machine.cpu.data, machine.vector_bits.data) == (level, bits)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("cudaa", "no target 'cudaa'; did you mean 'cuda'"),
        ("c", "no target 'c'; there are llvm, cpu, cuda, nvptx"),
        ("llvm -mcpu=skylake-avx51", "no cpu 'skylake-avx51'; did you mean 'skylake-avx512'"),
        ("llvm -mcp=haswell", "target 'llvm' has no option 'mcp'; did you mean 'mcpu'"),
        ("llvm -num-cores=all", "-num-cores is a number, not 'all'"),
        ("llvm -mtriple=mips-linux-gnu", "no code is made for mips-linux-gnu; there are machines of x86_64, aarch64"),
        ("llvm -mtriple=armv7-linux-gnueabi", "no code is made for armv7-linux-gnueabi; armv7-linux-gnueabihf"),
        ("llvm -mtriple=aarch64-linux-musl", "no code is made for aarch64-linux-musl; aarch64-linux-gnu"),
        ("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a5", "no cpu 'cortex-a5' of aarch64; did you mean 'cortex-a5"),
        ("llvm -mtriple=aarch64-linux-gnu -mattr=-neon", "code for aarch64 needs neon"),
        ("llvm -mtriple=aarch64-linux-gnu -mattr=+dotprd", "no feature 'dotprd' of aarch64; did you mean 'dotprod'"),
        ("llvm -mtriple=armv7l-linux-gnueabihf -mfloat-abi=soft", "code for armv7 is not made with -mfloat-abi=soft"),
        ("llvm -mattr=avx2", "-mattr is a list such as"),
        ("cuda -arch=sm_1", "no GPU architecture 'sm_1'"),
        ("cuda -max_threads_per_block=many", "is a number, not 'many'"),
        ("", "a target is a string such as 'llvm'"),
        (7, "a target is a string such as 'llvm'"),
    ],
)
def test_targets_that_there_are_not(target: Any, message: str) -> None:
    with pytest.raises(LaminaError) as error:
        target_of(target)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("target", "triple", "threads"),
    [
        ("llvm -device=arm_cpu -mtriple=aarch64-linux-gnu -mcpu=cortex-a72", "aarch64-unknown-linux-gnu", None),
        ("llvm -mtriple=arm64-unknown-linux-gnu -num-cores=4", "aarch64-unknown-linux-gnu", 4),
        ("llvm -mtriple=aarch64 -mattr=+neon,+dotprod -mfloat-abi=hard", "aarch64-unknown-linux-gnu", None),
        ("llvm -mtriple=armv7l-linux-gnueabihf -keys=arm_cpu", "armv7-unknown-linux-gnueabihf", None),
        ("llvm -mtriple=arm-linux-gnueabihf", "armv7-unknown-linux-gnueabihf", None),
        ("llvm -mtriple=riscv64-linux-gnu -mabi=lp64d -num-cores=1", "riscv64-unknown-linux-gnu", 1),
    ],
)
def test_other_machines_by_their_triples(target: str, triple: str, threads: int | None) -> None:
    machine = target_of(target).attr
    assert machine is not None and machine.triple.data == triple and machine.vector_bits.data == 128
    assert threads is None or machine.threads.data == threads
    assert ("dotprod" in target) == ("+dotprod" in machine.features.data)
    # `lamina.compile` and the commands take the same.
    assert spec_of(target, 3 if threads is None else None) == TargetSpec.of(machine).with_threads(threads or 3)
    backend = spec_of(f"bnns, {target}", threads)
    assert backend.backends == "bnns" and backend.features == machine.features.data


@pytest.mark.parametrize("options", ["-mattr=-v", "-mcpu=sifive-u74", "-mattr=+zba,-v -mcpu=generic"])
def test_vectors_of_riscv_are_switched_off(options: str) -> None:
    machine = spec_of(f"llvm -mtriple=riscv64-unknown-linux-gnu {options}", 1)
    assert (machine.triple, machine.vector_bits) == ("riscv64-unknown-linux-gnu", 32)
    assert "+v" not in machine.feature_list() and ("+zba" in machine.feature_list()) == ("zba" in options)


def test_targets_of_json(tmp_path: Path) -> None:
    text = '{"kind": "llvm", "mtriple": "armv7l-linux-gnueabihf", "keys": ["arm_cpu"], "num-cores": 4}'
    (tmp_path / "board.json").write_text(text)
    for target in (text, str(tmp_path / "board.json")):
        assert spec_of(target, None) == spec_of("armv7", 4)
    assert spec_of('{"kind": "rv64gc"}', 1) == spec_of("rv64gc", 1)


@pytest.mark.parametrize(
    ("target", "threads", "message"),
    [
        ("no.json", None, "no.json: there is no such file"),
        ("{", None, "a target is no JSON"),
        ("[1].json", None, "[1].json: there is no such file"),
        ('{"mcpu": "x86-64-v3"}', None, "a target has no kind; as in"),
        ("lvm -mcpu=x", None, "unknown target 'lvm'"),
        ("cortex-m4 -mcpu=x", None, "the target 'cortex-m4' takes no options, here is -mcpu; options are"),
        ("bnns -fast, llvm", None, "the compiler bnns takes no options, here is '-fast'; as in 'openblas, cpu'"),
        ("llvm, openblas", None, "target 'llvm, openblas': the machine stands last"),
        ("llvm -num-cores=2", 3, "3 threads are asked for, and -num-cores=2; give one of the two"),
        ("llvm -num-cores=0", None, "-num-cores is a number, not '0'"),
        ("llvm -mtriple=riscv64-linux-gnu -mcpu=sifive-u75", 1, "no cpu 'sifive-u75' of riscv64; did you mean"),
        ("llvm -mtriple=rv64gc-linux-gnu", 1, "no code is made for rv64gc-linux-gnu; there are machines of x86_64"),
    ],
)
def test_targets_that_no_command_takes(target: str, threads: int | None, message: str) -> None:
    with pytest.raises(LaminaError) as error:
        spec_of(target, threads)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_a_kernel_for_another_machine_is_not_built() -> None:
    s, A, _, C = two_stages()
    with pytest.raises(UnsupportedError, match="code for aarch64 does not run here, this machine is"):
        lamina.build(s, [A, C], "llvm -mtriple=aarch64-linux-gnu")


def test_programs_are_called_from_this_machine() -> None:
    s, A, _, C = two_stages()
    with pytest.raises(UsageError, match="target_host is where programs are called from"):
        lamina.build(s, [A, C], "llvm", target_host="cuda")
