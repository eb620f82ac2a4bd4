"""`--verify-diagnostics`: comments say which diagnostics a text must give.

    // expected-error@+1 {{does not dominate}}      on the line below, containing the text
    // expected-note@-2 {{defined here}}            two lines above
    // expected-warning {{slow}}                    on this line
    // expected-error@below {{...}}  @above         the next or last line that is no such comment
    // expected-error@unknown {{...}}               a diagnostic without a position
    // expected-error-re@+1 {{rank {{[0-9]+}} is}}  the text in inner braces is a regular expression

A diagnostic that no comment expects is an error, and so is a comment without its diagnostic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lamina.ir.diagnostics import Diagnostic

_DESIGNATOR = re.compile(
    r"expected-(?P<kind>error|note|remark|warning)(?P<re>-re)? *"
    r"(?:@(?P<at>[+-]\d+|above|below|unknown))? *\{\{(?P<text>.*)\}\}\s*$"
)


@dataclass
class Expectation:
    """One `expected-` comment, which stands on line `written`: a severity, the line it is for, the message."""

    severity: str
    line: int
    """0 for a diagnostic without a position."""
    pattern: re.Pattern[str]
    text: str
    written: int
    met: bool = False


def read(text: str, first_line: int = 1) -> tuple[list[Expectation], list[Diagnostic]]:
    """The expectations of a text, and what is wrong with the comments themselves (without a file name)."""
    found: list[Expectation] = []
    problems: list[Diagnostic] = []
    waiting: list[Expectation] = []
    last_plain = first_line
    for number, row in enumerate(text.split("\n"), first_line):
        match = _DESIGNATOR.search(row)
        if match is None:
            for e in waiting:
                e.line = number
            waiting.clear()
            last_plain = number
            continue
        try:
            pattern = _pattern(match["text"], match["re"] is not None)
        except (re.error, ValueError) as e:
            problems.append(Diagnostic("error", f"bad expectation: {e}", "", number, match.start() + 1))
            continue
        at = match["at"]
        line = number
        if at == "unknown":
            line = 0
        elif at == "above":
            line = last_plain
        elif at is not None and at != "below":
            line = number + int(at)
        expectation = Expectation(match["kind"], line, pattern, match["text"], number)
        if at == "below":
            waiting.append(expectation)
        found.append(expectation)
    return found, problems


def _pattern(text: str, with_regex: bool) -> re.Pattern[str]:
    if not with_regex:
        return re.compile(re.escape(text))
    parts: list[str] = []
    while text:
        literal, opening, rest = text.partition("{{")
        parts.append(re.escape(literal))
        if not opening:
            break
        inner, closing, text = rest.partition("}}")
        if not closing:
            raise ValueError("found the start of a regular expression but no end '}}'")
        parts.append(f"(?:{inner})")
    return re.compile("".join(parts))


def check(expectations: list[Expectation], produced: list[Diagnostic], file: str) -> list[Diagnostic]:
    """The diagnostics that were not expected, and the expectations that were not met."""
    wrong: list[Diagnostic] = []
    for top in produced:
        for d in (top, *top.notes):
            line = d.line if d.file == file else 0
            match = next(
                (
                    e
                    for e in expectations
                    if not e.met and e.severity == d.severity and e.line == line and e.pattern.search(d.message)
                ),
                None,
            )
            if match is not None:
                match.met = True
            else:
                message = f"unexpected {d.severity}: {d.message}"
                wrong.append(Diagnostic("error", message, d.file, d.line, d.column, d.width, d.name))
    for e in expectations:
        if not e.met:
            message = f'expected {e.severity} "{e.text}" was not produced'
            wrong.append(Diagnostic("error", message, file, e.written, 1))
    return wrong
