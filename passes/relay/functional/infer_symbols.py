"""relay-infer-symbols: extents that have names become symbols, and every extent that follows from them a form.

Before:
    func.func @main(%x: tensor<?x8xf32, #relay.dims<n, _>>) -> tensor<?x16xf32> {
      %0 = relay.concatenate %x, %x {axis = 1} : (tensor<?x8xf32, #relay.dims<n, _>>, ...) -> tensor<?x16xf32>
      %1 = relay.reshape %0 {newshape = [-1, 4]} : (tensor<?x16xf32>) -> tensor<?x4xf32> ... }
After:
    module attributes {relay.symbols = {n = #relay.symbol<min = 1, max = 2147483647>}}
      %0 = relay.concatenate ... -> tensor<?x16xf32, #relay.dims<n, _>>
      %1 = relay.reshape ... -> tensor<?x4xf32, #relay.dims<n * 4, _>>

Each op of `@main` is asked for its types once, with numbers that depend on the symbols. Where an op needs more of a
symbol than is known, a least value, a greatest one or a divisor, the module says so afterwards: who runs the program
for another value is refused. What no such range can say is refused here. `dims="n=1..64, p=0..4096, k=16..512:16"`
gives the values of symbols (after a colon the divisor), else those that the module states; a symbol of which nothing
is said is at least 1. Assumes that functions have been inlined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import Rewriter

from lamina.dialects import edit
from lamina.dialects.index.symbol_ranges import narrowed, parse_ranges, range_under
from lamina.dialects.index.symbols import SymbolRange, Symbols, form_of, symbols_of, with_symbols
from lamina.dialects.infos import SYMBOLS, TensorInfo, TypeMismatch, has_unknown_extents
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.symbolic import (
    has_open_extent,
    module_symbols,
    names_of_types,
    symbolic_info,
    symbols_attr,
    type_of_info,
)
from lamina.dialects.relay.value_dependent import ValueDependent
from lamina.errors import InputError, UnsupportedError
from lamina.passes.base import Context, ModuleOp, ModulePass

_ROUNDS = 64


@dataclass(frozen=True)
class InferSymbols(ModulePass):
    """Extents that have names become symbols, and every extent that follows from them a form."""

    name = "relay-infer-symbols"
    opt_level: ClassVar[int] = 0

    dims: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        known = parse_ranges(self.dims)
        stated = module_symbols(op)
        if stated is not None:
            known = stated.known | known
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
        symbols, results = infer(main, known)
        with edit.transaction(op):
            op.attributes[SYMBOLS] = symbols_attr(symbols.known)
            for each, types in results:
                for result, type_ in zip(list(each.results), types, strict=True):
                    if type_ != result.type:
                        edit.change(each)
                        Rewriter.replace_value_with_new_type(result, type_)
            returned = main.get_return_op()
            assert returned is not None
            outputs = [v.type for v in returned.arguments]
            main.function_type = FunctionType.from_lists(list(main.function_type.inputs), outputs)


def infer(
    main: func.FuncOp, known: dict[str, SymbolRange]
) -> tuple[Symbols, list[tuple[Operation, Sequence[Attribute]]]]:
    """The symbols of a function, with ranges under which its ops fit, and the types of all its results.

    Raises InputError, UnsupportedError naming the op that does not fit.
    """
    block = main.body.block
    for argument in block.args:
        if has_open_extent(argument.type):
            raise InputError(
                f"relay-infer-symbols: an argument is {argument.type}, which has extents without a name", op=main
            )
    names = names_of_types(block.arg_types)
    ranges = {n: known.get(n, SymbolRange()) for n in dict.fromkeys(s for d in names for s in symbols_of(form_of(d)))}
    for _ in range(_ROUNDS):
        symbols = Symbols(ranges)
        results, narrowed = _infer(main, symbols)
        if narrowed is None:
            return symbols, results
        ranges = narrowed
    raise UnsupportedError("relay-infer-symbols: the ranges of the symbols do not settle", op=main)


def _infer(
    main: func.FuncOp, symbols: Symbols
) -> tuple[list[tuple[Operation, Sequence[Attribute]]], dict[str, SymbolRange] | None]:
    """The types of all results, or the smaller ranges of symbols that an op needs."""
    infos: dict[object, TensorInfo] = {}
    results: list[tuple[Operation, Sequence[Attribute]]] = []
    for argument in main.body.block.args:
        found = symbolic_info(argument.type, symbols)
        assert found is not None
        infos[argument] = found
    for op in main.body.block.ops:
        if isinstance(op, func.ReturnOp):
            continue
        if isinstance(op, ConstantOp):
            found = symbolic_info(op.result.type, symbols)
            assert found is not None
            infos[op.result] = found
            continue
        if not isinstance(op, RelayOp) or op.regions:
            raise UnsupportedError(f"relay-infer-symbols: {op.name} is no tensor op", op=op)
        if isinstance(op, ValueDependent):
            raise UnsupportedError(f"relay-infer-symbols: the shape that {op.name} gives depends on values", op=op)
        try:
            with with_symbols(symbols):
                given = [infos[v] for v in op.operands]
                found_infos = op.infer_infos(given, attrs_of(op))
                types = [type_of_info(i) for i in found_infos]
        except (TypeMismatch, TypeError, ValueError, ArithmeticError) as e:
            repaired = _repaired(symbols)
            if repaired is not None:
                return results, repaired
            sizes = ", ".join(f"{n} = {v}" for n, v in symbols.hints.items())
            raise InputError(f"{op.name.removeprefix('relay.')}: {e}, for instance where {sizes}", op=op) from e
        if symbols.guards:
            try:
                return results, narrowed(symbols.guards, symbols.known)
            except UnsupportedError as e:
                name = op.name.removeprefix("relay.")
                raise UnsupportedError(f"relay-infer-symbols: {name} {e.what}", op=op) from None
        infos.update(zip(op.results, found_infos, strict=True))
        results.append((op, types))
    return results, None


def _repaired(symbols: Symbols) -> dict[str, SymbolRange] | None:
    """The ranges of the symbols for which the last question of an op that refuses is answered the other way."""
    if not symbols.guards:
        return None
    found = range_under(symbols.guards[-1].negated(), symbols.known)
    return None if found is None else symbols.known | {found[0]: found[1]}
