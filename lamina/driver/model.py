"""Models as users hold them: where one came from, what it takes and gives, and its Relay module."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeGuard, cast

from lamina.errors import UnsupportedError, UsageError
from lamina.ir.suffixes import is_text as is_text
from lamina.ir.suffixes import refuse_saved
from lamina.runtime.ports import Port
from lamina.runtime.session import named_states

if TYPE_CHECKING:
    from onnx import ModelProto
    from xdsl.dialects.builtin import ModuleOp

    from lamina.dialects.relay.params import ParamStore
    from lamina.driver.relay_source import ReadProgram
    from lamina.frontends.aten.fx_graph import ExportedProgram
    from lamina.frontends.imported import ImportedModel

Source: TypeAlias = "str | os.PathLike[str] | bytes | ModelProto | ModuleOp | ImportedModel | ExportedProgram"
Shapes: TypeAlias = "Mapping[str, Sequence[int] | int | str]"


OBJECTS = ("ModelProto", "ModuleOp", "ImportedModel", "ExportedProgram")
"""Types of models in memory, by name: the packages that have them need not be there."""


def _is_module(source: object) -> TypeGuard[ModuleOp]:
    return type(source).__name__ == "ModuleOp"


@dataclass(frozen=True)
class Origin:
    """The origin of a model, so that it can be imported again, and a digest of everything that it consists of."""

    source: Source
    shapes: dict[str, Any]
    digest: str | None
    """None when it cannot be had: such a model is not cached."""
    max_tensor_bytes: int | None = None
    """The most bytes of a tensor of a model, None for the importer's own limit."""
    states: Mapping[str, str] = field(default_factory=dict[str, str])
    """The outputs that go to inputs in the next run, by the names of these."""
    any_size: bool = False
    """Whether extents that the model leaves open, and `shapes` too, may have any size."""

    @staticmethod
    def of(
        source: Source,
        shapes: Shapes | None,
        max_tensor_bytes: int | None = None,
        states: Mapping[str, str] | None = None,
    ) -> Origin:
        if not isinstance(source, (str, os.PathLike, bytes)) and type(source).__name__ not in OBJECTS:
            kinds = "a path, bytes, an onnx ModelProto, a torch ExportedProgram or a module"
            what = f"a model is {kinds}, not {type(source).__name__}"
            raise UsageError(what, hint="export it to ONNX first")
        refuse_saved(source)
        return Origin(source, dict(shapes or {}), _digest(source), max_tensor_bytes, named_states(states or {}))

    def read(self) -> ImportedModel | ReadProgram:
        """Import the model. Raises LaminaError, UsageError where `shapes` has ranges for another format than ONNX."""
        imported = self._read()
        if self.states:
            from lamina.driver.declared_states import declare_states
            from lamina.interpreters.relay_reference import main_function

            declare_states(main_function(imported.module), self.states)
        return imported

    def _read(self) -> ImportedModel | ReadProgram:
        if any(isinstance(given, str) for given in self.shapes.values()) and not self._takes_ranges():
            what = "ranges of sizes are for dimensions of ONNX models and of exported programs of torch"
            raise UsageError(what, hint="give numbers")
        if is_text(self.source):
            from lamina.driver.relay_source import read_program

            return read_program(self.source, self.shapes)
        if _is_module(self.source):
            from lamina.driver.relay_source import copy_of_module

            return copy_of_module(self.source, self.shapes)
        if type(self.source).__name__ == "ImportedModel":
            imported = cast("ImportedModel", self.source)
            return replace(imported, module=imported.module.clone())  # it may be read again
        if type(self.source).__name__ == "ExportedProgram":
            from lamina.frontends.aten.fx_graph import exported_graph, has_open_extents, saved_program
            from lamina.frontends.aten.importer import import_graph

            program = cast("ExportedProgram", self.source)
            if not self.shapes and not has_open_extents(program):
                return import_graph(exported_graph(program))
            from lamina.frontends.pt2.format import read

            return read(saved_program(program), self.shapes or None, self.max_tensor_bytes)
        from lamina.ir.foreign_files import model_format, refuse_foreign

        refuse_foreign(self.source)
        format_ = model_format(self.source)
        read = format_.read_any_size or format_.read if self.any_size else format_.read
        return read(self.source, self.shapes or None, self.max_tensor_bytes)

    def _takes_ranges(self) -> bool:
        if type(self.source).__name__ == "ExportedProgram":
            return True
        if is_text(self.source) or type(self.source).__name__ in ("ModuleOp", "ImportedModel"):
            return False
        from lamina.ir.foreign_files import model_format

        return model_format(self.source).takes_ranges

    def unchanged(self) -> bool:
        """Whether the source still is what the digest says."""
        return self.digest is not None and _digest(self.source) == self.digest


