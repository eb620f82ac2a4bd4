"""Patterns as TVM spells them; they build the same objects as the terms of rules.

    conv = is_op("nn.conv2d")(wildcard(), is_constant())
    pattern = is_op("nn.relu")(conv.optional(lambda c: is_op("nn.bias_add")(c, is_constant())))

A pattern object that occurs twice stands for one value. `lamina.dataflow_pattern` has these words together with
what is done with patterns: match, rewrite, partition.

Where TVM passes a number as an operand that is an attribute here (the pad value of nn.pad), its pattern, a plain
`wildcard()` or `is_constant()`, may stand last and holds always. An op on a list of tensors takes one pattern for
the tuple, `is_tuple([a, b])` or `wildcard()`, or one for each tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from lamina.dialects.relay import find_op
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.rules.graph_patterns import (
    FunctionPattern,
    IfPattern,
    InputVar,
    ItemPattern,
    LetPattern,
    OpWord,
    SameAs,
    TuplePattern,
    op_pattern,
)
from lamina.dialects.rules.patterns import Alternatives, AnyCall, ConstVar, Dominator, Pattern, Var, _, as_pattern
from lamina.dialects.rules.values import RuleError

__all__ = [
    "Alternatives",
    "AnyCall",
    "Dominator",
    "FunctionPattern",
    "IfPattern",
    "InputVar",
    "ItemPattern",
    "LetPattern",
    "OpWord",
    "Pattern",
    "SameAs",
    "TuplePattern",
    "dominates",
    "has_attr",
    "has_dtype",
    "has_shape",
    "has_type",
    "is_constant",
    "is_expr",
    "is_if",
    "is_let",
    "is_op",
    "is_tuple",
    "is_tuple_get_item",
    "is_var",
    "op_pattern",
    "wildcard",
]


def is_op(name: str) -> OpWord:
    """An op by TVM's name: `is_op("nn.dense")(a, b)`. Raises RuleError for an unknown one."""
    op = find_op(f"relay.{name}")
    if op is None or not issubclass(op, RelayOp):
        from lamina.dialects.relay.op_index import OPS
        from lamina.errors import did_you_mean

        near = did_you_mean(name, [n.removeprefix("relay.") for n in OPS])
        raise RuleError(f"there is no op {name!r}" + (f"; {near}" if near else ""))
    return OpWord(op)


def wildcard() -> Var:
    """Any value; the same one wherever this object occurs. `.redirect_to(p)` makes it stand for a pattern."""
    return Var("")


def is_constant() -> ConstVar:
    """A constant; partitioning keeps it inside the function."""
    return ConstVar("")


def is_var(name: str = "") -> InputVar:
    """A parameter of a function, of that name if one is given."""
    return InputVar(name)


def is_expr(expr: SSAValue | Operation) -> SameAs:
    """A value that is computed in the same way as the given one."""
    return SameAs(expr if isinstance(expr, SSAValue) else expr.results[0])


def is_tuple(fields: Sequence[Any] | None = None) -> TuplePattern:
    """A tuple of these fields; of any where None. For an op on a list of tensors: its operands."""
    return TuplePattern(fields)


def is_tuple_get_item(tuple_value: Any, index: int | None = None) -> ItemPattern:
    """A field of a tuple or a result of an op with several; any where the index is None."""
    return ItemPattern(as_pattern(tuple_value), index)


def is_if(cond: Any, true_branch: Any, false_branch: Any) -> IfPattern:
    """A branch by its condition and by what its two sides yield."""
    return IfPattern(cond, true_branch, false_branch)


def is_let(var: Pattern, value: Any, body: Any) -> LetPattern:
    """`body`, where what `var` stands for in it matches `value`. Raises RuleError where the body has no `var`."""
    return LetPattern(var, value, body)


def has_attr(attrs: dict[str, Any], pattern: Pattern | None = None) -> Pattern:
    """Attributes of a call's op, or on a callee those of a function or TVM's `TOpPattern`."""
    return (wildcard() if pattern is None else pattern).has_attr(attrs)


def has_type(type_: TensorType[Any], pattern: Pattern | None = None) -> Pattern:
    """Exactly that shape and element type; of any value without a pattern."""
    return (wildcard() if pattern is None else pattern).has_type(type_)


def has_dtype(dtype: str, pattern: Pattern | None = None) -> Pattern:
    """Elements of the dtype, by its numpy name; of any value without a pattern."""
    return (wildcard() if pattern is None else pattern).has_dtype(dtype)


def has_shape(shape: Sequence[int | None], pattern: Pattern | None = None) -> Pattern:
    """Exactly that shape; None stands for any extent."""
    return (wildcard() if pattern is None else pattern).has_shape(shape)


def dominates(parent: Pattern, path: Pattern | None, child: Pattern) -> Dominator:
    """`child`, all of whose inputs but constants and parameters lead through `path` ops to one `parent`."""
    return Dominator(parent, _ if path is None else path, child)
