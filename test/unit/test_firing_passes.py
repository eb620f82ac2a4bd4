"""Each optimising pass of the default pipeline changes some program of real size: of which kind is told here."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from xdsl.dialects.builtin import UnitAttr

import lamina
from lamina.backends.cpu.jit import named_target
from lamina.debugging.campaign import ASKED_FOR, optimising_passes
from lamina.debugging.firing import FiringInstrument
from lamina.debugging.generators import blocks_of_images as images
from lamina.debugging.generators import blocks_of_sequences as sequences
from lamina.debugging.generators import blocks_of_signals as signals
from lamina.debugging.generators import blocks_quantised as quantised
from lamina.debugging.generators import modules
from lamina.debugging.generators.blocks import Block, chain_of, image, sequence, signal, volume
from lamina.debugging.generators.draw import Draw, Sizes
from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph, Tensor
from lamina.dialects.target import TARGET
from lamina.driver.model import Origin
from lamina.driver.pipelines import Pipeline
from lamina.interpreters.relay_reference import main_function
from lamina.ir.context import LaminaContext
from lamina.ir.instrument import PassInfo
from lamina.ir.parsing import parse_text
from lamina.ir.printing import module_text
from lamina.transform import PassContext

sys.path.insert(0, str(Path(__file__).parents[1]))

import models  # noqa: E402
from language_models import gpt  # noqa: E402

pytestmark = pytest.mark.slow

TARGETS = ("x86-64-v3", "x86-64-v4")
BLOCKS: dict[Callable[[OnnxGraph], Tensor], tuple[Block, ...]] = {
    image: (images.residual, images.inverted_residual, images.u_net, images.detection_head, images.plain,
            quantised.convolution, quantised.product, quantised.qlinear_convolution, quantised.branches, quantised.up,
            quantised.concatenated),
    sequence: (sequences.attention, sequences.mlp, sequences.similarity, sequences.half_precision),
    signal: (signals.dilated,),
    volume: (signals.volumetric,),
}  # fmt: skip
MODULES = {
    "relay-remove-unused-functions": "a function that nothing calls",
    "relay-inline": "functions that are called",
    "relay-fold-tuples": "tuples that are made and taken apart",
    "relay-dynamic-to-static": "shapes that are operands, and constants",
    "relay-external-codegen": "functions that partitioning has given to a compiler",
    "relay-flatten-atrous-conv": "dilated convolutions as TensorFlow writes them",
    "relay-plan-devices": "values that are annotated with devices",
    "cpu-channels-first": "convolutions of images with the channels last",
}
"""Passes that no imported ONNX graph needs, and what makes them fire in a Relay module that people write.