def _digest(source: Source) -> str | None:
    if isinstance(source, bytes):
        return _with_external(source, None)[0]
    if isinstance(source, (str, os.PathLike)):
        try:
            path = Path(source)
            # A pipe or device would be read twice, or for ever.
            if path.is_file() and is_text(source):
                return _with_weights(path)
            folder = _model_folder(path)
            if folder is not None:
                return _of_folder(folder)
            if not path.is_file():
                return None
            return _of_file(path) if (second := _second(path)) is None else _of_two(path, second)
        except (OSError, ValueError):
            return None  # the importer says what is wrong with it
    if type(source).__name__ != "ModelProto":
        return None
    try:
        return _with_external(cast("Any", source).SerializeToString(deterministic=True), None)[0]
    except ValueError:  # larger than a protobuf message may be
        return None


def _model_folder(path: Path) -> Path | None:
    """The folder that is the model: the path itself, or that of the file which stands for it."""
    if path.suffix == ".onnx":  # what starts fast
        return None
    from lamina.frontends.formats import format_of_folder

    folder = path if path.is_dir() else path.parent
    found = format_of_folder(folder)
    return folder if found is not None and (folder is path or path.name in found.folder_files) else None


def _of_folder(folder: Path) -> str | None:
    """The digest of all files of a model; None of more than a model has."""
    from lamina.runtime.program_file import digest_of

    found = list(islice(folder.rglob("*"), MOST_FILES + 1))
    if len(found) > MOST_FILES:
        return None
    parts: list[bytes] = []
    for path in sorted(p for p in found if p.is_file()):
        parts += [os.fsencode(path.relative_to(folder)), digest_of(path.read_bytes())]
    return digest_of(b"folder" + b"\0".join(parts)).hex()


MOST_FILES = 64
"""Files of a folder that is one model."""


def _with_weights(path: Path) -> str:
    """The digest of a Relay text and of the file that it names for its weights."""
    from lamina.driver.relay_source import weights_file
    from lamina.runtime.program_file import digest_of

    data = path.read_bytes()
    weights = weights_file(data, path.parent)
    digests = [digest_of(data)]
    if weights is not None and weights.is_file():
        digests.append(digest_of(weights.read_bytes()))
    return digest_of(b"text" + b"".join(digests)).hex()


def _second(path: Path) -> Path | None:
    """The file with the weights of a model of two files."""
    from lamina.frontends.formats import ModelFormat, format_by_suffix

    form = format_by_suffix(path)
    return form.beside(path) if isinstance(form, ModelFormat) and form.beside is not None else None


def _of_two(path: Path, second: Path) -> str:
    """The digest of the two files of a model, each read only where it is not known from before."""
    from lamina.runtime.program_file import digest_of
    from lamina.store.checked_files import KnownDigests
    from lamina.store.program_cache import enabled

    known = KnownDigests() if enabled(True) else None
    digests = [b"two"]
    for file in (path, second):
        status = file.stat()
        found = known.get(status) if known is not None else None
        if found is None:
            found = digest_of(file.read_bytes()).hex().encode()
            if known is not None:
                known.put(status, found)
        digests.append(found)
    return digest_of(b" ".join(digests)).hex()


def _of_file(path: Path) -> str | None:
    """The digest of an ONNX file, read only where it is not known from before."""
    from lamina.store.checked_files import KnownDigests
    from lamina.store.program_cache import enabled

    known = KnownDigests() if enabled(True) else None
    status = path.stat()
    found = known.get(status) if known is not None else None
    if found is not None:
        return found.decode()
    if known is not None and status.st_size >= LARGE_FILE:
        # Nobody has compiled this file before, so that is what comes next.
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(_read, path)
            _load_compiler()
            digest, alone = waiting.result()
    else:
        digest, alone = _read(path)
    # The files of external weights may change on their own.
    if known is not None and digest is not None and alone:
        known.put(status, digest.encode())
    return digest


LARGE_FILE = 1 << 20
"""Bytes of a file that takes a while to read."""


def _read(path: Path) -> tuple[str | None, bool]:
    """The digest of a file, and whether all of the model is in it."""
    return _with_external(path.read_bytes(), path.resolve().parent)


def _names_files(data: bytes) -> bool:
    """Whether the model in these bytes may have weights in other files, as those of ONNX may."""
    from lamina.frontends.formats import format_by_bytes
    from lamina.frontends.wire_format import split

    form = format_by_bytes(data[:64])
    return (form is None or form.name == "onnx") and b"location" in split(data)[0]


def _load_compiler() -> None:
    """Import what compiles an ONNX model."""
    from lamina.dialects.lazy_formats import read_formats_late

    read_formats_late()
    for name in ("lamina.driver.compilation", "lamina.driver.lowering_processes", "lamina.frontends.onnx.importer"):
        import_module(name)


