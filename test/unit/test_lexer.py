"""The lexer gives the tokens of xDSL's, of all that people write and of what they should not."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from lamina.ir.lexer import Lexer

TESTS = Path(__file__).resolve().parents[1]
ODD = [
    *(
        "",
        " ",
        "\n// nothing",
        "//",
        "// a\n%b",
        "/ /",
        "\x0b\x0c%a",
        "\u00a0%a",
        "é",
        "_é",
        "%é",
        "a.b$c d-e",
        "$a",
        "@a.b-c",
    ),
    *(
        "%0",
        "%0a",
        "%a-b.c$",
        "%-",
        "%",
        "% a",
        "%12ab",
        "^bb0",
        "^",
        "^-a",
        "!llvm.ptr",
        "!",
        "!0x",
        "#map0",
        "#-}",
        "#-",
    ),
    *(
        "#-a",
        "#",
        "@",
        "@0",
        '@"a b"',
        '@"',
        "@é",
        "@_",
        "{-#",
        "{-",
        "{ -#",
        "{}",
        "->",
        "- >",
        "-->",
        "-1",
        "...",
        "..",
        ".",
    ),
    *(
        "0",
        "00",
        "01",
        "0x",
        "0x1F",
        "0X1F",
        "0xg",
        "10x8xf32",
        "0xf32",
        "1x0x2",
        "1.",
        "1.5e-3",
        "1.e",
        "1e5",
        "-.5",
        "12.x",
    ),
    *(
        "9" * 17,
        "9" * 18,
        "9" * 19,
        "9" * 30,
        "1" * 18 + ".5",
        '""',
        '"a"',
        '"a\\n"',
        '"a\\"b"',
        '"a',
        '"a\nb"',
        '"é"',
        '"\\C3"',
    ),
    *("a,b:c(d)e[f]g<h>i=j+k/l*m?n|o", "&", ";", "`", "~", "²", "1²", "%a²", "a²", '"a"b"c"', "%a//b", '"//"', "1//2"),
]


def tokens(lexer: MLIRLexer) -> list[tuple[MLIRTokenKind, int, int, type[Span[str]]] | tuple[str, int, int]]:
    """Kinds and places up to the end, or up to what is wrong and where."""
    found: list[tuple[MLIRTokenKind, int, int, type[Span[str]]] | tuple[str, int, int]] = []
    while True:
        try:
            token = lexer.lex()
        except ParseError as e:
            return [*found, (e.msg, e.span.start, e.span.end)]
        found.append((token.kind, token.span.start, token.span.end, type(token.span)))
        if token.kind is MLIRTokenKind.EOF:
            return found


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_have_the_tokens_of_xdsl(text: str) -> None:
    for written in (text, f" {text}\n", f"a{text}", f"{text}1", f"{text}-}}"):
        ours, theirs = (tokens(kind(Input(written, "f"))) for kind in (Lexer, MLIRLexer))
        assert ours == theirs, written


def test_files_have_the_tokens_of_xdsl() -> None:
    """Each fortieth, from every folder. Strings beyond ASCII are texts here, and bytes for xDSL."""
    files = sorted(TESTS.rglob("*.mlir"))[::40]
    assert len(files) > 20
    for path in files:
        text = path.read_text("utf-8", "replace")
        if text.isascii():
            assert tokens(Lexer(Input(text, "f"))) == tokens(MLIRLexer(Input(text, "f"))), path


def test_a_span_says_where_it_is() -> None:
    lexer = Lexer(Input("\n  %abc = 1", "f"))
    span = lexer.lex().span
    assert span == Span(3, 7, lexer.input) and span.text == "%abc" and span.len == 4
    assert str(span.get_location()) == str(Span(3, 7, lexer.input).get_location())
