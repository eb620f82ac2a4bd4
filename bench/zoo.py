"""Models of the benchmarks that are not among onnx's light ones, built whole by onnx.helper with random weights.

Each is written as exporters write it, batch norms folded into convolutions, batch 1, float32. Weights are drawn so
that activations keep their size from layer to layer.

    mobilenet_v2      MobileNet-v2 1.0 at 224 (Sandler et al. 2018, table 2)
    efficientnet_b0   EfficientNet-B0 at 224 (Tan and Le 2019, table 1), with squeeze and excitation
    bert_base         12 layers of 768, 12 heads, 128 tokens, erf GELU, with embeddings and pooler (Devlin et al. 2018)
    gpt2              12 layers of 768, 12 heads, 128 tokens, causal, tanh GELU, with the head over 50,257 words
    vit_b16           ViT-B/16 at 224 (Dosovitskiy et al. 2020, table 1)
    lstm, gru         2 layers of 256 on 64 steps of 256 values
    unet              U-Net (Ronneberger et al. 2015), same padding, 3 x 256 x 256, base 32, four levels

`OPEN` has four that leave a size open.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

from models import GraphWriter, before_softmax, light_model

if TYPE_CHECKING:
    from lamina.runtime.ports import Port

OPSET = 17


def model(
    g: GraphWriter,
    name: str,
    inputs: Mapping[str, Sequence[int | str]],
    *outputs: str,
    integer: bool | Sequence[str] = False,
) -> ModelProto:
    """A model of inputs by name and shape; all are int64 where `integer` is true, else those that it names."""
    kinds = {n: integer if isinstance(integer, bool) else n in integer for n in inputs}
    ports = [
        helper.make_tensor_value_info(n, TensorProto.INT64 if kinds[n] else TensorProto.FLOAT, list(shape))
        for n, shape in inputs.items()
    ]
    made = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs]
    graph = helper.make_graph(g.nodes, name, ports, made, g.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def convolution(
    g: GraphWriter, x: str, name: str, channels: tuple[int, int], kernel: int, stride: int = 1, groups: int = 1
) -> str:
    """A convolution of (out, in) channels with bias, padded to keep the size (at stride 1)."""
    out, into = channels
    fan_in = into // groups * kernel * kernel
    weight = g.weight(f"{name}.weight", (out, into // groups, kernel, kernel), (2 / fan_in) ** 0.5)
    bias = g.weight(f"{name}.bias", (out,), 0.1)
    p = kernel // 2
    return g.op(
        "Conv", x, weight, bias, name=name, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[p] * 4, group=groups
    )


# -- mobile networks ---------------------------------------------------------------------------------------------


def mobilenet_v2() -> ModelProto:
    """Input [1, 3, 224, 224], output logits [1, 1000]."""
    g = GraphWriter(0)
    low, high = g.constant("zero", np.float32(0)), g.constant("six", np.float32(6))

    def relu6(x: str) -> str:
        return g.op("Clip", x, low, high, name=f"{x}.relu6")

    x = relu6(convolution(g, "image", "stem", (32, 3), 3, 2))
    width = 32
    for stage, (expand, out, repeats, stride) in enumerate(
        ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    ):
        for n in range(repeats):
            name, step, wide = f"block{stage}.{n}", stride if n == 0 else 1, width * expand
            y = relu6(convolution(g, x, f"{name}.expand", (wide, width), 1)) if expand > 1 else x
            y = relu6(convolution(g, y, f"{name}.depthwise", (wide, wide), 3, step, wide))
            y = convolution(g, y, f"{name}.project", (out, wide), 1)
            x = g.op("Add", x, y, name=f"{name}.add") if step == 1 and width == out else y
            width = out
    x = relu6(convolution(g, x, "head", (1280, width), 1))
    pooled = g.op("Flatten", g.op("GlobalAveragePool", x, name="pool"), name="flat")
    return model(g, "mobilenet_v2", {"image": (1, 3, 224, 224)}, classes(g, pooled, 1280))


def classes(g: GraphWriter, x: str, width: int) -> str:
    weight = g.weight("classifier.weight", (1000, width), width**-0.5)
    return g.op("Gemm", x, weight, g.weight("classifier.bias", (1000,), 0.1), name="classifier", transB=1)


def efficientnet_b0() -> ModelProto:
    """Input [1, 3, 224, 224], output logits [1, 1000]."""
    return efficientnet("efficientnet_b0", lambda g, x: g.op("GlobalAveragePool", x, name="pool"))


def efficientnet(name: str, pool: Callable[[GraphWriter, str], str]) -> ModelProto:
    """EfficientNet-B0 whose last pixels are pooled so."""
    g = GraphWriter(0)

    def swish(x: str) -> str:
        return g.op("Mul", x, g.op("Sigmoid", x, name=f"{x}.sigmoid"), name=f"{x}.swish")

    x = swish(convolution(g, "image", "stem", (32, 3), 3, 2))
    width = 32
    for stage, (expand, out, repeats, stride, kernel) in enumerate(
        (
            (1, 16, 1, 1, 3),
            (6, 24, 2, 2, 3),
            (6, 40, 2, 2, 5),
            (6, 80, 3, 2, 3),
            (6, 112, 3, 1, 5),
            (6, 192, 4, 2, 5),
            (6, 320, 1, 1, 3),
        )
    ):
        for n in range(repeats):
            block, step, wide = f"block{stage}.{n}", stride if n == 0 else 1, width * expand
            y = swish(convolution(g, x, f"{block}.expand", (wide, width), 1)) if expand > 1 else x
            y = swish(convolution(g, y, f"{block}.depthwise", (wide, wide), kernel, step, wide))
            squeezed = max(width // 4, 1)
            s = g.op("GlobalAveragePool", y, name=f"{block}.pool")
            s = swish(convolution(g, s, f"{block}.squeeze", (squeezed, wide), 1))
            s = g.op("Sigmoid", convolution(g, s, f"{block}.excite", (wide, squeezed), 1), name=f"{block}.gate")
            y = convolution(g, g.op("Mul", y, s, name=f"{block}.gated"), f"{block}.project", (out, wide), 1)
            x = g.op("Add", x, y, name=f"{block}.add") if step == 1 and width == out else y
            width = out
    x = swish(convolution(g, x, "head", (1280, width), 1))
    pooled = g.op("Reshape", pool(g, x), extents(g, (1, 1280)), name="flat")
    return model(g, name, {"image": (1, 3, 224, 224)}, classes(g, pooled, 1280))


# -- transformers ------------------------------------------------------------------------------------------------


def layer_norm(g: GraphWriter, x: str, name: str, width: int, epsilon: float) -> str:
    scale, shift = g.weight(f"{name}.scale", (width,), 0.2, 1.0), g.weight(f"{name}.shift", (width,), 0.1)
    return g.op("LayerNormalization", x, scale, shift, name=name, axis=-1, epsilon=epsilon)


def erf_gelu(g: GraphWriter, x: str, name: str) -> str:
    bell = g.op("Erf", g.op("Div", x, shared(g, "root2", 2**0.5), name=f"{name}.div"), name=f"{name}.erf")
    product = g.op("Mul", x, g.op("Add", bell, shared(g, "one", 1.0), name=f"{name}.add"), name=f"{name}.mul")
    return g.op("Mul", product, shared(g, "half", 0.5), name=name)


def _tanh_gelu(g: GraphWriter, x: str, name: str) -> str:
    cube = g.op("Pow", x, shared(g, "three", 3.0), name=f"{name}.cube")
    inner = g.op("Mul", cube, shared(g, "bend", 0.044715), name=f"{name}.bent")
    inner = g.op("Add", x, inner, name=f"{name}.sum")
    inner = g.op("Mul", inner, shared(g, "root", (2 / np.pi) ** 0.5), name=f"{name}.scaled")
    inner = g.op("Add", g.op("Tanh", inner, name=f"{name}.tanh"), shared(g, "one", 1.0), name=f"{name}.add")
    product = g.op("Mul", x, shared(g, "half", 0.5), name=f"{name}.half")
    return g.op("Mul", product, inner, name=name)


def shared(g: GraphWriter, name: str, value: float) -> str:
    """A scalar that is written once."""
    return name if any(w.name == name for w in g.weights) else g.constant(name, np.float32(value))


def _attention(g: GraphWriter, parts: Sequence[str], name: str, shape: tuple[int, int], mask: str = "") -> str:
    """softmax(q k^T / sqrt(d) + mask) v of (heads, depth), heads beside each other again; 0 is the extent as it is."""
    heads, depth = shape
    q, k, v = (
        g.op(
            "Transpose",
            g.op("Reshape", part, extents(g, (0, 0, heads, depth)), name=f"{name}.{what}.split"),
            name=f"{name}.{what}.heads",
            perm=perm,
        )
        for part, what, perm in zip(parts, "qkv", ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
    )
    scores = g.op("MatMul", q, k, name=f"{name}.scores")
    scores = g.op("Div", scores, shared(g, "root_depth", depth**0.5), name=f"{name}.scaled")
    if mask == "causal":
        scores = g.op("Where", "causal", scores, shared(g, "lowest", -3.4028234663852886e38), name=f"{name}.masked")
    elif mask:
        scores = g.op("Add", scores, mask, name=f"{name}.masked")
    mixed = g.op("MatMul", g.op("Softmax", scores, name=f"{name}.softmax", axis=-1), v, name=f"{name}.mixed")
    rows = g.op("Transpose", mixed, name=f"{name}.rows", perm=[0, 2, 1, 3])
    return g.op("Reshape", rows, extents(g, (0, 0, heads * depth)), name=f"{name}.joined")


def bounds(g: GraphWriter, n: int) -> str:
    """A first, an end or an axis, for Slice."""
    return extents(g, (n,))


def extents(g: GraphWriter, shape: tuple[int, ...]) -> str:
    name = "shape." + "x".join(map(str, shape))
    return name if any(w.name == name for w in g.weights) else g.constant(name, np.array(shape, np.int64))


def bert_base(layers: int = 12, width: int = 768, heads: int = 12, tokens: int | str = 128) -> ModelProto:
    """Inputs input_ids, token_type_ids, attention_mask [1, tokens] int64; output: the pooled [1, width].

    A name leaves the number of tokens open, 512 at most.
    """
    g = GraphWriter(0)
    rows = g.op("Gather", g.weight("words", (30522, width), 1.0), "input_ids", name="embeddings.words")
    kinds = g.op("Gather", g.weight("kinds", (2, width), 1.0), "token_type_ids", name="embeddings.kinds")
    x = g.op("Add", rows, kinds, name="embeddings.add")
    if isinstance(tokens, str):
        shape, table = g.op("Shape", "input_ids", name="ids.shape"), g.weight("positions", (1, 512, width), 1.0)
        length = g.op("Slice", shape, bounds(g, 1), bounds(g, 2), name="ids.tokens")
        positions = g.op("Slice", table, bounds(g, 0), length, bounds(g, 1), name="embeddings.positions")
    else:
        positions = g.weight("positions", (1, tokens, width), 1.0)
    x = g.op("Add", x, positions, name="embeddings.sum")
    x = layer_norm(g, x, "embeddings.norm", width, 1e-12)
    axes = g.constant("axes", np.array([1, 2], np.int64))
    mask = g.op(
        "Cast", g.op("Unsqueeze", "attention_mask", axes, name="mask.4d"), name="mask.f32", to=TensorProto.FLOAT
    )
    hole = g.op("Sub", shared(g, "one", 1.0), mask, name="mask.hole")
    mask = g.op("Mul", hole, shared(g, "far", -10000.0), name="mask")
    for n in range(layers):
        name = f"layer{n}"
        parts = [g.linear(x, f"{name}.{what}", width, width) for what in ("query", "key", "value")]
        mixed = _attention(g, parts, f"{name}.attention", (heads, width // heads), mask)
        y = g.op("Add", g.linear(mixed, f"{name}.output", width, width), x, name=f"{name}.residual1")
        y = layer_norm(g, y, f"{name}.norm1", width, 1e-12)
        wide = erf_gelu(g, g.linear(y, f"{name}.expand", width, 4 * width), f"{name}.gelu")
        x = g.op("Add", g.linear(wide, f"{name}.contract", 4 * width, width), y, name=f"{name}.residual2")
        x = layer_norm(g, x, f"{name}.norm2", width, 1e-12)
    first = g.op("Gather", x, g.constant("first", np.int64(0)), name="pooler.first", axis=1)
    pooled = g.op("Tanh", g.linear(first, "pooler", width, width), name="pooler.tanh")
    inputs: dict[str, Sequence[int | str]] = {
        name: (1, tokens) for name in ("input_ids", "token_type_ids", "attention_mask")
    }
    return model(g, "bert_base", inputs, pooled, integer=True)


def gpt2(layers: int = 12, width: int = 768, heads: int = 12, tokens: int = 128) -> ModelProto:
    """Input input_ids [1, tokens] int64; output logits [1, tokens, 50257]."""
    g = GraphWriter(0)
    g.constant("causal", np.tril(np.ones((1, 1, tokens, tokens), bool)))
    x = g.op("Gather", g.weight("words", (50257, width), 1.0), "input_ids", name="embeddings.words")
    x = g.op("Add", x, g.weight("positions", (1, tokens, width), 0.1), name="embeddings")
    for n in range(layers):
        name = f"layer{n}"
        joint = g.linear(layer_norm(g, x, f"{name}.norm1", width, 1e-5), f"{name}.attention.qkv", width, 3 * width)
        parts = g.op("Split", joint, name=f"{name}.split", outputs=3, axis=-1)
        mixed = _attention(g, parts, f"{name}.attention", (heads, width // heads), "causal")
        x = g.op("Add", g.linear(mixed, f"{name}.output", width, width), x, name=f"{name}.residual1")
        wide = g.linear(layer_norm(g, x, f"{name}.norm2", width, 1e-5), f"{name}.expand", width, 4 * width)
        wide = _tanh_gelu(g, wide, f"{name}.gelu")
        x = g.op("Add", g.linear(wide, f"{name}.contract", 4 * width, width), x, name=f"{name}.residual2")
    x = layer_norm(g, x, "norm", width, 1e-5)
    logits = g.op("MatMul", x, g.weight("head", (width, 50257), width**-0.5), name="logits")
    return model(g, "gpt2", {"input_ids": (1, tokens)}, logits, integer=True)


def vit_b16(layers: int = 12, width: int = 768, heads: int = 12, batch: int | str = 1) -> ModelProto:
    """Input [batch, 3, 224, 224], output logits [batch, 1000]; a name leaves the batch open."""
    g = GraphWriter(0)
    tokens = 197
    weight = g.weight("patches.weight", (width, 3, 16, 16), (3 * 256) ** -0.5)
    bias = g.weight("patches.bias", (width,), 0.1)
    x = g.op("Conv", "image", weight, bias, name="patches", kernel_shape=[16, 16], strides=[16, 16])
    x = g.op("Reshape", x, extents(g, (0, width, tokens - 1)), name="patches.flat")
    x = g.op("Transpose", x, name="patches.rows", perm=[0, 2, 1])
    token = g.weight("class_token", (1, 1, width), 0.1)
    if batch != 1:
        images = g.op("Slice", g.op("Shape", "image", name="image.shape"), bounds(g, 0), bounds(g, 1), name="images")
        shape = g.op("Concat", images, extents(g, (1, width)), name="class_tokens.shape", axis=0)
        token = g.op("Expand", token, shape, name="class_tokens")
    x = g.op("Concat", token, x, name="tokens", axis=1)
    x = g.op("Add", x, g.weight("positions", (1, tokens, width), 0.1), name="embeddings")
    for n in range(layers):
        name = f"layer{n}"
        y = layer_norm(g, x, f"{name}.norm1", width, 1e-6)
        parts = [g.linear(y, f"{name}.{what}", width, width) for what in ("query", "key", "value")]
        mixed = _attention(g, parts, f"{name}.attention", (heads, width // heads))
        x = g.op("Add", g.linear(mixed, f"{name}.output", width, width), x, name=f"{name}.residual1")
        y = g.linear(layer_norm(g, x, f"{name}.norm2", width, 1e-6), f"{name}.expand", width, 4 * width)
        y = erf_gelu(g, y, f"{name}.gelu")
        x = g.op("Add", g.linear(y, f"{name}.contract", 4 * width, width), x, name=f"{name}.residual2")
    x = layer_norm(g, x, "norm", width, 1e-6)
    first = g.op("Gather", x, g.constant("first", np.int64(0)), name="class", axis=1)
    return model(g, "vit_b16", {"image": (batch, 3, 224, 224)}, classes(g, first, width))


# -- recurrent networks ------------------------------------------------------------------------------------------


def _recurrent(kind: str, gates: int, layers: int = 2, width: int = 256, steps: int | str = 64) -> ModelProto:
    g = GraphWriter(0)
    x = "sequence"
    for n in range(layers):
        name, scale = f"layer{n}", width**-0.5
        weights = [g.weight(f"{name}.{what}", (1, gates * width, width), scale) for what in ("input", "hidden")]
        bias = g.weight(f"{name}.bias", (1, 2 * gates * width), 0.1)
        options = {"linear_before_reset": 1} if kind == "GRU" else {}
        y = g.op(kind, x, *weights, bias, name=name, hidden_size=width, **options)
        x = g.op("Squeeze", y, _axis(g, 1), name=f"{name}.flat")
    return model(g, kind.lower(), {"sequence": (steps, 1, width)}, x)


def _axis(g: GraphWriter, axis: int) -> str:
    name = f"axis.{axis}"
    return name if any(w.name == name for w in g.weights) else g.constant(name, np.array([axis], np.int64))


def lstm() -> ModelProto:
    """Input [64, 1, 256], output [64, 1, 256]."""
    return _recurrent("LSTM", 4)


def gru() -> ModelProto:
    """Input [64, 1, 256], output [64, 1, 256]."""
    return _recurrent("GRU", 3)


# -- segmentation ------------------------------------------------------------------------------------------------


def unet(base: int = 32, size: int = 256) -> ModelProto:
    """Input [1, 3, size, size], output [1, 1, size, size]: the mask's logits."""
    g = GraphWriter(0)

    def twice(x: str, name: str, into: int, out: int) -> str:
        for n, width in enumerate((into, out)):
            x = g.op("Relu", convolution(g, x, f"{name}.conv{n}", (out, width), 3), name=f"{name}.relu{n}")
        return x

    x, into, kept = "image", 3, list[tuple[str, int]]()
    for level in range(4):
        out = base << level
        x = twice(x, f"down{level}", into, out)
        kept.append((x, out))
        x, into = g.op("MaxPool", x, name=f"down{level}.pool", kernel_shape=[2, 2], strides=[2, 2]), out
    x = twice(x, "bottom", into, base << 4)
    for level, (skip, out) in reversed(list(enumerate(kept))):
        weight = g.weight(f"up{level}.weight", (2 * out, out, 2, 2), (2 * out) ** -0.5)
        bias = g.weight(f"up{level}.bias", (out,), 0.1)
        x = g.op("ConvTranspose", x, weight, bias, name=f"up{level}", kernel_shape=[2, 2], strides=[2, 2])
        x = twice(g.op("Concat", skip, x, name=f"up{level}.skip", axis=1), f"up{level}", 2 * out, out)
    return model(g, "unet", {"image": (1, 3, size, size)}, convolution(g, x, "mask", (1, base), 1))


