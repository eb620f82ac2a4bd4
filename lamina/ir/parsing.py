"""Reading IR text: every op knows its line, and no text, however broken, gets past with a traceback.

`parse_text` is xDSL's parser with source locations, limits (nesting, numbers, types and constants that would eat all
memory), near names for what it does not know, and one kind of exception: `TextError`.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    UNKNOWN_LOC,
    AnyDenseElement,
    AnyFloat,
    CallSiteLoc,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FusedLoc,
    IndexType,
    IntAttr,
    IntegerType,
    ModuleOp,
    NameLoc,
    NoneAttr,
    RankedStructure,
    StringAttr,
    UnknownLoc,
    UnregisteredAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.irdl import AttrConstraint, base
from xdsl.parser import AttrParser, Parser, ParserState, UnresolvedOperand
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from lamina.errors import InputError, did_you_mean
from lamina.ir.context import LaminaContext
from lamina.ir.lexer import Lexer
from lamina.ir.location import raised_at

MAX_DEPTH = 256
"""Ops nested in ops."""
MAX_ELEMENTS = 1 << 26
"""Elements of one dense constant in a text; weights belong in the parameter store."""
MAX_INTEGER_WIDTH = (1 << 24) - 1
"""MLIR's own limit."""
MOST_SAID = 1000
"""Characters of a message: a name in a text has any length."""
RECURSION_LIMIT = 12_000
"""Python frames that 256 nested ops need in xDSL's parser and printer, with room to spare."""


class TextError(InputError):
    """Text that is not IR, with its position; `notes` are further (line, column, message)."""

    def __init__(
        self,
        what: str,
        file: str,
        line: int,
        column: int,
        width: int = 1,
        notes: Sequence[tuple[int, int, str]] = (),
    ) -> None:
        super().__init__(what, where=f"{file}:{line}:{column}")
        self.file = file
        self.line = line
        self.column = column
        self.width = width
        self.notes = notes


