"""Models of the benchmarks of today's kinds, as exporters write them, with random weights; all float32, batch 1.

swin_t           Swin-T at 224: attention in windows of 7 x 7, shifted in every other block (Liu et al. 2021)
convnext_t       ConvNeXt-T at 224 (Liu et al. 2022)
mobilenet_v3     MobileNet-v3 large at 224: hard swish, squeeze and excitation (Howard et al. 2019, table 1)
efficientnet_hf  EfficientNet-B0 whose head is an average pool of 1280 x 1280, rounded up, on 7 x 7 pixels
detector         a detector of one stage at 640: strided first layer of three channels, SiLU, three scales
t5_encoder       6 layers of 512, 8 heads, 128 tokens, positions by buckets, root mean square norms (Raffel et al. 2020)
llama_step       one token through 4 layers of 1024, 16 heads on 4 of keys, after 255 others, rotary positions
speech_encoder   4 layers of 384, 6 heads, on 3,000 frames of 80 bands, halved (Radford et al. 2022, "tiny")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto
from zoo import (
    GraphWriter,
    classes,
    convolution,
    efficientnet,
    erf_gelu,
    extents,
    layer_norm,
    model,
    shared,
)


def _ints(g: GraphWriter, *values: int) -> str:
    """A vector of integers that is written once."""
    name = "ints." + "_".join(map(str, values))
    return name if any(w.name == name for w in g.weights) else g.constant(name, np.array(values, np.int64))


def _reshape(g: GraphWriter, x: str, name: str, *shape: int) -> str:
    return g.op("Reshape", x, extents(g, shape), name=name)


def _transpose(g: GraphWriter, x: str, name: str, *perm: int) -> str:
    return g.op("Transpose", x, name=name, perm=list(perm))


def _slice(g: GraphWriter, x: str, name: str, axis: int, start: int, end: int, step: int = 1) -> str:
    return g.op("Slice", x, *(_ints(g, v) for v in (start, end, axis, step)), name=name)


def _item(g: GraphWriter, x: str, name: str, index: int) -> str:
    """x[index]."""
    at = f"index.{index}"
    if not any(w.name == at for w in g.weights):
        g.constant(at, np.int64(index))
    return g.op("Gather", x, at, name=name, axis=0)


def _mlp(g: GraphWriter, x: str, name: str, width: int, wide: int) -> str:
    y = erf_gelu(g, g.linear(x, f"{name}.expand", width, wide), f"{name}.gelu")
    return g.linear(y, f"{name}.contract", wide, width)


# -- attention in windows ------------------------------------------------------------------------------------------

WINDOW = 7
FAR = -100.0
"""Added to the scores of pixels that are neighbours in a shifted window alone."""


def swin_t(widths: Sequence[int] = (96, 192, 384, 768), depths: Sequence[int] = (2, 2, 6, 2)) -> ModelProto:
    """Input [1, 3, 224, 224], output logits [1, 1000]."""
    g = GraphWriter(0)
    weight, bias = (
        g.weight("patches.weight", (widths[0], 3, 4, 4), 48**-0.5),
        g.weight("patches.bias", (widths[0],), 0.1),
    )
    x = g.op("Conv", "image", weight, bias, name="patches", kernel_shape=[4, 4], strides=[4, 4])
    x = layer_norm(g, _transpose(g, x, "patches.last", 0, 2, 3, 1), "patches.norm", widths[0], 1e-5)
    size = 56
    for stage, (width, depth) in enumerate(zip(widths, depths, strict=True)):
        if stage:
            x, size = _merged(g, x, f"merge{stage}", widths[stage - 1]), size // 2
        for n in range(depth):
            name = f"stage{stage}.{n}"
            shift = WINDOW // 2 if n % 2 and size > WINDOW else 0
            y = layer_norm(g, x, f"{name}.norm1", width, 1e-5)
            y = _window_attention(g, y, f"{name}.attention", size, width, shift)
            x = g.op("Add", x, y, name=f"{name}.residual1")
            y = _mlp(g, layer_norm(g, x, f"{name}.norm2", width, 1e-5), f"{name}.mlp", width, 4 * width)
            x = g.op("Add", x, y, name=f"{name}.residual2")
    x = _transpose(g, layer_norm(g, x, "norm", widths[-1], 1e-5), "first", 0, 3, 1, 2)
    pooled = g.op("Flatten", g.op("GlobalAveragePool", x, name="pool"), name="flat")
    return model(g, "swin_t", {"image": (1, 3, 224, 224)}, classes(g, pooled, widths[-1]))


def _merged(g: GraphWriter, x: str, name: str, width: int) -> str:
    """Each 2 x 2 pixels beside each other, and half as many channels of them."""
    corners: list[str] = []
    for row, column in ((0, 0), (1, 0), (0, 1), (1, 1)):
        part = _slice(g, x, f"{name}.rows{row}{column}", 1, row, 1 << 30, 2)
        corners.append(_slice(g, part, f"{name}.part{row}{column}", 2, column, 1 << 30, 2))
    x = layer_norm(g, g.op("Concat", *corners, name=f"{name}.joined", axis=-1), f"{name}.norm", 4 * width, 1e-5)
    return g.op("MatMul", x, g.weight(f"{name}.weight", (4 * width, 2 * width), (4 * width) ** -0.5), name=name)


def _rolled(g: GraphWriter, x: str, name: str, by: int) -> str:
    for axis in (1, 2):
        first, rest = _slice(g, x, f"{name}.a{axis}", axis, by, 1 << 30), _slice(g, x, f"{name}.b{axis}", axis, 0, by)
        x = g.op("Concat", first, rest, name=f"{name}.{axis}", axis=axis)
    return x


def _window_attention(g: GraphWriter, x: str, name: str, size: int, width: int, shift: int) -> str:
    """Attention of the pixels of each window, heads of 32, with a bias by their distance."""
    across, heads, tokens = size // WINDOW, width // 32, WINDOW * WINDOW
    if shift:
        x = _rolled(g, x, f"{name}.rolled", shift)
    x = _reshape(g, x, f"{name}.cut", 1, across, WINDOW, across, WINDOW, width)
    x = _transpose(g, x, f"{name}.windows", 0, 1, 3, 2, 4, 5)
    x = _reshape(g, x, f"{name}.rows", across * across, tokens, width)
    joint = _reshape(
        g, g.linear(x, f"{name}.qkv", width, 3 * width), f"{name}.split", across * across, tokens, 3, heads, 32
    )
    joint = _transpose(g, joint, f"{name}.heads", 2, 0, 3, 1, 4)
    q, k, v = (_item(g, joint, f"{name}.{what}", index) for index, what in enumerate("qkv"))
    q = g.op("Mul", q, shared(g, "root32", 32**-0.5), name=f"{name}.scaled")
    scores = g.op("MatMul", q, _transpose(g, k, f"{name}.kt", 0, 1, 3, 2), name=f"{name}.scores")
    scores = g.op("Add", scores, g.weight(f"{name}.distances", (1, heads, tokens, tokens), 0.5), name=f"{name}.biased")
    if shift:
        mask = f"mask.{size}"
        if not any(w.name == mask for w in g.weights):
            g.constant(mask, _shifted_mask(size, shift)[None, :, None])
        scores = _reshape(g, scores, f"{name}.apart", 1, across * across, heads, tokens, tokens)
        scores = g.op("Add", scores, mask, name=f"{name}.masked")
        scores = _reshape(g, scores, f"{name}.together", across * across, heads, tokens, tokens)
    mixed = g.op("MatMul", g.op("Softmax", scores, name=f"{name}.softmax", axis=-1), v, name=f"{name}.mixed")
    rows = _reshape(g, _transpose(g, mixed, f"{name}.back", 0, 2, 1, 3), f"{name}.flat", across * across, tokens, width)
    y = g.linear(rows, f"{name}.output", width, width)
    y = _reshape(g, y, f"{name}.pixels", 1, across, across, WINDOW, WINDOW, width)
    y = _reshape(g, _transpose(g, y, f"{name}.image", 0, 1, 3, 2, 4, 5), f"{name}.whole", 1, size, size, width)
    return _rolled(g, y, f"{name}.unrolled", size - shift) if shift else y


def _shifted_mask(size: int, shift: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Masks that are added to the scores of each window, [windows, tokens, tokens]."""
    edges = np.searchsorted([size - WINDOW, size - shift], np.arange(size), side="right")
    region = edges[:, None] * 3 + edges
    across = size // WINDOW
    rows = region.reshape(across, WINDOW, across, WINDOW).transpose(0, 2, 1, 3).reshape(across * across, -1)
    return np.where(rows[:, None] == rows[:, :, None], 0, FAR).astype(np.float32)


