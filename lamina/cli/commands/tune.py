"""`lamina tune`: faster schedules, found by measurement: records of a search, or the faster of a few candidates."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.command_models import context_of, given_inputs, model_loaded, timed_candidates
from lamina.cli.options import add_choosing, add_inputs, add_model, add_rounds
from lamina.cli.progress import LiveLine
from lamina.cli.shell import path_argument
from lamina.cli.tvmc_options import TUNE, add_refused
from lamina.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from lamina.dialects.schedule.records import Record
    from lamina.tuning.progress import Progress

RECORDS = ".jsonl"
"""The ending of a file of records."""
MINUTES = 5.0


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    add_model(parser)
    add_choosing(parser)
    add_inputs(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=path_argument,
        required=True,
        metavar="FILE.jsonl|FILE.json",
        help="search for schedules of each kernel and add their records to a file; or choose among the few candidates "
        "of each question, and write the choice file",
    )
    add_rounds(parser)
    search = parser.add_argument_group("search")
    search.add_argument("--minutes", type=float, metavar="M", help=f"of the search (default: {MINUTES:g})")
    search.add_argument("--trials", type=int, metavar="N", help="of the search: so many candidates at most")
    search.add_argument(
        "--early-stopping",
        type=int,
        metavar="N",
        help="leave a kernel after so many candidates in a row without a gain",
    )
    search.add_argument("--seed", type=int, default=0, metavar="N", help="of what is drawn (default: 0)")
    search.add_argument(
        "--tuner",
        metavar="NAME",
        help="model (learns which draws are worth a measurement; the default), genetic, random, grid; or tvmc's names",
    )
    add_refused(parser, TUNE)


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """Search, or choose among candidates inside the model."""
    from lamina.ir.suffixes import refuse_saved
    from lamina.store.text_file import check_place

    refuse_saved(args.model)
    check_place(args.output)
    if str(args.output).endswith(RECORDS):
        return _search(args, out, err)
    for option in ("minutes", "trials", "early_stopping", "seed", "tuner"):
        if option in args.given:
            raise UsageError(
                f"--{option.replace('_', '-')} is for a search, whose records go to a file that ends with {RECORDS}"
            )
    from lamina.ir.targets import target_of
    from lamina.store.choice_file import write_choices

    found = timed_candidates(args, model_loaded(args), err)
    write_choices(args.output, found.answers, target_of(args.target, args.threads))
    out.write(f"{found}\n{args.output}\n")
    return EXIT_OK


def _search(args: Any, out: TextIO, err: TextIO) -> int:
    """Search for schedules of each kernel; a line to stderr for each gain."""
    from lamina.tuning.kernel_search import Budget
    from lamina.tuning.model_search import tune_model
    from lamina.tuning.tuners import DEFAULT

    if "rounds" in args.given:
        raise UsageError("--rounds is for choice files; a search measures as often as it needs")

    model = model_loaded(args)
    bounds = {name: given for name in ("trials", "early_stopping") if (given := getattr(args, name)) is not None}
    for name, given in bounds.items():
        if given < 1:
            raise UsageError(f"--{name.replace('_', '-')} is at least 1, not {given}")
    budget = Budget(60 * (MINUTES if args.minutes is None else args.minutes), **bounds)
    inputs = given_inputs(args, model, err)
    teller = Teller(err, budget.seconds)
    how = args.target, args.threads, context_of(args), inputs, args.seed, teller
    found = tune_model(model, args.output, budget, *how, tuner=args.tuner or DEFAULT)
    teller.live.clear()
    out.write(f"{found}\n{args.output}\n")
    return EXIT_OK


class Teller:
    """Tells of each gain in a line, and on a terminal how far the search is."""

    def __init__(self, err: TextIO, seconds: float) -> None:
        self.err, self.live, self.seconds = err, LiveLine(err), seconds
        self.start = monotonic()
        self.saved: dict[str, float] = {}
        """Of each kernel that has gained, the share of an inference that is saved."""
        self.tried = 0

    def __call__(self, kernel: Progress, record: Record) -> None:
        self.tried += 1
        if record is kernel.best and record.ratio is not None:
            median, low, high = record.ratio
            self.saved[kernel.task.key] = kernel.task.share * (1 - median)
            self.live.clear()
            self.err.write(f"{kernel.task.names[0]}: {median:.3f} [{low:.3f}..{high:.3f}] after {kernel.tried}\n")
            self.err.flush()
        self.live.show(self._said)

    def _said(self) -> str:
        took = monotonic() - self.start
        left = max(round(self.seconds - took), 0)
        pace, whole = 60 * self.tried / max(took, 1e-9), 1 - sum(self.saved.values())
        return (
            f"{self.tried} candidates, {pace:.0f} a minute; {len(self.saved)} kernels faster, the model at {whole:.3f} "
            f"of its time; {left // 60}:{left % 60:02d} left"
        )