def decode(data: bytes, file: str) -> str:
    """UTF-8 text without its byte-order mark. Raises TextError at the first byte that is not text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as e:
        start = data.rfind(b"\n", 0, e.start) + 1
        line = data.count(b"\n", 0, e.start) + 1
        column = len(data[start : e.start].decode("utf-8", "replace")) + 1
        raise TextError(f"byte 0x{data[e.start]:02x} is not UTF-8", file, line, column) from None
    text = text.removeprefix("\ufeff")
    nul = text.find("\0")
    if nul >= 0:
        raise TextError("byte 0x00 in the text", file, text.count("\n", 0, nul) + 1, nul - text.rfind("\n", 0, nul))
    return text


_SMALL: dict[int, IntAttr] = {}


def _small(value: int) -> IntAttr:
    found = _SMALL.get(value)
    if found is None:
        found = _SMALL[value] = IntAttr(value)
    return found


_PLAIN_TYPE = re.compile(
    r"(?:(?:tensor|vector|memref)<(?:[0-9]+x)*+[a-z][a-z0-9]*+>|[a-z][a-z0-9]*+(?!<))(?![a-zA-Z0-9_$.])", re.ASCII
)
"""A number, or a tensor of static shape, written without spaces."""
_TYPES: dict[str, TypeAttribute] = {}
"""Such types by their text: a text has few, each many times, and to make one takes as long as to read an op."""
MAX_TYPES = 10_000


@cache
def _dense_type() -> AttrConstraint[RankedStructure[AnyDenseElement]]:
    return base(RankedStructure[IntegerType | IndexType | AnyFloat | ComplexType])


class _BitsElement(AttrParser._TensorLiteralElement):  # type: ignore[reportPrivateUsage]
    """A number in hexadecimal: the bits of an element of a float type."""

    def to_type(self, parser: AttrParser, type: Any) -> Any:
        if not isinstance(type, AnyFloat):
            return super().to_type(parser, type)
        bits = int(self.value)  # type: ignore[arg-type]
        if bits >> type.bitwidth:
            parser.raise_error(f"has more than the {type.bitwidth} bits of {type}", self.span)
        return type.unpack(bits.to_bytes(type.bitwidth // 8, "little"), 1)[0]


IGNORED_DIALECTS = ("sdy", "mhlo", "stablehlo")
"""Dialects whose attributes are kept as they are written where nobody knows them: they say nothing of what a program
computes, or of an op that is refused."""
LOCATIONS = (UnknownLoc, FileLineColLoc, NameLoc, CallSiteLoc, FusedLoc)


class SourceParser(Parser):
    """xDSL's parser, with a source location on every op, limits, and near names in its errors."""

    def __init__(self, ctx: Context, text: str, name: str, first_line: int = 1) -> None:
        self._line_starts = [0]
        start = text.find("\n")
        while start >= 0:
            self._line_starts.append(start + 1)
            start = text.find("\n", start + 1)
        self._first_line = first_line
        self._file = StringAttr(name)
        self._name_starts: list[int] = []
        self._first_uses: dict[str, Span] = {}
        self._promised: dict[str, tuple[NameLoc, Span]] = {}
        AttrParser.__init__(self, ParserState(Lexer(Input(text, name))), ctx)
        self.ssa_values = {}
        self.blocks = {}
        self.forward_block_references = defaultdict(list)
        self.forward_ssa_references = {}

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of an offset into the text."""
        line = bisect_right(self._line_starts, offset)
        return line + self._first_line - 1, offset - self._line_starts[line - 1] + 1

    # -- ops -------------------------------------------------------------------------------------------------

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        starts = self._name_starts
        starts.append(self._current_token.span.start)
        if len(starts) > MAX_DEPTH:
            self.raise_error(f"ops are nested more than {MAX_DEPTH} deep")
        return results

    def parse_operation(self) -> Operation:
        op = super().parse_operation()
        start = self._name_starts.pop()
        # A written `loc(unknown)` is another object than the default, and stays.
        if op.location is UNKNOWN_LOC:
            op.location = self._location(start)
        return op

    def _location(self, start: int) -> FileLineColLoc:
        # One per op: the checks of xDSL's constructors would cost six times the rest.
        line, column = self.position(start)
        location = object.__new__(FileLineColLoc)
        fields: dict[str, Any] = vars(location)  # type: ignore[assignment]
        fields["filename"] = self._file
        fields["line"] = _small(line)
        fields["column"] = _small(column)
        return location

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        ops: list[Operation] = []
        while (kind := self._current_token.kind) != MLIRTokenKind.EOF:
            if kind in (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT):
                self._parse_alias_def()
            elif kind is MLIRTokenKind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
            elif (op := self.parse_optional_operation()) is not None:
                ops.append(op)
            else:
                self.raise_error(f"expected an operation, found '{self._current_token.text}'")
        for name in self.forward_ssa_references:
            self.raise_error(f"use of undeclared value %{name}", self._first_uses[name])
        if self._promised:
            self._keep_promises(ops)
        if len(ops) == 1 and isinstance(ops[0], ModuleOp):
            return ops[0]
        if not allow_implicit_module:
            self.raise_error("expected one builtin.module at the top", 0)
        module = ModuleOp(ops)
        module.location = FileLineColLoc(self._file, IntAttr(self._first_line), IntAttr(1))
        return module

    def parse_str_literal(self, context_msg: str = "") -> str:
        found = self.parse_optional_str_literal()
        if found is None:
            self.raise_error(f"expected a string{': ' if context_msg else ''}{context_msg}")
        return found

    def resolve_operand(self, operand: UnresolvedOperand, type: Attribute) -> SSAValue:  # type: ignore[override]
        name = operand.operand_name
        if name not in self.ssa_values and name not in self._first_uses:
            self._first_uses[name] = operand.span
        return super().resolve_operand(operand, type)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        found = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if found is not None:
            return found
        start = self._name_starts[-1]
        span = Span(start, self._previous_end(start, name), self.lexer.input)
        self._raise_unknown(name, span)

    def _previous_end(self, start: int, name: str) -> int:
        quoted = self.lexer.input.at(start) == '"'
        return start + len(name) + (2 if quoted else 0)

    def _raise_unknown(self, name: str, span: Span) -> NoReturn:
        dialect, dot, _ = name.partition(".")
        registered = list(self.ctx.registered_dialect_names)
        if not dot:
            message = f"unknown operation '{name}'"
            near = did_you_mean(name, [n for d in ("func", "arith", "te") for n in _op_names(self.ctx, d)])
        elif dialect not in registered:
            message = f"unknown dialect '{dialect}' in '{name}'"
            near = did_you_mean(dialect, registered)
            near = f"{near}{', or ' if near else ''}is it one of your own, for --load FILE.py?"
        else:
            message = f"unknown operation '{name}'"
            near = _instead(name) or did_you_mean(name, _op_names(self.ctx, dialect))
        self.raise_error(message + (f"; {near}" if near else ""), span)

    # -- locations -------------------------------------------------------------------------------------------

    def _parse_location(self) -> Any:
        """xDSL's locations, with ranges, what is fused for a reason, and aliases that the text defines further down."""
        token = self._current_token
        if token.kind is MLIRTokenKind.HASH_IDENT:
            name = token.text
            if name in self.attribute_aliases:
                return super()._parse_location()
            self._consume_token(MLIRTokenKind.HASH_IDENT)
            found = self._promised.get(name)
            if found is None:
                found = self._promised[name] = (NameLoc(StringAttr(name), NoneAttr()), token.span)
            return found[0]
        if token.kind is MLIRTokenKind.BARE_IDENT and token.text == "fused":
            return self._parse_fused_location()
        self._location_depth += 1
        if self._location_depth > MAX_DEPTH:
            self.raise_error(f"locations are nested more than {MAX_DEPTH} deep")
        found = super()._parse_location()
        self._location_depth -= 1
        if type(found) is FileLineColLoc and self.parse_optional_keyword("to"):
            # The end of a range, of which the beginning is kept: `"f.py":7:11 to :32` or `to 8:32`.
            self.parse_optional_integer(False, False)
            self.parse_punctuation(":")
            self.parse_integer(False, False)
        return found

    _location_depth = 0

    def _parse_fused_location(self) -> FusedLoc:
        self.parse_keyword("fused")
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<"):
            metadata = self.parse_attribute()
            self.parse_punctuation(">")
        parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
        return FusedLoc(tuple(parts), metadata)

    def _keep_promises(self, ops: list[Operation]) -> None:
        """Put the locations of aliases that were used before they were defined where they were promised."""
        promised = {id(location): (name, span) for name, (location, span) in self._promised.items()}
        known: dict[int, Any] = {}

        def kept(location: Any) -> Any:
            found = known.get(id(location))
            if found is None:
                found = known[id(location)] = resolved(location)
                alive.append(location)
            return found

        alive: list[Any] = []
        asked: set[str] = set()

        def resolved(location: Any) -> Any:
            if id(location) in promised:
                name, span = promised[id(location)]
                meant = self.attribute_aliases.get(name)
                if not isinstance(meant, LOCATIONS):
                    self.raise_error(f"{'undefined alias' if meant is None else 'no location:'} '{name}'", span)
                if name in asked:
                    self.raise_error(f"the location '{name}' contains itself", span)
                asked.add(name)
                found = kept(meant)
                asked.discard(name)
                return found
            if isinstance(location, NameLoc):
                return NameLoc(location.desc, kept(location.location))
            if isinstance(location, CallSiteLoc):
                return CallSiteLoc(kept(location.callee), kept(location.caller))
            if isinstance(location, FusedLoc):
                return FusedLoc(tuple(map(kept, location.locations.data)), location.metadata)  # type: ignore[attr-defined]
            return location

        for root in ops:
            for op in root.walk():
                op.location = kept(op.location)
                for region in op.regions:
                    for block in region.blocks:
                        for argument in block.args:
                            argument.location = kept(argument.location)

    # -- limits ----------------------------------------------------------------------------------------------

    def parse_shape_dimension(self, allow_dynamic: bool = True) -> int:
        span = self._current_token.span
        if span.len > 19 and self._current_token.kind is MLIRTokenKind.INTEGER_LIT:
            self.raise_error("dimension does not fit in 64 bits", span)
        value = super().parse_shape_dimension(allow_dynamic)
        if value >= 1 << 63:
            self.raise_error("dimension does not fit in 64 bits", span)
        return value

    def _parse_optional_integer_or_float_type(self) -> TypeAttribute | None:
        token = self._current_token
        if token.kind is MLIRTokenKind.BARE_IDENT and token.span.len > 8:
            digits = token.text.lstrip("siu")
            if digits.isdecimal() and (len(digits) > 8 or int(digits) > MAX_INTEGER_WIDTH):
                self.raise_error(f"integer width is limited to {MAX_INTEGER_WIDTH} bits", token.span)
        return super()._parse_optional_integer_or_float_type()

    def parse_optional_type(self) -> TypeAttribute | None:
        token = self._current_token
        if token.kind is not MLIRTokenKind.BARE_IDENT:
            return super().parse_optional_type()
        match = _PLAIN_TYPE.match(self.lexer.input.content, token.span.start)
        if match is None:
            return super().parse_optional_type()
        found = _TYPES.get(match[0])
        if found is not None:
            self._resume_from(match.end())
            return found
        found = super().parse_optional_type()
        if found is not None:
            if len(_TYPES) >= MAX_TYPES:
                _TYPES.clear()
            _TYPES[match[0]] = found
        return found

    def _check_elements(self, shape: tuple[int, ...] | list[int], span: Span) -> None:
        count = 1
        for extent in shape:
            count *= max(extent, 0)
        if count > MAX_ELEMENTS:
            self.raise_error(f"constant of {count} elements; the limit of a text is {MAX_ELEMENTS}", span)

    def _parse_tensor_literal_element(self) -> Any:
        found = super()._parse_tensor_literal_element()
        # xDSL reads the bits of a float (-inf is 0xFF800000) as an integer.
        return _BitsElement(False, found.value, found.span) if found.span.text[:2] in ("0x", "0X") else found

    def _parse_dense_literal_type(self):  # noqa: ANN202
        # xDSL's makes the constraint anew for each literal, which takes as long as reading twenty ops.
        span = self._current_token.span
        type_ = self.expect(self.parse_optional_type, "type of the constant expected")
        if not _dense_type().verifies(type_):
            self.raise_error("expected a tensor, memref or vector of numbers", span)
        if DYNAMIC_INDEX in type_.get_shape():
            self.raise_error("the shape of a constant is static", span)
        self._check_elements(type_.get_shape(), span)
        return type_

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        if type is not None:
            self._check_elements(type.get_shape(), self._current_token.span)
        span = self._current_token.span
        try:
            return super().parse_dense_int_or_fp_elements_attr(type)
        except ParseError as e:
            # What is wrong with the whole constant is found behind its end: point at its beginning instead.
            if e.span.start == self._current_token.span.start:
                self.raise_error(e.msg, span)
            raise

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Any:
        name = ("!" if is_type else "#") + attr_or_dialect_name
        if "." not in name and name not in self.attribute_aliases and self._current_token.text != "<":
            self.raise_error(f"undefined alias '{name}'", self._behind_us(name))
        return super()._parse_extended_type_or_attribute(attr_or_dialect_name, is_type)

    def _scan_body(self, start: int) -> str:
        """The text up to the `>` that closes an attribute's body."""
        end = self._raw_scan_balanced(start)
        self.lexer.pos = end
        self._parser_state.current_token = self.lexer.lex()
        return self.lexer.input.content[start:end]

    def _behind_us(self, text: str) -> Span:
        """The span of a text that was just read."""
        start = self.lexer.input.content.rfind(text, 0, self._current_token.span.start)
        if start < 0:  # written in another way: `#memref<triple>` for `#memref.triple`
            return self._current_token.span
        return Span(start, start + len(text), self.lexer.input)

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: int | None
    ):  # noqa: ANN202
        dialect = attr_name.partition(".")[0]
        if dialect in IGNORED_DIALECTS and "." in attr_name and self.ctx.get_optional_attr(attr_name) is None:
            if starting_opaque_pos is not None:
                text = self._scan_body(starting_opaque_pos)
            else:
                text = self._parse_dialect_symbol_body() if self._current_token.text == "<" else ""
            return _unknown_attribute(attr_name, is_type)(attr_name, is_type, is_opaque, text)
        if "." in attr_name:
            find = self.ctx.get_optional_type if is_type else self.ctx.get_optional_attr
            if find(attr_name) is None:
                sigil = "!" if is_type else "#"
                span = self._behind_us(sigil + attr_name)
                dialect = attr_name.partition(".")[0]
                kind = "type" if is_type else "attribute"
                near = ""
                if dialect not in self.ctx.registered_dialect_names:
                    near = did_you_mean(dialect, list(self.ctx.registered_dialect_names))
                self.raise_error(f"unknown {kind} '{sigil}{attr_name}'" + (f"; {near}" if near else ""), span)
        return super()._parse_dialect_type_or_attribute_body(attr_name, is_type, is_opaque, starting_opaque_pos)


