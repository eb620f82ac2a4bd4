"""Graphs for families of operators, with TensorFlow's raw operators; `make.py` writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
raw = tf.raw_ops
FAMILIES: dict[str, Callable[[Any], None]] = {}


class Drawing:
    """The inputs and outputs of a graph that is being built."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.inputs: dict[str, np.ndarray] = {}
        self.outputs: list[str] = []

    def floats(self, *shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
        """Numbers of float32."""
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def ints(self, *shape: int, low: int = -9, high: int = 10, dtype: str = "int32") -> np.ndarray:
        """Whole numbers."""
        return self.rng.integers(low, high, shape).astype(dtype)

    def feed(self, name: str, array: np.ndarray, shape: Any = ()) -> Any:
        """A placeholder, of the array's shape or a more open one."""
        self.inputs[name] = np.asarray(array)
        return tf1.placeholder(array.dtype, shape or array.shape, name=name)

    def give(self, name: str, *tensors: Any) -> None:
        """Outputs."""
        for k, tensor in enumerate(tensors):
            own = name if len(tensors) == 1 else f"{name}_{k}"
            tf.identity(tensor, name=own)
            self.outputs.append(own)


def family(build: Callable[[Drawing], None]) -> Callable[[Drawing], None]:
    """Enter a family by the name of its function."""
    FAMILIES[build.__name__] = build
    return build


@family
def network(d: Drawing) -> None:
    """A small classifier whose batch is open."""
    x = d.feed("x", d.floats(1, 16, 16, 3), [None, 16, 16, 3])
    h = tf.nn.conv2d(x, tf.constant(d.floats(3, 3, 3, 8) * 0.2, name="kernel"), 2, "SAME", name="conv")
    h = tf.nn.relu(tf.nn.bias_add(h, tf.constant(d.floats(8))), name="relu")
    h = tf.nn.max_pool2d(h, 2, 2, "VALID")
    h = tf.nn.depthwise_conv2d(h, tf.constant(d.floats(3, 3, 8, 2) * 0.3), [1, 1, 1, 1], "SAME")
    h = tf.reshape(h, [tf.shape(h)[0], -1])
    d.give("probabilities", tf.nn.softmax(tf.matmul(h, tf.constant(d.floats(256, 10) * 0.1))))
