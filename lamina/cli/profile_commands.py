"""Output of `lamina profile` and `lamina bench --roofline`: tables on a stream, and files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.command_models import compiled, given_inputs
from lamina.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lamina.driver.api import Executable
    from lamina.roofline.table import Roofline

ROOFLINE_REPEATS = 20


def profile(args: Any, out: TextIO, err: TextIO) -> int:
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


def roofline(exe: Executable, inputs: Mapping[str, Any], name: str, repeats: int | None) -> Roofline:
    """Measure the machine's limits for the program's threads, and its kernels."""
    from lamina.roofline.roofs import measured
    from lamina.roofline.table import Roofline

    roofs = measured(exe.target)
    recording = exe.record(inputs, repeats or ROOFLINE_REPEATS)
    return Roofline.of(recording, roofs, Path(name).name, exe.target.cpu.data)
