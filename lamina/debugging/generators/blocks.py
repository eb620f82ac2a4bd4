"""Blocks of real models, one to three after each other: what the passes that look for whole patterns meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lamina.debugging.generators.blocks_of_images import BLOCKS as IMAGES
from lamina.debugging.generators.blocks_of_sequences import BLOCKS as SEQUENCES
from lamina.debugging.generators.blocks_quantised import BLOCKS as QUANTISED
from lamina.debugging.generators.draw import Draw, Sizes
from lamina.debugging.generators.onnx_graph import OnnxGraph, Tensor

Block = Callable[[OnnxGraph, Tensor], Tensor]

OPSETS = (13, 14, 17, 18, 20, 21, 23)
MOST_BLOCKS = {Sizes.TINY: 3, Sizes.ODD: 3, Sizes.REAL: 2}


def block_chain(draw: Draw) -> OnnxGraph:
    """A chain of blocks over one input: an image, a sequence, or an image with quantised weights."""
    graph = OnnxGraph(draw, draw.choice(OPSETS), exact=draw.chance(0.3))
    begin, blocks = draw.choice(((image, IMAGES), (image, IMAGES), (image, QUANTISED), (sequence, SEQUENCES)))
    return chain_of(graph, begin(graph), [draw.choice(blocks) for _ in range(draw.integer(1, MOST_BLOCKS[draw.sizes]))])


def chain_of(graph: OnnxGraph, x: Tensor, blocks: Sequence[Block]) -> OnnxGraph:
    """Put blocks after each other, as long as the value keeps the rank that they take."""
    rank = x.rank
    for block in blocks:
        if x.rank != rank:
            break
        x = block(graph, x)
    return graph


def image(g: OnnxGraph) -> Tensor:
    """An input of images, NCHW."""
    draw = g.draw
    channels, side = {
        Sizes.TINY: ((1, 2, 4), (1, 2, 4)),
        Sizes.ODD: ((3, 7, 13, 17), (5, 9, 11, 15)),
        Sizes.REAL: ((16, 32, 64), (14, 28, 32)),
    }[draw.sizes]
    height = draw.choice(side)
    width = height if draw.chance(0.7) else draw.choice(side)
    batch = draw.choice((1, 1, 2))
    return g.fresh_input("float32", (batch, draw.choice(channels), height, width), 2.0)


def sequence(g: OnnxGraph) -> Tensor:
    """An input of vectors: batch, positions, width; or indices into an embedding."""
    draw = g.draw
    lengths, widths = {
        Sizes.TINY: ((1, 2, 4), (4, 8)),
        Sizes.ODD: ((3, 7, 19), (12, 36, 44)),
        Sizes.REAL: ((49, 64, 128), (128, 256)),
    }[draw.sizes]
    batch, length, width = draw.choice((1, 1, 2)), draw.choice(lengths), draw.choice(widths)
    if draw.chance(0.7):
        return g.fresh_input("float32", (batch, length, width), 2.0)
    words = draw.integer(2, 1000)
    table = g.weight((words, width), scale=1.0)
    (found,) = g.node("Gather", [table, g.given(draw.integers((batch, length), 0, words - 1), "int64")], axis=0)
    (moved,) = g.node("Add", [found, g.weight((length, width), scale=1.0)])
    return moved
