"""Part of a program as a program of its own: some ops of `@main`, the values that they read from others as arguments.

Any set of ops will do. Of the whole program

    %a = relay.exp %x        %b = relay.nn.relu %a        %c = relay.add %b, %x

the ops `relu` and `add` are `@main(%a, %x)`, which returns `%c`. Constants and functions as values come with the ops
that read them; kernels, their schedules and called functions with the ops that name them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import Pure

from lamina.dialects.entry_names import argument_names, unique
from lamina.dialects.relay.core import ConstantOp, FnOp, GlobalOp
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.te.ops import FuncOp as TeFuncOp
from lamina.dialects.te.ops import ParamOp
from lamina.dialects.tir.ops import FuncOp as TirFuncOp
from lamina.dialects.value_names import NAME
from lamina.errors import UsageError
from lamina.passes.relay.functional.remove_unused_functions import referred_symbols


@dataclass
class Part:
    """A program that is part of another one."""

    module: ModuleOp
    main: MainOp
    arguments: dict[SSAValue, SSAValue]
    """The argument that each value from outside has become."""
    results: list[SSAValue]
    """The values of the whole program that it returns."""
    values: dict[SSAValue, SSAValue]
    """The new value of each result of an op."""


def is_carried(op: Operation) -> bool:
    """Whether an op comes with those that read it: constants, and functions that capture nothing."""
    return not op.operands and isinstance(op, ConstantOp | ParamOp | FnOp | GlobalOp)


def body_of(main: MainOp) -> list[Operation]:
    """The ops of a function that a part may have or leave out."""
    return [op for op in main.body.block.ops if not is_carried(op) and op.next_op is not None]


def part_of(
    main: MainOp,
    kept: Collection[Operation],
    results: Sequence[SSAValue] | None = None,
    given: Collection[SSAValue] = (),
) -> Part:
    """The program of some ops of `@main`, in their order.

    It returns `results`, by default what no op of the part reads. Constants that are `given` become arguments.
    Raises UsageError where it would return nothing.
    """
    wanted = set(kept)
    ops = [op for op in main.body.block.ops if op in wanted]
    if results is None:
        results = unread(ops)
    if not results:
        raise UsageError("a program without results does nothing")
    made = {r for op in ops for r in op.results}
    outside: dict[SSAValue, None] = {}
    carried: dict[Operation, None] = {}

    def need(value: SSAValue) -> None:
        owner = value.owner
        if value in made:
            return
        if isinstance(owner, Operation) and is_carried(owner) and value not in given:
            carried[owner] = None
        else:
            outside[value] = None

    for op in ops:
        for value in _read(op):
            need(value)
    for value in results:
        need(value)
    block = Block(arg_types=[v.type for v in outside])
    values: dict[SSAValue, SSAValue] = {}
    for mine, its in zip(block.args, outside, strict=True):
        mine.name_hint = its.name_hint
        values[its] = mine
    order = {op: n for n, op in enumerate(main.body.block.ops)}
    for op in sorted([*carried, *ops], key=order.__getitem__):
        block.add_op(op.clone(values))
    block.add_op(ReturnOp(*(values[v] for v in results)))
    types = [v.type for v in results]
    function = MainOp(main.sym_name.data, FunctionType.from_lists([v.type for v in outside], types), Region(block))
    function.attributes.update({n: a for n, a in main.attributes.items() if n != "lamina.outputs"})
    _name(function, main, outside)
    whole = main.parent_op()
    assert isinstance(whole, ModuleOp)
    module = ModuleOp([*_needed(whole, main, function), function], dict(whole.attributes))
    arguments = {v: values[v] for v in outside}
    return Part(module, function, arguments, list(results), values)


def live(main: MainOp) -> list[Operation]:
    """The ops that the results of a function depend on, and those that do more than give results."""
    last = main.body.block.last_op
    pending = [*last.operands] if last is not None else []
    found: set[Operation] = set()
    pending += [v for op in body_of(main) if not op.has_trait(Pure) for v in _read(op)]
    found.update(op for op in body_of(main) if not op.has_trait(Pure))
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner not in found and owner.parent is main.body.block:
            found.add(owner)
            pending += _read(owner)
    return [op for op in body_of(main) if op in found]


def unread(ops: Iterable[Operation]) -> list[SSAValue]:
    """The tensors that ops make and none of them reads."""
    ops = list(ops)
    read = {v for op in ops for v in _read(op)}
    return [r for op in ops for r in op.results if r not in read]


def leaving(main: MainOp, kept: Collection[Operation]) -> list[SSAValue]:
    """The results of ops that others of the function read, or that it returns."""
    wanted = set(kept)
    read = {v for op in main.body.block.ops if op not in wanted for v in _read(op)}
    return [r for op in main.body.block.ops if op in wanted for r in op.results if r in read]


def _read(op: Operation) -> list[SSAValue]:
    """The values from outside that an op, or an op inside it, reads."""
    if not op.regions:
        return list(op.operands)
    inside = {v for o in op.walk() for v in o.results}
    inside |= {a for o in op.walk() for region in o.regions for block in region.blocks for a in block.args}
    return [v for o in op.walk() for v in o.operands if v not in inside]


def _name(function: MainOp, main: MainOp, outside: Iterable[SSAValue]) -> None:
    """Give the arguments their attributes, and names that differ."""
    old = main.body.block
    given = main.arg_attrs.data if main.arg_attrs is not None else None
    known: dict[SSAValue, str] = dict(zip(old.args, argument_names(main, old.args), strict=True))
    attrs: list[dict[str, Attribute]] = []
    names: list[str] = []
    for n, value in enumerate(outside):
        index = old.args.index(value) if value in known else None
        attrs.append(dict(given[index].data) if given is not None and index is not None else {})
        names.append(known.get(value) or value.name_hint or f"arg{n}")
    last = function.body.block.last_op
    assert last is not None
    sides = (
        ("arg_attrs", function.body.block.args, names, attrs),
        (
            "res_attrs",
            last.operands,
            [v.name_hint or f"out{n}" for n, v in enumerate(last.operands)],
            [dict[str, Attribute]() for _ in last.operands],
        ),
    )
    for side, values, called, known_attrs in sides:
        for value, a, name in zip(values, known_attrs, unique(called), strict=True):
            a.pop(NAME, None)
            if name != value.name_hint:
                a[NAME] = StringAttr(name)
        if any(known_attrs):
            function.properties[side] = ArrayAttr([DictionaryAttr(a) for a in known_attrs])


def _needed(module: ModuleOp, main: MainOp, function: Operation) -> list[Operation]:
    """Copies of the module's other ops, without the functions that nothing names any more and their schedules."""
    functions = {name: op for op in module.ops if op is not main and (name := function_name(op)) is not None}
    found: set[str] = set()
    pending = [function, *(op for op in module.ops if op is not main and function_name(op) is None)]
    schedules = [op for op in pending if isinstance(op, ScheduleOp)]
    pending = [op for op in pending if not isinstance(op, ScheduleOp)]
    while pending:
        for name in referred_symbols(pending.pop()):
            if name in functions and name not in found:
                found.add(name)
                pending.append(functions[name])
    dropped = {id(op) for name, op in functions.items() if name not in found}
    dropped |= {id(s) for s in schedules if s.func.root_reference.data not in found}
    return [op.clone() for op in module.ops if op is not main and id(op) not in dropped]


def function_name(op: Operation) -> str | None:
    """The name of a function of any level; None for another op."""
    return op.sym_name.data if isinstance(op, MainOp | TeFuncOp | TirFuncOp) else None
