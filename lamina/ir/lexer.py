"""The tokens of IR text, most of them by one regular expression.

xDSL's lexer looks at the first character of a token and tries one kind after the other: half of what reading a text
takes. Here one expression skips what is between tokens and finds the common ones whole; whatever it does not know,
and all that is wrong, is left to xDSL's.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import re
from typing import Any

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRToken,
    MLIRTokenKind,
    StringLiteral,
)

MAX_DIGITS = 4000

_SUFFIX = r"(?:[0-9]++|[a-zA-Z$._-][a-zA-Z0-9$._-]*+)"
_COMMON: dict[MLIRTokenKind | None, str] = {
    MLIRTokenKind.PERCENT_IDENT: f"%{_SUFFIX}",
    # Punctuation that begins nothing longer; `lex` asks the table which it is.
    None: r"->|[:,()}\[\]<>=+/*?|-]|\{(?!-#)",
    MLIRTokenKind.BARE_IDENT: r"[a-zA-Z_][a-zA-Z0-9_$.]*+",
    # Decimal and at most 18 digits; `0x` may be a hexadecimal number, and `1.` is none of these.
    MLIRTokenKind.INTEGER_LIT: r"(?:[1-9][0-9]{0,17}+|0(?!x))(?![0-9.])",
    MLIRTokenKind.STRING_LIT: r'"[^"\\\n\v\f]*+"',
    MLIRTokenKind.AT_IDENT: r"@[a-zA-Z_][a-zA-Z0-9_$.]*+",
    MLIRTokenKind.EXCLAMATION_IDENT: f"!{_SUFFIX}",
    MLIRTokenKind.HASH_IDENT: rf"#(?!-\}}){_SUFFIX}",
    MLIRTokenKind.CARET_IDENT: rf"\^{_SUFFIX}",
}
_TOKEN = re.compile(r"(?:\s++|//[^\n]*+)*+(?:" + "|".join(f"({e})" for e in _COMMON.values()) + ")", re.ASCII)
_KINDS = (None, *_COMMON)


class Lexer(MLIRLexer):
    """xDSL's lexer, faster, with limits, and with strings that are not ASCII."""

    # xDSL's expression, made possessive: it tried 2^n ways to read a long string without an end.
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def lex(self) -> MLIRToken:
        source = self.input
        match = _TOKEN.match(source.content, self.pos)
        if match is None:
            return super().lex()
        group = match.lastindex
        assert group is not None
        start, self.pos = match.span(group)
        kind = _KINDS[group] or KIND_BY_PUNCTUATION_SPELLING[match[group]]
        if kind is MLIRTokenKind.STRING_LIT:
            return MLIRToken(kind, StringLiteral(start, self.pos, source))
        # One per token: the constructor of a frozen class would take as long as finding it.
        span: Span[str] = object.__new__(Span)
        fields: dict[str, Any] = vars(span)
        fields["start"], fields["end"], fields["input"] = start, self.pos, source
        return MLIRToken(kind, span)

    def _lex_string_literal(self, start_pos: int) -> MLIRToken:
        """Text is a string, also where it is not ASCII: so it is printed, with escapes."""
        token = super()._lex_string_literal(start_pos)
        if token.kind is MLIRTokenKind.BYTES_LIT:
            try:
                _ = StringLiteral.from_span(token.span).string_contents
            except UnicodeDecodeError:
                return token
            return MLIRToken(MLIRTokenKind.STRING_LIT, token.span)
        return token

    def _lex_number(self, start_pos: int) -> MLIRToken:
        token = super()._lex_number(start_pos)
        if token.span.len > MAX_DIGITS:
            raise ParseError(token.span, f"number of {token.span.len} characters; the limit is {MAX_DIGITS}")
        return token
