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
    from lamina.compat.tvm.relay.testing.resnet import residual_unit, stages

    height = image_shape[layout.index("H") - 1]
    units, channels, bottle_neck = stages(num_layers, height)
    axis = layout.index("C")
    conv = {"data_layout": layout, "kernel_layout": layers.conv_kernel_layout(layout)}
    data = relay.var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = layers.batch_norm_infer(data, epsilon=2e-5, axis=axis, scale=False, name="bn_data")
    small = height <= 32
    x = layers.conv3d(
        x, channels=channels[0], kernel_size=(3, 3, 3) if small else (3, 7, 7),
        strides=(1, 1, 1) if small else (1, 2, 2), padding=(1, 1, 1) if small else (1, 3, 3), name="conv0", **conv,
    )  # fmt: skip
    if not small:
        x = relay.nn.relu(layers.batch_norm_infer(x, epsilon=2e-5, axis=axis, name="bn0"))
        x = relay.nn.max_pool3d(x, pool_size=(3, 3, 3), strides=(2, 2, 2), padding=(1, 1, 1), layout=layout)
    for stage, (count, filters) in enumerate(zip(units, channels[1:], strict=True), 1):
        for unit in range(count):
            stride = (2, 2, 2) if unit == 0 and stage > 1 else (1, 1, 1)
            name = f"stage{stage}_unit{unit + 1}"
            x = residual_unit(x, filters, stride, unit > 0, name, bottle_neck, layout)
    x = relay.nn.relu(layers.batch_norm_infer(x, epsilon=2e-5, axis=axis, name="bn1"))
    x = relay.mean(x, axis=[layout.index(a) for a in "DHW"])
    return layers.classified(x, num_classes)


def get_workload(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The network as a module, and weights; the arguments are those of `get_net`."""
    return create_workload(get_net(*args, **kwargs))
