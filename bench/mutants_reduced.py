"""Faults put in on purpose: what does `lamina reduce` leave of a model of a hundred ops that shows one?

    python bench/mutants_reduced.py --count 10 --seed 0

The edits of `bench/mutants.py` in the order of the draw, each in a copy of the checkout (what git has at HEAD). Models
of a hundred ops and more are drawn by the generators of `lamina fuzz`, and it is recorded which functions each of them
reaches. Of an edit, models that reach its function are given to `lamina reduce` in that copy: an edit that none of
them shows is passed over, the first that one shows is reduced. It ends with so many reduced. Exit status 1 where more
than 8 ops are left of one, or it took more than two minutes.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

import numpy as np
import onnx
from mutant_edits import Edit
from mutant_reach import Reach
from mutants import ROOT, Workplace, drawn, recording

sys.path.insert(0, str(ROOT))

from lamina.debugging.generators import blocks as b  # noqa: E402
from lamina.debugging.generators.draw import Draw, Sizes  # noqa: E402
from lamina.debugging.generators.onnx_graph import CannotDraw, OnnxGraph, Tensor  # noqa: E402
from lamina.debugging.generators.operator_graphs import draw_node, likely  # noqa: E402
from lamina.debugging.subgraph import body_of  # noqa: E402
from lamina.errors import EXIT_INPUT, EXIT_OK, LaminaError  # noqa: E402
from lamina.frontends.onnx import load_onnx  # noqa: E402
from lamina.interpreters.relay_reference import main_function  # noqa: E402

T = TypeVar("T")

OPSET = 18
LEAST_OPS = 100
MOST_LEFT, LONGEST = 8, 120.0
"""The goal: ops of the program that is left, seconds of a reduction."""
SLACK = 60.0
"""Seconds until a command counts as one that hangs, beyond those of the reduction."""


def of_blocks(begin: Callable[[OnnxGraph], Tensor], blocks: Sequence[b.Block]) -> Callable[[OnnxGraph], None]:
    """Return a function that fills a graph with a chain of blocks."""

    def fill(graph: OnnxGraph) -> None:
        x = begin(graph)
        rank = x.rank
        while len(graph.nodes) < LEAST_OPS and x.rank == rank:
            x = graph.draw.choice(blocks)(graph, x)

    return fill


def of_operators(graph: OnnxGraph) -> None:
    """Operators, each as likely as any other."""
    names, weights = likely(graph.opset)
    while len(graph.nodes) < LEAST_OPS:
        draw_node(graph, *graph.draw.random.choices(names, weights)[0])


MODELS: dict[str, tuple[int, Callable[[OnnxGraph], None]]] = {
    "images": (3, of_blocks(b.image, b.IMAGES)),
    "bytes": (2, of_blocks(b.image, b.QUANTISED)),
    "sequences": (3, of_blocks(b.sequence, b.SEQUENCES)),
    "signals": (2, of_blocks(b.signal, b.OF_SEQUENCES)),
    "operators": (8, of_operators),
}
"""The number of models of each kind, and what fills one."""
SEEDS_OF_EACH = 1000
MOST_TRIED = 4
"""Models that are given for one edit."""


@dataclass(frozen=True)
class Model:
    """A model and arrays for its inputs, in files."""

    path: Path
    ops: int

    def command(self, place: Workplace) -> list[str]:
        """`lamina reduce` of it, at one level of optimisation."""
        words = [sys.executable, "-m", "lamina.cli", "reduce", str(self.path), "--quiet", "--opt-level", "3"]
        written = ["-o", str(place.root.with_name(f"{place.root.name}-least.mlir"))]
        return [*words, "--input", str(self.path.with_suffix(".npz")), "--seconds", f"{LONGEST - 10:g}", *written]


def drawn_model(name: str, number: int, folder: Path, reach: Path, place: Workplace) -> Model:
    """The first model of a kind that has so many ops, and in which nothing goes wrong as the checkout is.

    Each number has seeds of its own. What the model reaches is recorded in the folder `reach`, by its file's name.
    """
    seed = number * SEEDS_OF_EACH
    while True:
        graph = OnnxGraph(Draw(seed, Sizes.ODD), OPSET, exact=False)
        seed += 1
        try:
            MODELS[name][1](graph)
            model = graph.model().SerializeToString()
            ops = len(body_of(main_function(load_onnx(model).module)))
        except (CannotDraw, LaminaError):
            continue
        if ops < LEAST_OPS or graph.alone:  # a program that tells what the model is does not know it
            continue
        found = Model(folder / f"{name}{seed - 1}.onnx", ops)
        found.path.write_bytes(model)
        np.savez(found.path.with_suffix(".npz"), **graph.inputs)
        recorded = recording(place.root, reach, found.path.stem)
        status, said = place.run(found.command(place), 3 * LONGEST, more=recorded)
        if status == EXIT_INPUT and "there is no fault" in said:
            return found
        print(f"{found.path.stem}, {ops} ops: {last_line(said)}", flush=True)


def last_line(said: str) -> str:
    """The last line of an output."""
    return (said.strip().splitlines() or [""])[-1][:150]


@dataclass(frozen=True)
class Reduced:
    """The outcome of reducing a model in which an edit showed."""

    edit: Edit
    model: Model
    said: str
    left: int | None
    """Ops; None where it did not come to an end as it should."""
    seconds: float

    def __str__(self) -> str:
        left = "not reduced" if self.left is None else f"{self.left} ops"
        head = f"{self.model.path.stem}, {self.model.ops} ops -> {left} in {self.seconds:.0f} s"
        return f"{head}  {self.edit.name} {self.edit}\n    {self.said}"


def reduced(edit: Edit, models: Sequence[Model], place: Workplace) -> Reduced | None:
    """Make an edit in a copy and reduce the first of the models that shows it; None where none does."""
    path = place.root / edit.file
    text = path.read_text()
    path.write_text(edit.applied(text))
    try:
        for model in models:
            start = time.monotonic()
            status, said = place.run(model.command(place), LONGEST + SLACK)
            if status == EXIT_INPUT:
                continue
            seconds = time.monotonic() - start
            first = said.splitlines()[0][:150] if status == EXIT_OK else last_line(said)
            return Reduced(edit, model, first, ops_left(said) if status == EXIT_OK else None, seconds)
        return None
    finally:
        path.write_text(text)


def ops_left(said: str) -> int:
    """The number of ops that are left as `lamina reduce` says, or of nodes of the model that it has written."""
    counted = re.search(r"\d+ ops -> (\d+) in ", said)
    if counted is not None:
        return int(counted[1])
    written = Path(said.strip().splitlines()[-1])
    return len(onnx.ModelProto.FromString(written.read_bytes()).graph.node)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10, metavar="N", help="edits to reduce (default: 10)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draw (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="edits at a time (default: 2)")
    args = parser.parse_args()
    edits = drawn(1 << 30, args.seed)
    found: list[Reduced] = []
    passed_over = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as name, ThreadPoolExecutor(args.jobs) as pool:
        folder = Path(name)
        places: SimpleQueue[Workplace] = SimpleQueue()
        made = [Workplace(folder / str(n)) for n in range(args.jobs)]
        for place in made:
            places.put(place)

        def in_a_place(work: Callable[..., T], *given: object) -> T:
            place = places.get()
            try:
                return work(*given, place)
            finally:
                places.put(place)

        try:
            slots = [(kind, n) for kind, (count, _) in MODELS.items() for n in range(count)]
            drawing = [pool.submit(in_a_place, drawn_model, *s, folder, folder / "reach") for s in slots]
            models = {m.path.stem: m for m in (future.result() for future in drawing)}
            reach = Reach.gathered(folder / "reach")
            shown = [(e, [models[t] for t in reach.of(e.file, e.function) if t in models]) for e in edits]
            shown = [(edit, by[:MOST_TRIED]) for edit, by in shown if by]
            print(f"{len(models)} models; they reach {len(shown)} of {len(edits)} edits", flush=True)
            for at in range(0, len(shown), args.jobs):
                if len(found) >= args.count:
                    break
                some = [pool.submit(in_a_place, reduced, edit, by) for edit, by in shown[at : at + args.jobs]]
                for one in (future.result() for future in some):
                    passed_over += one is None
                    if one is not None:
                        found.append(one)
                        print(one, flush=True)
        finally:
            for place in made:
                place.stop()
            pool.shutdown()
            for place in made:
                place.close()
    found = found[: args.count]
    good = sum(r.left is not None and r.left <= MOST_LEFT and r.seconds <= LONGEST for r in found)
    print(f"{len(found)} edits, {passed_over} that no model shows")
    print(f"{good} have at most {MOST_LEFT} ops after at most {LONGEST:g} s")
    sys.exit(good < len(found))


if __name__ == "__main__":
    main()