An imported graph is one function without calls and tuples, on one device, and the importer knows shapes that are
constants.
"""
PROCESSORS = {"relay-qnn-legalize": ("alderlake", "icelake-server")}
"""Passes for instructions that no level of x86-64 has: here products of unsigned by signed bytes."""
OF_STATE = ("relay-fuse-state-reads", "relay-state-append")
"""Passes for state that grows, of which the models here have none."""
SPLIT_ARGS = "relay-split-args"
"""The pass that needs an option: the most tensors that a kernel takes, which targets of ours do not limit."""

KERNEL = """
te.func @f(%A: tensor<512x768xf32>) -> tensor<512x768xf32> {
  %b = te.compute "B" [512, 768] (%i, %j) : tensor<512x768xf32> {
    %a = te.read %A[%i, %j] : tensor<512x768xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  %c = te.compute "C" [768, 512] (%i, %j) : tensor<768x512xf32> {
    %x = te.read %b[%j, %i] : tensor<512x768xf32>
    %s = arith.addf %x, %x : f32
    te.yield %s : f32
  }
  %d = te.compute "D" [512, 768] (%i, %j) : tensor<512x768xf32> {
    %x = te.read %c[%j, %i] : tensor<768x512xf32>
    %s = arith.mulf %x, %x : f32
    te.yield %s : f32
  }
  te.return %d : tensor<512x768xf32>
}
te.schedule @f {
  te.storage_align "C" axis 0 factor 32 offset 1
  %i, %j = te.loops "C" [2]
  %bi, %bj = te.compute_at "B" at %i [2]
  te.double_buffer "B"
  %k, %l = te.loops "D" [2]
  %lo, %li = te.split %l [-1, 8]
  te.pragma %k "auto_unroll_max_step" = 16
}
"""


def fired(module: Any, target: str, ctx: LaminaContext, start: str = "relay", config: Any = None) -> Counter[str]:
    """How often each pass changes a module on its way to the end of the tir level, for two threads."""
    instrument = FiringInstrument()
    module.attributes[TARGET] = named_target(target, threads=2)
    context = PassContext(3, instruments=[instrument], config=config)
    Pipeline(context).run(module, ctx, start=start, until="tir")
    return instrument.counts


def fired_by_model(model: onnx.ModelProto, target: str, config: Any = None) -> Counter[str]:
    imported = lamina.load(model)
    ctx = LaminaContext()
    ctx.params = imported.params
    return fired(imported.module, target, ctx, config=config)


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
    for begin, blocks in BLOCKS.items():
        for block in blocks:
            for seed in (1, 2):
                yield block_model(block, begin, seed)
    # Layers whose threads meet, and one of so few units that weights lie as the model has them.
    for seed in (1, 4):
        yield block_model(sequences.recurrent, sequence, seed)


@pytest.mark.parametrize("target", [TARGETS[0], pytest.param(TARGETS[1], marks=pytest.mark.long)])
def test_every_optimising_pass_fires_in_a_model_or_elsewhere(target: str) -> None:
    found: Counter[str] = Counter()
    for model in real_models():
        found += fired_by_model(model, target)
    silent = {p for p in optimising_passes() if not found[p]}
    elsewhere = {*MODULES, *PROCESSORS, *OF_STATE}
    assert not sorted(silent - elsewhere), (
        "no model of real size makes these fire: add one, or a program of another kind"
    )
    assert not sorted(elsewhere - silent), "models make these fire, or they are gone: what is said of them is stale"


@pytest.mark.parametrize("target", TARGETS)
def test_passes_that_fire_in_relay_modules(target: str) -> None:
    """Dilated convolutions side by side, written in every way that random modules are."""
    imported = lamina.load(block_model(images.pyramid, image, 1))
    module, draw = imported.module, Draw(1, Sizes.REAL)
    modules.write_constants(module, imported.params)
    for change in modules.CHANGES:
        change(main_function(module), draw)
    for n in range(4):
        modules.outline(module, f"layer{n}", draw)
    modules.partition(module, draw)
    ctx = LaminaContext()
    found = fired(parse_text(ctx, module_text(module), "module.mlir"), target, ctx)
    assert not {p for p in MODULES if not found[p]}


@pytest.mark.parametrize("target", TARGETS)
def test_passes_that_fire_where_a_schedule_asks(target: str) -> None:
    ctx = LaminaContext()
    found = fired(parse_text(ctx, KERNEL, "kernel.mlir"), target, ctx, start="te")
    assert not {p for p in ASKED_FOR if p != SPLIT_ARGS and not found[p]}


@pytest.mark.parametrize(("name", "target"), [(n, t) for n, targets in PROCESSORS.items() for t in targets])
def test_passes_that_fire_for_a_processor(name: str, target: str) -> None:
    """Where a model has products of signed bytes by signed ones; some seeds draw them."""
    convolutions = [block_model(quantised.qlinear_convolution, image, seed) for seed in range(1, 7)]
    assert any(fired_by_model(model, target)[name] for model in convolutions)


@pytest.mark.parametrize("target", TARGETS)
def test_passes_that_fire_where_state_grows(target: str) -> None:
    """In a step of a language model, once it is said what goes on to the next one."""
    for states, fires in (({}, False), ({"past_k0": "present_k0", "past_v0": "present_v0"}, True)):
        origin = Origin.of(gpt(), {"batch": 1, "seq": "1..64", "past": "0..255"}, states=states)
        imported, ctx = origin.read(), LaminaContext()
        ctx.params = imported.store
        found = fired(imported.module, target, ctx)
        assert [found[p] > 0 for p in OF_STATE] == [fires, fires]


def test_a_pass_that_fires_with_an_option() -> None:
    model = block_model(images.pyramid, image, 1)
    assert fired_by_model(model, TARGETS[0], {ASKED_FOR[SPLIT_ARGS]: 2})[SPLIT_ARGS]
    assert not fired_by_model(model, TARGETS[0])[SPLIT_ARGS]


def test_a_pass_fires_where_it_changes_the_module() -> None:
    """Not for what others have done: the pass before it, or somebody before the context."""
    module, instrument = parse_text(LaminaContext(), KERNEL, "kernel.mlir"), FiringInstrument()
    info = PassInfo(0, "cse")
    counts: list[int] = []

    def run(mark: str = "") -> None:
        instrument.run_before_pass(module, info)
        if mark:
            module.attributes[mark] = UnitAttr()
        instrument.run_after_pass(module, info)
        counts.append(instrument.counts["cse"])

    for marks in (("a", "", "b"), ("", "c")):
        module.attributes[f"before_{marks[1]}"] = UnitAttr()
        instrument.enter_pass_ctx()
        for mark in marks:
            run(mark)
    assert counts == [1, 1, 2, 2, 3]
    assert instrument.ran["cse"] == 5
