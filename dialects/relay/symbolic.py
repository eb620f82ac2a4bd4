"""Type inference with extents that are forms over symbols: exact, where `unknown_extents.py` claims.

    relay.symbols = {n = #relay.symbol<min = 1, max = 4096, divisor = 8>, p = #relay.symbol<min = 0, max = 4096>}
    relay.conditions = #relay.extents<n * -1 + p * -1 + 4096>

are the attributes of a module that say what values the names of extents in `@main` may have: which each, and which
forms over them are never negative. An op's `infer_type` is
then asked once, with numbers that depend on symbols (`lamina.dialects.index.symbols`). What it answers holds for all
values, or the answer is not taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntAttr, ModuleOp, NoneAttr, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.rewriter import Rewriter

from lamina.dialects.attributes import ExtentsAttr
from lamina.dialects.dtypes import dtype_name, tensor_type
from lamina.dialects.index.linear import Linear
from lamina.dialects.index.symbol_forms import extent_text, form_of, symbols_of
from lamina.dialects.index.symbol_ranges import range_problem
from lamina.dialects.index.symbols import (
    NoSymbolsError,
    SymbolicExtent,
    SymbolRange,
    Symbols,
    current_symbols,
    with_symbols,
)
from lamina.dialects.infos import SYMBOLS, TensorInfo, TypeMismatch, has_unknown_extents, open_infos_by
from lamina.dialects.relay.unknown_extents import checked_tensor, infer_dynamic
from lamina.dialects.relay.value_types import UNNAMED, dynamic_tensor, extents
from lamina.errors import InputError

CONDITIONS = "relay.conditions"
"""The attribute of a module with forms over its symbols that are never negative."""
_FURTHEST = 1000

Infer: TypeAlias = Callable[[Sequence[TensorInfo]], Sequence[TensorInfo]]


@irdl_attr_definition
class SymbolAttr(ParametrizedAttribute):
    """The values that a symbol may have: `#relay.symbol<min = 1, max = 4096, divisor = 8>`, a divisor of 1 left out.

    One that no extent of an input is may have a default: `#relay.symbol<min = 0, max = 4096, default = 0>`.
    """

    name = "relay.symbol"
    min: IntAttr = param_def()
    max: IntAttr = param_def()
    divisor: IntAttr = param_def()
    default: IntAttr | NoneAttr = param_def()

    @staticmethod
    def of(known: SymbolRange) -> SymbolAttr:
        default = IntAttr(known.default) if known.default is not None else NoneAttr()
        return SymbolAttr(IntAttr(known.min), IntAttr(known.max), IntAttr(known.divisor), default)

    @property
    def range(self) -> SymbolRange:
        """The values."""
        default = self.default.data if isinstance(self.default, IntAttr) else None
        return SymbolRange(self.min.data, self.max.data, self.divisor.data, default)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        known: dict[str, int] = {"divisor": 1}
        for name, value in parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: _entry(parser)):
            if name not in ("min", "max", "divisor", "default"):
                parser.raise_error(f"a symbol has min, max, divisor and default, no {name}", start, parser.pos)
            known[name] = value
        if "min" not in known or "max" not in known:
            parser.raise_error("a symbol has a min and a max", start, parser.pos)
        range_ = SymbolRange(known["min"], known["max"], known["divisor"], known.get("default"))
        problem = range_problem(range_)
        if problem is not None:
            parser.raise_error(problem, start, parser.pos)
        return SymbolAttr.of(range_).parameters

    def print_parameters(self, printer: Printer) -> None:
        divisor = f", divisor = {self.divisor.data}" if self.divisor.data != 1 else ""
        default = f", default = {self.default.data}" if isinstance(self.default, IntAttr) else ""
        printer.print_string(f"<min = {self.min.data}, max = {self.max.data}{divisor}{default}>")


def _entry(parser: AttrParser) -> tuple[str, int]:
    name = parser.parse_identifier(" for min, max, divisor or default")
    parser.parse_punctuation("=")
    return name, parser.parse_integer(allow_boolean=False)


# -- the symbols of a module -----------------------------------------------------------------------


def module_symbols(module: Operation) -> Symbols | None:
    """The symbols of a module, None where it has none. Raises InputError for an attribute that says no such thing."""
    attr = module.attributes.get(SYMBOLS)
    if attr is None:
        return None
    if not isinstance(attr, DictionaryAttr):
        raise InputError(f"{SYMBOLS} is {attr}, expected a dictionary of #relay.symbol", op=module)
    conditions = module.attributes.get(CONDITIONS)
    if conditions is not None and not isinstance(conditions, ExtentsAttr):
        raise InputError(f"{CONDITIONS} is {conditions}, expected #relay.extents", op=module)
    return _symbols_of(attr, conditions).fresh()


@cache
def _symbols_of(attr: DictionaryAttr, conditions: ExtentsAttr | None) -> Symbols:
    known: dict[str, SymbolRange] = {}
    for name, value in attr.data.items():
        if not isinstance(value, SymbolAttr):
            raise InputError(f"{SYMBOLS} says that {name} is {value}, expected #relay.symbol")
        known[name] = value.range
    forms = [form_of(f.data) for f in conditions.forms] if conditions is not None else []
    for name in dict.fromkeys(n for f in forms for n in symbols_of(f)):
        if name not in known:
            raise InputError(f"{CONDITIONS} names {name}, of which {SYMBOLS} says nothing")
    return Symbols(known, conditions=forms)


def symbols_attr(known: Mapping[str, SymbolRange]) -> DictionaryAttr:
    """The attribute of a module with these symbols."""
    return DictionaryAttr({name: SymbolAttr.of(r) for name, r in known.items()})


def conditions_attr(forms: Sequence[Linear]) -> ExtentsAttr:
    """The attribute of a module whose symbols satisfy these conditions."""
    return ExtentsAttr(ArrayAttr([StringAttr(extent_text(f)) for f in forms]))


def state_symbols(module: Operation, symbols: Symbols) -> None:
    """Let a module say what is known of its symbols; an extent that this decides is a number in its types."""
    module.attributes[SYMBOLS] = symbols_attr(symbols.known)
    if symbols.conditions:
        module.attributes[CONDITIONS] = conditions_attr(symbols.conditions)
    settled: dict[Attribute, Attribute] = {}
    for op in module.walk():
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        for value in (*op.results, *arguments):
            found = settled.get(value.type)
            if found is None:
                found = settled[value.type] = _settled(value.type, symbols)
            if found != value.type:
                Rewriter.replace_value_with_new_type(value, found)
    if all(found == type_ for type_, found in settled.items()):
        return
    for op in module.walk():
        if isinstance(op, FuncOp) and op.body.blocks:
            op.update_function_type()


def _settled(type_: Attribute, symbols: Symbols) -> Attribute:
    """A tensor type with numbers in place of the forms that have one value."""
    info = symbolic_info(type_, symbols) if has_unknown_extents([type_]) else None
    if info is None:
        return type_
    known = sum(e >= 0 for e in checked_tensor(type_).get_shape())
    return type_of_info(info) if sum(type(e) is int for e in info.shape) > known else type_


def symbols_around(values: Sequence[SSAValue]) -> Symbols | None:
    """The symbols of the module that values stand in; results of new ops stand where the operands of these do."""
    pending: list[SSAValue] = list(reversed(values))
    for _ in range(_FURTHEST):
        if not pending:
            return None
        value = pending.pop()
        node: Operation | Block | None = value.owner
        outermost: Operation | None = None
        while node is not None:
            if isinstance(node, Block):
                node = node.parent_op()
            else:
                outermost, node = node, node.parent
        if isinstance(outermost, ModuleOp):
            return module_symbols(outermost)
        if isinstance(value.owner, Operation):
            pending.extend(reversed(value.owner.operands))
    return None


# -- types and infos -------------------------------------------------------------------------------


def symbolic_info(type_: Attribute, symbols: Symbols) -> TensorInfo | None:
    """Shape and dtype of a tensor, numbers of the symbols for `?`; None where one has no name, or another."""
    tensor = checked_tensor(type_)
    dims = extents(tensor)
    if UNNAMED in dims:
        return None
    try:
        shape = tuple(symbols.number(form_of(d)) if isinstance(d, str) else d for d in dims)
        return TensorInfo(shape, dtype_name(tensor.element_type))
    except KeyError:
        return None
    except ValueError as e:
        raise TypeMismatch(str(e)) from None


def _current_info(type_: Attribute) -> TensorInfo | None:
    symbols = current_symbols()
    return None if symbols is None else symbolic_info(type_, symbols)


open_infos_by(_current_info)


def type_of_info(info: TensorInfo) -> TensorType[Any]:
    """The tensor type of an info, whose extents may depend on symbols."""
    dims = [dim_of(e) for e in info.shape]
    known = all(type(d) is int for d in dims)
    return tensor_type(tuple(info.shape), info.dtype) if known else dynamic_tensor(dims, info.dtype)


def dim_of(extent: int) -> int | str:
    """An extent as the types have it: a number, or the text of a form."""
    if isinstance(extent, SymbolicExtent):
        return extent_text(extent.form)
    return UNNAMED if extent < 0 else int(extent)


def names_of_types(types: Sequence[Attribute]) -> list[str]:
    """The names and forms in tensor types, each once."""
    found = (d for t in types if isinstance(t, TensorType) for d in extents(cast("TensorType[Any]", t)))
    return list(dict.fromkeys(d for d in found if isinstance(d, str)))


# -- inference -------------------------------------------------------------------------------------

_INFERRED: dict[Any, tuple[Attribute, ...]] = {}


def infer_open(
    key: Any,
    operand_types: Sequence[Attribute],
    infer: Infer,
    numbers: Sequence[int] = (),
    values: Sequence[SSAValue] = (),
    in_attrs: bool = False,
) -> tuple[Attribute, ...]:
    """The result types of an op with `?` among its operands, which the key stands for: exact where symbols are known.

    `in_attrs` says that attributes depend on symbols as well. `values` are the operands where there are any: the module
    that they stand in has the symbols, unless some are current. Raises TypeMismatch.
    """
    symbols = current_symbols() or symbols_around(values)
    if symbols is not None and symbols.takes_guards:
        found = infer_exact(operand_types, infer, symbols)
        return found or infer_dynamic(operand_types, infer, numbers)
    key = (key, symbols.key if symbols is not None else None)
    found = _INFERRED.get(key)
    if found is None:
        found = infer_exact(operand_types, infer, symbols.fresh()) if symbols is not None else None
        if found is None and in_attrs:
            raise NoSymbolsError("an attribute depends on symbols, of which too little is said here")
        if found is None:
            found = infer_dynamic(operand_types, infer, numbers)
        _INFERRED[key] = found
    return found


def infer_exact(operand_types: Sequence[Attribute], infer: Infer, symbols: Symbols) -> tuple[Attribute, ...] | None:
    """The result types for all values of the symbols; None where they depend on more than the symbols' ranges say.

    Raises TypeMismatch where the operands fit for no value.
    """
    infos = [symbolic_info(t, symbols) for t in operand_types]
    known = [i for i in infos if i is not None]
    if len(known) != len(infos):
        return None
    before = len(symbols.guards)
    try:
        with with_symbols(symbols):
            found = tuple(type_of_info(i) for i in infer(known))
    except (TypeMismatch, TypeError, ValueError, ArithmeticError):
        if len(symbols.guards) == before or symbols.takes_guards:
            raise
        return None  # the values that the answers were for do not fit, others may
    return found if symbols.takes_guards or len(symbols.guards) == before else None


def has_open_extent(type_: Attribute) -> bool:
    """Whether a tensor type has an extent without a name or form."""
    return isinstance(type_, TensorType) and UNNAMED in extents(cast("TensorType[Any]", type_))


def is_symbolic(type_: Attribute) -> bool:
    """Whether a tensor type has a `?`, and a name or form for each."""
    return has_unknown_extents([type_]) and not has_open_extent(type_)
