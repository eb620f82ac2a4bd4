"""relay-state-append: state that grows is added to where it lies, instead of being copied for each run.

Before:
    func.func @main(%x: ..., %past: tensor<1x4x?x64xf32, #relay.dims<_, _, p, _>> {lamina.name = "past"}) -> (...)
        attributes {lamina.state = [{input = "past", output = "present", initial = dense<0.0> : tensor<f32>}]} {
      %present = relay.concatenate %past, %new {axis = 2} : (...) -> tensor<1x4x?x64xf32, #relay.dims<_, _, p + s, _>>
      %y = relay.nn.batch_matmul ... %present ...
      func.return %y, %present
After:
      %0 = relay.state_append %past, %new {axis = 2, kept = [p_kept], capacity = [p + s + p_spare]} : (...)
      %1 = relay.strided_slice %0 {axes = [2], begin = [0], end = [p + s]}
      %y = relay.nn.batch_matmul ... %1 ...
      func.return %y, %0

Two symbols are new: how many rows of the past are in the memory of the result already, and how many rows it has room
for beyond those that it gets. Where none says so both are 0, and the program computes what it did. Who keeps the state
(`lamina.runtime.session`) hands the program one memory for both, so that a run writes the new rows alone; the attribute
`lamina.state` says by which symbols. A past that something else reads stays: in that memory its rows lie otherwise.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType
from xdsl.ir import SSAValue

from lamina.dialects import edit
from lamina.dialects.entry_names import argument_names, result_names
from lamina.dialects.index.linear import Linear
from lamina.dialects.index.symbols import MOST, SymbolicExtent, SymbolRange, Symbols, with_symbols
from lamina.dialects.infos import has_unknown_extents
from lamina.dialects.relay.base import attrs_of, normalize_axis
from lamina.dialects.relay.program_state import STATE, StateVariable, state_attribute, state_of
from lamina.dialects.relay.shape.indexing import StridedSliceOp
from lamina.dialects.relay.shape.join import ConcatenateOp
from lamina.dialects.relay.shape.state import StateAppendOp
from lamina.dialects.relay.symbolic import module_symbols, state_symbols, symbolic_info
from lamina.dialects.state_growth import Growth
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location


class Growing(NamedTuple):
    """A state that is a concatenation of itself and new rows."""

    variable: StateVariable
    op: ConcatenateOp
    output: int
    """The position of the result."""
    axis: int
    past: str
    """The symbol that is the number of rows of the past."""
    total: Linear


@dataclass(frozen=True)
class StateAppend(ModulePass):
    """State that grows is added to where it lies."""

    name = "relay-state-append"
    opt_level: ClassVar[int] = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        symbols = module_symbols(op)
        mains = [f for f in op.ops if isinstance(f, func.FuncOp) and STATE in f.attributes]
        if symbols is None or len(mains) != 1:
            return
        (main,) = mains
        found = growing_states(main, symbols)
        if not found:
            return
        with edit.transaction(main):
            append(op, main, found, symbols)


def growing_states(main: func.FuncOp, symbols: Symbols) -> list[Growing]:
    """The states of a function that grow, each by rows behind those of the past."""
    returned = main.get_return_op()
    assert returned is not None
    arguments = dict(zip(argument_names(main, main.body.block.args), main.body.block.args, strict=True))
    results = result_names(main, len(returned.arguments), list(returned.arguments))
    found: list[Growing] = []
    for variable in state_of(main):
        past = arguments.get(variable.input)
        if past is None or variable.output not in results or variable.growth is not None:
            continue
        output = results.index(variable.output)
        op = returned.arguments[output].owner
        if not isinstance(op, ConcatenateOp) or len(op.operands) != 2 or op.operands[0] is not past:
            continue
        if not past.has_one_use() or list(returned.arguments).count(op.result) != 1:
            continue
        axis = normalize_axis(attrs_of(op)["axis"], len(op.result.type.get_shape()))
        before, after = (_extent(v, axis, symbols) for v in (past, op.result))
        names = [n for n in symbols.known if before == Linear.dim(n)]
        if names and after is not None:
            found.append(Growing(variable, op, output, axis, names[0], after))
    return found


def _extent(value: SSAValue, axis: int, symbols: Symbols) -> Linear | None:
    """The form that is an extent of a value; None for a number."""
    info = symbolic_info(value.type, symbols) if has_unknown_extents([value.type]) else None
    extent = info.shape[axis] if info is not None else None
    return extent.form if isinstance(extent, SymbolicExtent) else None


def append(module: ModuleOp, main: func.FuncOp, found: Sequence[Growing], symbols: Symbols) -> None:
    """Let the states grow where they lie. Those of one number of rows, before and after, have room together."""
    known, conditions = dict(symbols.known), list(symbols.conditions)
    # Sizes are inputs too: they have names of their own.
    names = argument_names(main, main.body.block.args)
    added: dict[tuple[str, Linear], tuple[str, str]] = {}
    for state in found:
        key = state.past, state.total
        if key not in added:
            kept, spare = (_unused(f"{state.past}_{what}", {*known, *names}) for what in ("kept", "spare"))
            known[kept] = SymbolRange(0, known[state.past].max, default=0)
            known[spare] = SymbolRange(0, MOST, default=0)
            conditions.append(Linear.dim(state.past) - Linear.dim(kept))
            added[key] = kept, spare
    more = Symbols(known, conditions=conditions)
    returned = main.get_return_op()
    assert returned is not None
    growth: dict[str, Growth] = {}
    for state in found:
        kept, spare = added[state.past, state.total]
        growth[state.variable.input] = Growth(state.axis, kept, spare)
        with with_symbols(more):
            rows = _append_one(state, kept, spare, more)
        edit.change(returned)
        returned.operands[state.output] = rows
    edit.change(main)
    main.attributes[STATE] = state_attribute([v._replace(growth=growth.get(v.input, v.growth)) for v in state_of(main)])
    inputs, outputs = main.body.block.arg_types, [v.type for v in returned.arguments]
    main.function_type = FunctionType.from_lists(list(inputs), outputs)
    state_symbols(module, more)


def _append_one(state: Growing, kept: str, spare: str, symbols: Symbols) -> SSAValue:
    """The memory of a state behind its concatenation, whose other readers read the rows that are in it."""
    op, total = state.op, SymbolicExtent(state.total, symbols)
    number, capacity = (SymbolicExtent(f, symbols) for f in (Linear.dim(kept), state.total + Linear.dim(spare)))
    made = StateAppendOp.make(*op.operands, axis=state.axis, kept=(number,), capacity=(capacity,))
    inherit_location(made, op)
    edit.insert_before(op, made)
    memory = rows = made.results[0]
    if not op.result.has_one_use():  # the return is one
        part = StridedSliceOp.make(memory, begin=(0,), end=(total,), strides=(1,), axes=(state.axis,))
        inherit_location(part, op)
        edit.insert_before(op, part)
        rows = part.results[0]
    edit.replace(op, [rows])
    return memory


def _unused(name: str, taken: Container[str]) -> str:
    while name in taken:
        name += "_"
    return name
