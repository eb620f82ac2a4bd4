"""`relay.prelude`: TVM's standard data types and the functions of them, in a module.

mod = tvm.IRModule()
p = relay.prelude.Prelude(mod)
List, cons, nil = mod.get_type("List")
p.map(f, cons(relay.const(1.0), nil()))
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from lamina.compat.tvm.ir import IRModule
from lamina.compat.tvm.relay import expr as e
from lamina.errors import UsageError, did_you_mean

_FOLDER = Path(__file__).parent / "std"


@cache
def _text(name: str) -> str:
    file = _FOLDER / name
    if not file.is_file() or file.parent != _FOLDER:
        known = sorted(f.name for f in _FOLDER.glob("*.rly"))
        raise UsageError(f"there is no {name!r}", hint=did_you_mean(name, known) or f"there are {', '.join(known)}")
    return file.read_text("utf-8")


def standard(name: str, beside: IRModule) -> IRModule:
    """The definitions of a file of TVM's standard ones, which may use those of a module. Raises UsageError."""
    from lamina.compat.tvm.relay.lexer import Source
    from lamina.compat.tvm.relay.text_parser import Parser

    parser = Parser(Source(_text(name), name), beside)
    definitions, _ = parser.program()
    return IRModule(definitions, parser.types)


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


__all__ = ["Prelude", "standard"]
