"""Nets in objects and archives, which are for a linker of the user's: what such a file says of itself."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lamina.backends.cpu.runtime.layout import DATA
from lamina.backends.link.archive import MAGIC, member_bytes
from lamina.backends.link.described import read_any, read_described
from lamina.backends.link.elf_object import ALLOC, EXECUTE, UNDEFINED
from lamina.dialects.machine_spec import TargetSpec
from lamina.errors import InputError, LaminaError


class LinkableNet(NamedTuple):
    """An object or an archive as its file describes it."""

    description: Mapping[str, Any]
    target: TargetSpec
    code_bytes: int
    table_bytes: int
    """Of constants beside the weights: tables of the program, texts."""
    weight_bytes: int
    needed: tuple[str, ...]
    """Functions that other libraries have to have."""


def read_linkable(path: str | os.PathLike[str]) -> LinkableNet:
    """Read what an object or an archive says of itself. Raises InputError for a file that is no exported net."""
    where = str(path)
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as e:
        raise InputError(f"cannot read: {getattr(e, 'strerror', None) or e}", where=where) from None
    try:
        whole = member_bytes(data) if data.startswith(MAGIC) else data
        found, described = read_any(memoryview(whole), where), read_described(memoryview(whole), DATA, where)
        description = json.loads(described.description)
        target = TargetSpec(**description["target"])
        weights = int(description["bytes"])
    except (LaminaError, ValueError, TypeError, KeyError):
        raise InputError("is no net that Lamina has exported", where=where, hint="export the net again") from None
    sizes = {True: 0, False: 0}
    for section in found.sections:
        if section.flags & ALLOC:
            sizes[bool(section.flags & EXECUTE)] += section.size
    needed = tuple(sorted(s.name for s in found.symbols if s.section == UNDEFINED and s.name))
    return LinkableNet(description, target, sizes[True], sizes[False] - weights, weights, needed)
