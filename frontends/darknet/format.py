"""Networks of Darknet: `net.cfg`, with `net.weights` beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.frontends.formats import ModelFormat, Shapes

if TYPE_CHECKING:
    from lamina.frontends.imported import ImportedModel
    from lamina.frontends.support import SupportReport

_STARTS = (b"[net]", b"[network]")


def read(source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None) -> ImportedModel:
    """Import a network: the path of its `.cfg`. Raises LaminaError."""
    from lamina.frontends.darknet.reader import import_darknet

    return import_darknet(source, shapes, max_tensor_bytes)


def check(source: Any) -> SupportReport:
    """Report which layers of a network are missing. Raises LaminaError for what is no network."""
    from lamina.frontends.darknet.reader import TABLE, read_network
    from lamina.frontends.network import report_of

    return report_of(read_network(source), TABLE)


def begins(begin: bytes) -> bool:
    """Whether the first line that is no comment opens the section of the network."""
    lines = (line.strip() for line in begin.splitlines())
    return next((line for line in lines if line and line[:1] not in b"#;"), b"") in _STARTS


def weights_beside(path: Path) -> Path | None:
    """`net.weights` for `net.cfg`, else the only `.weights` of the folder."""
    from lamina.frontends.companion import same_stem

    return same_stem(path, ".weights")


FORMAT = ModelFormat(
    name="darknet",
    what="a network of Darknet",
    suffixes=(".cfg", ".weights"),
    begins=begins,
    read=read,
    check=check,
    beside=weights_beside,
)
