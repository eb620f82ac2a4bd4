"""Networks of Darknet with random weights, and what OpenCV computes of them.

`python test/oracles/opencv/darknet_nets.py FOLDER` writes the one of `test/unit/test_darknet.py`, with its results.
"""

# pyright: basic, reportMissingImports=false, reportArgumentType=false

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np


def conv(filters: int, channels: int, size: int = 3, norm: bool = True, **options: object) -> tuple[str, int]:
    """A convolution, and the number of its weights."""
    groups = int(str(options.get("groups", 1)))
    given = {"filters": filters, "size": size, "pad": 1, "batch_normalize": int(norm), **options}
    count = filters * (4 if norm else 1) + filters * channels // groups * size * size
    return section("convolutional", **given), count


def section(name: str, **options: object) -> str:
    """A section as text."""
    return f"[{name}]\n" + "".join(f"{key}={value}\n" for key, value in options.items()) + "\n"


ANCHORS = "10,14, 23,27, 37,58, 81,82, 135,169, 344,319"
TINY: list[str | tuple[str, int]] = [
    section("net", batch=1, width=32, height=48, channels=3),
    conv(4, 3, activation="leaky"),
    section("maxpool", size=2, stride=2),
    conv(6, 4, activation="leaky"),
    section("maxpool", size=2, stride=2),
    conv(8, 6, activation="mish"),
    section("maxpool", size=2, stride=1),
    conv(8, 8, 1, activation="leaky"),
    conv(21, 8, 1, False, activation="linear"),
    section("yolo", mask="3,4,5", anchors=ANCHORS, classes=2, num=6),
    section("route", layers=-4),
    conv(4, 8, 1, activation="leaky"),
    section("upsample", stride=2),
    section("route", layers="-1, 2"),
    conv(21, 10, 1, False, activation="linear"),
    section("yolo", mask="0,1,2", anchors=ANCHORS, classes=2, num=6),
]
"""The layers of a small YOLO v3."""


def write(folder: Path, parts: list[str | tuple[str, int]], name: str = "net", seed: int = 1) -> Path:
    """The two files of a network; variances stay away from zero."""
    draw = np.random.default_rng(seed)
    count = sum(part[1] for part in parts if not isinstance(part, str))
    numbers = draw.uniform(0.05, 0.35, count).astype("<f4") * draw.choice([-1, 1, 1], count).astype("<f4")
    at = 0
    for part in parts:
        if isinstance(part, str):
            continue
        if "batch_normalize=1" in part[0]:
            n = int(part[0].partition("filters=")[2].split()[0])
            numbers[at + 3 * n : at + 4 * n] = draw.uniform(0.5, 1.5, n)
        at += part[1]
    path = folder / f"{name}.cfg"
    path.write_text("".join(part if isinstance(part, str) else part[0] for part in parts), "utf-8")
    header = np.array([0, 2, 5, 1000, 0], "<i4").tobytes()
    path.with_suffix(".weights").write_bytes(header + numbers.tobytes())
    return path


def opencv(path: Path, x: np.ndarray) -> dict[str, np.ndarray]:
    """The results of the layers that no other takes, as OpenCV names them."""
    net = cv2.dnn.readNetFromDarknet(str(path), str(path.with_suffix(".weights")))
    net.setInput(x)
    names = net.getUnconnectedOutLayersNames()
    return dict(zip(names, net.forward(names), strict=True))


def boxes(head: np.ndarray, anchors: list[float], classes: int, size: tuple[int, int]) -> np.ndarray:
    """Rows of x, y, w, h, objectness and classes, as OpenCV gives them, of what a yolo layer gives."""
    n, _, height, width = head.shape
    cells = head.reshape(n, -1, 5 + classes, height, width).transpose(0, 3, 4, 1, 2)
    rows, columns = np.mgrid[:height, :width]
    pairs = np.asarray(anchors).reshape(-1, 2)
    made = np.empty_like(cells)
    made[..., 0] = (cells[..., 0] + columns[..., None]) / width
    made[..., 1] = (cells[..., 1] + rows[..., None]) / height
    made[..., 2:4] = np.exp(cells[..., 2:4]) * pairs / np.asarray(size)
    made[..., 4] = cells[..., 4]
    made[..., 5:] = cells[..., 5:] * cells[..., 4:5]
    return made.reshape(-1, 5 + classes)


def image(path: Path, seed: int = 2) -> np.ndarray:
    """A random image of the size that a network says."""
    options = dict(line.split("=") for line in path.read_text("utf-8").split("\n\n")[0].splitlines() if "=" in line)
    shape = (1, *(int(options[k]) for k in ("channels", "height", "width")))
    return np.random.default_rng(seed).uniform(0, 1, shape).astype(np.float32)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    written = write(folder, TINY)
    x = image(written)
    # Threads of OpenCV sum up in another order.
    cv2.setNumThreads(1)
    np.savez_compressed(
        folder / "net.npz", x=x.astype(np.float16), **opencv(written, x.astype(np.float16).astype("f4"))
    )
