"""Quantised scripts of PyTorch's, read without torch: stored models and what torch made of them; damaged files.

`test/oracles/pytorch/test_quantized.py` compares each operator with torch.
"""

from __future__ import annotations

import json
import random
import re
import struct
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

import lamina
import lamina.compat.tvm as tvm
from lamina.cli import command as cli
from lamina.compat.tvm import relay
from lamina.errors import InputError, LaminaError, UnsupportedError
from lamina.opt_tool.command import run_opt_tool

INPUTS = Path(__file__).parent / "inputs" / "torchscript"
DATA = json.loads((INPUTS / "quantized.json").read_text("utf-8"))
SHAPE = (2, 3, 6, 8)
X = np.asarray(DATA["x"], np.float32).reshape(SHAPE)
CODE = "___torch_mangle_28.py"
"""The member with the code of the frozen model."""
NAMES = {"quantized": "x", "frozen": "x", "dynamic": "input"}


@pytest.mark.parametrize("name", NAMES)
def test_a_quantised_script_computes_what_torch_computed(name: str) -> None:
    """To the bit where results are integers: torch's sums are FBGEMM's, which our arithmetic follows."""
    found: Any = lamina.compile(INPUTS / f"{name}.pt", threads=1, shapes={NAMES[name]: SHAPE})(X)
    expected = np.asarray(DATA[name], np.float32)
    if name == "dynamic":  # the bias is added to floats: machines without a fused multiply-add round once more
        np.testing.assert_allclose(found.reshape(-1), expected, rtol=3e-7, atol=1e-7)
    else:
        np.testing.assert_array_equal(found.reshape(-1), expected)


def test_products_are_those_of_integers() -> None:
    model = lamina.load(INPUTS / "quantized.pt", {"x": SHAPE})
    ops = model.ops()
    assert ops["qnn.conv2d"] == 2 and ops["qnn.dense"] == 1 and ops["qnn.quantize"] == 1 and ops["qnn.dequantize"] == 1
    assert "nn.conv2d" not in ops
    assert "%conv_0_weight" in str(model.module) and "%head_weight" in str(model.module)
    exe = lamina.compile(INPUTS / "quantized.pt", threads=1, shapes={"x": SHAPE}, cache=False)
    assert "relay.cast %conv_0_weight" not in exe.text("relay")
    sums = [line for line in exe.text("te").splitlines() if "te.reduce" in line and "f32" in line]
    assert not sums


def test_traced_and_frozen_modules_become_one_program() -> None:
    traced, frozen = (lamina.load(INPUTS / f"{name}.pt", {"x": SHAPE}).ops() for name in ("quantized", "frozen"))
    assert traced == frozen


def test_what_is_quantised_as_it_comes_has_one_scale_for_all() -> None:
    ops = lamina.load(INPUTS / "dynamic.pt", {"input": SHAPE}).ops()
    assert ops["qnn.dense"] == 2 and ops["min"] == ops["max"] == 2


def test_from_pytorch_takes_quantised_scripts() -> None:
    source = (INPUTS / "quantized.pt").read_bytes()
    mod, params = relay.frontend.from_pytorch(source, [("x", SHAPE)])
    assert "qnn.conv2d" in mod.astext() and params["conv.0.weight"].numpy().dtype == np.int8
    with tvm.transform.PassContext(opt_level=3):
        built = relay.build(mod, "llvm", params=params)
    module = tvm.contrib.graph_executor.GraphModule(built["default"](tvm.cpu(0)))
    module.set_input("x", X)
    module.run()
    np.testing.assert_array_equal(module.get_output(0).numpy().reshape(-1), np.asarray(DATA["quantized"], np.float32))


def said(*command: str) -> tuple[int, str]:
    out, err = StringIO(), StringIO()
    return cli.run(list(command), out, err), out.getvalue() + err.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_check_supports_them(name: str) -> None:
    status, text = said("check", str(INPUTS / f"{name}.pt"))
    assert status == 0 and "are supported" in text


def test_opt_tool_reads_what_was_traced() -> None:
    status, out, err = run_opt_tool([str(INPUTS / "quantized.pt"), "-p", "relay-quantized-products"])
    assert status == 0 and not err and "relay.qnn.conv2d" in out and "%x: tensor<2x3x6x8xf32>" in out


# -- what is refused, and damaged files ------------------------------------------------------------


