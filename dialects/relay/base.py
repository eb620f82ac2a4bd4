"""Declarations of every Relay op, and the bases of its families.

An op is one class; its meaning is a set of *facets*, static methods that all take the operands by position and
the attributes by keyword:

    infer_type(*types, **attrs)   result type(s) as `TensorInfo`; raises TypeMismatch with the user's message
    np_ref(*arrays, **attrs)      the independent oracle, in numpy
    te_compute(*tensors, **attrs) the meaning as index equations (`lamina.dialects.te.lib`)
    decompose(*values, **attrs)   instead of te_compute: the same value from other Relay ops
    samples()                     operand types, value ranges and attributes to test on; at least 8, one invalid
    infer_layout(layouts, **attrs)  what stands between convolutions on blocks
    relay_grad(grads, operands, results, **attrs)  the gradient of each operand (None: it has none) from those of the
                                  results, in Relay ops: `lamina.dialects.relay.grad.facet`; else through decompose
    legalize(operands, **attrs)   another form of the op that is computed better, or None: for relay-legalize
    precision                     where it applies

and ClassVars: FUSION_KIND (TVM's TOpPattern), PRECISION (mixed precision), LAYOUTS, NO_GRADIENT. Both may stand in the
header of the class: `class AbsOp(Elementwise, np_ref=lambda x: np.abs(x), dtypes=NUMBERS)`.

Attributes are properties: integers are i64, reals f64, lists dense arrays, flags i1; `attrs_of` gives them as Python
values, `RelayOp.make` takes them so.
"""

from __future__ import annotations

import abc
import re
from collections.abc import Callable, Sequence
from enum import Enum, IntEnum
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, PropertyDef, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.attributes import ExtentsAttr, from_attribute, to_attribute
from lamina.dialects.declarations import Declared
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.infos import (
    TensorInfo,
    TypeMismatch,
    has_unknown_extents,
    is_always,
    surely_equal,
    tensor_info,
)
from lamina.dialects.rules.op_protocol import Sample

Properties: TypeAlias = dict[str, Attribute]


class OpPattern(IntEnum):
    """Kinds of fusion that an op allows; the numbers and their order are TVM's TOpPattern."""

    ELEMWISE = 0
    BROADCAST = 1
    INJECTIVE = 2
    COMM_REDUCE = 3
    OUT_ELEMWISE_FUSABLE = 4
    TUPLE = 7
    OPAQUE = 8


class Precision(Enum):
    """Roles of ops in a program of mixed precision: TVM's lists."""

    ALWAYS = "always"
    """It is worth it: operands are made narrow, sums are kept wide."""
    FOLLOW = "follow"
    """Narrow where its operands are."""
    NEVER = "never"
    """Results would lose too much, or leave the range."""


class Ascending(NamedTuple):
    """Bounds between which a sample's values are drawn, then put in ascending order along the last axis."""

    low: float
    high: float


def sample(*operands: tuple[tuple[int, ...], str] | tuple[int, ...], **kw: Any) -> Sample:
    """`sample((2, 3), ((4,), "int32"), attrs={...})`: a bare shape means float32."""
    infos = tuple(
        TensorInfo(tuple(o[0]), o[1]) if o and isinstance(o[0], tuple) else TensorInfo(tuple(o), "float32")  # type: ignore[index]
        for o in operands
    )
    return Sample(infos, **kw)


