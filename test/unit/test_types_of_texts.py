"""Types that stand in texts many times are made once, and are those that xDSL reads."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

from lamina.ir import parsing
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import SourceParser, TextError, parse_text

ELEMENTS = st.sampled_from(["f32", "f16", "bf16", "f64", "i1", "i8", "ui8", "si16", "i64", "index", "f33", "x", "i"])
SHAPES = st.lists(st.one_of(st.integers(0, 12).map(str), st.sampled_from(["?", "*", "[4]", "00"])), max_size=3)


@st.composite
def shaped(draw: st.DrawFn) -> str:
    """What looks like a type with a shape."""
    kind = draw(st.sampled_from(["tensor", "vector", "memref", "complex", "vectors"]))
    inner = "x".join([*draw(SHAPES), draw(ELEMENTS)])
    more = draw(st.sampled_from(["", " ", ", 1", ', "a"']))
    return f"{kind}<{inner}{more}>{draw(st.sampled_from(['', '', '', 'x', '.a', '<']))}"


def read(parser: Parser) -> str:
    """The types of a text, and where the parser stands then; the error where it takes none."""
    try:
        found = [parser.parse_optional_type() for _ in range(3)]
        return f"{found} {parser.pos}"
    except Exception as e:
        return type(e).__name__


@settings(max_examples=300, deadline=None)
@given(st.one_of(ELEMENTS, shaped()), st.one_of(ELEMENTS, shaped()), st.sampled_from([" ", "\n", " // f32\n"]))
def test_types_are_those_of_xdsl(one: str, two: str, between: str) -> None:
    text = f"{one}{between}{two}{between}{one}"
    ctx = LaminaContext()
    expected = read(Parser(ctx, text))
    for _ in range(2):  # the second time they are known
        assert read(SourceParser(ctx, text, "f")) == expected


def test_few_types_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "MAX_TYPES", 4)
    monkeypatch.setattr(parsing, "_TYPES", {})
    types = ", ".join(f"tensor<{n}xf32>" for n in range(1, 20))
    parse_text(LaminaContext(), f'%0:19 = "test.op"() : () -> ({types})', "f")
    assert 0 < len(parsing._TYPES) <= 4  # pyright: ignore[reportPrivateUsage]


def test_a_type_that_is_refused_is_refused_again() -> None:
    for _ in range(2):
        with pytest.raises(TextError, match="limited to 16777215 bits"):
            parse_text(LaminaContext(), '%0 = "test.op"() : () -> tensor<2xi99999999>', "f")
