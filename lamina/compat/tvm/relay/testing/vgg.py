"""VGG (Simonyan and Zisserman)."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.testing import layers
from lamina.compat.tvm.relay.testing.init import create_workload

relay: Any = _relay

_LAYERS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


def get_net(
    batch_size: int,
    image_shape: tuple[int, ...] = (3, 224, 224),
    num_classes: int = 1000,
    dtype: str = "float32",
    num_layers: int = 11,
    batch_norm: bool = False,
) -> Any:
    """VGG of 11, 13, 16 or 19 layers. Raises ValueError for other numbers."""
    if num_layers not in _LAYERS:
        raise ValueError(f"there is no vgg of {num_layers} layers; there are {', '.join(map(str, _LAYERS))}")
    x = relay.var("data", shape=(batch_size, *image_shape), dtype=dtype)
    for stage, (count, channels) in enumerate(zip(_LAYERS[num_layers], (64, 128, 256, 512, 512), strict=True), 1):
        for n in range(1, count + 1):
            name = f"conv{stage}_{n}"
            x = layers.conv2d(x, kernel_size=(3, 3), padding=(1, 1), channels=channels, name=name)
            x = relay.nn.bias_add(x, relay.var(f"{name}_bias"))
            if batch_norm:
                x = layers.batch_norm_infer(x, name=f"bn{stage}_{n}")
            x = relay.nn.relu(x)
        x = relay.nn.max_pool2d(x, pool_size=(2, 2), strides=(2, 2))
    x = relay.nn.batch_flatten(x)
    for n in (6, 7):
        x = relay.nn.dropout(relay.nn.relu(layers.dense_add_bias(x, units=4096, name=f"fc{n}")), rate=0.5)
    return layers.classified(x, num_classes, "fc8")


def get_workload(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The network as a module, and weights; the arguments are those of `get_net`."""
    return create_workload(get_net(*args, **kwargs))
