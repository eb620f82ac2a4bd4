"""Symbols of MXNet: `net-symbol.json`, with `net-0000.params` beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.frontends.formats import ModelFormat, Shapes

if TYPE_CHECKING:
    from lamina.frontends.imported import ImportedModel
    from lamina.frontends.support import SupportReport


def read(source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None) -> ImportedModel:
    """Import a symbol: the path of its JSON. `shapes` gives those of inputs. Raises LaminaError."""
    from lamina.frontends.mxnet.reader import import_mxnet

    return import_mxnet(source, shapes, max_tensor_bytes)


def check(source: Any) -> SupportReport:
    """Report which operators of a symbol are missing. Raises LaminaError for what is no symbol."""
    from lamina.frontends.mxnet.reader import TABLE, described_at, read_symbol
    from lamina.frontends.network import report_of

    path, text = described_at(source)
    return report_of(read_symbol(text, str(path)), TABLE)


def weights_beside(path: Path) -> Path | None:
    """The `.params` of the highest epoch with the name of the symbol, else the only one of the folder."""
    from lamina.frontends.mxnet.arrays import params_beside

    return params_beside(path)


FORMAT = ModelFormat(
    name="mxnet",
    what="a symbol of MXNet",
    suffixes=("-symbol.json", ".params"),
    begins=lambda begin: begin[:1] == b"{" and b'"nodes"' in begin[:64] and b'"op": "null"' in begin,
    read=read,
    check=check,
    beside=weights_beside,
)
