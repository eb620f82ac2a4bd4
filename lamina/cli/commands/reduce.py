"""`lamina reduce`: a small program with the fault of a large one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.command_programs import how_of, program_of, tell_progress
from lamina.cli.options import add_program
from lamina.cli.shell import path_argument
from lamina.errors import EXIT_OK, InternalError, LaminaError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from lamina.debugging.verdict import How


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    add_program(parser, "; or a folder that `lamina fuzz` has left")
    parser.add_argument("--seconds", type=float, default=120, metavar="S", help="time for it all (default: 120)")
    parser.add_argument(
        "-o", "--output", type=path_argument, metavar="TEST.mlir", help="default: a file among the reproducers"
    )


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """Shrink a program while its fault stays, and write a test of the guilty step."""
    from lamina.debugging.finding import NoFault, find

    def tell(line: str) -> None:
        tell_progress(args, err, line)

    if Path(args.file).is_dir():
        return _reduce_case(args, out, tell)
    is_model = args.file.endswith(".onnx") and args.pipeline is None
    try:
        program = program_of(args)
    except Exception as e:
        if not is_model or isinstance(e, LaminaError) and not isinstance(e, InternalError):
            raise
        return _reduce_import(args, out, tell)
    try:
        found = find(program, how_of(args), args.seconds, args.limit, tell, _other_ways(args))
    except NoFault:
        if not is_model:
            raise
        tell("what is imported is compiled rightly; is it what the model says?")
        return _reduce_import(args, out, tell)
    out.write(f"{found}\n{found.write(args.output)}\n")
    return EXIT_OK


def _reduce_case(args: Any, out: TextIO, tell: Callable[[str], object]) -> int:
    """Shrink the program of a case that `lamina fuzz` has left in a folder, on its inputs, in the way that differed."""
    from lamina.debugging.reduce_case import reduce_case

    for name in ("input", "shape", "size", "seed"):
        if name in args.given:
            raise UsageError(f"--{name} is for programs", where=args.file, hint="a case has the inputs that it has")
    how = how_of(args)
    own = None if {"pipeline", "target", "opt_level", "threads"}.isdisjoint(args.given) else how
    others = _other_ways(args)
    said, path = reduce_case(args.file, args.seconds, args.limit, tell, how.load, args.output, own, others)
    out.write(f"{said}\n{path}\n")
    return EXIT_OK


def _reduce_import(args: Any, out: TextIO, tell: Callable[[str], None]) -> int:
    """Shrink a model of which the importer makes something else than onnxruntime; a folder with a case of it."""
    from lamina.cli.command_models import arrays_of
    from lamina.debugging.onnx_graph import least_model, text_of

    time = args.seconds, args.limit
    found, fault = least_model(args.file, arrays_of(args.input), args.seed, *time, args.load, tell)
    folder = Path(args.output).with_suffix("") if args.output else None
    out.write(f"{fault.outcome.kind}: {fault.outcome.said} (the importer)\n{text_of(found.model).rstrip()}\n")
    out.write(f"{found.write(folder, fault)}\n")
    return EXIT_OK


def _other_ways(args: Any) -> list[How]:
    """The ways to compile in which a fault may show as well, where none was asked for."""
    from lamina.backends.cpu.processors import available_threads
    from lamina.debugging.verdict import How

    if args.pipeline is not None or {"target", "opt_level", "threads"}.intersection(args.given):
        return []
    load = how_of(args).load
    ways = [How(copies=True), How(threads=max(available_threads(), 2)), How(opt_level=0), How(sanitize=True)]
    return [replace(way, load=load) for way in (*ways, How(target="x86-64-v3"), How(target="x86-64-v2"))]
