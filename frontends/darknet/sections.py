"""The text of a network: sections of options, as Darknet's own parser reads them (src/parser.c, src/option_list.c)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lamina.errors import InputError, shown

MOST_SECTIONS = 10_000


@dataclass
class LayerOptions:
    """`[name]` with the options below it; the first of two with one key counts, as in Darknet."""

    name: str
    line: int
    label: str
    options: dict[str, str] = field(default_factory=dict[str, str])

    def int(self, key: str, default: int = 0) -> int:
        """A whole number; Darknet reads it with atoi, which stops at what is no digit."""
        return int(self.float(key, default)) if key in self.options else default

    def float(self, key: str, default: float = 0.0) -> float:
        """A number. Raises InputError for what is none."""
        given = self.options.get(key)
        if given is None:
            return default
        try:
            number = float(given)
        except ValueError:
            number = float("nan")
        if not abs(number) < 1e9:
            raise InputError(f"{key} = {shown(given)} is no number, or too large", where=self.where)
        return number

    def ints(self, key: str) -> list[int]:
        """A list of whole numbers, with commas between them."""
        return [int(n) for n in self.floats(key)]

    def floats(self, key: str) -> Sequence[float]:
        """A list of numbers, with commas between them."""
        parts = [p.strip() for p in self.options.get(key, "").split(",") if p.strip()]
        return [LayerOptions(self.name, self.line, self.label, {key: p}).float(key) for p in parts]

    @property
    def where(self) -> str:
        """The place in the file, for messages."""
        return f"{self.label}:{self.line}: [{shown(self.name)}]"


def sections_of(text: str, label: str) -> list[LayerOptions]:
    """The sections of a text, whose spaces do not count. Raises InputError with the line of what is none."""
    found: list[LayerOptions] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = "".join(raw.split())
        if not line or line[0] in "#;":
            continue
        if line[0] == "[":
            found.append(LayerOptions(line[1:].partition("]")[0], number, label))
            if len(found) > MOST_SECTIONS:
                raise InputError(f"has more than {MOST_SECTIONS} sections", where=label)
            continue
        key, equals, value = line.partition("=")
        if not found or not equals or not key:
            hint = "a network begins with [net], and each line is KEY=VALUE"
            raise InputError(f"{shown(line[:80])} is no section and no option", where=f"{label}:{number}", hint=hint)
        found[-1].options.setdefault(key, value.partition("#")[0])
    if not found or found[0].name not in ("net", "network"):
        raise InputError("does not begin with [net]", where=label, hint="is it a network of Darknet?")
    return found
