"""Reverse mode over blocks: how control flow and calls are differentiated, for relay-first-order-gradient.

Whatever runs a block elsewhere returns one result more, its *pullback*: a closure from the gradients of the results
to the gradients of what the block read. It captures what the forward run computed, so that nothing is computed twice,
and it is the only thing that must be remembered of a branch taken or a call made, however deep a recursion goes:

    relay.fn  (a) -> b                          (a) -> (b, (db) -> (da, dcaptures))
    relay.if  c -> b                            c -> (b, (db) -> (dv...)), v the values around it that its regions read
    relay.call f(a) -> b                        (b, p) = f(a), and backwards da, df = p(db)

Gradients go by *leaves*, the tensors of floats of a value: a tuple has those of its fields, a function value those of
its captures, an integer none. Each op is met once forwards and once backwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, cast

from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr, TupleType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.relay.adt import ConstructOp, MatchOp
from lamina.dialects.relay.base import RelayOp, has_unknown_extents
from lamina.dialects.relay.control import IfOp, YieldOp
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp, GlobalOp, ReturnOp
from lamina.dialects.relay.gradients import NoGradient, is_real, op_gradients, r, zeros_of
from lamina.dialects.relay.refs import RefCreateOp, RefReadOp, RefWriteOp
from lamina.dialects.relay.tuples import TupleGetItemOp, TupleOp
from lamina.dialects.relay.value_types import AdtType, RefType
from lamina.dialects.terms import insert, inserting
from lamina.errors import UnsupportedError
from lamina.passes.base import ModuleOp, inherit_location, inherit_name, located
from lamina.passes.relay.dead_code_elimination import eliminate_dead_code

Leaf: TypeAlias = "SSAValue | None"
_NOT_FIRST_ORDER = (ConstructOp, MatchOp, RefCreateOp, RefReadOp, RefWriteOp)


class Adjoints:
    """The gradients found so far of the values of a block, leaf by leaf."""

    def __init__(self, differentiator: Differentiator) -> None:
        self._leaves = differentiator.leaves
        self._found: dict[SSAValue, list[Leaf]] = {}

    def add(self, value: SSAValue, grads: Sequence[Leaf], first: int = 0) -> None:
        """Add to the leaves of a value, from the given one on; None adds nothing."""
        if all(g is None for g in grads):
            return
        found = self._found.get(value)
        if found is None:
            found = self._found[value] = [None] * len(self._leaves(value))
        for n, grad in enumerate(grads, first):
            if grad is not None:
                before = found[n]
                found[n] = grad if before is None else r.add(before, grad)

    def of(self, value: SSAValue) -> list[Leaf]:
        """The gradient of each leaf."""
        found = self._found.get(value)
        return [None] * len(self._leaves(value)) if found is None else found

    def any(self, values: Sequence[SSAValue]) -> bool:
        """Whether one of the values has a gradient."""
        return any(v in self._found for v in values)


class Differentiator:
    """Makes pullbacks of the blocks of a module. Raises UnsupportedError for what has none."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self._originals = {
            op.sym_name.data: op.clone()
            for op in module.body.block.ops
            if isinstance(op, func.FuncOp) and op.body.blocks
        }
        self._made: dict[str, str] = {}
        self._waiting: list[tuple[str, func.FuncOp]] = []
        self._captured: dict[SSAValue, list[Attribute]] = {}
        """The leaves of function values, those of their captures."""
        self._pullbacks: dict[Operation, SSAValue] = {}
        self._around: dict[Operation, list[SSAValue]] = {}
        """What the regions of a choice read from around it."""

    # -- leaves ----------------------------------------------------------------------------------------------------

    def leaves(self, value: SSAValue) -> list[Attribute]:
        """The types of the leaves of a value."""
        if isinstance(value.type, FunctionType):
            found = self._captured.get(value)
            if found is None:
                op = value.owner if isinstance(value.owner, Operation) else None
                raise UnsupportedError(
                    "the gradient of a program that hands functions on: what a function value is must be known where "
                    "it is called",
                    op=op,
                )
            return found
        return type_leaves(value.type)

    # -- forwards --------------------------------------------------------------------------------------------------

    def forward(self, block: Block) -> None:
        """Let calls, choices and functions of a block give their pullbacks too."""
        for op in list(block.ops):
            if isinstance(op, FnOp):
                self._function(op)
            elif isinstance(op, IfOp):
                self._choice(op)
            elif isinstance(op, CallOp):
                self._call(op)
            elif isinstance(op, func.CallOp):
                self._call_global(op)
            elif isinstance(op, GlobalOp):
                self._global(op)
            elif isinstance(op, _NOT_FIRST_ORDER):
                raise UnsupportedError(f"the gradient of a program with {op.name}", op=op)

    def _function(self, op: FnOp) -> None:
        captured = [leaf for v in op.operands for leaf in self.leaves(v)]
        old = op.function_type
        takes_functions = any(isinstance(v.type, FunctionType) for v in op.operands)
        if not takes_functions and not any(type_leaves(t) for t in old.outputs):
            self._captured[op.result] = []
            return
        type_ = with_pullback(old, captured)
        block = op.body.block
        for argument, value in zip(op.captured, op.operands, strict=True):
            known = argument
            if argument.type != value.type:
                known = Rewriter.replace_value_with_new_type(argument, value.type)
            if isinstance(value.type, FunctionType):
                self._captured[known] = self.leaves(value)
        if op.itself is not None:
            self._captured[Rewriter.replace_value_with_new_type(op.itself, type_)] = captured
        parameters, arguments = list(op.parameters), list(op.captured)
        itself = op.itself
        self.forward(block)
        self._end(block, [*parameters, *arguments], itself, old.outputs.data)
        captures = list(op.operands)
        body = op.detach_region(op.body)
        made = FnOp.create(
            operands=captures,
            result_types=[type_],
            properties=dict(op.properties),
            regions=[body],
            attributes={n: a for n, a in op.attributes.items() if n not in ("Primitive", "Composite", "Compiler")},
        )
        self._replace(op, made)
        self._captured[made.result] = captured

    def _choice(self, op: IfOp) -> None:
        for region in op.regions:
            self.forward(region.block)
        outputs = [leaf for t in op.result_types for leaf in type_leaves(t)]
        if not outputs:
            return
        around = [v for v in _read_from_around(op) if self.leaves(v)]
        inputs = [leaf for v in around for leaf in self.leaves(v)]
        types = list(op.result_types)
        for region in op.regions:
            self._end(region.block, around, None, types)
        regions = [op.detach_region(region) for region in list(op.regions)]
        type_ = FunctionType.from_lists(outputs, inputs)
        made = IfOp.create(
            operands=list(op.operands), result_types=[*types, type_], regions=regions, attributes=dict(op.attributes)
        )
        self._replace(op, made)
        self._around[made] = around

    def _call(self, op: CallOp) -> None:
        type_ = op.callee.type
        assert isinstance(type_, FunctionType)
        self.leaves(op.callee)  # that the function is known
        if len(type_.outputs) > len(op.results):
            made = CallOp.create(operands=op.operands, result_types=type_.outputs.data, attributes=dict(op.attributes))
            self._replace(op, made)

    def _call_global(self, op: func.CallOp) -> None:
        name = op.callee.string_value()
        if not any(type_leaves(t) for t in op.result_types):
            return
        callee = self._original(name, op)
        made = func.CallOp(SymbolRefAttr(self.global_function(name)), op.operands, _full_type(callee).outputs.data)
        self._replace(op, made)

    def _global(self, op: GlobalOp) -> None:
        name = op.callee.string_value()
        callee = self._original(name, op)
        made = op
        if any(type_leaves(t) for t in callee.function_type.outputs):
            made = GlobalOp.make(self.global_function(name), _full_type(callee))
            self._replace(op, made)
        self._captured[made.result] = []

    def _original(self, name: str, op: Operation) -> func.FuncOp:
        found = self._originals.get(name)
        if found is None:
            raise UnsupportedError(f"the gradient of @{name}, which has no body in the module", op=op)
        return found

    def _replace(self, op: Operation, made: Operation) -> None:
        """`made` for `op`: of the same results, and a pullback where there is one more."""
        inherit_location(made, op)
        assert op.parent is not None
        op.parent.insert_op_before(made, op)
        for a, b in zip(op.results, made.results, strict=False):
            inherit_name(b, a)
            a.replace_all_uses_with(b)
        if len(made.results) > len(op.results):
            self._pullbacks[made] = made.results[-1]
            made.results[-1].name_hint = "pullback"
        op.detach()
        op.erase()

    def global_function(self, name: str) -> str:
        """The name of the function that gives a global one's results and its pullback, made when `finish` is called."""
        found = self._made.get(name)
        if found is None:
            found = f"{name}_with_pullback"
            while found in self._originals:
                found += "_"
            self._made[name] = found
            self._waiting.append((found, self._originals[name]))
        return found

    def finish(self) -> None:
        """Make the global functions that were asked for, and those that they call."""
        while self._waiting:
            name, original = self._waiting.pop(0)
            made = original.clone()
            made.properties["sym_name"] = StringAttr(name)
            made.properties["function_type"] = _full_type(original)
            made.properties["sym_visibility"] = StringAttr("private")
            block = made.body.block
            self.forward(block)
            self._end(block, list(block.args), None, original.function_type.outputs.data)
            self.module.body.block.add_op(made)

    def _end(
        self, block: Block, wanted: Sequence[SSAValue], itself: SSAValue | None, types: Sequence[Attribute]
    ) -> None:
        """Let a block, which gives values of some types, give its pullback as well: to the leaves of what is wanted."""
        last = block.last_op
        assert last is not None
        pullback = self._pullback(block, wanted, itself, types)
        block.insert_op_before(pullback, last)
        inherit_location(pullback, last)
        pullback.result.name_hint = "pullback"
        values = [*last.operands, pullback.result]
        ends: dict[type[Operation], Any] = {
            ReturnOp: ReturnOp.make,
            YieldOp: YieldOp.make,
            func.ReturnOp: func.ReturnOp,
        }
        made: Operation = ends[type(last)](*values)
        inherit_location(made, last)
        block.insert_op_before(made, last)
        last.detach()
        last.erase()

    # -- backwards -------------------------------------------------------------------------------------------------

    def _pullback(
        self, block: Block, wanted: Sequence[SSAValue], itself: SSAValue | None, types: Sequence[Attribute]
    ) -> FnOp:
        last = block.last_op
        assert last is not None
        counts = [len(type_leaves(t)) for t in types]
        body = Block(arg_types=[leaf for t in types for leaf in type_leaves(t)])
        for argument in body.args:
            argument.name_hint = "grad"
        builder = Builder(InsertPoint.at_end(body))
        adjoints = Adjoints(self)
        with inserting(builder):
            for value, grads in zip(last.operands, _parted(list(body.args), counts), strict=True):
                adjoints.add(value, grads)
            self.reverse(block, adjoints, builder)
            if itself is not None:
                # Its leaves are those of the captures, the last of what is wanted.
                captured = wanted[len(wanted) - self._captures_of(itself) :]
                for value, grads in zip(
                    captured, _parted(adjoints.of(itself), [len(self.leaves(v)) for v in captured]), strict=True
                ):
                    adjoints.add(value, grads)
            found = [leaf for v in wanted for leaf in self.filled(v, adjoints.of(v))]
        body.add_op(ReturnOp.make(*found))
        return self._closed(body)

    def _captures_of(self, itself: SSAValue) -> int:
        assert isinstance(itself, BlockArgument)
        op = itself.block.parent_op()
        assert isinstance(op, FnOp)
        return len(op.operands)

    @staticmethod
    def _closed(body: Block) -> FnOp:
        """A closure of a block that reads values from around it: they become its captures."""
        made = FnOp.make(body)
        eliminate_dead_code(made)
        made.body.detach_block(body)
        parameters = len(body.args)
        captured: dict[SSAValue, BlockArgument] = {}
        constants: dict[SSAValue, SSAValue] = {}
        for op in list(body.ops):
            for n, value in enumerate(op.operands):
                if value.owner is body or (isinstance(value.owner, Operation) and value.owner.parent is body):
                    continue
                if isinstance(value.owner, ConstantOp):
                    if value not in constants:
                        own = value.owner.clone()
                        assert body.first_op is not None
                        body.insert_op_before(own, body.first_op)
                        constants[value] = own.result
                    op.operands[n] = constants[value]
                    continue
                if value not in captured:
                    captured[value] = body.insert_arg(value.type, parameters + len(captured))
                    inherit_name(captured[value], value)
                op.operands[n] = captured[value]
        return FnOp.make(body, captures=list(captured))

    def reverse(self, block: Block, adjoints: Adjoints, builder: Builder) -> None:
        """Take gradients through the ops of a block, the last first."""
        for op in reversed(list(block.ops)):
            if op is block.last_op or isinstance(op, (ConstantOp, GlobalOp)) or not adjoints.any(op.results):
                continue
            with located(builder, op):
                self._reverse_op(op, adjoints)

    def _reverse_op(self, op: Operation, adjoints: Adjoints) -> None:
        if isinstance(op, RelayOp):
            given = [adjoints.of(v)[0] if is_real(v.type) else None for v in op.results]
            try:
                found = op_gradients(op, given)
            except NoGradient as e:
                raise UnsupportedError(str(e), op=op) from None
            for value, grad in zip(op.operands, found, strict=True):
                adjoints.add(value, [grad])
        elif isinstance(op, TupleOp):
            counts = [len(self.leaves(v)) for v in op.operands]
            for value, grads in zip(op.operands, _parted(adjoints.of(op.result), counts), strict=True):
                adjoints.add(value, grads)
        elif isinstance(op, TupleGetItemOp):
            type_ = op.tuple_value.type
            assert isinstance(type_, TupleType)
            first = sum(len(type_leaves(t)) for t in type_.types.data[: op.index.value.data])
            adjoints.add(op.tuple_value, adjoints.of(op.result), first)
        elif isinstance(op, FnOp):
            counts = [len(self.leaves(v)) for v in op.operands]
            for value, grads in zip(op.operands, _parted(adjoints.of(op.result), counts), strict=True):
                adjoints.add(value, grads)
        elif op in self._pullbacks:
            self._pull(op, adjoints)
        else:
            raise UnsupportedError(f"{op.name} has no gradient", op=op)

    def _pull(self, op: Operation, adjoints: Adjoints) -> None:
        """Call the pullback of a choice or a call."""
        pullback = self._pullbacks[op]
        results = op.results[:-1]
        call = CallOp.make(pullback, *(leaf for v in results for leaf in self.filled(v, adjoints.of(v))))
        insert(call)
        if isinstance(op, IfOp):
            values = self._around[op]
        elif isinstance(op, CallOp):
            values = [*op.arguments, op.callee]
        else:
            values = list(op.operands)
        counts = [len(self.leaves(v)) for v in values]
        for value, grads in zip(values, _parted(list(call.results), counts), strict=True):
            adjoints.add(value, grads)

    def filled(self, value: SSAValue, grads: Sequence[Leaf]) -> list[SSAValue]:
        """The gradients of a value's leaves, zeros where there are none."""
        if all(g is not None for g in grads):
            return cast("list[SSAValue]", list(grads))
        types = self.leaves(value)
        values: list[SSAValue] | None = None
        found: list[SSAValue] = []
        for n, (grad, type_) in enumerate(zip(grads, types, strict=True)):
            if grad is None and has_unknown_extents([type_]):
                if isinstance(value.type, FunctionType):
                    raise UnsupportedError("the gradient of a closure that captures tensors of unknown extents")
                values = leaf_values(value) if values is None else values
                grad = r.zeros_like(values[n])
            found.append(zeros_of(type_) if grad is None else grad)
        return found


