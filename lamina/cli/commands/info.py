"""`lamina info`: versions, the machine and its figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TextIO

from lamina.errors import EXIT_OK

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument("--include", action="store_true", help="print the folder of lamina.h alone: cc -I $(...)")


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """Print what is installed, the machine, its figures and where they come from."""
    from dataclasses import asdict
    from importlib.metadata import version

    from lamina.backends.cpu.cache_directory import default_directory
    from lamina.backends.cpu.figures import Figures, shipped
    from lamina.backends.cpu.jit import host_spec, llvm_version
    from lamina.backends.cpu.machines import measured_file
    from lamina.runtime.headers import INCLUDE

    if args.include:
        out.write(f"{INCLUDE}\n")
        return EXIT_OK
    machine = host_spec()
    name, figures = shipped(machine)
    origin = "shipped" if name == machine.cpu else f"shipped, those of {name}; `lamina calibrate` measures its own"
    if machine.figures:
        origin, figures = f"measured: {measured_file(machine)}", Figures.of_text(machine.figures)
    vectors = [f[1:] for f in machine.feature_list() if f.startswith(("+avx", "+fma", "+amx", "+sse4", "+neon"))]
    facts: dict[str, Any] = {
        "lamina": version("lamina"),
        "xdsl": version("xdsl"),
        "llvm": llvm_version(),
        "machine": f"{machine.triple} {machine.cpu}",
        "vectors": f"{machine.registers} registers of {machine.vector_bits} bits; {' '.join(vectors)}",
        "threads": machine.threads,
        "cache": str(default_directory()),
        "include": str(INCLUDE),
        "figures": origin,
    }
    if args.json:
        out.write(json.dumps({**facts, "values": asdict(figures)}, indent=2) + "\n")
        return EXIT_OK
    for what, fact in facts.items():
        out.write(f"{what:<10}{fact}\n")
    for figure, value in asdict(figures).items():
        out.write(f"  {figure:<22}{value:>14,.4g}\n")
    return EXIT_OK
