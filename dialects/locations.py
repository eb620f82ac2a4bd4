"""Reading of locations in the IR, which point to a place in a file, to a name."""

from __future__ import annotations

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute


def source_position(location: Attribute) -> tuple[str, int, int] | None:
    """The file, line and column in a location, however deep; of a fused one the first."""
    while True:
        if isinstance(location, FileLineColLoc):
            return location.filename.data, location.line.data, location.column.data
        if isinstance(location, NameLoc):
            location = location.location
        elif isinstance(location, CallSiteLoc):
            location = location.callee
        elif isinstance(location, FusedLoc):
            for part in _parts(location):
                found = source_position(part)
                if found is not None:
                    return found
            return None
        else:
            return None


def location_name(location: Attribute) -> str:
    """The name in a location (an ONNX node's, say), empty when there is none."""
    if isinstance(location, NameLoc):
        return location.desc.data
    if isinstance(location, FusedLoc):
        return next((n for n in map(location_name, _parts(location)) if n), "")
    return ""


def _parts(location: FusedLoc) -> list[Attribute]:
    return list(location.locations.data)  # type: ignore[attr-defined]
