"""`relay.prelude`: TVM's standard data types and the functions of them, in a module.

mod = tvm.IRModule()
p = relay.prelude.Prelude(mod)
List, cons, nil = mod.get_type("List")
p.map(f, cons(relay.const(1.0), nil()))
"""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm.ir_module import IRModule
from lamina.frontends.tvm_text import expr as e


class Prelude:
    """The standard definitions in a module; a function is an attribute: `p.map`, `p.foldl`."""

    def __init__(self, mod: IRModule | None = None) -> None:
        self.mod = mod if mod is not None else IRModule()
        if not any(g.name_hint == "List" for g in self.mod.type_definitions):
            self.load_prelude()

    def load_prelude(self) -> None:
        """Take the definitions in. The constructors of lists and the like are those of the module."""
        self.mod.import_from_std("prelude.rly")

    def __getattr__(self, name: str) -> e.GlobalVar:
        if name.startswith("__") or name == "mod":
            raise AttributeError(name)
        try:
            return self.mod.get_global_var(name)
        except ValueError as error:
            raise AttributeError(str(error)) from None

    def get_type(self, name: str) -> tuple[Any, ...]:
        """A data type and its constructors."""
        return self.mod.get_type(name)


__all__ = ["Prelude"]
