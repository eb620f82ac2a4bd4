"""Operators that onnxruntime adds to ONNX's for language models: embeddings, places of words, attention of bytes."""

from __future__ import annotations

from typing import Any

from lamina.debugging.generators.draw import Sizes
from lamina.debugging.generators.onnx_graph import MICROSOFT, OnnxGraph, Tensor
from lamina.debugging.generators.operators.contributed import F32, add, lengths
from lamina.debugging.generators.operators.quantised import BYTES, codes, scale, zero_point
from lamina.debugging.generators.operators.table import row

# -- embeddings ----------------------------------------------------------------------------------------------------


@row("EmbedLayerNormalization", "QEmbedLayerNormalization", domain=MICROSOFT)
def embeddings(g: OnnxGraph, name: str) -> None:
    """The norm of sums of rows of tables; of tables of bytes each has its scale and zero point."""
    most = {Sizes.TINY: 4, Sizes.ODD: 33, Sizes.REAL: 256}[g.draw.sizes]
    batch, length, width = g.draw.integer(1, 3), g.draw.extent(most=min(64, most)), g.draw.extent(most=most)
    words, places, kinds = g.draw.integer(1, 40), length + g.draw.integer(0, 5), g.draw.integer(1, 3)

    def picked(shape: tuple[int, ...], extent: int) -> Tensor:
        return g.given(g.draw.integers(shape, 0, extent - 1), "int32")

    segmented, masked = g.draw.chance(0.6), g.draw.chance(0.6)
    ids = picked((batch, length), words)
    segments = picked((batch, length), kinds) if segmented else None
    mask = g.given(g.draw.integers((batch, length), 0, 2), "int32") if masked else None
    shapes = [(words, width), (places, width), (kinds, width) if segmented else None, (width,), (width,)]
    rows = (batch, length, width)
    epsilon = g.draw.choice((None, 0.125))
    if name == "QEmbedLayerNormalization":
        tables = [g.constant(g.draw.integers(s, 0, 255), "uint8") if s is not None else None for s in shapes]
        scales = [scale(g) if t is not None else None for t in tables]
        zeros = [zero_point(g, "uint8") if t is not None else None for t in tables]
        g.node(name, [ids, segments, *tables, mask, *scales, *zeros], 2, domain=MICROSOFT, bound=64,
               types=[(F32, rows), ("int32", (batch,))], epsilon=epsilon)  # fmt: skip
        return
    floats = [g.weight(s, scale=1.0) if s is not None else None for s in shapes]
    order = None
    if g.draw.chance(0.4):
        order = picked((g.draw.choice((1, batch)), length), places)
    types = [(F32, rows), ("int32", (batch,)), (F32, rows)][: g.draw.integer(2, 3)]
    g.node(name, [ids, segments, *floats, mask, order], len(types), domain=MICROSOFT, bound=64, types=types,
           epsilon=epsilon)  # fmt: skip


@row("RotaryEmbedding", domain=MICROSOFT)
def rotary_embedding(g: OnnxGraph, name: str) -> None:
    """Heads side by side or one after the other, turned whole or in part."""
    b, rows, _, heads, size = lengths(g)
    size = max(4, size + size % 2)
    lined = g.draw.chance(0.5)
    partly = g.draw.chance(0.4)
    # onnxruntime turns parts of a multiple of 8.
    turned = g.draw.choice([n for n in range(8, size + 1, 8)] or [size]) if partly else size
    x = g.some(F32, shape=(b, heads, rows, size) if lined else (b, rows, heads * size), bound=4)
    assert x.shape is not None
    places = rows + g.draw.integer(0, 4)
    if g.draw.chance(0.5):
        at = g.given(g.draw.integers((1,), 0, places - rows), "int64")
    else:
        at = g.given(g.draw.integers((b, rows), 0, places - 1), "int64")
    tables = [g.either(g.draw.eighths((places, turned // 2), 1), F32) for _ in range(2)]
    attributes: dict[str, Any] = {"num_heads": heads, "rotary_embedding_dim": turned} if turned < size else {}
    if not attributes and not lined and g.draw.chance(0.3):
        attributes["num_heads"] = heads
    add(g, name, [x, at, *tables], x.shape, 8, interleaved=g.draw.choice((None, 0, 1)), **attributes)


# -- attention of bytes --------------------------------------------------------------------------------------------


@row("QAttention", domain=MICROSOFT)
def quantised_attention(g: OnnxGraph, name: str) -> None:
    """Self-attention whose projection is a product of bytes, with masks in all their forms and states of before."""
    b, rows, before, heads, size = lengths(g)
    width, inside = heads * size, g.draw.extent(most=128)
    kind = g.draw.choice(BYTES)
    by_column = g.draw.chance(0.4)
    along = (3 * width,) if by_column else ()
    before = before if g.draw.chance(0.4) else 0
    x = codes(g, "uint8", (b, rows, inside))
    w = g.constant(g.draw.integers((inside, 3 * width), *((0, 255) if kind == "uint8" else (-128, 127))), kind)
    bias = g.weight((3 * width,), scale=1.0)
    w_scale = g.constant(2.0 ** g.draw.integers(along, -9, -7), F32)
    mask = attention_mask(g, b, rows, rows + before) if g.draw.chance(0.5) else None
    zeros: list[Tensor | None] = [None, None]
    if g.draw.chance(0.6):
        zeros = [zero_point(g, "uint8"), zero_point(g, kind, along)]
    past = g.some(F32, shape=(2, b, heads, before, size), bound=4) if before else None
    types = [(F32, (b, rows, width)), (F32, (2, b, heads, rows + before, size))]
    wanted = 2 if past is not None or g.draw.chance(0.2) else 1
    made = g.node(name, [x, w, bias, scale(g), w_scale, mask, *zeros, past], wanted, domain=MICROSOFT, bound=64,
                  types=types[:wanted], num_heads=heads, unidirectional=g.draw.choice((None, 0, 1)),
                  mask_filter_value=g.draw.choice((None, None, -1000.0)),
                  scale=g.draw.choice((None, None, 0.25)))  # fmt: skip
    for result in made:
        result.bound = 64


def attention_mask(g: OnnxGraph, batch: int, rows: int, columns: int) -> Tensor:
    """A mask: the ends of the keys, their ends and beginnings, or which of them count, for all rows or for each."""
    how = g.draw.integer(0, 3)
    if how == 0:
        return g.given(g.draw.integers((batch,), 1, columns), "int32")
    if how == 1:
        starts = g.draw.integers((batch,), 0, columns - 1)
        ends = [g.draw.integer(int(s) + 1, columns) for s in starts]
        return g.given([*ends, *starts], "int32")
    shape = (batch, columns) if how == 2 else (batch, rows, columns)
    seen = g.draw.integers(shape, 0, 1)
    seen[..., 0] = 1
    return g.given(seen, "int32")
