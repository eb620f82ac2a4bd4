"""The commands about the machine: `lamina calibrate` and `lamina info`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

from lamina.errors import EXIT_OK, InputError


def calibrate(args: Any, out: TextIO, err: TextIO) -> int:
    """Measure the figures of this machine, print them beside the shipped ones, and keep them."""
    from dataclasses import asdict

    from lamina.backends.cpu.figures import shipped
    from lamina.backends.cpu.machines import figures_file, host_without_figures
    from lamina.backends.cpu.processors import available_threads
    from lamina.roofline.calibration import calibrate as measure
    from lamina.store.text_file import check_place, write_text

    machine = host_without_figures().with_threads(available_threads())
    path = Path(args.output) if args.output else figures_file(machine)
    if not args.output:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise InputError(f"cannot write: {e.strerror}", where=str(path.parent)) from None
    check_place(path)
    measured = measure(machine.attr(), lambda what: err.write(f"measuring {what}\n"))
    name, known = shipped(machine)
    out.write(
        f"{machine.cpu}, {machine.vector_bits} bits, {machine.threads} threads; beside it what is shipped: {name}\n"
    )
    for (figure, value), before in zip(asdict(measured).items(), asdict(known).values(), strict=True):
        out.write(f"  {figure:<22}{value:>14,.4g}{before:>14,.4g}\n")
    write_text(path, measured.text() + "\n")
    out.write(f"{path}\n")
    return EXIT_OK


def info(args: Any, out: TextIO, err: TextIO) -> int:
    """Print what is installed, the machine, its figures and where they come from."""
    from dataclasses import asdict
    from importlib.metadata import version

    from lamina.backends.cpu.cache_directory import default_directory
    from lamina.backends.cpu.figures import Figures, shipped
    from lamina.backends.cpu.jit import host_spec, llvm_version
    from lamina.backends.cpu.machines import measured_file

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
