"""Sampling of images, regions, and their neighbours: resizing, grids, boxes, unpooling, signals."""

from __future__ import annotations

from typing import Any

import numpy as np

from lamina.debugging.generators.draw import Sizes
from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph, Tensor
from lamina.debugging.generators.operators.elementwise import allowed
from lamina.debugging.generators.operators.moving import sizes
from lamina.debugging.generators.operators.table import row


def image(g: OnnxGraph, share: int = 1) -> Any:
    """A batch of images of float32, of at most a part of the elements."""
    return g.some("float32", rank=4, bound=64, most=max(16, g.draw.elements // share))


@row("Resize")
def resize(g: OnnxGraph, name: str) -> None:
    x = image(g, 9)
    scales = [1.0, 1.0, *(g.draw.choice((0.5, 1.0, 1.5, 2.0, 2.0, 3.0)) for _ in range(2))]
    mode = g.draw.choice(("nearest", "linear", "cubic") if g.opset >= 11 else ("nearest", "linear"))
    table = g.constant(np.asarray(scales, np.float32))
    if g.opset < 10:
        raise CannotDraw(name)
    if any(int(e * s) < 1 for e, s in zip(x.shape[2:], scales[2:], strict=True)):
        raise CannotDraw("an empty image")
    if g.opset == 10:
        g.node(name, [x, table], bound=x.bound, mode=mode)
        return
    attributes: dict[str, Any] = {"mode": mode}
    kinds = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    attributes["coordinate_transformation_mode"] = g.draw.choice(kinds)
    whole = all(float(e * f).is_integer() for e, f in zip(x.shape[2:], scales[2:], strict=True))
    if attributes["coordinate_transformation_mode"] == "align_corners" and not whole:
        g.alone.append("where corners are, onnxruntime takes whole extents, ONNX's reference those times the scales")
    if mode == "nearest":
        rounding = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
        attributes["nearest_mode"] = g.draw.choice(rounding)
    if mode == "cubic":
        attributes["cubic_coeff_a"] = g.draw.choice((None, -0.5))
        attributes["exclude_outside"] = g.draw.choice((None, 1))
    if g.opset >= 18 and mode != "nearest" and g.draw.chance(0.3):
        attributes["antialias"] = 1
        ends_at_one = any(int(e * f) <= 1 for e, f in zip(x.shape[2:], scales[2:], strict=True))
        if ends_at_one and attributes["coordinate_transformation_mode"] == "pytorch_half_pixel":
            g.alone.append("onnxruntime weighs a single element otherwise than ONNX's reference")
    if g.draw.chance(0.4):
        target = [*x.shape[:2], *(max(1, int(e * s)) for e, s in zip(x.shape[2:], scales[2:], strict=True))]
        # Before operator set 13 the scales were there, and empty.
        empty = g.constant(np.zeros(0, np.float32)) if g.opset < 13 else None
        roi = g.constant(np.zeros(0, np.float32)) if g.opset < 13 else None
        g.node(name, [x, roi, empty, sizes(g, target)], bound=x.bound * 2, **attributes)
        return
    roi = g.constant(np.zeros(0, np.float32)) if g.opset < 13 else None
    g.node(name, [x, roi, table], bound=x.bound * 2, **attributes)


@row("Upsample")
def upsample(g: OnnxGraph, name: str) -> None:
    g.since(name)
    x = image(g, 9)
    scales = [1.0, 1.0, *(g.draw.choice((1.0, 2.0, 3.0)) for _ in range(2))]
    mode = g.draw.choice(("nearest", "linear"))
    if g.opset < 7:
        mode = "bilinear" if mode == "linear" else mode
        g.node(name, [x], bound=x.bound, mode=mode, height_scale=scales[2], width_scale=scales[3],
               types=[(x.dtype, (*x.shape[:2], *(int(e * s) for e, s in zip(x.shape[2:], scales[2:], strict=True))))]
               )  # fmt: skip
    elif g.opset < 9:
        g.node(name, [x], bound=x.bound, mode=mode, scales=scales)
    else:
        g.node(name, [x, g.constant(np.asarray(scales, np.float32))], bound=x.bound, mode=mode)


@row("GridSample")
def grid_sample(g: OnnxGraph, name: str) -> None:
    version = g.since(name)
    x = image(g, 4)
    n = x.shape[0]
    h, w = g.draw.extent(most=32), g.draw.extent(most=32)
    # Of eighths, so that a place between two pixels is the same for everybody.
    grid = g.given(g.draw.eighths((n, h, w, 2), 1.25), "float32")
    modes = ("bilinear", "nearest", "bicubic") if version < 20 else ("linear", "nearest", "cubic")
    g.node(name, [x, grid], bound=x.bound * 2, mode=g.draw.choice(modes),
           padding_mode=g.draw.choice(("zeros", "border", "reflection")),
           align_corners=g.draw.choice((0, 1)))  # fmt: skip


def boxes(g: OnnxGraph, count: int, height: float, width: float) -> Any:
    """Corners of boxes in eighths of a pixel: x1, y1, x2, y2."""
    half = [int(max(1, width) * 4), int(max(1, height) * 4)]
    first = g.draw.numpy.integers(0, [half] * count, (count, 2)) / 8
    size = g.draw.numpy.integers(4, [[max(5, h) for h in half]] * count, (count, 2)) / 8
    return np.concatenate([first, first + size], 1)


@row("RoiAlign")
def roi_align(g: OnnxGraph, name: str) -> None:
    version = g.since(name)
    x = image(g, 4)
    count = g.draw.integer(1, 5)
    rois = g.given(boxes(g, count, *x.shape[2:]), "float32")
    index = g.given(g.draw.integers((count,), 0, x.shape[0] - 1), "int64")
    attributes: dict[str, Any] = {"output_height": g.draw.integer(1, 5), "output_width": g.draw.integer(1, 5)}
    attributes["sampling_ratio"] = g.draw.choice((0, 1, 2))
    attributes["spatial_scale"] = g.draw.choice((1.0, 0.5))
    if version >= 16:
        attributes["coordinate_transformation_mode"] = g.draw.choice(("half_pixel", "output_half_pixel"))
    g.node(name, [x, rois, index], bound=x.bound, **attributes)


@row("MaxRoiPool")
def max_roi_pool(g: OnnxGraph, name: str) -> None:
    x = image(g, 4)
    h, w = x.shape[2:]
    count = g.draw.integer(1, 4)
    corners = np.floor(boxes(g, count, h - 1, w - 1)).clip(0, [w - 1, h - 1, w - 1, h - 1])
    rois = np.concatenate([g.draw.integers((count, 1), 0, x.shape[0] - 1), corners], 1)
    shape = [g.draw.integer(1, 4), g.draw.integer(1, 4)]
    g.node(name, [x, g.given(rois, "float32")], bound=x.bound, pooled_shape=shape)


@row("MaxUnpool")
def max_unpool(g: OnnxGraph, name: str) -> None:
    g.since(name)
    x = image(g, 4)
    if min(x.shape[2:]) < 2:
        raise CannotDraw(name)
    values, places = g.node("MaxPool", [x], 2, kernel_shape=[2, 2], strides=[2, 2])
    values.bound = places.bound = x.bound
    places.used = True
    g.node(name, [values, places], bound=x.bound, kernel_shape=[2, 2], strides=[2, 2])


@row("Col2Im")
def col_2_im(g: OnnxGraph, name: str) -> None:
    g.since(name)
    n, c = g.draw.extent(most=4), g.draw.extent(most=8)
    shape = [g.draw.extent(most=32, least=3), g.draw.extent(most=32, least=3)]
    kernel = [g.draw.integer(1, min(3, e)) for e in shape]
    strides = [g.draw.integer(1, 2) for _ in shape]
    pads = [g.draw.integer(0, k // 2) for k in kernel]
    counts = [(e + 2 * p - k) // s + 1 for e, p, k, s in zip(shape, pads, kernel, strides, strict=True)]
    x = g.some("float32", shape=(n, c * kernel[0] * kernel[1], counts[0] * counts[1]), bound=64)
    g.node(name, [x, sizes(g, shape), sizes(g, kernel)], bound=x.bound * 9, strides=strides, pads=[*pads, *pads])


@row("DeformConv")
def deform_conv(g: OnnxGraph, name: str) -> None:
    g.since(name)
    n, c, h, w = 1, g.draw.extent(most=8), g.draw.extent(most=14, least=3), g.draw.extent(most=14, least=3)
    x = g.some("float32", shape=(n, c, h, w), bound=16)
    k, o = g.draw.integer(1, 3), g.draw.extent(most=8)
    pad = g.draw.integer(0, 1)
    if h + 2 * pad < k or w + 2 * pad < k:
        raise CannotDraw(name)
    oh, ow = h + 2 * pad - k + 1, w + 2 * pad - k + 1
    offset = g.given(g.draw.eighths((n, 2 * k * k, oh, ow), 1.5), "float32")
    weight = g.weight((o, c, k, k))
    bias = g.weight((o,), scale=1.0) if g.draw.chance(0.5) else None
    mask = g.given(g.draw.eighths((n, k * k, oh, ow), 1.0), "float32") if g.draw.chance(0.5) else None
    g.node(name, [x, weight, offset, bias, mask], bound=256, kernel_shape=[k, k], pads=[pad] * 4)


@row("NonMaxSuppression")
def non_max_suppression(g: OnnxGraph, name: str) -> None:
    g.since(name)
    count, classes = g.draw.integer(2, 40 if g.draw.sizes != Sizes.TINY else 6), g.draw.integer(1, 3)
    corners = g.given(boxes(g, count, 8, 8)[None], "float32")
    # Different scores: which of two equal ones comes first is nobody's word.
    scores = g.draw.numpy.permutation(classes * count).reshape(1, classes, count) / (classes * count)
    operands = [corners, g.given(scores, "float32"), sizes(g, g.draw.integer(1, 6))]
    operands += [g.constant(np.asarray(g.draw.choice((0.25, 0.51)), np.float32))]
    if g.draw.chance(0.5):
        operands += [g.constant(np.asarray(g.draw.choice((0.11, 0.52)), np.float32))]
    operands[2] = g.constant(np.asarray([g.draw.integer(1, 6)], np.int64))
    g.node(name, operands, center_point_box=g.draw.choice((None, 1)))


@row("CenterCropPad")
def center_crop_pad(g: OnnxGraph, name: str) -> None:
    g.since(name)
    x = g.some(("float32", "int32"), rank=(2, 4), most=g.draw.elements // 4)
    axes = sorted(g.draw.axes(x.rank))
    assert x.shape is not None
    shape = [max(1, x.shape[a] + g.draw.integer(-3, 3)) for a in axes]
    g.node(name, [x, sizes(g, shape)], bound=x.bound, axes=axes)


@row("AffineGrid")
def affine_grid(g: OnnxGraph, name: str) -> None:
    g.since(name)
    # ONNX's definition squeezes away a batch of one, and divides by zero for an extent of one.
    n, h, w = g.draw.integer(2, 3), g.draw.extent(most=24, least=2), g.draw.extent(most=24, least=2)
    theta = g.given(g.draw.eighths((n, 2, 3), 2), "float32")
    g.node(name, [theta, sizes(g, [n, 3, h, w])], bound=8, align_corners=g.draw.choice((0, 1)))


@row("DFT")
def dft(g: OnnxGraph, name: str) -> None:
    version = g.since(name)
    n, length = g.draw.integer(1, 3), g.draw.extent(most=64, least=2)
    complex_ = g.draw.chance(0.4)
    x = g.some("float32", shape=(n, length, 2 if complex_ else 1), bound=16)
    inverse = 1 if complex_ and g.draw.chance(0.5) else None
    onesided = 1 if not complex_ and g.draw.chance(0.4) else None
    if version < 20:
        g.node(name, [x], axis=1, inverse=inverse, onesided=onesided)
    else:
        axis = g.constant(np.asarray(1, np.int64))
        g.node(name, [x, None, axis], inverse=inverse, onesided=onesided)


@row("STFT")
def stft(g: OnnxGraph, name: str) -> None:
    g.since(name)
    n, frame, step = g.draw.integer(1, 2), g.draw.choice((4, 8, 16)), g.draw.choice((2, 3, 4))
    length = frame + step * g.draw.integer(0, 8)
    x = g.some("float32", shape=(n, length, 1), bound=16)
    window = g.constant(g.draw.eighths((frame,), 1), "float32") if g.draw.chance(0.6) else None
    operands = [x, g.constant(np.asarray(step, np.int64)), window, g.constant(np.asarray(frame, np.int64))]
    g.node(name, operands, onesided=g.draw.choice((0, 1)))


@row("MelWeightMatrix")
def mel_weight_matrix(g: OnnxGraph, name: str) -> None:
    g.since(name)
    numbers = (g.draw.integer(2, 8), g.draw.choice((16, 32)), 8000)
    operands = [g.constant(np.asarray(v, np.int64)) for v in numbers]
    operands += [g.constant(np.asarray(v, np.float32)) for v in (0.0, 4000.0)]
    (y,) = g.node(name, operands, bound=1)
    followed_at_most(g, "Add", y)


@row("BlackmanWindow", "HammingWindow", "HannWindow")
def signal_window(g: OnnxGraph, name: str) -> None:
    g.since(name)
    # Two elements may be the zeros at both ends: nothing but roundings.
    (y,) = g.node(name, [g.constant(np.asarray(g.draw.integer(3, 32), np.int64))], bound=1,
                  periodic=g.draw.choice((0, 1)))  # fmt: skip
    followed_at_most(g, "Mul", y)


def followed_at_most(g: OnnxGraph, name: str, y: Tensor) -> None:
    """Add a node that takes a constant of a formula and another value, and let nothing follow either."""
    y.last = True
    if y.shape is not None:
        (result,) = g.node(name, [y, g.some("float32", shape=y.shape)], bound=8)
        result.last = True


@row("Det")
def det(g: OnnxGraph, name: str) -> None:
    g.since(name)
    n = g.draw.integer(1, 4)
    g.node(name, [g.some("float32", shape=(*g.draw.shape((0, 2), 24), n, n), bound=4)])


@row("TfIdfVectorizer")
def tf_idf(g: OnnxGraph, name: str) -> None:
    g.since(name)
    # Two of one element and two of two, none twice.
    ones, pairs = g.draw.sample(range(5), 2), g.draw.sample([(a, b) for a in range(5) for b in range(5)], 2)
    grams = [*ones, *(n for pair in pairs for n in pair)]
    x = g.given(g.draw.integers((g.draw.integer(3, 12),), 0, 5), "int64")
    weights = [float(v) for v in g.draw.eighths((4,), 1)] if g.draw.chance(0.5) else None
    g.node(name, [x], bound=64, max_gram_length=2, max_skip_count=g.draw.integer(0, 2), min_gram_length=1,
           mode=g.draw.choice(("TF", "IDF", "TFIDF")), ngram_counts=[0, 2], ngram_indexes=[0, 1, 2, 3],
           pool_int64s=grams, weights=weights)  # fmt: skip


@row("ArrayFeatureExtractor", domain="ai.onnx.ml")
def array_feature_extractor(g: OnnxGraph, name: str) -> None:
    x = g.some(("float32", "int64"), rank=(1, 3))
    assert x.shape is not None
    places = g.draw.integers((g.draw.integer(1, 4),), 0, x.shape[-1] - 1)
    shape = (*x.shape[:-1], len(places)) if x.rank > 1 else (1, len(places))
    g.node(name, [x, g.constant(places)], domain="ai.onnx.ml", bound=x.bound, types=[(x.dtype, shape)])


@row("Binarizer", domain="ai.onnx.ml")
def binarizer(g: OnnxGraph, name: str) -> None:
    x = g.some(("float32",), rank=(1, 3))
    g.node(name, [x], domain="ai.onnx.ml", bound=1, types=[(x.dtype, x.shape)], threshold=0.5)


@row("BitCast")
def bit_cast(g: OnnxGraph, name: str) -> None:
    from lamina.debugging.generators.onnx_graph import code

    g.since(name)
    pairs = {"float32": ("int32", "uint32"), "int32": ("uint32",), "int64": ("uint64",), "int8": ("uint8",)}
    # The last bits of a float that is computed are each program's own.
    x = g.some(allowed(g, name, tuple(pairs)), where=lambda t: not t.is_float or t.name in g.inputs)
    g.node(name, [x], to=code(g.draw.choice(pairs[x.dtype])))


@row("Dropout")
def dropout(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, ("float32", "float64")))
    if g.opset < 12:
        g.node(name, [x], bound=x.bound, ratio=0.5, is_test=1 if g.opset < 7 else None)
        return
    g.node(name, [x, g.constant(np.asarray(0.5, np.float32))], bound=x.bound)


@row("Acosh")
def acosh(g: OnnxGraph, name: str) -> None:
    x = g.some(allowed(g, name, ("float32", "float64")))
    (size,) = g.node("Abs", [x], bound=x.bound)
    (above,) = g.node("Add", [size, g.constant(np.asarray(1.25), x.dtype)], bound=x.bound + 2)
    g.node(name, [above], bound=x.bound + 2)


@row("Compress")
def compress(g: OnnxGraph, name: str) -> None:
    g.since(name)
    x = g.some(("float32", "int64"), rank=(1, 3))
    assert x.shape is not None
    axis = g.draw.integer(0, x.rank - 1)
    extent = min(64, x.shape[axis])
    condition = g.either(g.draw.integers((extent,), 0, 1).astype(bool))
    g.node(name, [x, condition], axis=axis)


@row("NonZero")
def non_zero(g: OnnxGraph, name: str) -> None:
    g.since(name)
    g.node(name, [g.some(("float32", "bool", "int64"), rank=(1, 3))])


@row("Unique")
def unique(g: OnnxGraph, name: str) -> None:
    g.since(name)
    # Numbers that roundings tell apart decide the shape.
    x = g.some(("float32", "int64"), rank=(1, 2), most=2000, where=lambda t: not t.is_float or t.name in g.inputs)
    axis = g.draw.integer(0, x.rank - 1) if g.draw.chance(0.3) else None
    g.node(name, [x], 4, axis=axis, sorted=g.draw.choice((0, 1)))


@row("Adagrad", "Adam", "Momentum", domain="ai.onnx.preview.training")
def optimiser(g: OnnxGraph, name: str) -> None:
    shape = g.draw.shape((1, 3))
    states = 2 if name == "Adam" else 1
    rate, step = g.given(np.asarray(0.125, np.float32)), g.given(np.asarray(g.draw.integer(0, 5), np.int64))
    tensors = [g.some("float32", shape=shape, bound=4) for _ in range(2)]
    kept = [g.given(np.abs(g.draw.eighths(shape, 4)), "float32") for _ in range(states)]
    attributes: dict[str, Any] = {"norm_coefficient": g.draw.choice((0.0, 0.125))}
    if name == "Momentum":
        attributes |= {"alpha": 0.5, "beta": 0.25, "mode": g.draw.choice(("standard", "nesterov"))}
    g.node(name, [rate, step, *tensors, *kept], 1 + states, domain="ai.onnx.preview.training",
           types=[("float32", shape)] * (1 + states), **attributes)  # fmt: skip


@row("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(g: OnnxGraph, name: str) -> None:
    g.since(name)
    n, c = g.draw.extent(most=32), g.draw.extent(most=64)
    rest = g.draw.shape((0, 2), 64)
    scores = g.some("float32", shape=(n, c, *rest), bound=8)
    labels = g.given(g.draw.integers((n, *rest), 0, c - 1), "int64")
    weight = g.constant(np.abs(g.draw.eighths((c,), 2)) + 0.125, "float32") if g.draw.chance(0.5) else None
    reduction = g.draw.choice(("none", "sum", "mean"))
    g.node(name, [scores, labels, weight], bound=64, reduction=reduction, ignore_index=g.draw.choice((None, 0)))
