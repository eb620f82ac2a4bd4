"""The time to read 10,000 ops of StableHLO, as JAX prints them, beside that of as many ops of Relay.

    python bench/parse_stablehlo.py [--ops N]

Both texts compute the same: elementwise ops, products, reshapes, reductions and choices in turn. The texts have no
locations but the lines that they stand in. Reported are the best of five runs, and their ratio.
"""

from __future__ import annotations

import argparse
from time import process_time

from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text

T = "tensor<16x16xf32>"
ROUND = (
    ("stablehlo.add {0}, {1} : {T}", "relay.add {0}, {1} : {T}"),
    ("stablehlo.exponential {0} : {T}", "relay.exp {0} : {T}"),
    (
        "stablehlo.dot_general {0}, {1}, contracting_dims = [1] x [0] : ({T}, {T}) -> {T}",
        'relay.nn.matmul {0}, {1} {{out_dtype = "float32"}} : ({T}, {T}) -> {T}',
    ),
    ("stablehlo.maximum {0}, {1} : {T}", "relay.maximum {0}, {1} : {T}"),
    ("stablehlo.transpose {0}, dims = [1, 0] : ({T}) -> {T}", "relay.transpose {0} {{axes = [1, 0]}} : ({T}) -> {T}"),
    ("stablehlo.multiply {0}, {1} : {T}", "relay.multiply {0}, {1} : {T}"),
    (
        "stablehlo.broadcast_in_dim {0}, dims = [0, 1] : ({T}) -> {T}",
        "relay.broadcast_to {0} {{shape = [16, 16]}} : ({T}) -> {T}",
    ),
    ("stablehlo.tanh {0} : {T}", "relay.tanh {0} : {T}"),
    (
        "stablehlo.select %c, {0}, {1} : tensor<16x16xi1>, {T}",
        "relay.where %c, {0}, {1} : (tensor<16x16xi1>, {T}, {T}) -> {T}",
    ),
    ("stablehlo.reshape {0} : ({T}) -> {T}", "relay.reshape {0} {{newshape = [16, 16]}} : ({T}) -> {T}"),
)  # fmt: skip


def text(ops: int, side: int) -> str:
    """A function of so many ops, each on the results of the two before it."""
    names = ["%x", "%y"]
    lines = [f"func.func @main(%x: {T}, %y: {T}, %c: tensor<16x16xi1>) -> {T} {{"]
    for n in range(ops):
        lines.append(f"  %{n} = {ROUND[n % len(ROUND)][side].format(*names[-2:], T=T)}")
        names.append(f"%{n}")
    return "\n".join([*lines, f"  return {names[-1]} : {T}", "}"])


def seconds(source: str) -> float:
    """The processor time to read a text, the best of five runs."""
    found: list[float] = []
    for _ in range(5):
        start = process_time()
        parse_text(LaminaContext(), source, "text.mlir")
        found.append(process_time() - start)
    return min(found)


def main() -> None:
    """Measure both, and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", type=int, default=10_000)
    count = parser.parse_args().ops
    hlo, relay = (seconds(text(count, side)) for side in (0, 1))
    print(f"{count} ops: StableHLO {hlo:.3f} s, Relay {relay:.3f} s, ratio {hlo / relay:.2f}")


if __name__ == "__main__":
    main()
