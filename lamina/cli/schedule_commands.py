"""The commands about schedules: `lamina tune` and `lamina explain-schedule`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.command_models import context_of, given_inputs, model_of
from lamina.errors import EXIT_OK

if TYPE_CHECKING:
    from lamina.driver.api import Model
    from lamina.tuning.in_situ import Tuned


def tune(args: Any, out: TextIO, err: TextIO) -> int:
    """Choose among candidates inside the model, and write the choice file."""
    from lamina.ir.suffixes import refuse_saved
    from lamina.ir.targets import target_of
    from lamina.store.choice_file import write_choices
    from lamina.store.text_file import check_place

    refuse_saved(args.model)
    check_place(args.output)
    found = _timed(args, _loaded(args), err)
    write_choices(args.output, found.answers, target_of(args.target, args.threads))
    out.write(f"{found}\n{args.output}\n")
    return EXIT_OK


def explain_schedule(args: Any, out: TextIO, err: TextIO) -> int:
    """Print the candidates of each choice, what a kernel is expected to take with each, or takes, and why one won."""
    from lamina.backends.cpu.figures import figures_of
    from lamina.driver import api
    from lamina.ir.suffixes import refuse_saved
    from lamina.ir.targets import target_of
    from lamina.tuning.explanation import of_node, plain, text

    refuse_saved(args.model)
    model = _loaded(args)
    questions = api.questions(model, args.target, args.threads, context_of(args), choices=args.choices)
    if args.node is not None:
        questions = of_node(questions, args.node)
    timed = _timed(args, model, err).rows if args.measure else []
    # Expected is what one kernel takes, timed are all that ask the same.
    rows = {row.question.name: [s / row.kernels for s in row.seconds] for row in timed if row.kernels}
    gigahertz = figures_of(target_of(args.target, args.threads)).gigahertz
    found = [plain(q, gigahertz, rows.get(q.name, ())) for q in questions]
    shown = "\n\n".join(map(text, found)) or "nothing in this model leaves a choice"
    out.write((json.dumps(found, indent=2) if args.json else shown) + "\n")
    return EXIT_OK


def _loaded(args: Any) -> Model:
    from lamina.driver.api import load

    model, shapes = model_of(args)
    return load(model, shapes) if isinstance(model, str) else model


def _timed(args: Any, model: Model, err: TextIO) -> Tuned:
    """The candidates of a model, timed in it."""
    from lamina.cli.progress import StageProgress
    from lamina.tuning.in_situ import choose_in_situ

    inputs = given_inputs(args, model, err)
    with StageProgress(err) as progress:
        how = args.threads, context_of(args), inputs, args.rounds, progress, not args.no_cache
        found = choose_in_situ(model, args.target, None, *how)
    if args.time:
        err.write(progress.table() + "\n")
    return found
