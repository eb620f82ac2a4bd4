"""Scripts as they lie in a file: code in Python's syntax, which is parsed and never run, and objects."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lamina.errors import InputError, LaminaError, UnsupportedError
from lamina.frontends.archive import Archive
from lamina.frontends.builder import LIMIT
from lamina.frontends.torchscript.objects import ScriptObject, read_objects


@dataclass
class Script:
    """The code and the objects of a file."""

    archive: Archive
    limit: int
    root: Any = None
    constants: Sequence[Any] = ()
    modules: dict[str, ast.Module] = field(default_factory=dict[str, ast.Module])
    """The files of code that have been looked at, by `__torch__.torch.nn.functional`."""

    @staticmethod
    def of(source: Any, limit: int = LIMIT) -> Script:
        """Read a file or bytes. Raises LaminaError."""
        archive = Archive(source)
        script = Script(archive, limit)
        script.root = script._objects("data.pkl", "data")
        if "constants.pkl" in archive:
            script.constants = script._objects("constants.pkl", "constants")
        if not isinstance(script.root, ScriptObject):
            raise UnsupportedError(
                "holds no script", where=archive.label, hint="torch.jit.trace(model, inputs).save(FILE) writes one"
            )
        return script

    def _objects(self, name: str, folder: str | None) -> Any:
        """The objects of a pickle, whose storages lie in a folder; without one they have no data."""
        where = f"{self.archive.label}: {name}"

        def storage(key: str) -> Any:
            return self.archive.bytes(f"{folder}/{key}")

        given = None if folder is None else storage
        return guarded(where, lambda: read_objects(bytes(self.archive.bytes(name)), given, where, self.limit))

    def examples(self) -> list[Any]:
        """The inputs with which `forward` was traced, in order, without their numbers; none where it was not traced."""
        if "traced_inputs.pkl" not in self.archive:
            return []
        try:
            found: Any = self._objects("traced_inputs.pkl", None)
            return list(found["forward"])
        except (LaminaError, KeyError, TypeError):  # they are a help, and a model is whole without them
            return []

    def definition(self, name: str) -> ast.ClassDef | ast.FunctionDef | None:
        """The class or function of a qualified name."""
        module, _, own = name.rpartition(".")
        if module not in self.modules:
            path = f"code/{module.replace('.', '/')}.py"
            text = self.archive.text(path) if path in self.archive else ""
            self.modules[module] = guarded(f"{self.archive.label}: {path}", lambda: ast.parse(text))
        found = (n for n in self.modules[module].body if isinstance(n, (ast.ClassDef, ast.FunctionDef)))
        return next((n for n in found if n.name == own), None)

    def method(self, type_: str, name: str) -> ast.FunctionDef | None:
        """A method of a class."""
        found = self.definition(type_)
        if not isinstance(found, ast.ClassDef):
            return None
        return next((n for n in found.body if isinstance(n, ast.FunctionDef) and n.name == name), None)

    def field(self, type_: str, name: str) -> Any:
        """A constant that a class declares: `kernel_size : Final[int] = 3`."""
        found = self.definition(type_)
        for n in found.body if isinstance(found, ast.ClassDef) else ():
            if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name) and n.target.id == name and n.value:
                return ast.literal_eval(n.value)
        raise InputError(f"{type_} has no {name!r}", where=self.archive.label)


def guarded(where: str, action: Callable[[], Any]) -> Any:
    """The value of an action on data that may be anything: what Python raises becomes an InputError."""
    try:
        return action()
    except LaminaError:
        raise
    except (
        SyntaxError, ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError,
        MemoryError, AssertionError, StopIteration, ArithmeticError,
    ) as e:  # fmt: skip
        raise InputError(f"is damaged: {type(e).__name__}: {e}"[:200], where=where, hint="is the file whole?") from None
