"""Three dense layers."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.testing import layers
from lamina.compat.tvm.relay.testing.init import create_workload

relay: Any = _relay


def get_net(
    batch_size: int, num_classes: int = 10, image_shape: tuple[int, ...] = (1, 28, 28), dtype: str = "float32"
) -> Any:
    """The network: 128, 64 and `num_classes` units."""
    x = relay.nn.batch_flatten(relay.var("data", shape=(batch_size, *image_shape), dtype=dtype))
    for n, units in enumerate((128, 64), 1):
        x = relay.nn.relu(layers.dense_add_bias(x, units=units, name=f"fc{n}"))
    return layers.classified(x, num_classes, "fc3")


def get_workload(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The network as a module, and weights; the arguments are those of `get_net`."""
    return create_workload(get_net(*args, **kwargs))