class RelayOp(IRDLOperation, Declared):
    """Base of all Relay ops on tensors: text form, construction, type inference and verification."""

    FUSION_KIND: ClassVar[OpPattern] = OpPattern.OPAQUE
    PRECISION: ClassVar[Precision | None] = None
    """The role in mixed precision; by default, ops that compute or move single elements follow (`precision_of`)."""

    LAYOUTS: ClassVar[tuple[str, ...]] = ()
    """Of each operand the attribute that holds its layout, "" for one that has none; the first is the result's too.
    Empty where no other layout can be asked of the op."""

    NO_GRADIENT: ClassVar[str] = ""
    """The reason why an op on floats has no gradient."""

    DTYPES: ClassVar[tuple[str, ...]]
    """Element types that it takes, where its class's header says them."""

    COMMUTES: ClassVar[bool] = False
    """Whether rules may swap its two operands."""

    RESHAPES: ClassVar[bool] = False
    """Whether the result is the first operand under another shape (TVM's TReshapeOp)."""

    ALONG_AXIS: ClassVar[bool] = False
    """Whether it works on one `axis` of its first operand, which further operands, if any, lie along."""

    DIVIDES: ClassVar[bool] = False
    """Whether integers in its second operand must not be zero."""

    EXACT: ClassVar[bool] = False
    """Whether its kernels give the bits of `np_ref` on every processor, where products and sums are not contracted: a
    library may then have the operands in the place of the result (`lamina.driver.packing`)."""

    ACROSS_BLOCKS: ClassVar[bool] = True
    """Rules join ops of all blocks: of those inside functions and branches none runs more often than the op outside."""

    traits = traits_def(Pure())

    def __init_subclass__(cls, **facts: Any) -> None:
        """Declare what the class's header says: constants in lower case, facets of one expression as functions.

        `class ExpOp(Elementwise, precision=Precision.NEVER)` has `PRECISION: ClassVar = Precision.NEVER`.
        """
        for name, fact in facts.items():
            if callable(fact):
                setattr(cls, name, staticmethod(fact))
            else:
                setattr(cls, name.upper(), fact)
                cls.__annotations__[name.upper()] = "ClassVar"
        super().__init_subclass__()

    # -- facets that every op must state; see the module docstring ---------------------------------

    @staticmethod
    @abc.abstractmethod
    def infer_type(*types: Any, **attrs: Any) -> Any:
        """The result type, or a tuple of them."""

    # -- construction ------------------------------------------------------------------------------

    @classmethod
    def defaults(cls) -> dict[str, Attribute]:
        """The properties that have a default, with it."""
        found = _DEFAULTS.get(cls)
        if found is None:
            found = _DEFAULTS[cls] = {
                name: p.default_value
                for name, p in cls.get_irdl_definition().properties.items()
                if p.default_value is not None
            }
        return found

    @classmethod
    def known_attributes(cls) -> dict[str, PropertyDef]:
        """The definitions of the op's own attributes."""
        return cls.get_irdl_definition().properties

    @classmethod
    def operand_count(cls) -> int | None:
        """The number of operands that the op takes; None when it takes any number."""
        return arity(cls)

    @classmethod
    def result_count(cls) -> int:
        """The number of results of the op's definition; -1 when it varies."""
        from xdsl.irdl import VarResultDef

        results = cls.get_irdl_definition().results
        return -1 if any(isinstance(d, VarResultDef) for _, d in results) else len(results)

    @classmethod
    def oracle(cls, arrays: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """`np_ref` with the op's defaults filled in, quietly."""
        import numpy as np

        given = {n: from_attribute(a) for n, a in cls.defaults().items()} | {
            k: v for k, v in attrs.items() if v is not None
        }
        with np.errstate(all="ignore"):
            return cls.np_ref(*(np.asarray(a) for a in arrays), **given)  # type: ignore[attr-defined]

    @classmethod
    def infer_types(
        cls, operand_types: Sequence[Attribute], properties: Properties, values: Sequence[SSAValue] = ()
    ) -> tuple[Attribute, ...]:
        """Result types of an instance, memoised. Raises TypeMismatch with the user's message.

        `values` are the operands, where there are any: the symbols of their module say what a `?` may be.
        """
        key = (cls, tuple(operand_types), tuple(sorted(properties.items())))
        found = _INFERRED.get(key)
        if found is None:
            missing = [n for n in _required(cls) if n not in properties]
            if missing:
                raise TypeMismatch(f"attribute {missing[0]!r} is missing")
            in_attrs = has_extents(properties)
            if in_attrs or has_unknown_extents(operand_types):
                from lamina.dialects.relay.symbolic import infer_open

                infer, numbers = partial(cls.infer_of, properties), _numbers(properties)
                return infer_open(key, operand_types, infer, numbers, values, in_attrs)
            attrs = {name: from_attribute(a) for name, a in properties.items()}
            infos = cls.infer_infos([tensor_info(t) for t in operand_types], attrs)
            found = _INFERRED[key] = tuple(tensor_type(tuple(t.shape), t.dtype) for t in infos)
        return found

    @classmethod
    def infer_infos(cls, infos: Sequence[TensorInfo], attrs: dict[str, Any]) -> tuple[TensorInfo, ...]:
        """The shapes and dtypes of the results for those of the operands and all attributes. Raises TypeMismatch."""
        inferred = cls.infer_type(*infos, **attrs)
        return (inferred,) if isinstance(inferred, TensorInfo) else tuple(inferred)

    @classmethod
    def infer_of(cls, properties: dict[str, Attribute], infos: Sequence[TensorInfo]) -> tuple[TensorInfo, ...]:
        """The same for the attributes of the IR, whose numbers may depend on the current symbols."""
        return cls.infer_infos(infos, {name: from_attribute(a) for name, a in properties.items()})

    @classmethod
    def make(cls, *operands: SSAValue | Operation, **attrs: Any) -> Self:
        """An instance with inferred result types. Raises TypeMismatch (naming the op) where they do not fit."""
        values = [o if isinstance(o, SSAValue) else o.results[0] for o in operands]
        properties = dict(cls.defaults())
        known = cls.get_irdl_definition().properties
        for name, value in attrs.items():
            if name not in known:
                raise TypeMismatch(f"{cls.name}: no attribute {name!r}; it has {', '.join(known) or 'none'}")
            if value is not None:
                properties[name] = to_attribute(value)
        expected = arity(cls)
        if expected is not None and len(values) != expected:
            raise TypeMismatch(f"{cls.name}: takes {expected} operand{'s'[: expected != 1]}, got {len(values)}")
        try:
            types = cls.infer_types([v.type for v in values], properties, values)
        except TypeMismatch as e:
            raise TypeMismatch(f"{cls.name}: {e}") from None
        return cls.create(operands=values, result_types=types, properties=properties)

    @classmethod
    def make_typed(
        cls, operands: Sequence[SSAValue], types: Sequence[Attribute], properties: dict[str, Attribute]
    ) -> Self:
        """An instance whose result types are known."""
        return cls.create(operands=operands, result_types=types, properties=properties)

    @classmethod
    def make_constant(cls, number: Any, like: SSAValue) -> Operation:
        """A rank 0 constant of the element type of another value."""
        return scalar_constant(number, like)

    @classmethod
    def constant_info(cls, like: TensorInfo) -> TensorInfo:
        return TensorInfo((), like.dtype)

    def verify_(self) -> None:
        if self.attributes:
            # An attribute of no dialect is a misspelt one of the op's, which would go unheard.
            for name in self.attributes:
                if "." not in name:
                    raise VerifyException(
                        f"no attribute {name!r}; it has {', '.join(self.known_attributes()) or 'none'}"
                    )
        try:
            operands = self.operands
            inferred = self.infer_types([v.type for v in operands], self.properties, operands)
        except TypeMismatch as e:
            if e.decided:
                raise
            return
        actual = self.result_types
        if tuple(actual) != inferred and not self._accepts(inferred):
            want, got = (", ".join(map(str, t)) for t in (inferred, actual))
            raise VerifyException(f"result type {got} differs from the inferred {want}")

    def _accepts(self, inferred: Sequence[Attribute]) -> bool:
        """Whether the results are the inferred ones with less known of their extents."""
        if len(self.results) != len(inferred) or not has_unknown_extents(self.result_types):
            return False
        from lamina.dialects.relay.value_types import accepts

        return all(accepts(a, i) for a, i in zip(self.result_types, inferred, strict=True))

    # -- text: `relay.op %a, %b {attr = value} : type` ---------------------------------------------

    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_ssa_value)
        defaults = self.defaults()
        entries = {n: a for n, a in self.properties.items() if not _is_default(a, defaults.get(n))} | self.attributes
        if entries:
            printer.print_string(" {")
            printer.print_list(sorted(entries.items()), lambda kv: _print_entry(printer, *kv))
            printer.print_string("}")
        printer.print_string(" : ")
        types = [v.type for v in self.operands] + list(self.result_types)
        if len(self.results) == 1 and all(t == types[0] for t in types):
            printer.print_attribute(types[0])
        else:
            printer.print_attribute(FunctionType.from_lists([v.type for v in self.operands], self.result_types))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        unresolved = unresolved or []
        entries: dict[str, Attribute] = {}
        if parser.parse_optional_punctuation("{"):
            if not parser.parse_optional_punctuation("}"):
                for name, value in parser.parse_comma_separated_list(
                    parser.Delimiter.NONE, lambda: _parse_entry(parser, cls)
                ):
                    if name in entries:
                        parser.raise_error(f"attribute {name!r} is given twice")
                    entries[name] = value
                parser.parse_punctuation("}")
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_type()
        if isinstance(type_, FunctionType):
            in_types, out_types = list(type_.inputs), list(type_.outputs)
            if len(in_types) != len(unresolved):
                parser.raise_error(f"{len(unresolved)} operands but {len(in_types)} operand types", position)
        else:
            in_types, out_types = [type_] * len(unresolved), [type_]
        known = cls.known_attributes()
        properties = dict(cls.defaults()) | {n: a for n, a in entries.items() if n in known}
        return cls.create(
            operands=parser.resolve_operands(unresolved, in_types, position),
            result_types=out_types,
            properties=properties,
            attributes={n: a for n, a in entries.items() if n not in known},
        )


