"""The network of deep Q-learning (Mnih et al.)."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.testing import layers
from lamina.compat.tvm.relay.testing.init import create_workload

relay: Any = _relay


def get_net(
    batch_size: int,
    num_actions: int = 18,
    image_shape: tuple[int, ...] = (4, 84, 84),
    dtype: str = "float32",
    layout: str = "NCHW",
) -> Any:
    """The network as a function: of the last pictures, the value of each action."""
    kernel_layout = layers.conv_kernel_layout(layout)
    x = relay.var("data", shape=(batch_size, *image_shape), dtype=dtype)
    for n, (channels, size, stride) in enumerate(((32, 8, 4), (64, 4, 2), (64, 3, 1)), 1):
        x = layers.conv2d(
            x, channels=channels, kernel_size=(size, size), strides=(stride, stride), data_layout=layout,
            kernel_layout=kernel_layout, name=f"conv{n}",
        )  # fmt: skip
        x = relay.nn.relu(relay.nn.bias_add(x, relay.var(f"conv{n}_bias"), axis=layout.index("C")))
    x = relay.nn.relu(layers.dense_add_bias(relay.nn.batch_flatten(x), units=512, name="dense1"))
    return layers.function_of(layers.dense_add_bias(x, units=num_actions, name="dense2"))


def get_workload(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The network as a module, and weights; the arguments are those of `get_net`."""
    return create_workload(get_net(*args, **kwargs))
