"""`relay.testing`: running one pass, and the networks that TVM's tests use, each with `get_net` and `get_workload`.

    mod, params = relay.testing.resnet.get_workload(num_layers=50, batch_size=1)

They are built as their papers and TVM have them; weights are drawn by Xavier's rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from lamina.compat.tvm.ir_module import IRModule
from lamina.compat.tvm.nd import NDArray, array
from lamina.compat.tvm.relay.testing.init import create_workload
from lamina.frontends.tvm_text import expr as e

_MODULES = (
    "dcgan", "densenet", "dqn", "inception_v3", "init", "layers", "lstm", "mlp", "mobilenet", "resnet", "resnet_3d",
    "squeezenet", "synthetic", "vgg",
)  # fmt: skip


def run_opt_pass(expr: Any, opt_pass: Any, import_prelude: bool = False) -> Any:
    """An expression after a pass: its function where it was one, else the body of that."""
    mod = IRModule.from_expr(expr)
    if import_prelude:
        mod.import_from_std("prelude.rly")
    main = opt_pass(mod)["main"]
    return main if isinstance(expr, e.Function) else main.body


def run_infer_type(expr: Any) -> Any:
    """An expression whose types are known and right. Raises LaminaError."""
    expr = e.as_expr(expr)
    assert expr.checked_type is not None
    return expr


def init_params(mod: IRModule, params: Mapping[str, Any]) -> dict[str, NDArray]:
    """Weights as arrays."""
    return {k: array(v) for k, v in params.items()}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name.startswith("__"):
        raise AttributeError(name)
    from lamina.ir.tvm_names import not_bridged

    raise not_bridged(f"relay.testing.{name}", [*__all__, *_MODULES])


__all__ = ["create_workload", "init_params", "run_infer_type", "run_opt_pass"]
