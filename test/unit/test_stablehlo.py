"""Programs of JAX, stored as texts, against what jaxlib has computed; what evil texts do."""

from __future__ import annotations

import io
import random
import re
import time
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import lamina
from lamina.cli.command import run as run_command
from lamina.dialects.numpy_dtypes import numpy_dtype

from .stored_stablehlo import FOLDER, NAMES, stored_inputs
from .two_files import ALL, MOST_SECONDS


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
    results = list(cast("tuple[Any, ...]", found)) if isinstance(found, tuple) else [found]
    expected = np.load(FOLDER / f"{name}.npz")
    assert len(results) == len(expected.files)
    for n, have in enumerate(results):
        near(np.asarray(have), expected[str(n)], 1e-5)


# -- evil texts -------------------------------------------------------------------------------------


def lowered(path: Path, text: str) -> tuple[int, str]:
    """The exit status of `lamina check` and what it says, within bounded time and without a traceback."""
    path.write_text(text, "utf-8", errors="surrogatepass")
    out, err = io.StringIO(), io.StringIO()
    start = time.process_time()
    status = run_command(["check", str(path)], out, err)
    assert time.process_time() - start < MOST_SECONDS, text[:300]
    said = err.getvalue()
    assert status in (0, 1, 3), f"{status}: {said}"
    assert "Traceback" not in said and said.count("\n") <= 1 and len(said) < 2000, said[:3000]
    return status, said or out.getvalue()


NUMBERS = ("0", "-1", "7", "12", "99999999999", "9223372036854775807", "4294967296")


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
            other = random_.choice(NUMBERS)
            lines[n] = lines[n][: m.start()] + other + lines[n][m.end() :]
    elif kind == 3:
        words = list(re.finditer(r"[a-z_]+", lines[n]))
        if words:
            m = random_.choice(words)
            other = random_.choice(
                ["dot_general", "f32", "i1", "ui8", "complex<f32>", "tensor", "x", "while", "reduce", "dense"]
            )
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


@pytest.mark.parametrize("count", (30, ALL))
@pytest.mark.parametrize("name", SOURCES)
def test_mutated_texts_are_refused_in_a_line(name: str, count: int, tmp_path: Path) -> None:
    text = (FOLDER / f"{name}.stablehlo.mlir").read_text("utf-8")
    random_ = random.Random(11)
    refused = 0
    for _ in range(count):
        status, _said = lowered(tmp_path / "program.stablehlo.mlir", mutated(text, random_))
        refused += status != 0
    assert refused > count // 4


def test_texts_that_end_too_early(tmp_path: Path) -> None:
    text = (FOLDER / "newton.stablehlo.mlir").read_text("utf-8")
    random_ = random.Random(3)
    for _ in range(20):
        status, _said = lowered(tmp_path / "program.stablehlo.mlir", text[: random_.randrange(400, len(text) - 40)])
        assert status == 1


T = "tensor<4xf32>"


def program(lines: str, behind: str = "") -> str:
    """A program that gives %y of %x; T stands for a vector of 4 floats."""
    body = lines.strip("\n").replace("T", T)
    return f"func.func @main(%x: {T}) -> {T} {{\n{body}\n  return %y : {T}\n}}\n{behind}"


def calls(depth: int) -> str:
    """Functions of which each calls the next one twice."""
    head = "func.func private @f{0}(%x: T) -> T {{\n"
    texts = [
        (head + "  %0 = call @f{1}(%x) : (T) -> T\n  %1 = call @f{1}(%0) : (T) -> T\n  return %1 : T\n}}\n").format(
            n, n + 1
        )
        for n in range(depth)
    ]
    texts.append((head + "  %0 = stablehlo.abs %x : T\n  return %0 : T\n}}\n").format(depth))
    return "".join(texts).replace("T", T)


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


