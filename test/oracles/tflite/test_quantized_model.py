"""A whole quantised model, `mobilenet_v1_0.25_224_quant` in its layers: the numbers are LiteRT's, to the bit."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import subprocess
import sys
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
