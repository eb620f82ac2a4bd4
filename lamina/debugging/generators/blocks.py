"""Blocks of real models, one to three after each other: what the passes that look for whole patterns meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lamina.debugging.generators.blocks_of_images import BLOCKS as IMAGES
from lamina.debugging.generators.blocks_of_sequences import BLOCKS as SEQUENCES
from lamina.debugging.generators.blocks_of_signals import OF_SEQUENCES, OF_VOLUMES
from lamina.debugging.generators.blocks_quantised import BLOCKS as QUANTISED
from lamina.debugging.generators.draw import Draw, Sizes
from lamina.debugging.generators.onnx_graph import OnnxGraph, Tensor

Block = Callable[[OnnxGraph, Tensor], Tensor]

OPSETS = (13, 14, 17, 18, 20, 21, 23)
MOST_BLOCKS = {Sizes.TINY: 3, Sizes.ODD: 3, Sizes.REAL: 2}


def block_chain(draw: Draw) -> OnnxGraph:
    """A chain of blocks over one input: an image, whose blocks may be quantised, a sequence, a signal or a volume."""
    graph = OnnxGraph(draw, opset_of(draw), exact=draw.chance(0.3))
    begin, blocks = draw.choice(BEGINNINGS)
    return chain_of(graph, begin(graph), [draw.choice(blocks) for _ in range(draw.integer(1, MOST_BLOCKS[draw.sizes]))])


def opset_of(draw: Draw) -> int:
    """An operator set in which models of today are."""
    return draw.choice(OPSETS)


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
    height = draw.outer(side, 0.2)
    width = height if draw.chance(0.7) else draw.outer(side, 0.2)
    batch = draw.outer((1, 1, 2))
    return g.fresh_input("float32", (batch, draw.choice(channels), height, width), 2.0)


def sequence(g: OnnxGraph) -> Tensor:
    """An input of vectors: batch, positions, width; or indices into an embedding."""
    draw = g.draw
    lengths, widths = {
        Sizes.TINY: ((1, 2, 4), (4, 8)),
        Sizes.ODD: ((3, 7, 19), (12, 36, 44)),
        Sizes.REAL: ((49, 64, 128), (128, 256)),
    }[draw.sizes]
    batch, length, width = draw.outer((1, 1, 2)), draw.outer(lengths), draw.choice(widths)
    if draw.chance(0.7):
        return g.fresh_input("float32", (batch, length, width), 2.0)
    words = draw.integer(2, 1000)
    table = g.weight((words, width), scale=1.0)
    (found,) = g.node("Gather", [table, g.given(draw.integers((batch, length), 0, words - 1), "int64")], axis=0)
    (moved,) = g.node("Add", [found, g.weight((length, width), scale=1.0)])
    return moved


def signal(g: OnnxGraph) -> Tensor:
    """An input of signals: batch, channels, positions."""
    draw = g.draw
    channels, lengths = {
        Sizes.TINY: ((1, 2, 4), (2, 4, 8)),
        Sizes.ODD: ((3, 7, 13), (9, 19, 33)),
        Sizes.REAL: ((32, 64, 80), (64, 100, 250)),
    }[draw.sizes]
    return g.fresh_input("float32", (draw.outer((1, 1, 2)), draw.choice(channels), draw.outer(lengths)), 2.0)


def volume(g: OnnxGraph) -> Tensor:
    """An input of volumes, NCDHW: scans, or a few frames of a film."""
    draw = g.draw
    channels, depths, side = {
        Sizes.TINY: ((1, 2), (2, 3), (2, 4)),
        Sizes.ODD: ((3, 5), (3, 5), (5, 7)),
        Sizes.REAL: ((8, 16), (4, 8), (14, 16)),
    }[draw.sizes]
    size = draw.choice(side)
    return g.fresh_input("float32", (draw.outer((1,)), draw.choice(channels), draw.choice(depths), size, size), 2.0)


BEGINNINGS: tuple[tuple[Callable[[OnnxGraph], Tensor], Sequence[Block]], ...] = (
    *[(image, IMAGES)] * 6,
    *[(image, QUANTISED)] * 5,
    *[(sequence, SEQUENCES)] * 4,
    *[(signal, OF_SEQUENCES)] * 2,
    (volume, OF_VOLUMES),
)
"""Beginnings of chains, and the blocks that may follow; a repeated entry is drawn more often."""
