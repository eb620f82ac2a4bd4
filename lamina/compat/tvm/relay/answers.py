"""Answers to what expressions are asked and do not know themselves (type, text, attributes), imported when asked."""

from __future__ import annotations

from typing import Any

from lamina.frontends.tvm_text.expr import answer


def _type(node: Any) -> Any:
    from lamina.frontends.tvm_text.to_ir import infer_type_of

    return infer_type_of(node)


def _text(node: Any, show_meta_data: bool) -> str:
    from lamina.compat.tvm.relay.text_printer import astext

    return astext(node, show_meta_data)


def _array(values: Any) -> Any:
    from lamina.compat.tvm.devices import cpu
    from lamina.compat.tvm.nd import NDArray

    return NDArray(values, cpu(0))


def _op_attr(name: str, key: str) -> Any:
    from lamina.compat.tvm.relay.op_attributes import op_attr

    return op_attr(name, key)


def _register_op_attr(name: str, key: str, value: Any, level: int) -> None:
    from lamina.compat.tvm.relay.op_attributes import register_op_attr

    register_op_attr(name, key, value, level)


def _reset_op_attr(name: str, key: str) -> None:
    from lamina.compat.tvm.relay.op_attributes import reset_op_attr

    reset_op_attr(name, key)


def install() -> None:
    """Let nodes be answered."""
    answer(
        type=_type, text=_text, array=_array,
        op_attr=_op_attr, register_op_attr=_register_op_attr, reset_op_attr=_reset_op_attr,
    )  # fmt: skip
