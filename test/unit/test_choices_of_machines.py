"""Choices of the default schedules for layers of real models, on five processors: `docs/machines.md`."""

from __future__ import annotations

from tools import choices
from tools.page_parts import with_part


def test_estimates_and_choices_are_those_of_the_page() -> None:
    """A change that is meant is written by `python -m tools.choices`, and read in the page's difference."""
    page = choices.PAGE.read_text("utf-8")
    for found, wanted in zip(
        with_part(choices.PAGE, "tools.choices", choices.tables()).splitlines(), page.splitlines(), strict=True
    ):
        assert found == wanted