ZOO: dict[str, Callable[[], ModelProto]] = {
    f.__name__: cache(f) for f in (mobilenet_v2, efficientnet_b0, bert_base, gpt2, vit_b16, lstm, gru, unet)
}
"""The models by name."""


def _resnet50_of_any_batch() -> ModelProto:
    """Input [batch, 3, 224, 224], output logits [batch, 1000]: onnx's light model without its softmax."""
    made = light_model("resnet50")
    made.graph.output[0].name = before_softmax(made)
    del made.graph.node[-1]
    for port in (made.graph.input[0], made.graph.output[0]):
        port.type.tensor_type.shape.dim[0].dim_param = "batch"
    flat = next(w for w in made.graph.initializer if w.data_type == TensorProto.INT64)
    flat.CopyFrom(numpy_helper.from_array(np.array([-1, 2048]), flat.name))
    return made


OPEN: dict[str, tuple[str, int, Callable[[], ModelProto]]] = {
    "bert_base": ("tokens", 512, lambda: bert_base(tokens="tokens")),
    "resnet50": ("batch", 64, _resnet50_of_any_batch),
    "vit_b16": ("batch", 32, lambda: vit_b16(batch="batch")),
    "lstm": ("steps", 300, lambda: _recurrent("LSTM", 4, steps="steps")),
}
"""The models that leave a size open: its name, its largest value, and what makes the model."""


def token_inputs(ports: Sequence[Port]) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    """Values for the inputs of the language models, whose integers mean something: words, kinds, a mask of all ones."""
    rng = np.random.default_rng(0)
    below = {"input_ids": 30522, "token_type_ids": 2}
    made = {p.name: rng.integers(0, below[p.name], p.shape) for p in ports if p.name in below}
    return made | {p.name: np.ones(p.shape, np.int64) for p in ports if p.name == "attention_mask"}
