"""Dataflow patterns, as TVM's `relay.dataflow_pattern`: the words to write them, and what is done with them.

    from lamina.dataflow_pattern import is_op, is_constant, wildcard, match, partition, rewrite

    conv = is_op("nn.conv2d")(wildcard(), is_constant())
    partition(is_op("nn.relu")(conv), module, {"Composite": "mine.conv2d_relu"})

`explain(pattern, value)` says which part of a pattern does not match.
"""

from lamina.dialects.rules.graph_patterns import FunctionPattern
from lamina.passes.rules.dataflow_partition import DFPatternCallback, find, match, partition, rewrite
from lamina.passes.rules.dataflow_pattern import (
    Pattern,
    dominates,
    has_attr,
    has_dtype,
    has_shape,
    has_type,
    is_constant,
    is_expr,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from lamina.passes.rules.pattern_explaining import explain

__all__ = [
    "DFPatternCallback",
    "FunctionPattern",
    "Pattern",
    "dominates",
    "explain",
    "find",
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
    "match",
    "partition",
    "rewrite",
    "wildcard",
]
