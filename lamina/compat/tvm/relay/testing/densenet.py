"""DenseNet (Huang et al.): every layer reads all before it."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.testing import layers
from lamina.compat.tvm.relay.testing.init import create_workload

relay: Any = _relay

_SPECS = {
    121: (64, 32, (6, 12, 24, 16)), 161: (96, 48, (6, 12, 36, 24)), 169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
}  # fmt: skip
"""Channels at first, channels that each layer adds, and layers of each block."""


def _conv(x: Any, channels: int, size: int, name: str, stride: int = 1) -> Any:
    """A normed and activated input through a convolution."""
    return layers.conv2d(
        x, channels=channels, kernel_size=(size, size), strides=(stride, stride), padding=(size // 2, size // 2),
        name=f"{name}_conv",
    )  # fmt: skip


def _normed(x: Any, name: str) -> Any:
    return relay.nn.relu(layers.batch_norm_infer(x, name=name))


def get_net(
    densenet_size: int = 121,
    classes: int = 1000,
    batch_size: int = 4,
    image_shape: tuple[int, ...] = (3, 224, 224),
    dtype: str = "float32",
) -> Any:
    """DenseNet of 121, 161, 169 or 201 layers. Raises ValueError for other numbers."""
    if densenet_size not in _SPECS:
        raise ValueError(f"there is no densenet of {densenet_size} layers; there are {', '.join(map(str, _SPECS))}")
    channels, growth, blocks = _SPECS[densenet_size]
    data = relay.var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = _normed(_conv(data, channels, 7, "conv1", stride=2), "bn1")
    x = relay.nn.max_pool2d(x, pool_size=(3, 3), strides=(2, 2), padding=(1, 1))
    for block, count in enumerate(blocks):
        for n in range(count):
            name = f"block{block}_layer{n}"
            inner = _conv(_normed(x, f"{name}_bn1"), growth * 4, 1, f"{name}_1")
            x = relay.concatenate((x, _conv(_normed(inner, f"{name}_bn2"), growth, 3, f"{name}_2")), axis=1)
        channels += count * growth
        if block + 1 < len(blocks):
            channels //= 2
            x = _conv(_normed(x, f"transition{block}_bn"), channels, 1, f"transition{block}")
            x = relay.nn.avg_pool2d(x, pool_size=(2, 2), strides=(2, 2))
    x = relay.nn.global_avg_pool2d(_normed(x, "bn2"))
    return layers.function_of(layers.dense_add_bias(relay.nn.batch_flatten(x), units=classes, name="fc"))


def get_workload(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The network as a module, and weights; the arguments are those of `get_net`."""
    return create_workload(get_net(*args, **kwargs))
