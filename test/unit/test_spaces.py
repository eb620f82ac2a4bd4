"""Spaces of schedules: a seed decides the knobs, a decided space replays, and no decision changes what is computed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from xdsl.parser import Parser

import lamina
from lamina.driver.execute import run_module
from lamina.driver.pipelines import LLVM_PIPELINE, TIR_PIPELINE
from lamina.errors import InputError
from lamina.ir.context import LaminaContext

from . import tir_kernels as kernels

SPACE = """
te.func @f(%A: tensor<12x20xi32>, %W: tensor<20x16xi32>) -> tensor<12x16xi32> {
  %p = te.compute "P" [12, 20] (%i, %j) : tensor<12x20xi32> {
    %a = te.read %A[%i, %j] : tensor<12x20xi32>
    %s = arith.addi %a, %a : i32
    te.yield %s : i32
  }
  %c = te.compute "C" [12, 16] sum [20] (%i, %j, %k) : tensor<12x16xi32> {
    %x = te.read %p[%i, %k] : tensor<12x20xi32>
    %w = te.read %W[%k, %j] : tensor<20x16xi32>
    %m = arith.muli %x, %w : i32
    te.yield %m : i32
  }
  te.return %c : tensor<12x16xi32>
}
te.schedule @f {
  %i, %j, %k = te.loops "C" [3]
  %f0, %f1 = te.sample_perfect_tile %j [2] max_innermost 16 knob "tile_j" decision [1, 16]
  %jo, %ji = te.split %j [%f0, %f1]
  %r = te.sample_categorical [2, 5, 7] probs [0.25, 0.5, 0.25] knob "rows" decision 0
  %io, %ii = te.split %i [-1, %r]
  %u, %v, %w, %x = te.sample_order %io, %jo, %k, %ii knob "order" decision [0, 1, 2, 3]
  te.sample_annotation %ji ["none", "unroll", "vectorize"] knob "inner" decision 2
  te.sample_annotation %u ["none", "parallel"] knob "outer" decision 0
  te.choose knob "P" decision 0 {
    te.compute_inline "P"
  } {
    %a, %b = te.sample_compute_location "P" in "C" [2] knob "P_at" decision 0
    te.sample_annotation %b ["none", "vectorize"] knob "P_inner" decision 0
  } {
  }
}
"""
SEEDS = 20


def drawn(seed: int | None = None, text: str = SPACE) -> str:
    option = "" if seed is None else f"{{seed={seed}}}"
    return str(kernels.passes(Parser(LaminaContext(), text).parse_module(), f"te-draw-decisions{option}"))


@pytest.mark.slow
def test_every_configuration_is_refused_or_computes_the_same() -> None:
    r = np.random.default_rng(0)
    a, w = (r.integers(-9, 10, shape).astype(np.int32) for shape in ((12, 20), (20, 16)))
    texts: set[str] = set()
    refused: list[str] = []
    for seed in range(SEEDS):
        try:
            text = drawn(seed)
        except InputError as error:
            refused.append(str(error))
            continue
        assert text == drawn(None, text), "a decided space has nothing left to draw"
        texts.add(text)
        module = Parser(LaminaContext(), text).parse_module()
        lowered = kernels.passes(module, ",".join(TIR_PIPELINE[:2]))
        (found,) = run_module(lowered, LaminaContext(), "f", [a, w]).values()
        np.testing.assert_array_equal(found, 2 * a @ w, err_msg=text)
    assert len(texts) >= SEEDS // 4 and refused, (len(texts), refused)
    assert all(re.search(r"schedule of @f, te\.\w+: ", message) for message in refused), refused


def test_the_default_is_what_stands_there() -> None:
    assert drawn() == str(Parser(LaminaContext(), SPACE).parse_module())


def test_orders_are_drawn_evenly() -> None:
    text = SPACE.replace("%u, %v, %w, %x = te.sample_order %io, %jo, %k, %ii", "%u, %v = te.sample_order %io, %jo")
    text = re.sub(r'knob "order" decision .*', 'knob "order"', text)
    text = text[: text.index("  te.sample_annotation")] + "}\n"
    swapped = sum('knob "order" decision [1, 0]' in drawn(seed, text) for seed in range(60))
    assert 15 <= swapped <= 45


MODELS = {
    "conv2d": (
        "nn.conv2d %x, %w {padding = [1, 1, 1, 1]}",
        ("1x16x14x14", "32x16x3x3", "1x32x14x14"),
    ),
    "dense": ("nn.dense %x, %w", ("12x96", "80x96", "12x80")),
    "batch_matmul": ("nn.batch_matmul %x, %w", ("2x12x24", "2x33x24", "2x12x33")),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "target"), [(name, "x86-64-v3" if name == "dense" else "cpu") for name in sorted(MODELS)]
)
def test_default_schedules_as_spaces(name: str, target: str, tmp_path: Path) -> None:
    """Opened they are what they were; what is drawn is refused or computes the same."""
    op, shapes = MODELS[name]
    x, w, y = (f"tensor<{s}xf32>" for s in shapes)
    model = tmp_path / "model.mlir"
    model.write_text(
        f"func.func @main(%x: {x}, %w: {w}) -> {y} {{\n  %y = relay.{op} : ({x}, {w}) -> {y}\n  return %y : {y}\n}}\n"
    )
    text = lamina.compile(str(model), target, threads=1).text("te")
    module = Parser(LaminaContext(), text).parse_module()
    plain = str(kernels.passes(module, "te-to-tir"))
    opened = kernels.passes(module, "te-open-space")
    assert str(opened).count("knob") > 2
    assert str(kernels.passes(opened, "te-to-tir")) == plain
    r = np.random.default_rng(0)
    arrays = {
        n: r.integers(-4, 5, [int(e) for e in s.split("x")]).astype(np.float32)
        for n, s in zip("xw", shapes, strict=False)
    }
    (expected,) = run_module(module, LaminaContext(), "main", arrays).values()
    ran = 0
    for seed in range(8):
        try:
            drawn = kernels.passes(opened, f"te-draw-decisions{{seed={seed}}}")
            # Registers are told apart where extents are numbers only, and a tile with a tail may have none.
            lowered = kernels.passes(drawn, ",".join([*TIR_PIPELINE, *LLVM_PIPELINE]))
        except InputError:
            continue
        (found,) = run_module(lowered, LaminaContext(), "main", arrays).values()
        np.testing.assert_array_equal(found, expected)
        ran += 1
        if ran == 2:
            break
    assert ran
