"""Programs of JAX, stored as texts, against what jaxlib has computed; what evil texts do."""

from __future__ import annotations

import io
import random
import re
import time
from pathlib import Path

import numpy as np
import pytest
from .stored_stablehlo import FOLDER, NAMES, stored_inputs

import lamina
from lamina.cli.command import run as run_command
from lamina.dialects.numpy_dtypes import numpy_dtype



def near(have: np.ndarray, want: np.ndarray, tolerance: float) -> None:
    assert have.shape == want.shape and have.dtype == want.dtype
    if want.dtype.kind in "iub":
        np.testing.assert_array_equal(have, want)
    else:
        assert np.abs(have - want).max(initial=0) <= tolerance * max(np.abs(want).max(initial=0), 1e-30)


@pytest.mark.parametrize("name", NAMES)
def test_stored_program(name: str) -> None:
    executable = lamina.compile(FOLDER / f"{name}.stablehlo.mlir", threads=1)
    arrays = stored_inputs([(p.shape, numpy_dtype(p.dtype)) for p in executable.inputs])
    found = executable(*arrays)
    results = list(found) if isinstance(found, tuple) else [found]
    expected = np.load(FOLDER / f"{name}.npz")
    assert len(results) == len(expected.files)
    for n, have in enumerate(results):
        near(np.asarray(have), expected[str(n)], 1e-5)


# -- evil texts -------------------------------------------------------------------------------------


def lowered(path: Path, text: str) -> tuple[int, str]:
    """The exit status of `lamina check` and what it says, within two seconds and without a traceback."""
    path.write_text(text, "utf-8", errors="surrogatepass")
    out, err = io.StringIO(), io.StringIO()
    start = time.process_time()
    status = run_command(["check", str(path)], out, err)
    assert time.process_time() - start < 2, text[:300]
    said = err.getvalue()
    assert status in (0, 1, 3), f"{status}: {said}"
    assert "Traceback" not in said and said.count("\n") <= 1, said
    return status, said or out.getvalue()


def mutated(text: str, random_: random.Random) -> str:
    """A text with one thing wrong: characters lost, moved, doubled or others, numbers large, lines gone or twice."""
    lines = text.split("\n")
    kind = random_.randrange(7)
    n = random_.randrange(len(lines))
    if kind == 0:
        del lines[n]
    elif kind == 1:
        lines.insert(random_.randrange(len(lines)), lines[n])
    elif kind == 2:
        numbers = list(re.finditer(r"\d+", lines[n]))
        if numbers:
            m = random_.choice(numbers)
            other = random_.choice(["0", "-1", "7", "99999999999", "9223372036854775807", "4294967296", str(random_.randrange(20))])
            lines[n] = lines[n][: m.start()] + other + lines[n][m.end() :]
    elif kind == 3:
        words = list(re.finditer(r"[a-z_]+", lines[n]))
        if words:
            m = random_.choice(words)
            other = random_.choice(["dot_general", "f32", "i1", "ui8", "complex<f32>", "tensor", "x", "while", "reduce", "dense"])
            lines[n] = lines[n][: m.start()] + other + lines[n][m.end() :]
    else:
        line = lines[n]
        at = random_.randrange(len(line) + 1)
        if kind == 4:
            line = line[:at] + line[at + random_.randrange(1, 6) :]
        elif kind == 5:
            line = line[:at] + random_.choice('<>()[]{}",:=%#@?!x-') + line[at:]
        else:
            line = line[:at] + line[at:][::-1][:8] + line[at:]
        lines[n] = line
    return "\n".join(lines)


SOURCES = ("lstm", "gather_scatter", "newton", "cnn")
MUTATIONS = 40
"""Of each text; 300 of one were tried: `python -m pytest test/unit/test_stablehlo.py -k mutated`, with this number."""


@pytest.mark.parametrize("name", SOURCES)
def test_mutated_texts_are_refused_in_a_line(name: str, tmp_path: Path) -> None:
    text = (FOLDER / f"{name}.stablehlo.mlir").read_text("utf-8")
    random_ = random.Random(11)
    refused = 0
    for _ in range(MUTATIONS):
        status, _said = lowered(tmp_path / "program.stablehlo.mlir", mutated(text, random_))
        refused += status != 0
    assert refused > MUTATIONS // 4


def test_texts_that_end_too_early(tmp_path: Path) -> None:
    text = (FOLDER / "newton.stablehlo.mlir").read_text("utf-8")
    random_ = random.Random(3)
    for _ in range(20):
        status, _said = lowered(tmp_path / "program.stablehlo.mlir", text[: random_.randrange(400, len(text) - 40)])
        assert status == 1


WHOLE = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n{0}\n  return %y : tensor<4xf32>\n}}\n{1}"


