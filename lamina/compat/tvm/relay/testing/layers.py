"""Operators whose weights are variables named after the layer: `layers.conv2d(x, name="conv1", ...)`."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm import relay as _relay
from lamina.frontends.tvm_text import expr as e

relay: Any = _relay


def _weight(given: Any, name: str, what: str) -> Any:
    return given if given is not None else relay.var(f"{name}_{what}")


def conv2d(data: Any, weight: Any = None, name: str = "conv", **kwargs: Any) -> Any:
    """`relay.nn.conv2d` with the weight `<name>_weight`."""
    return relay.nn.conv2d(data, _weight(weight, name, "weight"), **kwargs)


def conv2d_transpose(data: Any, weight: Any = None, name: str = "conv", **kwargs: Any) -> Any:
    """`relay.nn.conv2d_transpose` with the weight `<name>_weight`."""
    return relay.nn.conv2d_transpose(data, _weight(weight, name, "weight"), **kwargs)


def conv3d(data: Any, weight: Any = None, name: str = "conv", **kwargs: Any) -> Any:
    """`relay.nn.conv3d` with the weight `<name>_weight`."""
    return relay.nn.conv3d(data, _weight(weight, name, "weight"), **kwargs)


def dense_add_bias(
    data: Any, weight: Any = None, bias: Any = None, units: int | None = None, name: str = "fc", **kwargs: Any
) -> Any:
    """`relay.nn.dense` with `<name>_weight`, plus `<name>_bias`."""
    product = relay.nn.dense(data, _weight(weight, name, "weight"), units, **kwargs)
    return relay.nn.bias_add(product, _weight(bias, name, "bias"), axis=-1)


def batch_norm_infer(
    data: Any,
    gamma: Any = None,
    beta: Any = None,
    moving_mean: Any = None,
    moving_var: Any = None,
    name: str = "bn",
    **kwargs: Any,
) -> Any:
    """The first result of `relay.nn.batch_norm` with `<name>_gamma`, `_beta`, `_moving_mean`, `_moving_var`."""
    given = {"gamma": gamma, "beta": beta, "moving_mean": moving_mean, "moving_var": moving_var}
    return relay.nn.batch_norm(data, *(_weight(v, name, k) for k, v in given.items()), **kwargs)[0]


def conv_kernel_layout(data_layout: str, is_depthwise: bool = False) -> str:
    """The layout of weights that goes with one of the data. Raises ValueError for an unknown one."""
    known = {"NCHW": "OIHW", "NHWC": "HWOI" if is_depthwise else "HWIO", "NCDHW": "OIDHW", "NDHWC": "DHWIO"}
    if data_layout not in known:
        raise ValueError(f"there is no layout {data_layout!r}; there are {', '.join(known)}")
    return known[data_layout]


def classified(features: Any, units: int, name: str = "fc1") -> Any:
    """The probabilities of classes from flat features."""
    return function_of(relay.nn.softmax(dense_add_bias(features, units=units, name=name)))


def function_of(body: Any) -> Any:
    """A function of all that is free in an expression."""
    return e.Function(relay.analysis.free_vars(body), body)


__all__ = [
    "batch_norm_infer", "classified", "conv2d", "conv2d_transpose", "conv3d", "conv_kernel_layout", "dense_add_bias",
    "function_of",
]  # fmt: skip
