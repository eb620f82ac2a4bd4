"""Residual networks with the activation first (He et al., Identity Mappings in Deep Residual Networks)."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.testing import layers
from lamina.compat.tvm.relay.testing.init import create_workload

relay: Any = _relay

_UNITS = {
    18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3),
    269: (3, 30, 48, 8),
}  # fmt: skip


def residual_unit(
    data: Any,
    num_filter: int,
    stride: tuple[int, ...],
    dim_match: bool,
    name: str,
    bottle_neck: bool = True,
    data_layout: str = "NCHW",
) -> Any:
    """Two convolutions, or three where the outer ones are 1 by 1, and what goes around them."""
    kernel_layout = layers.conv_kernel_layout(data_layout)

    def normed(x: Any, n: int) -> Any:
        scaled = layers.batch_norm_infer(x, epsilon=2e-5, axis=data_layout.index("C"), name=f"{name}_bn{n}")
        return relay.nn.relu(scaled)

    def conv(x: Any, channels: int, size: int, strides: tuple[int, ...], what: str) -> Any:
        spatial = len(data_layout) - 2
        make = layers.conv2d if spatial == 2 else layers.conv3d
        return make(
            x,
            channels=channels,
            kernel_size=(size,) * spatial,
            strides=strides,
            padding=(size // 2,) * spatial,
            data_layout=data_layout,
            kernel_layout=kernel_layout,
            name=f"{name}_{what}",
        )

    first = normed(data, 1)
    ones = (1,) * len(stride)
    if bottle_neck:
        x = conv(first, num_filter // 4, 1, ones, "conv1")
        x = conv(normed(x, 2), num_filter // 4, 3, stride, "conv2")
        x = conv(normed(x, 3), num_filter, 1, ones, "conv3")
    else:
        x = conv(first, num_filter, 3, stride, "conv1")
        x = conv(normed(x, 2), num_filter, 3, ones, "conv2")
    return x + (data if dim_match else conv(first, num_filter, 1, stride, "sc"))


def stages(num_layers: int, height: int) -> tuple[tuple[int, ...], tuple[int, ...], bool]:
    """Units of each stage, channels before and after each, and whether units have three convolutions.

    Raises ValueError for a number of layers that there is no network of.
    """
    if height <= 28:
        if (num_layers - 2) % 9 == 0 and num_layers >= 164:
            return ((num_layers - 2) // 9,) * 3, (64, 64, 128, 256), True
        if (num_layers - 2) % 6 == 0 and num_layers < 164:
            return ((num_layers - 2) // 6,) * 3, (16, 16, 32, 64), False
        raise ValueError(f"there is no resnet of {num_layers} layers for small images; 6 n + 2 layers are, as 20")
    if num_layers not in _UNITS:
        raise ValueError(f"there is no resnet of {num_layers} layers; there are {', '.join(map(str, _UNITS))}")
    wide = num_layers >= 50
    return _UNITS[num_layers], (64, 256, 512, 1024, 2048) if wide else (64, 64, 128, 256, 512), wide


def features(data: Any, num_layers: int, height: int, layout: str) -> Any:
    """The network up to its last pool. Of a video, the first convolution takes every frame."""
    units, channels, bottle_neck = stages(num_layers, height)
    axis, spatial = layout.index("C"), len(layout) - 2
    conv = {"data_layout": layout, "kernel_layout": layers.conv_kernel_layout(layout)}
    x = layers.batch_norm_infer(data, epsilon=2e-5, axis=axis, scale=False, name="bn_data")
    small = height <= 32
    size = 3 if small else 7
    time = spatial - 2  # axes before height and width
    make = layers.conv2d if spatial == 2 else layers.conv3d
    x = make(
        x, channels=channels[0], kernel_size=(3,) * time + (size, size),
        strides=(1,) * time + ((1, 1) if small else (2, 2)), padding=(1,) * time + (size // 2, size // 2), name="conv0",
        **conv,
    )  # fmt: skip
    if not small:
        x = relay.nn.relu(layers.batch_norm_infer(x, epsilon=2e-5, axis=axis, name="bn0"))
        pool = relay.nn.max_pool2d if spatial == 2 else relay.nn.max_pool3d
        x = pool(x, pool_size=(3,) * spatial, strides=(2,) * spatial, padding=(1,) * spatial, layout=layout)
    for stage, (count, filters) in enumerate(zip(units, channels[1:], strict=True), 1):
        for unit in range(count):
            stride = (2 if unit == 0 and stage > 1 else 1,) * spatial
            name = f"stage{stage}_unit{unit + 1}"
            x = residual_unit(x, filters, stride, unit > 0, name, bottle_neck, layout)
    return relay.nn.relu(layers.batch_norm_infer(x, epsilon=2e-5, axis=axis, name="bn1"))


def get_net(
    batch_size: int = 1,
    num_classes: int = 1000,
    num_layers: int = 18,
    image_shape: tuple[int, ...] = (3, 224, 224),
    layout: str = "NCHW",
    dtype: str = "float32",
    **kwargs: Any,
) -> Any:
    """ResNet v2 of 18 to 269 layers, of images up to 28 by 28 that of 20, 32, ... or 164 layers."""
    data = relay.var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = features(data, num_layers, image_shape[layout.index("H") - 1], layout)
    x = relay.nn.global_avg_pool2d(x, layout=layout)
    return layers.classified(relay.nn.batch_flatten(x), num_classes)


def get_workload(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The network as a module, and weights; the arguments are those of `get_net`."""
    return create_workload(get_net(*args, **kwargs))
