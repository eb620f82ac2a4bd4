"""relay-inline: puts the bodies of functions in the place of their calls.

Before:
    %f = relay.fn captures(%k = %c : tensor<f32>) (%y: tensor<8xf32>) -> tensor<8xf32> {
      %0 = relay.multiply %y, %k : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
      relay.return %0 : tensor<8xf32>
    }
    %r = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
After:
    %0 = relay.multiply %x, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>

A local function that is called once and used nowhere else, and any function, local or of the module, that has the
attribute `Inline`; with `unmarked` all functions, as programs without calls need it, until a caller has 10,000 ops.
None that calls itself, directly or through others, and no kernel: Primitive, Composite, Compiler. A call of
relay.global is one of the function it names. Inlined functions that nobody names any more are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.relay.core import CallOp, FnOp, GlobalOp
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location
from lamina.passes.relay.functional.remove_unused_functions import referred_symbols
from lamina.passes.relay.fusion.fuse_ops import KERNEL_ATTRIBUTES

MARK = "Inline"
COMPILER = "Compiler"
MOST_OPS = 10_000
"""Calls of unmarked functions stay calls where their caller would have more ops: nested calls double what is inside."""


@dataclass(frozen=True)
class Inline(ModulePass):
    """Puts the bodies of functions in the place of their calls."""

    name = "relay-inline"
    opt_level: ClassVar[int] = 1
    unmarked: bool = False
    """Also functions without the attribute, however often they are called."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not any(isinstance(o, (CallOp, func.CallOp)) for o in op.walk()):
            return
        functions = {f.sym_name.data: f for f in op.body.block.ops if isinstance(f, func.FuncOp)}
        _call_by_name(op)
        chosen = {name: f for name, f in functions.items() if f.body.blocks and self._is_chosen(f)}
        recursive = [name for name in chosen if _reaches_itself(name, chosen)]
        chosen = {name: f for name, f in chosen.items() if name not in recursive}
        # Callees come first: what is put into a caller has nothing left to inline.
        for name in _callees_first(functions):
            if functions[name].body.blocks:
                _Caller(functions[name], chosen, self.unmarked).inline()
        used = set(referred_symbols(op))
        for name, function in chosen.items():
            if name not in used and name != "main":
                edit.erase(function)

    def _is_chosen(self, function: func.FuncOp) -> bool:
        # What partitioning makes has the mark, as in TVM; as long as it has a compiler, it is that one's.
        if COMPILER in function.attributes:
            return False
        return is_marked(function) or (self.unmarked and not is_kernel(function))


def is_kernel(function: Operation) -> bool:
    """Whether a function is one piece for whoever compiles it."""
    return any(name in function.attributes for name in KERNEL_ATTRIBUTES)


def is_marked(function: Operation) -> bool:
    """Whether a function says that it is to be inlined."""
    mark = function.attributes.get(MARK)
    return mark is not None and not (isinstance(mark, IntegerAttr) and mark.value.data == 0)


def _call_by_name(module: ModuleOp) -> None:
    """`relay.call` of a `relay.global` is `func.call`."""
    for op in list(module.walk()):
        if isinstance(op, CallOp) and isinstance(op.callee.owner, GlobalOp):
            source = op.callee.owner
            if [v.type for v in op.arguments] != list(source.result.type.inputs):  # type: ignore[attr-defined]
                continue
            call = func.CallOp(source.callee, list(op.arguments), op.result_types)
            edit.replace(op, call)
            if source.result.first_use is None:
                edit.erase(source)


def _callees_first(functions: Mapping[str, func.FuncOp]) -> list[str]:
    """The functions, each behind those that it calls unless they call each other."""
    order: dict[str, None] = {}
    seen: set[str] = set()
    for first in functions:
        stack = [(first, False)]
        while stack:
            name, done = stack.pop()
            if done:
                order[name] = None
            elif name not in seen:
                seen.add(name)
                stack.append((name, True))
                stack.extend((n, False) for n in referred_symbols(functions[name]) if n in functions)
    return list(order)


def _reaches_itself(name: str, functions: Mapping[str, func.FuncOp]) -> bool:
    seen: set[str] = set()
    waiting = [n for n in referred_symbols(functions[name])]
    while waiting:
        other = waiting.pop()
        if other == name:
            return True
        if other in functions and other not in seen:
            seen.add(other)
            waiting.extend(referred_symbols(functions[other]))
    return False


class _Caller:
    """A function into which others are put."""

    def __init__(self, function: func.FuncOp, chosen: Mapping[str, func.FuncOp], unmarked: bool) -> None:
        self.function = function
        self.chosen = chosen
        self.unmarked = unmarked
        self.size = 0
        self.sizes: dict[Operation, int] = {}
        """The number of ops of the callees."""

    def inline(self) -> None:
        """Inline the calls inside the function, those that appear by it included."""
        waiting = list(self.function.walk())[::-1]
        self.size = len(waiting)
        while waiting:
            op = waiting.pop()
            if op.parent is None:
                continue
            if isinstance(op, CallOp):
                callee = op.function()
                if callee is None or not self._takes(callee):
                    continue
                if [v.type for v in op.arguments] != list(callee.function_type.inputs):
                    continue
                arguments = [*op.arguments, *callee.operands]
                last = callee.result.uses.get_length() == 1
                waiting.extend(reversed(put_in_place(op, callee.body.block, arguments)))
                if last:
                    edit.erase(callee)
            elif isinstance(op, func.CallOp):
                target = self.chosen.get(op.callee.string_value())
                if target is None or target is self.function or _signature(op) != target.function_type:
                    continue
                if self._fits(target):
                    waiting.extend(reversed(put_in_place(op, target.body.block, list(op.operands))))

    def _takes(self, function: FnOp) -> bool:
        if function.recursive is not None or is_kernel(function):
            return False
        if function.result.uses.get_length() == 1:
            return True
        return (is_marked(function) or self.unmarked) and self._fits(function)

    def _fits(self, callee: Operation) -> bool:
        if not self.unmarked or is_marked(callee):
            return True
        size = self.sizes.get(callee)
        if size is None:
            size = self.sizes[callee] = sum(1 for _ in callee.walk())
        if self.size + size > MOST_OPS:
            return False
        self.size += size
        return True


def _signature(call: func.CallOp) -> FunctionType:
    return FunctionType.from_lists([v.type for v in call.operands], list(call.result_types))


def put_in_place(call: Operation, body: Block, arguments: Sequence[SSAValue]) -> list[Operation]:
    """Copy a function's body before a call, which it replaces: the copied ops, also those inside them."""
    block, last = call.parent, body.last_op
    assert block is not None and last is not None
    mapped: dict[SSAValue, SSAValue] = dict(zip(body.args, arguments, strict=True))
    copied: list[Operation] = []
    with edit.transaction(call):
        for op in body.ops:
            if op is last:
                break
            copy = op.clone(mapped)
            inherit_location(copy, call)
            edit.insert_before(call, copy)
            copied.extend(copy.walk())
        edit.replace(call, [mapped.get(v, v) for v in last.operands])
    return copied
