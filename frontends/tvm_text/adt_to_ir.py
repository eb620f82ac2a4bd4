"""Constructors, matches and functions with type parameters as our IR, which has none: each use is an instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, SymbolRefAttr, TupleType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute

from lamina.dialects.relay.core import FnOp, GlobalOp, ReturnOp
from lamina.dialects.relay.functional import adt_patterns as patterns
from lamina.dialects.relay.functional.adt import ConstructOp, MatchOp, TypeOp
from lamina.dialects.relay.functional.control import YieldOp
from lamina.dialects.relay.functional.tuples import TupleOp
from lamina.dialects.relay.value_types import AdtType, rebuild
from lamina.errors import InputError
from lamina.frontends.tvm_text import adt, ty
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.scopes import Scope
from lamina.frontends.tvm_text.unify import Unknowns, with_arguments

if TYPE_CHECKING:
    from lamina.frontends.tvm_text.to_ir import Body, Builder, Made

Request = Callable[[e.GlobalVar, tuple[Attribute, ...]], str]
"""The name of a function of the module for some type arguments."""


def check_declared(module: ModuleOp) -> None:
    """Raises InputError for a data type in a function's type that the module does not declare."""
    declared = {op.sym_name.data: len(op.parameters) for op in module.body.block.ops if isinstance(op, TypeOp)}

    def look(t: Attribute) -> Attribute | None:
        if isinstance(t, AdtType) and t.adt.data not in declared:
            raise InputError(f"there is no data type {t.adt.data} in the module")
        if isinstance(t, AdtType) and declared[t.adt.data] != len(t.arguments):
            count = declared[t.adt.data]
            raise InputError(f"the data type {t.adt.data} has {count} type parameters, {len(t.arguments)} are given")
        return None

    for op in module.body.block.ops:
        if isinstance(op, func.FuncOp):
            for t in (*op.function_type.inputs, *op.function_type.outputs):
                rebuild(t, look)


def type_op(data: adt.TypeData) -> TypeOp:
    """The declaration of a data type."""
    constructors = {c.name_hint: [ty.to_ir(t) for t in c.inputs] for c in data.constructors}
    return TypeOp.make(data.header.name_hint, [v.name_hint for v in data.type_vars], constructors)


# -- constructors ------------------------------------------------------------------------------------------


def instance(builder: Builder, constructor: adt.Constructor, given: Sequence[ty.Type]) -> tuple[list[Attribute], Any]:
    """The types of a constructor's fields and of what it makes, for one use. Raises InputError."""
    data = constructor.type_data
    if data is None:
        raise InputError(
            f"the constructor {constructor.name_hint} belongs to {constructor.belong_to}, which is not declared",
            hint="relay.TypeData(type, type_vars, constructors)",
        )
    names = [v.name_hint for v in data.type_vars]
    arguments = type_arguments(builder, constructor.name_hint, names, given)
    fields = [with_arguments(ty.to_ir(t), arguments) for t in constructor.inputs]
    return fields, AdtType.of(data.header.name_hint, *arguments.values())


def type_arguments(builder: Builder, name: str, names: Sequence[str], given: Sequence[ty.Type]) -> dict[str, Attribute]:
    """The types of type parameters in one use: what it says, else what will turn out."""
    if given and len(given) != len(names):
        raise InputError(f"{name} has {len(names)} type parameters, {len(given)} are given")
    if given:
        return {n: builder.ir_type(t) for n, t in zip(names, given, strict=True)}
    return builder.unknowns.instance(names)


def construct(builder: Builder, node: e.Call, values: Sequence[SSAValue], block: Block) -> SSAValue:
    """A call of a constructor."""
    constructor = cast(adt.Constructor, node.op)
    fields, type_ = instance(builder, constructor, node.type_args)
    if len(fields) != len(values):
        raise InputError(f"the constructor {constructor.name_hint} has {len(fields)} fields, got {len(values)}")
    for n, (field, value) in enumerate(zip(fields, values, strict=True)):
        builder.unknowns.expect(field, value.type, f"field {n} of {constructor.name_hint}")
    return builder.add(ConstructOp.make(constructor.name_hint, values, type_), block, node).results[0]


def constructor_function(builder: Builder, constructor: adt.Constructor, block: Block) -> SSAValue:
    """A constructor where a function is wanted: one that calls it."""
    fields, type_ = instance(builder, constructor, ())
    inner = Block(arg_types=fields)
    made = ConstructOp.make(constructor.name_hint, inner.args, type_)
    inner.add_ops([made, ReturnOp.make(made.result)])
    return builder.add(FnOp.make(inner), block).results[0]


# -- match ---------------------------------------------------------------------------------------------------


def match(
    builder: Builder, node: adt.Match, data: SSAValue, scope: Scope, body: Body, scopes: Mapping[e.Expr, Scope]
) -> Made:
    """The cases of a match as regions."""
    if not node.clauses:
        raise InputError("a match has no clause")
    cases: list[tuple[patterns.Pattern, Block]] = []
    blocks: list[tuple[Block, Scope]] = []
    wanted = _taken_apart(builder, node, data)
    if wanted is None:
        # Anything but data and tuples is matched as the field of a tuple of one.
        data = builder.add(TupleOp.make(data), scope.block, node).results[0]
    for place, clause in enumerate(node.clauses):
        inner = scope.branch(node, place)
        type_ = builder.now(data).type
        found = _pattern(builder, clause.lhs, wanted or cast(TupleType, type_).types.data[0], inner.block, body)
        cases.append((found if wanted is not None else patterns.Fields((found,)), inner.block))
        made = builder.emit(clause.rhs, inner, body, scopes)
        inner.block.add_op(YieldOp.make(*builder.results(made, body, inner.block)))
        blocks.append((inner.block, inner))
    types = builder.same_results([b for b, _ in blocks], "the clauses of a match")
    op = MatchOp.make(data, [(p, Region(b)) for p, b in cases], types, not node.complete)
    builder.add(op, scope.block, node)
    return op.results[0] if len(op.results) == 1 else list(op.results)


