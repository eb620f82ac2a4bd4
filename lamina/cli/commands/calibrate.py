"""`lamina calibrate`: the figures of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.shell import path_argument
from lamina.errors import EXIT_OK, InputError

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    parser.add_argument(
        "-o", "--output", type=path_argument, metavar="FILE", help="write them there, for LAMINA_FIGURES=FILE"
    )


def run(args: Any, out: TextIO, err: TextIO) -> int:
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
