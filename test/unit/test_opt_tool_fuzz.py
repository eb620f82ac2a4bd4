"""Mutated IR texts: whatever the text, the tool ends with status 0 or 1, and its messages have no traceback."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from lamina.opt_tool import run_opt_tool

TEXTS = [p.read_text("utf-8")[:2000] for p in sorted((Path(__file__).parents[1] / "opt_tool").glob("*.mlir"))]

TOKENS = (
    "%x @f ^bb0 { } ( ) < > [ ] : , = -> i32 tensor<4xf32> dense<0> #te.map !llvm.ptr affine_map<(d0)->(d0)> -1 0x10 "
    '1.0e5 "a" " te.compute func.func relay.add loc( attributes true ? * x \\ 0x memref<4xf32> vector<4xf32> none #x '
    "!y %0#3 %0:2"
).split()


def mutate(text: str, draw: random.Random) -> str:
    for _ in range(draw.randint(1, 3)):
        at, kind = draw.randrange(len(text) + 1), draw.randrange(4)
        if kind == 0:
            text = text[:at] + text[at + draw.randint(1, 8) :]
        elif kind == 1:
            text = text[:at] + draw.choice(TOKENS) + text[at:]
        elif kind == 2:
            text = text[:at] + chr(draw.randrange(32, 127)) + text[at + 1 :]
        else:
            other = draw.randrange(len(text) + 1)
            text = text[:at] + text[other : other + 30] + text[at:]
    return text


@pytest.mark.parametrize("seed", range(4))
def test_no_mutant_breaks_the_tool(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(40):
        text = mutate(draw.choice(TEXTS), draw)
        split = ["--split-input-file"] if draw.random() < 0.5 else []
        status, _, err = run_opt_tool(["--verify-roundtrip", *split], text)
        assert status in (0, 1), (text, err)
        assert "Traceback" not in err and "internal" not in err and "round trip:" not in err, (text, err)
        assert (status == 0) == (err == ""), (text, err)
