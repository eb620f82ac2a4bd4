"""Convolutions as TVM writes them: several kernels for each channel, layouts on blocks of channels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay as _relay
from lamina.errors import InputError

pytestmark = pytest.mark.slow

relay: Any = _relay
Array = np.ndarray[Any, np.dtype[Any]]


def ran(body: Any, *arrays: Array) -> Array:
    function = relay.Function(relay.analysis.free_vars(body), body)
    return relay.create_executor("vm", tvm.IRModule.from_expr(function)).evaluate()(*arrays).numpy()


def arrays(channels: int, kernels: int) -> tuple[Array, Array, Array]:
    """Data, weight [C, m, KH, KW], and what comes of it: result c * m + q is channel c with its kernel q."""
    rng = np.random.default_rng(channels)
    x, w = rng.standard_normal((1, channels, 7, 5)), rng.standard_normal((channels, kernels, 3, 2))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 2), (2, 3))
    return x.astype("f"), w.astype("f"), np.einsum("bchwij,cqij->bcqhw", windows, w).reshape(1, -1, 5, 4)


@pytest.mark.parametrize("kernel_layout", ["OIHW", "HWOI", "HWIO"])
@pytest.mark.parametrize("data_layout", ["NCHW", "NHWC"])
def test_each_channel_may_have_several_kernels(data_layout: str, kernel_layout: str) -> None:
    x, w, wanted = arrays(4, 3)
    x = np.ascontiguousarray(x.transpose(["NCHW".index(c) for c in data_layout]))
    w = np.ascontiguousarray(w.transpose(["OIHW".index(c) for c in kernel_layout]))
    data, weight = relay.var("x", shape=x.shape), relay.var("w", shape=w.shape)
    layouts = {"data_layout": data_layout, "kernel_layout": kernel_layout, "out_layout": "NCHW"}
    full = relay.nn.conv2d(data, weight, groups=4, channels=12, kernel_size=(3, 2), **layouts)
    np.testing.assert_allclose(ran(full, x, w), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        ran(relay.nn.conv2d(data, weight, groups=4, **layouts), x, w), wanted, rtol=1e-4, atol=1e-5
    )
    # A constant stays one, so that patterns find it.
    mod = relay.transform.InferType()(
        tvm.IRModule.from_expr(relay.nn.conv2d(data, relay.const(w), groups=4, **layouts))
    )
    assert isinstance(mod["main"].body.args[1], relay.Constant)


def test_quantised_kernels_may_be_several_too() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.integers(-9, 9, (1, 5, 4, 3)).astype("int8"), rng.integers(-9, 9, (2, 2, 3, 2)).astype("int8")
    data, weight = relay.var("x", shape=x.shape, dtype="int8"), relay.var("w", shape=w.shape, dtype="int8")
    scalars = [relay.const(v) for v in (1, 0, 0.5, 0.25)]
    attrs = {"groups": 3, "data_layout": "NHWC", "kernel_layout": "HWOI", "kernel_size": (2, 2), "channels": 6}
    found = ran(relay.qnn.op.conv2d(data, weight, *scalars, **attrs), x, w)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype("int32") - 1, (2, 2), (1, 2))
    assert np.array_equal(found, np.einsum("bhwcij,ijcq->bhwcq", windows, w.astype("int32")).reshape(1, 4, 3, 6))


def test_other_weights_of_groups_are_what_they_were() -> None:
    data = relay.var("x", shape=(1, 4, 7, 5))
    two_groups = relay.nn.conv2d(data, relay.var("w", shape=(6, 2, 3, 2)), groups=2)
    assert two_groups.checked_type.shape == (1, 6, 5, 4)
    for weight, attrs in (((4, 2, 3, 2), {"groups": 2, "channels": 8}), ((4, 2, 3, 2), {"groups": 4, "channels": 4})):
        with pytest.raises(InputError, match="nn.conv2d: "):
            relay.nn.conv2d(data, relay.var("w", shape=weight), **attrs).checked_type  # noqa: B018


def in_blocks(x: Array, block: int) -> Array:
    n, c, h, w = x.shape
    return np.ascontiguousarray(x.reshape(n, c // block, block, h, w).transpose(0, 1, 3, 4, 2))


@pytest.mark.parametrize("block, channels, out", [(16, 32, 48), (4, 8, 12), (2, 6, 2)])
def test_conv2d_takes_blocks_of_channels(block: int, channels: int, out: int) -> None:
    rng = np.random.default_rng(block)
    x = rng.standard_normal((1, channels, 6, 5)).astype("f")
    w = (0.1 * rng.standard_normal((out, channels, 3, 3))).astype("f")
    plain = ran(relay.nn.conv2d(relay.var("x", shape=x.shape), relay.const(w), padding=(1, 1)), x)
    data = relay.var("x", shape=in_blocks(x, block).shape)
    layouts = {"data_layout": f"NCHW{block}c", "kernel_layout": f"OIHW{block}i{block}o"}
    kernel = w.reshape(out // block, block, channels // block, block, 3, 3).transpose(0, 2, 4, 5, 3, 1)
    # The type of the weight may be left out: it follows from the layouts.
    weight = relay.var("w")
    body = relay.nn.conv2d(data, weight, channels=out, kernel_size=(3, 3), padding=(1, 1), **layouts)
    mod = tvm.IRModule.from_expr(relay.Function([data, weight], body))
    assert mod["main"].body.op.name == "nn.conv2d"
    found = relay.create_executor("vm", mod).evaluate()(in_blocks(x, block), kernel).numpy()
    np.testing.assert_allclose(found, in_blocks(plain, block), rtol=1e-4, atol=1e-5)
    known = relay.nn.conv2d(data, relay.const(np.ascontiguousarray(kernel)), padding=(1, 1), **layouts)
    np.testing.assert_allclose(ran(known, in_blocks(x, block)), found, rtol=1e-4, atol=1e-5)


def test_depthwise_convolutions_take_blocks_too() -> None:
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((1, 8, 6, 5)).astype("f"), rng.standard_normal((8, 1, 3, 3)).astype("f")
    plain = ran(relay.nn.conv2d(relay.var("x", shape=x.shape), relay.const(w), groups=8), x)
    data = relay.var("x", shape=(1, 2, 6, 5, 4))
    kernel = relay.const(np.ascontiguousarray(w.reshape(2, 4, 1, 3, 3, 1).transpose(0, 2, 3, 4, 5, 1)))
    body = relay.nn.conv2d(data, kernel, groups=8, data_layout="NCHW4c", kernel_layout="OIHW1i4o")
    np.testing.assert_allclose(ran(body, in_blocks(x, 4)), in_blocks(plain, 4), rtol=1e-4, atol=1e-5)
