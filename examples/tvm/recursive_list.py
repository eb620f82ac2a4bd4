"""Relay as a functional language: lists, matches, functions of any type, recursion; from text and from Python.

    python examples/tvm/recursive_list.py

As in TVM, but for the imports.
"""

from typing import Any

import numpy as np

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay
from lamina.compat.tvm.relay.prelude import Prelude

NETWORK = """
#[version = "0.0.5"]
type Layer {
  Dense(Tensor[(8, 8), float32]),
  Activation,
}
def @apply(%x: Tensor[(1, 8), float32], %layer: Layer) -> Tensor[(1, 8), float32] {
  match (%layer) {
    Dense(%weight) => nn.dense(%x, %weight, units=8),
    Activation => nn.relu(%x),
  }
}
def @main(%x: Tensor[(1, 8), float32], %layers: List[Layer]) -> (Tensor[(1, 8), float32], int32) {
  (@foldl(@apply, %x, %layers), @length(%layers))
}
"""


def main() -> dict[str, Any]:
    mod = tvm.IRModule()
    prelude = Prelude(mod)
    mod = tvm.parser.parse(NETWORK, init_module=mod)
    _, cons, nil = mod.get_type("List")
    _, dense, activation = mod.get_type("Layer")

    rng = np.random.default_rng(0)
    weights = [rng.standard_normal((8, 8)).astype("float32") for _ in range(3)]
    layers = nil()
    for weight in reversed(weights):
        layers = cons(dense(relay.const(weight)), cons(activation(), layers))
    x = rng.standard_normal((1, 8)).astype("float32")

    run = relay.create_executor("vm", mod=mod, device=tvm.cpu(), target="llvm")
    network = run.evaluate(layers)
    result, depth = run.evaluate()(x, network)

    a = relay.var("a", shape=(), dtype="float32")
    squared = prelude.map(relay.Function([a], a * a), cons(relay.const(2.0), cons(relay.const(3.0), nil())))
    return {"input": x, "weights": weights, "output": result.numpy(), "depth": int(depth.numpy()), "module": mod,
            "squared": str(run.evaluate(squared))}  # fmt: skip


if __name__ == "__main__":
    found = main()
    print(found["module"].get_type("Layer"), found["output"], found["depth"], found["squared"])
