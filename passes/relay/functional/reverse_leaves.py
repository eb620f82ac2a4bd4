"""The leaves of values: what gradients are taken of, and how they are added, filled and put together again.

A tensor of floats is one leaf, a tuple has the leaves of its fields, a value of a data type is one leaf where floats
may be in it: its gradient is a value of the same type and the same constructors, whose integers mean nothing. Zeros and
sums of such values are functions of the module, made for each type that needs them:

    func.func private @zeros_like_List(%v: !relay.adt<@List, ...>) -> !relay.adt<@List, ...> { relay.match %v ... }
    func.func private @add_List(%a: ..., %b: ...) -> ... { relay.match %a ... relay.match partial %b ... }
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr, TupleType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects.infos import has_unknown_extents
from lamina.dialects.relay.functional.adt import ConstructOp, MatchOp, TypeOp
from lamina.dialects.relay.functional.adt_patterns import Anything, Constructors, Fields, Made, Pattern, Variable
from lamina.dialects.relay.functional.control import YieldOp
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.dialects.relay.grad.facet import is_real, r, zeros_of
from lamina.dialects.relay.value_types import AdtType, RefType
from lamina.dialects.rules.terms import insert, inserting
from lamina.errors import UnsupportedError
from lamina.passes.base import ModuleOp


def inserted(op: Any) -> SSAValue:
    """The result of an op, put where terms are put."""
    insert(op)
    return op.results[0]


def _parts(type_: Attribute) -> Iterator[Attribute]:
    """The types in a tuple, in all depth, or a type that is none."""
    if isinstance(type_, TupleType):
        for t in type_.types:
            yield from _parts(t)
    else:
        yield type_


class Leaves:
    """The leaves of the types of a module."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._types = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, TypeOp)}
        symbols = (op.properties.get("sym_name") for op in module.body.block.ops)
        self._names = {s.data for s in symbols if isinstance(s, StringAttr)}
        self._has_floats: dict[AdtType, bool] = {}
        self._functions: dict[tuple[str, AdtType], str] = {}

    def constructors(self, type_: AdtType) -> Constructors:
        """The constructors of a data type."""
        return self._types[type_.adt.data].instance(type_)

    def of_type(self, type_: Attribute) -> list[Attribute]:
        """The types of the leaves of a type. Raises UnsupportedError for a function or a cell."""
        if isinstance(type_, TupleType):
            return [leaf for t in type_.types for leaf in self.of_type(t)]
        if isinstance(type_, (FunctionType, RefType)):
            raise UnsupportedError(f"a gradient with respect to a value of type {type_}")
        if isinstance(type_, AdtType):
            return [type_] if self._in_data(type_) else []
        return [type_] if is_real(type_) else []

    def _in_data(self, type_: AdtType) -> bool:
        """Whether floats may be in a value of a data type."""
        known = self._has_floats.get(type_)
        if known is None:
            # Data types may be in each other: what is in one is known when all that is in it has been looked at.
            known, inside = False, [type_]
            for t in inside:
                for part in (p for types in self.constructors(t).values() for field in types for p in _parts(field)):
                    if not isinstance(part, AdtType):
                        known = bool(self.of_type(part)) or known
                    elif part not in inside:
                        inside.append(part)
            self._has_floats[type_] = known
        return known

    def values(self, value: SSAValue) -> list[SSAValue]:
        """The leaves of a value, taken out of the tuple that it is."""
        type_ = value.type
        if not isinstance(type_, TupleType):
            return [value] if self.of_type(type_) else []
        found: list[SSAValue] = []
        for n, t in enumerate(type_.types):
            if self.of_type(t):
                found += self.values(inserted(TupleGetItemOp.make(value, n)))
        return found

    def packed(self, value: SSAValue, leaves: Iterator[SSAValue]) -> SSAValue:
        """Gradients of a value's leaves as one value of its type, in which integers are zeros."""
        type_ = value.type
        if isinstance(type_, TupleType):
            items = [inserted(TupleGetItemOp.make(value, n)) for n in range(len(type_.types))]
            return inserted(TupleOp.make(*(self.packed(item, leaves) for item in items)))
        if self.of_type(type_):
            return next(leaves)
        return value if isinstance(type_, AdtType) else r.zeros_like(value)

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The sum of two gradients of a leaf."""
        return self._call("add", a.type, a, b) if isinstance(a.type, AdtType) else r.add(a, b)

    def zeros(self, value: SSAValue) -> SSAValue:
        """The gradient of a leaf that nothing depends on."""
        if isinstance(value.type, AdtType):
            return self._call("zeros_like", value.type, value)
        return r.zeros_like(value) if has_unknown_extents([value.type]) else zeros_of(value.type)

    def ones(self, value: SSAValue) -> SSAValue:
        """Ones in the place of every float of a leaf."""
        return self._call("ones_like", value.type, value) if isinstance(value.type, AdtType) else r.ones_like(value)

    # -- data ------------------------------------------------------------------------------------------------------

    def fields(self, op: ConstructOp, grad: SSAValue) -> list[list[SSAValue]]:
        """The gradients of the leaves of what a value was constructed of."""
        type_ = op.result.type
        assert isinstance(type_, AdtType)
        types = self.constructors(type_)[op.constructor.data]
        leaves = [self.of_type(t) for t in types]
        wanted = [leaf for listed in leaves for leaf in listed]
        if not wanted:
            return [[] for _ in types]

        def taken(*fields: SSAValue) -> list[SSAValue]:
            return [leaf for f in fields for leaf in self.values(f)]

        found = iter(self._taken_apart(grad, op.constructor.data, types, taken, wanted))
        return [[next(found) for _ in listed] for listed in leaves]

    @staticmethod
    def _taken_apart(
        value: SSAValue,
        constructor: str,
        types: Sequence[Attribute],
        give: Callable[..., list[SSAValue]],
        results: Sequence[Attribute],
    ) -> list[SSAValue]:
        """The results of `give` on the fields of a value that a constructor is known to have made."""
        pattern = Made(constructor, (Variable(),) * len(types))
        made = MatchOp.make(value, [(pattern, _case(types, give))], results, partial=True)
        insert(made)
        return list(made.results)

    def rebuilt(
        self, pattern: Pattern, arguments: Iterator[SSAValue], gradients: Iterator[SSAValue], type_: Any
    ) -> Any:
        """The gradient of a value that a pattern has taken apart, from those of the variables' leaves."""
        if not isinstance(pattern, (Made, Fields)):
            return self.packed(next(arguments), gradients)
        types = type_.types.data if isinstance(pattern, Fields) else self.constructors(type_)[pattern.constructor]
        fields = [self.rebuilt(p, arguments, gradients, t) for p, t in zip(pattern.fields, types, strict=True)]
        if isinstance(pattern, Fields):
            return inserted(TupleOp.make(*fields))
        return inserted(ConstructOp.make(pattern.constructor, fields, type_))

    def _call(self, what: str, type_: AdtType, *values: SSAValue) -> SSAValue:
        name = self._functions.get((what, type_))
        if name is None:
            name = f"{what}_{type_.adt.data}"
            while name in self._names:
                name += "_"
            self._names.add(name)
            self._functions[what, type_] = name
            block = Block(arg_types=[type_] * len(values))
            with inserting(Builder(InsertPoint.at_end(block))):
                result = (self._sum if what == "add" else self._filled)(what, type_, *block.args)
            block.add_op(func.ReturnOp(result))
            function = func.FuncOp(name, FunctionType.from_lists(list(block.arg_types), [type_]), Region(block))
            function.properties["sym_visibility"] = StringAttr("private")
            self._module.body.block.add_op(function)
        return inserted(func.CallOp(SymbolRefAttr(name), list(values), [type_]))

    def _filled(self, what: str, type_: AdtType, value: SSAValue) -> SSAValue:
        """Zeros or ones of a data value."""
        fill = self.ones if what == "ones_like" else self.zeros

        def case(constructor: str, types: Sequence[Attribute]) -> tuple[Pattern, Region]:
            def give(*fields: SSAValue) -> list[SSAValue]:
                new = [self.packed(f, iter([fill(leaf) for leaf in self.values(f)])) for f in fields]
                return [inserted(ConstructOp.make(constructor, new, type_))]

            return Made(constructor, (Variable(),) * len(types)), _case(types, give)

        cases = [case(c, types) for c, types in self.constructors(type_).items()]
        return inserted(MatchOp.make(value, cases, [type_]))

    def _sum(self, what: str, type_: AdtType, a: SSAValue, b: SSAValue) -> SSAValue:
        """The sum of two data values of the same constructors."""

        def case(constructor: str, types: Sequence[Attribute]) -> tuple[Pattern, Region]:
            def give(*first: SSAValue) -> list[SSAValue]:
                def both(*second: SSAValue) -> list[SSAValue]:
                    new = [
                        self.packed(f, map(self.add, self.values(f), self.values(s)))
                        for f, s in zip(first, second, strict=True)
                    ]
                    return [inserted(ConstructOp.make(constructor, new, type_))]

                return self._taken_apart(b, constructor, types, both, [type_])

            return Made(constructor, (Variable(),) * len(types)), _case(types, give)

        cases = [case(c, types) for c, types in self.constructors(type_).items()]
        return inserted(MatchOp.make(a, cases, [type_]))


def _case(types: Sequence[Attribute], give: Callable[..., list[SSAValue]]) -> Region:
    """The region of a case, which yields what `give` makes of its arguments."""
    block = Block(arg_types=types)
    with inserting(Builder(InsertPoint.at_end(block))):
        results = give(*block.args)
    block.add_op(YieldOp.make(*results))
    return Region(block)


def all_bound(pattern: Pattern) -> Pattern:
    """A pattern in which variables stand for all that it does not look at."""
    if isinstance(pattern, Anything):
        return Variable()
    if isinstance(pattern, Made):
        return Made(pattern.constructor, tuple(map(all_bound, pattern.fields)))
    return Fields(tuple(map(all_bound, pattern.fields))) if isinstance(pattern, Fields) else pattern


def unbound_places(pattern: Pattern) -> list[bool]:
    """For each variable of `all_bound(pattern)`, whether it is new."""
    if isinstance(pattern, (Anything, Variable)):
        return [isinstance(pattern, Anything)]
    return [new for p in pattern.fields for new in unbound_places(p)]
