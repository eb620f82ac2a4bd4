"""The outcome of a case: it agrees, or one of five things went wrong; and when two faults are the same one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from lamina.errors import InternalError, LaminaError, render_error


class Kind(StrEnum):
    """The ways in which a case can end. All but SAME and REFUSAL are faults."""

    SAME = "same"
    REFUSAL = "refusal"
    """A LaminaError that is not internal: the program says that it cannot do it."""
    MISMATCH = "mismatch"
    """Two ways to run the case give different results."""
    INTERNAL_ERROR = "internal error"
    """An InternalError, or any exception that is no LaminaError."""
    CRASH = "crash"
    """The process died."""
    HANG = "hang"
    """The process did not come to an end in time."""

    @property
    def is_fault(self) -> bool:
        return self not in (Kind.SAME, Kind.REFUSAL)


@dataclass(frozen=True)
class Outcome:
    """The end of a case: its kind, one line of text, and the place."""

    kind: Kind
    said: str = ""
    """One line: the difference, the message, the signal."""
    where: str = ""
    """The two ways that were compared (`opt level 0 against 3`), the pass or the level."""

    @property
    def signature(self) -> str:
        """The text that equal faults have in common: the kind, the place, the words without numbers and names."""
        return f"{self.kind}: {self.where}: {without_names(self.said)}"

    def json(self) -> dict[str, str]:
        """The outcome as JSON has it."""
        return {**asdict(self), "kind": self.kind.value}

    @staticmethod
    def of_json(data: Mapping[str, Any]) -> Outcome:
        """The outcome that `json` has written. Raises KeyError or ValueError for anything else."""
        return Outcome(Kind(data["kind"]), str(data["said"]), str(data["where"]))

    @staticmethod
    def of_error(error: BaseException, where: str = "") -> Outcome:
        """The outcome of an exception: a refusal, or an internal error of a pass where the message names one."""
        said = one_line(render_error(error).removeprefix("error: "))
        if isinstance(error, LaminaError) and not isinstance(error, InternalError):
            return Outcome(Kind.REFUSAL, said, where)
        failing = _PASS.search(said)
        return Outcome(Kind.INTERNAL_ERROR, said, failing[1] if failing else where)


_PASS = re.compile(r"internal error in pass '([\w-]+)'")
_NAMES = (
    (re.compile(r"reproducer written to \S+; "), ""),
    (re.compile(r"0x[0-9a-fA-F]+"), "#"),
    (re.compile(r"""'[^']*'|"[^"]*\""""), "'_'"),
    (re.compile(r"[%@!][\w.$-]+"), "%_"),
    (re.compile(r"(?:tensor|memref|vector)<[^ ]*>"), "<_>"),
    (re.compile(r"\S*/\S*"), "/_"),
    # Whatever a number stands in is a name or a type with it: f32, conv_3, 4x8.
    (re.compile(r"\w*\d[\w.+-]*"), "#"),
    (re.compile(r"#(?:[ ,]+#)+"), "#"),
)


def without_names(text: str) -> str:
    """A message without what differs between two occurrences of a fault: numbers, names, types and paths."""
    for pattern, put in _NAMES:
        text = pattern.sub(put, text)
    return one_line(text)


def one_line(text: str, limit: int = 400) -> str:
    """A text with single blanks between its words, cut at the limit."""
    return " ".join(text.split())[:limit]
