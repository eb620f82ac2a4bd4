"""The compile context: which dialects exist, and the weights and source file of the module at hand.

All dialects are registered by name and loaded at first use; those of other installed packages (`xdsl.universe`) are
looked for where a name has none of the known ones. `llvm` is ours (xDSL's op classes completed). A dialect
module may go further and offer `find_op(name) -> type | None`: then an op file is imported
when its first op is read, and the dialect as a whole only where all of it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute
from xdsl.utils.exceptions import UnregisteredConstructException

from lamina.dialects.listener import NOBODY, Listener
from lamina.errors import InputError
from lamina.ir.own_dialects import OUR_DIALECTS

if TYPE_CHECKING:
    from lamina.dialects.relay.params import ParamStore
    from lamina.dialects.schedule.nest.tensor_intrinsic import TensorIntrinsic
    from lamina.dialects.te.tensor_intrin import TensorIntrinOp

# Dialects whose module has the hooks for reading ops one file at a time.
_LAZY_DIALECTS = ("relay",)

# Attributes that such a dialect shares between its op files: reading one must not load them all.
_LAZY_ATTRIBUTES = {
    "relay.param": ("lamina.dialects.relay.params", "ParamAttr"),
    "relay.adt": ("lamina.dialects.relay.value_types", "AdtType"),
    "relay.var": ("lamina.dialects.relay.value_types", "TypeVar"),
    "relay.ref": ("lamina.dialects.relay.value_types", "RefType"),
    "relay.extents": ("lamina.dialects.attributes", "ExtentsAttr"),
    "relay.dims": ("lamina.dialects.relay.value_types", "DimsAttr"),
    "relay.symbol": ("lamina.dialects.relay.symbolic", "SymbolAttr"),
}


def dialect_factory(name: str) -> Callable[[], Dialect]:
    """Return a function that imports and returns one of our dialects."""
    module, attribute = OUR_DIALECTS[name]

    def load() -> Dialect:
        try:
            return getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as e:
            raise UnregisteredConstructException(f"dialect '{name}' cannot be loaded: {e}") from e

    return load


_given: ContextVar[Mapping[str, Callable[[], Dialect]]] = ContextVar("dialects", default=MappingProxyType({}))


@contextmanager
def with_dialects(dialects: Mapping[str, Callable[[], Dialect]]) -> Generator[None]:
    """While it lasts every new context knows these dialects as well."""
    token = _given.set(dialects)
    try:
        yield
    finally:
        _given.reset(token)


@dataclass
class LaminaContext(Context):
    """An xDSL context with Lamina's dialects, its parameter store and the path of the file being processed."""

    source_path: Path | None = None
    """The file that the module was read from: names in `lamina.params` are relative to it."""
    listener: Listener = NOBODY
    """Hears what passes have to say, and takes their kernels."""
    _params: Any = None
    _finders: dict[str, Any] = field(default_factory=dict[str, Any])
    _looked_around: bool = False

    def __post_init__(self) -> None:
        if self._registered_dialects:
            return
        for name, factory in get_all_dialects().items():
            if name not in OUR_DIALECTS:
                self.register_dialect(name, factory)
        for name in OUR_DIALECTS:
            self.register_dialect(name, dialect_factory(name))
        for name, factory in _given.get().items():
            self.register_dialect(name, factory)

    @property
    def params(self) -> ParamStore:
        """The weights of the module, by key."""
        if self._params is None:
            from lamina.dialects.relay.params import ParamStore

            self._params = ParamStore()
        return self._params

    @params.setter
    def params(self, store: ParamStore) -> None:
        self._params = store

    def open_params(self, module: ModuleOp) -> None:
        """Open the file that the module's `lamina.params` names, if it is there; only a pass that needs it fails.

        Raises InputError where the name leads out of the folder of the module's text.
        """
        named = module.attributes.get("lamina.params")
        if not isinstance(named, StringAttr):
            return
        if Path(named.data).is_absolute() or ".." in Path(named.data).parts:
            raise InputError(f"lamina.params names {named.data!r}, outside the folder of the text", op=module)
        path = (self.source_path.parent if self.source_path else Path()) / named.data
        if path.is_file():
            self.params.open(path)

    def warn(self, message: str, op: Operation | None = None) -> None:
        """Tell the user something that does not stop the compilation."""
        self.listener.message("warning", message, op)

    def remark(self, message: str, op: Operation | None = None) -> None:
        """Tell the user what was (not) done; shown by opt-tool only."""
        self.listener.message("remark", message, op)

    def clone(self) -> LaminaContext:
        return LaminaContext(
            self.allow_unregistered,
            self._loaded_dialects.copy(),
            self._loaded_ops.copy(),
            self._loaded_attrs.copy(),
            self._loaded_types.copy(),
            self._registered_dialects.copy(),
            self.source_path,
            self.listener,
            self._params,
            self._finders,
            self._looked_around,
        )

    # -- tensor intrinsics (passes/te_to_tir/intrinsics.py) ------------------------------------------------------

    def find_intrinsic(self, name: str) -> TensorIntrinOp | None:
        """The declaration that a backend's folder `intrinsics` has of a name such as `cpu.bf16_dot_16x2`."""
        from lamina.ir.intrinsics import find_intrinsic

        return find_intrinsic(name, self)

    def intrinsic_names(self) -> list[str]:
        """The names that `find_intrinsic` finds, with letters in the place of numbers that may be chosen."""
        from lamina.ir.intrinsics import intrinsic_files

        return list(intrinsic_files())

    def check_intrinsic(self, op: TensorIntrinOp, intrinsic: TensorIntrinsic) -> None:
        """Raises InputError where an implementation computes something else than the description."""
        from lamina.interpreters.check_intrinsic import check_intrinsic

        check_intrinsic(op, intrinsic)

    # -- finding one op without loading its whole dialect ----------------------------------------------------

    def _finder(self, name: str) -> Callable[[str], Any] | None:
        dialect = name.partition(".")[0]
        if dialect not in _LAZY_DIALECTS or dialect in self._loaded_dialects:
            return None
        module = self._finders.get(dialect)
        if module is None:
            try:
                module = import_module(OUR_DIALECTS[dialect][0])
            except ImportError:
                return None
            self._finders[dialect] = module
        return vars(module).get("find_op")

    def _look_around(self, name: str) -> None:
        """Register the dialects of installed packages, once, where the dialect of a name is unknown."""
        dialect, dot, _ = name.partition(".")
        if not dot or dialect in self._registered_dialects or self._looked_around:
            return
        self._looked_around = True
        from lamina.ir.registry import installed_dialects

        for found, factory in installed_dialects().items():
            if found not in self._registered_dialects:
                self.register_dialect(found, factory)

    def _get_known_op(self, name: str) -> type[Operation] | None:
        known = self._loaded_ops.get(name)
        if known is not None:
            return known
        finder = self._finder(name)
        if finder is None:
            self._look_around(name)
            return super()._get_known_op(name)
        found = finder(name)
        if found is not None:
            self._loaded_ops[name] = found
        return found

    def _find_attribute(self, name: str) -> None:
        if name in self._loaded_attrs or name in self._loaded_types:
            return
        self._look_around(name)
        home = _LAZY_ATTRIBUTES.get(name)
        if home is not None and name.partition(".")[0] not in self._loaded_dialects:
            self.load_attr_or_type(getattr(import_module(home[0]), home[1]))

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        self._find_attribute(name)
        return super().get_optional_attr(name)

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        self._find_attribute(name)
        return super().get_optional_type(name)

    # A class that was found on its own comes again with its whole dialect.
    def load_op(self, op: type[Operation]) -> None:
        if self._loaded_ops.get(op.name) is not op:
            super().load_op(op)

    def load_attr_or_type(self, attr: type[Attribute]) -> None:
        table = self._loaded_types if issubclass(attr, TypeAttribute) else self._loaded_attrs
        if table.get(attr.name) is not attr:
            super().load_attr_or_type(attr)

    def op_names(self, dialect: str) -> list[str]:
        """The names of all ops of a dialect; empty where the dialect is unknown or does not load."""
        try:
            found = self.get_optional_dialect(dialect)
        except Exception:
            return []
        return sorted(op.name for op in found.operations) if found is not None else []
