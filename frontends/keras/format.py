"""Models of Keras: a `.keras` archive of Keras 3, or an HDF5 file of Keras 2 or 3 that has the description, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.frontends.formats import ModelFormat, Shapes
from lamina.frontends.keras.signature import MAGIC

if TYPE_CHECKING:
    from lamina.frontends.imported import ImportedModel
    from lamina.frontends.support import SupportReport


def read(source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None) -> ImportedModel:
    """Import a model: a path or bytes. `shapes` gives open extents of inputs. Raises LaminaError."""
    from lamina.frontends.builder import LIMIT
    from lamina.frontends.keras.reader import read_network
    from lamina.frontends.keras.table import TABLE
    from lamina.frontends.network import import_network

    limit = LIMIT if max_tensor_bytes is None else max_tensor_bytes
    return import_network(read_network(source, limit), TABLE, shapes, limit)


def check(source: Any) -> SupportReport:
    """Report which layers of a model are missing. Raises LaminaError for what is no model of Keras."""
    from lamina.frontends.keras.reader import described_network
    from lamina.frontends.keras.table import TABLE
    from lamina.frontends.network import report_of

    return report_of(described_network(source), TABLE)


FORMAT = ModelFormat(
    name="keras",
    what="a model of Keras",
    suffixes=(".keras", ".h5", ".hdf5"),
    begins=lambda begin: begin.startswith(MAGIC),
    holds=lambda names: "metadata.json" in names and any(n == "config.json" or n == "model.weights.h5" for n in names),
    read=read,
    check=check,
)