def has_extents(properties: dict[str, Attribute]) -> bool:
    """Whether a number of an attribute depends on symbols."""
    return any(type(a) is ExtentsAttr for a in properties.values())


def _numbers(properties: dict[str, Attribute]) -> list[int]:
    """The integers among attributes, in lists, in texts (the 16 of `NCHW16c`) and alone."""
    attrs = {name: from_attribute(a) for name, a in properties.items() if type(a) is not ExtentsAttr}
    values = [v for a in attrs.values() for v in (cast("tuple[Any, ...]", a) if isinstance(a, tuple) else (a,))]
    texts = [v for v in values if isinstance(v, str)]
    return [v for v in values if type(v) is int] + [int(n) for t in texts for n in re.findall(r"\d+", t)]


_DEFAULTS: dict[type[RelayOp], dict[str, Attribute]] = {}
_INFERRED: dict[Any, tuple[Attribute, ...]] = {}
_REQUIRED: dict[type[RelayOp], list[str]] = {}


def _required(cls: type[RelayOp]) -> list[str]:
    found = _REQUIRED.get(cls)
    if found is None:
        from xdsl.irdl import OptPropertyDef

        found = _REQUIRED[cls] = [
            n for n, p in cls.get_irdl_definition().properties.items() if not isinstance(p, OptPropertyDef)
        ]
    return found


