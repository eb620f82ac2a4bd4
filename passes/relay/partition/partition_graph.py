"""relay-partition-graph: every region of an external compiler becomes a global function.

Before:
    %0 = relay.annotation.compiler_begin %x {compiler = "dnnl"} : tensor<8xf32>
    %1 = relay.nn.relu %0 : tensor<8xf32>
    %2 = relay.annotation.compiler_end %1 {compiler = "dnnl"} : tensor<8xf32>
After:
    %2 = func.call @tvmgen_default_dnnl_main_0(%x) : (tensor<8xf32>) -> tensor<8xf32>
    ...
    func.func @tvmgen_default_dnnl_main_0(%dnnl_0_i0: tensor<8xf32>) -> tensor<8xf32>
        attributes {Compiler = "dnnl", Inline = 1 : i64, Primitive = 1 : i64, global_symbol = ...} {...}

The function is named after `mod_name`, the compiler, the function that the region was in, and the number of the
region in it. Each value read or given is one parameter or result, however often it is used. Constants become part of
the function, unless `bind_constants` is false. Tuples are not: what is taken from one of the region is the field, and
one that is needed outside is made there, of results. No annotation is left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, IntegerAttr, StringAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from lamina.dialects import edit
from lamina.dialects.relay.core import ConstantOp, FnOp
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.passes.base import Context, ModuleOp, ModulePass, fused_location, inherit_name
from lamina.passes.relay.partition.compiler_regions import BEGIN, END, Regions, open_blocks


@dataclass(frozen=True)
class PartitionGraph(ModulePass):
    """Every region of an external compiler becomes a global function."""

    name = "relay-partition-graph"
    mod_name: str = "default"
    """The middle of the functions' names."""
    bind_constants: bool = True
    """Constants become part of the functions; else they are passed to them."""
    first_number: int = 0
    """The number of the first region of each function."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        counts = _Counts(self.first_number)
        made: list[func.FuncOp] = []
        with edit.transaction():
            for block in open_blocks(op):
                made += partition_block(block, self.mod_name, self.bind_constants, counts)
            op.body.block.add_ops(made)


def sanitized(name: str) -> str:
    """A name as a symbol of C."""
    return re.sub(r"\W", "_", name)


class _Counts(dict[str, int]):
    """The next number for the regions of each function."""

    def __init__(self, first: int) -> None:
        super().__init__()
        self.first = first

    def next(self, function: str) -> int:
        self[function] = number = self.get(function, self.first - 1) + 1
        return number


def partition_block(block: Block, mod_name: str, bind_constants: bool, counts: _Counts) -> list[func.FuncOp]:
    """Replace the regions of a block by calls: the functions, in the order of the regions' first ops."""
    if not any(op.name in (BEGIN, END) for op in block.ops):
        return []
    regions = Regions(block)
    members = regions.members()
    order = regions.order()
    _remove_annotations(block)
    home = _function_name(block)
    functions: list[func.FuncOp] = []
    calls: dict[int, func.CallOp] = {}
    around: dict[int, tuple[list[Operation], list[Operation]]] = {}
    gone: set[Operation] = set()
    tops = sorted(members, key=lambda t: regions.node[members[t][0]])
    for top in tops:
        members[top], *outside = _without_tuples(members[top], gone)
        around[top] = outside[0], outside[1]
    # A field that nobody takes leaves ops that nobody needs: a function has results.
    for op in reversed([op for op in regions.ops if op not in gone and regions.find(regions.node[op]) in around]):
        if op.results and all(r.first_use is None for r in op.results):
            _erase(op, gone)
    for top in tops:
        compiler = regions.compiler[top]
        assert compiler is not None
        ops = [op for op in members[top] if op not in gone]
        if not ops:
            continue
        number = counts.next(home)
        name = sanitized(f"tvmgen_{mod_name}_{compiler}_{home}_{number}")
        function, calls[top] = _outline(ops, name, compiler, number, bind_constants, gone)
        functions.append(function)
    arranged: list[Operation] = []
    for n in order:
        if n in around:
            before, behind = ([op for op in ops if op not in gone] for ops in around[n])
            arranged += before
            if n in calls:
                arranged.append(calls[n])
            arranged += behind
        elif regions.ops[n] not in gone:
            arranged.append(regions.ops[n])
    if around:
        _arrange(block, arranged)
    return functions


