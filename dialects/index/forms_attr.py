"""Whole numbers of an op's attribute that may depend on symbols: `newshape = [b, s * 2, 64]`.

As numbers they are those of the current symbols (`symbols.with_symbols`): ints and `SymbolicExtent`s.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from lamina.dialects.index.linear import constant
from lamina.dialects.index.symbols import (
    SymbolicExtent,
    current_symbols,
    extent_text,
    form_of,
    parse_extent,
    symbols_of,
)
from lamina.dialects.infos import SymbolicAttribute, TypeMismatch


@irdl_attr_definition
class FormsAttr(ParametrizedAttribute, SymbolicAttribute):
    """A list of forms over symbols, at least one of which is no number: `#relay.forms<n * 2, 64>`."""

    name = "relay.forms"
    forms: ArrayAttr[StringAttr] = param_def()

    @staticmethod
    def of(numbers: Sequence[int]) -> FormsAttr:
        """The attribute of numbers that may depend on symbols."""
        forms = [n.form if isinstance(n, SymbolicExtent) else constant(int(n)) for n in numbers]
        return FormsAttr(ArrayAttr([StringAttr(extent_text(f)) for f in forms]))

    @property
    def texts(self) -> list[str]:
        """The forms as text."""
        return [f.data for f in self.forms]

    @property
    def names(self) -> list[str]:
        """The symbols that the forms name, each once."""
        return list(dict.fromkeys(n for text in self.texts for n in symbols_of(form_of(text))))

    def numbers(self) -> tuple[int, ...]:
        """The numbers, of the current symbols. Raises TypeMismatch where nothing says what a symbol may be."""
        symbols = current_symbols()
        missing = [n for n in self.names if symbols is None or n not in symbols.known]
        if missing or symbols is None:
            raise TypeMismatch(
                f"nothing says what {missing[0]} in [{', '.join(self.texts)}] may be; the module's relay.symbols do"
            )
        return tuple(symbols.number(form_of(text)) for text in self.texts)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        texts = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: extent_text(parse_extent(parser)))
        if not any(symbols_of(form_of(t)) for t in texts):
            parser.raise_error("expected a form over symbols among them", start, parser.pos)
        return (ArrayAttr(map(StringAttr, texts)),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(", ".join(self.texts))