def type_leaves(type_: Attribute) -> list[Attribute]:
    """The tensors of floats in a type. Raises UnsupportedError for a function, a cell or data."""
    if isinstance(type_, TupleType):
        return [leaf for t in type_.types for leaf in type_leaves(t)]
    if isinstance(type_, (FunctionType, RefType, AdtType)):
        raise UnsupportedError(f"a gradient with respect to a value of type {type_}")
    return [type_] if is_real(type_) else []


def with_pullback(type_: FunctionType, captured: Sequence[Attribute] = ()) -> FunctionType:
    """The type of a function that gives its pullback as well."""
    outputs = [leaf for t in type_.outputs for leaf in type_leaves(t)]
    inputs = [leaf for t in type_.inputs for leaf in type_leaves(t)]
    pullback = FunctionType.from_lists(outputs, [*inputs, *captured])
    return FunctionType.from_lists(type_.inputs.data, [*type_.outputs.data, pullback])


def _full_type(function: func.FuncOp) -> FunctionType:
    return with_pullback(function.function_type)


def _parted(leaves: Sequence[Leaf], counts: Sequence[int]) -> Iterator[Sequence[Leaf]]:
    """A list cut into parts of some lengths."""
    first = 0
    for count in counts:
        yield leaves[first : first + count]
        first += count


def leaf_values(value: SSAValue) -> list[SSAValue]:
    """The leaves of a value, taken out of the tuple that it is."""
    if not isinstance(value.type, TupleType):
        return [value] if is_real(value.type) else []
    found: list[SSAValue] = []
    for n, type_ in enumerate(value.type.types):
        if type_leaves(type_):
            item = TupleGetItemOp.make(value, n)
            insert(item)
            found += leaf_values(item.result)
    return found


def _read_from_around(op: Operation) -> list[SSAValue]:
    """The values, constants aside, that the regions of an op read and do not define."""
    inside: set[SSAValue] = set()
    read: dict[SSAValue, None] = {}
    for inner in all_ops(op):
        if inner is op:
            continue
        inside.update(inner.results)
        for region in inner.regions:
            for block in region.blocks:
                inside.update(block.args)
        read.update(dict.fromkeys(inner.operands))
    return [v for v in read if v not in inside and not isinstance(v.owner, ConstantOp)]
