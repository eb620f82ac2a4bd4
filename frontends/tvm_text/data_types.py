"""Data types in Relay's text: `type List[A] { Cons(A, List[A]), Nil }`, `match (%l) { Cons(%h, _) => %h, ... }`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.frontends.tvm_text import adt, ty
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.lexer import Token

if TYPE_CHECKING:
    from lamina.frontends.tvm_text.parser import Parser


def type_parameters(parser: Parser) -> list[ty.TypeVar]:
    """`[A, B]`, or nothing."""

    def name() -> ty.TypeVar:
        token = parser.take()
        if token.kind != "name":
            parser.fail(f"expected a type parameter, got {token.text!r}", token)
        return ty.TypeVar(token.text)

    return parser.listed("]", name) if parser.skip("[") else []


def read_types(parser: Parser) -> None:
    """Read the data types of a text, wherever they stand outside of functions."""
    start, depth = parser.place, 0
    found: list[tuple[int, Token]] = []
    while parser.word.kind != "end":
        token = parser.word
        depth += (token.text in ("{", "(", "[", "#[")) - (token.text in ("}", ")", "]")) if token.kind == "punct" else 0
        if depth == 0 and token.kind == "name" and token.text in ("type", "extern"):
            found.append((parser.place, token))
        parser.take()
    for place, token in found:
        parser.place = place
        definition(parser, token)
    parser.place = start


def definition(parser: Parser, token: Token) -> None:
    """`type Name[A] { ... }` or `extern type Name[A]`; one that is read already is passed over."""
    extern = parser.skip("extern")
    parser.expect("type")
    name = parser.take()
    if name.kind != "name":
        parser.fail(f"expected the name of a data type, got {name.text!r}", name)
    header = ty.GlobalTypeVar(name.text)
    parameters = type_parameters(parser)
    known = parser.type_places.get(name.text)
    if known is not None and known != token:
        parser.fail(f"the data type {name.text} is defined twice", name)
    constructors: list[adt.Constructor] = []

    def constructor() -> None:
        word = parser.take()
        if word.kind != "name":
            parser.fail(f"expected a constructor, got {word.text!r}", word)
        if known is None and (word.text in parser.constructors or any(c.name_hint == word.text for c in constructors)):
            parser.fail(f"the constructor {word.text} is defined twice", word)
        fields = parser.listed(")", parser.type) if parser.skip("(") else []
        constructors.append(adt.Constructor(word.text, fields, header))

    parser.type_vars.append({p.name_hint for p in parameters})
    if extern:
        parser.skip(";")
    else:
        parser.expect("{")
        parser.listed("}", constructor)
    parser.type_vars.pop()
    if known is None:
        parser.type_places[name.text] = token
        parser.types[header] = adt.TypeData(header, parameters, constructors)
        parser.constructors.update((c.name_hint, c) for c in constructors)


def match(parser: Parser, token: Token) -> Any:
    """Parse what stands behind `match`."""
    complete = not parser.skip("?")
    parser.expect("(")
    data = parser.expression()
    parser.expect(")")
    parser.expect("{")

    def clause() -> adt.Clause:
        scope: dict[str, e.Expr] = {}
        lhs = _pattern(parser, scope)
        parser.expect("=>")
        parser.scopes.append(scope)
        rhs = parser.block({}) if parser.at("{") else parser.expression()
        parser.scopes.pop()
        return adt.Clause(lhs, rhs)

    return parser.located(adt.Match(data, parser.listed("}", clause), complete), token)


def _pattern(parser: Parser, scope: dict[str, e.Expr]) -> adt.Pattern:
    token = parser.take()
    if token.text == "_" and token.kind == "name":
        return adt.PatternWildcard()
    if token.kind == "local":
        if token.text in scope:
            parser.fail(f"{token.text} stands twice in the pattern", token)
        variable = e.Var(token.text[1:], parser.type() if parser.skip(":") else None)
        scope[token.text] = parser.located(variable, token)
        return adt.PatternVar(variable)
    if token.text == "(" and token.kind == "punct":
        return adt.PatternTuple(parser.listed(")", lambda: _pattern(parser, scope)))
    if token.kind != "name":
        parser.fail(f"expected a pattern, got {token.text!r}", token)
    constructor = parser.constructors.get(token.text)
    if constructor is None:
        known = ", ".join(parser.constructors) or "none"
        parser.fail(f"there is no constructor {token.text}", token, f"there are {known}")
    fields = parser.listed(")", lambda: _pattern(parser, scope)) if parser.skip("(") else []
    return adt.PatternConstructor(constructor, fields)
