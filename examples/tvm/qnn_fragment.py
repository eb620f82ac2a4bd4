"""The fragment of a TFLite model as Relay text, partitioned for an accelerator's patterns, and rewritten by callbacks.

    python examples/tvm/qnn_fragment.py

As in TVM, but for the imports: `qnn_conv_pattern` is that of ethos-n, the passes are TVM's, and the two callbacks are
those of a quantised importer.
"""

from typing import Any

import numpy as np

import lamina.compat.tvm as tvm
import lamina.compat.tvm.relay as relay
from lamina.compat.tvm.relay import transform
from lamina.compat.tvm.relay.dataflow_pattern import DFPatternCallback, is_constant, is_op, rewrite, wildcard

FRAGMENT = """
#[version = "0.0.5"]
def @main(%input: Tensor[(1, 3, 32, 32), float32], %weight: Tensor[(32, 3, 3, 3), int8], %bias: Tensor[(32), int32]) {
  %0 = qnn.quantize(%input, 0.0186579f /* ty=float32 */, 114 /* ty=int32 */, out_dtype="uint8", axis=1);
  %1 = nn.pad(%0, 114f /* ty=float32 */, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]);
  %2 = qnn.conv2d(%1, %weight, 114 /* ty=int32 */, 0 /* ty=int32 */, 0.0186579f /* ty=float32 */, 0.00288958f
    /* ty=float32 */, strides=[2, 2], padding=[0, 0, 0, 0], channels=32, kernel_size=[3, 3], out_dtype="int32");
  %3 = nn.bias_add(%2, %bias);
  qnn.requantize(%3, 5.39136e-05f /* ty=float32 */, 0 /* ty=int32 */, 0.0150183f /* ty=float32 */, 0 /* ty=int32 */,
    axis=1, out_dtype="uint8")
}
"""


def qnn_conv_pattern() -> Any:
    pattern = is_op("nn.pad")(wildcard(), wildcard()) | wildcard()
    pattern = is_op("qnn.conv2d")(pattern, is_constant(), is_constant(), is_constant(), is_constant(), is_constant())
    pattern = is_op("nn.bias_add")(pattern, is_constant())
    pattern = is_op("qnn.requantize")(pattern, is_constant(), is_constant(), is_constant(), is_constant())
    return pattern


def pattern_table() -> Any:
    def check(extract: Any) -> bool:
        return extract.attrs.out_dtype == "uint8"

    return [("ethos-n.qnn_conv2d", qnn_conv_pattern(), check)]


class QnnQuantizeConstFold(DFPatternCallback):
    def __init__(self, require_type: bool = False) -> None:
        super().__init__(require_type)
        self.data, self.scale, self.zero = is_constant(), is_constant(), is_constant()
        self.pattern = is_op("qnn.quantize")(self.data, self.scale, self.zero)

    def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
        data: Any = node_map[self.data][0].data.numpy()
        scale: Any = node_map[self.scale][0].data.numpy()
        zero: Any = node_map[self.zero][0].data.numpy()
        dtype = post.attrs.out_dtype
        limits = np.iinfo(dtype)
        quantized = (data / scale).round() + zero
        return relay.Constant(tvm.nd.array(quantized.clip(limits.min, limits.max).astype(dtype)))


class RemoveClipAfterRequantize(DFPatternCallback):
    def __init__(self, require_type: bool = False) -> None:
        super().__init__(require_type)
        self.requantize = is_op("qnn.requantize")(wildcard(), wildcard(), wildcard(), wildcard(), wildcard())
        self.pattern = is_op("clip")(self.requantize)

    def callback(self, pre: Any, post: Any, node_map: Any) -> Any:
        requantize = node_map[self.requantize][0]
        limits = np.iinfo(requantize.attrs.out_dtype)
        if post.attrs.a_min <= limits.min and post.attrs.a_max >= limits.max:
            return requantize
        return post


def partitioned() -> tuple[Any, Any]:
    """The fragment as TVM imports it, weights constant, and what the partitioning passes make of it."""
    rng = np.random.default_rng(0)
    params = {
        "weight": tvm.nd.array(rng.integers(-127, 128, (32, 3, 3, 3)).astype("int8")),
        "bias": tvm.nd.array(rng.integers(-2000, 2000, 32).astype("int32")),
    }
    mod = tvm.relay.parse(FRAGMENT)
    mod["main"] = relay.build_module.bind_params_by_name(mod["main"], params)
    seq = tvm.transform.Sequential(
        [
            transform.InferType(),
            transform.MergeComposite(pattern_table()),
            transform.AnnotateTarget("ethos-n"),
            transform.MergeCompilerRegions(),
            transform.PartitionGraph(),
        ]
    )
    return mod, seq(mod)


def rewritten() -> tuple[Any, Any]:
    """A function with a weight that is quantised in the graph and a clip that cuts nothing, before and after."""
    x = relay.var("x", shape=(2, 3), dtype="uint8")
    weight = relay.qnn.op.quantize(
        relay.const(np.array([[0.5, -0.25, 0.75], [1.0, 0.0, -0.5]], "float32")),
        relay.const(1 / 128, "float32"),
        relay.const(0, "int32"),
        out_dtype="int8",
    )
    y = relay.qnn.op.dense(
        x,
        weight,
        input_zero_point=relay.const(3, "int32"),
        kernel_zero_point=relay.const(0, "int32"),
        input_scale=relay.const(0.1, "float32"),
        kernel_scale=relay.const(1 / 128, "float32"),
        units=2,
    )
    y = relay.qnn.op.requantize(
        y,
        relay.const(0.1 / 128, "float32"),
        relay.const(0, "int32"),
        relay.const(0.05, "float32"),
        relay.const(0, "int32"),
        out_dtype="uint8",
    )
    mod = tvm.IRModule.from_expr(relay.clip(y, 0.0, 255.0))

    func = mod["main"]
    func = tvm.relay.Function(func.params, func.body, None, func.type_params, func.attrs)
    func = rewrite(RemoveClipAfterRequantize(), func)
    func = rewrite(QnnQuantizeConstFold(), func)
    return mod, tvm.IRModule.from_expr(func)


if __name__ == "__main__":
    print(partitioned()[1])
    print(rewritten()[1].astext(show_meta_data=False))
