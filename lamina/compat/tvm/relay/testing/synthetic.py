"""A small network with one of each of the usual operators."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.testing import layers
from lamina.compat.tvm.relay.testing.init import create_workload

relay: Any = _relay


def get_net(input_shape: tuple[int, ...] = (1, 3, 24, 12), dtype: str = "float32", wtype: str | None = None) -> Any:
    """A convolution, a depthwise one, a product of matrices, and what goes between them."""
    data = relay.var("data", shape=input_shape, dtype=dtype)
    channels = input_shape[1]
    wtype = wtype or dtype
    dense_shape = [-1, input_shape[3]]

    def weight(name: str, *shape: int) -> Any:
        return relay.var(f"{name}_weight", shape=shape, dtype=wtype)

    x = relay.nn.conv2d(data, weight("conv1", 3, channels, 5, 5), kernel_size=(5, 5), channels=3, padding=(2, 2))
    x = relay.nn.relu(relay.nn.bias_add(x, relay.var("conv1_bias", shape=(3,), dtype=wtype)))
    x = relay.nn.conv2d(x, weight("conv2", 3, 1, 5, 5), kernel_size=(5, 5), channels=3, groups=3, padding=(2, 2))
    x = relay.nn.dense(relay.reshape(x, dense_shape), weight("dense", input_shape[3], input_shape[3]))
    return layers.function_of(relay.nn.relu(relay.reshape(x, list(input_shape[:1]) + [3] + list(input_shape[2:]))))


def get_workload(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The network as a module, and weights; the arguments are those of `get_net`."""
    return create_workload(get_net(*args, **kwargs))