ABS = "  %y = stablehlo.abs %x : T"
EVIL = {
    "calls that double": (program("  %y = call @f0(%x) : (T) -> T", calls(40)), "put in place"),
    "a function that calls itself": (
        program("  %z = stablehlo.abs %x : T\n  %y = call @main(%z) : (T) -> T"),
        "@main calls itself",
    ),
    "loops in one another": (program(nested_whiles(400)), "nested"),
    "a function that is not there": (program("  %y = call @g(%x) : (T) -> T"), "@g"),
    "a huge extent": (
        program(f"  %b = stablehlo.broadcast_in_dim %x, dims = [1] : (T) -> tensor<9223372036854775807x4xf32>\n{ABS}"),
        "",
    ),
    "a huge window": (
        program("""
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %y = "stablehlo.reduce_window"(%x, %c) <{
    window_dimensions = array<i64: 1000000000000>, padding = dense<[[999999999999, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.minimum %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (T, tensor<f32>) -> T
"""),
        "a window of",
    ),
    "a huge padding": (
        program("""
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %x, %c, low = [4611686018427387904], high = [0], interior = [0]
         : (T, tensor<f32>) -> tensor<4611686018427387908xf32>
  %y = stablehlo.slice %p [0:4] : (tensor<4611686018427387908xf32>) -> T
"""),
        "",
    ),
    "a huge iota": (
        program("""
  %i = stablehlo.iota dim = 0 : tensor<1099511627776xi32>
  %s = stablehlo.slice %i [0:4] : (tensor<1099511627776xi32>) -> tensor<4xi32>
  %y = stablehlo.convert %s : (tensor<4xi32>) -> T
"""),
        "",
    ),
    "a loop without an end": (
        program("""
  %y = stablehlo.while(%a = %x) : T cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    stablehlo.return %a : T
  }
"""),
        "",
    ),
    "an alias of a location that contains itself": (
        program(f"{ABS} loc(#loc1)", '#loc1 = loc("a"(#loc2))\n#loc2 = loc("b"(#loc1))'),
        "contains itself",
    ),
    "locations in one another": (program(f"{ABS} loc(" + '"a"(' * 3000 + "unknown" + ")" * 3001), "nested"),
    "an unknown location": (program(f"{ABS} loc(#loc9)"), "undefined alias '#loc9'"),
    "extents known at run time only": (program(ABS).replace(T, "tensor<?xf32>"), "extents"),
    "no main": (program(ABS).replace("@main", "@f"), "no @main"),
    "a huge constant": (
        program(f"  %b = stablehlo.constant dense<0.0> : tensor<1099511627776x4xf32>\n{ABS}"),
        "the limit of a text",
    ),
    "a constant of too few bytes": (program('  %y = stablehlo.constant dense<"0xAB"> : T'), "Expected 4 elements"),
    "a constant of too many elements": (
        program("  %y = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : T"),
        "got [5] shape",
    ),
    "a value that is not there": (program("  %y = stablehlo.add %x, %z : T"), "%z"),
    "operands of two shapes": (
        program(
            '  %i = stablehlo.iota dim = 0 : tensor<5xf32>\n  %y = "stablehlo.add"(%x, %i) : (T, tensor<5xf32>) -> T'
        ),
        "takes operands of one type",
    ),
    "an op that is not there": (program("  %y = stablehlo.abbs %x : T"), "stablehlo.abbs"),
    "an element type that is not there": (program(ABS).replace("4xf32", "4xf31"), "expected shape type"),
    "complex numbers": (program(ABS).replace("4xf32", "4xcomplex<f32>"), "complex"),
    "a slice beyond the end": (
        program(f"  %s = stablehlo.slice %x [2:9] : (T) -> tensor<7xf32>\n{ABS}"),
        "no slice of 4",
    ),
    "a slice that runs backwards": (
        program(f"  %s = stablehlo.slice %x [3:1] : (T) -> tensor<0xf32>\n{ABS}"),
        "no slice of 4",
    ),
    "a step of nothing": (program("  %y = stablehlo.slice %x [0:4:0] : (T) -> T"), "no slice of 4"),
    "axes that are not there": (program("  %y = stablehlo.transpose %x, dims = [7] : (T) -> T"), "no order of 1"),
    "an axis that is negative": (program("  %y = stablehlo.concatenate %x, dim = -3 : (T) -> T"), "no dimension -3"),
    "a reshape to more elements": (
        program(f"  %s = stablehlo.reshape %x : (T) -> tensor<8xf32>\n{ABS}"),
        "8 elements are asked",
    ),
    "a result of another type": (program("  %y = stablehlo.iota dim = 0 : tensor<9xi32>"), "previously used"),
    "a product along axes that are not there": (
        program(f"  %s = stablehlo.dot_general %x, %x, contracting_dims = [3] x [0] : (T, T) -> tensor<f32>\n{ABS}"),
        "the dimensions [3]",
    ),
    "a state of another type": (
        program("""
  %y = stablehlo.while(%a = %x) : T cond {
    %c = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %i = stablehlo.iota dim = 0 : tensor<9xi32>
    stablehlo.return %i : tensor<9xi32>
  }
"""),
        "the body gives tensor<9xi32>",
    ),
    "a choice of nothing": (
        program('  %i = stablehlo.constant dense<0> : tensor<i32>\n  %y = "stablehlo.case"(%i) : (tensor<i32>) -> T'),
        "no branch",
    ),
    "a call of somebody's code": (program("  %y = stablehlo.custom_call @evil(%x) : (T) -> T"), "evil"),
    "a reduction along an axis that is not there": (
        program("""
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %y = "stablehlo.reduce"(%x, %c) <{dimensions = array<i64: 5>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.minimum %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (T, tensor<f32>) -> T
"""),
        "dimensions = [5] of 1",
    ),
    "two functions of one name": (program(ABS) + program(ABS), "main"),
    "an attribute nested without an end": (
        program('  %y = "stablehlo.abs"(%x) {a = ' + "[" * 5000 + "} : (T) -> T"),
        "nested",
    ),
    "a name of a megabyte": (program(f"  %y = stablehlo.abs %{'x' * (1 << 20)} : T"), "undeclared value"),
    "bytes that are no text": ("func.func @main(\udcff\0\udcfe", "not UTF-8"),
    "nothing": ("", "no @main"),
}


@pytest.mark.parametrize("what", EVIL)
def test_evil_text(what: str, tmp_path: Path) -> None:
    text, said = EVIL[what]
    assert said in lowered(tmp_path / "program.stablehlo.mlir", text)[1]
