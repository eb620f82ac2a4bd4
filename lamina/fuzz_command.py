"""The command `lamina fuzz`: random programs, run in several ways that must agree."""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from lamina.errors import EXIT_INPUT, EXIT_OK, UsageError

if TYPE_CHECKING:
    from lamina.debugging.campaign import Tally
    from lamina.debugging.fuzz_case import Report
    from lamina.debugging.outcome import Outcome


def add_arguments(parser: Any) -> None:
    """The options of `lamina fuzz`."""
    parser.add_argument("--minutes", type=float, metavar="M", help="run for so long (default: 1, without --graphs)")
    parser.add_argument("--graphs", type=int, metavar="N", help="run so many programs")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes at a time (default: 2)")
    parser.add_argument("--kind", action="append", default=[], metavar="KIND", help="only programs of this generator")
    parser.add_argument("--sizes", action="append", default=[], metavar="SIZES", help="only tiny, odd or real sizes")
    parser.add_argument("--operator", action="append", default=[], metavar="NAME", help="only graphs with it")
    parser.add_argument("--seed", type=int, metavar="SEED", help="the first seed (default: a fresh one, printed)")
    parser.add_argument("--first", action="store_true", help="end with the first fault")
    parser.add_argument("--replay", type=int, metavar="SEED", help="make and run the program of one seed again")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="the longest for one (default: 60)")
    parser.add_argument("-o", "--output", default="build/fuzz", metavar="FOLDER", help="for failing programs")
    parser.add_argument("--json", metavar="FILE", help="write the table as JSON as well")


def fuzz(args: Any, out: TextIO, err: TextIO) -> int:
    """Run a campaign, or one seed again. Status 1 when a fault was found."""
    from lamina.debugging.campaign import (
        Settings,
        as_json,
        known_operators,
        operators_named,
        optimising_passes,
        run_campaign,
        table,
    )
    from lamina.debugging.generators.draw import Sizes
    from lamina.debugging.generators.drawn import Generator

    for given, known in ((args.kind, Generator), (args.sizes, Sizes)):
        for name in given:
            if name not in list(known):
                raise UsageError(f"{name!r} is none of {', '.join(known)}")
    named = {name: operators_named(name) for name in args.operator}
    for name, found in named.items():
        if not found:
            raise UsageError(f"no operator {name!r} is drawn", hint="a campaign's table has their names")
    for name in ("minutes", "graphs", "jobs", "seconds"):
        number = getattr(args, name)
        if number is not None and number <= 0:
            raise UsageError(f"--{name} is a positive number, not {number:g}")
    if args.replay is not None:
        return _replay(args, out)
    minutes = args.minutes if args.minutes is not None or args.graphs is not None else 1.0
    first = args.seed if args.seed is not None else secrets.randbelow(10**9) * 1000
    operators = frozenset(n for found in named.values() for n in found)
    settings = Settings(first, args.graphs, minutes, args.jobs, tuple(args.kind), tuple(args.sizes), operators,
                        Path(args.output), args.seconds, args.first)  # fmt: skip
    out.write(f"seeds from {first} on\n")
    out.flush()
    line = _Line(out, err, settings.folder)
    tally = run_campaign(settings, line)
    line.end()
    out.write(table(tally, known_operators(), optimising_passes()) + "\n")
    if args.json:
        Path(args.json).write_text(json.dumps(as_json(tally), indent=1) + "\n", "utf-8")
    return EXIT_INPUT if tally.found else EXIT_OK


def _replay(args: Any, out: TextIO) -> int:
    """Make the program of a seed again, leave it in the folder and say what became of it."""
    from lamina.debugging.campaign import PRELOAD, RUN
    from lamina.debugging.fuzz_case import Report
    from lamina.debugging.isolate import Server
    from lamina.debugging.outcome import Outcome

    folder = Path(args.output) / str(args.replay)
    with Server(PRELOAD[:0]) as server:
        found = server.call(RUN, {"seed": args.replay, "store": str(folder), "counted": True}, args.seconds)
    outcome = found if isinstance(found, Outcome) else Report.of_json(found).outcome
    out.write(f"{folder}\n")
    if not isinstance(found, Outcome):
        report = Report.of_json(found)
        out.write(f"{report.kind}, {report.sizes} sizes: {' '.join(sorted(report.operators))}\n")
        out.write(f"compared with {report.oracle or 'nothing'}; {report.pair or 'no second way'}\n")
    out.write(f"{_told(outcome)}\n")
    return EXIT_INPUT if outcome.kind.is_fault else EXIT_OK


def _told(outcome: Outcome) -> str:
    """An outcome in one line."""
    where = f" ({outcome.where})" if outcome.where else ""
    return f"{outcome.kind}{where}{': ' * bool(outcome.said)}{outcome.said[:300]}"


class _Line:
    """Tells of each fault in a line, and on a terminal how far the campaign is."""

    def __init__(self, out: TextIO, err: TextIO, folder: Path) -> None:
        self.out, self.err, self.folder = out, err, folder
        self.start = self.shown = monotonic()
        self.live = err.isatty()

    def __call__(self, tally: Tally, report: Report) -> None:
        outcome = report.outcome
        if outcome.kind.is_fault:
            self.end()
            self.out.write(f"{_told(outcome)}; seed {report.seed}, {self.folder / str(report.seed)}\n")
            self.out.flush()
        now = monotonic()
        if self.live and now - self.shown > 0.5:
            self.shown = now
            rate = tally.cases / (now - self.start)
            refused = sum(map(len, tally.refusals.values()))
            self.err.write(f"\r{tally.cases:,} graphs, {rate:.1f} a second, {refused} refused, {tally.found} faults ")
            self.err.flush()

    def end(self) -> None:
        """Clear the live line."""
        if self.live:
            self.err.write("\r" + " " * 70 + "\r")
            self.err.flush()
        sys.stdout.flush()
