"""Rules of StableHLO's loops, branches and composites.

A loop whose trips are known is put in place, trip by trip, as long as that is not too much; another one is a function
that calls itself, which the virtual machine runs:

Before: %r = stablehlo.while(%i = %n) : tensor<i32> cond { ... } do { ... }
After:  %loop = relay.fn self %again (%i: tensor<i32>) -> tensor<i32> {
          %c = ...
          %r = relay.if %c -> tensor<i32> { ... relay.call %again(...) ... } else { relay.yield %i : tensor<i32> }
          relay.return %r : tensor<i32>
        }
        %r = relay.call %loop(%n) : (tensor<i32>) -> tensor<i32>

Of a branch on a known number only the one that is taken is left. Small branches are both computed, and one is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import FunctionType, LocationAttr, NameLoc, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue

from lamina.dialects import relay as r
from lamina.dialects.lazy import np
from lamina.dialects.locations import source_position
from lamina.dialects.relay.core import CallOp as LocalCallOp
from lamina.dialects.relay.core import ConstantOp, FnOp, ReturnOp, module_of, symbol
from lamina.dialects.relay.functional.control import IfOp, YieldOp
from lamina.dialects.rules.terms import insert
from lamina.dialects.stablehlo import find_op
from lamina.dialects.stablehlo.base import HloOp
from lamina.dialects.stablehlo.control import CaseOp, CompositeOp, CustomCallOp, HloIfOp, HloReturnOp, WhileOp, returned
from lamina.dialects.stablehlo.shape import HloConstantOp
from lamina.passes.rules.rewriting import Rules
from lamina.passes.stablehlo_to_relay import emit
from lamina.passes.stablehlo_to_relay.elements import elements
from lamina.passes.stablehlo_to_relay.emit import known, number, unsupported
from lamina.passes.stablehlo_to_relay.indexing import indexing
from lamina.passes.stablehlo_to_relay.shapes import shapes

control = Rules("stablehlo-to-relay")

MOST_TRIPS = 1024
MOST_UNROLLED = 2000
"""Ops that the trips of a loop may be in all."""
SMALL_BRANCH = 12
"""Ops of branches that are both computed."""


def class_of(name: str) -> type[HloOp] | None:
    """The class of an op of CHLO that has a rule, by its name."""
    found = find_op(name)
    return found if any(found in rules.dispatch for rules in (elements, shapes, indexing)) else None


# -- bodies that are put in place -------------------------------------------------------------------


def placed(block: Block, values: Sequence[SSAValue], caller: LocationAttr | None = None) -> list[SSAValue]:
    """A block's ops on these values in the place of the op that is lowered: what the block gives.

    Ops without a place in a file are said to be called from where `caller` is.
    """
    mapper: dict[SSAValue, SSAValue] = dict(zip(block.args, values, strict=True))
    last = block.last_op
    assert last is not None
    for op in block.ops:
        if op is not last:
            copy = op.clone(value_mapper=mapper)
            if caller is not None and source_position(copy.location) is None:
                copy.location = _called_from(copy.location, caller)
            insert(copy)
    return [mapper.get(v, v) for v in last.operands]


def _called_from(location: LocationAttr, caller: LocationAttr) -> LocationAttr:
    """The location of an op of a function without a file, by the call of that function."""
    if source_position(caller) is None:
        return location
    return NameLoc(location.desc, caller) if isinstance(location, NameLoc) else caller


def function_of(op: Operation, name: str) -> FuncOp:
    """The function of a name. Raises UnsupportedError where there is none with a body."""
    module = module_of(op)
    found = symbol(module, name) if module is not None else None
    if not isinstance(found, FuncOp) or found.is_declaration or len(found.body.blocks) != 1:
        raise unsupported(op, f"there is no function @{name} with a body")
    if list(found.function_type.inputs) != list(op.operand_types) or list(found.function_type.outputs) != list(
        op.result_types
    ):
        raise unsupported(op, f"@{name} is of type {found.function_type}")
    return found


@control.lower(CallOp)
def call(op: CallOp) -> list[SSAValue]:
    """Before: %0 = func.call @relu(%x) : (tensor<8xf32>) -> tensor<8xf32>
    After:  the ops of @relu
    """
    return placed(function_of(op, op.callee.string_value()).body.block, list(op.operands), op.location)


@control.lower(CompositeOp)
def composite(op: CompositeOp) -> list[SSAValue]:
    """Before: %0 = stablehlo.composite "chlo.erf" %x {decomposition = @chlo.erf.impl} : ...
    After:  chlo.erf where Relay has the function, else the ops of the decomposition
    """
    known_as = class_of(op.composite_name.data)
    given = dict(op.composite_attributes.data) if op.composite_attributes is not None else {}
    if known_as is not None and set(given) == set(known_as.get_irdl_definition().properties):
        made = known_as.create(operands=list(op.operands), result_types=list(op.result_types), properties=given)
        made.verify_()
        insert(made)
        return list(made.results)
    return placed(function_of(op, op.decomposition.string_value()).body.block, list(op.operands))


SAME = ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement", "LayoutConstraint")
"""Calls that only say where a value is to be."""


@control.lower(CustomCallOp)
def custom_call(op: CustomCallOp) -> list[SSAValue]:
    """Before: %0 = stablehlo.custom_call @Sharding(%x) : (tensor<8xf32>) -> tensor<8xf32>
    After:  %x
    """
    name = op.call_target_name.data
    if name in SAME and list(op.operand_types) == list(op.result_types):
        return list(op.operands)
    function = name.removeprefix("mhlo.")
    made = class_of(f"chlo.{function}") if name != function else None
    if made is not None and not made.get_irdl_definition().properties:
        new = made.create(operands=list(op.operands), result_types=list(op.result_types))
        new.verify_()
        insert(new)
        return list(new.results)
    raise unsupported(op, f"@{name} is a function of XLA's library")


# -- loops ------------------------------------------------------------------------------------------


def value_in(value: SSAValue, env: dict[SSAValue, Any]) -> Any | None:
    """The array of a value in a region whose arguments have known arrays, None where it is not known."""
    if value in env:
        return env[value]
    owner = value.owner
    found: Any = None
    if isinstance(owner, (ConstantOp, HloConstantOp)):
        found = known(value) if isinstance(owner, ConstantOp) else _array(owner)
    elif isinstance(owner, HloOp) and len(owner.results) == 1 and not owner.regions:
        arrays = [value_in(v, env) for v in owner.operands]
        if all(a is not None and a.size == 1 for a in arrays):
            found = folded(owner, arrays)
    elif isinstance(owner, CallOp):
        arrays = [value_in(v, env) for v in owner.operands]
        block = function_of(owner, owner.callee.string_value()).body.block
        inner = {a: v for a, v in zip(block.args, arrays, strict=True) if v is not None}
        last = block.last_op
        assert last is not None
        found = value_in(last.operands[owner.results.index(value)], inner)  # type: ignore[arg-type]
    env[value] = found
    return found


def _array(op: HloConstantOp) -> Any | None:
    from lamina.dialects.relay.params import dense_array

    array = dense_array(op.value)
    return array if array.size <= 1 else None


def folded(op: HloOp, arrays: Sequence[Any]) -> Any | None:
    """The value of an op on constants, None where it has none or is large."""
    with np.errstate(all="ignore"):
        found = op.evaluate(*arrays)
    if found is None or isinstance(found, (list, tuple)):
        return None
    array = np.asarray(found)
    return array if array.nbytes <= emit.FOLDED_BYTES else None


def trips_of(op: WhileOp) -> int | None:
    """The number of times that a loop runs, None where that is not known or more than `MOST_TRIPS`."""
    try:
        return _counted(op)
    except RecursionError:
        return None


def _counted(op: WhileOp) -> int | None:
    state: list[Any] = [a if a is not None and a.size == 1 else None for a in map(known, op.operands)]
    (condition,) = returned(op.cond)
    following = returned(op.body)
    for trip in range(MOST_TRIPS + 1):
        at = value_in(condition, _environment(op.cond, state))
        if at is None:
            return None
        if not bool(at):
            return trip
        env = _environment(op.body, state)
        state = [value_in(v, env) if a is not None else None for a, v in zip(state, following, strict=True)]
        state = [a if a is None or a.size == 1 else None for a in state]
    return None


def _environment(region: Region, state: Sequence[Any]) -> dict[SSAValue, Any]:
    # An argument that is not known is None, too: nothing is looked for behind it.
    return dict(zip(region.block.args, state, strict=True))


def callee_of(op: Operation) -> str:
    """The name of the function that an op calls, "" where it calls none."""
    if isinstance(op, CallOp):
        return op.callee.string_value()
    return op.decomposition.string_value() if isinstance(op, CompositeOp) else ""


def weight(region: Region, op: Operation, known_sizes: dict[str, int] | None = None) -> int:
    """The ops of a region, those of the functions that it calls among them, none of which calls itself."""
    sizes = {} if known_sizes is None else known_sizes
    count = 0
    for inner in region.walk():
        count += 1
        name = callee_of(inner)
        if name:
            if name not in sizes:
                sizes[name] = weight(function_of(inner, name).body, op, sizes)
            count += sizes[name]
    return count


@control.lower(WhileOp)
def while_(op: WhileOp) -> list[SSAValue]:
    """Before: %r = stablehlo.while(%i = %n) : tensor<i32> cond { ... } do { ... }
    After:  the body for each trip, or a relay.fn that calls itself
    """
    trips = trips_of(op)
    if trips is not None and trips * weight(op.body, op) <= MOST_UNROLLED:
        values = list(op.operands)
        for _ in range(trips):
            values = placed(op.body.block, values)
        return values
    return recursive(op)


def recursive(op: WhileOp) -> list[SSAValue]:
    """The loop as a function that calls itself, and its call."""
    types = list(op.operand_types)
    outside = _captured([op.cond, op.body])
    constants = [v for v in outside if isinstance(v.owner, (ConstantOp, HloConstantOp))]
    captures = [v for v in outside if v not in constants]
    type_ = FunctionType.from_lists(types, types)
    block = Block(arg_types=[*types, *(v.type for v in captures), type_])
    for argument, value in zip(block.args, [*op.cond.block.args, *captures], strict=False):
        argument.name_hint = value.name_hint
    state = list(block.args[: len(types)])
    mapper: dict[SSAValue, SSAValue] = dict(zip(captures, block.args[len(types) :], strict=False))
    for value in constants:
        source: Any = value.owner
        copy = source.clone()
        block.add_op(copy)
        mapper[value] = copy.results[0]
    (condition,) = _cloned(op.cond.block, block, dict(zip(op.cond.block.args, state, strict=True)) | mapper)
    body = Block()
    following = _cloned(op.body.block, body, dict(zip(op.body.block.args, state, strict=True)) | mapper)
    again = LocalCallOp.create(operands=[block.args[-1], *following], result_types=types)
    body.add_ops([again, YieldOp.make(*again.results)])
    rest = Block()
    rest.add_op(YieldOp.make(*state))
    choice = IfOp.make(condition, body, rest, types)
    block.add_ops([choice, ReturnOp.make(*choice.results)])
    function = FnOp.create(
        operands=captures, result_types=[type_], regions=[Region(block)], properties={"recursive": UnitAttr()}
    )
    insert(function)
    made = LocalCallOp.create(operands=[function.result, *op.operands], result_types=types)
    insert(made)
    return list(made.results)


def _captured(regions: Sequence[Region]) -> list[SSAValue]:
    """The values from outside that regions use, each once."""
    inside: set[Any] = set()
    found: dict[SSAValue, None] = {}
    for region in regions:
        for block in _blocks(region):
            inside.update(block.args)
        for op in region.walk():
            inside.update(op.results)
    for region in regions:
        for op in region.walk():
            found.update((v, None) for v in op.operands if v not in inside)
    return list(found)


def _blocks(region: Region) -> list[Block]:
    found = list(region.blocks)
    for op in region.walk():
        found.extend(b for inner in op.regions for b in inner.blocks)
    return found


def _cloned(source: Block, target: Block, mapper: dict[SSAValue, SSAValue]) -> list[SSAValue]:
    """A block's ops at the end of another one: what the block gives."""
    last = source.last_op
    assert last is not None
    for op in source.ops:
        if op is not last:
            target.add_op(op.clone(value_mapper=mapper))
    return [mapper.get(v, v) for v in last.operands]


