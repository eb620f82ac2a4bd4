"""Relay programs as text, for whatever takes a model: the same as an imported one.

lamina.compile("net.mlir")                        @main of the text; its weights lie beside it
lamina.compile("net.mlir", shapes={"n": 8})       with the extent `?` that is called n fixed
lamina.compile("net.relay")                       a text that a frontend reads, TVM's here
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute
from xdsl.rewriter import Rewriter

from lamina.dialects.dtypes import dtype_name
from lamina.dialects.entry_names import argument_names, level_of, named_attrs, result_names
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.value_types import UNNAMED, dynamic_tensor, extents, is_dynamic
from lamina.errors import InputError, LaminaError, UsageError, did_you_mean, printable
from lamina.frontends.formats import Format, TextFormat, format_by_marks, format_by_suffix
from lamina.runtime.ports import Port

if TYPE_CHECKING:
    import os

    from lamina.dialects.relay.params import ParamStore
    from lamina.frontends.imported import ImportedModel
    from lamina.ir.context import LaminaContext


@dataclass(frozen=True)
class ValuePort(Port):
    """A port of a value that is no array, or one of which extents are unknown: what the machine takes and gives."""

    type: Attribute | None = None

    def describe(self, sizes: Sequence[str] = ()) -> str:
        """`float32[n, 16]`, `int64[?]`, `!relay.adt<@List, tensor<f32>>`."""
        if not self.dtype:
            return str(self.type)
        dims = ("?" if d == UNNAMED else str(d) for d in extents(cast("TensorType[Any]", self.type)))
        return f"{self.dtype}[{', '.join(dims)}]"


@dataclass(frozen=True)
class ReadProgram:
    """A relay module whose @main is called, as an importer gives it. Its ports are named as the text names values."""

    module: ModuleOp
    store: ParamStore
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    label: str
    foreign: bool = False
    """Whether ops of other packages or of the user stand in it: what they mean is not in the text."""

    @property
    def opset(self) -> dict[str, int]:
        """No operators of a foreign version are in it."""
        return {}


def weights_file(data: bytes, folder: Path) -> Path | None:
    """The file that `lamina.params` of a text names."""
    named = re.search(rb'lamina\.params\s*=\s*"([^"\\]+)"', data)
    return folder / named[1].decode("utf-8", "replace") if named else None


BYTECODE = b"ML\xefR"
"""The first bytes of MLIR's own format of modules, which is no text."""


@dataclass(frozen=True)
class ParsedText:
    """A text as a verified module, in the context that it was read in."""

    module: ModuleOp
    ctx: LaminaContext
    label: str
    form: Format | None
    """The format of a frontend, None for our own levels."""


def parsed_text(path: str | os.PathLike[str]) -> ParsedText:
    """Read and verify a text. Raises LaminaError with the place in the text."""
    from lamina.ir.parsing import decode

    label = printable(str(path))
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read: {getattr(e, 'strerror', None) or e}", where=label) from None
    if data.startswith(BYTECODE):
        from lamina.ir.foreign_files import refuse_foreign

        with _placed(label):
            refuse_foreign(path)
            refuse_foreign(data)
    return _parsed(decode(data, label), label, Path(path))


def _parsed(text: str, label: str, path: Path | None) -> ParsedText:
    from lamina.ir.context import LaminaContext
    from lamina.ir.parsing import parse_text
    from lamina.ir.verification import verify_module

    ctx = LaminaContext()
    ctx.source_path = path
    form = format_by_suffix(path) if path is not None else None
    with _placed(label):
        if isinstance(form, TextFormat) and form.parse is not None:
            module, ctx.params = form.parse(text, label)
        else:
            module, form = parse_text(ctx, text, label), format_by_marks(text) or form
        verify_module(module)
        ctx.open_params(module)
    return ParsedText(module, ctx, label, form)


