"""`tvm.ir` and `tvm.IRModule`: modules of Relay's functions, which are modules of our IR underneath.

A module holds expressions, our IR, or both; whichever is asked for is made from the other one. What passes have made
is read as expressions when somebody looks at them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Operation, Region

from lamina.compat.tvm.imports import NO_FOLDER
from lamina.compat.tvm.relay import expr as e
from lamina.compat.tvm.relay import ty
from lamina.compat.tvm.relay.adt import Constructor, TypeData
from lamina.compat.tvm.relay.adt_to_ir import Instances, check_declared, type_op
from lamina.compat.tvm.relay.expr import Attrs, Call, Expr, GlobalVar, Op
from lamina.compat.tvm.relay.from_ir import read_module
from lamina.compat.tvm.relay.names import value_name
from lamina.compat.tvm.relay.structural import assert_structural_equal, structural_equal, structural_hash
from lamina.compat.tvm.relay.to_ir import Builder, function_attribute
from lamina.compat.tvm.relay.ty import (
    FuncType,
    GlobalTypeVar,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
)
from lamina.compat.tvm.relay.ty import (
    TensorType as _TensorType,
)
from lamina.compat.tvm.relay.unify import nesting
from lamina.compat.tvm.runtime import modules_elsewhere
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.value_names import NAME
from lamina.errors import InputError, UsageError, did_you_mean
from lamina.ir.tvm_names import missing

__path__ = NO_FOLDER

RelayExpr = Expr
IRTensorType = _TensorType


class IRModule:
    """Functions by their global names."""

    def __init__(
        self, functions: Mapping[Any, Any] | None = None, type_definitions: Mapping[Any, Any] | None = None
    ) -> None:
        self._types: dict[GlobalTypeVar, TypeData] = {}
        self._functions: dict[GlobalVar, e.Function] | None = {}
        self._ir: tuple[ModuleOp, ParamStore] | None = None
        self._names: dict[str, GlobalVar] = {}
        self.attrs: Attrs | None = None
        given: Mapping[Any, Any] = type_definitions or {}
        for header, data in given.items():
            self[header] = data
        for name, function in (functions or {}).items():
            self[name] = function

    # -- the two forms ----------------------------------------------------------------------------------

    @staticmethod
    def of_ir(module: ModuleOp, store: ParamStore | None = None, like: IRModule | None = None) -> IRModule:
        """The module of one of our IR, which belongs to it from now on. Its global variables are those of `like`."""
        made = IRModule()
        made._functions = None
        made._ir = (module, store or ParamStore())
        if like is not None:
            made._names = {**like._names, **{g.name_hint: g for g in like._functions or ()}}
            made.attrs = like.attrs
        return made

    @staticmethod
    def from_expr(expr: Any, functions: Mapping[Any, Any] | None = None, type_defs: Any = None) -> IRModule:
        """A module whose `main` is a function, or gives an expression, whose free variables are parameters."""
        from lamina.compat.tvm.relay.analysis import free_vars

        made = IRModule(functions, type_defs)
        expr = e.as_expr(expr)
        if isinstance(expr, e.Function):
            name = str(expr.attrs.get("global_symbol", "main"))
            made["main" if made.functions else name] = expr
        else:
            made["main"] = e.Function(free_vars(expr), expr)
        return made

    def ir(self) -> tuple[ModuleOp, ParamStore]:
        """The module of our IR and its weights. It must not be changed: clone it."""
        if self._ir is None:
            self._ir = build_module(self.functions, self._types)
        return self._ir

    @property
    def functions(self) -> dict[GlobalVar, e.Function]:
        if self._functions is None:
            assert self._ir is not None
            self._functions, self._types = read_module(*self._ir, self._names)
        return self._functions

    def functions_items(self) -> list[tuple[GlobalVar, e.Function]]:
        return list(self.functions.items())

    @property
    def type_definitions(self) -> dict[GlobalTypeVar, TypeData]:
        return self._types if self.functions is not None else {}  # pyright: ignore[reportUnnecessaryComparison]

    def get_global_type_var(self, name: str) -> GlobalTypeVar:
        """The data type of a name. Raises ValueError where there is none."""
        for found in self.type_definitions:
            if found.name_hint == name:
                return found
        near = did_you_mean(name, [g.name_hint for g in self.type_definitions])
        raise ValueError(f"there is no data type {name} in the module" + (f"; {near}" if near else ""))

    def get_global_type_vars(self) -> list[GlobalTypeVar]:
        return list(self.type_definitions)

    def get_type(self, name: str) -> tuple[Any, ...]:
        """The data type of a name, and its constructors."""
        header = self.get_global_type_var(name)
        return (header, *self.type_definitions[header].constructors)

    def get_constructor(self, adt: str, cons: str) -> Constructor:
        """A constructor of a data type. Raises ValueError where there is none."""
        found = self.get_type(adt)[1:]
        for constructor in found:
            if constructor.name_hint == cons:
                return constructor
        raise ValueError(f"{adt} has no constructor {cons}; it has {', '.join(map(str, found))}")

    def import_from_std(self, file_to_import: str) -> None:
        """Add TVM's standard definitions: `prelude.rly`, `nat.rly`."""
        from lamina.compat.tvm.relay.prelude import standard

        self.update(standard(file_to_import, self))

    # -- by names ---------------------------------------------------------------------------------------

    def get_global_var(self, name: str) -> GlobalVar:
        """The global variable of a name. Raises ValueError where there is none."""
        for found in self.functions:
            if found.name_hint == name:
                return found
        near = did_you_mean(name, [g.name_hint for g in self.functions])
        raise ValueError(f"there is no function @{name} in the module" + (f"; {near}" if near else ""))

    def get_global_vars(self) -> list[GlobalVar]:
        return list(self.functions)

    def __getitem__(self, name: Any) -> Any:
        if isinstance(name, GlobalTypeVar):
            return self.type_definitions[self.get_global_type_var(name.name_hint)]
        known = name if isinstance(name, GlobalVar) and name in self.functions else None
        return self.functions[known or self.get_global_var(str(getattr(name, "name_hint", name)))]

    def __setitem__(self, name: Any, function: Any) -> None:
        functions = self.functions
        if isinstance(function, TypeData):
            self._types[name] = function
            self._ir = None
            return
        if not isinstance(name, GlobalVar):
            name = next((g for g in functions if g.name_hint == name), None) or GlobalVar(str(name))
        function = e.as_expr(function)
        if not isinstance(function, e.Function):
            from lamina.compat.tvm.relay.analysis import free_vars

            function = e.Function(free_vars(function), function)
        functions[name] = function
        self._ir = None

    update_func = __setitem__

    def __contains__(self, name: Any) -> bool:
        name = getattr(name, "name_hint", name)
        return any(g.name_hint == name for g in self.functions)

    def __iter__(self) -> Iterator[GlobalVar]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    def update(self, other: Any) -> None:
        """Take over the functions and the data types of another module, by their names."""
        if isinstance(other, IRModule):
            for header, data in other.type_definitions.items():
                self[header] = data
        for name, function in (other.functions if isinstance(other, IRModule) else dict(other)).items():
            own = next((g for g in self.functions if g.name_hint == getattr(name, "name_hint", name)), name)
            self[own] = function

    def with_attr(self, attr_key: str, attr_value: Any) -> IRModule:
        """The module with an attribute."""
        made = IRModule(self.functions, self.type_definitions)
        made._ir = self._ir
        made.attrs = Attrs({**(self.attrs or {}), attr_key: attr_value})
        return made

    def astext(self, show_meta_data: bool = True, annotate: object = None) -> str:
        """The text in Relay's own format."""
        from lamina.compat.tvm.relay.text_printer import astext

        return astext(self, show_meta_data)

    def __str__(self) -> str:
        return self.astext(show_meta_data=False)

    __repr__ = __str__

    def show(self, *args: object, **kwargs: object) -> None:
        """Print the text."""
        print(self.astext(show_meta_data=False))


