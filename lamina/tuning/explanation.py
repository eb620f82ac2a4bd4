"""Explanation of schedules: the candidates of each question, what each is expected to take, and why one was taken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lamina.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from lamina.dialects.choices import Question

TAKEN = "->"
"""The mark of the candidate that was taken."""


def of_node(questions: Iterable[Question], node: str) -> list[Question]:
    """The questions that were asked for a node of the model. Raises UsageError where there are none."""
    asked = list(questions)
    found = [q for q in asked if node in q.nodes]
    if not found:
        nodes = sorted({n for q in asked for n in q.nodes})
        hint = did_you_mean(node, nodes) or f"{len(nodes)} other nodes have some"
        raise UsageError(f"no choice was made for a node {node!r}", hint=hint)
    return found


def reason(question: Question) -> str:
    """The reason why a question was answered as it was."""
    if question.chosen != question.candidates[0]:
        return "the choices that are given say so"
    cycles = [e.cycles for e in question.estimates]
    if cycles and cycles[0] == min(cycles):
        return "the fewest cycles expected"
    return question.why or "it comes first"


def plain(question: Question, gigahertz: float, measured: Sequence[float] = ()) -> dict[str, Any]:
    """A question as plain values: seconds are those of one kernel, on a core of so many cycles in a nanosecond."""
    candidates: list[dict[str, Any]] = [{"candidate": c} for c in question.candidates]
    for row, e in zip(candidates, question.estimates, strict=False):
        row |= {"cycles": e.cycles, "bytes": e.bytes, "expected_seconds": e.cycles / gigahertz / 1e9}
    for row, seconds in zip(candidates, measured, strict=False):
        row["measured_seconds"] = seconds
    answer = {"chosen": question.chosen, "reason": reason(question)}
    return {"question": question.name, "nodes": sorted(question.nodes), "candidates": candidates, **answer}


def text(found: Mapping[str, Any]) -> str:
    """A question as a table, from its plain values."""
    from lamina.measure.timing import columns, duration

    rows: list[tuple[str, ...]] = [("", "candidate", "expected", "cycles", "bytes read", "measured", "")]
    for c in found["candidates"]:
        expected = ("", "", "")
        if "cycles" in c:
            expected = (duration(c["expected_seconds"]), f"{c['cycles']:,.0f}", f"{c['bytes']:,.0f}")
        measured = duration(c["measured_seconds"]) if "measured_seconds" in c else ""
        rows.append((TAKEN if c["candidate"] == found["chosen"] else "", c["candidate"], *expected, measured, ""))
    shown = [k for k in range(len(rows[0])) if any(row[k] for row in rows[1:])]
    table = columns([(*(row[k] for k in shown), "") for row in rows])
    lines = [
        ", ".join(found["nodes"]),
        f"  {found['question']}",
        *(f"  {line.rstrip()}" for line in table.splitlines()),
    ]
    return "\n".join([*lines, f"  {found['reason']}"])
