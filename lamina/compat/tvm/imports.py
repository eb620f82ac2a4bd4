"""Finder for `import` below `lamina.compat.tvm` where no file stands: modules that are attributes, and hints.

    import lamina.compat.tvm.topi.nn           the namespace `topi.nn`, as `tvm.topi.nn` is
    import lamina.compat.tvm.autotvm           ModuleNotFoundError: tvm.autotvm is not bridged; use ...
    from lamina.compat.tvm.relay import foo    the same, by the words of the AttributeError

Python asks the finder last, for names that it found nowhere else.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ROOT = "lamina.compat.tvm"
HOMES = {"lamina.te": "te", "lamina.topi": "topi", ROOT: ""}
"""Packages whose names are TVM's, and what TVM calls them."""
NO_FOLDER: list[str] = []
"""The `__path__` of a module without a folder, whose missing names are to be looked up as modules: they get a hint."""


class _Known(Loader):
    """Gives a module's name to what is there already, in the place of the empty module that Python has made for it."""

    def __init__(self, found: Any) -> None:
        self.found = found

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = self.found


class Finder(MetaPathFinder):
    """Finds attributes of TVM's modules that are modules. Raises ModuleNotFoundError with a hint for other names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        parent_name, _, name = fullname.rpartition(".")
        home = next((h for h in HOMES if parent_name == h or parent_name.startswith(f"{h}.")), None)
        parent = sys.modules.get(parent_name)
        if home is None or parent is None or name.startswith("__"):
            return None
        try:
            found = getattr(parent, name)
        except AttributeError as error:
            short = ".".join(p for p in (HOMES[home], fullname.removeprefix(f"{home}.")) if p)
            # Another name than the one that Python looks for: it would forget the hint.
            raise ModuleNotFoundError(str(error), name=f"tvm.{short}") from None
        return ModuleSpec(fullname, _Known(found)) if isinstance(found, ModuleType) else None


class Elsewhere(ModuleType):
    """A module that TVM has below another one; here its file stands where it belongs, and is read when it is used."""

    def __init__(self, name: str, home: str) -> None:
        super().__init__(name)
        self._home = home

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(self._home), name)

    def __dir__(self) -> list[str]:
        return dir(import_module(self._home))


def modules_elsewhere(parent: str, homes: Mapping[str, str]) -> dict[str, Elsewhere]:
    """Modules below another one by their names, as `import` finds them; `homes` says where each one's file stands."""
    found = {name: Elsewhere(f"{parent}.{name}", home) for name, home in homes.items()}
    sys.modules.update({module.__name__: module for module in found.values()})
    return found


def install() -> None:
    """Let `import` ask the finder."""
    if not any(isinstance(f, Finder) for f in sys.meta_path):
        sys.meta_path.append(Finder())


__all__ = ["NO_FOLDER", "Finder", "install", "modules_elsewhere"]
