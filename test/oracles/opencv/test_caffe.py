"""Networks of Caffe compute what OpenCV computes of them."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cv2")

from caffe_nets import Net, residual  # noqa: E402

import lamina  # noqa: E402


def elements() -> Net:
    net = Net(1, 4, 6, 5)
    for kind, param in (
        ("Power", "power_param { power: 2 scale: 0.5 shift: 0.25 }"), ("AbsVal", ""), ("TanH", ""), ("Sigmoid", ""),
        ("ELU", "elu_param { alpha: 0.5 }"), ("BNLL", ""), ("Power", "power_param { scale: -1.5 shift: 1 }"),
        ("ReLU", "relu_param { negative_slope: 0.125 }"), ("Exp", "exp_param { scale: 0.5 }"),
    ):  # fmt: skip
        net.add(kind, param)
    return net


def norms() -> Net:
    net = Net(2, 6, 5, 4)
    net.add("LRN", "lrn_param { local_size: 5 alpha: 0.5 beta: 0.75 }")
    net.add("Normalize", "norm_param { across_spatial: false channel_shared: false }", net.floats(6))
    net.add("Scale", "scale_param { axis: 1 }", net.floats(6))
    net.add("MVN", "mvn_param { across_channels: false }")
    return net


def shapes() -> Net:
    net = Net(2, 6, 4, 5)
    net.add("Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }")
    net.add("Reshape", "reshape_param { shape { dim: 0 dim: 10 dim: -1 } }")
    net.add("Flatten", "flatten_param { axis: 1 }")
    net.add("Softmax")
    return net


def slices() -> Net:
    net = Net(1, 6, 4, 5)
    net.add("Slice", "slice_param { axis: 1 slice_point: 2 slice_point: 3 }", tops=3)
    a, b, c = (f"{net.last[:-1]}{k}" for k in range(3))
    net.add("Concat", "concat_param { axis: 1 }", bottoms=f"{c} {a} {b}")
    net.add("ShuffleChannel", "shuffle_channel_param { group: 3 }")
    return net


def sums() -> Net:
    net = Net(1, 4, 6, 6)
    first = net.conv(4, 4)
    net.conv(4, 4, bottoms="data")
    net.add("Eltwise", "eltwise_param { operation: SUM coeff: 0.5 coeff: -2 }", bottoms=f"{first} {net.last}")
    net.add("Eltwise", "eltwise_param { operation: MAX }", bottoms=f"{first} {net.last}")
    net.add("Eltwise", "eltwise_param { operation: PROD }", bottoms=f"{first} {net.last}")
    return net


def larger() -> Net:
    net = Net(1, 4, 5, 6)
    w = net.floats(4, 3, 4, 4)
    net.add("Deconvolution", "convolution_param { num_output: 3 kernel_size: 4 stride: 2 pad: 1 }", w, net.floats(3))
    w = net.floats(3, 1, 4, 4)
    param = "convolution_param { num_output: 3 kernel_size: 4 stride: 2 pad: 1 group: 3 bias_term: false }"
    net.add("Deconvolution", param, w)
    net.add("Crop", "crop_param { axis: 2 offset: 3 offset: 2 }", bottoms=f"{net.last} data")
    return net


def dilated() -> Net:
    net = Net(1, 4, 9, 8)
    net.conv(6, 4, extra="pad: 2 dilation: 2")
    net.conv(6, 6, extra="pad_h: 1 pad_w: 0 stride_h: 2 stride_w: 1")
    return net


def pools() -> Net:
    net = Net(1, 3, 13, 12)
    net.add("Pooling", "pooling_param { pool: MAX kernel_size: 3 stride: 2 pad: 1 }")
    net.add("Pooling", "pooling_param { pool: AVE kernel_size: 2 stride: 2 }")
    net.add("Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 1 pad: 1 }")
    net.add("Pooling", "pooling_param { pool: AVE global_pooling: true }")
    return net


def priors() -> Net:
    net = Net(1, 3, 32, 40)
    features = net.conv(4, 3, extra="pad: 1 stride: 4")
    param = ("prior_box_param { min_size: 8 max_size: 14 aspect_ratio: 2 aspect_ratio: 3 flip: true clip: false "
             "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 step: 4 offset: 0.5 }")  # fmt: skip
    net.add("PriorBox", param, bottoms=f"{features} data")
    return net


CASES: dict[str, Callable[[], Net]] = {
    f.__name__: f for f in (residual, elements, norms, shapes, slices, sums, larger, dilated, pools, priors)
}


@pytest.mark.parametrize("name", CASES)
def test_layers(tmp_path: Path, name: str) -> None:
    net = CASES[name]()
    path = net.write(tmp_path)
    found = lamina.compile(path, threads=1)(net.x)
    expected = net.opencv(path)
    for y, z in zip(found if isinstance(found, (list, tuple)) else [found], expected, strict=True):
        np.testing.assert_allclose(y, z, rtol=2e-4, atol=2e-5)


def test_detections(tmp_path: Path) -> None:
    net = Net(1, 3, 32, 32)
    features = net.conv(4, 3, extra="pad: 1 stride: 4")
    moves = net.conv(16, 4, bottoms=features)
    net.add("Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }")
    moves = net.add("Flatten")
    net.conv(12, 4, bottoms=features)
    net.add("Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }")
    net.add("Reshape", "reshape_param { shape { dim: 0 dim: -1 dim: 3 } }")
    net.add("Power", "power_param { scale: 0.5 }")
    net.add("Softmax", "softmax_param { axis: 2 }")
    scores = net.add("Flatten")
    variances = " ".join(f"variance: {v}" for v in (0.1, 0.1, 0.2, 0.2))
    param = f"prior_box_param {{ min_size: 8 max_size: 14 aspect_ratio: 2 flip: true clip: false {variances} }}"
    priors = net.add("PriorBox", param, bottoms=f"{features} data")
    param = ("detection_output_param { num_classes: 3 share_location: true background_label_id: 0 "
             "code_type: CENTER_SIZE keep_top_k: 20 confidence_threshold: 0.3 "
             "nms_param { nms_threshold: 0.45 top_k: 50 } }")  # fmt: skip
    net.add("DetectionOutput", param, bottoms=f"{moves} {scores} {priors}")
    path = net.write(tmp_path)
    found = lamina.compile(path, threads=1)(net.x)[0, 0]
    (expected,) = net.opencv(path)
    expected = expected[0, 0]
    found = found[found[:, 0] >= 0]
    assert len(found) == len(expected) > 5
    # OpenCV sorts by class, then by score.
    found = found[np.lexsort((-found[:, 2], found[:, 1]))]
    expected = expected[np.lexsort((-expected[:, 2], expected[:, 1]))]
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