def arity(cls: type[RelayOp]) -> int | None:
    """The number of operands that the op takes; None when it takes any number."""
    from xdsl.irdl import VarOperandDef

    operands = cls.get_irdl_definition().operands
    return None if any(isinstance(d, VarOperandDef) for _, d in operands) else len(operands)


def scalar_constant(number: Any, like: SSAValue) -> Operation:
    """A rank 0 constant of the element type of another value, which stands nowhere."""
    from lamina.dialects.dtypes import dtype_name, numpy_dtype
    from lamina.dialects.lazy import np
    from lamina.dialects.relay.core import ConstantOp
    from lamina.dialects.relay.params import array_dense

    type_: Any = like.type
    dtype = numpy_dtype(dtype_name(type_.element_type))
    return ConstantOp.make(array_dense(np.asarray(number).astype(dtype)))


def precision_of(op: type[RelayOp]) -> Precision | None:
    """The role of the op in mixed precision; None where nobody has said so."""
    if op.PRECISION is not None:
        return op.PRECISION
    return Precision.FOLLOW if op.FUSION_KIND <= OpPattern.INJECTIVE else None


def attrs_of(op: RelayOp) -> dict[str, Any]:
    """The op's attributes as the Python values that facets take."""
    return {name: from_attribute(a) for name, a in op.properties.items()}


