"""The words of Relay's text format, with their places."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from lamina.errors import InputError


@dataclass(frozen=True)
class Token:
    """A word: its kind, its text (or value), and where it stands."""

    kind: str
    text: str
    line: int
    column: int
    value: Any = None


_WORDS = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*)
  | (?P<graph>%\d+)
  | (?P<local>%[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)
  | (?P<global>@[A-Za-z_][\w.]*)
  | (?P<number>(?:\d+\.\d*|\d+)(?:[eE][-+]?\d+)?(?:f16|f32|f64|bf16|f|[iu](?:8|16|32|64))?(?![A-Za-z_\d]))
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)
  | (?P<punct>->|=>|==|!=|<=|>=|\#\[|[(){}\[\],;:=.+\-*/<>?])
    """,
    re.X,
)
_NUMBER = re.compile(r"(?P<digits>[\d.]+(?:[eE][-+]?\d+)?)(?P<suffix>[a-z]+\d*)?$")


class Source:
    """A text with a name, for errors at a place in it."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name

    def error(self, what: str, line: int, column: int, hint: str = "") -> InputError:
        """The error, with the line and a caret under the place."""
        lines = self.text.split("\n")
        shown = lines[line - 1] if line <= len(lines) else ""
        made = InputError(what, where=f"{self.name}:{line}:{column}", hint=hint)
        made.add_note(f"{shown}\n{' ' * (column - 1)}^")
        return made


def words(source: Source) -> tuple[list[Token], str]:
    """The words of a text, and the metadata behind `#[metadata]`. Raises InputError."""
    text, found = source.text, list[Token]()
    place, line, start = 0, 1, 0
    metadata = ""
    while place < len(text):
        column = place - start + 1
        if text.startswith("/*", place):
            end = _comment_end(source, place, line, column)
            match_text = text[place:end]
        elif text.startswith("#[metadata]", place):
            metadata = text[place + len("#[metadata]") :]
            break
        else:
            match = _WORDS.match(text, place)
            if match is None:
                raise source.error(f"{text[place]!r} is no part of Relay's text", line, column)
            kind, match_text = match.lastgroup or "", match.group()
            if kind == "number" and found and found[-1].text == "." and found[-1].kind == "punct":
                match_text = re.match(r"\d+", match_text).group()  # type: ignore[union-attr]
            if kind != "space":
                found.append(_token(source, kind, match_text, line, column))
        place += len(match_text)
        breaks = match_text.count("\n")
        if breaks:
            line += breaks
            start = place - (len(match_text) - match_text.rindex("\n")) + 1
    found.append(Token("end", "the end", line, max(1, place - start + 1)))
    return found, metadata


def _comment_end(source: Source, place: int, line: int, column: int) -> int:
    depth, at = 0, place
    while at < len(source.text):
        if source.text.startswith("/*", at):
            depth, at = depth + 1, at + 2
        elif source.text.startswith("*/", at):
            depth, at = depth - 1, at + 2
            if not depth:
                return at
        else:
            at += 1
    raise source.error("the comment does not end", line, column)


def _token(source: Source, kind: str, text: str, line: int, column: int) -> Token:
    if kind == "string":
        try:
            return Token(kind, text, line, column, json.loads(text))
        except ValueError:
            raise source.error(f"{text} is no string", line, column) from None
    if kind == "number":
        match = _NUMBER.match(text)
        assert match is not None
        return Token(kind, text, line, column, (match["digits"], match["suffix"] or ""))
    return Token(kind, text, line, column)
