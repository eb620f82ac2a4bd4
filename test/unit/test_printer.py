"""The printer writes what xDSL's does: strings of any bytes, lines and columns."""

from __future__ import annotations

from io import StringIO

from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.printer import Printer

from lamina.ir.diagnostics import ModulePrinter


def printed(printer: Printer, texts: list[str], literals: list[bytes]) -> tuple[int, int]:
    with printer.indented():
        for text in texts:
            printer.print_string(text)
        for literal in literals:
            printer.print_bytes_literal(literal)
            printer.print_string("\n", indent=0)
            printer.print_bytes_literal(literal)
    return printer._current_line, printer._current_column  # pyright: ignore[reportPrivateUsage]


@settings(max_examples=200, deadline=None)
@given(
    texts=st.lists(st.text("ab\n \u00e9", max_size=6), max_size=5),
    literals=st.lists(st.one_of(st.binary(max_size=5), st.text('ab"\\ ~\x7f', max_size=5).map(str.encode)), max_size=3),
)
def test_texts_and_literals_are_those_of_xdsl(texts: list[str], literals: list[bytes]) -> None:
    ours, theirs = StringIO(), StringIO()
    assert printed(ModulePrinter(ours), texts, literals) == printed(Printer(theirs), texts, literals)
    assert ours.getvalue() == theirs.getvalue()
