"""Inception v3 (Szegedy et al., Rethinking the Inception Architecture)."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.testing import layers
from lamina.compat.tvm.relay.testing.init import create_workload

relay: Any = _relay


class _Builder:
    """Convolutions with a norm and an activation, numbered as they are made."""

    def __init__(self) -> None:
        self.count = 0

    def conv(self, x: Any, channels: int, kernel: Any = 1, stride: int = 1, padding: Any = 0) -> Any:
        """A convolution; `kernel` and `padding` are numbers, or pairs."""
        sizes, pads = ((v, v) if isinstance(v, int) else v for v in (kernel, padding))
        name = f"conv{self.count}"
        self.count += 1
        x = layers.conv2d(
            x, channels=channels, kernel_size=sizes, strides=(stride, stride), padding=pads, name=f"{name}_conv"
        )
        return relay.nn.relu(layers.batch_norm_infer(x, epsilon=2e-5, scale=False, name=f"{name}_bn"))

    def chain(self, x: Any, *convs: tuple[Any, ...]) -> Any:
        """Convolutions one after the other."""
        for c in convs:
            x = self.conv(x, *c)
        return x

    def pooled(self, x: Any, channels: int) -> Any:
        """The average around each place, and a convolution of it."""
        mean = relay.nn.avg_pool2d(x, pool_size=(3, 3), strides=(1, 1), padding=(1, 1), count_include_pad=True)
        return self.conv(mean, channels)


def _halved(x: Any) -> Any:
    return relay.nn.max_pool2d(x, pool_size=(3, 3), strides=(2, 2))


def _joined(*towers: Any) -> Any:
    return relay.concatenate(towers, axis=1)


def get_net(
    batch_size: int = 1,
    num_classes: int = 1000,
    image_shape: tuple[int, ...] = (3, 299, 299),
    dtype: str = "float32",
) -> Any:
    """The network."""
    b = _Builder()
    x = relay.var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = _halved(b.chain(x, (32, 3, 2), (32, 3), (64, 3, 1, 1)))
    x = _halved(b.chain(x, (80, 1), (192, 3)))
    for pool in (32, 64, 64):
        x = _joined(
            b.conv(x, 64),
            b.chain(x, (48, 1), (64, 5, 1, 2)),
            b.chain(x, (64, 1), (96, 3, 1, 1), (96, 3, 1, 1)),
            b.pooled(x, pool),
        )
    x = _joined(b.conv(x, 384, 3, 2), b.chain(x, (64, 1), (96, 3, 1, 1), (96, 3, 2)), _halved(x))
    wide, high = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
    for inner in (128, 160, 160, 192):
        x = _joined(
            b.conv(x, 192),
            b.chain(x, (inner, 1), (inner, *wide), (192, *high)),
            b.chain(x, (inner, 1), (inner, *high), (inner, *wide), (inner, *high), (192, *wide)),
            b.pooled(x, 192),
        )
    x = _joined(
        b.chain(x, (192, 1), (320, 3, 2)),
        b.chain(x, (192, 1), (192, *wide), (192, *high), (192, 3, 2)),
        _halved(x),
    )
    for mean in (True, False):
        middle = b.conv(x, 384)
        far = b.chain(x, (448, 1), (384, 3, 1, 1))
        maximum = relay.nn.max_pool2d(x, pool_size=(3, 3), strides=(1, 1), padding=(1, 1))
        x = _joined(
            b.conv(x, 320),
            *(b.conv(tower, 384, size, 1, pad) for tower in (middle, far)
              for size, pad in (((1, 3), (0, 1)), ((3, 1), (1, 0)))),
            b.pooled(x, 192) if mean else b.conv(maximum, 192),
        )  # fmt: skip
    x = relay.nn.avg_pool2d(x, pool_size=(8, 8), strides=(1, 1))
    return layers.classified(relay.nn.batch_flatten(x), num_classes)


def get_workload(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The network as a module, and weights; the arguments are those of `get_net`."""
    return create_workload(get_net(*args, **kwargs))
