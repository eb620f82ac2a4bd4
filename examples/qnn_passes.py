"""Two passes on quantised models, each an equation: constants are quantised now, and clips that cut nothing go.

python examples/qnn_passes.py
opt-tool model.mlir --load examples/qnn_passes.py -p qnn-quantize-const-fold,remove-clip-after-requantize
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lamina.dialects import relay as r
from lamina.dialects.dtypes import integer_range
from lamina.dialects.rules.terms import attr, computed, const, splat, var
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.rewriting import Rules

# -- quantize(constant) is a constant --------------------------------------------------------------

const_fold = Rules("qnn-quantize-const-fold")
x, s, z = const("x s z")
a, d, m = attr("a d m")


@computed
def quantized(x: Any, s: Any, z: Any, a: int, d: str, m: str) -> Any:
    return r.qnn.quantize(x, s, z, axis=a, out_dtype=d, rounding=m)


@computed
def known(*arrays: Any) -> bool:
    return all(array is not None for array in arrays)


quantize = r.qnn.quantize(x, s, z, axis=a, out_dtype=d, rounding=m)
const_fold += (quantize >> splat(quantized(x.value, s.value, z.value, a, d, m), like=quantize)).when(
    known(x.value, s.value, z.value)
)


@dataclass(frozen=True)
class QnnQuantizeConstFold(ModulePass):
    name = "qnn-quantize-const-fold"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        const_fold.apply(op)


# -- clip(requantize(x)) is requantize(x) where the bounds hold all of its dtype -------------------

remove_clip = Rules("remove-clip-after-requantize")
y, scale, zero, output_scale, output_zero = var("y scale zero output_scale output_zero")
low, high = attr("low high")


@computed
def hold_all(low: float, high: float, dtype: str) -> bool:
    return low <= integer_range(dtype)[0] and integer_range(dtype)[1] <= high


requantize = r.qnn.requantize(y, scale, zero, output_scale, output_zero, out_dtype=d).shared()
remove_clip += (r.clip(requantize, a_min=low, a_max=high) >> requantize).when(hold_all(low, high, d))


@dataclass(frozen=True)
class RemoveClipAfterRequantize(ModulePass):
    name = "remove-clip-after-requantize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        remove_clip.apply(op)


MODEL = """
func.func @main(%x: tensor<2x3xui8>) -> tensor<2x2xui8> {
  %weight = relay.constant dense<[[0.5, -0.25, 0.75], [1.0, 0.0, -0.5]]> : tensor<2x3xf32>
  %s = relay.constant dense<0.0078125> : tensor<f32>
  %z = relay.constant dense<0> : tensor<i32>
  %w = relay.qnn.quantize %weight, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<i32>) -> tensor<2x3xi8>
  %d = relay.qnn.dense %x, %w, %z, %z, %s, %s : (tensor<2x3xui8>, tensor<2x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<2x2xi32>
  %q = relay.qnn.requantize %d, %s, %z, %s, %z {out_dtype = "uint8"} : (tensor<2x2xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x2xui8>
  %c = relay.clip %q {a_min = 0.0, a_max = 255.0} : tensor<2x2xui8>
  return %c : tensor<2x2xui8>
}
"""  # noqa: E501


def main() -> str:
    """The model after both passes."""
    ctx = LaminaContext()
    module = parse_text(ctx, MODEL, "model")
    QnnQuantizeConstFold().apply(ctx, module)
    RemoveClipAfterRequantize().apply(ctx, module)
    return str(module)


if __name__ == "__main__":
    print(main())