def text_program(text: str, label: str) -> ImportedModel:
    """The program of a text in memory, as an importer gives it. Raises LaminaError."""
    from lamina.frontends.imported import ImportedModel

    read = _relay_of(_parsed(text, label, None), None)
    return ImportedModel(read.module, read.store, read.inputs, read.outputs, {}, label)  # pyright: ignore[reportArgumentType]


@contextmanager
def _placed(label: str) -> Generator[None]:
    """While it lasts, errors without a place get that of the op that they are about, else the text's name."""
    from lamina.ir.diagnostics import location_text

    try:
        yield
    except LaminaError as e:
        e.where = e.where or (location_text(e.op) if e.op is not None else "") or label
        raise


def read_program(path: str | os.PathLike[str], shapes: Mapping[str, Any] | None = None) -> ReadProgram:
    """Read a text and make Relay of it. `shapes` fixes unknown extents: of an input by its name, or a named one.

    Raises LaminaError with the place in the text.
    """
    return _relay_of(parsed_text(path), shapes)


def _relay_of(read: ParsedText, shapes: Mapping[str, Any] | None) -> ReadProgram:
    from lamina.ir.pipeline import parse_pipeline, run_pipeline
    from lamina.ir.verification import verify_module

    module = read.module
    if isinstance(read.form, TextFormat) and read.form.pipeline:
        with _placed(read.label):
            run_pipeline(module, read.ctx, parse_pipeline(read.form.pipeline))
            verify_module(module)
    foreign = any(not type(op).__module__.startswith(("lamina.", "xdsl.")) for op in module.walk())
    return replace(of_module(module, read.ctx.params, Path(read.label).name, shapes), foreign=foreign)


def copy_of_module(module: ModuleOp, shapes: Mapping[str, Any] | None = None) -> ReadProgram:
    """The program of a module, which stays as it is. Its constants stand in it."""
    from lamina.dialects.relay.params import ParamStore
    from lamina.ir.verification import verify_module

    verify_module(module)
    return of_module(module.clone(), ParamStore(), "module", shapes)


def of_module(module: ModuleOp, store: ParamStore, label: str, shapes: Mapping[str, Any] | None = None) -> ReadProgram:
    """The program of a verified module, which is changed in place: arguments and results get names and shapes."""

    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    main = next((f for f in functions if f.sym_name.data == "main"), None)
    level = level_of(module)
    if level != "relay":
        hint = "`opt-tool --run=main` runs it, `opt-tool -p` lowers it"
        raise InputError(f"the text is of the {level} level; models are of the relay level", where=label, hint=hint)
    if main is None or len(main.body.blocks) != 1:
        has = f"there is @{', @'.join(f.sym_name.data for f in functions)}" if main is None and functions else ""
        raise InputError("the module has no @main with a body", where=label, hint=has)
    names, results = names_of(main)
    types = _fix(main, names, shapes, label) if shapes else list(main.function_type.inputs)
    main.properties["arg_attrs"] = named_attrs(main.properties.get("arg_attrs"), names)
    main.properties["res_attrs"] = named_attrs(main.properties.get("res_attrs"), results)
    inputs = tuple(map(port_of_type, names, types))
    return ReadProgram(module, store, inputs, tuple(map(port_of_type, results, main.function_type.outputs)), label)


def ports_of(module: ModuleOp) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """The ports of `@main`: its inputs and its outputs."""
    from lamina.interpreters.relay_reference import main_function

    main = main_function(module)
    names, results = names_of(main)
    type_ = main.function_type
    return tuple(map(port_of_type, names, type_.inputs)), tuple(map(port_of_type, results, type_.outputs))


def names_of(main: FuncOp) -> tuple[list[str], list[str]]:
    """The names of the arguments and of the results of a function."""

    last = main.body.block.last_op
    returned = [] if last is None else list(last.operands)
    return argument_names(main, main.body.block.args), result_names(main, len(returned), returned)


def port_of_type(name: str, type_: Attribute) -> Port:
    """The port of a value of a type."""
    if not isinstance(type_, TensorType):
        return ValuePort(name, (), "", type=type_)
    tensor = cast("TensorType[Any]", type_)
    shape, dtype = tensor.get_shape(), dtype_name(tensor.element_type)
    return ValuePort(name, shape, dtype, type=tensor) if is_dynamic(tensor) else Port(name, shape, dtype)


