"""Patterns that Ethos-N takes: quantised layers, as importers of TFLite leave them."""

from __future__ import annotations

from typing import Any

from lamina.dialects.rules.patterns import Pattern
from lamina.passes.relay.partition.pattern_tables import PatternTable, register_pattern_table
from lamina.passes.rules.dataflow_pattern import is_constant, is_op, wildcard


def constants(count: int) -> list[Any]:
    """So many patterns of a constant each: scales, zero points, weights."""
    return [is_constant() for _ in range(count)]


def qnn_conv_pattern() -> Pattern:
    """qnn.conv2d with a constant weight and bias, after a pad or not, then requantized."""
    pattern: Any = is_op("nn.pad")(wildcard(), wildcard()) | wildcard()
    pattern = is_op("qnn.conv2d")(pattern, *constants(5))
    pattern = is_op("nn.bias_add")(pattern, is_constant())
    return is_op("qnn.requantize")(pattern, *constants(4))


def qnn_fc_pattern() -> Pattern:
    """qnn.dense with a constant weight, with a constant bias or not, then requantized."""
    pattern = is_op("qnn.dense")(wildcard(), *constants(5))
    pattern = pattern.optional(lambda p: is_op("nn.bias_add")(p, is_constant()))
    return is_op("qnn.requantize")(pattern, *constants(4))


def qnn_conv2d_transpose_pattern() -> Pattern:
    """qnn.conv2d_transpose with a constant weight, with a constant bias or not, then requantized."""
    pattern = is_op("qnn.conv2d_transpose")(wildcard(), *constants(5))
    pattern = pattern.optional(lambda p: is_op("nn.bias_add")(p, is_constant()))
    return is_op("qnn.requantize")(pattern, *constants(4))


def qnn_avg_pool2d_pattern() -> Pattern:
    """nn.avg_pool2d between a cast to a wider integer type and one back, whose types are not checked."""
    return is_op("cast")(is_op("nn.avg_pool2d")(is_op("cast")(wildcard())))


def qnn_mean_pattern() -> Pattern:
    """The mean of a cast value, requantized by constant scales and zero points."""
    return is_op("qnn.requantize")(is_op("mean")(is_op("cast")(wildcard())), *constants(4))


def in_float(op: str) -> Pattern:
    """An op between dequantize and quantize."""
    inner = is_op(op)(is_op("qnn.dequantize")(wildcard(), *constants(2)))
    return is_op("qnn.quantize")(inner, *constants(2))


def qnn_requantize_pattern() -> Pattern:
    """qnn.requantize by constant scales and zero points."""
    return is_op("qnn.requantize")(wildcard(), *constants(4))


def binary(op: str) -> Pattern:
    """A quantised op of two values, with constant scales and zero points of both and of the result."""
    return is_op(op)(wildcard(), wildcard(), *constants(6))


def by_a_constant(op: str) -> Pattern:
    """As `binary`, of a value and a constant, in either order."""
    left = is_op(op)(is_constant(), wildcard(), *constants(6))
    return left | is_op(op)(wildcard(), is_constant(), *constants(6))


@register_pattern_table("ethos-n")
def pattern_table() -> list[tuple[str, Pattern]]:
    return [
        ("ethos-n.qnn_mul", by_a_constant("qnn.mul")),
        ("ethos-n.qnn_add", binary("qnn.add")),
        ("ethos-n.qnn_conv2d", qnn_conv_pattern()),
        ("ethos-n.qnn_conv2d_transpose", qnn_conv2d_transpose_pattern()),
        ("ethos-n.qnn_avg_pool2d", qnn_avg_pool2d_pattern()),
        ("ethos-n.qnn_sigmoid", in_float("sigmoid")),
        ("ethos-n.qnn_fc", qnn_fc_pattern()),
        ("ethos-n.qnn_mean", qnn_mean_pattern()),
        ("ethos-n.qnn_tanh", in_float("tanh")),
        ("ethos-n.qnn_leaky_relu", in_float("nn.leaky_relu")),
        ("ethos-n.qnn_requantize", qnn_requantize_pattern()),
    ]


PatternTable.of("ethos-n").takes("nn.max_pool2d", "reshape", "qnn.concatenate", "split", "nn.depth_to_space", "clip")
