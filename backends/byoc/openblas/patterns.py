"""Patterns that OpenBLAS takes: products of matrices and 2-D convolutions, with what can be added to them and a relu.

Single and double precision, in and out. Convolutions have the layouts NCHW and OIHW. What is added has any shape that
does not change the result's: a bias, or another tensor.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from xdsl.ir import Operation

from lamina.dialects import relay as r
from lamina.dialects.infos import TypeMismatch, tensor_info
from lamina.dialects.relay.base import attrs_of
from lamina.dialects.rules.terms import attr, composite, computed, var
from lamina.passes.relay.partition.pattern_tables import PatternTable

Ints = tuple[int, ...]
openblas = PatternTable("openblas")

ANCHORS = {
    "conv2d": r.nn.conv2d,
    "dense": r.nn.dense,
    "matmul": r.nn.matmul,
    "batch_matmul": r.nn.batch_matmul,
}


def is_product(op: Operation) -> bool:
    """Whether OpenBLAS can compute an op: one precision, plain layouts, no empty tensors."""
    try:
        infos = [tensor_info(v.type) for v in (*op.operands, *op.results)]
    except TypeMismatch:
        return False
    if infos[0].dtype not in ("float32", "float64") or any(i.dtype != infos[0].dtype for i in infos):
        return False
    if any(prod(i.shape) == 0 for i in infos):
        return False
    if op.name != "relay.nn.conv2d":
        return True
    return has_plain_layouts(attrs_of(op))  # type: ignore[arg-type]


def has_plain_layouts(attrs: Mapping[str, Any]) -> bool:
    """Whether a convolution has the channels first."""
    plain = attrs["data_layout"] == "NCHW" and attrs["kernel_layout"] == "OIHW"
    return plain and attrs["out_layout"] in ("", "NCHW")


@computed
def is_precise(given: str, weight: str, result: str) -> bool:
    """Whether a product is of one precision that OpenBLAS has."""
    return given == weight == result and result in ("float32", "float64")


@computed
def keeps_shape(added: Ints, product: Ints) -> bool:
    """Whether adding something leaves the shape of the product."""
    padded = (1,) * (len(product) - len(added)) + added
    return len(padded) == len(product) and all(a in (1, p) for a, p in zip(padded, product, strict=True))


@computed
def is_plain(layout: str) -> bool:
    """Whether the results of a convolution lie in NCHW; an empty layout is that of the data."""
    return layout in ("", "NCHW")


@computed
def is_filled(product: Ints, depth: Ints) -> bool:
    """Whether there is anything to compute."""
    return prod(product) > 0 and prod(depth) > 0


x, w, b, y = var("x w b y")
out_layout = attr("out_layout")

for name, anchor in ANCHORS.items():
    given: dict[str, Any] = {}
    if name == "conv2d":
        given = {"data_layout": "NCHW", "kernel_layout": "OIHW", "out_layout": out_layout}
    product: Any = anchor(x, w, **given)
    fits: list[Any] = [is_precise(x.dtype, w.dtype, product.dtype), is_filled(product.shape, w.shape)]
    if given:
        fits.append(is_plain(out_layout))
    biased: Any = ((r.nn.bias_add(product, b), []), (r.add(product, b), [keeps_shape(b.shape, product.shape)]))
    of_sum = keeps_shape(y.shape, product.shape)
    for value, fit in biased:
        openblas += (r.nn.relu(r.add(value, y)) >> composite(f"openblas.{name}_bias_sum_relu")).when(
            *fits, *fit, of_sum
        )
    for value, fit in biased:
        openblas += (r.add(value, y) >> composite(f"openblas.{name}_bias_sum")).when(*fits, *fit, of_sum)
    for value, fit in biased:
        openblas += (r.nn.relu(value) >> composite(f"openblas.{name}_bias_relu")).when(*fits, *fit)
    for value, fit in biased:
        openblas += (value >> composite(f"openblas.{name}_bias")).when(*fits, *fit)
    openblas += (r.nn.relu(product) >> composite(f"openblas.{name}_relu")).when(*fits)

openblas.takes(*(f"nn.{name}" for name in ANCHORS), check=is_product)
