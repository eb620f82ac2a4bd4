"""What the schedules of the processor ask of the stages of a kernel."""

from __future__ import annotations

import numpy as np

import lamina
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text


def test_values_read_twice_in_a_row_are_looked_through_once() -> None:
    """A power by squaring behind a product: there are a billion ways from its end to the product."""
    lines = [
        "func.func @main(%a: tensor<13x18xi32>, %b: tensor<18x25xi32>, %c: tensor<i1>) -> tensor<13x25xi32> {",
        "  %p0 = relay.nn.matmul %a, %b : (tensor<13x18xi32>, tensor<18x25xi32>) -> tensor<13x25xi32>",
        "  %r0 = relay.multiply %p0, %p0 : tensor<13x25xi32>",
    ]
    types = "(tensor<i1>, tensor<13x25xi32>, tensor<13x25xi32>) -> tensor<13x25xi32>"
    for n in range(30):
        lines.append(f"  %p{n + 1} = relay.multiply %p{n}, %p{n} : tensor<13x25xi32>")
        lines.append(f"  %m{n} = relay.multiply %r{n}, %p{n + 1} : tensor<13x25xi32>")
        lines.append(f"  %r{n + 1} = relay.where %c, %m{n}, %r{n} : {types}")
    module = parse_text(LaminaContext(), "\n".join([*lines, "  return %r30 : tensor<13x25xi32>", "}"]), "power.mlir")
    a, b = np.full((13, 18), 1, np.int32), np.zeros((18, 25), np.int32)
    b[0] = 3
    found = lamina.compile(lamina.load(module), cache=False, threads=1)(a, b, np.array(False))
    assert (found == 9).all()
