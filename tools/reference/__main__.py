"""`python -m tools.reference [--check] [PAGE...]`."""

from __future__ import annotations

import argparse
import sys

from tools.reference.declarations import ROOT
from tools.reference.pages import PAGES, all_pages

TARGET = ROOT / "docs" / "reference"


def main() -> int:
    """Write the pages, or say which are out of date."""
    parser = argparse.ArgumentParser(prog="python -m tools.reference", description="Write docs/reference.")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 where a page is out of date")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="only these, such as schedule.md")
    given = parser.parse_args()
    if unknown := [n for n in given.pages if n not in PAGES]:
        parser.error(f"no page {unknown[0]!r}: there are {', '.join(PAGES)}")
    texts = all_pages(given.pages)
    if given.check:
        stale = [n for n, t in texts.items() if not (TARGET / n).is_file() or (TARGET / n).read_text("utf-8") != t]
        stale += sorted(p.name for p in TARGET.glob("*.md") if p.name not in PAGES)
        for name in stale:
            print(f"docs/reference/{name} is out of date: run `python -m tools.reference`", file=sys.stderr)
        return 1 if stale else 0
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (TARGET / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
