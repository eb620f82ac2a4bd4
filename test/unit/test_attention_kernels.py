"""Attention as machine code gives the numbers of its oracle: rows that make no even blocks, tails of tiles and vectors,
and what a model says by many operators."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.dialects.relay.nn.attention import ContribAttentionOp

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import models  # noqa: E402

CASES: dict[str, tuple[int, int, int, int, int, int, tuple[int, ...]]] = {
    # batch, rows, others, heads, depth, depth of a value, bias
    "tails_everywhere": (2, 37, 53, 3, 24, 40, (2, 1, 37, 53)),
    "even_blocks": (1, 64, 48, 2, 32, 32, (1, 1, 1, 48)),
    "one_row": (1, 1, 33, 4, 16, 16, ()),
    "rows_in_blocks_with_a_last_one": (1, 331, 260, 1, 16, 16, (260,)),
    "keys_fewer_than_lanes": (1, 20, 7, 2, 16, 16, (2, 1, 1)),
    "narrow_values": (1, 20, 32, 2, 16, 5, (20, 32)),
    # With three vectors of four in a panel of values the last has two; four keys are one body without a loop.
    "last_panel_is_narrow": (1, 16, 4, 1, 32, 32, (4,)),
}
USUAL = {"tails_everywhere", "even_blocks", "last_panel_is_narrow"}


def text(case: tuple[int, int, int, int, int, int, tuple[int, ...]]) -> str:
    batch, rows, others, heads, depth, width, bias = case

    def tensor(*shape: int) -> str:
        return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"

    q, k, v = (tensor(batch, n, heads * d) for n, d in ((rows, depth), (others, depth), (others, width)))
    b, y = tensor(*bias), tensor(batch, rows, heads * width)
    return f"""func.func @main(%q: {q}, %k: {k}, %v: {v}, %s: tensor<f32>, %b: {b}) -> {y} {{
  %y = relay.nn.contrib_attention %q, %k, %v, %s, %b {{heads = {heads}}} : ({q}, {k}, {v}, tensor<f32>, {b}) -> {y}
  return %y : {y}
}}
"""


@pytest.mark.parametrize(
    ("name", "target", "threads"),
    [
        pytest.param(name, target, threads, marks=[] if name in USUAL and threads == 1 else pytest.mark.long)
        for name in CASES
        for target in ("cpu", "x86-64-v2")
        for threads in (1, 2)
    ],
)
def test_kernel_gives_the_oracle(name: str, target: str, threads: int, tmp_path: Path) -> None:
    batch, rows, others, heads, depth, width, bias = CASES[name]
    path = tmp_path / "attention.mlir"
    path.write_text(text(CASES[name]))
    random = np.random.default_rng(rows)
    shapes = ((batch, rows, heads * depth), (batch, others, heads * depth), (batch, others, heads * width), (), bias)
    given = [np.asarray(random.standard_normal(s), np.float32) for s in shapes]
    expected = ContribAttentionOp.np_ref(*(x.astype(np.float64) for x in given), heads=heads)
    (found,) = lamina.compile(path, target, threads=threads).run(dict(zip("qkvsb", given, strict=True))).values()
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-6 * np.abs(expected).max())


def test_a_model_s_attention_is_one_kernel() -> None:
    made = models.encoder_block(heads=2, width=32, length=20)
    executable = lamina.compile(made, threads=1)
    random = np.random.default_rng(1)
    inputs: dict[str, Any] = {
        "hidden": random.standard_normal((1, 20, 32)).astype(np.float32),
        "mask": np.arange(20)[None] < 13,
    }
    inputs["mask"] = inputs["mask"].astype(np.int64)
    assert "contrib_attention" in executable.text("te")
    (plain,) = lamina.compile(made, threads=1, opt_level=0).run(inputs).values()
    (found,) = executable.run(inputs).values()
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-5 * np.abs(plain).max())
