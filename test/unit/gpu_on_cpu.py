"""Runs kernels of a GPU on the CPU: each thread of a block a thread of the machine, the barrier a real one.

CUDA C goes through g++ with a few macros; the LLVM assembly of the NVPTX target through LLVM for this machine, its
special registers and barriers as functions. Both are linked with one driver that starts the threads of a block.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import SSAValue

from lamina.backends.cpu.jit import compile_object, named_target
from lamina.dialects.index.linear import Linear
from lamina.dialects.index.sizes import argument_extents
from lamina.dialects.scalar.oracles import element_dtype
from lamina.dialects.tir.launch import DEVICE, LaunchOp
from lamina.dialects.tir.memory import AllocOp
from lamina.dialects.tir.ops import FuncOp
from lamina.interpreters.tir_memory import output_range

Array = np.ndarray[Any, Any]

# Threads as C has them: to read <thread> and <vector> takes g++ longer than all kernels of a test.
DRIVER = r"""
#include <cmath>
#include <cstring>
#include <pthread.h>
struct Dim { unsigned x, y, z; };
static thread_local Dim threadIdx, blockIdx;
static pthread_barrier_t cta;
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(n)
#define __align__(n) __attribute__((aligned(n)))
#define __syncthreads() pthread_barrier_wait(&cta)
#define __syncwarp() pthread_barrier_wait(&cta)
struct float4 { float x, y, z, w; };
struct float2 { float x, y; };
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float __int_as_float(int v) { float f; memcpy(&f, &v, 4); return f; }
static inline int __float_as_int(float v) { int i; memcpy(&i, &v, 4); return i; }
static inline double __longlong_as_double(long long v) { double f; memcpy(&f, &v, 8); return f; }
static inline long long __double_as_longlong(double v) { long long i; memcpy(&i, &v, 8); return i; }
using std::signbit;
extern "C" {
int sreg_tid_x() { return threadIdx.x; }
int sreg_tid_y() { return threadIdx.y; }
int sreg_tid_z() { return threadIdx.z; }
int sreg_ctaid_x() { return blockIdx.x; }
int sreg_ctaid_y() { return blockIdx.y; }
int sreg_ctaid_z() { return blockIdx.z; }
void cta_wait(int) { pthread_barrier_wait(&cta); }
}
struct Thread {
  pthread_t id;
  Dim block, thread;
  void (*call)(void **);
  void **args;
};
static void *begin(void *given) {
  const Thread *t = static_cast<Thread *>(given);
  blockIdx = t->block;
  threadIdx = t->thread;
  t->call(t->args);
  return nullptr;
}
static void start(const int *g, const int *b, void (*call)(void **), void **args) {
  int count = b[0] * b[1] * b[2];
  pthread_barrier_init(&cta, nullptr, count);
  Thread *threads = new Thread[count];
  for (int n = 0; n < g[0] * g[1] * g[2]; ++n) {
    Dim block = {unsigned(n % g[0]), unsigned(n / g[0] % g[1]), unsigned(n / g[0] / g[1])};
    for (int t = 0; t < count; ++t) {
      Dim thread = {unsigned(t % b[0]), unsigned(t / b[0] % b[1]), unsigned(t / b[0] / b[1])};
      threads[t] = {{}, block, thread, call, args};
      if (pthread_create(&threads[t].id, nullptr, begin, &threads[t])) __builtin_abort();
    }
    for (int t = 0; t < count; ++t) pthread_join(threads[t].id, nullptr);
  }
  delete[] threads;
  pthread_barrier_destroy(&cta);
}
"""


def kernels_of(module: ModuleOp) -> list[FuncOp]:
    return [op for op in module.ops if isinstance(op, FuncOp) and DEVICE in op.attributes]


def _entry(symbol: str, target: str, kernel: FuncOp) -> str:
    """`extern "C" void run_SYMBOL(grid, block, args)`, which starts a kernel with the types of its arguments."""
    types = ["long long" if isinstance(a.type, IndexType) else "void *" for a in kernel.body.block.args]
    given = [f"*(long long *)a[{n}]" if t == "long long" else f"a[{n}]" for n, t in enumerate(types)]
    return (
        f"static void call_{symbol}(void **a) {{ ((void (*)({', '.join(types)}))&{target})({', '.join(given)}); }}\n"
        f'extern "C" void run_{symbol}(const int *g, const int *b, void **a) {{ start(g, b, call_{symbol}, a); }}\n'
    )


def _built(source: str, objects: Sequence[Path], folder: Path) -> ctypes.CDLL:
    path = folder / "driver.cpp"
    path.write_text(source)
    library = folder / "kernels.so"
    done = subprocess.run(
        ["g++", "-std=c++17", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-pthread", "-o", str(library), str(path)]
        + [str(o) for o in objects],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:4000]
    return ctypes.CDLL(str(library))


def build_cuda(programs: dict[str, tuple[ModuleOp, str]], folder: Path) -> ctypes.CDLL:
    """A library of the kernels of some modules, from their CUDA C; symbols are `run_<name>_<kernel>`."""
    source = DRIVER
    for name, (module, text) in programs.items():
        source += f"namespace {name} {{\n" + text.replace('extern "C" ', "") + "}\n"
        for k in kernels_of(module):
            source += _entry(f"{name}_{k.sym_name.data}", f"{name}::{k.sym_name.data}", k)
    return _built(source, [], folder)


def build_llvm(programs: dict[str, tuple[ModuleOp, str]], folder: Path) -> ctypes.CDLL:
    """The same from LLVM assembly for the NVPTX or the AMDGPU target."""
    source = DRIVER
    objects: list[Path] = []
    for name, (module, text) in programs.items():
        text = re.sub(r"target triple.*\n", "", text)
        text = re.sub(r"attributes #(\d+) = .*", r"attributes #\1 = { nounwind }", text)
        text = re.sub(r"@llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.([xyz])", r"@sreg_\1_\2", text)
        for number, register in (("workitem", "tid"), ("workgroup", "ctaid")):
            text = text.replace(f"@llvm.amdgcn.{number}.id.", f"@sreg_{register}_")
        text = text.replace("call void @llvm.amdgcn.s.barrier()", "call void @cta_wait(i32 0)")
        text = text.replace("declare void @llvm.amdgcn.s.barrier()", "declare void @cta_wait(i32)")
        text = text.replace('fence syncscope("workgroup")', "fence").replace("amdgpu_kernel ", "")
        barriers = re.findall(r"^declare void @llvm\.nvvm\.bar\S+\(i32\)\n", text, re.M)
        for extra in barriers[1:]:
            text = text.replace(extra, "")
        text = re.sub(r"@llvm\.nvvm\.bar\S+\(", "@cta_wait(", text)
        text = text.replace("addrspacecast ptr addrspace(3)", "bitcast ptr")
        text = re.sub(r",? addrspace\([135]\)", "", text)
        text = text.replace("ptx_kernel ", "")
        for k in kernels_of(module):
            symbol = f"{name}_{k.sym_name.data}"
            text = text.replace(f"@{k.sym_name.data}(", f"@{symbol}(")
            source += f'extern "C" void {symbol}();\n' + _entry(symbol, symbol, k)
        path = folder / f"{name}.o"
        path.write_bytes(compile_object(text, named_target("x86-64")))
        objects.append(path)
    return _built(source, objects, folder)


def run(module: ModuleOp, library: ctypes.CDLL, name: str, inputs: Sequence[Any]) -> list[Array]:
    """The outputs of the host function of a module, its launches run by a library."""
    host = next(op for op in module.ops if isinstance(op, FuncOp) and DEVICE not in op.attributes)
    args = host.body.block.args
    sizes: dict[Any, int] = {a: int(v) for a, v in zip(args, inputs, strict=False) if isinstance(a.type, IndexType)}
    values: dict[SSAValue, Any] = dict(sizes)

    def extents(forms: Sequence[Linear]) -> tuple[int, ...]:
        return tuple(int(f.evaluate(sizes)) for f in forms)

    for n, argument in enumerate(args):
        if not isinstance(argument.type, IndexType):
            shape = extents(argument_extents(argument, host.arg_attrs))  # type: ignore[arg-type]
            fresh = np.full(shape, -77, element_dtype(argument.type))
            values[argument] = np.ascontiguousarray(inputs[n]) if n < len(inputs) else fresh
    for op in host.body.block.ops:
        if isinstance(op, AllocOp):
            values[op.result] = np.full(extents(op.extents()), -77, element_dtype(op.result.type))
            continue
        assert isinstance(op, LaunchOp)
        grid, block = (
            (ctypes.c_int * 3)(*(extents(e) + (1, 1, 1))[:3]) for e in (op.grid_extents(), op.block_extents())
        )
        if 0 in (*grid, *block):
            continue
        given = [values[a] for a in op.arguments]
        numbers = [ctypes.c_longlong(v) if isinstance(v, int) else None for v in given]
        pointers = [
            ctypes.addressof(number) if number is not None else v.ctypes.data
            for v, number in zip(given, numbers, strict=True)
        ]
        start: Callable[..., None] = library[f"run_{name}_{op.callee.root_reference.data}"]
        start(grid, block, (ctypes.c_void_p * len(pointers))(*pointers))
    return [values[a] for a in args[slice(*output_range(host))]]
