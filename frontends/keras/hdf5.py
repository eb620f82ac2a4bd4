"""Weights in HDF5 files: datasets by their paths, read within bounds; links to other places are refused."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from io import BytesIO
from math import prod
from typing import Any, cast

import numpy as np

from lamina.dialects.dtypes import numpy_dtype
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError, shown
from lamina.frontends.keras.config import LayerConfig
from lamina.frontends.keras.probe import probe
from lamina.frontends.keras.variables import in_order_of_training, variables

MOST_RANK = 32
_EXPANSION = 64
_FLOOR = 1 << 24
"""A dataset may be so many times larger than the bytes that the file has for it, or have 16 MB."""
_KINDS = "fiub"
_OTHER_NAMES = {"layers": "_layer_checkpoint_dependencies"}
"""Names of places in files of the first release of Keras 3."""


def h5py_module(label: str) -> Any:
    """The package h5py. Raises UsageError where it is not there."""
    try:
        import h5py  # pyright: ignore[reportMissingTypeStubs, reportMissingImports]
    except ImportError:
        hint = "pip install 'lamina[keras]'"
        raise UsageError(
            "weights of Keras are read with the package h5py, which is missing", where=label, hint=hint
        ) from None  # noqa: E501
    return cast("Any", h5py)


@contextmanager
def damaged(label: str) -> Generator[None]:
    """Raises InputError for what h5py raises on a file that is not right."""
    try:
        yield
    except LaminaError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError) as e:
        what = f"the HDF5 file cannot be read: {type(e).__name__}: {e}".replace("\n", " ")
        raise InputError(what[:200], where=label, hint="is the file whole?") from None


class WeightFile:
    """An open HDF5 file of so many bytes. `limit` is what one tensor may have."""

    def __init__(self, file: Any, label: str, size: int, limit: int) -> None:
        """`file` is a path or a file object."""
        self.label = label
        self.size = size
        self.limit = limit
        self._h5py = h5py_module(label)
        probe(file.getvalue() if isinstance(file, BytesIO) else file, size, label)
        with damaged(label):
            self._root: Any = self._h5py.File(file, "r")

    def close(self) -> None:
        """Close the file."""
        self._root.close()

    def description(self) -> str | None:
        """The description of the model that stands beside the weights, None where there is none."""
        return self._text("model_config")

    def version(self) -> str:
        """The version of Keras that wrote the file, empty where it does not say it."""
        return self._text("keras_version") or ""

    def _text(self, name: str) -> str | None:
        with damaged(self.label):
            given = self._root.attrs.get(name)
        if given is None:
            return None
        return given.decode("utf-8", "replace") if isinstance(given, bytes) else str(given)

    # -- weights by path: Keras 3 ----------------------------------------------------------------------

    def by_path(self, model: LayerConfig) -> Mapping[str, np.ndarray[Any, Any]]:
        """The weights of a model by `layers/dense/kernel`, from groups `layers/dense/vars/0`."""
        found: dict[str, np.ndarray[Any, Any]] = {}
        with damaged(self.label):
            for variable, _ in variables(model):
                group = self._group(self._root, f"{variable.folder}/vars" if variable.folder else "vars")
                found[variable.path] = self._dataset(group, str(variable.index), variable.path)
        return found

    def _group(self, at: Any, path: str) -> Any:
        for part in path.split("/"):
            names = (part, "_" + part, _OTHER_NAMES.get(part, part))
            name = next((n for n in names if n in at), None)
            if name is None:
                raise InputError(f"has no weights at {shown(path)}", where=self.label, hint="is the file whole?")
            at = self._member(at, name)
        return at

    def _member(self, group: Any, name: str) -> Any:
        """The member of a group, which must be in the file itself."""
        kind = group.get(name, getclass=True, getlink=True)
        if kind is not self._h5py.HardLink:
            where = f"{self.label}: {shown(name)}"
            raise UnsupportedError(f"links ({kind.__name__}) are not followed", where=where, hint="save the model anew")
        return group[name]

    def _dataset(self, group: Any, name: str, path: str) -> np.ndarray[Any, Any]:
        where = f"{self.label}: {shown(path)}"
        if name not in group:
            raise InputError("the weight is not in the file", where=where, hint="is the file whole?")
        data = self._member(group, name)
        if not isinstance(data, self._h5py.Dataset):
            raise InputError("is no array", where=where)
        if data.external or data.is_virtual:
            raise UnsupportedError("arrays outside the file are not read", where=where, hint="save the model anew")
        dtype, shape = data.dtype, data.shape
        if shape is None or len(shape) > MOST_RANK or dtype.kind not in _KINDS or dtype.names is not None:
            raise InputError(f"is an array of {dtype}", where=where)
        nbytes = prod(shape) * dtype.itemsize
        if nbytes > self.limit:
            hint = "lamina.load(..., max_tensor_bytes=N), or --max-tensor-bytes N, allows more"
            raise InputError(f"takes {nbytes} bytes, the limit is {self.limit}", where=where, hint=hint)
        stored = min(data.id.get_storage_size(), self.size)
        if nbytes > max(_FLOOR, _EXPANSION * stored):
            raise InputError(f"has {nbytes} bytes, the file {stored} for them", where=where, hint="is the file whole?")
        array = np.empty(shape, dtype.newbyteorder("="))
        if array.size:
            data.read_direct(array)
        logical = data.attrs.get("dtype")
        if logical in ("bfloat16", b"bfloat16") and dtype.itemsize == 2:
            return array.view(numpy_dtype("bfloat16"))
        return array

    # -- weights by layer: Keras 2, and HDF5 files of Keras 3 --------------------------------------------

    def by_layer(self, model: LayerConfig) -> Mapping[str, np.ndarray[Any, Any]]:
        """The same from groups of layers, which list the paths of their weights in order."""
        from lamina.frontends.keras.variables import children

        found: dict[str, np.ndarray[Any, Any]] = {}
        with damaged(self.label):
            top = self._member(self._root, "model_weights") if "model_weights" in self._root else self._root
            for place, layer in children(model):
                order = in_order_of_training(layer)
                if not order:
                    continue
                where = f"{self.label}: {shown(layer.name)}"
                if layer.name not in top:
                    raise InputError("the weights of the layer are not in the file", where=where)
                group = self._member(top, layer.name)
                names = self._names(group, "weight_names")
                if len(names) != len(order):
                    what = f"has {len(names)} weights in the file, {len(order)} by its description"
                    raise InputError(what, where=where, hint="is the file whole?")
                for variable, name in zip(order, names, strict=True):
                    folder, _, last = name.rpartition("/")
                    at = group
                    for part in folder.split("/") if folder else ():
                        at = self._member(at, part)
                    path = f"{place}/{variable.path}"
                    found[path] = self._dataset(at, last, path)
        return found

    def _names(self, group: Any, attribute: str) -> list[str]:
        """A list of names, which is cut in parts where it is long."""
        parts: list[Any] = []
        if attribute in group.attrs:
            parts = list(group.attrs[attribute])
        else:
            count = 0
            while f"{attribute}{count}" in group.attrs:
                parts += list(group.attrs[f"{attribute}{count}"])
                count += 1
        return [n.decode("utf-8") if isinstance(n, bytes) else str(n) for n in parts]
