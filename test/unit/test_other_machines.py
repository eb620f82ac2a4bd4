"""Code for machines with fewer or narrower registers: micro-kernels that keep to the registers, and right numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from lamina.backends.cpu.jit import named_target
from lamina.backends.cpu.tiles import registers_of
from lamina.dialects.target import TARGET
from lamina.driver.api import texts
from lamina.driver.pipelines import Pipeline
from lamina.driver.settings import Settings
from lamina.frontends.onnx import load_onnx
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.ir.context import LaminaContext
from lamina.runtime.compiled import load_program
from lamina.runtime.llvm_module import compile_module

from . import aarch64_machine
from .host_features import needs
from .turns import each_second

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, np.dtype[Any]]

MULTIPLY_ADD = re.compile(r"\s+(vfmadd\d+ps|mulps|fmla)\b")
STACK = re.compile(r"\(%[re][sb]p|\[sp\b")
JUMP = re.compile(r"\s+(?:j[a-z]+|b(?:\.[a-z]+)?|cbn?z|tbn?z)\s(?:.*,)?\s*(\.L\w+)\s*$")


def innermost_loops(assembly: str) -> list[list[str]]:
    """The lines from the target of each backward jump up to it, where no other such stretch is inside."""
    lines = assembly.splitlines()
    labels = {line[: line.index(":")]: n for n, line in enumerate(lines) if re.match(r"\.L\w+:", line)}
    jumps = [(labels.get(m[1], n), n) for n, line in enumerate(lines) if (m := JUMP.match(line))]
    loops = [(start, end) for start, end in jumps if start < end]
    inner = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    return [lines[start : end + 1] for start, end in inner]


def micro_kernels(assembly: str) -> list[list[str]]:
    """The loops that multiply and add most of the time."""
    loops = innermost_loops(assembly)
    return [loop for loop in loops if sum(bool(MULTIPLY_ADD.match(line)) for line in loop) >= 8]


def model() -> bytes:
    """A convolution 1x1, one 3x3 of stride 2, and a dense layer on some rows."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(0)
    weights = {"w": (64, 32, 1, 1), "v": (64, 64, 3, 3), "u": (64, 48)}
    stored = [numpy_helper.from_array((rng.standard_normal(s) * 0.1).astype(np.float32), n) for n, s in weights.items()]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], kernel_shape=[1, 1]),
        helper.make_node("Conv", ["a", "v"], ["b"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("MatMul", ["z", "u"], ["d"]),
    ]
    shapes = {"x": [1, 32, 14, 14], "z": [30, 64], "b": [1, 64, 7, 7], "d": [30, 48]}
    ports = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()}
    graph = helper.make_graph(nodes, "layers", [ports["x"], ports["z"]], [ports["b"], ports["d"]], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("machines") / "layers.onnx"
    path.write_bytes(model())
    return path


@pytest.mark.parametrize("name", ["x86-64-v2", "x86-64-v3", "aarch64"])
def test_micro_kernels_do_not_touch_the_stack(name: str, path: Path) -> None:
    found = micro_kernels(texts(path, Settings.of(name, 1)).get("asm"))
    assert len(found) >= 3
    for loop in found:
        assert [line for line in loop if STACK.search(line)] == []


class Layers(NamedTuple):
    """A model with one layer of each kind, arrays for it, and what NumPy makes of them."""

    model: Any
    inputs: dict[str, Array]
    expected: dict[str, Array]


@pytest.fixture(scope="module")
def layers() -> Layers:
    """Windows of Winograd, odd channels and strides, depthwise, 1x1, transposed; products; functions; bytes; steps."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Array:
        return rng.standard_normal(shape).astype(np.float32)

    weights: dict[str, Array] = {"w": normal(32, 16, 3, 3), "odd_w": normal(20, 7, 3, 3), "deep_w": normal(16, 1, 3, 3)}
    weights |= {"point_w": normal(24, 16, 1, 1), "up_w": normal(16, 9, 2, 2), "v": normal(64, 48)}
    weights |= {"step_w": normal(1, 24, 64), "step_r": normal(1, 24, 8)}
    weights = {n: a * np.float32(0.1) for n, a in weights.items()}
    weights["bytes_w"] = rng.integers(-127, 128, (64, 40)).astype(np.int8)
    window: dict[str, Any] = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    made: dict[str, tuple[str, list[str], dict[str, Any]]] = {
        "conv": ("Conv", ["x", "w"], window),
        "odd": ("Conv", ["o", "odd_w"], {**window, "strides": [2, 2]}),
        "deep": ("Conv", ["x", "deep_w"], {**window, "group": 16}),
        "point": ("Conv", ["x", "point_w"], {}),
        "up": ("ConvTranspose", ["x", "up_w"], {"strides": [2, 2]}),
        "product": ("MatMul", ["z", "v"], {}),
        "soft": ("Softmax", ["z"], {"axis": -1}),
        **{op.lower(): (op, ["z"], {}) for op in ("Exp", "Tanh", "Erf", "Sigmoid")},
        "bytes": ("MatMulInteger", ["b", "bytes_w"], {}),
        "steps": ("GRU", ["s", "step_w", "step_r"], {"hidden_size": 8}),
    }
    inputs = {"x": normal(1, 16, 12, 12), "o": normal(1, 7, 11, 13), "z": normal(13, 64), "s": normal(5, 1, 64)}
    inputs["b"] = rng.integers(0, 256, (9, 64)).astype(np.uint8)
    nodes = [helper.make_node(op, given, [n], name=n, **attributes) for n, (op, given, attributes) in made.items()]
    kind = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.uint8): TensorProto.UINT8}
    sides = (
        [helper.make_tensor_value_info(n, kind[a.dtype], a.shape) for n, a in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.INT32 if n == "bytes" else 1, None) for n in made],
    )
    graph = helper.make_graph(nodes, "layers", *sides, [numpy_helper.from_array(a, n) for n, a in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    imported = load_onnx(model)
    results = run_relay(main_function(imported.module), [inputs[p.name] for p in imported.inputs], imported.store)
    return Layers(model, inputs, dict(zip(made, results, strict=True)))


MACHINES = ("x86-64-v2", "x86-64-v3", "alderlake", "x86-64-v4", "cascadelake", "sapphirerapids", "aarch64")
"""Of each width of vectors one without and one with products of bytes; one with all that there is; another kind."""


@pytest.mark.parametrize("machine_name", each_second(MACHINES))
def test_numbers(machine_name: str, layers: Layers, tmp_path: Path) -> None:
    """Kernels with the target's tiles run, those for AArch64 in an emulator, and give what NumPy does.

    For a machine that this one is not they are compiled at least.
    """
    machine = named_target(machine_name, 1)
    imported = load_onnx(layers.model)
    module, ctx = imported.module, LaminaContext()
    module.attributes[TARGET], ctx.params = machine, imported.store
    Pipeline(3).run(module, ctx)
    info, stored = compile_module(module, ctx.params, machine, workers=1)
    if machine_name != "aarch64":
        needs(machine_name)
    elif aarch64_machine.MISSING:
        pytest.skip(f"there is no {aarch64_machine.MISSING} (Debian packages qemu-user, binutils-aarch64-linux-gnu)")
    inputs = {p.name: layers.inputs[given.name] for p, given in zip(info.inputs, imported.inputs, strict=True)}
    if machine_name == "aarch64":
        found = aarch64_machine.run(info, stored, list(inputs.values()), tmp_path)
    else:
        found = list(load_program(stored).run(inputs).values())
    for (name, expected), result in zip(layers.expected.items(), found, strict=True):
        assert result.dtype == expected.dtype and result.shape == expected.shape
        np.testing.assert_allclose(result, expected, 2e-6, 1e-5 * float(np.abs(expected).max()), err_msg=name)


def test_tiles_fit_the_registers_with_what_is_loaded_beside_them() -> None:
    rows = {name: [registers_of(named_target(name)).rows(v) for v in (1, 2, 4)] for name in ("x86-64-v4", "aarch64")}
    assert rows == {"x86-64-v4": [28, 14, 7], "aarch64": [12, 8, 5]}
    assert [registers_of(named_target("x86-64-v3")).rows(v) for v in (1, 2, 3, 4)] == [12, 6, 3, 2]
    assert [registers_of(named_target("x86-64-v2")).rows(v) for v in (1, 2, 3, 4)] == [6, 3, 2, 1]
