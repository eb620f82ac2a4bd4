"""Reverse mode over blocks: how control flow and calls are differentiated, for relay-first-order-gradient.

Whatever runs a block elsewhere returns one result more, its *pullback*: a closure from the gradients of the results
to the gradients of what the block read. It captures what the forward run computed, so that nothing is computed twice,
and it is the only thing that must be remembered of a branch taken or a call made, however deep a recursion goes:

    relay.fn  (a) -> b                          (a) -> (b, (db) -> (da, dcaptures))
    relay.if  c -> b                            c -> (b, (db) -> (dv...)), v the values around it that its regions read
    relay.match d -> b                          d -> (b, (db) -> (dv..., dd)), put together as the pattern took d apart
    relay.call f(a) -> b                        (b, p) = f(a), and backwards da, df = p(db)

Gradients go by *leaves* (`reverse_leaves.py`); a function value has those of its captures. Each op is met once forwards
and once backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias, cast

from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, FunctionType, StringAttr, SymbolRefAttr, TupleType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.infos import has_unknown_extents
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp, GlobalOp, ReturnOp
from lamina.dialects.relay.functional.adt import ConstructOp, MatchOp
from lamina.dialects.relay.functional.adt_patterns import Pattern, pattern_text, variable_types
from lamina.dialects.relay.functional.control import IfOp, YieldOp
from lamina.dialects.relay.functional.debug import DebugOp
from lamina.dialects.relay.functional.refs import RefCreateOp, RefReadOp, RefWriteOp
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.dialects.relay.grad.facet import NoGradient, is_real, op_gradients, zeros_of
from lamina.dialects.relay.value_types import AdtType
from lamina.dialects.rules.terms import insert, inserting
from lamina.errors import UnsupportedError
from lamina.passes.base import ModuleOp, inherit_location, inherit_name, located
from lamina.passes.relay.functional.reverse_leaves import Leaves, all_bound, unbound_places
from lamina.passes.relay.simplify.dead_code_elimination import eliminate_dead_code

Leaf: TypeAlias = "SSAValue | None"
_CELLS = (RefCreateOp, RefReadOp, RefWriteOp)


class Adjoints:
    """The gradients found so far of the values of a block, leaf by leaf."""

    def __init__(self, differentiator: Differentiator) -> None:
        self._leaves = differentiator.leaves
        self._add = differentiator.types.add
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
                found[n] = grad if before is None else self._add(before, grad)

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
        self.types = Leaves(module)
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
        """The values that the regions of an if or match read from around it."""

    # -- leaves ----------------------------------------------------------------------------------------------------

    def leaves(self, value: SSAValue) -> list[Attribute]:
        """The types of the leaves of a value."""
        if isinstance(value.type, FunctionType):
            found = self._captured.get(value)
            if found is None:
                op = value.owner if isinstance(value.owner, Operation) else None
                raise UnsupportedError("the gradient of a program that hands functions on", op=op)
            return found
        return self.types.of_type(value.type)

    def with_pullback(self, type_: FunctionType, captured: Sequence[Attribute] = ()) -> FunctionType:
        """The type of a function that gives its pullback as well."""
        outputs = [leaf for t in type_.outputs for leaf in self.types.of_type(t)]
        inputs = [leaf for t in type_.inputs for leaf in self.types.of_type(t)]
        pullback = FunctionType.from_lists(outputs, [*inputs, *captured])
        return FunctionType.from_lists(type_.inputs.data, [*type_.outputs.data, pullback])

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
            elif isinstance(op, MatchOp):
                self._match(op)
            elif isinstance(op, ConstructOp) and any(isinstance(v.type, FunctionType) for v in op.operands):
                raise UnsupportedError("the gradient of a program whose data holds functions", op=op)
            elif isinstance(op, _CELLS):
                raise UnsupportedError(f"the gradient of a program with {op.name}", op=op)

    def _function(self, op: FnOp) -> None:
        captured = [leaf for v in op.operands for leaf in self.leaves(v)]
        old = op.function_type
        takes_functions = any(isinstance(v.type, FunctionType) for v in op.operands)
        if not takes_functions and not any(self.types.of_type(t) for t in old.outputs):
            self._captured[op.result] = []
            return
        type_ = self.with_pullback(old, captured)
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

        def give(adjoints: Adjoints) -> list[SSAValue]:
            if itself is not None:
                counts = [len(self.leaves(v)) for v in arguments]
                for value, grads in zip(arguments, _parted(adjoints.of(itself), counts), strict=True):
                    adjoints.add(value, grads)
            return self.all_filled([*parameters, *arguments], adjoints)

        self._end(block, give, old.outputs.data)
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
        outputs = [leaf for t in op.result_types for leaf in self.types.of_type(t)]
        if not outputs:
            return
        around = [v for v in _read_from_around(op) if self.leaves(v)]
        inputs = [leaf for v in around for leaf in self.leaves(v)]
        types = list(op.result_types)
        for region in op.regions:
            self._end(region.block, partial(self.all_filled, around), types)
        regions = [op.detach_region(region) for region in list(op.regions)]
        type_ = FunctionType.from_lists(outputs, inputs)
        made = IfOp.create(
            operands=list(op.operands), result_types=[*types, type_], regions=regions, attributes=dict(op.attributes)
        )
        self._replace(op, made)
        self._around[made] = around

    def _match(self, op: MatchOp) -> None:
        for region in op.regions:
            self.forward(region.block)
        types = list(op.result_types)
        outputs = [leaf for t in types for leaf in self.types.of_type(t)]
        if not outputs:
            return
        data = op.data
        around = [v for v in _read_from_around(op) if self.leaves(v)]
        inputs = [leaf for v in [*around, data] for leaf in self.leaves(v)]
        patterns = op.case_patterns()
        bound = [all_bound(p) for p in patterns]
        for pattern, whole, region in zip(patterns, bound, op.regions, strict=True):
            arguments = variable_types(whole, data.type, self.types.constructors)
            for n, (new, type_) in enumerate(zip(unbound_places(pattern), arguments, strict=True)):
                if new:
                    region.block.insert_arg(type_, n)

            def give(adjoints: Adjoints, whole: Pattern = whole, block: Block = region.block) -> list[SSAValue]:
                found = self.all_filled(around, adjoints)
                if self.leaves(data):
                    grads = iter(self.all_filled(block.args, adjoints))
                    found += self.types.values(self.types.rebuilt(whole, iter(block.args), grads, data.type))
                return found

            self._end(region.block, give, types)
        regions = [op.detach_region(region) for region in list(op.regions)]
        made = MatchOp.create(
            operands=[data],
            result_types=[*types, FunctionType.from_lists(outputs, inputs)],
            properties=op.properties | {"patterns": ArrayAttr([StringAttr(pattern_text(p)) for p in bound])},
            regions=regions,
            attributes=dict(op.attributes),
        )
        self._replace(op, made)
        self._around[made] = [*around, data]

    def _call(self, op: CallOp) -> None:
        type_ = op.callee.type
        assert isinstance(type_, FunctionType)
        self.leaves(op.callee)  # that the function is known
        if len(type_.outputs) > len(op.results):
            made = CallOp.create(operands=op.operands, result_types=type_.outputs.data, attributes=dict(op.attributes))
            self._replace(op, made)

    def _call_global(self, op: func.CallOp) -> None:
        name = op.callee.string_value()
        if not any(self.types.of_type(t) for t in op.result_types):
            return
        types = self.with_pullback(self._original(name, op).function_type).outputs.data
        made = func.CallOp(SymbolRefAttr(self.global_function(name)), op.operands, types)
        self._replace(op, made)

    def _global(self, op: GlobalOp) -> None:
        name = op.callee.string_value()
        callee = self._original(name, op)
        made = op
        if any(self.types.of_type(t) for t in callee.function_type.outputs):
            made = GlobalOp.make(self.global_function(name), self.with_pullback(callee.function_type))
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
        edit.insert_before(op, made)
        for a, b in zip(op.results, made.results, strict=False):
            a.replace_all_uses_with(b)
        if len(made.results) > len(op.results):
            self._pullbacks[made] = made.results[-1]
            made.results[-1].name_hint = "pullback"
        edit.erase(op)

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
            made.properties["function_type"] = self.with_pullback(original.function_type)
            made.properties["sym_visibility"] = StringAttr("private")
            block = made.body.block
            self.forward(block)
            self._end(block, partial(self.all_filled, list(block.args)), original.function_type.outputs.data)
            self.module.body.block.add_op(made)

    def _end(self, block: Block, give: Callable[[Adjoints], list[SSAValue]], types: Sequence[Attribute]) -> None:
        """Let a block, which gives values of some types, give its pullback as well: to what `give` makes of the
        gradients of the values in it."""
        last = block.last_op
        assert last is not None
        pullback = self._pullback(block, give, types)
        edit.insert_before(last, pullback)
        inherit_location(pullback, last)
        pullback.result.name_hint = "pullback"
        values = [*last.operands, pullback.result]
        made: Operation
        if isinstance(last, func.ReturnOp):
            made = func.ReturnOp(*values)
        else:
            made = YieldOp.make(*values) if isinstance(last, YieldOp) else ReturnOp.make(*values)
        inherit_location(made, last)
        edit.insert_before(last, made)
        edit.erase(last)

    # -- backwards -------------------------------------------------------------------------------------------------

    def _pullback(self, block: Block, give: Callable[[Adjoints], list[SSAValue]], types: Sequence[Attribute]) -> FnOp:
        last = block.last_op
        assert last is not None
        counts = [len(self.types.of_type(t)) for t in types]
        body = Block(arg_types=[leaf for t in types for leaf in self.types.of_type(t)])
        for argument in body.args:
            argument.name_hint = "grad"
        builder = Builder(InsertPoint.at_end(body))
        adjoints = Adjoints(self)
        with inserting(builder):
            for value, grads in zip(last.operands, _parted(list(body.args), counts), strict=True):
                adjoints.add(value, grads)
            self.reverse(block, adjoints, builder)
            found = give(adjoints)
        body.add_op(ReturnOp.make(*found))
        return self._closed(body)

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
                        edit.insert_before(body.first_op, own)
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
        elif isinstance(op, DebugOp):
            adjoints.add(op.program, adjoints.of(op.result))
        elif isinstance(op, TupleOp):
            counts = [len(self.leaves(v)) for v in op.operands]
            for value, grads in zip(op.operands, _parted(adjoints.of(op.result), counts), strict=True):
                adjoints.add(value, grads)
        elif isinstance(op, ConstructOp):
            (grad,) = adjoints.of(op.result)
            assert grad is not None
            for value, grads in zip(op.operands, self.types.fields(op, grad), strict=True):
                adjoints.add(value, grads)
        elif isinstance(op, TupleGetItemOp):
            type_ = op.tuple_value.type
            assert isinstance(type_, TupleType)
            first = sum(len(self.types.of_type(t)) for t in type_.types.data[: op.index.value.data])
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
        call = CallOp.make(pullback, *(leaf for leaf in self.all_filled(results, adjoints)))
        insert(call)
        if isinstance(op, (IfOp, MatchOp)):
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
        if isinstance(value.type, FunctionType):
            if any(isinstance(t, AdtType) or has_unknown_extents([t]) for t in types):
                raise UnsupportedError("the gradient of a closure that captures data or tensors of unknown extents")
            return [zeros_of(t) if g is None else g for g, t in zip(grads, types, strict=True)]
        values = self.types.values(value)
        return [self.types.zeros(v) if g is None else g for g, v in zip(grads, values, strict=True)]

    def all_filled(self, values: Sequence[SSAValue], adjoints: Adjoints) -> list[SSAValue]:
        """The gradients of the leaves of several values."""
        return [leaf for v in values for leaf in self.filled(v, adjoints.of(v))]


def _parted(leaves: Sequence[Leaf], counts: Sequence[int]) -> Iterator[Sequence[Leaf]]:
    """A list cut into parts of some lengths."""
    first = 0
    for count in counts:
        yield leaves[first : first + count]
        first += count


def _read_from_around(op: Operation) -> list[SSAValue]:
    """The values, constants aside, that the regions of an op read and do not define."""
    inside: set[SSAValue] = set()
    read: dict[SSAValue, None] = {}
    for inner in all_ops(op):
        for region in inner.regions:
            inside.update(a for block in region.blocks for a in block.args)
        if inner is not op:
            inside.update(inner.results)
            read.update(dict.fromkeys(inner.operands))
    return [v for v in read if v not in inside and not isinstance(v.owner, ConstantOp)]
