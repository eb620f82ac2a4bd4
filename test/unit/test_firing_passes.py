"""Each optimising pass of the default pipeline changes some model of real size, or there is a reason why not."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import onnx
import pytest

import lamina
from lamina.debugging.campaign import optimising_passes
from lamina.debugging.firing import FiringInstrument
from lamina.debugging.generators import blocks_of_images as images
from lamina.debugging.generators import blocks_of_sequences as sequences
from lamina.debugging.generators import blocks_quantised as quantised
from lamina.debugging.generators.blocks import Block, chain_of, image, sequence
from lamina.debugging.generators.draw import Draw, Sizes
from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph, Tensor
from lamina.transform import PassContext

sys.path.insert(0, str(Path(__file__).parents[1]))

import models  # noqa: E402

IMAGES = (images.residual, images.inverted_residual, images.u_net, images.detection_head, images.plain,
          quantised.convolution, quantised.product, quantised.qlinear_convolution)  # fmt: skip
SEQUENCES = (sequences.attention, sequences.mlp, sequences.recurrent)

NO_CALLS = "takes functions of Relay modules; an imported ONNX graph is one function without calls"
ELSEWHERE = "changes modules whose author has asked for it: external backends, devices, schedules with annotations"
EXCEPTIONS = {
    "relay-remove-unused-functions": NO_CALLS,
    "relay-inline": NO_CALLS,
    "relay-fold-tuples": "the blocks have no tuple whose fields are taken again: the importer keeps none",
    "relay-dynamic-to-static": "the shapes of the blocks' reshapes are constants when they are imported",
    "relay-external-codegen": ELSEWHERE,
    "relay-plan-devices": ELSEWHERE,
    "tir-inject-double-buffer": ELSEWHERE,
    "tir-storage-flatten": ELSEWHERE,
    "tir-unroll-loop": ELSEWHERE,
    "cpu-quantized-transposed": "the blocks have no transposed convolution of bytes",
    "cpu-branches-of-bytes": "the quantised blocks add to what came in, not two products",
    "relay-qnn-legalize": "widens pairs of bytes that a target cannot multiply; the blocks have none of these",
    "relay-flatten-atrous-conv": "TensorFlow's spelling of a dilated convolution, which ONNX models do not have",
    "relay-fold-transpose": "takes products of a transposed matrix; here only attention has them",
    "cpu-flat-convolutions": "the blocks have no convolutions of sequences or volumes",
    "relay-split-args": "the blocks have no concatenation of more tensors than a kernel may take",
    "relay-canonicalize-cast": "the blocks have no cast to a wider type that several ops use",
    "tir-demote-registers": "takes registers indexed by what is not constant; no schedule of these blocks leaves one",
    "tir-rescale-integers": "takes rounded sums of one or two small integers; no kernel of the quantised blocks is one",
    "tir-form-teams": "takes serial loops with parallel loops inside; no block has one at two threads",
}
"""Why no model below makes a pass fire."""


def block_model(block: Block, begin: Callable[[OnnxGraph], Tensor], seed: int) -> onnx.ModelProto:
    """A block at a real size; not every seed can be drawn in this operator set."""
    while True:
        graph = OnnxGraph(Draw(seed, Sizes.REAL), opset=18, exact=False)
        try:
            return chain_of(graph, begin(graph), [block]).model()
        except CannotDraw:
            seed += 100


def real_models() -> Iterator[onnx.ModelProto]:
    """An encoder block, and two of each block of the random programs."""
    yield models.encoder_block(length=64)
    for begin, blocks in ((image, IMAGES), (sequence, SEQUENCES)):
        for block in blocks:
            for seed in (1, 2):
                yield block_model(block, begin, seed)


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
def test_every_optimising_pass_fires_or_has_a_reason(target: str) -> None:
    fired: Counter[str] = Counter()
    for model in real_models():
        instrument = FiringInstrument()
        lamina.compile(model, target, threads=2, opt_level=PassContext(3, instruments=[instrument]), cache=False)
        fired += instrument.counts
    silent = [p for p in optimising_passes() if not fired[p]]
    assert not set(silent) - EXCEPTIONS.keys(), "no model of real size makes these fire: add one, or a reason"
    assert not EXCEPTIONS.keys() - set(silent), "these fire, or are gone: their reasons are stale"
