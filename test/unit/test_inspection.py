"""What print-op-stats and view-op-graph write is what mlir-opt writes for a text that both read."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from lamina.opt_tool.command import run_opt_tool

MLIR_OPT = (
    shutil.which("mlir-opt") or shutil.which("mlir-opt-22") or shutil.which("mlir-opt", path="/usr/lib/llvm-22/bin")
)

# Values have the names that mlir-opt gives them: it numbers what is inside an op after all that stands beside it.
TEXT = r"""
func.func @f(%arg0: tensor<4xf32>, %arg1: i1) -> tensor<4xf32> attributes {
  arr = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17], q = "a\"{}<>|b", u,
  big = dense<[[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]]> : tensor<1x17xi32>,
  same = dense<1> : tensor<100xi32>, few = dense<[1, 2]> : tensor<2xi32>
} {
  %0 = "a.b"(%arg0, %arg0) {n = 1 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<100x100x100x100xf32>
  %1 = "a.if"(%arg1) ({
    "a.yield"(%0) : (tensor<100x100x100x100xf32>) -> ()
  }, {
    "a.yield"(%arg0) : (tensor<4xf32>) -> ()
  }) : (i1) -> tensor<4xf32>
  "a.none"() : () -> ()
  cf.cond_br %arg1, ^bb1(%1 : tensor<4xf32>), ^bb2
^bb1(%2: tensor<4xf32>):
  return %2 : tensor<4xf32>
^bb2:
  return %1 : tensor<4xf32>
}
"""


@pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt is not installed (Debian package mlir-22-tools)")
@pytest.mark.parametrize(
    "flag",
    [
        "--print-op-stats",
        "--print-op-stats=json",
        "--view-op-graph",
        "--view-op-graph=print-control-flow-edges max-label-len=7",
        "-view-op-graph=print-data-flow-edges=false print-attrs=false",
        "--view-op-graph=print-result-types=0",
    ],
)
def test_mlir_opt_writes_the_same(flag: str) -> None:
    assert MLIR_OPT is not None
    argv = ["--allow-unregistered-dialect", flag, "-o", "/dev/null"]
    theirs = subprocess.run([MLIR_OPT, *argv], input=TEXT, capture_output=True, text=True, check=True)
    assert run_opt_tool(argv, TEXT) == (0, "", theirs.stderr)
