"""Whether a model computes what onnxruntime computes: which outputs are too far off, also where the last op hides it.

A softmax that saturates gives the same numbers for logits that differ, and an argmax another one where two values are
next to equal. There what goes into the op is compared, in the model with these tensors as outputs too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lamina.measure.timing import largest_difference

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Results: TypeAlias = Mapping[str, Any]

TOLERANCE = 1e-4
"""The most that a number may be off, relative to the largest of its tensor."""
COARSE = {"float16": 1e-2, "bfloat16": 5e-2, "quantised": 0.1}
"""The same in models that have numbers of such types: of 8 bits a step may fall the other way."""

_PASSING = frozenset("Identity Reshape Flatten Squeeze Unsqueeze Transpose QuantizeLinear DequantizeLinear".split())
"""Ops whose result has the values of their input."""
_SQUASHING: dict[str, Callable[[Array], Any]] = {
    "Softmax": lambda p: p > 0.9,
    "Sigmoid": lambda p: (p > 0.9) | (p < 0.1),
    **dict.fromkeys(("Tanh", "Erf", "Softsign"), lambda p: abs(p) > 0.9),
}
"""Ops with the parts of their results in which a difference of the inputs can no longer be seen."""
_CHOOSING = frozenset(
    ("ArgMax", "ArgMin", "TopK", "NonMaxSuppression", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal")
    + ("Cast", "Round", "Floor", "Ceil", "Sign")
)
"""Ops whose results jump where what went in hardly differs."""


@dataclass(frozen=True)
class Agreement:
    """The errors of the outputs and of the inputs of ops that hide an error, relative to the largest value of each."""

    allowed: float
    outputs: dict[str, float]
    before: dict[str, float] = field(default_factory=dict[str, float])
    """The errors of the inputs of the last ops, by the tensor's name, where they were looked at."""
    excused: frozenset[str] = frozenset()
    """Outputs that jump where `before` agrees."""

    @property
    def wrong(self) -> dict[str, float]:
        """The tensors that are further off than is allowed."""
        found = {n: d for n, d in self.outputs.items() if n not in self.excused}
        return {n: d for n, d in (found | self.before).items() if not d <= self.allowed}

    def __str__(self) -> str:
        lines: list[str] = []
        if self.before:
            name, worst = max(self.before.items(), key=lambda item: item[1])
            lines.append(f"before       {worst:.1e} of the largest value of {name!r}, which goes into the last op")
        for name, difference in self.wrong.items():
            lines.append(
                f"WRONG        {name!r} is off by {difference:.1e} of its largest value, {self.allowed:g} is allowed"
            )
        return "\n".join(lines)


def agreement(
    ours: Results,
    theirs: Results,
    model: ModelProto,
    again: Callable[[ModelProto], tuple[Results, Results]],
    allowed: float | None = None,
) -> Agreement:
    """Compare the outputs of a model. `again` runs it with more outputs on both sides, where inner tensors count."""
    quantised = any(_is_quantised(node) for node in model.graph.node)
    tolerance = allowed_of(model, quantised) if allowed is None else allowed
    outputs = {name: _difference(ours[name], theirs[name], quantised) for name in theirs}
    makers = {made: node for node in model.graph.node for made in node.output}
    asked: dict[str, list[str]] = {}
    jumped: set[str] = set()
    for name, difference in outputs.items():
        node = _last(name, makers)
        if node is None:
            continue
        squashed = _SQUASHING.get(node.op_type)
        agrees = difference <= tolerance
        if squashed is not None and agrees and np.any(squashed(np.asarray(theirs[name], np.float64))):
            asked[name] = [node.input[0]]
        elif node.op_type in _CHOOSING and not agrees:
            asked[name] = [i for i in node.input if i in makers]
            jumped.add(name)
    tensors = list(dict.fromkeys(t for names in asked.values() for t in names if t in makers and t not in outputs))
    if not tensors:
        return Agreement(tolerance, outputs)
    found, expected = again(_with_outputs(model, tensors))
    before = {t: _difference(found[t], expected[t], quantised) for t in tensors}
    fine = {n for n in jumped if asked[n] and all((before | outputs)[t] <= tolerance for t in asked[n])}
    return Agreement(tolerance, outputs, before, frozenset(fine))


def allowed_of(model: ModelProto, quantised: bool) -> float:
    """The tolerance for the coarsest numbers in a model."""
    from onnx import TensorProto

    types = {t.data_type for t in model.graph.initializer}
    types |= {v.type.tensor_type.elem_type for v in (*model.graph.input, *model.graph.output)}
    kinds = [("float16", TensorProto.FLOAT16 in types), ("bfloat16", TensorProto.BFLOAT16 in types)]
    return max((COARSE[name] for name, there in [*kinds, ("quantised", quantised)] if there), default=TOLERANCE)


def _difference(found: Any, expected: Any, quantised: bool) -> float:
    """The largest difference of floats; integers are equal or are not, unless they are roundings."""
    if np.asarray(expected).dtype.kind in "iub" and not quantised:
        return 0.0 if np.array_equal(found, expected) else float("inf")
    return largest_difference(found, expected)


def _is_quantised(node: NodeProto) -> bool:
    return node.op_type.startswith(("Quantize", "Dequantize", "DynamicQuantize", "QLinear", "QGemm", "QAttention")) or (
        node.op_type.endswith(("Integer", "NBits"))
    )


def _last(name: str, makers: Mapping[str, NodeProto]) -> NodeProto | None:
    """The node that decides an output, behind those that pass values on."""
    node = makers.get(name)
    while node is not None and node.op_type in _PASSING:
        node = makers.get(node.input[0])
    return node


def _with_outputs(model: ModelProto, tensors: Sequence[str]) -> ModelProto:
    from onnx import ModelProto, ValueInfoProto

    extended = ModelProto()
    extended.CopyFrom(model)
    extended.graph.output.extend(ValueInfoProto(name=t) for t in tensors)
    return extended
