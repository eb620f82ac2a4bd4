"""Residual networks of videos."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.testing import layers
from lamina.compat.tvm.relay.testing.init import create_workload

relay: Any = _relay


def get_net(
    batch_size: int = 1,
    num_classes: int = 1000,
    num_layers: int = 18,
    image_shape: tuple[int, ...] = (3, 16, 112, 112),
    layout: str = "NCDHW",
    dtype: str = "float32",
    **kwargs: Any,
) -> Any:
    """ResNet v2 of 18 to 269 layers with convolutions over time too."""
    from lamina.compat.tvm.relay.testing.resnet import features

    data = relay.var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = features(data, num_layers, image_shape[layout.index("H") - 1], layout)
    x = relay.mean(x, axis=[layout.index(a) for a in "DHW"])
    return layers.classified(x, num_classes)


def get_workload(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The network as a module, and weights; the arguments are those of `get_net`."""
    return create_workload(get_net(*args, **kwargs))
