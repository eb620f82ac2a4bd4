"""`lamina records`: files of schedules that were measured: shown, merged, and cut down to the best."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TextIO

from lamina.cli.shell import path_argument
from lamina.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence

    from lamina.dialects.schedule.records import Record

WAYS = {
    "show": "a line for each kernel: how many candidates were tried, what failed, and the best ratio to the default",
    "best": "the surest gain of each kernel, into a file",
    "merge": "the records of several files, each once, into a file",
    "prune": "without failures and what is no gain, in place: of each kernel the --keep best",
}


def add_arguments(parser: ArgumentParser) -> None:
    """Add its options."""
    what = "; ".join(f"{way}: {said}" for way, said in WAYS.items())
    parser.add_argument("way", choices=tuple(WAYS), metavar="|".join(WAYS), help=what)
    parser.add_argument("files", nargs="+", type=path_argument, metavar="FILE.jsonl", help="files of records")
    parser.add_argument("-o", "--output", type=path_argument, metavar="FILE.jsonl", help="of best and merge")
    parser.add_argument("--keep", type=int, default=1, metavar="N", help="of prune (default: 1)")


def run(args: Any, out: TextIO, err: TextIO) -> int:
    """Show or rewrite files of records."""
    from lamina.dialects.schedule.records import best_records, read_records

    if (args.output is not None) != (args.way in ("best", "merge")):
        needs = "needs -o FILE.jsonl" if args.output is None else "writes no other file"
        raise UsageError(f"records {args.way} {needs}")
    if args.keep < 1:
        raise UsageError(f"--keep is at least 1, not {args.keep}")
    read: list[tuple[str, list[Record]]] = []
    for path in args.files:
        records, notes = read_records(path)
        read.append((path, records))
        err.writelines(f"warning: {note}\n" for note in notes)
    records = list(dict.fromkeys(r for _, found in read for r in found))
    if args.way == "show":
        out.write(_shown(records))
    elif args.way == "prune":
        for path, found in read:
            _rewrite(path, _kept(found, args.keep), out, len(found))
    else:
        kept = list(best_records(records).values()) if args.way == "best" else records
        _rewrite(args.output, kept, out, sum(len(found) for _, found in read))
    return EXIT_OK


def _rewrite(path: str, records: Sequence[Record], out: TextIO, before: int) -> None:
    from lamina.store.record_file import write_records

    write_records(path, records)
    out.write(f"{path}: {len(records)} of {before} records\n")


def _by_task(records: Sequence[Record]) -> dict[tuple[str, str, int], list[Record]]:
    """Records by machine, threads and kernel."""
    found: dict[tuple[str, str, int], list[Record]] = {}
    for record in records:
        found.setdefault((record.machine, record.task, record.threads), []).append(record)
    return found


def _kept(records: Sequence[Record], count: int) -> list[Record]:
    """The gains of each kernel, so many at most, the surest first."""
    from lamina.dialects.schedule.records import latest_records

    kept: list[Record] = []
    for found in _by_task(latest_records(records)).values():
        gains = [(r.ratio[2], r) for r in found if r.ratio is not None and r.is_gain]
        kept += [record for _, record in sorted(gains, key=lambda pair: pair[0])[:count]]
    return kept


def _shown(records: Sequence[Record]) -> str:
    """A table for each machine."""
    from lamina.measure.timing import columns, duration

    lines: list[str] = []
    machines: dict[tuple[str, int], list[tuple[str, ...]]] = {}
    for (machine, task, threads), found in sorted(_by_task(records).items()):
        ran = [(r.ratio, r.seconds) for r in found if r.ratio is not None and r.seconds is not None]
        failed = Counter(r.error.partition(":")[0] for r in found if r.error)
        ratio, seconds = min(ran, default=(None, None))
        best = f"{ratio[0]:.3f} [{ratio[1]:.3f}..{ratio[2]:.3f}]" if ratio is not None else ""
        errors = ", ".join(f"{count} {kind}" for kind, count in sorted(failed.items()))
        time = duration(seconds) if seconds is not None else ""
        row = (task[:12], str(len(found)), best, time, errors, "")
        machines.setdefault((machine, threads), []).append(row)
    for (machine, threads), rows in machines.items():
        lines.append(f"{machine}, {threads} thread{'s' if threads != 1 else ''}")
        table = columns([("kernel", "records", "best / default", "best", "failed", ""), *rows])
        lines += [f"  {line.rstrip()}" for line in table.splitlines()]
    return "".join(f"{line}\n" for line in lines) or "no records\n"