def _without_tuples(
    members: Sequence[Operation], gone: set[Operation]
) -> tuple[list[Operation], list[Operation], list[Operation]]:
    """The ops of a region that are no tuples, and the tuples and fields to stand before and behind it.

    Those that nobody needs are erased, and noted in `gone`.
    """
    inside = {op for op in members if isinstance(op, TupleOp)}
    ops: list[Operation] = []
    before: list[Operation] = []
    for op in members:
        if isinstance(op, TupleGetItemOp):
            made = op.tuple_value.owner
            if made not in inside:
                before.append(op)
                continue
            assert isinstance(made, TupleOp)
            edit.replace(op, [made.operands[op.index.value.data]])
            gone.add(op)
        elif op not in inside:
            ops.append(op)
    behind: list[Operation] = []
    for op in reversed([op for op in members if op in inside]):
        if op.results[0].first_use is None:
            _erase(op, gone)
        else:
            behind.insert(0, op)
    return ops, before, behind


def _erase(op: Operation, gone: set[Operation]) -> None:
    edit.erase(op)
    gone.add(op)


def _remove_annotations(block: Block) -> None:
    for op in list(block.ops):
        if op.name in (BEGIN, END):
            edit.replace(op, [op.operands[0]])


def _function_name(block: Block) -> str:
    at = block.parent_op()
    while at is not None and not isinstance(at, func.FuncOp):
        at = at.parent_op()
    return at.sym_name.data if at is not None else "main"


def _outline(
    ops: Sequence[Operation], name: str, compiler: str, number: int, bind_constants: bool, gone: set[Operation]
) -> tuple[func.FuncOp, func.CallOp]:
    """Move ops into a global function; what they give is given by a call, which is not inserted yet.

    Constants and composites that only the function needs are erased, and noted in `gone`.
    """
    inside = set(ops)
    body = Block()
    mapped: dict[SSAValue, SSAValue] = {}
    arguments: list[SSAValue] = []
    constants: list[Operation] = []
    outputs = [r for op in ops for r in op.results if any(u.operation not in inside for u in r.uses)]
    for op in ops:
        for i, value in enumerate(op.operands):
            owner = value.owner
            if owner in inside:
                continue
            new = mapped.get(value)
            if new is None:
                if isinstance(owner, FnOp) or (bind_constants and isinstance(owner, ConstantOp)):
                    copy = owner.clone()
                    body.add_op(copy)
                    new = copy.results[0]
                    inherit_name(new, value)
                    constants.append(owner)
                else:
                    new = body.insert_arg(value.type, len(body.args))
                    new.name_hint = f"{sanitized(compiler)}_{number}_i{len(arguments)}"
                    arguments.append(value)
                mapped[value] = new
            op.operands[i] = new
        edit.move_into(body, [op])
    returned = func.ReturnOp(*outputs)
    body.add_op(returned)
    type_ = FunctionType.from_lists([v.type for v in arguments], [v.type for v in outputs])
    function = func.FuncOp(name, type_, Region(body))
    function.attributes.update(
        {
            "Compiler": StringAttr(compiler),
            "Inline": IntegerAttr(1, i64),
            "Primitive": IntegerAttr(1, i64),
            "global_symbol": StringAttr(name),
        }
    )
    call = func.CallOp(name, arguments, [v.type for v in outputs])
    function.location = call.location = returned.location = fused_location(ops)
    for old, new in zip(outputs, call.results, strict=True):
        inherit_name(new, old)
        old.replace_uses_with_if(new, lambda use: use.operation is not returned and use.operation not in inside)
    for constant in dict.fromkeys(constants):
        if constant.results[0].first_use is None and constant.parent is not None:
            _erase(constant, gone)
    return function, call


def _arrange(block: Block, order: Sequence[Operation]) -> None:
    """Give the ops of a block a new order: each call of a region after what it reads, before what reads it."""
    for op in list(block.ops):
        edit.take(op)
    block.add_ops(order)
