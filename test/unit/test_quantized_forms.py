"""One quantised convolution as TVM's importers of PyTorch and of TFLite write it: two texts, which passes make one.

`torch.pt` is the same convolution as torch writes it into a script (`inputs/torchscript/make_quantized.py`).

PyTorch's has channels first, float weights that are quantised here, and padding by itself; TFLite's has channels last,
weights of integers, padding in the convolution, and its own rounding.
"""

from __future__ import annotations

import re
from pathlib import Path

import lamina
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline

TEXTS = Path(__file__).parent / "inputs" / "quantized_forms"
ROUNDING = 'rounding = "TFLITE", '
LAYOUT = "relay-convert-layout{desired-layouts=qnn.conv2d:NCHW:default}"
FOLD = "relay-fold-constant,relay-simplify-expr,relay-fold-constant,relay-dead-code-elimination,cse"
CONSTANT = re.compile(r"^ *(%\w+) = relay\.constant (.*)$")


def after(name: str, passes: str, rounds_as_tflite: bool = True) -> list[str]:
    """The ops of a text after passes, with constants where they are used and values numbered in their order."""
    if name == "torch.pt":
        text = str(lamina.load(TEXTS / name, {"x": (1, 3, 8, 8)}).module).replace(', rounding = "FBGEMM"', "")
    else:
        text = (TEXTS / f"{name}.mlir").read_text()
        text = text if rounds_as_tflite else text.replace(ROUNDING, "")
    module = parse_text(ctx := LaminaContext(), text, f"{name}.mlir")
    run_pipeline(module, ctx, parse_pipeline(passes))
    places: dict[str, str] = {}
    found: list[str] = []
    for line in str(module).splitlines():
        if constant := CONSTANT.match(line):
            places[constant[1]] = constant[2]
            continue
        if made := re.match(r"^ *(%\w+) = ", line):
            places[made[1]] = f"%{len(found)}"
        found.append(re.sub(r"%\w+", lambda m: places.get(m[0], m[0]), line).strip())
    return found


def test_both_forms_become_one_text() -> None:
    passes = f"{LAYOUT},relay-qnn-canonicalize,{FOLD}"
    assert after("torch", passes) == after("tflite", passes, rounds_as_tflite=False)


def test_the_rounding_alone_makes_them_differ() -> None:
    passes = f"{LAYOUT},relay-qnn-canonicalize,{FOLD}"
    upward, twice = after("torch", passes), after("tflite", passes)
    sums = next(k for k, line in enumerate(upward) if "relay.nn.bias_add" in line) + 1
    assert upward[:sums] == twice[:sums]
    assert [line.split()[2] for line in twice[sums:] if " = " in line] == [
        "relay.rounding_doubling_high_multiply", "relay.rounding_right_shift", "relay.add", "relay.clip", "relay.cast",
    ]  # fmt: skip


def test_before_they_are_expanded_it_is_an_attribute() -> None:
    passes = f"{LAYOUT},relay-simplify-expr,relay-dead-code-elimination"
    (line,) = (line for line in after("tflite", passes) if "relay.qnn.requantize" in line)
    (other,) = (line for line in after("torch", passes) if "relay.qnn.requantize" in line)
    attributes = [re.search(r"\{.*?\}", text) for text in (line, other)]
    assert [a and a[0] for a in attributes] == [
        '{axis = 1, out_dtype = "uint8", rounding = "TFLITE"}', '{axis = 1, out_dtype = "uint8"}',
    ]  # fmt: skip


def test_the_importer_of_scripts_writes_the_same_sums() -> None:
    """But for how data are rounded; behind the sums come a bias of floats, and a ratio of scales."""
    passes = f"{LAYOUT},relay-qnn-canonicalize,{FOLD}"
    imported, tflite = ([line for line in after(n, passes) if line.startswith("%")] for n in ("torch.pt", "tflite"))
    sums = next(k for k, line in enumerate(tflite) if "relay.nn.bias_add" in line)
    assert imported[:sums] == tflite[:sums] and any("relay.nn.conv2d" in line for line in imported[:sums])
    assert [line.split()[2] for line in imported[sums:]] == [
        "relay.cast", "relay.nn.bias_add", "relay.multiply", "relay.round", "relay.clip", "relay.cast", "relay.add",
        "relay.cast",
    ]  # fmt: skip