def calls(depth: int) -> str:
    """Functions of which each calls the next one twice."""
    texts = [
        f"func.func private @f{n}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n"
        f"  %0 = call @f{n + 1}(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
        f"  %1 = call @f{n + 1}(%0) : (tensor<4xf32>) -> tensor<4xf32>\n  return %1 : tensor<4xf32>\n}}"
        for n in range(depth)
    ]
    texts.append(f"func.func private @f{depth}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %0 = stablehlo.abs %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}}")
    return "\n".join(texts)


def nested_whiles(depth: int) -> str:
    """Loops in one another."""
    heads = [
        f"%r{n} = stablehlo.while(%a{n} = %x) : tensor<4xf32> cond {{ %c = stablehlo.constant dense<true> : tensor<i1>"
        " stablehlo.return %c : tensor<i1> } do {"
        for n in range(depth)
    ]
    tails = [f"stablehlo.return %r{n} : tensor<4xf32> }}" for n in range(depth - 1, 0, -1)]
    inner = "stablehlo.return %x : tensor<4xf32> }"
    return "\n".join([*heads, inner, *tails]).replace("%r0", "%y")


EVIL = {
    "calls that double": (WHOLE.format("  %y = call @f0(%x) : (tensor<4xf32>) -> tensor<4xf32>", calls(40)), "put in place"),
    "a function that calls itself": (
        WHOLE.format("  %z = stablehlo.abs %x : tensor<4xf32>\n  %y = call @main(%z) : (tensor<4xf32>) -> tensor<4xf32>", ""), "@main calls itself"),
    "loops in one another": (WHOLE.format(nested_whiles(400), ""), "nested"),
    "a function that is not there": (WHOLE.format("  %y = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>", ""), "@g"),
    "a huge extent": (
        WHOLE.format("  %b = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<9223372036854775807x4xf32>\n  %y = stablehlo.abs %x : tensor<4xf32>", ""), ""),
    "a huge window": (
        WHOLE.format('  %c = stablehlo.constant dense<0.0> : tensor<f32>\n  %y = "stablehlo.reduce_window"(%x, %c) <{window_dimensions = array<i64: 1000000000000>, padding = dense<[[999999999999, 0]]> : tensor<1x2xi64>}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n  %0 = stablehlo.minimum %a, %b : tensor<f32>\n  stablehlo.return %0 : tensor<f32>\n}) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>', ""), "a window of"),
    "a huge padding": (
        WHOLE.format("  %c = stablehlo.constant dense<0.0> : tensor<f32>\n  %p = stablehlo.pad %x, %c, low = [4611686018427387904], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4611686018427387908xf32>\n  %y = stablehlo.slice %p [0:4] : (tensor<4611686018427387908xf32>) -> tensor<4xf32>", ""), ""),
    "a huge iota": (
        WHOLE.format("  %i = stablehlo.iota dim = 0 : tensor<1099511627776xi32>\n  %s = stablehlo.slice %i [0:4] : (tensor<1099511627776xi32>) -> tensor<4xi32>\n  %y = stablehlo.convert %s : (tensor<4xi32>) -> tensor<4xf32>", ""), ""),
    "a loop without an end": (
        WHOLE.format("  %y = stablehlo.while(%a = %x) : tensor<4xf32> cond { %c = stablehlo.constant dense<true> : tensor<i1> stablehlo.return %c : tensor<i1> } do { stablehlo.return %a : tensor<4xf32> }", ""), ""),
    "an alias of a location that contains itself": (
        WHOLE.format('  %y = stablehlo.abs %x : tensor<4xf32> loc(#loc1)', '#loc1 = loc("a"(#loc2))\n#loc2 = loc("b"(#loc1))'), "contains itself"),
    "locations in one another": (
        WHOLE.format("  %y = stablehlo.abs %x : tensor<4xf32> loc(" + '"a"(' * 3000 + "unknown" + ")" * 3001, ""), "nested"),
    "an unknown location": (WHOLE.format("  %y = stablehlo.abs %x : tensor<4xf32> loc(#loc9)", ""), "undefined alias '#loc9'"),
    "extents known at run time only": (
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n  %y = stablehlo.abs %x : tensor<?xf32>\n  return %y : tensor<?xf32>\n}", "extents"),
    "no main": ("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = stablehlo.abs %x : tensor<4xf32>\n  return %y : tensor<4xf32>\n}", "no @main"),
}  # fmt: skip


@pytest.mark.parametrize("what", EVIL)
def test_evil_text(what: str, tmp_path: Path) -> None:
    text, said = EVIL[what]
    assert said in lowered(tmp_path / "program.stablehlo.mlir", text)[1]
