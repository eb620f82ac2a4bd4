"""Mutated IR texts: whatever the text, the tool ends with status 0 or 1, and its messages have no traceback.

The texts are those of the tool's own tests, mutated character by character, and the tests of te and tir, mutated token
by token: a name for another, a number for one at a limit, a type for one that does not belong there, an op left out.
These are lowered as well, by the passes of their tests or all the way to the llvm level.
"""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

import pytest

from lamina.driver.pipelines import Pipeline
from lamina.opt_tool.command import run_opt_tool

pytestmark = pytest.mark.slow

TEST = Path(__file__).parents[1]
TEXTS = [p.read_text("utf-8")[:2000] for p in sorted((TEST / "opt_tool").glob("*.mlir"))]

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


# -- te and tir, token by token ------------------------------------------------------------------------------------

FOLDERS = ("dialects/te", "dialects/tir", "passes/tir", "passes/te", "passes/te_to_tir", "passes/tir_to_llvm")
TOKEN = re.compile(r'"[^"\n]*"|%[\w.]+|@[\w.]+|[A-Za-z_][\w.]*|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|\s+|.')
NUMBERS = "0 1 -1 2 3 7 4096 65536 1099511627776 1099511627777 9223372036854775807 99999999999999999999999 0.5".split()
TYPES = (
    "i1 i8 i32 i65 f16 bf16 f32 f64 index none tensor<4xf32> tensor<?xf32> tensor<*xf32> memref<4xf32> memref<?xf32> "
    "vector<3xf32> vector<9xbf16> vector<4xi1> vector<f32> vector<2x2xf32> !te.loop !te.factor tensor<0xf32>"
).split()
STRINGS = '"global" "shared" "register" "local" "threadIdx.x" "vthread" "" "\\n" "C" "y" "A" "lane"'.split()
WORDS = (
    "serial parallel unrolled vectorized thread reduction min where init do sum combine identity reduce lane at in "
    "scope axis factor offset floordiv mod { } [ ] ( ) , : = >= == - + * -> ? decision"
).split()
SAID = re.compile(r"^<stdin>:\d+:\d+: error: .")


@cache
def programs() -> list[tuple[str, str]]:
    """The texts of te and tir that the tool accepts, each with the pipeline of its test."""
    found: list[tuple[str, str]] = []
    for folder in FOLDERS:
        for path in sorted((TEST / folder).rglob("*.mlir")):
            text = path.read_text("utf-8")
            command = re.search(r"RUN: opt-tool %s(.*)", text)
            # A file beside the text is where %S says, which only lit knows.
            if command is None or "expected-error" in text or re.search("--split-input-file|%S", command[1]):
                continue
            passes = re.search(r"-p ('[^']*'|\"[^\"]*\"|\S+)", command[1])
            body = "\n".join(row for row in text.split("\n") if not row.strip().startswith("//"))
            found.append((body, passes[1].strip("'\"") if passes else ""))
    return found


def mutate_tokens(text: str, draw: random.Random) -> str:
    tokens = TOKEN.findall(text)
    words = [n for n, t in enumerate(tokens) if t.strip()]
    for _ in range(draw.choice((1, 1, 2))):
        n, kind = draw.choice(words), draw.random()
        token = tokens[n]
        if kind < 0.05:
            tokens[n] = " "
        elif kind < 0.15:
            other = draw.choice(words)
            tokens[n], tokens[other] = tokens[other], tokens[n]
        elif kind < 0.25:
            rows = "".join(tokens).split("\n")
            row = rows.pop(draw.randrange(len(rows)))
            if kind < 0.2:
                rows.insert(draw.randrange(len(rows) + 1), row)
            return "\n".join(rows)
        elif token[0] in "%@":
            tokens[n] = draw.choice([t for t in tokens if t[:1] == token[0]])
        elif token[0] == '"':
            tokens[n] = draw.choice([*(t for t in tokens if t[:1] == '"'), *STRINGS])
        elif token.lstrip("-")[:1].isdigit():
            tokens[n] = draw.choice(NUMBERS)
        elif token in TYPES:
            tokens[n] = draw.choice(TYPES)
        else:
            tokens[n] = draw.choice([t for t in tokens if t[:1].isalpha()] + WORDS + TYPES)
    return "".join(tokens)


@pytest.mark.parametrize("seed", range(4))
def test_no_mutant_of_a_program_breaks_a_pass(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_REPRODUCER_DIR", str(tmp_path))
    draw = random.Random(seed)
    accepted = 0
    for _ in range(150):
        text, pipeline = draw.choice(programs())
        mutant = mutate_tokens(text, draw)
        if draw.random() < 0.4:
            stages = Pipeline(2, sanitize=draw.random() < 0.3)
            pipeline = f"{stages.text('tir')},{stages.text('llvm')}"
        status, _, err = run_opt_tool(["-p", pipeline] if pipeline else ["--verify-roundtrip"], mutant)
        assert status == 0 or (status == 1 and SAID.match(err)), (pipeline, mutant, err)
        accepted += status == 0
    assert accepted >= 5, "the mutants never get beyond the parser"
