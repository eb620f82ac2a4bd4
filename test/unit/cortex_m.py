"""Nets on boards with a Cortex-M, as an emulator has them: built from the example in `examples/deploy/cortex-m`."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from lamina.runtime.linkable import read_linkable
from tools.header import PATH as HEADER

EXAMPLE = Path(__file__).parents[2] / "examples" / "deploy" / "cortex-m"
GCC, QEMU, SIZE = "arm-none-eabi-gcc", "qemu-system-arm", "arm-none-eabi-size"

CODE_BYTES, BESIDE_ARENA = 24 << 10, 1 << 10
"""The most that a keyword model may take: of code with its tables, and of memory beside the arena."""


class Board(NamedTuple):
    """A board of the emulator: its name, the memory map, and how C is compiled for its floats."""

    machine: str
    script: str
    fpu: str


BOARDS = {
    "cortex-m4": Board("mps2-an386", "mps2.ld", "fpv4-sp-d16"),
    "cortex-m7": Board("mps2-an500", "mps2.ld", "fpv5-sp-d16"),
    "cortex-m55": Board("mps3-an547", "mps3.ld", "auto"),
}


def skip_without_tools() -> None:
    """Skip a test where there is no compiler or no emulator for these boards."""
    for tool, package in ((GCC, "gcc-arm-none-eabi"), (QEMU, "qemu-system-arm")):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool} (Debian package {package})")


def built(target: str, folder: Path, archives: Sequence[str], *options: str, main: Path = EXAMPLE / "main.c") -> Path:
    """A program of the example and archives of nets in a folder, without a C library."""
    board, program = BOARDS[target], folder / "program.elf"
    words = [GCC, f"-mcpu={target}", "-mthumb", "-mfloat-abi=hard", f"-mfpu={board.fpu}", "-Os", "-std=c11", "-Wall"]
    words += ["-Wextra", "-Werror", "-ffreestanding", "-nostdlib", "-I", str(HEADER.parent), "-I", str(EXAMPLE)]
    words += [*options, str(main), str(EXAMPLE / "board.c"), *archives, "-lgcc", "-L", str(EXAMPLE)]
    words += ["-T", board.script, "-Wl,--fatal-warnings,--no-warn-execstack", "-o", str(program)]
    subprocess.run(words, cwd=folder, check=True)
    return program


def emulated(target: str, program: Path, frames: bytes = b"") -> tuple[dict[str, int], bytes]:
    """The numbers that a program prints, by name, and what it writes for frames that it reads. One instruction takes a
    nanosecond. Raises CalledProcessError where it says that it fails."""
    folder = program.parent
    (folder / "in.raw").write_bytes(frames)
    words = [QEMU, "-M", BOARDS[target].machine, "-nographic", "-icount", "shift=0", "-kernel", str(program)]
    words += ["-semihosting-config", "enable=on,target=native"]
    # What goes to the console by semihosting is on stderr.
    end = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    lines = [line.split() for line in end.stderr.splitlines()]
    return {words[0]: int(words[1]) for words in lines if len(words) == 2}, (folder / "out.raw").read_bytes()


def check_memory(target: str, archive: Path, facts: dict[str, int]) -> None:
    """The sizes of a keyword model, printed."""
    net = read_linkable(archive)
    arena, program = net.description["arena"], facts["code"] + facts["constants"]
    beside = facts["state"] - arena + facts["stack"]
    print(
        f"\n{target}: code {facts['code']} and tables {facts['constants']}, weights {facts['weights']}; RAM {arena} of"
        f" the arena, {facts['state'] - arena} of the state beside it, stack {facts['stack']}; inputs and outputs"
        f" {facts['tensors']}; {40 * facts['ticks']} instructions"
    )
    assert 0 < program <= CODE_BYTES and 0 < beside <= BESIDE_ARENA
    assert net.description["memory"] == facts["state"]
    # What `lamina inspect` says is what the linker has placed.
    assert (net.code_bytes, net.weight_bytes) == (facts["code"], facts["weights"])
    assert abs(net.table_bytes - facts["constants"]) < 64


def keyword_net(seed: int = 5) -> ModelProto:
    """A net that tells 12 keywords, in integers: 49 x 10 features, a convolution, four depthwise separable blocks of 64
    channels, the mean over time and frequency (as a convolution, so that it stays in integers), a dense layer."""
    random = np.random.default_rng(seed)
    weights = [
        numpy_helper.from_array(np.asarray(value), name)
        for name, value in {
            "scale": np.float32(0.1), "zero": np.int8(-128), "y.scale": np.float32(0.5), "y.zero": np.int8(0),
            "dense": random.integers(-127, 128, (64, 12)).astype(np.int8), "dense.scale": np.float32(0.01),
        }.items()
    ]  # fmt: skip
    nodes: list[NodeProto] = []

    def conv(x: str, shape: tuple[int, ...], scale: np.ndarray, pads: Sequence[int], stride: int = 1) -> str:
        n, channels = len(nodes), shape[0]
        values = np.ones(shape) if scale.ndim == 0 else random.integers(-127, 128, shape)
        parts = {
            "w": values.astype(np.int8), "s": np.broadcast_to(scale, channels).astype(np.float32),
            "z": np.zeros(channels, np.int8),
            "b": random.integers(-2000, 2000, channels).astype(np.int32) * (scale.ndim > 0),
        }  # fmt: skip
        weights.extend(numpy_helper.from_array(array, f"{key}{n}") for key, array in parts.items())
        names = [x, "scale", "zero", f"w{n}", f"s{n}", f"z{n}", "scale", "zero", f"b{n}"]
        group = 64 if shape[1] == 1 and n else 1
        how: dict[str, Any] = {"pads": pads, "strides": [stride, stride], "group": group, "kernel_shape": shape[2:]}
        nodes.append(helper.make_node("QLinearConv", names, [f"y{n}"], **how))
        return f"y{n}"

    def spread(products: int) -> np.ndarray:
        return random.uniform(0.5, 1.5, 64) / (40 * np.sqrt(products))

    x = conv("x", (64, 1, 10, 4), spread(40), [4, 1, 5, 1], 2)
    for _ in range(4):
        x = conv(x, (64, 1, 3, 3), spread(9), [1, 1, 1, 1])
        x = conv(x, (64, 64, 1, 1), spread(64), [0, 0, 0, 0])
    x = conv(x, (64, 1, 25, 5), np.asarray(1 / 125), [0, 0, 0, 0])
    nodes.append(helper.make_node("Flatten", [x], ["flat"]))
    names = ["flat", "scale", "zero", "dense", "dense.scale", "y.zero", "y.scale", "y.zero"]
    nodes.append(helper.make_node("QLinearMatMul", names, ["y"]))
    ports = [helper.make_tensor_value_info(n, TensorProto.INT8, s) for n, s in (("x", [1, 1, 49, 10]), ("y", [1, 12]))]
    graph = helper.make_graph(nodes, "keywords", ports[:1], ports[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
