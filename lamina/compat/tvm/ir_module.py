"""`tvm.IRModule`: modules of Relay's functions, which are modules of our IR underneath.

A module holds expressions, our IR, or both; whichever is asked for is made from the other one. What passes have made
is read as expressions when somebody looks at them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from lamina.compat.tvm.relay.from_ir import read_module
from lamina.compat.tvm.relay.standard import standard
from lamina.compat.tvm.relay.text_printer import astext
from lamina.dialects.relay.params import ParamStore
from lamina.errors import did_you_mean
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text.adt import Constructor, TypeData
from lamina.frontends.tvm_text.expr import Attrs, GlobalVar
from lamina.frontends.tvm_text.module import build_module as unverified_module
from lamina.frontends.tvm_text.module import function_of
from lamina.frontends.tvm_text.ty import GlobalTypeVar
from lamina.frontends.tvm_text.walk import free_vars


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
        made = IRModule(functions, type_defs)
        name, function = function_of(e.as_expr(expr))
        made["main" if made.functions else name] = function
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
        functions, types = standard(file_to_import, self.functions, self.type_definitions.values())
        self.update(IRModule(functions, types))

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
    """Functions as a verified module of our IR, and its weights. Raises LaminaError where one is wrong."""
    from lamina.ir.verification import verify_module

    module, store = unverified_module(functions, types)
    verify_module(module)
    return module, store