# -- convolutions --------------------------------------------------------------------------------------------------


def convnext_t(widths: Sequence[int] = (96, 192, 384, 768), depths: Sequence[int] = (3, 3, 9, 3)) -> ModelProto:
    """Input [1, 3, 224, 224], output logits [1, 1000]."""
    g = GraphWriter(0)

    def norm(x: str, name: str, width: int) -> str:
        """A layer norm over channels that stand first."""
        x = layer_norm(g, _transpose(g, x, f"{name}.last", 0, 2, 3, 1), name, width, 1e-6)
        return _transpose(g, x, f"{name}.first", 0, 3, 1, 2)

    def halved(x: str, name: str, width: int, into: int, by: int) -> str:
        weight = g.weight(f"{name}.weight", (width, into, by, by), (into * by * by) ** -0.5)
        bias = g.weight(f"{name}.bias", (width,), 0.1)
        return g.op("Conv", x, weight, bias, name=name, kernel_shape=[by, by], strides=[by, by])

    x = norm(halved("image", "stem", widths[0], 3, 4), "stem.norm", widths[0])
    for stage, (width, depth) in enumerate(zip(widths, depths, strict=True)):
        if stage:
            into = widths[stage - 1]
            x = halved(norm(x, f"down{stage}.norm", into), f"down{stage}", width, into, 2)
        for n in range(depth):
            name = f"stage{stage}.{n}"
            y = convolution(g, x, f"{name}.depthwise", (width, width), 7, groups=width)
            y = layer_norm(g, _transpose(g, y, f"{name}.last", 0, 2, 3, 1), f"{name}.norm", width, 1e-6)
            y = _mlp(g, y, name, width, 4 * width)
            y = g.op("Mul", y, g.weight(f"{name}.scale", (width,), 0.1, 0.5), name=f"{name}.scaled")
            x = g.op("Add", _transpose(g, y, f"{name}.first", 0, 3, 1, 2), x, name=f"{name}.residual")
    pooled = g.op("Flatten", g.op("GlobalAveragePool", x, name="pool"), name="flat")
    x = layer_norm(g, pooled, "norm", widths[-1], 1e-6)
    return model(g, "convnext_t", {"image": (1, 3, 224, 224)}, classes(g, x, widths[-1]))


