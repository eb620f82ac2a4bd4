"""The text of StableHLO's ops: `name %a, %b, key = value {attributes} : type`, as MLIR prints them, and generic.

Where all types are one, ops that say so (`SHORT`) print it once; else there is `(types) -> type`. `KEYS` are the
attributes with a keyword between operands and dictionary. An op whose meaning is an expression of its elements is an
`ElementOp`: it has Relay's facets, so that rules are written with it, and constants are folded by its oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, FunctionType, IntegerAttr, StringAttr, TensorType, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.dtypes import dtype_name, tensor_type
from lamina.dialects.infos import TensorInfo, TypeMismatch, tensor_info
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.stablehlo.attributes import Word, ints_text, parse_ints, parse_word

Array: TypeAlias = Any


class TextKey(NamedTuple):
    """An attribute that is written `keyword = value`; `kind` is `ints`, `int`, `bool`, `str` or a class of words."""

    keyword: str
    attribute: str
    kind: str | type[Word]


def parse_keyed(parser: Parser, key: TextKey) -> Attribute:
    """The value of a keyword."""
    if key.kind == "ints":
        return DenseArrayBase.from_list(i64, parse_ints(parser))
    if key.kind == "int":
        return IntegerAttr(parser.parse_integer(True, True), i64)
    if key.kind == "str":
        return StringAttr(parser.parse_str_literal())
    if key.kind == "bool":
        return BoolAttr.from_bool(parser.parse_boolean())
    assert isinstance(key.kind, type)
    return key.kind(parse_word(parser, key.kind.WORDS))


def keyed_text(value: Any) -> str:
    """The text of such a value."""
    if isinstance(value, DenseArrayBase):
        return ints_text(tuple(value.get_values()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    if isinstance(value, Word):
        return value.data
    if isinstance(value, StringAttr):
        return str(value)
    if isinstance(value, IntegerAttr):
        number: int = value.value.data
        return ("false", "true")[number != 0] if str(value.type) == "i1" else str(number)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return str(value)


class HloOp(IRDLOperation):
    """Base of the ops: text, and checks that find a wrong attribute before a rule stumbles over it."""

    KEYS: ClassVar[tuple[TextKey, ...]] = ()
    SHORT: ClassVar[bool] = False
    """Whether one type stands for all where they are equal."""

    traits = traits_def(Pure())

    # -- facets ---------------------------------------------------------------------------------------------

    def result_info(self, *types: TensorInfo) -> TensorInfo | Sequence[TensorInfo] | None:
        """The types of the results, as far as operands and attributes say them; None where they do not."""
        return None

    def evaluate(self, *arrays: Array) -> Any:
        """The value of the result, or a list of them, on arrays; None where constants are not folded."""
        return None

    def verify_(self) -> None:
        try:
            infos = [tensor_info(v.type) for v in self.operands]
            given = [tensor_info(r.type) for r in self.results]
        except TypeMismatch:
            return  # a type that no rule takes is refused where the op is lowered
        try:
            found = self.result_info(*infos)
        except (IndexError, ValueError, TypeError, KeyError, OverflowError) as e:
            raise VerifyException(f"the attributes do not fit {listed(infos)}: {e}") from None
        if found is None:
            return
        wanted = [found] if isinstance(found, TensorInfo) else list(found)
        if wanted != given:
            raise VerifyException(f"result type {listed(given)} differs from the inferred {listed(wanted)}")

    # -- text -----------------------------------------------------------------------------------------------

    def print(self, printer: Printer) -> None:
        self.print_operands(printer)
        mark = ", " if self.operands else " "
        for key in self.KEYS:
            value = self.properties.get(key.attribute)
            if value is not None:
                printer.print_string(f"{mark}{key.keyword} = {keyed_text(value)}")
                mark = ", "
        self.print_rest(printer, {k.attribute for k in self.KEYS})

    def print_operands(self, printer: Printer) -> None:
        """` %a, %b`."""
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_ssa_value)

    def print_rest(self, printer: Printer, shown: set[str]) -> None:
        """The other attributes and the types."""
        self.print_dict(printer, shown)
        printer.print_string(" : ")
        self.print_types(printer)

    def print_dict(self, printer: Printer, shown: set[str]) -> None:
        """The attributes that are not shown elsewhere."""
        rest = {n: a for n, a in self.properties.items() if n not in shown} | self.attributes
        if rest:
            printer.print_string(" ")
            printer.print_attr_dict(rest)

    def print_types(self, printer: Printer) -> None:
        """One type, or those of operands and results."""
        types = [*self.operand_types, *self.result_types]
        if len(self.results) == 1 and (not self.operands or self.SHORT and all(t == types[0] for t in types)):
            printer.print_attribute(types[0])
        else:
            printer.print_attribute(FunctionType.from_lists(self.operand_types, self.result_types))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parse_operands(parser)
        properties: dict[str, Attribute] = {}
        if cls.KEYS:
            keys = {k.keyword: k for k in cls.KEYS}
            comma = not operands
            while comma or parser.parse_optional_punctuation(","):
                comma = False
                position = parser.pos
                word = parser.parse_optional_identifier()
                key = keys.pop(word or "", None)
                if key is None:
                    parser.raise_error(f"expected {', '.join(keys) or 'no more'} of {cls.name}", position, parser.pos)
                parser.parse_punctuation("=")
                properties[key.attribute] = parse_keyed(parser, key)
        return cls.parse_rest(parser, operands, properties)

    @classmethod
    def parse_rest(cls, parser: Parser, operands: Sequence[Any], properties: dict[str, Attribute]) -> Self:
        """The dictionary and the types."""
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        inputs, outputs = cls.parse_types(parser, len(operands))
        if len(inputs) != len(operands):
            parser.raise_error(f"{len(operands)} operands but {len(inputs)} operand types", position, parser.pos)
        resolved = [parser.resolve_operand(o, t) for o, t in zip(operands, inputs, strict=True)]
        return cls.create(operands=resolved, result_types=outputs, properties=properties, attributes=attributes)

    @classmethod
    def parse_types(cls, parser: Parser, count: int) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
        """The types of operands and results."""
        type_ = parser.parse_type()
        if isinstance(type_, FunctionType):
            return type_.inputs.data, type_.outputs.data
        return [type_] * count, [type_]

    @classmethod
    def create(cls, **given: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        """An op; attributes that it knows are its properties, what it does not know is kept beside."""
        named: dict[str, Attribute] = {}
        for kind in ("attributes", "properties"):
            named.update(given.pop(kind, None) or {})
        if named:
            known = cls.get_irdl_definition().properties
            given["properties"] = {n: a for n, a in named.items() if n in known}
            given["attributes"] = {n: a for n, a in named.items() if n not in known}
        return super().create(**given)

    # -- attributes -----------------------------------------------------------------------------------------

    def ints(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        """A list of integers, `array<i64: ...>` or `dense<...>`."""
        return tuple(int(v) for v in ints_of(self.properties.get(name), default))

    def number(self, name: str, default: int = 0) -> int:
        """An integer or a flag."""
        value = self.properties.get(name)
        return value.value.data if isinstance(value, IntegerAttr) else default  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    def word(self, name: str, default: str = "") -> str:
        """A word of an enumeration."""
        value = self.properties.get(name)
        return value.data if isinstance(value, Word) else default

    def info(self, n: int = 0) -> TensorInfo:
        """The type of a result. Raises TypeMismatch for one that Relay does not have."""
        return tensor_info(self.results[n].type)


def ints_of(value: Attribute | None, default: Sequence[int] | None = None) -> Sequence[int]:
    """The integers of a dense array or of a dense constant. Raises VerifyException for anything else."""
    if value is None and default is not None:
        return default
    if isinstance(value, DenseArrayBase):
        return value.get_values()  # pyright: ignore[reportReturnType]
    found = getattr(value, "get_values", None)
    if found is None:
        raise VerifyException(f"expected a list of integers, got {value}")
    return list(found())


def parse_operands(parser: Parser) -> list[Any]:
    """`%a, %b`; behind them there may be a comma and a keyword."""
    found: list[Any] = []
    first = parser.parse_optional_unresolved_operand()
    while first is not None:
        found.append(first)
        start = parser.pos
        if not parser.parse_optional_punctuation(","):
            break
        first = parser.parse_optional_unresolved_operand()
        if first is None:
            parser._resume_from(start)  # pyright: ignore[reportPrivateUsage]
    return found


def listed(infos: Sequence[TensorInfo]) -> str:
    """Types in a message."""
    return ", ".join(map(str, infos)) or "nothing"


class GenericHlo(HloOp):
    """Base of ops that MLIR prints in its generic form."""

    print = Operation.print


class TypeOnlyOp(HloOp):
    """Base of ops whose text has the type of each operand, which are those of the results too: `: t, t`."""

    def print_types(self, printer: Printer) -> None:
        printer.print_list(self.operand_types, printer.print_attribute)

    @classmethod
    def parse_types(cls, parser: Parser, count: int) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return types, types


class ElementOp(HloOp, RelayOp):  # pyright: ignore[reportIncompatibleMethodOverride]
    """Base of ops with Relay's facets: their types follow from operands and attributes, `np_ref` is their oracle."""

    def verify_(self) -> None:
        try:
            infos = [tensor_info(v.type) for v in self.operands]
            given = [tensor_info(r.type) for r in self.results]
        except TypeMismatch:
            return
        attrs = attributes_of(self)
        wanted = type(self).infer_infos(infos, attrs)
        if list(wanted) != given:
            raise VerifyException(f"result type {listed(given)} differs from the inferred {listed(wanted)}")

    def evaluate(self, *arrays: Array) -> Any:
        return type(self).oracle(arrays, attributes_of(self))


def attributes_of(op: Operation) -> dict[str, Any]:
    """The attributes of an op as Python values."""
    from lamina.dialects.attributes import from_attribute

    return {n: a.data if isinstance(a, Word) else from_attribute(a) for n, a in op.properties.items()}


def result_type(info: TensorInfo) -> TensorType[Attribute]:
    """The IR's type."""
    return tensor_type(info.shape, info.dtype)


def element(type_: Any) -> str:
    """The name of a tensor's element type."""
    return dtype_name(type_.element_type)
