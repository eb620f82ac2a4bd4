"""`relay.frontend`: importers. ONNX is read; other frameworks export to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lamina.compat.tvm.ir import IRModule
from lamina.compat.tvm.nd import NDArray, array
from lamina.compat.tvm.relay import expr as e
from lamina.compat.tvm.relay.expr_functor import post_order
from lamina.compat.tvm.relay.namespace import not_bridged
from lamina.dialects.relay.params import ParamAttr


def from_onnx(
    model: Any,
    shape: Mapping[str, Any] | None = None,
    dtype: Any = "float32",
    opset: int | None = None,
    freeze_params: bool = True,
    convert_config: Any = None,
    export_node_renamed_model_path: str | None = None,
) -> tuple[IRModule, dict[str, NDArray]]:
    """An ONNX model (a ModelProto, its bytes or a path) as a module, and its weights.

    Weights are constants of the module and the second result is empty, as since TVM 0.10, unless `freeze_params` is
    False: then the large ones are parameters of `main` with the model's names. Raises LaminaError.
    """
    from lamina.frontends.onnx import load_onnx

    imported = load_onnx(model, shape or None)
    mod = IRModule.of_ir(imported.module, imported.store)
    if freeze_params:
        return mod, {}
    main = mod["main"]
    params: dict[str, NDArray] = {}
    binds: dict[e.Expr, e.Expr] = {}
    for node in post_order(main.body):
        origin = node.__dict__.get("_origin") if isinstance(node, e.Constant) else None
        value = origin[0].value if origin is not None else None
        if isinstance(node, e.Constant) and isinstance(value, ParamAttr):
            name = value.key.data
            params.setdefault(name, array(node.values))
            binds[node] = next((v for v in binds.values() if v.name_hint == name), None) or e.Var(
                name, node.checked_type
            )
    from lamina.compat.tvm.relay.expr_functor import Substitution

    body = Substitution(binds).visit(main.body)
    variables = list(dict.fromkeys(v for v in binds.values() if isinstance(v, e.Var)))
    return IRModule.from_expr(e.Function([*main.params, *variables], body)), params


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise not_bridged(f"relay.frontend.{name}", ["from_onnx"])


__all__ = ["from_onnx"]
