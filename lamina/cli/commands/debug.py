"""`lamina debug compare` and `lamina debug bisect`: the step that makes a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.command_programs import how_of, program_of, program_text, tell_progress
from lamina.cli.options import add_program
from lamina.errors import EXIT_INPUT, EXIT_OK, LaminaError

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    parser.add_argument("what", choices=("compare", "bisect"), help="what is to be done with the program")
    add_program(parser)
    parser.add_argument("--checked", action="store_true", help="interpret every step, whatever the size")
    parser.add_argument("--compiled", action="store_true", help="last of all as `lamina.compile` makes the program")
    parser.add_argument("--from", dest="start", metavar="STEP", help="look at no step before this pass or primitive")


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """Find the step that makes a fault; status 1 where there is one."""
    return _bisect(args, out, err) if args.what == "bisect" else _compare(args, out, err)


def _compare(args: Any, out: TextIO, err: TextIO) -> int:
    """Compare a program level by level; status 1 where a step differs."""
    from lamina.cli.command_models import arrays_of
    from lamina.debugging.compare import compare_levels
    from lamina.ir.diagnostics import location_text
    from lamina.ir.pipeline import parse_pipeline
    from lamina.ir.targets import target_of

    sizes, text, ctx = program_text(args)
    passes = None if args.pipeline is None else parse_pipeline(args.pipeline, args.registry)

    def tell(line: str) -> None:
        if not args.quiet:
            out.write(f"{line}\n")
            out.flush()

    try:
        found = compare_levels(
            text,
            args.file,
            pipeline=passes,
            target=None if args.target is None else target_of(args.target, 1),
            sizes=sizes,
            inputs=arrays_of(args.input),
            seed=args.seed,
            tell=tell,
            ctx=ctx,
            checked=True if args.checked else None,
            start=args.start or "",
            load=args.load,
            progress=lambda line: print(line, file=err),
            compiled=how_of(args) if args.compiled else None,
        )
    except LaminaError as e:
        e.where = e.where or (location_text(e.op) if e.op is not None else "") or args.file
        raise
    out.write(f"{found}\n")
    return EXIT_OK if found.difference is None else EXIT_INPUT


def _bisect(args: Any, out: TextIO, err: TextIO) -> int:
    """Name the pass, the rule or primitive, and the firing or op, that make a fault; status 1 where there is one."""
    from lamina.debugging.finding import guilty

    found = guilty(program_of(args), how_of(args), args.limit, lambda line: tell_progress(args, err, line))
    if found is None:
        out.write("there is no fault\n")
        return EXIT_OK
    out.write(f"{found.verdict.outcome.kind}: {found.verdict.outcome.said}\n{found}\n")
    return EXIT_INPUT
