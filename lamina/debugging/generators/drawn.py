"""From a seed to a program: which generator, which sizes, which values; the seed alone decides."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from lamina.debugging.generators.blocks import block_chain
from lamina.debugging.generators.draw import Draw, Sizes
from lamina.debugging.generators.few_ops import few_ops
from lamina.debugging.generators.growing_states import PAST, GrowingState, add_rows, add_states, runs_of_states
from lamina.debugging.generators.layout_chains import layout_chain
from lamina.debugging.generators.modules import relay_module
from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph
from lamina.debugging.generators.open_extents import NAMES, STAND_INS, OpenGraph, Run, opened
from lamina.debugging.generators.operator_graphs import operator_graph


class Generator(StrEnum):
    """A generator of programs."""

    OPERATORS = "operators"
    LAYOUT = "layout"
    BLOCKS = "blocks"
    MODULES = "modules"
    SYMBOLS = "symbols"
    """Graphs of the first three with extents that are names, each run at several sizes."""
    COMPILED = "compiled"
    """Not among the others, only where it is asked for: nothing runs."""


SHARES = {Generator.OPERATORS: 60, Generator.LAYOUT: 40, Generator.BLOCKS: 24, Generator.MODULES: 8,
          Generator.SYMBOLS: 24}  # fmt: skip
SIZE_SHARES = {Sizes.TINY: 30, Sizes.ODD: 33, Sizes.REAL: 37}
OPEN_SHARES = {Generator.OPERATORS: 4, Generator.LAYOUT: 3, Generator.BLOCKS: 4}
"""Of the graphs with extents that are names: blocks of models rather than among the others."""
STATEFUL = 0.25
"""Share of the graphs with extents that are names which are given states."""
SPECIAL = 0.12
"""Share of the cases with NaN, infinities, subnormals and extreme integers among the inputs."""


@dataclass(frozen=True)
class Plan:
    """The first decisions of a seed."""

    seed: int
    kind: Generator
    sizes: Sizes
    special: bool
    states: bool = False
    """Whether rows of inputs are added to states, where there are extents that are names."""


@dataclass
class Drawn:
    """A program and its inputs."""

    plan: Plan
    source: bytes
    is_onnx: bool
    inputs: dict[str, Any]
    operators: Counter[str] = field(default_factory=Counter[str])
    alone: bool = False
    """Whether other implementations compute something else."""
    ranges: Mapping[str, str] = field(default_factory=dict[str, str])
    """The ranges of extents with names."""
    runs: Sequence[Run] = ()
    """Sizes for these, and inputs."""
    left_out: Sequence[str] = ()
    """The reasons why nodes were left out that are refused for ranges."""
    states: Mapping[str, GrowingState] = field(default_factory=dict[str, GrowingState])
    """The states that grow from run to run, by the names of their inputs."""


def plan_of(seed: int, kind: str = "") -> Plan:
    """The generator and the sizes of a seed; the generator is `COMPILED` where that is the kind asked for."""
    rng = random.Random(f"plan {seed}")
    drawn_kind = rng.choices(list(SHARES), list(SHARES.values()))[0]
    sizes = rng.choices(list(SIZE_SHARES), list(SIZE_SHARES.values()))[0]
    if kind == Generator.COMPILED:
        return Plan(seed, Generator.COMPILED, sizes, False)
    # Decided apart: the other programs are what they were before there were states.
    states = drawn_kind is Generator.SYMBOLS and random.Random(f"states {seed}").random() < STATEFUL
    return Plan(seed, drawn_kind, sizes, rng.random() < SPECIAL, states)


GRAPHS: dict[Generator, Callable[[Draw], OnnxGraph]] = {
    Generator.OPERATORS: operator_graph,
    Generator.LAYOUT: layout_chain,
    Generator.BLOCKS: block_chain,
}


def drawn(seed: int, kind: str = "") -> Drawn:
    """The program of a seed, as `plan_of` plans it."""
    plan = plan_of(seed, kind)
    draw = Draw(seed, plan.sizes)
    while True:
        try:
            if plan.kind == Generator.COMPILED:
                return Drawn(plan, few_ops(draw).encode(), False, {})
            if plan.kind == Generator.MODULES:
                text, graph = relay_module(draw)
                return Drawn(plan, text.encode(), False, graph.inputs, graph.operators())
            if plan.kind == Generator.SYMBOLS:
                return drawn_open(plan, draw)
            graph = GRAPHS[plan.kind](draw)
            model = graph.model()
            break
        except CannotDraw:
            continue
    if plan.special:
        put_special_values(graph, draw)
    return Drawn(plan, model.SerializeToString(), True, graph.inputs, graph.operators(), bool(graph.alone))


def drawn_open(plan: Plan, draw: Draw) -> Drawn:
    """A graph of any kind with one or two extents that are names, and inputs for some sizes. Raises CannotDraw."""
    draw.named = dict(zip(NAMES, draw.sample(STAND_INS[plan.sizes], draw.integer(1, 2)), strict=False))
    graph = GRAPHS[draw.random.choices([*OPEN_SHARES], [*OPEN_SHARES.values()])[0]](draw)
    open_graph = opened(graph, graph.model(), draw)
    if plan.special:
        put_special_values(open_graph, draw)
    if plan.states:
        add_rows(open_graph, draw)
    runs, ranges = open_graph.runs(draw), open_graph.shapes()
    states = add_states(open_graph, draw) if plan.states else {}
    if states:
        runs = runs_of_states(open_graph, runs)
        ranges[PAST] = f"0..{sum(max(run.sizes.values()) for run in runs)}"
    source, operators, alone = open_graph.model.SerializeToString(), open_graph.operators(), bool(graph.alone)
    return Drawn(plan, source, True, runs[0].inputs, operators, alone, ranges, runs, open_graph.left_out, states)


def put_special_values(graph: OnnxGraph | OpenGraph, draw: Draw) -> None:
    """Put some values at the ends of their type among the inputs that may be anything."""
    for name in sorted(graph.free & graph.inputs.keys()):
        array = graph.inputs[name] = graph.inputs[name].copy()
        values = special_values(array.dtype)
        if values and array.size and draw.chance(0.7):
            for _ in range(draw.integer(1, 3)):
                array.reshape(-1)[draw.integer(0, array.size - 1)] = draw.choice(values)


def special_values(dtype: Any) -> list[Any]:
    """The rare values of a type: NaN, infinities, zeros, subnormals, the ends."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return [info.min, info.max, info.max // 2 + 1]
    if dtype.kind == "b":
        return []
    small = float(np.finfo(np.float32).smallest_subnormal) if dtype.itemsize >= 4 else 6e-8
    return [np.nan, np.inf, -np.inf, -0.0, small, 1e-40 if dtype.itemsize >= 4 else 1e-6, 30000.0]
