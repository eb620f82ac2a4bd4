"""Forms over named symbols: products, exact quotients, values and text.

    m + n * 2       b*s       (n + 7) floordiv 8

A product of symbols is a symbol of its own, whose name has those of its factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import prod

from xdsl.context import Context
from xdsl.parser import AttrParser, Parser

from lamina.dialects.index.index_map import parse_linear
from lamina.dialects.index.linear import Atom, Linear, constant, linear_text
from lamina.dialects.index.symbol_range import TIMES as TIMES

_STEPS = 16


def factors_of(atom: Atom) -> list[str]:
    """The names of the symbols whose product a symbol is: its own, of one that is no product."""
    assert isinstance(atom, str)
    return atom.split(TIMES)


def product_name(names: Sequence[str]) -> str:
    """The name of the symbol that is a product of symbols."""
    return TIMES.join(sorted(names))


def symbols_of(form: Linear) -> list[str]:
    """The names of the symbols in a form, each once; those of a product one by one."""
    return list(dict.fromkeys(n for atom in form.dims() for n in factors_of(atom)))


def evaluate(form: Linear, values: Mapping[str, int]) -> int:
    """The value of a form for values of the symbols."""
    return form.evaluate({atom: prod(values[n] for n in factors_of(atom)) for atom in form.dims()})


def product_of(a: Linear, b: Linear) -> Linear | None:
    """The product of two forms; None where a quotient would have a factor that is no number."""
    if a.is_constant or b.is_constant:
        return a * b.const if b.is_constant else b * a.const
    total = constant(a.const * b.const)
    total = total + Linear({k: c * b.const for k, c in a.terms.items() if b.const})
    total = total + Linear({k: c * a.const for k, c in b.terms.items() if a.const})
    for x, c in a.terms.items():
        for y, d in b.terms.items():
            if type(x) is tuple or type(y) is tuple:
                return None
            total = total + Linear({product_name([*factors_of(x), *factors_of(y)]): c * d})
    return total


def quotient_of(a: Linear, b: Linear) -> Linear | None:
    """The form whose product with b is a; None where there is none."""
    if any(type(t) is tuple for t in (*a.terms, *b.terms)):
        ratio = next(iter(a.terms.values()), 0) // next(iter(b.terms.values()))
        return constant(ratio) if b * ratio == a else None
    lead = max(b.terms, key=lambda t: (len(factors_of(t)), factors_of(t)))
    found = constant(0)
    for _ in range(_STEPS):
        if a == constant(0):
            return found
        term = _term_quotient(a, lead, b.terms[lead])
        product = None if term is None else product_of(b, term)
        if term is None or product is None:
            return None
        found, a = found + term, a - product
    return None


def _term_quotient(a: Linear, lead: Atom, coefficient: int) -> Linear | None:
    """The quotient of a term of `a` by the lead, of the largest that has one."""
    for atom in sorted(a.terms, key=lambda t: (len(factors_of(t)), factors_of(t)), reverse=True):
        names = factors_of(atom)
        for n in factors_of(lead):
            if n not in names:
                break
            names.remove(n)
        else:
            if a.terms[atom] % coefficient == 0:
                times = a.terms[atom] // coefficient
                return Linear({product_name(names): times}) if names else constant(times)
    return None


def extent_text(form: Linear) -> str:
    """The form as text, the same for equal forms: `m + n * 2`, `b*s`, `(n + 7) floordiv 8`."""
    return linear_text(_sorted(form), str)


def _sorted(form: Linear) -> Linear:
    named = [((a[0], _sorted(a[1]), a[2]) if type(a) is tuple else a, c) for a, c in form.terms.items()]
    return Linear(dict(sorted(named, key=lambda t: linear_text(Linear({t[0]: 1}), str))), form.const)


def parse_extent(parser: AttrParser) -> Linear:
    """A form over symbols. Raises ParseError."""

    def product() -> Linear | None:
        name = parser.parse_optional_identifier()
        if name is None:
            return None
        names, times = [name], 1
        while parser.parse_optional_punctuation(TIMES):
            more = parser.parse_optional_identifier()
            if more is None:
                times *= parser.parse_integer(allow_boolean=False)
            else:
                names.append(more)
        return Linear({product_name(names): times}) if times else constant(0)

    return parse_linear(parser, product)


def parse_extent_text(parser: AttrParser, unnamed: str) -> str:
    """The text of a form over symbols, or the name of what has none. Raises ParseError for a form without symbols."""
    start = parser.pos
    form = parse_extent(parser)
    names = symbols_of(form)
    if not names or (unnamed in names and form != Linear.dim(unnamed)):
        parser.raise_error("expected the name of an extent, or a form over names", start, parser.pos)
    return extent_text(form)


@cache
def form_of(text: str) -> Linear:
    """The form of a text that `extent_text` has written, or of a name."""
    return Linear.dim(text) if text.isidentifier() else parse_extent(Parser(Context(), text))
