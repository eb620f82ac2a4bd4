"""Networks of Caffe with random weights, and what OpenCV computes of them.

`python test/oracles/opencv/caffe_nets.py FOLDER` writes the one that `test/unit/test_caffe.py` reads, and its results.
"""

# pyright: basic, reportMissingImports=false, reportArgumentType=false

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np

Blobs = dict[str, list[np.ndarray]]


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number: int, payload: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def blob(array: np.ndarray) -> bytes:
    """A BlobProto."""
    dims = b"".join(map(_varint, array.shape))
    return _field(7, _field(1, dims)) + _field(5, array.astype("<f4").tobytes())


def old_blob(array: np.ndarray) -> bytes:
    """A BlobProto of four extents."""
    extents = (1,) * (4 - array.ndim) + array.shape
    head = b"".join(_varint(k + 1 << 3) + _varint(e) for k, e in enumerate(extents))
    return head + _field(5, array.astype("<f4").tobytes())


def model(blobs: Blobs, types: dict[str, str], old: bool = False) -> bytes:
    """A NetParameter of layers with blobs, or of the layers before 2014."""
    made = b""
    for name, arrays in blobs.items():
        if old:
            made += _field(2, _field(4, name.encode()) + b"".join(_field(6, old_blob(a)) for a in arrays))
        else:
            body = _field(1, name.encode()) + _field(2, types[name].encode())
            made += _field(100, body + b"".join(_field(7, blob(a)) for a in arrays))
    return made


class Net:
    """A network under construction: the text, and random blobs."""

    def __init__(self, *shape: int, seed: int = 0) -> None:
        self.draw = np.random.default_rng(seed)
        dims = " ".join(f"dim: {e}" for e in shape)
        self.text = (
            f'name: "net"\nlayer {{ name: "data" type: "Input" top: "data" input_param {{ shape {{ {dims} }} }} }}\n'
        )
        self.blobs: Blobs = {}
        self.types: dict[str, str] = {}
        self.last = "data"
        self.x = self.draw.normal(size=shape).astype(np.float32)

    def add(
        self, kind: str, param: str = "", *blobs: np.ndarray, bottoms: str = "", top: str = "", tops: int = 1
    ) -> str:
        """A layer on the last one, or on others: its name. With `top` it writes that."""
        name = f"{kind.lower()}{len(self.types)}"
        self.types[name] = kind
        if blobs:
            self.blobs[name] = list(blobs)
        lines = [f'bottom: "{b}"' for b in (bottoms or self.last).split()]
        names = [top or name] if tops == 1 else [f"{name}_{k}" for k in range(tops)]
        lines += [f'top: "{t}"' for t in names]
        self.text += f'layer {{ name: "{name}" type: "{kind}" {" ".join(lines)} {param} }}\n'
        self.last = names[-1]
        return names[-1]

    def floats(self, *shape: int, least: float = -0.5) -> np.ndarray:
        return self.draw.uniform(least, 0.5 if least < 0 else 1.5, shape).astype(np.float32)

    def conv(
        self, outputs: int, channels: int, size: int = 3, extra: str = "pad: 1", groups: int = 1, **given: str
    ) -> str:
        param = f"convolution_param {{ num_output: {outputs} kernel_size: {size} group: {groups} {extra} }}"
        w = self.floats(outputs, channels // groups, size, size)
        return self.add("Convolution", param, w, self.floats(outputs), **given)

    def write(self, folder: Path, name: str = "net") -> Path:
        """The two files."""
        path = folder / f"{name}.prototxt"
        path.write_text(self.text, "utf-8")
        path.with_suffix(".caffemodel").write_bytes(model(self.blobs, self.types))
        return path

    def opencv(self, path: Path) -> list[np.ndarray]:
        """The results, as OpenCV computes them."""
        net = cv2.dnn.readNetFromCaffe(str(path), str(path.with_suffix(".caffemodel")))
        net.setInput(self.x)
        return list(net.forward(net.getUnconnectedOutLayersNames()))


def residual() -> Net:
    """A small residual network, with batch normalisation in place, two pools and a classifier."""
    net = Net(2, 3, 17, 15)
    net.conv(8, 3, extra="pad: 1 stride: 2 bias_term: true")
    top = net.last
    mean, variance = net.floats(8), net.floats(8, least=0.5)
    net.add("BatchNorm", "", 2 * mean, 2 * variance, np.asarray([2.0]), top=top)
    net.add("Scale", "scale_param { bias_term: true }", net.floats(8), net.floats(8), top=top)
    net.add("ReLU", "", top=top)
    pooled = net.add("Pooling", "pooling_param { pool: MAX kernel_size: 3 stride: 2 }")
    net.conv(8, 8, groups=2)
    net.add("PReLU", "", net.floats(8))
    net.add("Eltwise", "", bottoms=f"{pooled} {net.last}")
    both = net.last
    net.conv(4, 8, size=1, extra="")
    net.add("Concat", "", bottoms=f"{both} {net.last}")
    net.add("Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }")
    net.add("InnerProduct", "inner_product_param { num_output: 5 }", net.floats(5, 12 * 3 * 3), net.floats(5))
    net.add("Softmax")
    return net


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    made = residual()
    cv2.setNumThreads(1)
    np.savez_compressed(folder / "net.npz", x=made.x, y=made.opencv(made.write(folder))[0])