MOBILENET_V3 = (
    (3, 16, 16, False, "Relu", 1),
    (3, 64, 24, False, "Relu", 2),
    (3, 72, 24, False, "Relu", 1),
    (5, 72, 40, True, "Relu", 2),
    (5, 120, 40, True, "Relu", 1),
    (5, 120, 40, True, "Relu", 1),
    (3, 240, 80, False, "HardSwish", 2),
    (3, 200, 80, False, "HardSwish", 1),
    (3, 184, 80, False, "HardSwish", 1),
    (3, 184, 80, False, "HardSwish", 1),
    (3, 480, 112, True, "HardSwish", 1),
    (3, 672, 112, True, "HardSwish", 1),
    (5, 672, 160, True, "HardSwish", 2),
    (5, 960, 160, True, "HardSwish", 1),
    (5, 960, 160, True, "HardSwish", 1),
)
"""Blocks: kernel, channels inside, channels outside, squeeze and excitation, activation, stride."""


def mobilenet_v3() -> ModelProto:
    """Input [1, 3, 224, 224], output logits [1, 1000]."""
    g = GraphWriter(0)

    def active(kind: str, x: str) -> str:
        return g.op(kind, x, name=f"{x}.active")

    x, width = active("HardSwish", convolution(g, "image", "stem", (16, 3), 3, 2)), 16
    for n, (kernel, wide, out, squeezes, kind, stride) in enumerate(MOBILENET_V3):
        name = f"block{n}"
        y = active(kind, convolution(g, x, f"{name}.expand", (wide, width), 1)) if wide != width else x
        y = active(kind, convolution(g, y, f"{name}.depthwise", (wide, wide), kernel, stride, wide))
        if squeezes:
            narrow = (wide // 4 + 4) // 8 * 8
            s = g.op("GlobalAveragePool", y, name=f"{name}.pool")
            s = active("Relu", convolution(g, s, f"{name}.squeeze", (narrow, wide), 1))
            s = convolution(g, s, f"{name}.excite", (wide, narrow), 1)
            s = g.op("HardSigmoid", s, name=f"{name}.gate", alpha=1 / 6, beta=0.5)
            y = g.op("Mul", s, y, name=f"{name}.gated")
        y = convolution(g, y, f"{name}.project", (out, wide), 1)
        x = g.op("Add", y, x, name=f"{name}.add") if stride == 1 and width == out else y
        width = out
    x = active("HardSwish", convolution(g, x, "head", (960, width), 1))
    pooled = g.op("Flatten", g.op("GlobalAveragePool", x, name="pool"), name="flat")
    wide = g.op("Gemm", pooled, g.weight("wide.weight", (1280, 960), 960**-0.5), g.weight("wide.bias", (1280,), 0.1),
                name="wide", transB=1)  # fmt: skip
    return model(g, "mobilenet_v3", {"image": (1, 3, 224, 224)}, classes(g, active("HardSwish", wide), 1280))


def efficientnet_hf() -> ModelProto:
    """Input [1, 3, 224, 224], output logits [1, 1000]."""

    def pool(g: GraphWriter, x: str) -> str:
        return g.op("AveragePool", x, name="pool", kernel_shape=[1280, 1280], strides=[1280, 1280], ceil_mode=1)

    return efficientnet("efficientnet_hf", pool)


def detector(width: int = 16, classes_: int = 80, size: int = 640) -> ModelProto:
    """Input [1, 3, size, size], output [1, 4 + classes, boxes]: of each box its place, and how likely it is what."""
    g = GraphWriter(0)

    def conv(x: str, name: str, out: int, into: int, kernel: int = 1, stride: int = 1) -> str:
        y = convolution(g, x, name, (out, into), kernel, stride)
        return g.op("Mul", y, g.op("Sigmoid", y, name=f"{name}.sigmoid"), name=f"{name}.silu")

    def stack(x: str, name: str, out: int, into: int, repeats: int, adds: bool) -> str:
        """A layer of which half goes through bottlenecks, and all of them join."""
        half = out // 2
        parts = list(g.op("Split", conv(x, f"{name}.in", out, into), name=f"{name}.split", outputs=2, axis=1))
        for n in range(repeats):
            y = conv(conv(parts[-1], f"{name}.{n}.a", half, half, 3), f"{name}.{n}.b", half, half, 3)
            parts.append(g.op("Add", parts[-1], y, name=f"{name}.{n}.add") if adds else y)
        return conv(g.op("Concat", *parts, name=f"{name}.joined", axis=1), f"{name}.out", out, (2 + repeats) * half)

    def joined(name: str, *parts: str) -> str:
        return g.op("Concat", *parts, name=name, axis=1)

    def doubled(x: str, name: str) -> str:
        scales = (
            "scales"
            if any(w.name == "scales" for w in g.weights)
            else g.constant("scales", np.array([1, 1, 2, 2], np.float32))
        )
        return g.op("Resize", x, "", scales, name=name, mode="nearest", nearest_mode="floor",
                    coordinate_transformation_mode="asymmetric")  # fmt: skip

    x, w, kept = conv("image", "stem", width, 3, 3, 2), width, list[str]()
    for stage, repeats in enumerate((1, 2, 2, 1)):
        x = stack(conv(x, f"down{stage}", 2 * w, w, 3, 2), f"stage{stage}", 2 * w, 2 * w, repeats, True)
        w *= 2
        kept.append(x)
    half = conv(x, "pools.in", w // 2, w)
    pools = [half]
    for n in range(3):
        pools.append(g.op("MaxPool", pools[-1], name=f"pools.{n}", kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
    last = conv(joined("pools", *pools), "pools.out", w, 2 * w)
    middle = stack(joined("up0.join", doubled(last, "up0"), kept[2]), "up0.stack", w // 2, w + w // 2, 1, False)
    fine = stack(joined("up1.join", doubled(middle, "up1"), kept[1]), "up1.stack", w // 4, w // 2 + w // 4, 1, False)
    down = conv(fine, "pan0", w // 4, w // 4, 3, 2)
    middle = stack(joined("pan0.join", down, middle), "pan0.stack", w // 2, w // 2 + w // 4, 1, False)
    down = conv(middle, "pan1", w // 2, w // 2, 3, 2)
    coarse = stack(joined("pan1.join", down, last), "pan1.stack", w, w + w // 2, 1, False)
    places, kinds = list[str](), list[str]()
    for n, (x, into) in enumerate(((fine, w // 4), (middle, w // 2), (coarse, w))):
        pixels = (size // 8 >> n) ** 2
        for what, channels, out, found in (("box", 64, 64, places), ("class", classes_, classes_, kinds)):
            y = conv(conv(x, f"{what}{n}.a", channels, into, 3), f"{what}{n}.b", channels, channels, 3)
            y = convolution(g, y, f"{what}{n}", (out, channels), 1)
            found.append(_reshape(g, y, f"{what}{n}.flat", 1, out, pixels))
    boxes = sum((size // 8 >> n) ** 2 for n in range(3))
    sides = _reshape(g, g.op("Concat", *places, name="places", axis=2), "places.bins", 1, 4, 16, boxes)
    sides = g.op("Softmax", _transpose(g, sides, "places.last", 0, 2, 1, 3), name="places.likely", axis=1)
    steps = g.constant("places.steps", np.arange(16, dtype=np.float32).reshape(1, 16, 1, 1))
    weight = _reshape(g, steps, "places.weight", 1, 16, 1, 1)
    sides = g.op("Conv", sides, weight, name="places.distance", kernel_shape=[1, 1])
    near, far = g.op("Split", _reshape(g, sides, "places.sides", 1, 4, boxes), name="corners", outputs=2, axis=1)
    centres = g.constant("centres", _centres(size))
    strides = g.constant(
        "strides", np.repeat([8, 16, 32], [(size // 8 >> n) ** 2 for n in range(3)]).astype(np.float32)
    )
    low, high = g.op("Sub", centres, near, name="low"), g.op("Add", centres, far, name="high")
    middle = g.op("Mul", g.op("Add", low, high, name="ends"), shared(g, "half", 0.5), name="centre")
    box = g.op("Concat", middle, g.op("Sub", high, low, name="extent"), name="box", axis=1)
    likely = g.op("Sigmoid", g.op("Concat", *kinds, name="kinds", axis=2), name="likely")
    found = g.op("Concat", g.op("Mul", box, strides, name="pixels"), likely, name="found", axis=1)
    return model(g, "detector", {"image": (1, 3, size, size)}, found)


def _centres(size: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The centres of the cells of all scales, x and y, [1, 2, boxes]."""
    grids = [np.indices((side, side))[::-1].reshape(2, -1) + 0.5 for side in (size // 8, size // 16, size // 32)]
    return np.concatenate(grids, 1)[None].astype(np.float32)


# -- language and speech -------------------------------------------------------------------------------------------


def _rms_norm(g: GraphWriter, x: str, name: str, width: int, epsilon: float = 1e-6) -> str:
    """x / sqrt(mean(x^2) + epsilon) * scale, as exporters write it."""
    square = g.op("Pow", x, shared(g, "two", 2.0), name=f"{name}.square")
    mean = g.op("ReduceMean", square, name=f"{name}.mean", axes=[-1])
    root = g.op(
        "Sqrt", g.op("Add", mean, shared(g, f"epsilon{epsilon:g}", epsilon), name=f"{name}.safe"), name=f"{name}.root"
    )
    scaled = g.op("Mul", x, g.op("Div", shared(g, "one", 1.0), root, name=f"{name}.inverse"), name=f"{name}.normal")
    return g.op("Mul", g.weight(f"{name}.scale", (width,), 0.2, 1.0), scaled, name=name)


def _projected(g: GraphWriter, x: str, name: str, into: int, out: int) -> str:
    """A product without a bias."""
    return g.op("MatMul", x, g.weight(f"{name}.weight", (into, out), into**-0.5), name=name)


def _heads(g: GraphWriter, x: str, name: str, tokens: int, heads: int, depth: int, *perm: int) -> str:
    return _transpose(
        g, _reshape(g, x, f"{name}.split", 1, tokens, heads, depth), f"{name}.heads", *perm or (0, 2, 1, 3)
    )


def t5_encoder(layers: int = 6, width: int = 512, heads: int = 8, tokens: int = 128) -> ModelProto:
    """Input input_ids [1, tokens] int64, output [1, tokens, width]."""
    g = GraphWriter(0)
    x = g.op("Gather", g.weight("words", (32128, width), 1.0), "input_ids", name="embeddings")
    places = g.weight("distances", (1, heads, tokens, tokens), 0.5)
    for n in range(layers):
        name, depth = f"layer{n}", width // heads
        y = _rms_norm(g, x, f"{name}.norm1", width)
        q, k, v = (_projected(g, y, f"{name}.{what}", width, width) for what in "qkv")
        q, v = (_heads(g, p, f"{name}.{what}", tokens, heads, depth) for p, what in ((q, "q"), (v, "v")))
        scores = g.op("MatMul", q, _heads(g, k, f"{name}.k", tokens, heads, depth, 0, 2, 3, 1), name=f"{name}.scores")
        scores = g.op("Softmax", g.op("Add", scores, places, name=f"{name}.placed"), name=f"{name}.softmax", axis=-1)
        rows = _transpose(g, g.op("MatMul", scores, v, name=f"{name}.mixed"), f"{name}.rows", 0, 2, 1, 3)
        y = _projected(g, _reshape(g, rows, f"{name}.joined", 1, tokens, width), f"{name}.output", width, width)
        x = g.op("Add", x, y, name=f"{name}.residual1")
        y = _projected(g, _rms_norm(g, x, f"{name}.norm2", width), f"{name}.expand", width, 4 * width)
        y = _projected(g, g.op("Relu", y, name=f"{name}.relu"), f"{name}.contract", 4 * width, width)
        x = g.op("Add", x, y, name=f"{name}.residual2")
    return model(g, "t5_encoder", {"input_ids": (1, tokens)}, _rms_norm(g, x, "norm", width), integer=True)


def llama_step(layers: int = 4, width: int = 1024, heads: int = 16, groups: int = 4, past: int = 255) -> ModelProto:
    """Inputs: input_ids and position_ids [1, 1] int64, past_key_N and past_value_N [1, groups, past, 64]. Outputs:
    logits [1, 1, 32000], and keys and values with the new ones."""
    g, depth, wide = GraphWriter(0), width // heads, 11 * width // 4
    x = g.op("Gather", g.weight("words", (32000, width), 1.0), "input_ids", name="embeddings")
    rates = g.constant("rates", (10000.0 ** (-np.arange(0, depth, 2) / depth)).astype(np.float32).reshape(1, -1, 1))
    place = g.op(
        "Cast", g.op("Unsqueeze", "position_ids", _ints(g, 1), name="place.3d"), name="place", to=TensorProto.FLOAT
    )
    angle = _transpose(g, g.op("MatMul", rates, place, name="turn"), "turns", 0, 2, 1)
    angle = g.op("Concat", angle, angle, name="angle", axis=-1)
    cos, sin = (g.op("Unsqueeze", g.op(f, angle, name=f.lower()), _ints(g, 1), name=f"{f}.4d") for f in ("Cos", "Sin"))

    def turned(part: str, name: str) -> str:
        """Rotary positions: x cos + (-x2, x1) sin."""
        first, second = (
            _slice(g, part, f"{name}.x1", 3, 0, depth // 2),
            _slice(g, part, f"{name}.x2", 3, depth // 2, 1 << 30),
        )
        swapped = g.op("Concat", g.op("Neg", second, name=f"{name}.neg"), first, name=f"{name}.swapped", axis=-1)
        straight = g.op("Mul", part, cos, name=f"{name}.cos")
        return g.op("Add", straight, g.op("Mul", swapped, sin, name=f"{name}.sin"), name=f"{name}.turned")

    def repeated(part: str, name: str) -> str:
        """Each group for all of its heads."""
        times = heads // groups
        part = g.op("Unsqueeze", part, _ints(g, 2), name=f"{name}.5d")
        part = g.op("Expand", part, extents(g, (1, groups, times, past + 1, depth)), name=f"{name}.times")
        return _reshape(g, part, f"{name}.all", 1, heads, past + 1, depth)

    inputs: dict[str, Sequence[int]] = {"input_ids": (1, 1), "position_ids": (1, 1)}
    kept: list[str] = []
    for n in range(layers):
        name = f"layer{n}"
        y = _rms_norm(g, x, f"{name}.norm1", width, 1e-5)
        q = turned(_heads(g, _projected(g, y, f"{name}.q", width, width), f"{name}.q", 1, heads, depth), f"{name}.q")
        k, v = (
            _heads(g, _projected(g, y, f"{name}.{what}", width, groups * depth), f"{name}.{what}", 1, groups, depth)
            for what in "kv"
        )
        k = g.op("Concat", f"past_key_{n}", turned(k, f"{name}.k"), name=f"present_key_{n}", axis=2)
        v = g.op("Concat", f"past_value_{n}", v, name=f"present_value_{n}", axis=2)
        inputs |= {f"past_{what}_{n}": (1, groups, past, depth) for what in ("key", "value")}
        kept += [k, v]
        keys = _transpose(g, repeated(k, f"{name}.keys"), f"{name}.kt", 0, 1, 3, 2)
        scores = g.op(
            "Div", g.op("MatMul", q, keys, name=f"{name}.scores"), shared(g, "root", depth**0.5), name=f"{name}.scaled"
        )
        likely = g.op("Softmax", scores, name=f"{name}.softmax", axis=-1)
        mixed = g.op("MatMul", likely, repeated(v, f"{name}.values"), name=f"{name}.mixed")
        rows = _reshape(g, _transpose(g, mixed, f"{name}.rows", 0, 2, 1, 3), f"{name}.joined", 1, 1, width)
        x = g.op("Add", x, _projected(g, rows, f"{name}.output", width, width), name=f"{name}.residual1")
        y = _rms_norm(g, x, f"{name}.norm2", width, 1e-5)
        gate = _projected(g, y, f"{name}.gate", width, wide)
        gate = g.op("Mul", gate, g.op("Sigmoid", gate, name=f"{name}.sigmoid"), name=f"{name}.silu")
        y = g.op("Mul", gate, _projected(g, y, f"{name}.up", width, wide), name=f"{name}.gated")
        x = g.op("Add", x, _projected(g, y, f"{name}.down", wide, width), name=f"{name}.residual2")
    logits = _projected(g, _rms_norm(g, x, "norm", width, 1e-5), "logits", width, 32000)
    return model(g, "llama_step", inputs, logits, *kept, integer=("input_ids", "position_ids"))


def speech_encoder(layers: int = 4, width: int = 384, heads: int = 6, frames: int = 3000) -> ModelProto:
    """Input [1, 80, frames], output [1, frames / 2, width]."""
    g, tokens, depth = GraphWriter(0), frames // 2, width // heads
    x = "bands"
    for n, (into, stride) in enumerate(((80, 1), (width, 2))):
        weight = g.weight(f"conv{n}.weight", (width, into, 3), (2 / (3 * into)) ** 0.5)
        bias = g.weight(f"conv{n}.bias", (width,), 0.1)
        x = g.op("Conv", x, weight, bias, name=f"conv{n}", kernel_shape=[3], strides=[stride], pads=[1, 1])
        x = erf_gelu(g, x, f"conv{n}.gelu")
    x = g.op("Add", _transpose(g, x, "tokens", 0, 2, 1), g.weight("places", (tokens, width), 0.1), name="embeddings")
    for n in range(layers):
        name = f"layer{n}"
        y = layer_norm(g, x, f"{name}.norm1", width, 1e-5)
        q = g.op("Mul", g.linear(y, f"{name}.q", width, width), shared(g, "root", depth**-0.5), name=f"{name}.q.scaled")
        k, v = _projected(g, y, f"{name}.k", width, width), g.linear(y, f"{name}.v", width, width)
        q, v = (_heads(g, p, f"{name}.{what}", tokens, heads, depth) for p, what in ((q, "q"), (v, "v")))
        scores = g.op("MatMul", q, _heads(g, k, f"{name}.k", tokens, heads, depth, 0, 2, 3, 1), name=f"{name}.scores")
        mixed = g.op("MatMul", g.op("Softmax", scores, name=f"{name}.softmax", axis=-1), v, name=f"{name}.mixed")
        rows = _reshape(g, _transpose(g, mixed, f"{name}.rows", 0, 2, 1, 3), f"{name}.joined", 1, tokens, width)
        x = g.op("Add", x, g.linear(rows, f"{name}.output", width, width), name=f"{name}.residual1")
        y = _mlp(g, layer_norm(g, x, f"{name}.norm2", width, 1e-5), f"{name}.mlp", width, 4 * width)
        x = g.op("Add", x, y, name=f"{name}.residual2")
    return model(g, "speech_encoder", {"bands": (1, 80, frames)}, layer_norm(g, x, "norm", width, 1e-5))


NEWER: dict[str, Callable[[], ModelProto]] = {
    f.__name__: cache(f)
    for f in (swin_t, convnext_t, mobilenet_v3, efficientnet_hf, detector, t5_encoder, llama_step, speech_encoder)
}
"""The models by name."""