def _taken_apart(builder: Builder, node: adt.Match, data: SSAValue) -> Attribute | None:
    """The type of what is matched, where it is data or a tuple."""
    for clause in node.clauses:
        type_ = builder.now(data).type
        if isinstance(type_, (AdtType, TupleType)):
            return type_
        if isinstance(clause.lhs, adt.PatternConstructor):
            _, made = instance(builder, clause.lhs.constructor, ())
            builder.unknowns.expect(made, type_, "what is matched")
        elif isinstance(clause.lhs, adt.PatternTuple):
            fields = [builder.unknowns.fresh() for _ in clause.lhs.patterns]
            builder.unknowns.expect(tuple_of(fields), type_, "what is matched")
    type_ = builder.now(data).type
    return type_ if isinstance(type_, (AdtType, TupleType)) else None


def _pattern(builder: Builder, pattern: adt.Pattern, type_: Attribute, block: Block, body: Body) -> patterns.Pattern:
    """A pattern of our IR; its variables become arguments of the block."""
    if isinstance(pattern, adt.PatternVar):
        if pattern.var.type_annotation is not None:
            builder.unknowns.expect(builder.ir_type(pattern.var.type_annotation), type_, f"%{pattern.var.name_hint}")
        builder.parameter(body, pattern.var, len(block.args), builder.unknowns.resolve(type_), block)
        return patterns.Variable()
    if isinstance(pattern, adt.PatternConstructor):
        name = pattern.constructor.name_hint
        fields, made = instance(builder, pattern.constructor, ())
        builder.unknowns.expect(made, type_, f"the value of the pattern {name}")
        if len(fields) != len(pattern.patterns):
            raise InputError(f"the constructor {name} has {len(fields)} fields, the pattern {len(pattern.patterns)}")
        inner = [_pattern(builder, p, t, block, body) for p, t in zip(pattern.patterns, fields, strict=True)]
        return patterns.Made(name, tuple(inner))
    if isinstance(pattern, adt.PatternTuple):
        fields = [builder.unknowns.fresh() for _ in pattern.patterns]
        builder.unknowns.expect(tuple_of(fields), type_, "the value of a pattern")
        return patterns.Fields(
            tuple(_pattern(builder, p, t, block, body) for p, t in zip(pattern.patterns, fields, strict=True))
        )
    return patterns.Anything()


def tuple_of(fields: Sequence[Attribute]) -> TupleType:
    """The type of a tuple."""
    return TupleType(ArrayAttr([cast(TypeAttribute, t) for t in fields]))


# -- functions with type parameters ----------------------------------------------------------------------------


class Instances:
    """The uses of global functions with type parameters, which get their names when all types are known."""

    def __init__(self, find: Callable[[e.GlobalVar], tuple[e.GlobalVar, e.Function] | None] | None = None) -> None:
        self._find = find
        self._waiting: list[tuple[Operation, e.GlobalVar, list[Attribute]]] = []

    def find(self, name: e.GlobalVar) -> tuple[e.GlobalVar, e.Function] | None:
        """The function with type parameters of a name, None for another one."""
        return self._find(name) if self._find is not None else None

    def signature(self, builder: Builder, node: e.GlobalVar, given: Sequence[ty.Type]) -> _Use | None:
        """The type of a function for one use, None for a function without type parameters."""
        found = self.find(node)
        if found is None:
            return None
        name, function = found
        arguments = type_arguments(builder, f"@{name.name_hint}", [v.name_hint for v in function.type_params], given)
        return _Use(name, function_type(builder, function, name, arguments), list(arguments.values()))

    def add(self, op: Operation, use: _Use) -> None:
        """Let an op get the name of the instance."""
        self._waiting.append((op, use.name, use.arguments))

    def settle(self, builder: Builder, request: Request) -> None:
        """Name all, their types being known."""
        for op, name, arguments in self._waiting:
            known = [builder.unknowns.resolve(t) for t in arguments]
            # What nothing depends on may be anything.
            chosen = tuple(tuple_of(()) if builder.unknowns.is_open(t) else t for t in known)
            op.properties["callee"] = SymbolRefAttr(request(name, chosen))
        self._waiting.clear()


class _Use:
    def __init__(self, name: e.GlobalVar, type_: FunctionType, arguments: list[Attribute]) -> None:
        self.name = name
        self.type = type_
        self.arguments = arguments

    def call(self, values: Sequence[SSAValue], unknowns: Unknowns) -> func.CallOp:
        """The call, whose arguments have said what the function gives."""
        outputs = unknowns.spread([unknowns.resolve(t) for t in self.type.outputs])
        return func.CallOp(self.name.name_hint, list(values), outputs)

    def value(self) -> GlobalOp:
        return GlobalOp.make(self.name.name_hint, self.type)


def function_type(
    builder: Builder, function: e.Function, name: e.Expr, arguments: Mapping[str, Attribute]
) -> FunctionType:
    """The type of a function as it is written, for some type arguments. Raises InputError where it is not written."""
    before, builder.types = builder.types, arguments
    try:
        return builder.signature(function, name)
    finally:
        builder.types = before


__all__ = [
    "Instances", "constructor_function", "construct", "function_type", "match", "tuple_of", "type_arguments",
    "type_op",
]  # fmt: skip
