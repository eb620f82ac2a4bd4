"""`lamina tune`: the faster of the candidates of each choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.command_models import model_loaded, timed_candidates
from lamina.cli.options import add_choosing, add_inputs, add_model, add_rounds
from lamina.cli.shell import path_argument
from lamina.errors import EXIT_OK

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    add_model(parser)
    add_choosing(parser)
    add_inputs(parser)
    parser.add_argument(
        "-o", "--output", type=path_argument, required=True, metavar="FILE.json", help="the choice file to write"
    )
    add_rounds(parser)


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """Choose among candidates inside the model, and write the choice file."""
    from lamina.ir.suffixes import refuse_saved
    from lamina.ir.targets import target_of
    from lamina.store.choice_file import write_choices
    from lamina.store.text_file import check_place

    refuse_saved(args.model)
    check_place(args.output)
    found = timed_candidates(args, model_loaded(args), err)
    write_choices(args.output, found.answers, target_of(args.target, args.threads))
    out.write(f"{found}\n{args.output}\n")
    return EXIT_OK