# -- unknown extents that are given --------------------------------------------------------------------------------


def _fix(main: FuncOp, names: Sequence[str], shapes: Mapping[str, Any], label: str) -> list[Attribute]:
    """The types of the arguments with the extents that `shapes` says. Raises UsageError where they do not fit.

    A function of tensor ops alone becomes one of such types. Others stay as they are: the machine looks at what it is
    given in any case.
    """
    types = dict(zip(names, main.function_type.inputs, strict=True))
    tensors = {n: cast("TensorType[Any]", t) for n, t in types.items() if isinstance(t, TensorType)}
    sizes: dict[str, int] = {}
    dims = {d for t in tensors.values() for d in extents(t) if isinstance(d, str) and d != UNNAMED}
    for name, given in shapes.items():
        where = f"{label}: {name!r}"
        if isinstance(given, int):
            if name not in dims:
                known = [*names, *sorted(dims)]
                raise UsageError("there is no such extent", where=where, hint=did_you_mean(name, known))
            _agree(sizes, name, given, where)
            continue
        if name not in types:
            hint = did_you_mean(name, list(names)) or f"the inputs are {', '.join(names)}"
            raise UsageError("a shape is given, but there is no such input", where=where, hint=hint)
        declared = extents(tensors[name]) if name in tensors else ()
        if name not in tensors or len(declared) != len(given):
            raise UsageError(f"the shape {list(given)} does not fit {types[name]}", where=where)
        for dim, extent in zip(declared, given, strict=True):
            if isinstance(dim, int) and dim != extent:
                raise UsageError(f"the shape {list(given)} does not fit {types[name]}", where=where)
            if isinstance(dim, str) and dim != UNNAMED:
                _agree(sizes, dim, int(extent), where)
    fixed: dict[str, Attribute] = dict(types)
    for name, tensor in tensors.items():
        shape = shapes.get(name)
        dims_now = extents(tensor) if shape is None or isinstance(shape, int) else [int(e) for e in shape]
        fixed[name] = _with_sizes(dynamic_tensor(dims_now, _dtype(tensor)), sizes)
    if all(isinstance(op, (RelayOp, ConstantOp, ReturnOp)) for op in main.body.block.ops):
        _specialise(main, list(fixed.values()), sizes)
    return list(fixed.values())


def _specialise(main: FuncOp, inputs: Sequence[Attribute], sizes: Mapping[str, int]) -> None:
    """Write what is known of the extents into a function of tensor ops; relay-dynamic-to-static finds the others."""
    block = main.body.block
    for argument, type_ in zip(tuple(block.args), inputs, strict=True):
        if argument.type != type_:
            Rewriter.replace_value_with_new_type(argument, type_)
    for op in block.ops:
        for result in tuple(op.results):
            known = _with_sizes(result.type, sizes)
            if known != result.type:
                Rewriter.replace_value_with_new_type(result, known)
    assert block.last_op is not None
    outputs = [v.type for v in block.last_op.operands]
    main.properties["function_type"] = FunctionType.from_lists(list(inputs), outputs)


def _with_sizes(type_: Attribute, sizes: Mapping[str, int]) -> Attribute:
    if not is_dynamic(type_):
        return type_
    tensor = cast("TensorType[Any]", type_)
    return dynamic_tensor([sizes.get(d, d) if isinstance(d, str) else d for d in extents(tensor)], _dtype(tensor))


def _dtype(type_: TensorType[Any]) -> str:
    return dtype_name(type_.element_type)


def _agree(sizes: dict[str, int], dim: str, extent: int, where: str) -> None:
    if extent < 0:
        raise UsageError(f"{extent} is no extent", where=where)
    if sizes.setdefault(dim, extent) != extent:
        raise UsageError(f"{dim} = {extent} is given, and {dim} = {sizes[dim]} elsewhere", where=where)
