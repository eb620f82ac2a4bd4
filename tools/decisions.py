"""Decisions of the compiler on networks and random programs: the schedules and the code of each, in a line.

    python -m tools.decisions                       show what differs from what is kept in test/unit/inputs/decisions
    python -m tools.decisions --write               keep what is decided now
    python -m tools.decisions --show 'seed 1004'    print the schedules of one, to compare them with another commit's

A condition, a cost or a rule that is changed by mistake mostly leaves results right and makes them slow: no test of
numbers sees it. One that is changed on purpose shows here which programs it changes. Exit status 1 where some differ.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import onnx.backend.test

from lamina.debugging.generators.draw import Sizes
from lamina.debugging.generators.drawn import Generator, drawn, plan_of
from lamina.driver.api import texts
from lamina.driver.settings import Settings
from lamina.driver.stage_texts import StageTexts
from lamina.errors import UnsupportedError

FOLDER = Path(__file__).resolve().parents[1] / "test" / "unit" / "inputs" / "decisions"
LIGHT = Path(onnx.backend.test.__file__).parent / "data" / "light"
"""The light models of the onnx package. Their code would take a minute, their schedules take seconds."""
SEEDS = range(1000, 1160)
"""Seeds of the fuzzer: operators, chains of layouts, blocks of real models, in sizes of all kinds."""
MOST_KINDS = 5
"""Kinds of ops that a line counts."""


class DecidedMachine(NamedTuple):
    """A target and its threads."""

    target: str
    threads: int

    @property
    def file(self) -> Path:
        """The file of its decisions."""
        return FOLDER / f"{self.target}.txt"


MACHINES = (DecidedMachine("x86-64-v3", 1), DecidedMachine("x86-64-v4", 2))
"""Machines that differ in their vectors, registers and threads. The one that this runs on does not matter."""
EVERY = slice(None)
_KERNEL = re.compile(r"^  te\.func ", re.MULTILINE)
_NAME = re.compile(r"%[A-Za-z_][A-Za-z0-9_]*|%[0-9]+")
_OP = re.compile(r"^ {4,}(?:%[^=\n]* = )?(?:te|llvm)\.([a-z_.]+)", re.MULTILINE)


class DecidedCase(NamedTuple):
    """A program, and the levels whose texts are kept of it."""

    title: str
    source: str | bytes
    levels: tuple[str, ...]
    shapes: Mapping[str, str] | None = None
    """Ranges of the sizes that it is for."""

    def texts(self, machine: DecidedMachine) -> StageTexts:
        """The texts of all levels."""
        return texts(self.source, Settings.of(machine.target, machine.threads, 3), self.shapes)

    def line(self, machine: DecidedMachine) -> str:
        """The line that is kept."""
        made = self.texts(machine)
        try:
            return "; ".join([self.title, *(f"{level} {_in_short(made.get(level))}" for level in self.levels)])
        except UnsupportedError:  # shapes that only the run tells
            return f"{self.title}; relay {_in_short(made.get('relay'))}"


def cases() -> Iterator[DecidedCase]:
    """All programs: networks to their schedules, blocks of real sizes to their code, others to their schedules."""
    for path in sorted(LIGHT.glob("*.onnx")):
        yield DecidedCase(path.stem, str(path), ("te",))
    for seed in SEEDS:
        plan = plan_of(seed)
        is_real_block = plan.kind == Generator.BLOCKS and plan.sizes == Sizes.REAL
        if plan.kind != Generator.MODULES:
            case = drawn(seed)
            levels = ("te", "llvm") if is_real_block else ("te",)
            yield DecidedCase(f"seed {seed}", case.source, levels, case.ranges or None)


def decisions(machine: DecidedMachine, of: slice = EVERY) -> str:
    """The text of a machine's file, or of some of its lines."""
    return "".join(case.line(machine) + "\n" for case in list(cases())[of])


def difference(machine: DecidedMachine, of: slice = EVERY) -> list[str]:
    """The lines by which the file of a machine, or some of its lines, and what is decided now differ."""
    kept = machine.file.read_text("utf-8").splitlines()[of] if machine.file.exists() else []
    lines = difflib.unified_diff(kept, decisions(machine, of).splitlines(), "kept", "now", lineterm="", n=0)
    return [line for line in lines if not line.startswith("@@")]


def _in_short(text: str) -> str:
    ops = Counter(_OP.findall(text))
    most = sorted(ops.items(), key=lambda item: (-item[1], item[0]))[:MOST_KINDS]
    counted = [f"{len(_KERNEL.findall(text))} kernels"] if _KERNEL.search(text) else []
    numbers: dict[str, int] = {}
    plain = _NAME.sub(lambda m: f"%{numbers.setdefault(m[0], len(numbers))}", text)  # names decide nothing
    digest = hashlib.sha256(plain.encode()).hexdigest()[:12]
    return ", ".join([digest, *counted, *(f"{n} {op}" for op, n in most)])


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep what is decided now")
    parser.add_argument("--show", metavar="TITLE", help="print the texts of one program for each machine")
    args = parser.parse_args()
    if args.show:
        found = [case for case in cases() if case.title == args.show]
        for case in found:
            for machine in MACHINES:
                print(f"// {case.title} for {machine.target}", case.texts(machine).get(case.levels[-1]), sep="\n")
        return not found
    if args.write:
        FOLDER.mkdir(exist_ok=True)
        for machine in MACHINES:
            machine.file.write_text(decisions(machine), "utf-8")
        return 0
    lines = [line for machine in MACHINES for line in difference(machine)]
    for line in lines:
        print(line)
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
