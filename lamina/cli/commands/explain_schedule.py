"""`lamina explain-schedule`: the choices of schedules, and why they are as they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.command_models import context_of, model_loaded, timed_candidates
from lamina.cli.options import add_choices, add_choosing, add_inputs, add_model, add_rounds
from lamina.errors import EXIT_OK

if TYPE_CHECKING:
    from argparse import ArgumentParser


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    add_model(parser)
    add_choices(add_choosing(parser))
    parser.add_argument("--node", metavar="NAME", help="only choices for this node of the model")
    parser.add_argument("--measure", action="store_true", help="time each candidate inside the model as well")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    add_inputs(parser)
    add_rounds(parser)


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """Print the candidates of each choice, what a kernel is expected to take with each, or takes, and why one won."""
    from lamina.backends.cpu.figures import figures_of
    from lamina.driver import api
    from lamina.ir.suffixes import refuse_saved
    from lamina.ir.targets import target_of
    from lamina.tuning.explanation import of_node, plain, text

    refuse_saved(args.model)
    model = model_loaded(args)
    questions = api.questions(model, args.target, args.threads, context_of(args), choices=args.choices)
    if args.node is not None:
        questions = of_node(questions, args.node)
    timed = timed_candidates(args, model, err).rows if args.measure else []
    # Expected is what one kernel takes, timed are all that ask the same.
    rows = {row.question.name: [s / row.kernels for s in row.seconds] for row in timed if row.kernels}
    gigahertz = figures_of(target_of(args.target, args.threads)).gigahertz
    found = [plain(q, gigahertz, rows.get(q.name, ())) for q in questions]
    shown = "\n\n".join(map(text, found)) or "nothing in this model leaves a choice"
    out.write((json.dumps(found, indent=2) if args.json else shown) + "\n")
    return EXIT_OK