def rewritten(name: str, member: str, change: Callable[[bytes], bytes]) -> bytes:
    """The archive with a member that is another."""
    made = BytesIO()
    with ZipFile(INPUTS / f"{name}.pt") as old, ZipFile(made, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename.endswith(member):
                changed = change(data)
                assert changed != data
                data = changed
            new.writestr(info.filename, data)
    return made.getvalue()


def code(old: str, new: str) -> bytes:
    """The frozen model with another word in its code."""
    return rewritten("frozen", CODE, lambda data: data.replace(old.encode(), new.encode()))


def objects(old: bytes, new: bytes, name: str = "frozen", member: str = "constants.pkl") -> bytes:
    assert len(old) == len(new)
    return rewritten(name, member, lambda data: data.replace(old, new))


REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "an operator that has no row": (
        lambda: code("ops.quantized.hardswish(", "ops.quantized.hardstep("), r"no converter; quantized\.hardstep"
    ),
    "a float operator that quantised tensors have none of": (
        lambda: code("ops.quantized.hardswish(", "torch.atan2("), "atan2"
    ),
    "another class of torch's": (
        lambda: objects(b"Conv2dPackedParamsBase", b"Conv9dPackedParamsBase"),
        r"objects of __torch__\.torch\.classes\.quantized\.Conv9dPackedParamsBase are not supported",
    ),
    "another version of packed weights": (
        lambda: objects(b"X\x01\x00\x00\x002", b"X\x01\x00\x00\x007"), "packed weights of version 7 are not supported"
    ),
    "another scheme": (
        lambda: objects(b"per_channel_affine", b"per_channel_affone"), "of the scheme per_channel_affone"
    ),
    "an unknown type of a quantised tensor": (lambda: code(", 13)", ", 17)"), "the element type 17"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_supported_is_refused_by_name(what: str) -> None:
    make, pattern = REFUSED[what]
    with pytest.raises(UnsupportedError, match=pattern) as found:
        lamina.load(make(), {"x": SHAPE})
    assert "\n" not in str(found.value)


def with_data(dtype: str, change: Callable[[Any], Any]) -> bytes:
    """The frozen model, whose every storage that looks like an element type's is another."""
    made = BytesIO()
    with ZipFile(INPUTS / "frozen.pt") as old, ZipFile(made, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if "/constants/" in info.filename and len(data) % np.dtype(dtype).itemsize == 0:
                data = np.asarray(change(np.frombuffer(data, dtype).copy()), dtype).tobytes()
            new.writestr(info.filename, data)
    return made.getvalue()


DAMAGED: dict[str, Callable[[], bytes]] = {
    "windows of no stride": lambda: with_data("int16", lambda a: a * 0 if a.size == 11 else a),
    "windows of more axes": lambda: with_data("int16", lambda a: a + 3 if a.size == 11 else a),
    "scales that are none": lambda: with_data("float64", lambda a: a * np.nan),
    "scales below zero": lambda: with_data("float64", lambda a: -abs(a)),
    "a weight that is cut off": lambda: with_data("int8", lambda a: a[:2]),
    "packed weights without a weight": lambda: code("ops.quantized.conv2d(", "ops.quantized.linear("),
    "a scale of a script below zero": lambda: code("quantize_per_tensor(x, ", "quantize_per_tensor(x, -"),
    "a scale of a script that is a tensor": lambda: code("quantize_per_tensor(x, 0", "quantize_per_tensor(x, x + 0"),
    "quantised data for a float operator": lambda: code("ops.quantized.add(", "torch.add("),
    "floats for a quantised operator": lambda: code("torch.max_pool2d(x0, ", "torch.max_pool2d(x, "),
    "a state that is none": lambda: objects(
        struct.pack("<BI", ord("X"), 5) + b"zeros", struct.pack("<BI", ord("X"), 5) + b"other", "quantized", "data.pkl"
    ),
    "a class without its state": lambda: rewritten(
        "quantized", "conv_relu.py", lambda data: data.replace(b"__setstate__", b"__getstate2_")
    ),
    "a state that is a loop": lambda: rewritten(
        "quantized", "conv_relu.py", lambda d: d.replace(b"self.groups = (state)[8]", b"(self).__setstate__(state, )")
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_file_is_refused_in_one_line(what: str) -> None:
    data = DAMAGED[what]()
    with pytest.raises(LaminaError) as found:
        lamina.load(data, {"x": SHAPE})
    assert found.value.exit_status in (1, 3) and "\n" not in str(found.value)


def mutated(name: str, seed: int) -> bytes:
    """The archive with a few bytes of one member changed or gone."""
    draw, made = random.Random(seed), BytesIO()
    with ZipFile(INPUTS / f"{name}.pt") as old, ZipFile(made, "w") as new:
        members = [i.filename for i in old.infolist() if re.search(r"\.pkl$|/data/|/constants/|\.py$", i.filename)]
        chosen = draw.choice(members)
        for info in old.infolist():
            data = bytearray(old.read(info))
            for _ in range(draw.choice((1, 2, 5)) if info.filename == chosen and data else 0):
                place = draw.randrange(len(data) or 1)
                data[place : place + draw.randrange(2)] = bytes([draw.randrange(256)] * draw.randrange(2))
            new.writestr(info.filename, bytes(data))
    return made.getvalue()


@pytest.mark.parametrize("seeds", [range(30), pytest.param(range(30, 300), marks=pytest.mark.long)])
@pytest.mark.parametrize("name", NAMES)
def test_mutated_files_are_read_or_refused(name: str, seeds: range) -> None:
    for seed in seeds:
        try:
            lamina.load(mutated(name, seed), {NAMES[name]: SHAPE})
        except LaminaError as e:
            assert e.exit_status in (1, 2, 3) and "\n" not in str(e), e


def test_the_message_says_where_and_what(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    path.write_bytes(DAMAGED["windows of no stride"]())
    status, text = said("compile", str(path), "--shape", "x=2,3,6,8")
    assert status == 1 and len(text.splitlines()) == 1
    assert "net.pt" in text and "packed weights are damaged" in text


def test_what_is_no_quantised_tensor_has_no_scale() -> None:
    with pytest.raises(InputError, match="q_scale of what is not quantised"):
        lamina.load(code("torch.quantize_per_tensor(x", "torch.quantize_per_tensor(torch.mul(x, torch.q_scale(x))"),
                    {"x": SHAPE})  # fmt: skip
