"""Integer nets of TensorFlow Lite on Cortex-M boards of an emulator give what LiteRT gives, to the bit."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import sys
from base64 import b64decode
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from litert import interpreter, run  # noqa: E402
from test_quantized_streaming import MODELS, frames  # noqa: E402
from tflite_build import Graph, Op, T, build  # noqa: E402

import lamina  # noqa: E402
from lamina.runtime.linkable import read_linkable  # noqa: E402

sys.path.append(str(Path(__file__).parents[2] / "unit"))
from cortex_m import BOARDS, built, check_memory, emulated, skip_without_tools  # noqa: E402

pytestmark = pytest.mark.slow
FRAMES = 250


def keyword_model() -> bytes:
    """The layers of a depthwise separable keyword net: 49 x 10 features, 64 channels, four blocks, 12 classes."""
    rng = np.random.default_rng(3)
    x = T((1, 49, 10, 1), "int8", scale=0.1, zero_point=10, name="features")
    last, ops = x, list[Op]()

    def conv(kernel: tuple[int, int], channels: int, stride: int, depthwise: bool) -> None:
        nonlocal last
        shape = (1, *kernel, channels) if depthwise else (channels, *kernel, last.shape[3])
        products = kernel[0] * kernel[1] * (1 if depthwise else last.shape[3])
        scales = rng.uniform(0.5, 1.5, channels) / (40 * products**0.5)
        axis, unit = (3 if depthwise else 0), np.float32(last.scale)
        w = T(shape, "int8", rng.integers(-127, 128, shape).astype(np.int8), scale=scales, axis=axis)
        bias = T((channels,), "int32", rng.integers(-900, 900, channels).astype(np.int32), scale=scales * unit)
        height, width = (-(-e // stride) for e in last.shape[1:3])
        y = T((1, height, width, channels), "int8", scale=0.1, zero_point=-128)
        options: dict[str, Any] = {"padding": "SAME", "stride_h": stride, "stride_w": stride}
        options |= {"fused_activation_function": "RELU"} | ({"depth_multiplier": 1} if depthwise else {})
        ops.append(Op("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", [last, w, bias], [y], options))
        last = y

    conv((10, 4), 64, 2, False)
    for _ in range(4):
        conv((3, 3), 64, 1, True)
        conv((1, 1), 64, 1, False)
    height, width = last.shape[1:3]
    pooled = T((1, 1, 1, 64), "int8", scale=0.1, zero_point=-128)
    options = {
        "padding": "VALID",
        "filter_height": height,
        "filter_width": width,
        "stride_h": height,
        "stride_w": width,
    }
    ops.append(Op("AVERAGE_POOL_2D", [last], [pooled], options))
    w = T((12, 64), "int8", rng.integers(-127, 128, (12, 64)).astype(np.int8), scale=0.01)
    bias = T((12,), "int32", rng.integers(-900, 900, 12).astype(np.int32), scale=0.001)
    logits, y = (
        T((1, 12), "int8", scale=0.5, zero_point=0),
        T((1, 12), "int8", scale=1 / 256, zero_point=-128, name="y"),
    )
    ops.append(Op("FULLY_CONNECTED", [pooled, w, bias], [logits]))
    ops.append(Op("SOFTMAX", [logits], [y], {"beta": 1.0}))
    return build(Graph([x], [y], ops))


@pytest.mark.parametrize("board", BOARDS)
def test_a_keyword_model(board: str, tmp_path: Path) -> None:
    skip_without_tools()
    data = keyword_model()
    lamina.export(data, tmp_path / "keywords.a", board)
    features = np.random.default_rng(1).integers(-128, 128, (3, 1, 49, 10, 1)).astype(np.int8)
    facts, found = emulated(board, built(board, tmp_path, ["keywords.a"]), features.tobytes())
    it = interpreter(data)
    expected = np.concatenate([run(it, [x])[0] for x in features])
    assert len(np.unique(expected)) > 4
    np.testing.assert_array_equal(np.frombuffer(found, np.int8).reshape(expected.shape), expected)
    check_memory(board, tmp_path / "keywords.a", facts)


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
@pytest.mark.parametrize("board", BOARDS)
def test_a_wake_word_net_with_its_state(board: str, path: Path, tmp_path: Path) -> None:
    """What it keeps of one frame for the next goes through its inputs and outputs."""
    skip_without_tools()
    lamina.export(path, tmp_path / "wake.a", board)
    net = read_linkable(tmp_path / "wake.a").description
    kept = {name: np.frombuffer(b64decode(value), dtype)[0] for name, _, dtype, _, value in net["state"]}
    names = [name for name, *_ in net["inputs"]]
    assert names[1:] == list(kept) and [n for n, *_ in net["outputs"]][1:] == [n for _, n, *_ in net["state"]]
    it = interpreter(path.read_bytes())
    features = list(islice(frames(tuple(it.get_input_details()[0]["shape"])), FRAMES))
    first = b"".join(np.full(shape, kept[name], dtype).tobytes() for name, shape, dtype in net["inputs"][1:])
    given = features[0].tobytes() + first + b"".join(f.tobytes() for f in features[1:])
    program = built(board, tmp_path, ["wake.a"], "-DNET=lamina_wake", f"-DKEPT={len(kept)}")
    facts, found = emulated(board, program, given)
    expected = [int(run(it, [frame])[0].reshape(-1)[0]) for frame in features]
    size = sum(int(np.prod(shape)) for _, shape, _ in net["outputs"])
    assert len(found) == FRAMES * size
    assert list(found[::size]) == expected and len(set(expected)) > 1
    check_memory(board, tmp_path / "wake.a", facts)
