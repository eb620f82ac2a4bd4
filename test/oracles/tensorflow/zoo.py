"""Networks of keras.applications as frozen graphs with drawn weights, with what TensorFlow computes of an image.

    python test/oracles/tensorflow/zoo.py FOLDER                  # a network of each family
    python test/oracles/tensorflow/zoo.py FOLDER InceptionV3      # these

Writes NAME.pb and, for test/oracles/test_zoo.py, NAME.npz: the input by "in NAME", what TensorFlow computes of it as
"own", and "out", the same in double precision.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

NAMES = ("InceptionV3", "ResNet50", "MobileNetV2", "EfficientNetB0", "DenseNet121", "Xception", "NASNetMobile", "VGG16")


def write(folder: Path, name: str) -> None:
    """A network whose variables are constants of its graph."""
    tf.keras.utils.set_random_seed(1)
    model = getattr(tf.keras.applications, name)(weights=None)
    shape = (1, *model.input_shape[1:])
    for layer in model.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            layer.momentum = 0.0
    drawn = np.random.RandomState(0)
    model(drawn.rand(4, *shape[1:]).astype("float32"), training=True)  # the moments become those of a batch
    traced = tf.function(lambda x: model(x, training=False)).get_concrete_function(tf.TensorSpec(shape, name="x"))
    frozen = convert_variables_to_constants_v2(traced)
    x = drawn.rand(*shape).astype("float32")
    (own,) = tf.nest.flatten(frozen(tf.constant(x)))
    (folder / f"{name}.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())
    tf.keras.config.set_dtype_policy("float64")
    double = getattr(tf.keras.applications, name)(weights=None)
    tf.keras.config.set_dtype_policy("float32")
    double.set_weights(model.get_weights())
    y = double(x.astype("float64"), training=False)
    assert y.dtype == tf.float64
    np.savez_compressed(folder / f"{name}.npz", **{"in x": x, "own": own.numpy(), "out": y.numpy()})
    print(name, flush=True)


if __name__ == "__main__":
    where = Path(sys.argv[1])
    where.mkdir(parents=True, exist_ok=True)
    for each in sys.argv[2:] or NAMES:
        write(where, each)
