"""Networks of Darknet: a small YOLO as OpenCV computes it, layers against loops, and refusals."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.errors import InputError, LaminaError
from lamina.opt_tool.command import run_opt_tool

from .two_files import ALL, FEW, checked, damages, interpreted, refusal

INPUTS = Path(__file__).parent / "inputs" / "darknet"
NET = INPUTS / "net.cfg"
HEAD = "[net]\nwidth=8\nheight=6\nchannels=4\n"


def write(folder: Path, text: str, numbers: Any = (), header: tuple[int, ...] = (0, 2, 5, 0, 0)) -> Path:
    """The two files of a network."""
    path = folder / "own.cfg"
    path.write_text(text, "utf-8")
    data = np.asarray(header, "<i4").tobytes() + np.asarray(numbers, "<f4").tobytes()
    path.with_suffix(".weights").write_bytes(data)
    return path


def draw(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def computed(path: Path, *inputs: Any) -> np.ndarray[Any, Any]:
    return interpreted(path, *inputs)[0]


def test_a_detector_computes_what_opencv_computes() -> None:
    with np.load(INPUTS / "net.npz") as stored:
        x = stored["x"].astype(np.float32)
        found = lamina.compile(NET, threads=1).run({"data": x})
        assert list(found) == ["yolo_8", "yolo_14"]
        for name, mask in (("yolo_8", [81, 82, 135, 169, 344, 319]), ("yolo_14", [10, 14, 23, 27, 37, 58])):
            rows, expected = _boxes(found[name], mask), stored[name]
            # OpenCV leaves out classes below its threshold.
            rows[:, 5:][expected[:, 5:] == 0] = 0
            np.testing.assert_allclose(rows, expected, rtol=1e-4, atol=1e-5)


def _boxes(head: np.ndarray[Any, Any], anchors: list[int]) -> np.ndarray[Any, Any]:
    """x, y, w, h in parts of the image, objectness, and classes times that."""
    rows: list[list[float]] = []
    _, channels, height, width = head.shape
    for j in range(height):
        for i in range(width):
            for a in range(3):
                t = head[0, a * channels // 3 : (a + 1) * channels // 3, j, i]
                w, h = (math.exp(t[2 + k]) * anchors[2 * a + k] / (32, 48)[k] for k in range(2))
                rows.append([(t[0] + i) / width, (t[1] + j) / height, w, h, t[4], *(t[5:] * t[4])])
    return np.asarray(rows)


def test_the_commands_know_the_format(tmp_path: Path) -> None:
    status, out, _ = checked("check", str(NET))
    assert status == 0 and "all 15 nodes are supported" in out
    status, out, _ = run_opt_tool([str(NET), "-o", str(tmp_path / "net.mlir")])
    assert status == 0 and "relay.nn.conv2d" in (tmp_path / "net.mlir").read_text("utf-8")
    status, out, _ = checked("run", str(NET), "--shape", "data=2,3,64,64")
    assert status == 0 and "yolo_14: float32[2, 21, 32, 32]" in out


def test_the_weights_count_for_the_cache(tmp_path: Path) -> None:
    text = HEAD + "[convolutional]\nfilters=1\nsize=1\nactivation=linear\n"
    x = np.ones((1, 4, 6, 8), np.float32)
    for bias in (1, 3):
        assert lamina.compile(write(tmp_path, text, [bias, 0, 0, 0, 0]), threads=1)(x).max() == bias


@pytest.mark.parametrize("header", [(0, 1, 0, 7), (0, 2, 0, 7, 0), (1, 0, 0, 7, 0)])
def test_the_version_says_how_long_the_header_is(tmp_path: Path, header: tuple[int, ...]) -> None:
    path = write(tmp_path, HEAD + "[batchnorm]\n", [*[5] * 4, *[1] * 4, *[0] * 4, *[1] * 4], header)
    np.testing.assert_allclose(computed(path, np.zeros((1, 4, 6, 8), np.float32)), 5)


def test_an_old_matrix_is_transposed(tmp_path: Path) -> None:
    w = draw(192, 3)
    path = write(
        tmp_path, HEAD + "[connected]\noutput=3\nactivation=linear\n", [0, 0, 0, *w.reshape(-1)], (1001, 0, 0, 0)
    )
    x = draw(2, 4, 6, 8)
    exe = lamina.compile(path, shapes={"data": [2, 4, 6, 8]}, threads=1)
    np.testing.assert_allclose(exe(x), x.reshape(2, -1) @ w, rtol=1e-4, atol=1e-4)


def test_reorg_moves_as_darknets_loop_does(tmp_path: Path) -> None:
    x = draw(1, 4, 6, 8)
    memory, expected = x.reshape(-1), np.empty(x.size, np.float32)
    w, h, c, stride = 8, 6, 4, 2
    out_c = c // (stride * stride)
    for k in range(c):
        for j in range(h):
            for i in range(w):
                c2, offset = k % out_c, k // out_c
                w2, h2 = i * stride + offset % stride, j * stride + offset // stride
                expected[i + w * (j + h * k)] = memory[w2 + w * stride * (h2 + h * stride * c2)]
    found = computed(write(tmp_path, HEAD + "[reorg]\nstride=2\n"), x)
    np.testing.assert_array_equal(found.reshape(-1), expected)


def test_a_local_layer_has_kernels_of_its_own_at_each_place(tmp_path: Path) -> None:
    places, n, size = 3 * 4, 2, 3
    beta, w, x = draw(n, 3, 4, seed=1), draw(places, n, 4, size, size, seed=2), draw(1, 4, 6, 8)
    text = HEAD + "[local]\nfilters=2\nsize=3\nstride=2\npad=1\nactivation=linear\n"
    found = computed(write(tmp_path, text, [*beta.reshape(-1), *w.reshape(-1)]), x)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    for j in range(3):
        for i in range(4):
            patch = padded[0, :, 2 * j : 2 * j + 3, 2 * i : 2 * i + 3]
            expected = (w[j * 4 + i] * patch).sum((1, 2, 3)) + beta[:, j, i]
            np.testing.assert_allclose(found[0, :, j, i], expected, rtol=1e-4, atol=1e-4)


def _stair(x: float) -> float:
    n = math.floor(x)
    return math.floor(x / 2) if n % 2 == 0 else (x - n) + math.floor(x / 2)


ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "loggy": lambda x: 2 / (1 + math.exp(-x)) - 1,
    "relie": lambda x: x if x > 0 else 0.01 * x,
    "ramp": lambda x: x * (x > 0) + 0.1 * x,
    "plse": lambda x: 0.01 * (x + 4) if x < -4 else 0.01 * (x - 4) + 1 if x > 4 else 0.125 * x + 0.5,
    "stair": _stair,
    "hardtan": lambda x: min(max(x, -1), 1),
    "lhtan": lambda x: 0.001 * x if x < 0 else 0.001 * (x - 1) + 1 if x > 1 else x,
    "elu": lambda x: x if x >= 0 else math.exp(x) - 1,
    "selu": lambda x: 1.0507 * x if x >= 0 else 1.0507 * 1.6732 * (math.exp(x) - 1),
    "relu6": lambda x: min(max(x, 0), 6),
    "gelu": lambda x: 0.5 * x * (1 + math.tanh(0.797885 * x + 0.035677 * x**3)),
    "hard_mish": lambda x: x if x > 0 else x * x / 2 + x if x > -2 else 0,
    "mish": lambda x: x * math.tanh(math.log1p(math.exp(x))),
}


def test_activations(tmp_path: Path) -> None:
    x = (draw(1, 4, 6, 8) * 4).astype(np.float32)
    for name, function in ACTIVATIONS.items():
        found = computed(write(tmp_path, HEAD + f"[activation]\nactivation={name}\n"), x)
        expected = np.vectorize(function, otypes=[np.float32])(x.astype(np.float64))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, err_msg=name)


def test_heads_and_small_layers(tmp_path: Path) -> None:
    x = draw(1, 4, 6, 8)
    found = computed(write(tmp_path, HEAD + "[crop]\ncrop_height=2\ncrop_width=4\n[cost]\n"), x)
    np.testing.assert_allclose(found, 2 * x[:, :, 2:4, 2:6] - 1, rtol=1e-6)
    text = "[net]\ninputs=28\n[detection]\nside=2\nclasses=3\nsoftmax=1\n"
    row = draw(1, 28)
    e = np.exp(row[:, :12].reshape(4, 3))
    found = computed(write(tmp_path, text), row)
    np.testing.assert_allclose(found[:, :12].reshape(4, 3), e / e.sum(1, keepdims=True), rtol=1e-5)
    np.testing.assert_array_equal(found[:, 12:], row[:, 12:])
    text = HEAD + "[shortcut]\nfrom=-1\n"
    assert "there is no layer -1" in str(refusal(write(tmp_path, text)))
    text = HEAD + "[normalization]\nsize=3\nalpha=.5\nbeta=.75\nkappa=2\n"
    squares = np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))
    total = squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:]
    np.testing.assert_allclose(computed(write(tmp_path, text), x), x / (2 + 0.5 * total) ** 0.75, rtol=1e-5)
    text = "[net]\nwidth=3\nheight=2\nchannels=6\n[yolo]\nclasses=1\nmask=0\nnum=1\nnew_coords=1\nscale_x_y=2\n"
    x = draw(1, 6, 2, 3)
    np.testing.assert_allclose(computed(write(tmp_path, text), x)[:, :2], 2 * x[:, :2] - 0.5, rtol=1e-6)


# -- refusals --------------------------------------------------------------------------------------

REFUSED = {
    "[lstm]\n": r"lstm x1: lstm_0 \(no converter\)",
    "[convolutional]\nxnor=1\n": "xnor = 1 is not supported",
    "[convolutional]\nfilters=1000000000\n": "filters = 1000000000 is no number, or too large",
    "[convolutional]\nfilters=60000\nsize=60000\n": "takes 60000 weights, 0 are left",
    "[convolutional]\nfilters=0\n": "filters = 0 is out of range",
    "[convolutional]\nfilters=x\n": r"filters = x is no number",
    "[convolutional]\nfilters=nan\n": r"filters = nan is no number",
    "[convolutional]\ngroups=3\n": "do not divide into 3 groups",
    "[convolutional]\nactivation=wild\n": "takes 1 weights",
    "[activation]\nactivation=wild\n": "the activation wild is not supported",
    "[maxpool]\nstride=0\n": "stride = 0 is out of range",
    "[maxpool]\nsize=9\npadding=0\n": "does not fit",
    "[route]\n": "has no layers",
    "[route]\nlayers=5\n": "there is no layer 5 before layer 0",
    "[dropout]\n[route]\nlayers=-1\ngroups=3\n": "there is no group 0 of 3",
    "[softmax]\ngroups=5\n": "192 elements do not divide into 5 groups",
    "[softmax]\ntree=x.tree\n": "tree = x.tree is not supported",
    "[upsample]\nstride=-2\n": "stride = -2 is out of range",
    "[upsample]\nstride=60000\n": "the limit is",
    "[reorg]\nstride=3\n": "does not divide by a stride of 3",
    "[crop]\ncrop_height=90\n": "there are no 90x1 elements",
    "[yolo]\nclasses=5\n": "has not the 1 x 10 channels of the anchors",
    "[region]\ncoords=1\nclasses=1\n": "",
    "[shortcut]\nfrom=0\n": "there is no layer 0 before layer 0",
    "[connected]\noutput=5\n": "takes 5 weights, 0 are left",
    "[avgpool]\n[connected]\n[avgpool]\n": "",
    "garbage\n": r"own.cfg:5: garbage is no section and no option",
    "": "has no layers",
    "[local]\nsize=7\n": "pad = 0 and size = 7 are not supported together",
    "[scale_channels]\nfrom=0\n": "there is no layer 0",
    "\n".join(["[dropout]"] * 10_001): "has more than 10000 sections",
    "[dropout]\n" + "x" * 200: "is no section and no option",
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda t: t[:40])
def test_what_is_wrong_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, HEAD + text)
    error = refusal(path)
    assert error is not None and re.search(REFUSED[text], str(error).replace('"', "")), str(error)
    status, _, err = checked("compile", str(path), "--no-cache")
    assert status in (1, 3) and err.count("\n") == 1


def test_the_second_file(tmp_path: Path) -> None:
    path = write(tmp_path, HEAD + "[dropout]\n", [1.0])
    with pytest.raises(InputError, match=r"own.weights: has 1 weights more than the network takes"):
        lamina.load(path)
    with pytest.raises(InputError, match=r"own.weights: holds weights without the network; give own.cfg"):
        lamina.load(path.with_suffix(".weights"))
    with pytest.raises(InputError, match="cannot be read from bytes; give the path"):
        lamina.load(path.read_bytes())
    path.with_suffix(".weights").rename(tmp_path / "other.weights")
    with pytest.raises(InputError, match="other.weights: has 1 weights more"):  # it is the only one
        lamina.load(path)
    (tmp_path / "third.weights").write_bytes(b"")
    path.write_text(HEAD + "[connected]\noutput=2\n", "utf-8")
    with pytest.raises(InputError, match=r"own.cfg: its weights are not beside it; put it there as own.weights"):
        lamina.load(path)
    path.with_suffix(".weights").write_bytes(b"short")
    with pytest.raises(InputError, match="own.weights: has 5 bytes, no header"):
        lamina.load(path)


@pytest.mark.parametrize("count", (FEW, ALL))
def test_damaged_files_are_read_or_refused(count: int, tmp_path: Path) -> None:
    assert damages(NET, NET.with_suffix(".weights"), tmp_path, count) > 2 * count // 3


def test_the_size_of_images_is_free_where_layers_allow_it(tmp_path: Path) -> None:
    with pytest.raises(LaminaError, match="has the shape"):
        lamina.load(NET, {"data": [1, 4, 64, 64]})
    assert lamina.load(NET, {"data": [1, 3, 128, 64]}).outputs[0].shape == (1, 21, 32, 16)
