"""Messages in protobuf's text format: fields by their names, read without a schema.

https://protobuf.dev/reference/protobuf/textformat-spec/ is the grammar; extensions and Any are left out.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from lamina.errors import InputError, shown

DEEPEST = 64
"""Levels of messages in each other."""
MOST_TOKENS = 1 << 19
_TOKEN = re.compile(
    r"[ \t\r\n]+|#[^\n]*"
    r"""|(?P<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')"""
    r"|(?P<word>[\w.+-]+)|(?P<mark>[{}<>:;,\[\]])"
)
_ESCAPE = re.compile(r"\\(.)")
_T = TypeVar("_T")
Token: TypeAlias = "tuple[str, str, int]"
"""Kind, text, position."""


@dataclass
class TextMessage:
    """A message: its fields in order, each with all its values. `where` is its place, for errors."""

    where: str
    fields: dict[str, list[str | TextMessage]] = field(default_factory=dict[str, "list[str | TextMessage]"])

    def messages(self, name: str) -> list[TextMessage]:
        """The messages of a field."""
        return [v for v in self.fields.get(name, ()) if isinstance(v, TextMessage)]

    def message(self, name: str) -> TextMessage:
        """The message of a field, an empty one where there is none."""
        return next(iter(self.messages(name)), TextMessage(self.where))

    def words(self, name: str) -> list[str]:
        """Words and strings of a field."""
        return [v for v in self.fields.get(name, ()) if isinstance(v, str)]

    def word(self, name: str, default: str = "") -> str:
        """The last word of a field, which is what protobuf keeps of several."""
        return next(reversed(self.words(name)), default)

    def ints(self, name: str) -> list[int]:
        """The whole numbers of a field."""
        return [self._number(name, w, lambda w: int(w, 0)) for w in self.words(name)]

    def int(self, name: str, default: int = 0) -> int:
        """A whole number."""
        return next(reversed(self.ints(name)), default)

    def floats(self, name: str) -> list[float]:
        """The numbers of a field; an `f` may stand behind."""
        return [self._number(name, w, lambda w: float(w.removesuffix("f"))) for w in self.words(name)]

    def float(self, name: str, default: float = 0.0) -> float:
        """A number."""
        return next(reversed(self.floats(name)), default)

    def bool(self, name: str, default: bool = False) -> bool:
        """A truth value."""
        word = self.word(name, "true" if default else "false")
        if word not in ("true", "True", "t", "1", "false", "False", "f", "0"):
            raise InputError(f"{name}: {shown(word)} is no truth value", where=self.where)
        return word in ("true", "True", "t", "1")

    def _number(self, name: str, word: str, read: Callable[[str], _T]) -> _T:
        try:
            number = read(word)
        except (ValueError, OverflowError):
            number = None
        if number is None or not abs(number) < 1e18:  # type: ignore[arg-type]
            raise InputError(f"{name}: {shown(word[:40])} is no number, or too large", where=self.where)
        return number


def parse_text(text: str, label: str) -> TextMessage:
    """The message that a text is. Raises InputError with the line of what is wrong."""
    root = TextMessage(label)
    stack, closing = [root], [""]
    tokens = _tokens(text, label)
    breaks = [found.start() for found in re.finditer("\n", text)]

    def line_of(position: int) -> int:
        return bisect(breaks, position) + 1

    def fail(position: int, what: str) -> InputError:
        return InputError(what, where=f"{label}:{line_of(position)}")

    def following(position: int) -> Token:
        found = next(tokens, None)
        if found is None:
            raise fail(position, "ends in the middle of a field")
        return found

    for kind, token, position in tokens:
        if token in (",", ";"):
            continue
        if token in ("}", ">"):
            if token != closing[-1]:
                raise fail(position, f"{token} closes nothing")
            stack.pop()
            closing.pop()
            continue
        if kind != "word":
            raise fail(position, f"{shown(token[:40])} is no name of a field")
        values = stack[-1].fields.setdefault(token, [])
        kind, value, position = following(position)
        is_scalar = value == ":"
        if is_scalar:
            kind, value, position = following(position)
        if value in ("{", "<"):
            if len(stack) > DEEPEST:
                raise fail(position, f"more than {DEEPEST} messages are in each other")
            inner = TextMessage(f"{label}:{line_of(position)}: {token}")
            values.append(inner)
            stack.append(inner)
            closing.append("}" if value == "{" else ">")
        elif is_scalar and value == "[":
            while (item := following(position))[1] != "]":
                if item[1] != ",":
                    values.append(_scalar(item, fail))
        elif is_scalar:
            values.append(_scalar((kind, value, position), fail))
        else:
            raise fail(position, f"a value of {token} is expected, not {shown(value[:40])}")
    if len(stack) > 1:
        raise fail(len(text), f"ends inside {len(stack) - 1} messages")
    return root


def _scalar(token: Token, fail: Callable[[int, str], InputError]) -> str:
    kind, value, position = token
    if kind == "mark":
        raise fail(position, f"a value is expected, not {value}")
    return _ESCAPE.sub(r"\1", value[1:-1]) if kind == "string" else value


def _tokens(text: str, label: str) -> Iterator[Token]:
    position = count = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            line = text.count("\n", 0, position) + 1
            what = f"{shown(text[position : position + 20])} is no text of a message"
            raise InputError(what, where=f"{label}:{line}")
        position = found.end()
        if found.lastgroup is not None:
            count += 1
            if count > MOST_TOKENS:
                raise InputError(f"has more than {MOST_TOKENS} words", where=label)
            yield found.lastgroup, found[0], found.start()
