"""Networks of Caffe: a small residual network as OpenCV computes it, layers against numpy, old forms, and refusals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.errors import InputError
from lamina.frontends.caffe.text_format import parse_text
from lamina.opt_tool.command import run_opt_tool

from .two_files import ALL, FEW, checked, damages, interpreted, refusal

INPUTS = Path(__file__).parent / "inputs" / "caffe"
NET = INPUTS / "net.prototxt"
X = np.random.default_rng(0).normal(size=(2, 6, 4, 5)).astype(np.float32)
INPUT = 'input: "data" input_shape { dim: 2 dim: 6 dim: 4 dim: 5 }\n'


def message(number: int, payload: bytes) -> bytes:
    """A field of a message; short lengths only need one byte, others two."""
    key = number << 3 | 2
    head = bytes([key]) if key < 128 else bytes([key & 127 | 128, key >> 7])
    size = len(payload)
    return head + (bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])) + payload


def blob(values: Any) -> bytes:
    array = np.asarray(values, "<f4")
    return message(7, message(1, bytes(array.shape))) + message(5, array.tobytes())


def write(folder: Path, text: str, blobs: Sequence[Any] = (), name: str = "l") -> Path:
    """A network whose layer `l` has these blobs."""
    path = folder / "own.prototxt"
    path.write_text(text, "utf-8")
    layer = message(1, name.encode()) + b"".join(message(7, blob(v)) for v in blobs)
    path.with_suffix(".caffemodel").write_bytes(message(100, layer))
    return path


def layer(kind: str, param: str = "", bottom: str = 'bottom: "data"', top: str = 'top: "y"') -> str:
    return f'{INPUT}layer {{ name: "l" type: "{kind}" {bottom} {top} {param} }}\n'


def test_a_network_computes_what_opencv_computes() -> None:
    with np.load(INPUTS / "net.npz") as stored:
        np.testing.assert_allclose(lamina.compile(NET, threads=1)(stored["x"]), stored["y"], rtol=1e-4, atol=1e-6)


def test_the_commands_know_the_format(tmp_path: Path) -> None:
    status, out, _ = checked("check", str(NET))
    assert status == 0 and "all 13 nodes are supported" in out
    status, out, _ = run_opt_tool([str(NET), "-o", str(tmp_path / "net.mlir")])
    assert status == 0 and "relay.nn.conv2d" in (tmp_path / "net.mlir").read_text("utf-8")
    assert lamina.load(NET, {"data": [5, 3, 17, 15]}).outputs[0].shape == (5, 5)


def numpy_cases() -> dict[str, tuple[str, list[Any], Any]]:
    """Layers with their blobs, and what numpy says."""
    x = X.astype(np.float64)
    rows = x.reshape(2, -1)
    order = np.argsort(-rows, axis=1)[:, :3]
    best = np.take_along_axis(rows, order, 1)
    pixel = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    table = np.arange(12.0).reshape(6, 2)
    turned = np.einsum("ni,io->no", rows, np.arange(240.0).reshape(120, 2) / 100)
    mean = x.mean((1, 2, 3), keepdims=True)
    spread = np.sqrt(((x - mean) ** 2).mean((1, 2, 3), keepdims=True))
    squares = np.pad(x * x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    near = sum(squares[:, :, i : i + 4, j : j + 5] for i in range(3) for j in range(3)) / 9
    return {
        "Softmax": ("softmax_param { axis: 1 }", [], pixel),
        "Threshold": ("threshold_param { threshold: 0.5 }", [], x > 0.5),
        "Log": ("log_param { base: 2 shift: 9 }", [], np.log2(x + 9)),
        "Exp": ("exp_param { base: 2 scale: 0.5 }", [], 2 ** (0.5 * x)),
        "Bias": ("bias_param { axis: 2 num_axes: 2 }", [np.arange(20.0).reshape(4, 5)],
                 x + np.arange(20.0).reshape(4, 5)),
        "Scale": ("scale_param { axis: 1 bias_term: true }", [np.arange(6.0), np.ones(6)],
                  x * np.arange(6.0)[:, None, None] + 1),
        "BatchNorm": ("batch_norm_param { eps: 0.5 }", [np.arange(6) * 4, np.full(6, 8), [4]],
                      (x - np.arange(6.0)[:, None, None]) / np.sqrt(2.5)),
        "Reduction": ("reduction_param { operation: SUMSQ axis: 1 coeff: 2 }", [], 2 * (x * x).sum((1, 2, 3))),
        "Tile": ("tile_param { axis: 1 tiles: 2 }", [], np.tile(x, (1, 2, 1, 1))),
        "ArgMax": ("argmax_param { top_k: 3 out_max_val: true }", [], np.stack([order, best], 1)),
        "Embed": ("embed_param { num_output: 2 input_dim: 6 bias_term: false }", [table],
                  table[np.clip(np.trunc(x).astype(int), 0, 5)]),
        "InnerProduct": ("inner_product_param { num_output: 2 transpose: true bias_term: false }",
                         [np.arange(240.0).reshape(120, 2) / 100], turned),
        "MVN": ("mvn_param { across_channels: true }", [], (x - mean) / (spread + 1e-9)),
        "LRN": ("lrn_param { local_size: 3 alpha: 2 norm_region: WITHIN_CHANNEL }", [], x * (1 + 2 * near) ** -0.75),
        "Normalize": ("", [[3.0]], 3 * x / np.sqrt((x * x).sum((1, 2, 3), keepdims=True))),
        "Flatten": ("flatten_param { axis: 1 end_axis: 2 }", [], x.reshape(2, 24, 5)),
        "Reshape": ("reshape_param { shape { dim: 3 dim: -1 } axis: 1 num_axes: 2 }", [], x.reshape(2, 3, 8, 5)),
        "Upsample": ("upsample_param { scale: 2 }", [], x.repeat(2, 2).repeat(2, 3)),
        "Clip": ("clip_param { min: -0.5 max: 0.25 }", [], x.clip(-0.5, 0.25)),
        "ReLU6": ("", [], x.clip(0, 6)),
        "Swish": ("swish_param { beta: 2 }", [], x / (1 + np.exp(-2 * x))),
        "PReLU": ("prelu_param { channel_shared: true }", [[0.5]], np.where(x > 0, x, 0.5 * x)),
        "Dropout": ("", [], x),
    }  # fmt: skip


@pytest.mark.parametrize("kind", numpy_cases())
def test_layers(tmp_path: Path, kind: str) -> None:
    param, blobs, expected = numpy_cases()[kind]
    found = interpreted(write(tmp_path, layer(kind, param), blobs), X)[0]
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_interp_keeps_the_corners(tmp_path: Path) -> None:
    found = interpreted(write(tmp_path, layer("Interp", "interp_param { height: 7 width: 9 }")), X)[0]
    np.testing.assert_allclose(found[:, :, ::2, ::2], X, rtol=1e-5)
    np.testing.assert_allclose(found[:, :, 1::2, ::2], (X[:, :, 1:] + X[:, :, :-1]) / 2, rtol=1e-4, atol=1e-6)


def test_layers_of_the_form_before_2014_and_rules_of_phases(tmp_path: Path) -> None:
    text = """name: 'old'  # a comment
    input: "data" input_dim: 2 input_dim: 6 input_dim: 4 input_dim: 5
    layers < name: "drop" type: DROPOUT bottom: "data" top: "data" include: { phase: TRAIN } >
    layers { name: "l", type: INNER_PRODUCT; bottom: "data" top: "y"
      inner_product_param { num_output: 2 } }
    layers { name: "twice" type: POWER bottom: "y" top: "y" power_param { scale: 2e0f } exclude { stage: "never" } }
    """
    path = write(tmp_path, text)
    w, bias = np.random.default_rng(1).normal(size=(2, 120)).astype("<f4"), np.asarray([1, 2], "<f4")

    def old(array: Any, *extents: int) -> bytes:
        head = b"".join(bytes([k + 1 << 3, e]) for k, e in enumerate(extents))
        return message(6, head + message(5, array.tobytes()))

    path.with_suffix(".caffemodel").write_bytes(
        message(2, message(4, b"l") + old(w, 1, 1, 2, 120) + old(bias, 1, 1, 1, 2))
    )
    found = interpreted(path, X)[0]
    np.testing.assert_allclose(found, 2 * (X.reshape(2, -1) @ w.T + bias), rtol=1e-4, atol=1e-4)


def test_the_text_format() -> None:
    text = "a: [1, 2.5] b { c: 'x\\'y' } b < c: \"z\" >; d: true # end\ne: -3"
    found = parse_text(text, "t")
    assert found.floats("a") == [1, 2.5] and found.bool("d") and found.int("e") == -3
    assert [m.word("c") for m in found.messages("b")] == ["x'y", "z"]


REFUSED = {
    "": "has no layers",
    "layer {": "ends inside 1 messages",
    "layer }": "a value of layer is expected",
    "}": "t:1|own.prototxt:1: } closes nothing",
    "layer { name: }": "a value is expected, not }",
    "layer: [": "ends in the middle of a field",
    "a { " * 100: "more than 64 messages are in each other",
    "\x00": "is no text of a message",
    'layer { "x" }': "is no name of a field",
    layer("Python"): "Python x1: l (no converter)",
    layer("Data"): "reads data; give the network for use",
    layer("SoftmaxWithLoss"): "is for training; give the network for use",
    layer("ReLU", bottom='bottom: "z"'): "takes the blob z, which no layer gives",
    layer("ReLU", top=""): "has no output",
    layer("ReLU", "relu_param { negative_slope: x }"): "negative_slope: x is no number",
    layer("Convolution"): "kernel_size = [0, 0] does not fit 2 axes",
    layer("Convolution", "convolution_param { num_output: 4 kernel_size: 1 }"): "has 0 blobs in the .caffemodel",
    layer("Convolution", "convolution_param { num_output: 4 kernel_size: 1 group: 4 }"): "6 channels become 4 in 4",
    layer("Convolution", "convolution_param { num_output: 1e9 kernel_size: 1 }"): "num_output: 1e9 is no number",
    layer("Pooling", "pooling_param { kernel_size: 9 }"): "",
    layer("Pooling", "pooling_param { kernel_size: 2 pool: STOCHASTIC }"): "pool: STOCHASTIC of",
    layer("InnerProduct", "inner_product_param { num_output: 99999999999 }"): "num_output = 99999999999 is out of",
    layer("Reshape", "reshape_param { shape { dim: 7 dim: -1 } }"): "does not become",
    layer("Reshape", "reshape_param { shape { dim: -1 dim: -1 } }"): "is no shape for",
    layer("Permute", "permute_param { order: 9 }"): "order [9, 0, 1, 2, 3] does not fit",
    layer("Tile", "tile_param { tiles: 99999999 }"): "tiles = 99999999 is out of range",
    layer("Slice", "slice_param { slice_point: 9 }"): "are not cut into 1 parts",
    layer("Softmax", "softmax_param { axis: 7 }"): "axis 7 is out of range",
    layer("BatchNorm", "batch_norm_param { use_global_stats: false }"): "normalises by the batch",
    layer("BatchNorm", "batch_norm_param { use_global_stats: maybe }"): "maybe is no truth value",
    layer("Eltwise", bottom=""): "operation SUM with 0 of 0 coefficients",
    layer("Concat", bottom=""): "cannot be imported",
    layer("Interp", "interp_param { height: 9999999 }"): "is out of range",
    layer("Crop"): "cannot be imported",
    layer("DetectionOutput"): "cannot be imported",
    layer("DetectionOutput", bottom='bottom: "data" ' * 3): "for 0 classes",
    layer("Proposal"): "Proposal x1: l (no converter)",
    'input: "data" input_dim: 1' + layer("ReLU")[len(INPUT) :]: "",
    'input: "data"' + layer("ReLU")[len(INPUT) :]: "1 inputs have 0 shapes",
    INPUT.replace("5", "99999999999999") + layer("ReLU")[len(INPUT) :]: "the limit is",
    INPUT.replace("5", "-5") + layer("ReLU")[len(INPUT) :]: "",
    INPUT + INPUT + layer("ReLU")[len(INPUT) :]: "is there twice",
    "layers { layer { type: 'conv' } }": "is of the form before 2013",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda t: t[-50:])
def test_what_is_wrong_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    error = refusal(path)
    if error is None:
        assert not REFUSED[text]
        return
    wanted = "|".join(map(re.escape, REFUSED[text].split("|")))
    assert re.search(wanted, str(error).replace('"', "")), str(error)
    status, _, err = checked("compile", str(path), "--no-cache")
    assert status in (1, 3) and err.count("\n") == 1


def test_the_second_file(tmp_path: Path) -> None:
    path = write(tmp_path, layer("ReLU"))
    with pytest.raises(InputError, match=r"own.caffemodel: holds weights without the network; give own.prototxt"):
        lamina.load(path.with_suffix(".caffemodel"))
    path.with_suffix(".caffemodel").write_bytes(b"no message")
    with pytest.raises(InputError, match=r"own.caffemodel: is no model of Caffe"):
        lamina.load(path)
    path = write(tmp_path, layer("InnerProduct", "inner_product_param { num_output: 2 }"))
    path.with_suffix(".caffemodel").unlink()
    with pytest.raises(InputError, match="its weights are not beside it; put it there as own.caffemodel"):
        lamina.load(path)


def test_a_blob_that_is_damaged(tmp_path: Path) -> None:
    path = write(tmp_path, layer("PReLU", "prelu_param { channel_shared: true }"))
    for body, said in (
        (message(5, b"123"), "is no model of Caffe"),
        (message(7, message(1, bytes([3]))) + message(5, bytes(4)), "a blob of shape [3] has 1 numbers"),
        (message(7, message(1, b"\xff" * 9 + b"\1")) + message(5, bytes(4)), "is no model of Caffe"),
    ):
        path.with_suffix(".caffemodel").write_bytes(message(100, message(1, b"l") + message(7, body)))
        error = refusal(path)
        assert error is not None and said in str(error), str(error)
    single = b"\x2d" + np.asarray(0.25, "<f4").tobytes()
    path.with_suffix(".caffemodel").write_bytes(
        message(100, message(1, b"l") + message(7, message(7, message(1, b"\1")) + single))
    )
    np.testing.assert_allclose(interpreted(path, X)[0], np.where(X > 0, X, 0.25 * X), rtol=1e-6)


@pytest.mark.parametrize("count", (FEW, ALL))
def test_damaged_files_are_read_or_refused(count: int, tmp_path: Path) -> None:
    assert damages(NET, NET.with_suffix(".caffemodel"), tmp_path, count) > 2 * count // 3
