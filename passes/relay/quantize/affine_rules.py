"""Meaning of each op on quantised tensors: the rules of relay-fake-quantization-to-integer.

A rule gets the op and its operands as `Affine`, integers with their scale and zero point, and gives the result as one
(a list for several results), or None where it has none for such operands. A float constant among the operands comes as
the constant it is. The words of `lamina.dialects.relay` insert what a rule builds. Products carry their own scale on;
an op that needs another one gets that of the quantize at the end of the chain, `Rewrite.out`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.ir import SSAValue

from lamina.dialects import relay as r
from lamina.dialects.dtypes import integer_range
from lamina.dialects.lazy import np
from lamina.dialects.relay.base import RelayOp, attrs_of, normalize_axis
from lamina.dialects.relay.core import constant_array, make_constant
from lamina.dialects.relay.grad.facet import rank_of
from lamina.dialects.relay.layout import axis_of
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.rules.terms import insert
from lamina.passes.relay.quantize.affine_equations import moved, moves

if TYPE_CHECKING:
    from lamina.dialects.relay.params import Array


@dataclass(frozen=True)
class Affine:
    """Integers q that stand for scale * (q - zero_point); a list of scales lies along `axis`."""

    value: SSAValue
    scale: SSAValue
    zero_point: SSAValue
    axis: int = -1

    @property
    def dtype(self) -> str:
        return qs.info_of(self.value).dtype

    @property
    def rank(self) -> int:
        return rank_of(self.value)

    @property
    def is_per_tensor(self) -> bool:
        return all(qs.info_of(v).shape in ((), (1,)) for v in (self.scale, self.zero_point))

    def number(self) -> tuple[float, int] | None:
        """Scale and zero point where they are one number each, and known."""
        scale, zero = qs.known_values(self.scale), qs.known_values(self.zero_point)
        if scale is None or zero is None or not self.is_per_tensor:
            return None
        return float(scale.reshape(-1)[0]), int(zero.reshape(-1)[0])

    def has_type_of(self, other: Affine) -> bool:
        """Whether both have the same dtype, scale and zero point for certain."""
        same = qs.same_constant(self.scale, other.scale) and qs.same_constant(self.zero_point, other.zero_point)
        return same and self.dtype == other.dtype and (self.is_per_tensor or self.axis == other.axis)


@dataclass
class Rewrite:
    """The things that rules need beside their operands."""

    store: ParamStore
    scale: SSAValue
    zero_point: SSAValue
    dtype: str
    axis: int
    """Of the quantize that ends the chain."""

    def out(self, value: SSAValue) -> Affine:
        """Integers of the scale, zero point and dtype that the chain ends in."""
        return Affine(value, self.scale, self.zero_point, self.axis)

    def constant(self, array: Array, hint: str = "quantized") -> SSAValue:
        op = make_constant(array, self.store, hint)
        insert(op)
        return op.result

    def requantized(self, x: Affine) -> Affine:
        """As `out`; the integers themselves where they are that already."""
        target = self.out(x.value)
        if x.dtype == self.dtype and x.has_type_of(target):
            return target
        made = r.qnn.requantize(
            x.value, x.scale, x.zero_point, self.scale, self.zero_point,
            axis=x.axis if not x.is_per_tensor else normalize_axis(x.axis, x.rank), out_dtype=self.dtype,
        )  # fmt: skip
        return self.out(made)

    @property
    def is_per_tensor(self) -> bool:
        return all(qs.info_of(v).shape in ((), (1,)) for v in (self.scale, self.zero_point))


Operand: TypeAlias = "Affine | SSAValue"
Outcome: TypeAlias = "Affine | list[Affine] | None"
Rule: TypeAlias = "Callable[[Rewrite, RelayOp, list[Any]], Outcome]"

RULES: dict[str, Rule] = {}
NEEDS_OUTPUT: set[str] = set()
"""Ops whose rule asks for the scale at the end: without a quantize there they stay floats."""


def rule(*names: str, needs_output: bool = False) -> Callable[[Rule], Rule]:
    """Declares the rule of ops, named without `relay.`."""

    def add(function: Rule) -> Rule:
        for name in names:
            RULES[f"relay.{name}"] = function
            if needs_output:
                NEEDS_OUTPUT.add(f"relay.{name}")
        return function

    return add


def again(op: RelayOp, *operands: SSAValue, **attrs: Any) -> Any:
    """The same op on other operands: its results."""
    made = type(op).make(*operands, **(attrs_of(op) | attrs))
    insert(made)
    return made.results[0] if len(made.results) == 1 else list(made.results)


# -- products: scales multiply ---------------------------------------------------------------------


def product_type(rewrite: Rewrite, x: Affine, w: Affine) -> tuple[SSAValue, SSAValue]:
    """The scale and zero point of a product; scales are multiplied in f32."""
    first, second = qs.known_values(x.scale), qs.known_values(w.scale)
    if first is None or second is None:
        scale: Any = r.multiply(qs.along(x.scale, 0, 0), w.scale)
    else:
        scale = rewrite.constant(np.asarray(first.reshape(()) * second.reshape(qs.info_of(w.scale).shape)), "scale")
    return scale, rewrite.constant(np.asarray(0, np.int32), "zero")


@rule("nn.conv2d", "nn.conv2d_transpose", "nn.dense")
def contraction(rewrite: Rewrite, op: RelayOp, operands: list[Any]) -> Outcome:
    """A product of data and weight, whose scales may be those of its output channels."""
    x, w = operands
    if not (isinstance(x, Affine) and isinstance(w, Affine) and x.is_per_tensor):
        return None
    attrs = attrs_of(op)
    if op.name == "relay.nn.dense":
        channel, made_axis = 0, x.rank - 1
    else:
        channel = axis_of(attrs["kernel_layout"], "O")
        made_axis = axis_of(attrs.get("out_layout") or attrs["data_layout"], "C")
        if op.name == "relay.nn.conv2d_transpose" and attrs["groups"] > 1 and not w.is_per_tensor:
            return None
    if not w.is_per_tensor and normalize_axis(w.axis, w.rank) != channel:
        return None
    if "int32" in (x.dtype, w.dtype):
        return None
    word: Any = getattr(r.qnn, op.name.rpartition(".")[2])
    made = word(x.value, w.value, x.zero_point, w.zero_point, x.scale, w.scale, **(attrs | {"out_dtype": "int32"}))
    return Affine(made, *product_type(rewrite, x, w), made_axis)


@rule("nn.batch_matmul")
def batch_matmul(rewrite: Rewrite, op: RelayOp, operands: list[Any]) -> Outcome:
    x, y = operands
    if not (isinstance(x, Affine) and isinstance(y, Affine) and x.is_per_tensor and y.is_per_tensor):
        return None
    if "int32" in (x.dtype, y.dtype):
        return None
    attrs = attrs_of(op) | {"out_dtype": "int32"}
    made = r.qnn.batch_matmul(x.value, y.value, x.zero_point, y.zero_point, x.scale, y.scale, **attrs)
    return Affine(made, *product_type(rewrite, x, y))


@rule("nn.bias_add")
def bias_add(rewrite: Rewrite, op: RelayOp, operands: list[Any]) -> Outcome:
    """The bias takes the scale, zero point and dtype of the data; a float one is quantised so."""
    x, bias = operands
    if not isinstance(x, Affine):
        return None
    axis = normalize_axis(attrs_of(op)["axis"], x.rank)
    if not (x.is_per_tensor or normalize_axis(x.axis, x.rank) == axis):
        return None
    if not qs.is_zero(x.zero_point):
        return None  # q + b would have the zero point twice
    if not isinstance(bias, Affine):
        bias = Affine(r.qnn.quantize(bias, x.scale, x.zero_point, axis=0, out_dtype=x.dtype), x.scale, x.zero_point, 0)
    elif not replace(bias, axis=x.axis).has_type_of(x):
        if not x.is_per_tensor:
            return None
        made = r.qnn.requantize(
            bias.value, bias.scale, bias.zero_point, x.scale, x.zero_point, axis=0, out_dtype=x.dtype
        )
        bias = Affine(made, x.scale, x.zero_point, 0)
    return replace(x, value=again(op, x.value, bias.value))


# -- what only moves or chooses elements -----------------------------------------------------------


@rule(*(op.name.removeprefix("relay.") for op in moves.dispatch))
def by_equation(rewrite: Rewrite, op: RelayOp, operands: list[Any]) -> Outcome:
    """Elements keep their numbers: `affine_equations.py` says where they go."""
    (x,) = operands
    found = moved(op, x.value, x.scale, x.zero_point, x.axis) if isinstance(x, Affine) else None
    if found is None:
        return None
    return replace(x, value=found[0], axis=-1 if x.is_per_tensor else found[1])


@rule("split")
def split(rewrite: Rewrite, op: RelayOp, operands: list[Any]) -> Outcome:
    (x,) = operands
    if not isinstance(x, Affine) or not x.is_per_tensor:
        return None
    made: list[SSAValue] | SSAValue = again(op, x.value)
    return [replace(x, value=v) for v in ([made] if isinstance(made, SSAValue) else made)]


@rule("nn.pad")
def pad(rewrite: Rewrite, op: RelayOp, operands: list[Any]) -> Outcome:
    """The padding is the pad value quantised; a value below all stays below all."""
    (x,) = operands
    if not isinstance(x, Affine):
        return None
    attrs = attrs_of(op)
    if attrs["pad_mode"] != "constant":
        return replace(x, value=again(op, x.value))
    number = x.number()
    if number is None:
        return None
    return replace(x, value=again(op, x.value, pad_value=float(bound(attrs["pad_value"], number, x.dtype))))


def bound(real: float, number: tuple[float, int], dtype: str) -> int:
    """A real number quantised, halves away from zero, saturated."""
    low, high = integer_range(dtype)
    scale, zero = number
    if math.isinf(real):
        return low if real < 0 else high
    exact = real / scale + zero
    return int(min(max(math.trunc(exact + math.copysign(0.5, exact)), low), high))


@rule("clip")
def clip(rewrite: Rewrite, op: RelayOp, operands: list[Any]) -> Outcome:
    """Between the bounds quantised."""
    (x,) = operands
    number = x.number() if isinstance(x, Affine) else None
    if number is None:
        return None
    attrs = attrs_of(op)
    low, high = (float(bound(attrs[name], number, x.dtype)) for name in ("a_min", "a_max"))
    return replace(x, value=r.clip(x.value, a_min=low, a_max=high))


@rule("nn.relu")
def relu(rewrite: Rewrite, op: RelayOp, operands: list[Any]) -> Outcome:
    """Nothing below the zero point."""
    (x,) = operands
    if not isinstance(x, Affine):
        return None
    zero = qs.cast(qs.along(x.zero_point, x.axis, x.rank), x.dtype)
    return replace(x, value=r.maximum(x.value, zero))


@rule("nn.avg_pool2d", "nn.global_avg_pool2d")
def mean(rewrite: Rewrite, op: RelayOp, operands: list[Any]) -> Outcome:
    """A truncated mean, in 32 bits."""
    (x,) = operands
    if not isinstance(x, Affine) or not x.is_per_tensor:
        return None
    attrs = attrs_of(op)
    if op.name == "relay.nn.global_avg_pool2d":
        shape = qs.info_of(x.value).shape
        attrs["pool_size"] = [shape[axis_of(attrs["layout"], letter)] for letter in "HW"]
    if x.dtype != "int32":
        own = x.scale, x.zero_point
        return replace(x, value=r.qnn.avg_pool2d(x.value, *own, *own, **attrs))
    if attrs.get("count_include_pad") and any(attrs["padding"]) and not qs.is_zero(x.zero_point):
        return None
    return replace(x, value=r.nn.avg_pool2d(x.value, **attrs))


# -- what needs the scale of the result ------------------------------------------------------------


def both(rewrite: Rewrite, operands: list[Any]) -> list[Affine] | None:
    """Two operands of the dtype of the result; a float constant is quantised to use all of its dtype."""
    if not rewrite.is_per_tensor or not any(isinstance(x, Affine) for x in operands):
        return None
    return [as_quantized(rewrite, x) for x in operands]


def as_quantized(rewrite: Rewrite, x: Operand) -> Affine:
    """An operand as integers of the result's dtype: requantized, or a float constant quantised.

    A constant gets the zero point in the middle of the dtype, and the scale by which its largest magnitude fits.
    """
    if isinstance(x, Affine):
        return x if x.dtype == rewrite.dtype else rewrite.requantized(x)
    array = constant_array(x, rewrite.store)
    low, high = integer_range(rewrite.dtype)
    zero = (low + high + 1) // 2
    scale = np.asarray(float(np.abs(array).max(initial=0.0)) / (high - zero) or 1.0, np.float32)
    s, z = rewrite.constant(scale, "scale"), rewrite.constant(np.asarray(zero, np.int32), "zero")
    return Affine(r.qnn.quantize(x, s, z, out_dtype=rewrite.dtype), s, z)


@rule("add", "subtract", "multiply", needs_output=True)
def arithmetic(rewrite: Rewrite, op: RelayOp, operands: list[Any]) -> Outcome:
    pair = both(rewrite, operands)
    if pair is None or (op.name == "relay.multiply" and rewrite.dtype == "int32"):
        return None
    lhs, rhs = pair
    word: Any = {"add": r.qnn.add, "subtract": r.qnn.subtract, "multiply": r.qnn.mul}[op.name.removeprefix("relay.")]
    made = word(
        lhs.value, rhs.value, lhs.scale, lhs.zero_point, rhs.scale, rhs.zero_point, rewrite.scale, rewrite.zero_point,
        lhs_axis=lhs.axis, rhs_axis=rhs.axis,
    )  # fmt: skip
    return rewrite.out(made)


@rule("minimum", "maximum", needs_output=True)
def extremum(rewrite: Rewrite, op: RelayOp, operands: list[Any]) -> Outcome:
    pair = both(rewrite, operands)
    if pair is None:
        return None
    return rewrite.out(again(op, *(rewrite.requantized(x).value for x in pair)))


@rule("concatenate", needs_output=True)
def concatenate(rewrite: Rewrite, op: RelayOp, operands: list[Any]) -> Outcome:
    if not rewrite.is_per_tensor or not all(isinstance(x, Affine) for x in operands):
        return None
    parts: Sequence[Affine] = [
        x if x.dtype == rewrite.dtype and x.is_per_tensor else rewrite.requantized(x) for x in operands
    ]
    given = [*(x.value for x in parts), *(x.scale for x in parts), *(x.zero_point for x in parts)]
    made = r.qnn.concatenate(*given, rewrite.scale, rewrite.zero_point, axis=attrs_of(op)["axis"])
    return rewrite.out(made)


@rule(
    *("nn.leaky_relu", "nn.softmax", "sigmoid", "tanh", "exp", "erf", "log", "sqrt", "rsqrt", "abs"),
    needs_output=True,
)
def function(rewrite: Rewrite, op: RelayOp, operands: list[Any]) -> Outcome:
    """The quantised op of that name."""
    (x,) = operands
    if not rewrite.is_per_tensor or not isinstance(x, Affine):
        return None
    x = as_quantized(rewrite, x)
    if not x.is_per_tensor:
        x = rewrite.requantized(x)
    word: Any = getattr(r.qnn, op.name.rpartition(".")[2])
    if op.name == "relay.nn.softmax" and x.dtype not in qs.NARROW:
        return None
    attrs = attrs_of(op)
    if op.name == "relay.nn.leaky_relu" and not 0 <= attrs["alpha"] <= 1:
        return None
    return rewrite.out(word(x.value, x.scale, x.zero_point, rewrite.scale, rewrite.zero_point, **attrs))
