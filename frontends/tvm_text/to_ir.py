"""Expressions as our IR: a module's functions become func.func, local ones relay.fn, calls of operators their ops.

Nodes that several others use become one value, computed where all of them see it: in the innermost function or branch
around all uses. A tuple is a list of values until somebody needs it as one. Nothing recurses along chains of calls
and lets, only into branches and functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import FunctionType, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.attributes import to_attribute
from lamina.dialects.locations import source_position
from lamina.dialects.relay.core import FnOp, GlobalOp, ReturnOp, make_constant
from lamina.dialects.relay.functional.control import IfOp, YieldOp
from lamina.dialects.relay.functional.refs import RefCreateOp, RefReadOp, RefWriteOp
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.dialects.relay.params import ParamStore
from lamina.errors import InputError, LaminaError
from lamina.frontends.tvm_text import adt, adt_to_ir, calls_to_ir, ty
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.names import value_name
from lamina.frontends.tvm_text.op_calls import NUMBERS
from lamina.frontends.tvm_text.scopes import Scope, scopes_of, shared_inside
from lamina.frontends.tvm_text.unify import UNKNOWN, Unknowns, is_known, with_arguments
from lamina.frontends.tvm_text.walk import operands_of, post_order

Made: TypeAlias = "SSAValue | list[Any]"
"""The translation of an expression: a value, or a tuple's fields."""
Globals: TypeAlias = "Callable[[e.GlobalVar], tuple[str, FunctionType]]"


class Body:
    """A function being built: what its nodes have become there, and where it stands."""

    def __init__(self, outer: Body | None, block: Block) -> None:
        self.outer = outer
        self.block = block
        self.made: dict[e.Expr, Made] = {}
        self.captures: list[SSAValue] = []
        self.itself: Any = None
        self.untyped: dict[e.Var, int] = {}
        """Parameters whose types are not known yet, with their places."""

    def outermost(self) -> Body:
        """The body of the function around all."""
        found = self
        while found.outer is not None:
            found = found.outer
        return found


