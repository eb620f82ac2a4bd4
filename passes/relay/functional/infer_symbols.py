"""relay-infer-symbols: extents that have names become symbols, and every extent that follows from them a form.

Before:
    func.func @main(%x: tensor<?x8xf32, #relay.dims<n, _>>) -> tensor<?x16xf32> {
      %0 = relay.concatenate %x, %x {axis = 1} : (tensor<?x8xf32, #relay.dims<n, _>>, ...) -> tensor<?x16xf32>
      %1 = relay.reshape %0 {newshape = [-1, 4]} : (tensor<?x16xf32>) -> tensor<?x4xf32> ... }
After:
    module attributes {relay.symbols = {n = #relay.symbol<min = 1, max = 1073741824>}}
      %0 = relay.concatenate ... -> tensor<?x16xf32, #relay.dims<n, _>>
      %1 = relay.reshape ... -> tensor<?x4xf32, #relay.dims<n * 4, _>>

Each op of `@main` is asked for its types once, with numbers that depend on the symbols. Where an op needs more of a
symbol than is known, a least value, a greatest one or a divisor, the module says so afterwards: who runs the program
for another value is refused. What no such range can say is refused here. `dims="n=1..64, p=0..4096, k=16..512:16"`
gives the values of symbols (after a colon the divisor), else those that the module states; a symbol of which nothing
is said is at least 1. Assumes that functions have been inlined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.dialects import func
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FunctionType
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from lamina.dialects import edit
from lamina.dialects.attributes import to_attribute
from lamina.dialects.index.symbol_forms import form_of, symbols_of
from lamina.dialects.index.symbol_ranges import narrowed, parse_ranges, range_text, range_under
from lamina.dialects.index.symbols import Guard, SymbolRange, Symbols, with_symbols
from lamina.dialects.infos import TensorInfo, TypeMismatch, has_unknown_extents, is_symbolic
from lamina.dialects.lazy import np
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.families import INTEGERS
from lamina.dialects.relay.meaning import full_attrs, symbolic_results
from lamina.dialects.relay.params import dense_array
from lamina.dialects.relay.shape.values import ShapeOfOp
from lamina.dialects.relay.symbolic import (
    has_open_extent,
    module_symbols,
    names_of_types,
    state_symbols,
    symbolic_info,
    type_of_info,
)
from lamina.dialects.relay.value_dependent import BecomesStatic, Static, ValueDependent
from lamina.errors import InputError, UnsupportedError
from lamina.passes.base import Context, ModuleOp, ModulePass

if TYPE_CHECKING:
    from lamina.dialects.relay.params import Array

_ROUNDS = 64
MOST_ELEMENTS = 256
"""Shapes are short: larger values are not computed here."""


@dataclass(frozen=True)
class InferSymbols(ModulePass):
    """Extents that have names become symbols, and every extent that follows from them a form."""

    name = "relay-infer-symbols"
    opt_level: ClassVar[int] = 0

    dims: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        stated, given = module_symbols(op), parse_ranges(self.dims)
        # Of a symbol about which a module says what is said of all nothing has been given.
        known = {n: r for n, r in (stated.known if stated is not None else {}).items() if not r.says_nothing} | given
        for name, range_ in given.items():
            _check_within(op, name, range_, stated.known.get(name) if stated is not None else None)
        mains = [f for f in op.ops if isinstance(f, func.FuncOp) and not f.is_declaration]
        opened = [m for m in mains if has_unknown_extents(m.body.block.arg_types)]
        if not opened:
            return
        if len(mains) > 1 or len(mains[0].body.blocks) != 1:
            raise InputError(
                f"{self.name}: the module has {len(mains)} functions",
                hint="run relay-inline and relay-remove-unused-functions before",
                op=opened[0],
            )
        (main,) = mains
        symbols, found = infer(main, known, stated)
        with edit.transaction(op), with_symbols(symbols):
            state_symbols(op, symbols)
            for argument in main.body.block.args:
                # A symbol of one value is a number.
                info = symbolic_info(argument.type, symbols)
                if info is not None and type_of_info(info) != argument.type:
                    Rewriter.replace_value_with_new_type(argument, type_of_info(info))
            for each in found:
                adopt(each)
            drop_unused(main, [f.op for f in found if f.static is None])
            returned = main.get_return_op()
            assert returned is not None
            outputs = [v.type for v in returned.arguments]
            main.function_type = FunctionType.from_lists(list(main.body.block.arg_types), outputs)


def _check_within(op: ModuleOp, name: str, given: SymbolRange, stated: SymbolRange | None) -> None:
    """Raises InputError where values are given for which a module says that it was not made."""
    if stated is not None and (given.min < stated.min or given.max > stated.max or given.divisor % stated.divisor):
        what = f"{range_text(name, given)} is given, the module is made for {range_text(name, stated)}"
        raise InputError(f"relay-infer-symbols: {what}", op=op)


def adopt(found: InferredOp) -> None:
    """Give an op the types that follow for it, or put the op that it is in its place."""
    op, static = found.op, found.static
    if static is None:
        for result, type_ in zip(list(op.results), found.types, strict=True):
            if type_ != result.type:
                edit.change(op)
                Rewriter.replace_value_with_new_type(result, type_)
        return
    properties = static.op.defaults() | {n: to_attribute(v) for n, v in static.attrs.items() if v is not None}
    operands = [op.operands[n] for n in static.operands]
    new = static.op.create(operands=operands, result_types=found.types, properties=properties)
    edit.replace(op, new)


def drop_unused(main: func.FuncOp, ops: Sequence[RelayOp]) -> None:
    """Shapes that were computed and that nobody needs any more go."""
    for op in reversed(ops):
        if not any(r.uses for r in op.results):
            edit.erase(op)


@dataclass(frozen=True)
class InferredOp:
    """An op with the types that it gives for the symbols, and what it becomes where its shape was a value."""

    op: RelayOp
    types: Sequence[Attribute]
    static: Static | None = None


def infer(
    main: func.FuncOp, known: Mapping[str, SymbolRange], stated: Symbols | None = None
) -> tuple[Symbols, list[InferredOp]]:
    """The symbols of a function, those stated among them, with ranges under which its ops fit, and what its ops give.

    Raises InputError, UnsupportedError naming the op that does not fit.
    """
    block = main.body.block
    for argument in block.args:
        if has_open_extent(argument.type):
            raise InputError(
                f"relay-infer-symbols: an argument is {argument.type}, which has extents without a name", op=main
            )
    names = names_of_types(block.arg_types)
    named = dict.fromkeys([*(s for d in names for s in symbols_of(form_of(d))), *(stated.known if stated else ())])
    symbols = Symbols({n: known.get(n, SymbolRange()) for n in named}, conditions=stated.conditions if stated else ())
    for _ in range(_ROUNDS):
        sweep = _Sweep(symbols, {n: r for n, r in known.items() if not r.says_nothing})
        narrowed = sweep.run(main)
        if narrowed is None:
            return symbols, sweep.found
        symbols = narrowed
    raise UnsupportedError("relay-infer-symbols: the ranges of the symbols do not settle", op=main)


class _Sweep:
    """One function in program order, for ranges of its symbols."""

    def __init__(self, symbols: Symbols, declared: Mapping[str, SymbolRange]) -> None:
        self.symbols = symbols
        self.declared = declared
        """The ranges that somebody has given, which stay."""
        self.infos: dict[SSAValue, TensorInfo] = {}
        self.numbers: dict[SSAValue, Array] = {}
        """The elements of short tensors of integers, numbers of the symbols among them."""
        self.found: list[InferredOp] = []

    def run(self, main: func.FuncOp) -> Symbols | None:
        """None, or the symbols with less values that an op needs."""
        for argument in main.body.block.args:
            self._note(argument)
        for op in main.body.block.ops:
            if isinstance(op, ConstantOp):
                self._note(op.result)
                if isinstance(op.value, DenseIntOrFPElementsAttr) and prod(op.value.get_shape()) <= MOST_ELEMENTS:
                    self.numbers[op.result] = dense_array(op.value)
            elif isinstance(op, RelayOp) and not op.regions:
                narrowed = self._op(op)
                if narrowed is not None:
                    return narrowed
            elif not isinstance(op, func.ReturnOp):
                raise UnsupportedError(f"relay-infer-symbols: {op.name} is no tensor op", op=op)
        return None

    def _note(self, value: SSAValue) -> None:
        info = symbolic_info(value.type, self.symbols)
        assert info is not None
        self.infos[value] = info

    def _op(self, op: RelayOp) -> Symbols | None:
        static: Static | None = None
        try:
            with with_symbols(self.symbols):
                attrs, given, infer = attrs_of(op), [self.infos[v] for v in op.operands], op.infer_infos
                if isinstance(op, ValueDependent):
                    static = self._static(op, given, attrs)
                    attrs, given, infer = static.attrs, [given[n] for n in static.operands], static.op.infer_infos
                    attrs = full_attrs(static.op, attrs)
                infos = infer(given, attrs)
                types = [type_of_info(i) for i in infos]
        except (TypeMismatch, TypeError, ValueError, ArithmeticError) as e:
            repaired = self._repaired(op)
            if repaired is not None:
                return repaired
            sizes = ", ".join(f"{n} = {v}" for n, v in self.symbols.hints.items())
            raise InputError(f"{op.name.removeprefix('relay.')}: {e}, for instance where {sizes}", op=op) from e
        if self.symbols.guards:
            return self._narrowed(op, self.symbols.guards)
        self.infos.update(zip(op.results, infos, strict=True))
        self.found.append(InferredOp(op, types, static))
        if static is None and all(i.dtype in INTEGERS and self._is_short(i) for i in infos):
            self._compute(op, given, attrs)
        return None

    def _is_short(self, info: TensorInfo) -> bool:
        return not any(is_symbolic(e) for e in info.shape) and prod(info.shape) <= MOST_ELEMENTS

    def _static(self, op: ValueDependent, given: Sequence[TensorInfo], attrs: dict[str, Any]) -> Static:
        """The op that one is whose shape is a value that follows from the symbols."""
        if not isinstance(op, BecomesStatic) or any(op.operands[n] not in self.numbers for n in op.NEEDED):
            raise UnsupportedError(f"relay-infer-symbols: the shape that {op.name} gives depends on values", op=op)
        return op.static(given, {n: self.numbers[op.operands[n]] for n in op.NEEDED}, **attrs)

    def _compute(self, op: RelayOp, given: Sequence[TensorInfo], attrs: dict[str, Any]) -> None:
        """Note the results of an op on shapes, where they follow from the symbols."""
        if isinstance(op, ShapeOfOp):
            self.numbers[op.result] = _array(given[0].shape)
            return
        if any(v not in self.numbers for v in op.operands) or not op.operands or not hasattr(op, "np_ref"):
            return
        arrays = [self.numbers[v] for v in op.operands]
        results = symbolic_results(type(op), arrays, attrs, self.symbols)
        if results is not None:
            self.numbers.update(zip(op.results, results, strict=True))

    def _repaired(self, op: RelayOp) -> Symbols | None:
        """The symbols with values for which the last question of an op that refuses is answered the other way."""
        if not self.symbols.guards:
            return None
        guard = self.symbols.guards[-1].negated()
        return self._narrowed(op, [guard]) if range_under(guard, self.symbols.known) is not None else None

    def _narrowed(self, op: RelayOp, guards: Sequence[Guard]) -> Symbols:
        """The symbols with less values, or conditions, as an op has asked. Raises LaminaError where none say it."""
        try:
            return narrowed(self.symbols, self.declared, guards)
        except (UnsupportedError, InputError) as e:
            name = op.name.removeprefix("relay.")
            raise type(e)(f"relay-infer-symbols: {name} {e.what}", hint=e.hint, op=op) from None


def _array(shape: Sequence[int]) -> Array:
    numbers = np.empty(len(shape), object)
    numbers[:] = list(shape)
    return numbers
