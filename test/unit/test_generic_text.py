"""The generic text of te and tir modules is MLIR's: mlir-opt, which knows neither dialect, reads and verifies it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from lamina.opt_tool.command import run_opt_tool
from lamina.opt_tool.options import SPLIT_MARKER

TESTS = Path(__file__).parents[1]
FOLDERS = (
    "dialects/te",
    "dialects/tir",
    "passes/te",
    "passes/te_to_tir",
    "passes/tir",
    "passes/tir_to_llvm",
    "backends",
)
REFUSED = {
    # MLIR 22 has no conversion between two floats of one width.
    "conversion_to_the_same_width.mlir": "'arith.truncf' op operand type 'bf16' and result type 'f16'",
}
MLIR_OPT = (
    shutil.which("mlir-opt") or shutil.which("mlir-opt-22") or shutil.which("mlir-opt", path="/usr/lib/llvm-22/bin")
)


def pieces(file: Path) -> list[str]:
    """The modules of a test in the generic syntax; those with a mistake, of which opt-tool prints nothing, left out."""
    split = ["--split-input-file"] if "--split-input-file" in file.read_text("utf-8") else []
    _, out, _ = run_opt_tool([str(file), "--print-op-generic", *split])
    return [p for p in out.split(f"{SPLIT_MARKER}\n") if '"te.' in p or '"tir.' in p]


def complaints(texts: list[str]) -> str:
    """What mlir-opt says about the texts."""
    assert MLIR_OPT is not None
    command = [MLIR_OPT, "--allow-unregistered-dialect", "--split-input-file", "-o", "/dev/null"]
    text = f"\n{SPLIT_MARKER}\n".join(texts)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == ("error:" in done.stderr)
    return done.stderr


@pytest.mark.slow
@pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt is not installed (Debian package mlir-22-tools)")
def test_mlir_opt_reads_the_generic_text_of_every_test() -> None:
    files = [f for folder in FOLDERS for f in sorted((TESTS / folder).rglob("*.mlir")) if "inputs" not in f.parts]
    texts = {f: pieces(f) for f in files}
    assert sum(map(len, texts.values())) > 500
    for name, message in REFUSED.items():
        (file,) = [f for f in files if f.name == name]
        assert message in complaints(texts.pop(file))
    found = complaints([t for parts in texts.values() for t in parts])
    if found:
        wrong = [f"{f}: {said.splitlines()[0]}" for f, parts in texts.items() if parts and (said := complaints(parts))]
        raise AssertionError("\n".join(wrong) or found)
