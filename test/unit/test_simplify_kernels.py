"""tir-simplify keeps what random kernels compute: loops with tails and unknown extents, conditions, guards, divisions.

The interpreter that compares them checks bounds, and knows nothing of the analyzer.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from lamina.interpreters.tir_interpreter import run_tir_func

sys.path.insert(0, str(Path(__file__).parent))
import tir_kernels  # noqa: E402

pytestmark = pytest.mark.slow

SIZE = 48


class RandomKernel:
    """The text of a kernel over X and y, whose order of execution matters."""

    def __init__(self, seed: int) -> None:
        self.r = Random(seed)
        self.dims: list[str] = ["n"]
        self.count = 0
        self.lines: list[str] = []

    def name(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def form(self, depth: int = 1) -> str:
        terms = [
            f"%{d} * {self.r.choice((1, 1, -1, 2, 3, 4, 8))}" for d in self.r.sample(self.dims, min(2, len(self.dims)))
        ]
        text = " + ".join([*terms, str(self.r.randint(0, 9))])
        if depth and self.r.random() < 0.4:
            inner = f"({self.form(depth - 1)}) {self.r.choice(('floordiv', 'mod'))} {self.r.choice((2, 3, 4, 8))}"
            text = f"{inner} * {self.r.choice((1, 2, 4, -1))} + {text}"
        return text

    def conditions(self) -> str:
        several = [
            f"{self.form()} {self.r.choice(('>=', '>=', '<', '=='))} {self.r.randint(-4, 12)}"
            for _ in range(self.r.choice((1, 1, 2)))
        ]
        return f"[{', '.join(several)}]"

    def index(self) -> str:
        return f"({self.form()}) mod {SIZE}"

    def guard(self) -> str:
        return f" where {self.conditions()}" if self.r.random() < 0.4 else ""

    def statements(self, depth: int) -> None:
        for _ in range(self.r.choice((1, 1, 2))):
            kind = self.r.choice(("loop", "loop", "if", "store")) if depth else "store"
            if kind == "store":
                self.store()
                continue
            known = list(self.dims)
            if kind == "loop":
                v = self.name("i")
                dynamic = self.r.random() < 0.2
                extent = "" if dynamic else f"{self.r.choice((1, 2, 3, 4, 7))} "
                bounds = f"min [%n, {self.form()}] " if dynamic else ""
                if not dynamic and self.r.random() < 0.5:
                    bounds = f"min [{self.form()}] "
                word = self.r.choice(("", "", "unrolled "))
                self.lines.append(f'tir.for %{v} = 0 to {extent}{bounds}{word}"{v}" {{')
                self.dims.append(v)
            else:
                self.lines.append(f"tir.if {self.conditions()} {{")
            self.statements(depth - 1)
            self.dims = known
            self.lines.append("}")

    def store(self) -> None:
        x, y, c, s, z = (self.name(h) for h in "xycsz")
        self.lines += [
            f"%{x} = tir.load %X[{self.index()}]{self.guard()} : memref<{SIZE}xi32>",
            f"%{y} = tir.load %y[{(at := self.index())}] : memref<{SIZE}xi32>",
            f"%{c} = tir.condition {self.conditions()} : i1",
            f"%{s} = arith.select %{c}, %{x}, %three : i32",
            f"%{z}m = arith.muli %{y}, %three : i32",
            f"%{z} = arith.addi %{z}m, %{s} : i32",
            f"tir.store %{z}, %y[{at}]{self.guard()} : memref<{SIZE}xi32>",
        ]

    def text(self) -> str:
        self.statements(3)
        body = "\n".join(self.lines)
        buffer = f"memref<{SIZE}xi32>"
        return f"""tir.func @f(%n: index, %X: {buffer}, %y: {buffer}) attributes {{outputs = 1 : i64}} {{
          %three = arith.constant 3 : i32
          tir.for %i = 0 to {SIZE} "start" {{ tir.store %three, %y[%i] : {buffer} }}
          {body}
        }}"""


def features(text: str) -> dict[str, int]:
    return {w: text.count(w) for w in ("tir.for", "tir.if", "where", "floordiv", "tir.load", "tir.condition", "min [")}


def test_random_kernels_compute_the_same() -> None:
    before: dict[str, int] = {}
    after: dict[str, int] = {}
    x = np.arange(1, SIZE + 1, dtype=np.int32)
    for seed in range(100):
        module = tir_kernels.parse(RandomKernel(seed).text())
        simple = tir_kernels.passes(module, "tir-simplify")
        for counts, m in ((before, module), (after, simple)):
            for word, n in features(str(m)).items():
                counts[word] = counts.get(word, 0) + n
        for n in (0, 1, 5, 8):
            ((wanted,), (found,)) = (run_tir_func(tir_kernels.kernel_of(m), [n, x]) for m in (module, simple))
            assert np.array_equal(found, wanted), f"seed {seed}\n{module}\n{simple}"
        again = tir_kernels.passes(simple, "tir-simplify")
        assert str(again) == str(simple), f"seed {seed}"
    assert all(after[w] < before[w] for w in before), (before, after)
