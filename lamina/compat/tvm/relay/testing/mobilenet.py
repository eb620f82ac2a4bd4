"""MobileNet (Howard et al.): depthwise and pointwise convolutions by turns."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.testing import layers
from lamina.compat.tvm.relay.testing.init import create_workload

relay: Any = _relay

_BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *(((512, 1),) * 5), (1024, 2), (1024, 1))
"""The channels after each pair of convolutions, and the stride of its first one."""


def _normed(x: Any, name: str, layout: str) -> Any:
    return relay.nn.relu(layers.batch_norm_infer(x, epsilon=1e-5, axis=layout.index("C"), name=f"{name}_bn"))


def get_net(
    batch_size: int = 1,
    num_classes: int = 1000,
    image_shape: tuple[int, ...] = (3, 224, 224),
    dtype: str = "float32",
    layout: str = "NCHW",
    alpha: float = 1.0,
) -> Any:
    """The network, its channels multiplied by `alpha`."""
    data = relay.var("data", shape=(batch_size, *image_shape), dtype=dtype)
    plain, deep = (layers.conv_kernel_layout(layout, depthwise) for depthwise in (False, True))
    channels = int(32 * alpha)
    x = layers.conv2d(
        data, channels=channels, kernel_size=(3, 3), strides=(2, 2), padding=(1, 1), data_layout=layout,
        kernel_layout=plain, name="conv_block_1_conv",
    )  # fmt: skip
    x = _normed(x, "conv_block_1", layout)
    for n, (after, stride) in enumerate(_BLOCKS, 1):
        name = f"separable_conv_block_{n}"
        x = layers.conv2d(
            x, channels=channels, groups=channels, kernel_size=(3, 3), strides=(stride, stride), padding=(1, 1),
            data_layout=layout, kernel_layout=deep, name=f"{name}_depthwise_conv1",
        )  # fmt: skip
        x = _normed(x, f"{name}_1", layout)
        channels = int(after * alpha)
        x = layers.conv2d(
            x, channels=channels, kernel_size=(1, 1), data_layout=layout, kernel_layout=plain, name=f"{name}_conv2"
        )
        x = _normed(x, f"{name}_2", layout)
    x = relay.nn.batch_flatten(relay.nn.global_avg_pool2d(x, layout=layout))
    return layers.classified(x, num_classes, "fc")


def get_workload(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The network as a module, and weights; the arguments are those of `get_net`."""
    return create_workload(get_net(*args, **kwargs))
