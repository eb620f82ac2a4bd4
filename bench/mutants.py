"""Faults put in on purpose: how many do the tests see, how many the fuzzer?

    python bench/mutants.py --list                 every generated edit, a line each
    python bench/mutants.py --record               which tests reach which functions (Python 3.12: 15 minutes)
    python bench/mutants.py --draw 30 --seed 1     try 30 of them, two at a time
    python bench/mutants.py --only 3f9a02c81d77    try those of these names

An edit is applied to a copy of the checkout (what git has at HEAD). First run the tests that reach the edited function,
the quick and specific ones first, up to the first that fails; then, where none does, `lamina fuzz` for --net-minutes.
An edit that changes no behaviour is no fault: `mutants_equivalent.txt` names it with the reason, and the draw takes the
next one. Exit status 1 where more survive than --may-survive.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

from mutant_edits import Edit, generated
from mutant_reach import FOLDER, SITE, TEST, Reach

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "build" / "mutants"
EQUIVALENT = Path(__file__).with_name("mutants_equivalent.txt")
PER_GROUP = 100
CHUNKS = (40, 400)
"""Tests of the first runs of pytest: most faults are seen by the first few; a process costs seconds."""
SLACK = 60.0
"""Seconds that a run of tests may take beyond five times what was recorded: one that takes longer hangs."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of an edit."""

    edit: Edit
    caught_by: str
    """`lit`, `unit` or `net`; empty where nothing saw it."""
    seen: str
    """The test that failed, or the seed; how many tests ran where none did."""
    seconds: float


def equivalent() -> dict[str, str]:
    """The names of edits that change no behaviour, and why."""
    rows = [line.split(maxsplit=1) for line in EQUIVALENT.read_text().splitlines() if line and line[0] != "#"]
    return {name: why for name, why in rows}


def drawn(count: int, seed: int) -> list[Edit]:
    """Edits of the generated ones in the order of the draw, where each keeps its place when others come or go."""
    known = equivalent()
    ordered = sorted(generated(ROOT, PER_GROUP), key=lambda e: hashlib.sha256(f"{seed} {e.name}".encode()).digest())
    return [e for e in ordered if e.name not in known][:count]


# -- recording -----------------------------------------------------------------------------------------------------


def record() -> None:
    """Run all tests once, and keep what each reaches."""
    shutil.rmtree(RECORD, ignore_errors=True)
    environment = os.environ | recording(ROOT, RECORD) | {"LAMINA_CACHE": "off"}
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "mutant_reach", f"--reach={RECORD}", "-m", "not long"]
    subprocess.run([*pytest, "-n", "2"], cwd=ROOT, env=environment, check=False)
    subprocess.run(
        [sys.executable, str(ROOT / "bench" / "mutant_reach.py"), str(RECORD)], cwd=ROOT, env=environment, check=True
    )


def recording(root: Path, folder: Path, test: str = "") -> dict[str, str]:
    """The environment in which commands of a checkout record what they reach, for `test` where it is given."""
    places = os.pathsep.join(str(p) for p in (root, root / "bench", root / "bench" / SITE.name))
    return {"PYTHONPATH": places, FOLDER: str(folder)} | ({TEST: test} if test else {})


# -- trying --------------------------------------------------------------------------------------------------------


class Workplace:
    """A copy of the checkout in which one edit at a time is made."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self._children: set[int] = set()
        self._stopped = False
        subprocess.run(["git", "-C", str(ROOT), "worktree", "add", "-q", "--detach", str(folder)], check=True)

    def stop(self) -> None:
        """End what runs in the copy, and run nothing more."""
        self._stopped = True
        for group in list(self._children):
            _end(group)

    def close(self) -> None:
        """Remove the copy."""
        subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(self.root)], check=True)

    def run(
        self, command: Sequence[str], seconds: float, root: Path | None = None, more: Mapping[str, str] | None = None
    ) -> tuple[int | None, str]:
        """Run a command in the copy: its exit status, None where it took too long, and what it printed.

        Or with another checkout, `root`; `more` are variables of its environment.
        """
        root = root or self.root
        with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryFile("w+", errors="replace") as out:
            environment = os.environ | {"PYTHONPATH": str(root), "LAMINA_CACHE_DIR": cache} | dict(more or {})
            child = subprocess.Popen(command, cwd=root, env=environment, stdout=out, stderr=out, start_new_session=True)
            self._children.add(child.pid)
            try:
                status = child.wait(seconds)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                self._children.discard(child.pid)
                _end(child.pid)
                child.wait()
            if self._stopped:
                raise KeyboardInterrupt
            out.seek(0)
            return status, out.read()

    def try_edit(self, edit: Edit, reach: Reach, net_minutes: float) -> Verdict:
        """Make the edit, run what can see it, take it back."""
        start = time.monotonic()
        path = self.root / edit.file
        text = path.read_text()
        path.write_text(edit.applied(text))
        try:
            by, seen = self._catch(edit, reach, net_minutes)
        finally:
            path.write_text(text)
        return Verdict(edit, by, seen, time.monotonic() - start)

    def _catch(self, edit: Edit, reach: Reach, net_minutes: float) -> tuple[str, str]:
        tests = reach.of(edit.file, edit.function)
        times = reach.times()
        lit = [t for t in tests if t.endswith(".mlir")]
        unit = [t for t in tests if not t.endswith(".mlir")]
        if lit:
            lit_tool = str(Path(sys.executable).with_name("lit"))
            limit = 5 * sum(times[t] for t in lit) + SLACK
            # lit orders by itself; the first failure ends it.
            status, said = self.run([lit_tool, "-q", "-j1", "--max-failures=1", *lit], limit)
            if status != 0:
                failed = re.search(r"^FAIL: lamina :: (\S+)", said, re.MULTILINE)
                return "lit", failed[1] if failed else _last_line(said, status)
        at = 0
        for size in (*CHUNKS, len(unit)):
            chunk, at = unit[at : at + size], at + size
            if not chunk:
                break
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
                listed.write("\n".join(chunk))
                listed.flush()
                pytest = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "-p", "no:cacheprovider"]
                limit = 5 * sum(times[t] for t in chunk) + SLACK
                status, said = self.run([*pytest, f"@{listed.name}"], limit)
            if status != 0:
                failed = [line for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
                return "unit", failed[0].split(" ", 1)[1] if failed else _last_line(said, status)
        ran = f"{len(lit)} lit tests and {len(unit)} of pytest pass"
        if net_minutes <= 0:
            return "", ran
        return self._net(ran, net_minutes)

    def _net(self, ran: str, minutes: float) -> tuple[str, str]:
        """Fuzz for so long. What is found without the edit as well is a find, but none of the edit."""
        fuzz = [sys.executable, "-m", "lamina.cli", "fuzz", "--jobs", "1", "--no-reduce"]
        end = time.monotonic() + 60 * minutes
        while (left := (end - time.monotonic()) / 60) > 0.05:
            status, said = self.run([*fuzz, "--first", "--minutes", f"{left:.2f}"], 60 * left + 2 * SLACK)
            if status == 0:
                break
            seed = re.search(r"; seed (\d+), ", said)
            if seed is None:
                return "net", _last_line(said, status)
            alone, _ = self.run([*fuzz, "--replay", seed[1]], 2 * SLACK, ROOT)
            if alone == 0:
                return "net", f"seed {seed[1]}"
            print(f"{'':19}seed {seed[1]} fails without {self.root.name}'s edit, too", flush=True)
        return "", f"{ran}; the net found nothing"


def _end(group: int) -> None:
    """End the processes of a group."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _last_line(said: str, status: int | None) -> str:
    if status is None:
        return "it hangs"
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1][:160] if lines else f"exit status {status}"


