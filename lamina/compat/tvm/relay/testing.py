"""`relay.testing`: running one pass, and the small networks that TVM's tests use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lamina.compat.tvm import relay
from lamina.compat.tvm.ir import IRModule
from lamina.compat.tvm.nd import NDArray, array
from lamina.compat.tvm.relay import expr as e
from lamina.compat.tvm.relay.namespace import not_bridged

_relay: Any = relay


def run_opt_pass(expr: Any, opt_pass: Any, import_prelude: bool = False) -> Any:
    """An expression after a pass: its function where it was one, else the body of that."""
    mod = IRModule.from_expr(expr)
    main = opt_pass(mod)["main"]
    return main if isinstance(expr, e.Function) else main.body


def run_infer_type(expr: Any) -> Any:
    """An expression whose types are known and right. Raises LaminaError."""
    expr = e.as_expr(expr)
    assert expr.checked_type is not None
    return expr


def create_workload(net: Any, initializer: Any = None, seed: int = 0) -> tuple[IRModule, dict[str, NDArray]]:
    """A network as a module, and weights for all its parameters but `data`: drawn by Xavier's rule."""
    mod = IRModule.from_expr(net)
    rng = np.random.default_rng(seed)
    params: dict[str, NDArray] = {}
    function = mod.ir()[0] and mod["main"]
    for p in function.params:
        if p.name_hint == "data":
            continue
        type_ = p.checked_type
        params[p.name_hint] = array(_drawn(p.name_hint, type_.concrete_shape, type_.dtype, rng))
    return mod, params


def _drawn(name: str, shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> Any:
    if name.endswith(("gamma", "var")):
        return np.ones(shape, dtype)
    if name.endswith(("beta", "mean", "bias")):
        return np.zeros(shape, dtype)
    fan = max(1, int(np.prod(shape[1:])))
    return (rng.standard_normal(shape) * np.sqrt(2.0 / fan)).astype(dtype)


class _Network:
    """`relay.testing.mlp`: a module with `get_net` and `get_workload`."""

    def __init__(self, get_net: Any) -> None:
        self.get_net = get_net

    def get_workload(self, *args: Any, **kwargs: Any) -> tuple[IRModule, dict[str, NDArray]]:
        """The network as a module, and weights."""
        return create_workload(self.get_net(*args, **kwargs))


def _mlp(
    batch_size: int, num_classes: int = 10, image_shape: tuple[int, ...] = (1, 28, 28), dtype: str = "float32"
) -> Any:
    """Three dense layers."""
    data = relay.var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = _relay.nn.batch_flatten(data)
    for n, units in enumerate((128, 64, num_classes), 1):
        x = _relay.nn.dense(x, relay.var(f"fc{n}_weight"), units=units)
        x = _relay.nn.bias_add(x, relay.var(f"fc{n}_bias"), axis=-1)
        x = _relay.nn.relu(x) if n < 3 else _relay.nn.softmax(x)
    return e.Function(_relay.analysis.free_vars(x), x)


def _norm(x: Any, name: str) -> Any:
    weights = (relay.var(f"{name}_{w}") for w in ("gamma", "beta", "moving_mean", "moving_var"))
    return _relay.nn.batch_norm(x, *weights, epsilon=2e-5)[0]


def _conv(x: Any, name: str, channels: int, kernel: int, stride: int = 1) -> Any:
    return _relay.nn.conv2d(
        x,
        relay.var(f"{name}_weight"),
        channels=channels,
        kernel_size=(kernel, kernel),
        strides=(stride, stride),
        padding=(kernel // 2, kernel // 2),
    )


def _unit(x: Any, channels: int, stride: int, match: bool, name: str) -> Any:
    """A residual unit with the activation first."""
    before = _relay.nn.relu(_norm(x, f"{name}_bn1"))
    inner = _conv(before, f"{name}_conv1", channels, 3, stride)
    inner = _conv(_relay.nn.relu(_norm(inner, f"{name}_bn2")), f"{name}_conv2", channels, 3)
    return inner + (x if match else _conv(before, f"{name}_sc", channels, 1, stride))


_UNITS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3)}


def _resnet(
    batch_size: int,
    num_classes: int = 1000,
    num_layers: int = 18,
    image_shape: tuple[int, ...] = (3, 224, 224),
    dtype: str = "float32",
) -> Any:
    """ResNet v2 of 18 or 34 layers."""
    if num_layers not in _UNITS:
        raise ValueError(f"resnet of {num_layers} layers is not bridged; there are {sorted(_UNITS)}")
    data = relay.var("data", shape=(batch_size, *image_shape), dtype=dtype)
    x = _conv(data, "conv0", 64, 3 if image_shape[-1] <= 32 else 7, 1 if image_shape[-1] <= 32 else 2)
    if image_shape[-1] > 32:
        x = _relay.nn.relu(_norm(x, "bn0"))
        x = _relay.nn.max_pool2d(x, pool_size=(3, 3), strides=(2, 2), padding=(1, 1))
    for stage, (count, channels) in enumerate(zip(_UNITS[num_layers], (64, 128, 256, 512), strict=True), 1):
        for unit in range(count):
            stride = 2 if unit == 0 and stage > 1 else 1
            x = _unit(x, channels, stride, unit > 0, f"stage{stage}_unit{unit + 1}")
    x = _relay.nn.global_avg_pool2d(_relay.nn.relu(_norm(x, "bn1")))
    x = _relay.nn.dense(_relay.nn.batch_flatten(x), relay.var("fc1_weight"), units=num_classes)
    x = _relay.nn.softmax(_relay.nn.bias_add(x, relay.var("fc1_bias"), axis=-1))
    return e.Function(_relay.analysis.free_vars(x), x)


mlp = _Network(_mlp)
resnet = _Network(_resnet)


def init_params(mod: IRModule, params: Mapping[str, Any]) -> dict[str, NDArray]:
    """Weights as arrays."""
    return {k: array(v) for k, v in params.items()}


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise not_bridged(f"relay.testing.{name}", ["create_workload", "mlp", "resnet", "run_infer_type", "run_opt_pass"])
