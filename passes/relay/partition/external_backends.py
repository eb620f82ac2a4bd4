"""External backends: what makes code of the functions that partitioning gives to a compiler, and what runs it.

A backend is one folder `backends/byoc/<name>/` with `patterns.py`, what it takes, and `codegen.py`, where one
`ExternalBackend` is made; or a package that names such a module in an entry point of the group `lamina.backends`. It
is loaded when a target names it. Most backends are a `JsonBackend` (`external_kernels.py`): a kernel for each op.

Code is text: it stands in the program's own text at every level and is stored with it. Constants stay apart, weights
among them, and are given to `load` as arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from lamina.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Attribute, Operation

    Array = NDArray[Any]
    Runner = Callable[[Sequence[Array], Sequence[Array]], None]

COMPILER = "Compiler"
CODE = "code"
CONSTANTS = "constants"
OUTPUTS = "outputs"
"""On buffers: how many of a declaration's arguments, counted from the last, are results."""


class Refusal(Exception):
    """Raised by a backend for a function that it does not compile, with the reason: Lamina compiles it then."""


class Code(NamedTuple):
    """The code that a backend makes of a function."""

    text: str
    constants: Sequence[Attribute]
    """Constants of the function in the order in which `load` gets them."""


class ExternalBackend(ABC):
    """An external compiler and its runtime. Making one registers it."""

    def __init__(self, name: str) -> None:
        self.name = name
        _BACKENDS[name] = self

    def unavailable(self) -> str:
        """The reason why nothing of it can run on this machine; empty where it can."""
        return ""

    @abstractmethod
    def compile(self, function: FuncOp) -> Code:
        """The code of a function, whose body must stay as it is. Raises Refusal."""

    @abstractmethod
    def load(self, text: str, constants: Sequence[Array], threads: int) -> Runner:
        """Return a runner of the code: called with the inputs and with arrays to write the outputs to, all contiguous.

        It may use `threads` threads, and is never called twice at a time.
        """


_BACKENDS: dict[str, ExternalBackend] = {}
_BYOC = "lamina.backends.byoc"
ENTRY_POINTS = "lamina.backends"
"""The group in which other packages name theirs, and their pattern tables."""


def find_backend(name: str) -> ExternalBackend | None:
    """A backend by name, loaded at need; None where a compiler has no more than a pattern table, or not even that.

    Raises InputError where it does not load.
    """
    if name not in _BACKENDS:
        module = f"{_BYOC}.{name.replace('-', '_')}"
        if find_spec(_BYOC) is not None and _exists(module) and find_spec(f"{module}.codegen") is not None:
            import_module(f"{module}.codegen")
        else:
            from importlib.metadata import entry_points  # slow to import, seldom needed

            for entry in entry_points(group=ENTRY_POINTS, name=name):
                try:
                    entry.load()
                except Exception as e:
                    what = f"the backend {name!r} ({entry.value}) does not load: {type(e).__name__}: {e}"
                    raise InputError(what) from e
    return _BACKENDS.get(name)


def _exists(module: str) -> bool:
    return module.rpartition(".")[2].isidentifier() and find_spec(module) is not None


def is_foreign(name: str) -> bool:
    """Whether Lamina's version does not say what a backend takes: it comes with another package, or cannot run here."""
    if not _exists(f"{_BYOC}.{name.replace('-', '_')}"):
        return True
    backend = find_backend(name)
    return backend is not None and bool(backend.unavailable())


def runnable_backend(name: str) -> ExternalBackend:
    """A backend whose code is to be run. Raises InputError where it is not here, or cannot run."""
    backend = find_backend(name)
    if backend is None:
        hint = f"install the package that brings it, as an entry point of {ENTRY_POINTS}"
        raise InputError(f"the program needs the external backend {name!r}, which is not here", hint=hint)
    why = backend.unavailable()
    if why:
        raise InputError(f"the program needs the external backend {name!r}: {why}")
    return backend


def compiler_of(op: Operation) -> str | None:
    """The external compiler that a function belongs to."""
    from xdsl.dialects.builtin import StringAttr  # who only loads what was compiled needs no IR

    found = op.attributes.get(COMPILER)
    return found.data if isinstance(found, StringAttr) else None


def is_declaration(op: Operation) -> bool:
    """Whether an op declares a function that an external backend has compiled."""
    from xdsl.dialects.builtin import ArrayAttr, StringAttr
    from xdsl.dialects.func import FuncOp

    if not isinstance(op, FuncOp) or not op.is_declaration or compiler_of(op) is None:
        return False
    return isinstance(op.attributes.get(CODE), StringAttr) and isinstance(op.attributes.get(CONSTANTS), ArrayAttr)


def check_on_buffers(declaration: FuncOp) -> None:
    """Raise InputError where the declaration of an external function is not one on buffers."""
    from xdsl.dialects.builtin import IntegerAttr, MemRefType

    type_, count = declaration.function_type, declaration.attributes.get(OUTPUTS)
    is_number = isinstance(count, IntegerAttr) and 0 <= count.value.data <= len(type_.inputs)
    if not is_number or type_.outputs or not all(isinstance(t, MemRefType) for t in type_.inputs):
        what = "takes and gives tensors, or buffers of which the last 'outputs' are results"
        raise InputError(f"@{declaration.sym_name.data}: an external function {what}", op=declaration)