def present_tests() -> set[str]:
    """The names of the tests that the checkout has, as a record has them."""
    pytest = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", "not long"]
    listed = subprocess.run(pytest, cwd=ROOT, capture_output=True, text=True).stdout
    unit = {line for line in listed.splitlines() if "::" in line}
    files = [path for path in (ROOT / "test").rglob("*.mlir") if "RUN:" in path.read_text("utf-8")]
    return unit | {str(path.relative_to(ROOT)) for path in files}


def try_all(edits: Sequence[Edit], jobs: int, net_minutes: float) -> list[Verdict]:
    """Try edits, as many at a time as jobs."""
    reach = Reach.read(RECORD / "reach.json")
    if changed := reach.keep(present_tests()):
        print(f"{changed} tests have come or gone since the record; those that have come are run for every edit")
    places: SimpleQueue[Workplace] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        made = [Workplace(Path(folder) / str(n)) for n in range(jobs)]
        for place in made:
            places.put(place)

        def attempt(edit: Edit) -> Verdict:
            place = places.get()
            try:
                found = place.try_edit(edit, reach, net_minutes)
            finally:
                places.put(place)
            print(f"{found.caught_by or 'SURVIVED':<9}{found.seconds:6.0f} s  {edit.name} {edit}", flush=True)
            print(f"{'':19}{found.seen}", flush=True)
            return found

        def ended(*_: object) -> None:
            pool.shutdown(wait=False, cancel_futures=True)
            for place in made:
                place.stop()
            raise KeyboardInterrupt

        pool = ThreadPoolExecutor(jobs)
        for end in (signal.SIGINT, signal.SIGTERM):
            signal.signal(end, ended)
        try:
            return list(pool.map(attempt, edits))
        finally:
            pool.shutdown()
            for place in made:
                place.close()


def main() -> None:
    """The command; exit status 1 where too many faults survive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the generated edits")
    parser.add_argument("--record", action="store_true", help="record which tests reach which functions")
    parser.add_argument("--draw", type=int, default=30, metavar="N", help="edits to try (default: 30)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draw (default: 0)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="try the edits of these names")
    parser.add_argument("--net-minutes", type=float, default=5, metavar="M", help="of the fuzzer, a fault (default: 5)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="edits at a time (default: 2)")
    parser.add_argument("--may-survive", type=int, default=1, metavar="N", help="default: 1")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the verdicts")
    args = parser.parse_args()
    if args.list:
        for edit in generated(ROOT, PER_GROUP):
            print(edit.name, f"{edit.group:<10}", edit)
        return
    if args.record:
        record()
        return
    if not (RECORD / "reach.json").is_file():
        sys.exit(f"error: there is no {RECORD / 'reach.json'}; make it with `python bench/mutants.py --record`")
    if args.only:
        edits = [e for e in generated(ROOT, 1 << 30) if e.name in args.only]
        missing = set(args.only) - {e.name for e in edits}
        if missing:
            sys.exit(f"error: no edit has the name {', '.join(sorted(missing))}; --list prints them")
    else:
        edits = drawn(args.draw, args.seed)
    verdicts = try_all(edits, args.jobs, args.net_minutes)
    by = {way: sum(v.caught_by == way for v in verdicts) for way in ("lit", "unit", "net", "")}
    survived = by.pop("")
    caught = ", ".join(f"{n} by {way}" for way, n in by.items())
    print(f"{len(verdicts)} faults: {caught}, {survived} by nothing")
    if args.json:
        args.json.write_text(json.dumps([asdict(v) for v in verdicts], indent=1) + "\n")
    sys.exit(survived > args.may_survive)


if __name__ == "__main__":
    main()
