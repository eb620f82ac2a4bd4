"""SavedModels of modules with variables, and of a session; `make.py` writes them, each with `numbers.npz`."""

# pyright: basic, reportMissingImports=false, reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
raw = tf.raw_ops
MODELS: dict[str, Callable[[Path], None]] = {}


def _drawn(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def _saved(folder: Path, module: Any, inputs: dict[str, Any]) -> None:
    """Write a module with a function `serve`, and what it computes."""
    tf.saved_model.save(module, str(folder), signatures=module.serve)
    outputs = module.serve(**{name: tf.constant(value) for name, value in inputs.items()})
    arrays = {f"in {n}": v for n, v in sorted(inputs.items())}
    arrays |= {f"out {n}": v.numpy() for n, v in sorted(outputs.items())}
    np.savez_compressed(folder / "numbers.npz", **arrays)
    (folder / "fingerprint.pb").unlink()


class Layers(tf.Module):
    """Variables of one name, functions that call functions, a number that is not trained."""

    def __init__(self) -> None:
        super().__init__()
        self.kernel = tf.Variable(_drawn(0, 3, 3, 2, 4), name="weights")
        self.dense = tf.Variable(_drawn(1, 4, 3), name="weights")
        self.parts = [tf.Variable(_drawn(2, 3)), tf.Variable(np.int32(2), trainable=False)]

    @tf.function
    def activated(self, x: Any) -> Any:
        return tf.nn.relu(x) * tf.cast(self.parts[1], tf.float32)

    @tf.function
    def doubled(self, x: Any) -> Any:
        return x + x

    @tf.function(input_signature=[tf.TensorSpec([None, 6, 6, 2], tf.float32, name="image")])
    def serve(self, image: Any) -> Any:
        h = self.activated(tf.nn.conv2d(image, self.kernel, 2, "SAME"))
        y = tf.matmul(tf.reduce_mean(h, [1, 2]), self.dense) + self.parts[0]
        rows = tf.gather(self.dense, [[2, 0], [1, 3]]) + tf.gather_nd(self.dense, [[[0], [1]], [[1], [2]]])
        return {"scores": self.activated(y), "hidden": self.doubled(h), "rows": rows}


class Branches(tf.Module):
    """A choice by values, and loops with and without a number of trips that is known."""

    def __init__(self) -> None:
        super().__init__()
        self.step = tf.Variable(_drawn(3, 4))

    @tf.function(input_signature=[tf.TensorSpec([4], tf.float32, name="x"), tf.TensorSpec([], tf.int32, name="n")])
    def serve(self, x: Any, n: Any) -> Any:
        chosen = tf.cond(tf.reduce_sum(x) > 0, lambda: x + self.step, lambda: x * 2.0)
        _, counted = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * self.step), (0, x))
        last, run = tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, tf.sin(v) + self.step), (0, x))
        _, halved = tf.while_loop(
            lambda i, v: tf.reduce_max(tf.abs(v)) > 0.1,
            lambda i, v: (i + 1, tf.cond(i % 2 == 0, lambda: v * 0.5, lambda: v * 0.25)),
            (0, x),
        )
        return {"chosen": chosen, "counted": counted, "run": run, "last": last, "halved": halved}


class Lists(tf.Module):
    """Arrays of tensors that loops fill: of known lengths, and by places that are known at run time only."""

    def __init__(self) -> None:
        super().__init__()
        self.matrix = tf.Variable(_drawn(9, 3, 3))

    @tf.function(input_signature=[tf.TensorSpec([6, 3], tf.float32, name="x"), tf.TensorSpec([], tf.int32, name="n")])
    def serve(self, x: Any, n: Any) -> Any:
        few = tf.TensorArray(tf.float32, size=3)
        for i in range(3):
            few = few.write(i, x[i] * 2.0)

        def step(i: Any, state: Any, rows: Any) -> Any:
            state = tf.tanh(tf.linalg.matvec(self.matrix, state) + x[i])
            return i + 1, state, rows.write(i, state)

        rows = tf.TensorArray(tf.float32, size=6, element_shape=[None])
        _, _, known = tf.while_loop(lambda i, *_: i < 6, step, (0, tf.zeros([3]), rows))
        rows = tf.TensorArray(tf.float32, size=6)
        _, last, filled = tf.while_loop(lambda i, *_: i < n, step, (0, tf.zeros([3]), rows))
        grown = raw.EmptyTensorList(element_shape=[3], max_num_elements=-1, element_dtype=tf.float32)
        for i in range(3):
            grown = raw.TensorListPushBack(input_handle=grown, tensor=x[i])
        length = raw.TensorListLength(input_handle=grown)
        shape = raw.TensorListElementShape(input_handle=grown, shape_type=tf.int32)
        _, popped = raw.TensorListPopBack(input_handle=grown, element_shape=shape, element_dtype=tf.float32)
        taken = tf.TensorArray(tf.float32, size=6).unstack(x)
        return {
            "few": few.stack(), "known": known.stack(), "filled": filled.stack(), "last": last,
            "joined": few.concat(), "popped": popped, "shape": shape + length,
            "read": taken.read(n) + taken.gather([1, 5])[0],
        }  # fmt: skip


def _lists(folder: Path) -> None:
    _saved(folder, Lists(), {"x": _drawn(10, 6, 3), "n": np.int32(4)})


def _layers(folder: Path) -> None:
    _saved(folder, Layers(), {"image": _drawn(4, 1, 6, 6, 2)})


def _branches(folder: Path) -> None:
    _saved(folder, Branches(), {"x": _drawn(5, 4), "n": np.int32(5)})


def _session(folder: Path) -> None:
    """A SavedModel of TensorFlow 1: variables of both kinds in the graph itself."""
    with tf1.Graph().as_default(), tf1.Session() as session:
        x = tf1.placeholder(tf.float32, [None, 3], name="given")
        w = tf1.get_variable("w", initializer=_drawn(6, 3, 2), use_resource=False)
        bias = tf1.get_variable("deep/bias", initializer=_drawn(7, 2), use_resource=True)
        rate = tf1.placeholder_with_default(np.float32(0.5), [], name="rate")
        y = tf.nn.tanh(tf.matmul(x, w) + bias) * rate
        session.run(tf1.global_variables_initializer())
        tf1.saved_model.simple_save(session, str(folder), {"x": x}, {"y": y})
        given = _drawn(8, 1, 3)
        np.savez_compressed(folder / "numbers.npz", **{"in x": given, "out y": session.run(y, {x: given})})


MODELS |= {"layers": _layers, "branches": _branches, "session": _session, "lists": _lists}
