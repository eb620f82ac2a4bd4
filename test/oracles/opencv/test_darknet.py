"""Networks of Darknet compute what OpenCV computes of them."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cv2")

from darknet_nets import ANCHORS, TINY, boxes, conv, image, opencv, section, write  # noqa: E402

import lamina  # noqa: E402

NET = section("net", batch=1, width=32, height=24, channels=3)
CASES: dict[str, list] = {
    "activations": [
        NET, conv(4, 3, activation="leaky"), conv(4, 4, activation="mish"), conv(4, 4, activation="swish"),
        conv(4, 4, activation="logistic"), conv(4, 4, activation="relu"), conv(4, 4, activation="tanh"),
        conv(4, 4, activation="linear"),
    ],
    "strides and pads": [
        NET, conv(4, 3, 5, stride=2, activation="leaky"), conv(4, 4, 3, pad=0, padding=0, activation="leaky"),
        conv(5, 4, 1, False, activation="relu"),
    ],
    "groups": [NET, conv(8, 3, activation="leaky"), conv(8, 8, groups=8, activation="leaky"),
               conv(6, 8, groups=2, activation="linear")],
    "residual": [NET, conv(4, 3, activation="leaky"), conv(4, 4, activation="leaky"), conv(4, 4, activation="linear"),
                 section("shortcut", **{"from": -3, "activation": "leaky"})],
    "halves of channels": [
        NET, conv(8, 3, activation="leaky"), section("route", layers=-1, groups=2, group_id=1),
        conv(4, 4, activation="leaky"), conv(4, 4, activation="leaky"), section("route", layers="-1,-2"),
        conv(8, 8, 1, activation="leaky"), section("route", layers="0,-1"),
    ],
    "pools": [NET, section("maxpool", size=3, stride=1), conv(4, 3, activation="leaky"),
              section("maxpool", size=2, stride=2), section("maxpool", size=5, stride=1),
              section("maxpool", size=2, stride=1)],
    "classifier": [NET, conv(4, 3, activation="leaky"), conv(7, 4, 1, False, activation="linear"), section("avgpool"),
                   section("softmax", groups=1)],
    "connected": [
        NET, conv(4, 3, 3, stride=8, activation="leaky"),
        (section("connected", output=9, activation="leaky"), 9 + 9 * 48),
        section("dropout", probability=".5"),
        (section("connected", output=5, activation="linear"), 5 + 5 * 9), section("softmax"),
    ],
    "attention": [
        NET, conv(4, 3, activation="leaky"), section("avgpool"), conv(4, 4, 1, False, activation="logistic"),
        section("scale_channels", **{"from": 0}), conv(4, 4, activation="logistic"),
        section("sam", **{"from": -2}),
    ],
    "blocks as channels": [NET, conv(8, 3, activation="leaky"), section("reorg", stride=2)],
    "larger": [NET, conv(4, 3, activation="leaky"), section("upsample", stride=2), conv(4, 4, activation="leaky")],
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_layers(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, CASES[name])
    x = image(path)
    found = lamina.compile(path, threads=1)(x)
    (expected,) = opencv(path, x).values()
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=2e-5, atol=2e-5)


def test_a_detector_with_two_heads(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    x = image(path)
    found = lamina.compile(path, threads=1).run({"data": x})
    expected = opencv(path, x)
    anchors = [float(a) for a in ANCHORS.split(",")]
    for name, mask in (("yolo_8", anchors[6:]), ("yolo_14", anchors[:6])):
        rows = boxes(found[name], mask, 2, (32, 48))
        wanted = expected[name]
        # OpenCV leaves out classes below its threshold.
        rows[..., 5:][wanted[..., 5:] == 0] = 0
        np.testing.assert_allclose(rows, wanted, rtol=1e-4, atol=1e-5)


def test_a_region_layer(tmp_path: Path) -> None:
    parts = [NET, conv(4, 3, activation="leaky"), conv(14, 4, 1, False, activation="linear"),
             section("region", anchors="1.3,1.7, 3.1,4.0", classes=2, coords=4, num=2, softmax=1)]  # fmt: skip
    path = write(tmp_path, parts)
    x = image(path)
    found = lamina.compile(path, threads=1)(x)
    (wanted,) = opencv(path, x).values()
    rows = boxes(found, [1.3, 1.7, 3.1, 4.0], 2, (32, 24))
    rows[..., 5:][wanted[..., 5:] == 0] = 0
    np.testing.assert_allclose(rows, wanted.reshape(rows.shape), rtol=1e-4, atol=1e-5)