def _is_default(attr: Attribute, default: Attribute | None) -> bool:
    """Whether an attribute need not be printed. FloatAttr calls the two zeros equal."""
    return attr == default and (type(attr) is not FloatAttr or str(attr) == str(default))


def _print_entry(printer: Printer, name: str, attr: Attribute) -> None:
    printer.print_identifier_or_string_literal(name)
    if isinstance(attr, UnitAttr):
        return
    printer.print_string(" = ")
    type_: Any = getattr(attr, "type", None)
    if isinstance(attr, IntegerAttr) and type_ == i1:
        printer.print_string("true" if attr.value.data else "false")
    elif isinstance(attr, IntegerAttr) and type_ == i64:
        printer.print_string(str(attr.value.data))
    elif isinstance(attr, FloatAttr) and type_ == f64:
        printer.print_string(float_literal(attr.value.data))
    elif isinstance(attr, DenseArrayBase) and attr.elt_type in (i64, f64):  # pyright: ignore[reportUnknownMemberType]
        values: tuple[Any, ...] = attr.get_values()
        printer.print_string("[" + ", ".join(str(v) if isinstance(v, int) else float_literal(v) for v in values) + "]")
    elif isinstance(attr, ExtentsAttr):
        printer.print_string("[" + ", ".join(f.data for f in attr.forms) + "]")
    else:
        printer.print_attribute(cast(Attribute, attr))


def float_literal(value: float) -> str:
    """The shortest decimal that reads back as the same double; NaN and infinities as MLIR's hex form."""
    if value != value or value in (float("inf"), float("-inf")):
        import struct

        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + e + exponent


def _parse_entry(parser: Parser, op: type[RelayOp]) -> tuple[str, Attribute]:
    name, value_pos, value = _parse_named_attribute(parser)
    definition = op.known_attributes().get(name)
    if definition is None:
        return name, value
    found = fitting(definition, value)
    if found is None:
        parser.raise_error(f"{op.name}: attribute {name!r} does not take {value}", value_pos, parser.pos)
    return name, found


def fitting(definition: PropertyDef, value: Attribute) -> Attribute | None:
    """The value as the property takes it, None where it does not: whole numbers may stand for reals."""
    if definition.constr.verifies(value):
        return value
    candidates: list[Attribute] = []
    number = from_attribute(value)
    if isinstance(number, int) and not isinstance(number, bool):
        candidates.append(FloatAttr(float(number), f64))
    elif isinstance(number, tuple):
        candidates.append(DenseArrayBase.from_list(f64, [float(v) for v in cast("tuple[float, ...]", number)]))
    return next((c for c in candidates if definition.constr.verifies(c)), None)