def _with_external(data: bytes, folder: Path | None) -> tuple[str | None, bool]:
    """The digest of a model and of the files that hold its weights, and whether all of it is in the bytes given.

    A tensor elsewhere names its file under the key `location`.
    """
    from lamina.runtime.program_file import digest_of

    digests = [digest_of(data)]
    alone = not _names_files(data)
    if not alone:
        import onnx
        from google.protobuf.message import DecodeError

        model = onnx.ModelProto()
        try:
            model.ParseFromString(data)
            names = {e.value for t in _tensors(model) for e in t.external_data if e.key == "location"}
            for name in sorted(names):
                path = folder and (folder / name).resolve()
                if path is None or not path.is_relative_to(folder or "") or not path.is_file():
                    return None, alone
                digests.append(digest_of(path.read_bytes()))
        except (OSError, ValueError, DecodeError):
            return None, alone
    return digest_of(b"".join(digests)).hex() if len(digests) > 1 else digests[0].hex(), alone


def _tensors(message: Any) -> list[Any]:
    """Every TensorProto inside a message, however deep."""
    found: list[Any] = []
    pending = [message]
    while pending:
        m = pending.pop()
        if type(m).__name__ == "TensorProto":
            found.append(m)
            continue
        for descriptor, value in m.ListFields():
            if descriptor.message_type is not None:
                pending.extend([value] if not hasattr(value, "__len__") else value)
    return found


def port_of(port: Any) -> Port:
    """A port of an importer as one of ours."""
    if isinstance(port, Port):
        return port
    if port.type is not None:
        from lamina.driver.relay_source import port_of_type

        return port_of_type(port.name, port.type)
    return Port(port.name, port.shape, port.dtype)


@dataclass
class Model:
    """An imported model: its Relay module, its weights and its ports. Its text form is a card."""

    origin: Origin
    label: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    opset: dict[str, int]
    module: ModuleOp = field(repr=False)
    params: ParamStore = field(repr=False)

    @staticmethod
    def of(origin: Origin) -> Model:
        imported = origin.read()
        if getattr(imported, "foreign", False):
            origin = replace(origin, digest=None)
        inputs, outputs = (tuple(map(port_of, side)) for side in (imported.inputs, imported.outputs))
        return Model(origin, imported.label, inputs, outputs, imported.opset, imported.module, imported.store)

    @property
    def initial_state(self) -> dict[str, Any]:
        """The values of the inputs that hold state before the first run, by name."""
        from lamina.dialects.relay.program_state import state_of
        from lamina.interpreters.relay_reference import main_function
        from lamina.runtime.session import KeptValue, initial_values

        return initial_values([KeptValue(*v) for v in state_of(main_function(self.module))], self.inputs)

    def ops(self) -> dict[str, int]:
        """The number of ops of each name in the module, the commonest first."""
        names = (op.name.removeprefix("relay.") for op in self.module.walk() if op.name.startswith("relay."))
        counts = Counter(n for n in names if n not in ("constant", "return"))
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def parameters(self) -> tuple[int, int]:
        """Elements and bytes of all weights."""
        from math import prod

        from lamina.dialects.dtypes import dtype_name, itemsize

        elements = size = 0
        for op in self.module.walk():
            if op.name == "relay.constant":
                type_: Any = op.results[0].type
                count = prod(type_.get_shape())
                elements += count
                size += count * itemsize(dtype_name(type_.element_type))
        return elements, size

    def text(self) -> str:
        """The module as text. Weights are named, not printed."""
        from lamina.ir.printing import module_text

        return module_text(self.module)

    def changed(self, module: ModuleOp) -> Model:
        """The model with another module in its place, and the ports that this one has."""
        from lamina.driver.relay_source import ports_of

        inputs, outputs = (
            tuple(next((k for k in known if (k.name, k.shape, k.dtype) == (p.name, p.shape, p.dtype)), p) for p in now)
            for known, now in zip((self.inputs, self.outputs), ports_of(module), strict=True)
        )
        # What it was read from is no longer what it is: no program of it may be found under that name.
        return replace(self, module=module, inputs=inputs, outputs=outputs, origin=replace(self.origin, digest=None))

    def __copy__(self) -> Model:
        return replace(self)

    def __deepcopy__(self, _: object) -> Model:
        """Its own module; weights are never changed, and shared."""
        return replace(self, module=self.module.clone())

    def __reduce__(self) -> NoReturn:
        hint = "pickle the file that it came from, or what lamina.compile makes of it"
        raise UnsupportedError("a lamina.Model cannot be pickled", where=self.label, hint=hint)

    def __repr__(self) -> str:
        opsets = ", ".join(f"{domain or 'onnx'} {version}" for domain, version in sorted(self.opset.items()))
        elements, size = self.parameters()
        ops = self.ops()
        lines = [f"lamina.Model {self.label} ({opsets or 'relay'})"]
        lines += [f"  {'input':<8}{p.name}: {p.describe()}" for p in self.inputs]
        lines += [f"  {'output':<8}{p.name}: {p.describe()}" for p in self.outputs]
        lines.append(f"  params  {elements:,} ({size / 1e6:.1f} MB)")
        shown = [f"{count} {name}" for name, count in ops.items()]
        more = f", and {len(shown) - 12} more kinds" if len(shown) > 12 else ""
        lines.append(f"  ops     {sum(ops.values())}: {', '.join(shown[:12])}{more}")
        return "\n".join(lines)
