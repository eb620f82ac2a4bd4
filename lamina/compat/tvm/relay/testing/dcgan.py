"""The generator of DCGAN (Radford et al.)."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm import relay as _relay
from lamina.compat.tvm.relay.testing import layers
from lamina.compat.tvm.relay.testing.init import create_workload

relay: Any = _relay


def get_net(
    batch_size: int,
    random_len: int = 100,
    oshape: tuple[int, ...] = (3, 64, 64),
    ngf: int = 128,
    code: Any = None,
    layout: str = "NCHW",
    dtype: str = "float32",
) -> Any:
    """From random numbers to an image of 64 by 64. Raises ValueError for another size."""
    if tuple(oshape[1:]) != (64, 64) or layout != "NCHW":
        raise ValueError(f"the images are of 64 by 64 in NCHW, not {tuple(oshape)} in {layout}")
    x = code if code is not None else relay.var("data", shape=(batch_size, random_len), dtype=dtype)
    x = relay.nn.dense(x, relay.var("dense_weight"), units=4 * 4 * ngf * 8)
    x = relay.nn.relu(relay.reshape(x, (-1, ngf * 8, 4, 4)))
    for n, channels in enumerate((ngf * 4, ngf * 2, ngf, oshape[0]), 2):
        x = layers.conv2d_transpose(
            x, channels=channels, kernel_size=(4, 4), strides=(2, 2), padding=(1, 1), name=f"g{n}_deconv"
        )
        if n < 5:
            x = relay.nn.relu(layers.batch_norm_infer(x, epsilon=1e-5, scale=False, name=f"g{n}_bn"))
    return layers.function_of(relay.tanh(x))


def get_workload(*args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """The network as a module, and weights; the arguments are those of `get_net`."""
    return create_workload(get_net(*args, **kwargs))
