"""Patterns that BNNS takes: convolutions and dense layers with constant weights, their bias and activation.

As in TVM the gelu is the one by tanh, with its constants in single precision.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from lamina.dialects import relay as r
from lamina.dialects.rules.terms import composite, computed, const, var
from lamina.passes.relay.partition.pattern_tables import PatternTable

bnns = PatternTable("bnns")

x = var("x")
w, b = const("w b")


@computed
def is_number(value: Any, number: float) -> bool:
    """Whether a constant is that number, as far as single precision tells."""
    return value is not None and bool((abs(value - number) <= 1e-6 * abs(number)).all())


conv = r.nn.conv2d(x, w)
biased = r.add(conv, b) | r.nn.bias_add(conv, b)
bnns += r.nn.relu(biased) >> composite("bnns.conv2d_bias_relu")
bnns += r.nn.relu(conv) >> composite("bnns.conv2d_relu")
bnns += r.sigmoid(biased) >> composite("bnns.conv2d_bias_sigmoid")
bnns += r.sigmoid(conv) >> composite("bnns.conv2d_sigmoid")
bnns += biased >> composite("bnns.conv2d_bias")

dense = r.nn.dense(x, w)
biased = r.nn.bias_add(dense, b) | r.add(dense, b)
three, cubic, root, one, half = const("three cubic root one half")
inner = r.multiply(r.add(r.multiply(r.power(biased, three), cubic), biased), root)
gelu = r.multiply(r.multiply(r.add(r.tanh(inner), one), half), biased)
numbers = {three: 3.0, cubic: 0.044715, root: sqrt(2 / pi), one: 1.0, half: 0.5}
bnns += (gelu >> composite("bnns.dense_bias_gelu")).when(*(is_number(c.value, n) for c, n in numbers.items()))
bnns += biased >> composite("bnns.dense_bias")

bnns.takes("nn.conv2d", "nn.dense", "nn.batch_matmul", "nn.instance_norm")
bnns.takes("nn.max_pool2d", "nn.avg_pool2d", "nn.global_max_pool2d", "nn.global_avg_pool2d")
