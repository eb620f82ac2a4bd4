"""Normalisations that onnxruntime adds to ONNX's: after a residual sum, by the root mean square, and of embeddings."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.contributed import FLOAT, INT, contributed, declare_operator, given, single, standard
from lamina.frontends.onnx.convert_nn import inverse_deviation, layer_normalized

_LAYER: dict[str, Any] = {"only": {"stash_type": (1,)}, "axis": INT, "epsilon": FLOAT, "stash_type": INT}
_SUMS = "output mean? inv_std_var? input_skip_bias_sum?"
# Until ONNX had it, at opset 17, with the standard operators all the same.
declare_operator("LayerNormalization", domain="", inputs="X Scale B?", outputs="Y Mean? InvStdDev?", **_LAYER)


@contributed("SimplifiedLayerNormalization", domain="", inputs="X scale", outputs="Y inv_std_var?", **_LAYER)
def simplified_layer_normalization(n: Node, b: Builder) -> list[Value]:
    """x / sqrt(mean(x * x) + epsilon) * scale over all axes from `axis` on; `stash_type` is float32."""
    x = n.input(0)
    axis = n.axis(n.attr("axis", -1), x.rank)
    return _by_root_mean_square(b, single(b, x), n.input(1), axis, n.attr("epsilon", 1e-5), x.dtype)


def _by_root_mean_square(b: Builder, x: Value, scale: Value, axis: int, epsilon: float, dtype: str) -> list[Value]:
    """The result, in a dtype, and the factor that x and the scale are multiplied by."""
    factor = inverse_deviation(b, b.op("multiply", x, x), list(range(axis, x.rank)), epsilon)
    y = b.op("multiply", b.op("multiply", x, factor), single(b, scale))
    return [b.cast(y, dtype), factor]


def _residual(n: Node, b: Builder, *terms: int) -> Value:
    """The sum of those of the inputs that are there, in at least float32."""
    values = [single(b, n.input(i)) for i in terms if n.has(i)]
    total = reduce(lambda x, y: b.op("add", x, y), values)
    if total.shape != values[0].shape:
        raise n.fail("what is added must broadcast to the input")
    return total


@contributed("SkipLayerNormalization", inputs="input skip gamma beta? bias?", outputs=_SUMS, epsilon=FLOAT)
def skip_layer_normalization(n: Node, b: Builder) -> list[Value]:
    """The layer normalisation of a sum, and the sum."""
    dtype, total = n.input(0).dtype, _residual(n, b, 0, 1, 4)
    y, *moments = layer_normalized(n, b, total, n.input(2), given(n, 3), -1, n.attr("epsilon", 1e-12))
    # Of a mean and deviation that nobody wants something else may stand in the place.
    return [b.cast(y, dtype), *(moments or [y, y]), b.cast(total, dtype)]


@contributed("SkipSimplifiedLayerNormalization", inputs="input skip gamma bias?", outputs=_SUMS, epsilon=FLOAT)
def skip_simplified_layer_normalization(n: Node, b: Builder) -> list[Value]:
    """A sum normalised by its root mean square, and the sum; as mean, 0: none is taken off."""
    dtype, total = n.input(0).dtype, _residual(n, b, 0, 1, 3)
    y, factor = _by_root_mean_square(b, total, n.input(2), total.rank - 1, n.attr("epsilon", 1e-12), dtype)
    return [y, b.splat(np.float32(0), factor.shape), factor, b.cast(total, dtype)]


# -- embeddings ------------------------------------------------------------------------------------


_EMBED = "input_ids segment_ids? word_embedding position_embedding segment_embedding? gamma beta mask?"


@contributed(
    "EmbedLayerNormalization",
    inputs=f"{_EMBED} position_ids?",
    outputs="output mask_index? embedding_sum?",
    epsilon=FLOAT,
    mask_index_type=INT,
)
def embed_layer_normalization(n: Node, b: Builder) -> list[Value]:
    """The layer normalisation of the sum of the embeddings of words, places and segments; the number of words of each
    row that the mask has a 1 for; the sum."""
    tables = [given(n, i) for i in (2, 3, 4)]
    total = _embedded(n, b, tables, given(n, 8))
    y, *_ = layer_normalized(n, b, single(b, total), n.input(5), n.input(6), -1, n.attr("epsilon", 1e-12))
    return [b.cast(y, total.dtype), _words(n, b), total]


@contributed(
    "QEmbedLayerNormalization",
    inputs="input_ids segment_ids? word_embedding_quant position_embedding_quant segment_embedding? gamma_quant"
    " beta_quant mask? word_embedding_scale position_embedding_scale segment_embedding_scale? gamma_scale beta_scale"
    " word_embedding_zero_point position_embedding_zero_point segment_embedding_zero_point? gamma_zero_point"
    " beta_zero_point",
    outputs="layernorm_out mask_index_out",
    epsilon=FLOAT,
)
def quantized_embed_layer_normalization(n: Node, b: Builder) -> list[Value]:
    """The same of tables of bytes; each has its scale 6 inputs on, its zero point 11 inputs on."""

    def real(i: int) -> Value | None:
        if not n.has(i):
            return None
        scale, zero = (b.reshape(n.input(k), ()) for k in (i + 6, i + 11))
        return standard(n, b, "DequantizeLinear", [n.input(i), scale, zero])

    gamma, beta = real(5), real(6)
    assert gamma is not None and beta is not None
    total = _embedded(n, b, [real(i) for i in (2, 3, 4)], None)
    y, *_ = layer_normalized(n, b, total, gamma, beta, -1, n.attr("epsilon", 1e-12))
    return [y, _words(n, b)]


def _embedded(n: Node, b: Builder, tables: list[Value | None], positions: Value | None) -> Value:
    """The rows of each table: of words, of places - 0, 1, 2 ... unless they are given - and of segments."""
    ids, (words, places, segments) = n.input(0), tables
    if ids.rank != 2 or words is None or places is None:
        raise n.fail("the words must be [batch, length]")
    if positions is None:
        positions = b.constant(np.arange(ids.shape[1], dtype=np.int32))
    total = b.op("add", standard(n, b, "Gather", [words, ids]), standard(n, b, "Gather", [places, positions]))
    if segments is not None and n.has(1):
        total = b.op("add", total, standard(n, b, "Gather", [segments, n.input(1)]))
    return total


def _words(n: Node, b: Builder) -> Value:
    """The number of elements in each row of the mask that are 1, as int32; 0 without a mask."""
    if not n.has(7):
        return b.splat(np.int32(0), n.input(0).shape[:1])
    mask = n.input(7)
    return b.op("sum", b.cast(b.op("equal", mask, b.scalar(1, mask)), "int32"), axis=[1])
