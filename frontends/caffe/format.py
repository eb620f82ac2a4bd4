"""Networks of Caffe: `net.prototxt`, with `net.caffemodel` beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.frontends.formats import ModelFormat, Shapes

if TYPE_CHECKING:
    from lamina.frontends.imported import ImportedModel
    from lamina.frontends.support import SupportReport


def read(source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None) -> ImportedModel:
    """Import a network: the path of its `.prototxt`. Raises LaminaError."""
    from lamina.frontends.caffe.reader import import_caffe

    return import_caffe(source, shapes, max_tensor_bytes)


def check(source: Any) -> SupportReport:
    """Report which layers of a network are missing. Raises LaminaError for what is no network."""
    from lamina.frontends.caffe.reader import TABLE, described_at, read_network
    from lamina.frontends.network import report_of

    path, text = described_at(source)
    return report_of(read_network(text, str(path)), TABLE)


def weights_beside(path: Path) -> Path | None:
    """`net.caffemodel` for `net.prototxt`, else the only `.caffemodel` of the folder."""
    from lamina.frontends.companion import same_stem

    return same_stem(path, ".caffemodel")


FORMAT = ModelFormat(
    name="caffe",
    what="a network of Caffe",
    suffixes=(".prototxt", ".caffemodel"),
    read=read,
    check=check,
    beside=weights_beside,
)
