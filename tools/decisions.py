"""Decisions of the compiler on networks and blocks of all kinds: the schedule and the code of each kernel, in a line.

    python -m tools.decisions            show what differs from the files of test/unit/inputs/decisions; exit status 1
    python -m tools.decisions --write    keep what is decided now

A condition, a cost or a rule that is changed by mistake mostly leaves results right and makes them slow: no test of
numbers sees it. One that is changed on purpose shows here which kernels it changes; `lamina compile --emit` has their
texts.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import onnx.backend.test

from lamina.debugging.generators.draw import Sizes
from lamina.debugging.generators.drawn import Generator, drawn, plan_of
from lamina.driver.api import texts
from lamina.driver.settings import Settings

FOLDER = Path(__file__).resolve().parents[1] / "test" / "unit" / "inputs" / "decisions"
LIGHT = Path(onnx.backend.test.__file__).parent / "data" / "light"
"""The light models of the onnx package. Their code would take a minute, their schedules take seconds."""
SEEDS = range(1000, 1400)
"""Seeds of the fuzzer, of which the blocks of real models with sizes of real models are taken, down to their code."""
MOST_KINDS = 4
"""Kinds of ops that a line counts."""


class Machine(NamedTuple):
    """A target and its threads."""

    target: str
    threads: int

    @property
    def file(self) -> Path:
        """The file of its decisions."""
        return FOLDER / f"{self.target}.txt"


MACHINES = (Machine("x86-64-v3", 1), Machine("x86-64-v4", 2))
"""Machines that differ in their vectors, registers and threads. The one that this runs on does not matter."""
_SYMBOL = re.compile(
    r"^  (te\.func|te\.schedule|func\.func|llvm\.func)\b[^@\n]* @([^( ]+).*?^  \}$", re.MULTILINE | re.DOTALL
)
_OP = re.compile(r"^ {4,}(?:%[^=\n]* = )?[a-z]+\.([a-z_.]+)", re.MULTILINE)


def networks(machine: Machine) -> Iterator[str]:
    """A paragraph for each network: how it is split into kernels, and the schedule of each."""
    for path in sorted(LIGHT.glob("*.onnx")):
        yield _paragraph(path.stem, str(path), machine, "te")


def blocks(machine: Machine) -> Iterator[str]:
    """A paragraph for each block: its kernels, their schedules and their code."""
    for seed in SEEDS:
        plan = plan_of(seed)
        if plan.kind == Generator.BLOCKS and plan.sizes == Sizes.REAL:
            yield _paragraph(f"seed {seed}", drawn(seed).source, machine, "te", "llvm")


def decisions(machine: Machine) -> str:
    """The text of a machine's file."""
    return "\n".join([*networks(machine), *blocks(machine)])


def difference(machine: Machine) -> list[str]:
    """The lines by which the file of a machine and what is decided now differ."""
    kept = machine.file.read_text("utf-8").splitlines() if machine.file.exists() else []
    lines = difflib.unified_diff(kept, decisions(machine).splitlines(), "kept", "now", lineterm="", n=0)
    return [line for line in lines if not line.startswith("@@")]


def _paragraph(title: str, source: str | bytes, machine: Machine, *levels: str) -> str:
    made = texts(source, Settings.of(machine.target, machine.threads, 3))
    lines = [f"{title}:"]
    for level in levels:
        lines += [f"  {_line(match[0], match[1], match[2])}" for match in _SYMBOL.finditer(made.get(level))]
    return "\n".join(lines) + "\n"


def _line(text: str, kind: str, name: str) -> str:
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    ops = Counter(_OP.findall(text))
    most = sorted(ops.items(), key=lambda item: (-item[1], item[0]))[:MOST_KINDS]
    return f"{digest} {kind} {name}: {', '.join(f'{n} {op}' for op, n in most)} of {ops.total()}"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep what is decided now")
    if parser.parse_args().write:
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
