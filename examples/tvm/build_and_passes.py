"""A small network written in Relay: passes one by one and in a sequence, a pass of one's own, build and run.

    python examples/tvm/build_and_passes.py

TVM's tutorial "How to use TVM passes", with the imports changed.
"""

from typing import Any

import numpy as np

import lamina.compat.tvm as tvm
from lamina.compat.tvm import relay
from lamina.compat.tvm.contrib import graph_executor


def example() -> Any:
    shape = (1, 64, 54, 54)
    c_data: Any = np.empty(shape).astype("float32")
    c_data[:] = np.linspace(-1, 1, 54)
    c = relay.const(c_data)
    weight = relay.var("weight", shape=(64, 64, 3, 3))
    x = relay.var("x", relay.TensorType((1, 64, 56, 56), "float32"))
    conv = relay.nn.conv2d(x, weight)
    y = relay.add(c, c)
    y = relay.multiply(y, relay.const(2, "float32"))
    y = relay.add(conv, y)
    z = relay.add(y, c)
    z1 = relay.add(y, c)
    z2 = relay.add(z, z1)
    return relay.Function([x, weight], z2)


@relay.transform.function_pass(opt_level=1)
class CustomPipeline:
    """Multiplies every constant of the function."""

    def __init__(self, multiplier: Any) -> None:
        self.multiplier = multiplier

    def transform_function(self, func: Any, mod: Any, ctx: Any) -> Any:
        obj = self

        class ReplaceConstant(relay.ExprMutator):
            def visit_constant(self, const: Any) -> Any:
                return relay.multiply(obj.multiplier, const)

        return ReplaceConstant().visit(func)


def main() -> dict[str, Any]:
    f = example()
    mod = tvm.IRModule.from_expr(f)

    folded = relay.transform.FoldConstant()(mod)
    merged = relay.transform.EliminateCommonSubexpr()(folded)
    fused = relay.transform.FuseOps(fuse_opt_level=0)(merged)

    seq = tvm.transform.Sequential(
        [
            relay.transform.FoldConstant(),
            relay.transform.EliminateCommonSubexpr(),
            relay.transform.FuseOps(fuse_opt_level=2),
        ]
    )
    at_level_2 = seq(tvm.IRModule.from_expr(f))
    with tvm.transform.PassContext(opt_level=3):
        at_level_3 = seq(tvm.IRModule.from_expr(f))
    with tvm.transform.PassContext(opt_level=3, disabled_pass=["EliminateCommonSubexpr"]):
        without = seq(tvm.IRModule.from_expr(f))

    custom_pass = CustomPipeline(multiplier=relay.const(3, "float32"))
    mod3 = relay.transform.FoldConstant()(custom_pass(mod))

    data = np.random.default_rng(0).standard_normal((1, 64, 56, 56)).astype("float32")
    weight = np.random.default_rng(1).standard_normal((64, 64, 3, 3)).astype("float32") * 0.05
    outputs: list[Any] = []
    for m in (mod, at_level_3, mod3):
        with tvm.transform.PassContext(opt_level=3):
            lib = relay.build(m, target="llvm", params={"weight": weight})
        module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
        module.set_input("x", data)
        module.run()
        outputs.append(module.get_output(0).numpy())
    return {
        "modules": (folded, merged, fused, at_level_2, at_level_3, without, mod3),
        "outputs": outputs,
        "inputs": (data, weight),
    }


if __name__ == "__main__":
    for m in main()["modules"]:
        print(m.astext(show_meta_data=False))