# -- branches ---------------------------------------------------------------------------------------


@control.lower(HloIfOp)
def if_(op: HloIfOp) -> list[SSAValue]:
    """Before: %0 = "stablehlo.if"(%c) ({ ... }, { ... }) : (tensor<i1>) -> tensor<8xf32>
    After:  %0 = relay.if %c -> tensor<8xf32> { ... } else { ... }
    """
    taken = known(op.pred)
    if taken is not None:
        return placed((op.true_branch if bool(taken) else op.false_branch).block, [])
    return chosen(op, op.pred, op.true_branch, op.false_branch)


@control.lower(CaseOp)
def case(op: CaseOp) -> list[SSAValue]:
    """Before: %0 = "stablehlo.case"(%n) ({ ... }, { ... }) : (tensor<i32>) -> tensor<8xf32>
    After:  %1 = relay.equal %n, 0
            %0 = relay.if %1 -> tensor<8xf32> { ... } else { ... }
    """
    branches = list(op.regions)
    taken = known(op.index)
    if taken is not None or len(branches) == 1:
        place = int(taken) if taken is not None else 0
        return placed(branches[place if 0 <= place < len(branches) else -1].block, [])
    return _nested(op, branches, 0)


def _nested(op: CaseOp, branches: Sequence[Region], place: int) -> list[SSAValue]:
    condition = r.equal(op.index, number(place, op.index))
    if len(branches) == 2:
        return chosen(op, condition, *branches)
    # The others are a case of their own, of which the number counts from the next one.
    rest = Block()
    inner = CaseOp.create(
        operands=[op.index], result_types=list(op.result_types), regions=[b.clone() for b in branches[1:]]
    )
    shifted = r.subtract(op.index, number(1, op.index))
    wrapped = r.where(r.less(op.index, number(1, op.index)), number(len(branches), op.index), shifted)
    inner.operands[0] = wrapped
    rest.add_ops([inner, HloReturnOp.create(operands=inner.results)])
    region = Region(rest)
    return chosen(op, condition, branches[0], region)


def chosen(op: Operation, condition: SSAValue, yes: Region, no: Region) -> list[SSAValue]:
    """The results of one of two branches: small ones are both computed."""
    small = _is_small(yes) and _is_small(no) and weight(yes, op) + weight(no, op) <= SMALL_BRANCH
    if small and op.results:
        first, second = placed(yes.block, []), placed(no.block, [])
        return [r.where(condition, a, b) for a, b in zip(first, second, strict=True)]
    blocks: list[Block] = []
    for region in (yes, no):
        block = Block()
        values = _cloned(region.block, block, {})
        block.add_op(YieldOp.make(*values))
        blocks.append(block)
    made = IfOp.make(condition, blocks[0], blocks[1], list(op.result_types))
    insert(made)
    return list(made.results)


def _is_small(region: Region) -> bool:
    """Whether nothing in a branch may take long."""
    slow = (
        "stablehlo.while",
        "stablehlo.convolution",
        "stablehlo.dot_general",
        "stablehlo.sort",
        "func.call",
        "stablehlo.case",
    )
    return not any(op.name in slow for op in region.walk())
