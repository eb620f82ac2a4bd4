"""Functions by their global names as a module of our IR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Operation, Region

from lamina.dialects.relay.params import ParamStore
from lamina.dialects.value_names import NAME
from lamina.errors import InputError
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.adt import TypeData
from lamina.frontends.tvm_text.adt_to_ir import Instances, check_declared, type_op
from lamina.frontends.tvm_text.expr import GlobalVar
from lamina.frontends.tvm_text.to_ir import Builder, function_attribute
from lamina.frontends.tvm_text.ty import GlobalTypeVar, TypeVar
from lamina.frontends.tvm_text.unify import nesting
from lamina.frontends.tvm_text.walk import free_vars, post_order


def build_module(
    functions: Mapping[GlobalVar, e.Function], types: Mapping[GlobalTypeVar, TypeData] | None = None
) -> tuple[ModuleOp, ParamStore]:
    """Functions as a module of our IR, not yet verified, and its weights. Raises LaminaError where one is wrong.

    A function with type parameters becomes one for each use of it with other types, and none where nothing uses it.
    """
    store = ParamStore()
    for f in functions.values():
        origin = _store_of(f)
        if origin is not None:
            store = origin
            break
    built = _Functions(functions, store)
    for name, f in functions.items():
        if not f.type_params:
            built.build(name)
    module = ModuleOp([*(type_op(d) for d in (types or {}).values()), *built.finished()])
    check_declared(module)
    return module, store


def function_of(expr: e.Expr) -> tuple[GlobalVar, e.Function]:
    """An expression as a function of a module: `main`, with its free variables as parameters."""
    if isinstance(expr, e.Function):
        return GlobalVar(str(expr.attrs.get("global_symbol", "main"))), expr
    return GlobalVar("main"), e.Function(free_vars(expr), expr)


def globals_of(
    functions: Mapping[GlobalVar, e.Function], store: ParamStore
) -> tuple[Callable[[GlobalVar], tuple[str, FunctionType]], Instances]:
    """Lookups for a builder of an expression: the types of a module's functions, and instances of generic ones."""
    known = _Functions(functions, store)
    return known.find, Instances(known.generic)


class _Functions:
    """The functions of a module while they are built."""

    def __init__(self, functions: Mapping[GlobalVar, e.Function], store: ParamStore) -> None:
        self.functions = functions
        self.store = store
        self.built: dict[GlobalVar, func.FuncOp | None] = {}
        self.instances: dict[tuple[GlobalVar, tuple[Attribute, ...]], str] = {}
        self.waiting: list[tuple[GlobalVar, tuple[Attribute, ...], str]] = []
        self.made: list[func.FuncOp] = []

    def known(self, name: GlobalVar) -> GlobalVar:
        found = name if name in self.functions else next(
            (g for g in self.functions if g.name_hint == name.name_hint), None
        )  # fmt: skip
        if found is None:
            raise InputError(f"there is no function @{name.name_hint} in the module")
        return found

    def find(self, name: GlobalVar) -> tuple[str, FunctionType]:
        """The name and the type of a function without type parameters."""
        known = self.known(name)
        if self.built.get(known) is None:
            if known in self.built:
                return known.name_hint, Builder(self.store).signature(self.functions[known], known)
            self.build(known)
        op = self.built[known]
        assert op is not None
        return known.name_hint, op.function_type

    def generic(self, name: GlobalVar) -> tuple[GlobalVar, e.Function] | None:
        """The function of a name, if it has type parameters."""
        known = self.known(name)
        return (known, self.functions[known]) if self.functions[known].type_params else None

    def build(self, name: GlobalVar) -> None:
        """Build a function without type parameters, unless it is there."""
        if name not in self.built:
            self.built[name] = None
            self.built[name] = self._function(name, name.name_hint, {})

    def _function(self, name: GlobalVar, symbol: str, types: Mapping[str, Attribute]) -> func.FuncOp:
        instances = Instances(self.generic)
        builder = Builder(self.store, self.find, instances=instances, types=types)
        op = _global_function(GlobalVar(symbol), self.functions[name], builder)
        instances.settle(builder, self.request)
        return op

    def request(self, name: GlobalVar, arguments: tuple[Attribute, ...]) -> str:
        """The name of an instance, which is built later."""
        key = (name, arguments)
        if key not in self.instances:
            taken = {g.name_hint for g in self.functions if not self.functions[g].type_params}
            taken.update(self.instances.values())
            symbol, n = name.name_hint, 0
            while symbol in taken:
                n += 1
                symbol = f"{name.name_hint}_{n}"
            if max(map(nesting, arguments)) > _DEEPEST:
                raise InputError(f"@{name.name_hint} calls itself with ever other types")
            self.instances[key] = symbol
            self.waiting.append((name, arguments, symbol))
        return self.instances[key]

    def finished(self) -> list[func.FuncOp]:
        """The functions in their order, then the instances."""
        while self.waiting:
            name, arguments, symbol = self.waiting.pop(0)
            names = [cast(TypeVar, p).name_hint for p in self.functions[name].type_params]
            self.made.append(self._function(name, symbol, dict(zip(names, arguments, strict=True))))
        return [*(op for g in self.functions if (op := self.built.get(g)) is not None), *self.made]


_DEEPEST = 8
"""A type argument that is nested deeper comes of a recursion that does not end."""


def _store_of(function: e.Function) -> ParamStore | None:
    """The store that a function's constants are from, if it was read from a module."""
    for node in post_order(function.body):
        origin = node.__dict__.get("_origin") if isinstance(node, e.Constant) else None
        if origin is not None and origin[1] is not None:
            return origin[1]
    return None


def _global_function(name: GlobalVar, function: e.Function, builder: Builder) -> func.FuncOp:
    body, results = builder.function(function, None)
    body.block.add_op(func.ReturnOp(*results))
    type_ = FunctionType.from_lists(list(body.block.arg_types), [v.type for v in results])
    names: list[DictionaryAttr] = []
    for n, p in enumerate(function.params):
        names.append(
            DictionaryAttr({NAME: StringAttr(p.name_hint)} if isinstance(type_.inputs.data[n], TensorType) else {})
        )
    op = func.FuncOp(
        name.name_hint, type_, Region(body.block), arg_attrs=ArrayAttr(names) if any(d.data for d in names) else None
    )
    marks: dict[str, Attribute] = {k: function_attribute(v) for k, v in function.attrs.items()}
    op.attributes.update(marks)
    builder.unknowns.settle(op, f"@{name.name_hint}")
    op.properties["function_type"] = FunctionType.from_lists(
        list(body.block.arg_types), [v.type for v in cast(Operation, body.block.last_op).operands]
    )
    return op