@cache
def _unknown_attribute(name: str, is_type: bool) -> Any:
    return UnregisteredAttr.with_name_and_type(name, is_type)


def _op_names(ctx: Context, dialect: str) -> list[str]:
    return ctx.op_names(dialect) if isinstance(ctx, LaminaContext) else []


def _instead(name: str) -> str:
    """A hint at what there is for an op of TVM's that Relay here does not have, else ""."""
    if not name.startswith("relay."):
        return ""
    from lamina.ir.tvm_names import INSTEAD

    parts = name.split(".")
    for length in range(len(parts), 1, -1):
        found = INSTEAD.get(".".join(parts[:length]))
        if found is not None:
            return f"instead there is {found}" if not found.startswith("nothing") else found
    return ""


def parse_text(ctx: Context, text: str, file: str, *, first_line: int = 1, implicit_module: bool = True) -> ModuleOp:
    """The module of a text; an empty text is an empty module. Raises TextError."""
    parser: SourceParser | None = None

    def error(what: str, start: int, end: int, notes: list[tuple[int, int, str]] | None = None) -> TextError:
        if parser is None:
            lines = text[:start].split("\n")
            line, column = len(lines) + first_line - 1, len(lines[-1]) + 1
        else:
            line, column = parser.position(start)
        return TextError(_sentence(what), file, line, column, max(end - start, 1), notes or ())

    try:
        # The constructor lexes the first token, so it can fail as well.
        parser = SourceParser.__new__(SourceParser)
        SourceParser.__init__(parser, ctx, text, file, first_line)
        return parser.parse_module(implicit_module)
    except MultipleSpansParseError as e:
        assert parser is not None
        notes = [(*parser.position(s.start), m or (e.ref_text or "").rstrip(":\n")) for s, m in e.refs]
        raise error(e.msg, e.span.start, e.span.end, notes) from e
    except ParseError as e:
        raise error(e.msg, e.span.start, e.span.end) from e
    except TextError:
        raise
    except RecursionError as e:
        start = _token_start(parser)
        raise error("nested too deeply", start, start + 1) from e
    except Exception as e:
        # xDSL's parsers of attributes and ops meet bad text with all kinds of exceptions; an attribute that does
        # not verify is the commonest.
        start = _token_start(parser)
        what = str(e) if str(e) and not isinstance(e, (KeyError, AssertionError)) else f"{type(e).__name__}: {e}"
        found = raised_at(e)
        what += f" ({found[0]})" if found is not None else ""
        raise error(what, start, start + 1) from e


def _token_start(parser: SourceParser | None) -> int:
    state = getattr(parser, "_parser_state", None)
    return state.current_token.span.start if state is not None else 0


def _sentence(text: str) -> str:
    """A message of xDSL in the form of ours: one line, no full stop, small first letter, names of any length cut."""
    text = " ".join(text.split()).rstrip(".!")
    if len(text) > MOST_SAID:
        text = f"{text[: MOST_SAID // 2]} ... {text[-MOST_SAID // 2 :]}"
    if text[:1].isupper() and not text[:2].isupper():
        text = text[0].lower() + text[1:]
    return text
