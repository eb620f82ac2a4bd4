"""SqueezeNet (Iandola et al.), versions 1.0 and 1.1."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.testing import layers
from lamina.compat.tvm.relay.testing.init import create_workload

relay: Any = _relay

_FIRES = {
    "1.0": ((16, 64), (16, 64), (32, 128), None, (32, 128), (48, 192), (48, 192), (64, 256), None, (64, 256)),
    "1.1": ((16, 64), (16, 64), None, (32, 128), (32, 128), None, (48, 192), (48, 192), (64, 256), (64, 256)),
}
"""The channels of each fire module: squeezed, and of each half after it. None is a pooling."""


def _conv(x: Any, channels: int, size: int, name: str, stride: int = 1, padding: int = 0) -> Any:
    x = layers.conv2d(
        x, channels=channels, kernel_size=(size, size), strides=(stride, stride), padding=(padding, padding), name=name
    )
    return relay.nn.relu(relay.nn.bias_add(x, relay.var(f"{name}_bias")))


def get_net(
    batch_size: int = 1,
    image_shape: tuple[int, ...] = (3, 224, 224),
    num_classes: int = 1000,
    version: str = "1.0",
    dtype: str = "float32",
) -> Any:
    """The network. Raises ValueError for a version that there is not."""
    if version not in _FIRES:
        raise ValueError(f"there is no squeezenet {version!r}; there are {', '.join(_FIRES)}")
    data = relay.var("data", shape=(batch_size, *image_shape), dtype=dtype)
    first = (96, 7) if version == "1.0" else (64, 3)
    x = relay.nn.max_pool2d(_conv(data, *first, "conv1", stride=2), pool_size=(3, 3), strides=(2, 2))
    number = 0
    for fire in _FIRES[version]:
        if fire is None:
            x = relay.nn.max_pool2d(x, pool_size=(3, 3), strides=(2, 2))
            continue
        number += 1
        squeezed = _conv(x, fire[0], 1, f"fire{number}_conv1")
        halves = (_conv(squeezed, fire[1], size, f"fire{number}_expand{size}", padding=size // 2) for size in (1, 3))
        x = relay.concatenate(tuple(halves), axis=1)
    x = _conv(relay.nn.dropout(x, rate=0.5), num_classes, 1, "conv_final")
    x = relay.nn.softmax(relay.nn.batch_flatten(relay.nn.global_avg_pool2d(x)))
    return layers.function_of(x)


def get_workload(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The network as a module, and weights; the arguments are those of `get_net`."""
    return create_workload(get_net(*args, **kwargs))
