"""`lamina fuzz`: random programs, run in several ways that must agree."""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.options import add_load
from lamina.cli.progress import LiveLine
from lamina.errors import EXIT_INPUT, EXIT_OK, InputError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from lamina.debugging.campaign import Settings, Tally
    from lamina.debugging.fuzz_case import Report
    from lamina.debugging.outcome import Outcome


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
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
    parser.add_argument(
        "--add",
        action="append",
        default=[],
        metavar="FILE",
        help="count the programs of an earlier --json in the table",
    )
    parser.add_argument("--no-reduce", action="store_true", help="leave failing programs as they are")
    parser.add_argument(
        "--reduce-seconds", type=float, default=60.0, metavar="S", help="time to reduce each fault (default: 60)"
    )
    add_load(parser)


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """Run a campaign, or one seed again. Status 1 when a fault was found."""
    from lamina.debugging.campaign import (
        Settings,
        Tally,
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
    if Generator.COMPILED in args.kind and (args.kind != [Generator.COMPILED] or args.operator):
        raise UsageError(f"--kind {Generator.COMPILED} stands alone: its programs are not run")
    named = {name: operators_named(name) for name in args.operator}
    for name, found in named.items():
        if not found:
            raise UsageError(f"no operator {name!r} is drawn", hint="a campaign's table has their names")
    for name in ("minutes", "graphs", "jobs", "seconds", "reduce_seconds"):
        number = getattr(args, name)
        if number is not None and (number < 0 or number == 0 and name != "graphs"):
            raise UsageError(f"--{name.replace('_', '-')} is a positive number, not {number:g}")
    if args.replay is not None:
        return _replay(args, out)
    minutes = args.minutes if args.minutes is not None or args.graphs is not None else 1.0
    first = args.seed if args.seed is not None else secrets.randbelow(10**9) * 1000
    operators = frozenset(n for found in named.values() for n in found)
    files = tuple(str(Path(f).resolve()) for f in args.load)
    settings = Settings(first, args.graphs, minutes, args.jobs, tuple(args.kind), tuple(args.sizes), operators,
                        Path(args.output), args.seconds, args.first, files)  # fmt: skip
    total = Tally()
    for file in args.add:
        total.add_part(_earlier(file))
    total.refuse_again(settings.part())
    out.write(f"seeds from {first} on\n")
    out.flush()
    line = _Line(out, err, settings.folder)
    tally = run_campaign(settings, line)
    line.end()
    total.add_part(tally)
    out.write(table(total, known_operators(), optimising_passes()) + "\n")
    out.flush()
    if args.json:
        Path(args.json).write_text(json.dumps(as_json(total), indent=1) + "\n", "utf-8")
    if tally.found and not args.no_reduce:
        _reduce(tally, settings, args.reduce_seconds, out)
    return EXIT_INPUT if tally.found else EXIT_OK


def _earlier(file: str) -> Tally:
    """The tally that --json has written into a file. Raises InputError for anything else."""
    from lamina.debugging.campaign import of_json

    try:
        return of_json(json.loads(Path(file).read_text("utf-8")))
    except OSError as e:
        raise InputError(f"cannot read: {e.strerror}", where=file) from None
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        hint = "--add takes what `lamina fuzz --json FILE` has written"
        raise InputError(f"no table of a campaign: {e}", where=file, hint=hint) from None


def _reduce(tally: Tally, settings: Settings, seconds: float, out: TextIO) -> None:
    """Make one program of each fault small, in its folder, and tell of each."""
    from lamina.debugging.reduce_case import reduce_faults

    def tell(report: Report, said: str) -> None:
        lines = "\n  ".join(said.split("\n"))
        out.write(f"seed {report.seed}:\n  {lines}\n")
        out.flush()

    out.write(f"reducing one of each, {seconds:g} s at most\n")
    out.flush()
    limit = min(settings.seconds, seconds / 2)
    reduce_faults(tally.faults, settings.folder, seconds, limit, settings.jobs, settings.load, tell)


def _replay(args: Any, out: TextIO) -> int:
    """Make the program of a seed again, leave it in the folder and say what became of it."""
    from lamina.debugging.campaign import PRELOAD, RUN
    from lamina.debugging.fuzz_case import Report
    from lamina.debugging.isolate import Server
    from lamina.debugging.outcome import Outcome

    folder = Path(args.output) / str(args.replay)
    files = [str(Path(f).resolve()) for f in args.load]
    kind = next(iter(args.kind), "")
    arguments = {"seed": args.replay, "store": str(folder), "load": files, "kind": kind}
    with Server(PRELOAD[:0]) as server:
        found = server.call(RUN, arguments, args.seconds)
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
        self.out, self.folder, self.start = out, folder, monotonic()
        self.live = LiveLine(err)

    def __call__(self, tally: Tally, report: Report) -> None:
        outcome = report.outcome
        if outcome.kind.is_fault:
            self.live.clear()
            self.out.write(f"{_told(outcome)}; seed {report.seed}, {self.folder / str(report.seed)}\n")
            self.out.flush()

        def said() -> str:
            rate = tally.cases / (monotonic() - self.start)
            refused = sum(map(len, tally.refusals.values()))
            return f"{tally.cases:,} graphs, {rate:.1f} a second, {refused} refused, {tally.found} faults"

        self.live.show(said)

    def end(self) -> None:
        """Clear the live line."""
        self.live.clear()
        sys.stdout.flush()
