"""Our IR as expressions: what passes have made, to be walked and changed by TVM's programs.

A node is made when it is asked for, and its operands when somebody looks at them, so that a look at the end of a
model of 10,000 ops costs no more than what is looked at. One value is one node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, TupleType, UnknownLoc
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from lamina.dialects.attributes import from_attribute
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp, GlobalOp
from lamina.dialects.relay.functional.adt import ConstructOp, MatchOp, TypeOp, find_type
from lamina.dialects.relay.functional.adt_patterns import Fields, Made, Variable
from lamina.dialects.relay.functional.control import IfOp
from lamina.dialects.relay.functional.debug import DebugOp
from lamina.dialects.relay.functional.refs import RefCreateOp, RefReadOp, RefWriteOp
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.relay.value_types import AdtType, substitute
from lamina.dialects.value_names import NAME
from lamina.errors import UnsupportedError
from lamina.frontends.tvm_text import adt, ty
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.op_calls import call_parts
from lamina.frontends.tvm_text.operators import FIRST_OF, gives_tuple
from lamina.frontends.tvm_text.unify import is_known


class Reader:
    """Reads a module's functions. The module must not change while nodes of it are looked at."""

    def __init__(
        self,
        store: ParamStore | None,
        globals_: Mapping[str, e.GlobalVar] | None = None,
        types: Mapping[ty.GlobalTypeVar, adt.TypeData] | None = None,
    ) -> None:
        self.store = store
        self.globals = dict(globals_ or {})
        self.types = {header.name_hint: data for header, data in (types or {}).items()}
        self.nodes: dict[SSAValue, e.Expr] = {}
        self.calls: dict[Operation, e.Expr] = {}

    def global_var(self, name: str) -> e.GlobalVar:
        return self.globals.setdefault(name, e.GlobalVar(name))

    def data_type(self, op: TypeOp) -> adt.TypeData:
        """A data type of the module."""
        header = ty.GlobalTypeVar(op.sym_name.data)
        found = self.types.get(header.name_hint)
        if found is None:
            constructors = [
                adt.Constructor(c, [ty.from_ir(t) for t in types], header) for c, types in op.declared().items()
            ]
            found = adt.TypeData(header, [ty.TypeVar(p.data) for p in op.parameters], constructors)
            self.types[header.name_hint] = found
        return found

    def constructor(self, name: str, type_: AdtType, op: Operation) -> adt.Constructor:
        """The constructor of a name, for a value of a type in the module of an op."""
        data = self.types.get(type_.adt.data) or self.data_type(find_type(op, type_))
        return next(c for c in data.constructors if c.name_hint == name)

    def _pattern(self, pattern: Any, type_: Attribute, args: Iterator[BlockArgument], op: Operation) -> adt.Pattern:
        if isinstance(pattern, Variable):
            return adt.PatternVar(cast(e.Var, self.node(next(args))))
        if isinstance(pattern, Fields):
            assert isinstance(type_, TupleType)
            pairs = zip(pattern.fields, type_.types, strict=True)
            return adt.PatternTuple([self._pattern(p, t, args, op) for p, t in pairs])
        if isinstance(pattern, Made):
            assert isinstance(type_, AdtType)
            constructor = self.constructor(pattern.constructor, type_, op)
            assert constructor.type_data is not None
            names = [v.name_hint for v in constructor.type_data.type_vars]
            given = dict(zip(names, type_.arguments, strict=True))
            fields = [substitute(ty.to_ir(t), given) for t in constructor.inputs]
            inner = [self._pattern(p, t, args, op) for p, t in zip(pattern.fields, fields, strict=True)]
            return adt.PatternConstructor(constructor, inner)
        return adt.PatternWildcard()

    def function(self, op: func.FuncOp) -> e.Function:
        """A function of the module."""
        block = op.body.block
        params = [cast(e.Var, self.node(a)) for a in block.args]
        for p, attrs in zip(params, op.arg_attrs.data if op.arg_attrs is not None else (), strict=False):
            given = attrs.data.get(NAME)
            if isinstance(given, StringAttr):
                p.name_hint = given.data
        attrs = {k: from_attribute(v) for k, v in op.attributes.items()}
        types = list(op.function_type.outputs.data)
        return self._function(block, params, types, attrs)

    def _function(
        self, block: Block, params: Sequence[e.Var], types: Sequence[Attribute], attrs: Mapping[str, Any]
    ) -> e.Function:
        function = e.Function.lazy(lambda f: f.__dict__.update(body=self._result(block)))
        known = all(map(is_known, [*block.arg_types, *types]))
        result = ty.joined(types) if known else None
        function.__dict__.update(params=list(params), ret_type=result, attrs=e.Attrs(attrs))
        if known:
            function.__dict__["_type"] = ty.FuncType([p.checked_type for p in params], ty.joined(types))
        return function

    def _result(self, block: Block) -> e.Expr:
        """The expression that a block yields, with what it does on the way: writes of cells are lets."""
        last = block.last_op
        assert last is not None
        values = list(last.operands)
        result = self.node(values[0]) if len(values) == 1 else self._tuple(values)
        done = [op for op in block.ops if isinstance(op, (RefWriteOp, RefCreateOp, RefReadOp))]
        if not any(isinstance(op, RefWriteOp) for op in done):
            return result
        # Reads, writes and calls have an order, which only lets keep.
        for op in reversed([o for o in block.ops if _has_effect(o)]):
            result = e.Let(e.Var("_"), self._effect(op), result) if not op.results else self._bind(op, result)
        return result

    def _bind(self, op: Operation, body: e.Expr) -> e.Expr:
        value = self.calls.get(op) or self.node(op.results[0])
        if isinstance(value, e.Var):
            return e.Let(value, self._bound[value], body)
        variable = e.Var(f"v{len(self._bound)}")
        self._bound[variable] = value
        return e.Let(variable, value, body)

    @property
    def _bound(self) -> dict[e.Expr, e.Expr]:
        return self.__dict__.setdefault("_bound_values", {})

    def _effect(self, op: Operation) -> e.Expr:
        if isinstance(op, RefWriteOp):
            return e.RefWrite(self.node(op.cell), self.node(op.value))
        raise UnsupportedError(f"{op.name} is not bridged")

    def _tuple(self, values: Sequence[SSAValue]) -> e.Expr:
        """Several values: those of one op as it is, others as a tuple."""
        if values:
            owner = values[0].owner
            if isinstance(owner, Operation) and list(owner.results) == list(values) and owner.name not in _TUPLE_FIRST:
                return self._whole(owner)
        return e.Tuple([self.node(v) for v in values])

    def _whole(self, op: Operation) -> e.Expr:
        """The call of an op with several results."""
        found = self.calls.get(op)
        if found is None:
            found = self.calls[op] = self._read(op)
            if all(is_known(r.type) for r in op.results):
                found.__dict__["_type"] = ty.TupleType([ty.from_ir(r.type) for r in op.results])
        return found

    def node(self, value: SSAValue) -> e.Expr:
        """The expression of a value."""
        found = self.nodes.get(value)
        if found is None:
            found = self.nodes[value] = self._make(value)
            if is_known(value.type):
                found.__dict__.setdefault("_type", ty.from_ir(value.type))
            if isinstance(value.owner, Operation) and not isinstance(value.owner.location, UnknownLoc):
                found.span = value.owner.location
        return found

    def _make(self, value: SSAValue) -> e.Expr:
        owner = value.owner
        if isinstance(owner, Block):
            return self._argument(cast(BlockArgument, value), owner)
        if is_several(owner):
            number = owner.results.index(value)  # pyright: ignore[reportArgumentType]
            return e.TupleGetItem.lazy(lambda n: n.__dict__.update(tuple_value=self._whole(owner)), index=number)
        if isinstance(owner, RelayOp) and owner.name.removeprefix("relay.") in FIRST_OF:
            call = self._read(owner)
            size = FIRST_OF[owner.name.removeprefix("relay.")]
            if not all(map(is_known, [value.type, *owner.operand_types])):
                return e.TupleGetItem(call, 0)
            types = [ty.from_ir(value.type)]
            types += [ty.from_ir(o.type) for o in owner.operands[3:5]] if size == 3 else [types[0]]
            call.__dict__["_type"] = ty.TupleType(types)
            return e.TupleGetItem(call, 0)
        return self._read(owner)

    def _argument(self, value: BlockArgument, block: Block) -> e.Expr:
        parent = block.parent_op()
        if isinstance(parent, FnOp):
            captured = parent.captured
            if value in captured:
                return self.node(parent.operands[captured.index(value)])
        name = value.name_hint or f"p{value.index}"
        return e.Var(name, ty.from_ir(value.type) if is_known(value.type) else None)

    def _read(self, op: Operation) -> e.Expr:
        """The node of an op, its operands still to be looked at."""
        node = self._read_op(op)
        if not isinstance(op.location, UnknownLoc):
            node.span = op.location
        return node

    def _read_op(self, op: Operation) -> e.Expr:
        if isinstance(op, ConstantOp):
            return e.Constant.lazy(lambda n: self._load_constant(n, op), _origin=(op, self.store))
        if isinstance(op, RelayOp):
            name = op.name.removeprefix("relay.")

            def load(n: Any) -> None:
                _, args, attrs = call_parts(op, [self.node(o) for o in op.operands])
                n.__dict__.update(args=args, attrs=attrs)

            return e.Call.lazy(load, op=e.get_op(name), type_args=[])
        if isinstance(op, DebugOp):
            shown = e.Attrs({"debug_func": op.debug_func.data})
            return e.Call.lazy(
                lambda n: n.__dict__.update(args=[self.node(op.program)], attrs=shown),
                op=e.get_op("debug"),
                type_args=[],
            )
        if isinstance(op, TupleOp):
            return e.Tuple.lazy(lambda n: n.__dict__.update(fields=[self.node(o) for o in op.operands]))
        if isinstance(op, TupleGetItemOp):
            return e.TupleGetItem.lazy(
                lambda n: n.__dict__.update(tuple_value=self.node(op.tuple_value)), index=op.index.value.data
            )
        if isinstance(op, FnOp):
            params = [cast(e.Var, self.node(p)) for p in op.parameters]
            attrs = {k: from_attribute(v) for k, v in op.attributes.items()}
            function = self._function(op.body.block, params, op.function_type.outputs.data, attrs)
            if op.itself is None:
                return function
            # Only a let has a name for a function inside itself.
            name = cast(e.Var, self.node(op.itself))
            return e.Let(name, function, name)
        if isinstance(op, CallOp):
            return e.Call.lazy(lambda n: self._load_call(n, self.node(op.callee), op.arguments), type_args=[])
        if isinstance(op, func.CallOp):
            name = op.callee.string_value()
            return e.Call.lazy(lambda n: self._load_call(n, self.global_var(name), op.arguments), type_args=[])
        if isinstance(op, GlobalOp):
            return self.global_var(op.callee.string_value())
        if isinstance(op, IfOp):
            return e.If.lazy(lambda n: self._load_if(n, op))
        if isinstance(op, ConstructOp):
            made = self.constructor(op.constructor.data, op.result.type, op)
            arguments = [ty.from_ir(t) for t in op.result.type.arguments]

            def fill(n: Any) -> None:
                n.__dict__.update(args=[self.node(o) for o in op.operands], attrs=e.Attrs())

            return e.Call.lazy(fill, op=made, type_args=arguments)
        if isinstance(op, MatchOp):
            return adt.Match.lazy(lambda n: self._load_match(n, op), complete=op.partial is None)
        if isinstance(op, RefCreateOp):
            return e.RefCreate.lazy(lambda n: n.__dict__.update(value=self.node(op.value)))
        if isinstance(op, RefReadOp):
            return e.RefRead.lazy(lambda n: n.__dict__.update(ref=self.node(op.cell)))
        raise UnsupportedError(f"{op.name} has no expression of Relay's", hint="print the module of our IR: mod.ir()")

    def _load_constant(self, node: Any, op: ConstantOp) -> None:
        from lamina.dialects.relay.core import constant_array

        node.__dict__["values"] = constant_array(op, self.store)

    def _load_call(self, node: Any, callee: e.Expr, arguments: Sequence[SSAValue]) -> None:
        node.__dict__.update(op=callee, args=[self.node(a) for a in arguments], attrs=e.Attrs())

    def _load_match(self, node: Any, op: MatchOp) -> None:
        clauses = [
            adt.Clause(self._pattern(p, op.data.type, iter(r.block.args), op), self._result(r.block))
            for p, r in zip(op.case_patterns(), op.cases, strict=True)
        ]
        node.__dict__.update(data=self.node(op.data), clauses=clauses)

    def _load_if(self, node: Any, op: IfOp) -> None:
        def branch(region: Region) -> e.Expr:
            return self._result(region.block)

        node.__dict__.update(
            cond=self.node(op.condition), true_branch=branch(op.true_region), false_branch=branch(op.false_region)
        )


_TUPLE_FIRST = frozenset(f"relay.{n}" for n in FIRST_OF)


def is_several(op: Operation) -> bool:
    """Whether an op gives a tuple in TVM: it has several results, or a number that its attributes decide."""
    return gives_tuple(op.name.removeprefix("relay."), len(op.results))


def _has_effect(op: Operation) -> bool:
    return isinstance(op, (RefWriteOp, RefReadOp, RefCreateOp, CallOp, func.CallOp))


def read_module(
    module: ModuleOp, store: ParamStore | None, names: Mapping[str, e.GlobalVar] | None = None
) -> tuple[dict[e.GlobalVar, e.Function], dict[ty.GlobalTypeVar, adt.TypeData]]:
    """The functions and the data types of a module; global variables known by their names stay who they are."""
    reader = Reader(store, names)
    types = [reader.data_type(op) for op in module.body.block.ops if isinstance(op, TypeOp)]
    functions = {
        reader.global_var(op.sym_name.data): reader.function(op)
        for op in module.body.block.ops
        if isinstance(op, func.FuncOp)
    }
    return functions, {t.header: t for t in types}


__all__ = ["Reader", "TupleType", "is_several", "read_module"]
