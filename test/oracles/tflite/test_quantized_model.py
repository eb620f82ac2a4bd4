"""A whole quantised model, `mobilenet_v1_0.25_224_quant` in its layers: the numbers are LiteRT's, to the bit."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from litert import expected  # noqa: E402
from quantized_mobilenet import mobilenet  # noqa: E402

import lamina  # noqa: E402
from lamina.frontends.tflite.importer import load_tflite  # noqa: E402
from lamina.ir.context import LaminaContext  # noqa: E402
from lamina.ir.pipeline import parse_pipeline, run_pipeline  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model() -> tuple[bytes, Any, Any]:
    """The file, an image and LiteRT's probabilities for it."""
    data = mobilenet()
    image = np.random.default_rng(1).integers(0, 256, (1, 224, 224, 3)).astype(np.uint8)
    probabilities = expected(data, [image])[0]
    assert np.unique(probabilities).size > 5
    return data, image, probabilities


def test_it_runs_partitioned_for_bnns(model: tuple[bytes, Any, Any]) -> None:
    # `tvmc compile ./mobilenet_v1_0.25_224_quant.tflite --target "bnns, llvm ..."`: there is no BNNS here, so that what
    # is partitioned for it comes back and is compiled for the processor.
    data, image, probabilities = model
    exe = lamina.compile(data, target="bnns, cpu", cache=False)
    (found,) = exe.run({exe.inputs[0].name: image}).values()
    np.testing.assert_array_equal(found, probabilities)


def test_bnns_is_offered_its_convolutions(model: tuple[bytes, Any, Any]) -> None:
    imported = load_tflite(model[0])
    ctx = LaminaContext()
    ctx.params = imported.store
    passes = "relay-merge-composite{patterns=bnns},relay-annotate-target{targets=bnns},relay-merge-compiler-regions"
    run_pipeline(imported.module, ctx, parse_pipeline(f"relay-qnn-canonicalize,{passes},relay-partition-graph"))
    text = str(imported.module)
    assert text.count('Composite = "bnns.conv2d_bias"') > 10
    assert "tvmgen_default_bnns_main_0" in text


def test_the_command_compiles_it(model: tuple[bytes, Any, Any], tmp_path: Path) -> None:
    data, image, probabilities = model
    file, out = tmp_path / "mobilenet_v1_0.25_224_quant.tflite", tmp_path / "out.lamina"
    file.write_bytes(data)
    command = [sys.executable, "-m", "lamina.cli", "compile", str(file), "--target", "bnns, cpu", "-o", str(out)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    exe = lamina.Executable.load(out)
    (found,) = exe.run({exe.inputs[0].name: image}).values()
    np.testing.assert_array_equal(found, probabilities)


def test_tvmc_compiles_it_for_a_board(model: tuple[bytes, Any, Any], tmp_path: Path) -> None:
    """The library of the package computes LiteRT's numbers in an emulator, to the bit."""
    compiler, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if compiler is None or emulator is None:
        pytest.skip("there is no aarch64-linux-gnu-gcc, or no qemu-aarch64")
    data, image, probabilities = model
    (tmp_path / "mobilenet_v1_0.25_224_quant.tflite").write_bytes(data)
    image.tofile(tmp_path / "x.raw")
    root = Path(__file__).parents[3]
    target = "bnns, llvm -device=arm_cpu -mtriple=aarch64-linux-gnu"
    words = ["compile", "./mobilenet_v1_0.25_224_quant.tflite", "--target", target, "-o", "tvmc.tar"]
    words += ["--cross-compiler", compiler, "--cross-compiler-options", ""]
    command = [sys.executable, "-m", "lamina.compat.tvm.driver.tvmc", *words]
    made = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    with tarfile.open(tmp_path / "tvmc.tar") as archive:
        archive.extract("mod.so", tmp_path)
    source, header = root / "examples" / "deploy" / "c" / "run_net.c", root / "lamina" / "runtime" / "include"
    linked = ["-std=c11", "-D_GNU_SOURCE", "-I", str(header), str(source), "-o", "run_net", "-ldl"]
    subprocess.run([compiler, *linked], check=True, cwd=tmp_path)
    run = [emulator, "-L", "/usr/aarch64-linux-gnu", "./run_net", "./mod.so", "default", "1", "1", "x.raw", "y.raw"]
    subprocess.run(run, check=True, cwd=tmp_path, capture_output=True)
    np.testing.assert_array_equal(np.fromfile(tmp_path / "y.raw", np.uint8), probabilities.reshape(-1))
