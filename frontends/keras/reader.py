"""The network of a file of Keras: its description, with the weights that the description asks for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import numpy as np

from lamina.errors import InputError, LaminaError, UnsupportedError, printable, shown
from lamina.frontends.archive import Archive
from lamina.frontends.keras.config import LayerConfig, layer_of, of_version, parsed
from lamina.frontends.keras.graph import network_of
from lamina.frontends.keras.hdf5 import WeightFile
from lamina.frontends.keras.signature import MAGIC
from lamina.frontends.network import Network
from lamina.frontends.tensor_builder import UNFIT

_EXPANSION = 64
_FLOOR = 1 << 26
"""The weights may be so many times larger than the archive, or have 64 MB."""
WEIGHTS = "model.weights.h5"
SAVE = "save the whole model: model.save('model.keras')"

Weights = Mapping[str, np.ndarray[Any, Any]]


def read_network(source: Any, limit: int) -> Network:
    """The network of a path or of bytes, with its weights. Raises LaminaError."""
    if _is_hdf5(source):
        return _of_hdf5(source, limit, True)
    archive = Archive(source, in_folder=False)
    return _network(archive.label, _description(archive), lambda top: _weights(archive, top, limit))


def described_network(source: Any) -> Network:
    """The network without its weights, of which an archive tells the description without h5py. Raises LaminaError."""
    if _is_hdf5(source):
        return _of_hdf5(source, 0, False)
    archive = Archive(source, in_folder=False)
    return _network(archive.label, _description(archive), None)


def _network(label: str, description: Any, weights: Callable[[LayerConfig], Weights] | None) -> Network:
    try:
        top = layer_of(description)
        if not top.is_model:
            name = shown(top.class_name.removeprefix("ops."))
            raise UnsupportedError(
                f"is a model of the class {name} of its own, whose code is not in the file",
                hint="build it of layers: keras.Sequential or keras.Model(inputs, outputs)",
            )
        network, paths = network_of(label, top)
        if weights is None:
            return network
        found = weights(top)
        return Network(
            network.label, network.inputs, network.nodes, network.outputs, network.results,
            {name: found[path] for name, path in paths.items()},
        )  # fmt: skip
    except UnsupportedError as e:
        raise UnsupportedError(e.what, where=e.where or label, hint=e.hint) from None
    except LaminaError:
        raise
    except (*UNFIT, RecursionError) as e:
        what = f"is no model of Keras: {type(e).__name__}: {e}".replace("\n", " ")
        raise InputError(what[:200], where=label, hint="is the file whole?") from None


# -- archives ----------------------------------------------------------------------------------------


def _description(archive: Archive) -> Any:
    version = ""
    if "metadata.json" in archive:
        metadata = parsed(archive.text("metadata.json"), archive.label)
        version = str(cast("dict[str, Any]", metadata).get("keras_version")) if isinstance(metadata, dict) else ""
    return of_version(parsed(archive.text("config.json"), archive.label), version)


def _weights(archive: Archive, top: LayerConfig, limit: int) -> Weights:
    if WEIGHTS not in archive and any(n.startswith("model.weights") for n in archive.names()):
        what = "has its weights in several files or in another format than HDF5"
        raise UnsupportedError(what, where=archive.label, hint="model.save('model.keras') writes one file")
    data = archive.content(WEIGHTS, max(_FLOOR, _EXPANSION * archive.size))
    file = WeightFile(BytesIO(data), f"{archive.label}: {WEIGHTS}", len(data), limit)
    try:
        return file.by_path(top)
    finally:
        file.close()


# -- HDF5 --------------------------------------------------------------------------------------------


def _is_hdf5(source: Any) -> bool:
    if isinstance(source, bytes):
        return source.startswith(MAGIC)
    try:
        with Path(source).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError) as e:
        raise InputError(f"cannot be read: {e}", where=printable(str(source))) from None


def _of_hdf5(source: Any, limit: int, with_weights: bool) -> Network:
    label = "model" if isinstance(source, bytes) else printable(str(source))
    size = len(source) if isinstance(source, bytes) else os.stat(source).st_size
    file = WeightFile(BytesIO(source) if isinstance(source, bytes) else os.fspath(source), label, size, limit)
    try:
        text = file.description()
        if text is None:
            raise UnsupportedError("holds weights without a model", where=label, hint=SAVE)
        return _network(label, of_version(parsed(text, label), file.version()), file.by_layer if with_weights else None)
    finally:
        file.close()
