"""`lamina profile`: the time of each kernel."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.command_models import compiled, given_inputs
from lamina.cli.options import add_compilation, add_inputs, add_model_or_program
from lamina.cli.shell import path_argument
from lamina.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    add_model_or_program(parser)
    add_compilation(parser)
    add_inputs(parser)
    parser.add_argument("--repeats", type=int, default=20, metavar="N", help="runs (default: 20)")
    parser.add_argument("--limit", type=int, metavar="N", help="print so many kernels, the slowest")
    parser.add_argument(
        "--trace", type=path_argument, metavar="FILE.json", help="write the last runs for ui.perfetto.dev"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """The time of each kernel in real runs, and a trace where one is asked for."""
    if args.repeats < 1:
        raise UsageError("--repeats must be positive")
    if args.limit is not None and args.limit < 1:
        raise UsageError("--limit must be positive")
    exe = compiled(args, err)
    recording = replace(exe.record(given_inputs(args, exe, err), args.repeats), name=Path(args.model).name)
    if args.trace is not None:
        recording.save(args.trace)
    table = recording.profile()
    if args.json:
        rows = [
            {
                "nodes": r.nodes, "kernel": r.kernel.symbol, "shapes": r.kernel.shapes, "seconds": r.seconds,
                "share": r.share, "operations": r.kernel.operations,
            }
            for r in table
        ]  # fmt: skip
        found = {"model": str(args.model), "threads": exe.threads, "runs": args.repeats, "kernels": rows}
        out.write(json.dumps(found, indent=2) + "\n")
        return EXIT_OK
    out.write(f"{table.table(args.limit)}\n")
    if args.trace is not None:
        out.write(f"{args.trace}: open it in https://ui.perfetto.dev or chrome://tracing\n")
    return EXIT_OK