def _parse_named_attribute(parser: Parser) -> tuple[str, int, Attribute]:
    name = parser.parse_optional_identifier() or parser.parse_str_literal()
    if not parser.parse_optional_punctuation("="):
        return name, parser.pos, UnitAttr()
    start = parser.pos
    if parser.parse_optional_punctuation("["):
        if parser.parse_optional_punctuation("]"):
            return name, start, to_attribute([])
        values = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: _parse_number_or_form(parser))
        parser.parse_punctuation("]")
        return name, start, _list_attribute(values)
    if parser.parse_optional_keyword("true"):
        return name, start, to_attribute(True)
    if parser.parse_optional_keyword("false"):
        return name, start, to_attribute(False)
    number = _parse_optional_number(parser)
    if number is None:
        return name, start, parser.parse_attribute()
    if parser.parse_optional_punctuation(":"):
        type_ = parser.parse_type()
        if isinstance(number, float):
            return name, start, FloatAttr(number, type_)  # type: ignore[arg-type]
        return name, start, IntegerAttr(number, type_)  # type: ignore[arg-type]
    return name, start, to_attribute(number)


def _parse_optional_number(parser: Parser) -> int | float | None:
    text_start = parser.pos
    number = parser.parse_optional_number()
    if isinstance(number, int) and not isinstance(number, bool):
        # A hexadecimal literal is the bit pattern of a double that has no decimal form.
        source = parser.lexer.input.slice(text_start, parser.pos) or ""
        if source.strip().lower().startswith("0x"):
            import struct

            return struct.unpack("<d", struct.pack("<Q", number))[0]
    return number


def _parse_number_or_form(parser: Parser) -> int | float | str:
    """A number, or the text of a form over symbols, which begins with a name or a parenthesis."""
    number = _parse_optional_number(parser)
    if number is not None:
        return number
    from lamina.dialects.index.symbol_forms import extent_text, parse_extent

    return extent_text(parse_extent(parser))


def _list_attribute(values: Sequence[int | float | str]) -> Attribute:
    if not any(isinstance(v, str) for v in values):
        return to_attribute(values)
    return ExtentsAttr(ArrayAttr([StringAttr(str(v)) for v in values]))


# -- families --------------------------------------------------------------------------------------

_T = TypeVar("_T")


def same_dtype(*types: TensorInfo) -> str:
    """The one dtype of all operands. Raises TypeMismatch when they differ."""
    first = types[0].dtype
    for t in types[1:]:
        if t.dtype != first:
            raise TypeMismatch(f"operand types differ: {first} and {t.dtype}")
    return first


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """NumPy's broadcasting rule. Raises TypeMismatch naming both shapes."""
    rank = max(len(s) for s in shapes)
    out: list[int] = []
    for axis in range(rank):
        extent = 1
        for s in shapes:
            e = s[axis - rank + len(s)] if axis - rank + len(s) >= 0 else 1
            if type(e) is not int or type(extent) is not int:
                extent = _common_extent(extent, e, shapes)
            elif e != 1:
                if extent not in (1, e):
                    raise _no_broadcast(shapes)
                extent = e
        out.append(extent)
    return tuple(out)


def _common_extent(a: int, b: int, shapes: Sequence[tuple[int, ...]]) -> int:
    """The extent of two that are broadcast, of which one depends on symbols: as little as can be is asked of these."""
    if is_always(b, 1) or surely_equal(a, b):
        return a
    if is_always(a, 1) or a == b:
        return b
    if b == 1:
        return a
    if a == 1:
        return b
    raise _no_broadcast(shapes)


def _no_broadcast(shapes: Sequence[tuple[int, ...]]) -> TypeMismatch:
    return TypeMismatch(f"shapes {' and '.join(map(str, shapes))} do not broadcast")


def normalize_axis(axis: int, rank: int) -> int:
    """An axis counted from the front. Raises TypeMismatch when it is out of range."""
    if not -rank <= axis < max(rank, 1):
        raise TypeMismatch(f"axis {axis} is out of range for rank {rank}")
    return axis + rank if axis < 0 else axis


FacetFn = Callable[..., Any]
