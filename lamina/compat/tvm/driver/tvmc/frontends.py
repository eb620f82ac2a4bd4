"""`tvmc.load`: model files as modules and weights."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from lamina.compat.tvm.driver.tvmc.model import TVMCModel
from lamina.compat.tvm.ir_module import IRModule
from lamina.compat.tvm.relay import frontend
from lamina.driver import api
from lamina.errors import InputError, OpenExtentError, UnsupportedError, UsageError, did_you_mean
from lamina.frontends.formats import ModelFormat, TextFormat, format_called, formats
from lamina.ir.foreign_files import model_format as format_of

_TVMS = {"pb": "tensorflow", "pytorch": "torchscript", "relay": "relay-text"}
"""tvmc's names of formats, where they are not ours."""
_OTHERS = {"paddle": "paddle2onnx --model_dir FOLDER --save_file model.onnx"}


def get_frontend_names() -> list[str]:
    """The names of formats for `--model-format`: tvmc's, and those that there are here beside them."""
    known = {f.name for f in formats() if isinstance(f, ModelFormat)}
    return sorted({*known.difference(_TVMS.values()), *_TVMS, *_OTHERS})


def load_model(
    path: str | os.PathLike[str],
    model_format: str | None = None,
    shape_dict: Mapping[str, Sequence[int]] | None = None,
    **kwargs: Any,
) -> TVMCModel:
    """Import a model; its format follows from the file where it is not given. The weights are constants of its module.

    `shape_dict` gives shapes of inputs by name; for a script of PyTorch's it names the inputs, in order. Raises
    LaminaError.
    """
    if kwargs:
        raise UsageError(f"load takes no {next(iter(kwargs))!r}", hint="relay.frontend.from_onnx and its kin do")
    if not os.path.exists(path):
        raise InputError("there is no such file", where=str(path))
    shapes = {name: list(shape) for name, shape in (shape_dict or {}).items()}
    if model_format is None:
        if shapes and format_of(path).name == "torchscript":
            return _of_pytorch(path, shapes)
        try:
            model = api.load(path, shapes or None)
        except OpenExtentError as e:
            e.hint = "give its shape: --input-shapes 'NAME:[1,3,224,224]', in Python shape_dict"
            raise
        return TVMCModel(IRModule.of_ir(model.module, model.params))
    if model_format in _OTHERS:
        what = f"models of {model_format} are not read"
        raise UnsupportedError(what, where=str(path), hint=_OTHERS[model_format])
    if model_format not in get_frontend_names():
        names = get_frontend_names()
        hint = did_you_mean(model_format, names) or f"there are {', '.join(names)}"
        raise UsageError(f"no model format {model_format!r}", hint=hint)
    form = format_called(_TVMS.get(model_format, model_format))
    if isinstance(form, TextFormat):
        return _of_text(path)
    if model_format == "pytorch" and shapes:
        return _of_pytorch(path, shapes)
    assert isinstance(form, ModelFormat)
    imported = form.read(path, shapes or None)
    return TVMCModel(IRModule.of_ir(imported.module, imported.store))


def _of_pytorch(path: str | os.PathLike[str], shapes: Mapping[str, Sequence[int]]) -> TVMCModel:
    return TVMCModel(*frontend.from_pytorch(path, [(name, tuple(shape)) for name, shape in shapes.items()]))


def _of_text(path: str | os.PathLike[str]) -> TVMCModel:
    from lamina.compat.tvm.parser import parse

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read: {getattr(e, 'strerror', None) or 'is no text'}", where=str(path)) from None
    return TVMCModel(parse(text, str(path)), {})