class Builder:
    """Builds the bodies of functions."""

    def __init__(
        self,
        store: ParamStore | None,
        find_global: Globals | None = None,
        open_: bool = False,
        instances: adt_to_ir.Instances | None = None,
        types: Mapping[str, Attribute] | None = None,
        draft: bool = False,
    ) -> None:
        self.store = store
        self.find_global = find_global
        self.open = open_
        """Whether variables that nobody binds, and nodes whose types are known, become arguments."""
        self.draft = draft
        """Whether values may be of UNKNOWN types: what is built is looked at and read back, and goes no further."""
        self.unknowns = Unknowns()
        self.instances = instances or adt_to_ir.Instances()
        self.types: Mapping[str, Attribute] = types or {}
        """The types that the type parameters of the functions around stand for."""
        self.generic: dict[e.Expr, tuple[e.Function, e.Var]] = {}
        """Names of local functions with type parameters."""
        self.known: Mapping[e.Expr, SSAValue] = {}
        """Nodes that are values of the program already: a rewrite's."""
        self.known_tuples: dict[e.Expr, list[Any]] = {}

    # -- functions ------------------------------------------------------------------------------------

    def function(
        self, function: e.Function, outer: Body | None, itself: e.Expr | None = None
    ) -> tuple[Body, list[SSAValue]]:
        """Build a function's body: with the values it returns, its block not yet ended."""
        block = Block()
        body = Body(outer, block)
        for place, p in enumerate(function.params):
            type_ = p.type_annotation or p.__dict__.get("_type")
            if type_ is None and not self.draft:
                body.untyped[p] = place
                continue
            self.parameter(body, p, len(block.args), UNKNOWN if type_ is None else self.ir_type(type_))
        if itself is not None:
            type_ = self.signature(function, itself)
            body.itself = block.insert_arg(type_, len(block.args))
            body.itself.name_hint = _hint(itself)
            body.made[itself] = body.itself
        scopes = scopes_of(function.body, block)
        result = self.emit(function.body, scopes.root, body, scopes.of)
        if body.untyped:
            name = next(iter(body.untyped)).name_hint
            raise InputError(f"the type of %{name} is not known", hint=f'give it: relay.var("{name}", shape=(...))')
        if function.ret_type is not None and self.unknowns.count and not isinstance(result, list):
            self.unknowns.expect(self.ir_type(function.ret_type), result.type, "what the function gives")
        results = self.results(result, body, scopes.root.block)
        if function.ret_type is not None and self.unknowns.count:
            declared = ty.spread(self.ir_type(function.ret_type))
            self._expect_all(declared, [v.type for v in results], "what the function gives")
            results = [self.now(v) for v in results]
        return body, results

    def ir_type(self, type_: ty.Type) -> Attribute:
        """A type as it is here, where the type parameters are known."""
        return with_arguments(ty.to_ir(type_), self.types)

    def now(self, value: SSAValue) -> SSAValue:
        """A value with what is known of its type by now."""
        if self.unknowns.count:
            cast("Any", value)._type = self.unknowns.resolve(value.type)
        return value

    def _expect_all(self, declared: Sequence[Attribute], actual: Sequence[Attribute], what: str) -> None:
        if len(declared) != len(actual):
            declared, actual = ([t[0] if len(t) == 1 else adt_to_ir.tuple_of(t)] for t in (declared, actual))
        for d, a in zip(declared, actual, strict=True):
            self.unknowns.expect(d, a, what)

    def same_results(self, blocks: Sequence[Block], what: str) -> list[Attribute]:
        """The types that all blocks yield. Raises InputError where they differ."""
        types = [[self.unknowns.resolve(v.type) for v in cast(Operation, b.last_op).operands] for b in blocks]
        if not all(is_known(t) for side in types for t in side):
            return [UNKNOWN] * len(types[0])
        for other in types[1:]:
            same = len(types[0]) == len(other)
            if not same or not (types[0] == other or all(map(self.unknowns.unify, types[0], other))):
                shown = [", ".join(map(str, t)) for t in (types[0], other)]
                raise InputError(f"{what} give {shown[0]} and {shown[1]}")
        return [self.unknowns.resolve(t) for t in types[0]]

    def parameter(self, body: Body, p: e.Expr, place: int, type_: Attribute, block: Block | None = None) -> SSAValue:
        """Let a node be an argument of a block, by default of the body's own."""
        value = (block or body.block).insert_arg(type_, place)
        value.name_hint = _hint(p)
        body.made[p] = value
        return value

    def argument(self, body: Body, node: e.Expr, type_: ty.Type) -> SSAValue:
        """Let a node be an argument of a body."""
        return self.parameter(body, node, len(body.block.args), ty.to_ir(type_))

    def signature(self, function: e.Function, name: e.Expr) -> FunctionType:
        """The type of a function as it is written. Raises InputError where that is not all of it."""
        if function.ret_type is None or any(p.type_annotation is None for p in function.params):
            raise InputError(
                f"{_hint(name) or 'a function'} calls itself: its types have to be written",
                hint="relay.Function(params, body, ret_type), with a type for each parameter",
            )
        inputs = [self.ir_type(cast(ty.Type, p.type_annotation)) for p in function.params]
        return FunctionType.from_lists(inputs, ty.spread(self.ir_type(function.ret_type)))

    def local(self, function: e.Function, body: Body, name: e.Expr | None) -> FnOp:
        """A function inside another one."""
        inner, results = self.function(function, body, name if name is not None and _calls(function, name) else None)
        inner.block.add_op(ReturnOp.make(*results))
        recursive = inner.itself is not None
        attrs = {k: function_attribute(v) for k, v in function.attrs.items()}
        return FnOp.make(inner.block, attrs, inner.captures, recursive)

    def results(self, made: Made, body: Body, block: Block) -> list[SSAValue]:
        """The results of a function or branch that gives something."""
        if isinstance(made, list):
            if len(made) != 1:
                return [self.one(m, block) for m in made]
            return [self.one(made, block)]
        type_ = self.now(made).type
        if isinstance(type_, TupleType) and len(type_.types) != 1:
            return [self.add(TupleGetItemOp.make(made, n), block).results[0] for n in range(len(type_.types))]
        return [made]

    def one(self, made: Made, block: Block) -> SSAValue:
        """The value itself, of a tuple the tuple."""
        if not isinstance(made, list):
            return made
        return self.add(TupleOp.make(*(self.one(m, block) for m in made)), block).results[0]

    def add(self, op: Any, block: Block, node: e.Expr | None = None) -> Any:
        if node is not None and node.span is not None:
            op.location = node.span
        block.add_op(op)
        return op

    # -- expressions ----------------------------------------------------------------------------------

    def emit(self, root: e.Expr, scope: Scope, body: Body, scopes: Mapping[e.Expr, Scope]) -> Made:
        """Build what an expression needs and it itself."""
        stack: list[tuple[e.Expr, int]] = [(root, 0)]
        while stack:
            node, stage = stack.pop()
            if stage == 0 and self.find(node, body) is not None:
                continue
            if isinstance(node, e.Let):
                # A let in a tail position may be one of thousands: each of its parts comes when the one before is done.
                if stage == 0:
                    stack.append((node, 1))
                    if isinstance(node.value, e.Function) and node.value.type_params:
                        self.generic[node.var] = (node.value, node.var)
                    if isinstance(node.value, e.Function):
                        stack.extend((c, 0) for c in reversed(shared_inside(node.value, scopes)))
                    else:
                        stack.append((node.value, 0))
                elif stage == 1:
                    if node.var not in self.generic:
                        self._bind(node, scopes, body)
                    stack += [(node, 2), (node.body, 0)]
                else:
                    body.made[node] = cast(Made, self.find(node.body, body))
                continue
            if stage == 0:
                children = operands_of(node)
                if isinstance(node, e.Function):
                    children = shared_inside(node, scopes)
                if children:
                    stack.append((node, 1))
                    stack.extend(
                        (c, 0) for c in reversed(children) if not self._waits(node, c) and not self._is_generic(c)
                    )
                    continue
            try:
                body.made[node] = self.make(node, scopes.get(node, scope), body, scopes)
            except LaminaError as error:
                if not error.where and node.span is not None:
                    error.where = place_text(node.span)
                raise
            except VerifyException as error:
                where = place_text(node.span) if node.span is not None else ""
                raise InputError(str(error), where=where) from None
        found = self.find(root, body)
        assert found is not None
        return found

    def _waits(self, node: e.Expr, child: e.Expr) -> bool:
        """Whether a child is a weight whose type its reader says, or a number that becomes an attribute."""
        if not isinstance(node, e.Call) or not isinstance(node.op, e.Op):
            return False
        if isinstance(child, e.Constant):
            return any(n < len(node.args) and node.args[n] is child for n, _ in NUMBERS.get(node.op.name, ()))
        return isinstance(child, e.Var) and child.type_annotation is None

    def _is_generic(self, node: e.Expr) -> bool:
        """Whether each use of a node is another value: constructors, and functions with type parameters."""
        if isinstance(node, e.GlobalVar):
            return self.instances.find(node) is not None
        return isinstance(node, adt.Constructor) or (
            isinstance(node, (e.Var, e.Function)) and self._generic_function(node) is not None
        )

    def _generic_function(self, node: e.Expr) -> tuple[e.Function, e.Expr | None] | None:
        if isinstance(node, e.Function):
            return (node, None) if node.type_params else None
        return self.generic.get(node)

    def value_of(self, node: e.Expr, block: Block, body: Body, given: Sequence[ty.Type] = ()) -> SSAValue:
        """The value of a node that is made, or of another use of a generic one."""
        if isinstance(node, adt.Constructor):
            return adt_to_ir.constructor_function(self, node, block)
        if isinstance(node, e.GlobalVar):
            use = self.instances.signature(self, node, given)
            if use is not None:
                op = use.value()
                self.instances.add(op, use)
                return self.add(op, block, node).results[0]
        generic = self._generic_function(node)
        if generic is None:
            return self.now(self.one(cast(Made, self.find(node, body)), block))
        function, name = generic
        before = self.types
        # Inside it is itself, with the same type arguments.
        hidden = self.generic.pop(node, None) if isinstance(node, e.Var) else None
        names = [v.name_hint for v in function.type_params]
        self.types = {**before, **adt_to_ir.type_arguments(self, "the function", names, given)}
        try:
            return self.add(self.local(function, body, name), block, function).results[0]
        finally:
            self.types = before
            if hidden is not None:
                self.generic[node] = hidden

    def find(self, node: e.Expr, body: Body) -> Made | None:
        """The translation of a node in a body: made there, captured, or known from outside."""
        found = body.made.get(node)
        if found is not None:
            return found
        if node in self.known:
            return self.known[node]
        if node in self.known_tuples:
            return self.known_tuples[node]
        if body.outer is None or isinstance(node, (e.Constant, e.GlobalVar)):
            return None
        outer = self.find(node, body.outer)
        if outer is None:
            return None
        owner = outer[0] if isinstance(outer, list) and outer else outer
        value = outer if not isinstance(outer, list) else self.one(outer, _block_of(owner, body.outer))
        place = len(body.block.args) - (body.itself is not None)
        inner = body.block.insert_arg(value.type, place)
        inner.name_hint = value.name_hint
        body.captures.append(value)
        body.made[node] = inner
        return inner

    def _bind(self, node: e.Let, scopes: Mapping[e.Expr, Scope], body: Body) -> None:
        """Let a variable be the value that a let gives it."""
        if isinstance(node.value, e.Function) and self.find(node.value, body) is None:
            self._make_let_function(node, scopes, body)
        made = cast(Made, self.find(node.value, body))
        annotation = node.var.type_annotation
        if annotation is not None and self.unknowns.count and not isinstance(made, list):
            self.unknowns.expect(self.ir_type(annotation), made.type, f"%{node.var.name_hint}")
        body.made[node.var] = made

    def _make_let_function(self, let: e.Let, scopes: Mapping[e.Expr, Scope], body: Body) -> None:
        block = scopes[let.value].block if let.value in scopes else body.block
        op = self.add(self.local(cast(e.Function, let.value), body, let.var), block, let.value)
        body.made[let.value] = op.results[0]

    def make(self, node: e.Expr, scope: Scope, body: Body, scopes: Mapping[e.Expr, Scope]) -> Made:
        """Build one node whose operands are there."""
        block = scope.block

        def get(child: e.Expr) -> SSAValue:
            return self.value_of(child, block, body)

        if isinstance(node, e.Call):
            return calls_to_ir.call(self, node, block, body)
        if isinstance(node, e.Constant):
            return self.add(self.constant(node), block, node).results[0]
        if isinstance(node, e.Tuple):
            return [get(f) if self._is_generic(f) else cast(Made, self.find(f, body)) for f in node.fields]
        if isinstance(node, e.TupleGetItem):
            return self.item(node, cast(Made, self.find(node.tuple_value, body)), block)
        if isinstance(node, e.Var):
            if not self.open or node.__dict__.get("_type") is None:
                what = "is bound by no function or let" if node not in body.untyped else "has no type that its use says"
                raise InputError(f"the variable %{node.name_hint} {what}")
            return self.parameter(body.outermost(), node, len(body.outermost().block.args), ty.to_ir(node.checked_type))
        if isinstance(node, e.If):
            return self.choice(node, get(node.cond), scope, body, scopes)
        if isinstance(node, adt.Match):
            return adt_to_ir.match(self, node, get(node.data), scope, body, scopes)
        if isinstance(node, e.Function):
            return self.add(self.local(node, body, None), block, node).results[0]
        if self._is_generic(node):
            return self.value_of(node, block, body)
        if isinstance(node, e.GlobalVar):
            name, type_ = self.global_function(node)
            return self.add(GlobalOp.make(name, type_), block, node).results[0]
        if isinstance(node, e.RefCreate):
            return self.add(RefCreateOp.make(get(node.value)), block, node).results[0]
        if isinstance(node, e.RefRead):
            return self.add(RefReadOp.make(get(node.ref)), block, node).results[0]
        if isinstance(node, e.RefWrite):
            self.add(RefWriteOp.make(get(node.ref), get(node.value)), block, node)
            return []
        raise InputError(f"a {type(node).__name__} is not bridged here")

    def global_function(self, node: e.GlobalVar) -> tuple[str, FunctionType]:
        """The name and the type of a function of the module. Raises InputError where there is no module."""
        if self.find_global is None:
            raise InputError(
                f"@{node.name_hint} is called outside of a module", hint="put the function into an IRModule"
            )
        return self.find_global(node)

    def constant(self, node: e.Constant) -> Operation:
        origin = node.__dict__.get("_origin")
        if origin is not None and origin[1] is self.store:
            return origin[0].clone()
        return make_constant(node.values, self.store, "const")

    def item(self, node: e.TupleGetItem, of: Made, block: Block) -> Made:
        source = node.tuple_value
        if isinstance(source, e.Call) and isinstance(source.op, e.Op) and source.op.name == "nn.dropout" and node.index:
            raise InputError("nn.dropout gives no mask here", hint="use its first result")
        if isinstance(of, SSAValue) and of.type == UNKNOWN:
            number = {"index": to_attribute(node.index)}
            made = TupleGetItemOp.create(operands=[of], properties=number, result_types=[UNKNOWN])
            return self.add(made, block, node).results[0]
        if isinstance(of, list):
            if not 0 <= node.index < len(of):
                raise InputError(f"no field {node.index} in a tuple of {len(of)}")
            return of[node.index]
        return self.add(TupleGetItemOp.make(self.now(of), node.index), block, node).results[0]

    def choice(self, node: e.If, condition: SSAValue, scope: Scope, body: Body, scopes: Mapping[e.Expr, Scope]) -> Made:
        blocks: list[Block] = []
        for place, branch in enumerate((node.true_branch, node.false_branch)):
            inner = scope.branch(node, place)
            made = self.emit(branch, inner, body, scopes)
            inner.block.add_op(YieldOp.make(*self.results(made, body, inner.block)))
            blocks.append(inner.block)
        self.same_results(blocks, "the branches of an if")
        return calls_to_ir.joined(self.add(IfOp.make(condition, blocks[0], blocks[1]), scope.block, node).results)


