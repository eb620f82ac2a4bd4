"""Operators that onnxruntime adds to ONNX's (com.microsoft): their declarations, and what their converters share.

    @contributed("BiasGelu", inputs="A B", outputs="C")
    def bias_gelu(n, b): ...

A model is checked against these declarations as against ONNX's own; what an operator can do and we do not is declared
with it (`only`), so that `lamina check` names it. Source: onnxruntime's schemas and docs/ContribOperators.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from onnx.defs import OpSchema

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.registry import Converter, converters, declare, onnx_op

if TYPE_CHECKING:
    from lamina.frontends.onnx.builder import AnyValue

MICROSOFT = "com.microsoft"
STANDARD = 17
"""The opset of the standard operators that converters call: attributes hold the axes of reductions."""

INT, INTS, FLOAT, FLOATS, STRING, STRINGS = (
    getattr(OpSchema.AttrType, kind) for kind in ("INT", "INTS", "FLOAT", "FLOATS", "STRING", "STRINGS")
)
HALVES = ("float16", "bfloat16")


def contributed(
    *names: str, domain: str = MICROSOFT, held: bool = False, **declaration: Any
) -> Callable[[Converter], Converter]:
    """Declares operators as `declare_operator` does, and registers their converter as `onnx_op` does."""
    for name in names:
        declare_operator(name, domain=domain, **declaration)
    return onnx_op(*names, domain=domain, held=held)


def declare_operator(
    name: str,
    *,
    domain: str,
    inputs: str,
    outputs: str = "Y",
    required: Sequence[str] = (),
    only: Mapping[str, Sequence[Any]] | None = None,
    **attrs: OpSchema.AttrType,
) -> None:
    """Declares an operator of onnxruntime.

    `inputs` and `outputs` are the names; one that ends in `?` may be missing, one that ends in `*` stands for any
    number. `required` attributes have no default. `only` gives the values of an attribute that are supported, where
    not all are; none for an input or output that is not.
    """
    schema = OpSchema(
        name,
        domain,
        1,
        inputs=_parameters(inputs),
        outputs=_parameters(outputs),
        type_constraints=[("T", ["tensor(uint8)"], "not looked at")],
        attributes=[OpSchema.Attribute(a, kind, required=a in required) for a, kind in attrs.items()],
    )
    declare(schema, only or {})


def _parameters(names: str) -> list[OpSchema.FormalParameter]:
    option = OpSchema.FormalParameterOption
    options = {"?": option.Optional, "*": option.Variadic}
    return [
        OpSchema.FormalParameter(
            i.rstrip("?*"), "T", param_option=options.get(i[-1], option.Single), is_homogeneous=False
        )
        for i in names.split()
    ]


def standard(
    n: Node, b: Builder, op_type: str, inputs: Sequence[Value | None], version: int = STANDARD, **attrs: Any
) -> Value:
    """The result of a standard operator with one output on the inputs."""
    (made,) = standards(n, b, op_type, inputs, version, **attrs)
    return made


def standards(
    n: Node, b: Builder, op_type: str, inputs: Sequence[Value | None], version: int = STANDARD, **attrs: Any
) -> list[Value]:
    """The outputs that a standard operator makes of the inputs."""
    made = converters()["", op_type](n.as_op(op_type, inputs, version, attrs), b)
    assert made is not None, f"{op_type} is left to its function"
    found = [made] if isinstance(made, Value) else list(cast("Sequence[AnyValue]", made))
    return [v for v in found if isinstance(v, Value)]


def given(n: Node, i: int) -> Value | None:
    """An input that may be missing."""
    return n.input(i) if n.has(i) else None


def single(b: Builder, x: Value) -> Value:
    """A tensor as computations take it: those of 16-bit floats are done in float32, and rounded at their end."""
    return b.cast(x, "float32") if x.dtype in HALVES else x