def build_module(
    functions: Mapping[GlobalVar, e.Function], types: Mapping[GlobalTypeVar, TypeData] | None = None
) -> tuple[ModuleOp, ParamStore]:
    """Functions as a module of our IR. Raises LaminaError where one is wrong.

    A function with type parameters becomes one for each use of it with other types, and none where nothing uses it.
    """
    from lamina.ir.verification import verify_module

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
    verify_module(module)
    return module, store


def globals_of(mod: IRModule, store: ParamStore) -> tuple[Callable[[GlobalVar], tuple[str, FunctionType]], Instances]:
    """What a builder of an expression has to know of the functions of a module: their types."""
    functions = _Functions(mod.functions, store)
    return functions.find, Instances(functions.generic)


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
    from lamina.compat.tvm.relay.expr_functor import post_order

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


def save_json(node: Any) -> str:
    """A module as text, from which `load_json` makes an equal one."""
    return node.astext()


def load_json(text: str) -> Any:
    """The module of a text that `save_json` made."""
    from lamina.compat.tvm.parser import parse

    return parse(text)


def make_node(type_key: str, **kwargs: Any) -> Attrs:
    """Attributes by their names, for a call or a function: `make_node("DictAttrs", Primitive=1)`. Raises UsageError."""
    if not type_key.endswith("Attrs"):
        raise UsageError(f"nodes of the kind {type_key!r} are not made by name", hint="use its class")
    return Attrs(kwargs)


_MODULES = modules_elsewhere(
    __name__,
    {
        "instrument": "lamina.compat.tvm.instrument",
        "op": "lamina.compat.tvm.ir",
        "module": "lamina.compat.tvm.ir",
        "transform": "lamina.compat.tvm.transform",
    },
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _MODULES[name]
    if name == "register_op_attr":
        from lamina.compat.tvm.relay import op_attributes

        return op_attributes.register_op_attr
    raise missing(__name__, name, [*globals(), *_MODULES])


__all__ = [
    "Attrs", "Call", "FuncType", "GlobalTypeVar", "GlobalVar", "IRModule", "Op", "RelayExpr", "TupleType", "Type",
    "TypeCall", "TypeVar", "assert_structural_equal", "load_json", "make_node", "save_json", "structural_equal",
    "structural_hash", "ty", "value_name",
]  # fmt: skip
