"""What tests of external backends share: compiling a text for a target, and whether OpenBLAS is here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.driver.execute import run_module
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.passes.relay.partition.external_backends import find_backend

Array = np.ndarray[Any, np.dtype[Any]]


def missing_openblas() -> str:
    backend = find_backend("openblas")
    return backend.unavailable() if backend is not None else "there is no such backend"


needs_openblas = pytest.mark.skipif(bool(missing_openblas()), reason=missing_openblas() or "here")


def compiled(tmp_path: Path, text: str, target: str, **options: Any) -> lamina.Executable:
    path = tmp_path / "net.mlir"
    path.write_text(text)
    return lamina.compile(path, target, cache=False, **options)


def arrays_for(exe: lamina.Executable, seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(p.shape).astype(p.dtype) for p in exe.inputs]


RESIDUAL = """
func.func @main(%x: tensor<1x8x9x9xf32>, %w1: tensor<4x8x1x1xf32>, %w2: tensor<4x4x3x3xf32>, %w3: tensor<8x4x1x1xf32>,
                %g: tensor<4xf32>, %b: tensor<4xf32>, %wd: tensor<5x8xf32>)
    -> (tensor<1x5xf32>, tensor<1x8x9x9xf32>) {
  %c1 = relay.nn.conv2d %x, %w1 : (tensor<1x8x9x9xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x9x9xf32>
  %a1 = relay.nn.bias_add %c1, %b : (tensor<1x4x9x9xf32>, tensor<4xf32>) -> tensor<1x4x9x9xf32>
  %r1 = relay.nn.relu %a1 : tensor<1x4x9x9xf32>
  %c2 = relay.nn.conv2d %r1, %w2 {padding = [1, 1]} : (tensor<1x4x9x9xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x9x9xf32>
  %a2 = relay.nn.bias_add %c2, %g : (tensor<1x4x9x9xf32>, tensor<4xf32>) -> tensor<1x4x9x9xf32>
  %r2 = relay.nn.relu %a2 : tensor<1x4x9x9xf32>
  %c3 = relay.nn.conv2d %r2, %w3 : (tensor<1x4x9x9xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x9x9xf32>
  %k = relay.constant dense<0.5> : tensor<8x1x1xf32>
  %a3 = relay.add %c3, %k : (tensor<1x8x9x9xf32>, tensor<8x1x1xf32>) -> tensor<1x8x9x9xf32>
  %s = relay.add %a3, %x : tensor<1x8x9x9xf32>
  %r3 = relay.nn.relu %s : tensor<1x8x9x9xf32>
  %p = relay.nn.global_avg_pool2d %r3 : (tensor<1x8x9x9xf32>) -> tensor<1x8x1x1xf32>
  %f = relay.nn.batch_flatten %p : (tensor<1x8x1x1xf32>) -> tensor<1x8xf32>
  %d = relay.nn.dense %f, %wd : (tensor<1x8xf32>, tensor<5x8xf32>) -> tensor<1x5xf32>
  return %d, %r3 : tensor<1x5xf32>, tensor<1x8x9x9xf32>
}
"""


def check_texts_of_levels(exe: lamina.Executable, folder: Path) -> None:
    """The text of each level, read again, computes the same by that level's interpreter."""
    exe.save_texts(folder)
    arrays = {p.name: a for p, a in zip(exe.inputs, arrays_for(exe), strict=True)}
    expected = list(exe.run(arrays).values())
    for level in ("te", "tir", "llvm"):
        path = folder / f"{level}.mlir"
        ctx = LaminaContext(source_path=path)
        module = parse_text(ctx, path.read_text(), str(path))
        ctx.open_params(module)
        for a, b in zip(run_module(module, ctx, "main", arrays).values(), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4, err_msg=level)
