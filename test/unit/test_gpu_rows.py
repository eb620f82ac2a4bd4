"""Every op that CUDA C and PTX have a row for, on every type: the text computes what the tir interpreter says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from xdsl.dialects.builtin import (
    ModuleOp,
)

from lamina.backends import cuda, nvptx
from lamina.backends.cuda.rows import BITCASTS, ROWS
from lamina.dialects.index.linear import Linear
from lamina.dialects.tir.ops import FuncOp
from lamina.errors import InputError

from . import gpu_on_cpu
from .row_cases import COUNT, HALVES, agree, cases, expected, kernel, samples
from .test_gpu_backends import NVCC, PTXAS, assembled

pytestmark = pytest.mark.slow

CASES = cases(ROWS, BITCASTS)

RUNNABLE = [n for n, (_, operands, result, _) in CASES.items() if not {*operands, result} & set(HALVES.values())]


def launched(name: str) -> ModuleOp:
    """The kernel with a host function that launches it, for the harness."""
    from lamina.dialects.tir.launch import LaunchOp

    inner = kernel(name, CASES[name])
    types = [a.type for a in inner.body.block.args]
    host = FuncOp.make(name, types, 1)
    one, count = Linear(const=1), Linear(const=COUNT)
    host.body.block.add_op(LaunchOp.make(inner.sym_name.data, [one], [count], list(host.body.block.args)))
    return ModuleOp([inner, host])


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_every_row_of_cuda_c_computes_what_the_interpreter_does(tmp_path: Path) -> None:
    modules = {n: launched(n) for n in RUNNABLE}
    texts = {n: (m, cuda.compile_device(m, "sm_90")) for n, m in modules.items()}
    library = gpu_on_cpu.build_cuda(texts, tmp_path)
    wrong: list[str] = []
    for name, module in modules.items():
        inputs = samples(name, CASES[name])
        (got,) = gpu_on_cpu.run(module, library, name, inputs)
        want = expected(name, CASES[name], inputs)
        if not agree(name, got, want):
            where = np.flatnonzero(got != want)[:4]
            wrong.append(f"{name}: {[i[where] for i in inputs]} gives {got[where]}, not {want[where]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")
def test_nvcc_takes_every_row(tmp_path: Path) -> None:
    """Floats of 16 bits too."""
    path = tmp_path / "rows.cu"
    path.write_text(cuda.compile_device(ModuleOp([kernel(n, CASES[n]) for n in CASES]), "sm_80"))
    command = [cast(str, NVCC), "-arch", "sm_80", "-ptx", "-o", str(tmp_path / "rows.ptx"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]


def test_every_op_has_ptx_or_is_refused_by_name(tmp_path: Path) -> None:
    """LLVM does not end on any of them; ptxas, where installed, takes what it gives."""
    taken: list[FuncOp] = []
    refused: set[str] = set()
    for name in CASES:
        module = ModuleOp([kernel(name, CASES[name])])
        try:
            nvptx.llvm_text(module, "sm_80")
        except InputError as e:
            assert any(words in str(e) for words in ("has no PTX", "which PTX has not", "cannot stand in")), e
            refused.add(CASES[name][0].name)
            continue
        taken.append(kernel(name, CASES[name]))
    libm = "sin cos tan asin acos atan sinh cosh asinh acosh atanh log10 powf exp log log2 exp2 tanh erf log1p expm1"
    assert refused <= {f"math.{n}" for n in (*libm.split(), "cbrt", "atan2")}
    assert len(taken) > 250
    ptx = nvptx.compile_device(ModuleOp(taken), "sm_80")
    assert ptx.count(".entry") == len(taken)
    if PTXAS is not None:
        assembled(ptx, "sm_80", tmp_path)
