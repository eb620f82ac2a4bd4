"""`lamina check`: the operators of a model that are not supported, and the sizes that one program of it is for."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.options import add_model
from lamina.errors import EXIT_OK, EXIT_UNSUPPORTED, InputError, UnsupportedError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    add_model(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """All unsupported operators at once; where there are none, what becomes of extents that are open."""
    from dataclasses import asdict

    from lamina.ir.foreign_files import model_format, refuse_foreign
    from lamina.ir.suffixes import is_text, refuse_saved

    refuse_saved(args.model)
    if is_text(args.model):
        from lamina.driver.text_report import report_of_text

        report = report_of_text(args.model)
        if report is None:
            raise UsageError("check is about the operators of models", hint=f"`opt-tool {args.model}` checks a text")
    else:
        refuse_foreign(args.model)
        report = model_format(args.model).check(args.model)
    if args.json:
        unsupported = [{**asdict(u), "name": u.full_name} for u in report.unsupported]
        found = {"model": report.label, "nodes": report.nodes, "supported": report.supported}
        out.write(json.dumps({**found, "unsupported": unsupported, "ok": report.ok}, indent=2) + "\n")
    else:
        out.write(f"{report}\n")
        if report.ok and report.open_extents:
            out.write(f"open extents {', '.join(report.open_extents)}: {_sizes(args.model)}\n")
    return EXIT_OK if report.ok else EXIT_UNSUPPORTED


def _sizes(path: str | os.PathLike[str]) -> str:
    """The sizes that one program of a model is for, or the reason why there is none."""
    from dataclasses import replace

    from lamina.dialects.index.symbol_forms import extent_text
    from lamina.dialects.index.symbol_ranges import values_text
    from lamina.dialects.relay.symbolic import module_symbols
    from lamina.driver.model import Origin
    from lamina.ir.foreign_files import model_format

    try:
        module = replace(Origin.of(path, None), any_size=True).read().module
    except (InputError, UnsupportedError) as e:
        by_shape = model_format(path).read_any_size is not None
        return f"{'a program for each shape that it meets' if by_shape else 'no program without their sizes'}; {e}"
    symbols = module_symbols(module)
    known = [values_text(n, r) for n, r in symbols.known.items()] if symbols is not None else []
    conditions = [f"{extent_text(c)} >= 0" for c in symbols.conditions] if symbols is not None else []
    return f"one program for {', '.join([*known, *conditions])}"