def place_text(location: Any) -> str:
    """`file:line:col` of a location."""
    found = source_position(location)
    return "{}:{}:{}".format(*found) if found is not None else ""


def _block_of(value: Any, body: Body) -> Block:
    while isinstance(value, list):
        value = value[0] if value else None  # pyright: ignore[reportUnknownVariableType]
    owner = value.owner if isinstance(value, SSAValue) else None
    if isinstance(owner, Operation) and owner.parent is not None:
        return owner.parent
    return owner if isinstance(owner, Block) else body.block


def _hint(node: e.Expr) -> str | None:
    return value_name(node.name_hint) if isinstance(node, (e.Var, e.GlobalVar)) else None


def _calls(function: e.Function, name: e.Expr) -> bool:
    return any(n is name for n in post_order(function.body))


def function_attribute(value: Any) -> Attribute:
    """An attribute of a function: numbers, texts, lists of them."""
    return to_attribute(getattr(value, "value", value))


def infer_type_of(node: e.Expr) -> ty.Type:
    """The type of an expression by itself, remembered for everything that it is made of. Raises LaminaError."""
    builder = Builder(ParamStore(), None, open_=True)
    body = Body(None, Block())
    scopes = scopes_of(node, body.block, lambda n: n.__dict__.get("_type") is not None)
    for known in scopes.stopped:
        builder.argument(body, known, known.checked_type)
    made = builder.emit(node, scopes.root, body, scopes.of)
    for n, value in body.made.items():
        if n.__dict__.get("_type") is None:
            n.__dict__["_type"] = made_type(value, n)
    return made_type(made, node)


def made_type(made: Made, node: e.Expr | None = None) -> ty.Type:
    """The type of what an expression became."""
    if isinstance(made, list):
        return ty.TupleType([made_type(m) for m in made])
    found = ty.from_ir(made.type)
    if isinstance(node, e.Function) and node.type_params and isinstance(found, ty.FuncType):
        return ty.FuncType(found.arg_types, found.ret_type, node.type_params)
    return found


__all__ = ["Body", "Builder", "LaminaError", "function_attribute", "infer_type_of", "made_type"]
