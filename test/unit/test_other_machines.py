"""Code for machines with fewer or narrower registers: micro-kernels that keep to the registers, and right numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.api import texts
from lamina.backends.cpu.jit import host_target, named_target
from lamina.backends.cpu.tiles import registers_of

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
    return [loop for loop in loops if sum(bool(MULTIPLY_ADD.match(line)) for line in loop) >= 12]


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


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "aarch64"])
def test_micro_kernels_do_not_touch_the_stack(target: str, path: Path) -> None:
    found = micro_kernels(texts(path, target=target, threads=1).get("asm"))
    assert len(found) >= 3
    for loop in found:
        assert [line for line in loop if STACK.search(line)] == []


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3"])
def test_numbers(target: str, path: Path) -> None:
    host = host_target(1)
    missing = [f for f in named_target(target).feature_list() if not host.has_feature(f[1:])]
    if missing:
        pytest.skip(f"this machine lacks {', '.join(missing)}")
    ort: Any = pytest.importorskip("onnxruntime")
    inputs = {
        n: np.random.default_rng(1).standard_normal(s).astype(np.float32)
        for n, s in {"x": (1, 32, 14, 14), "z": (30, 64)}.items()
    }
    found = lamina.compile(path, target=target, threads=1, cache=False).run(inputs)
    session: Any = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    results: list[Any] = list(session.run(["b", "d"], inputs))
    for name, expected in zip(("b", "d"), results, strict=True):
        np.testing.assert_allclose(found[name], expected, 1e-4, 1e-5)


def test_tiles_fit_the_registers_with_what_is_loaded_beside_them() -> None:
    rows = {name: [registers_of(named_target(name)).rows(v) for v in (1, 2, 4)] for name in ("x86-64-v4", "aarch64")}
    assert rows == {"x86-64-v4": [28, 14, 7], "aarch64": [12, 8, 5]}
    assert [registers_of(named_target("x86-64-v3")).rows(v) for v in (1, 2, 3, 4)] == [10, 5, 3, 2]
    assert [registers_of(named_target("x86-64-v2")).rows(v) for v in (1, 2, 3, 4)] == [6, 3, 2, 1]
