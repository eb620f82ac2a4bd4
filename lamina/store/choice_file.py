"""A choice file: for which machine, and the answer to each question that differs from the default.

    {"format": 2, "target": "x86_64-unknown-linux-gnu znver4 512 32",
     "choices": {"tile nn.dense 128x768xf32 over 768 of 128x768xf32": "14x2"}}

With the same version of Lamina a model and a choice file give the same program, byte for byte.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lamina.dialects.target import machine_of
from lamina.errors import InputError
from lamina.store.text_file import write_text

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

FORMAT = 2
"""Questions of format 1 named no element types: what they are answers to is not known."""
AGAIN = "tune again on this machine: `lamina tune`"


def write_choices(path: str | os.PathLike[str], answers: Mapping[str, str], target: TargetAttr) -> None:
    """Write a choice file; what stood there is replaced at once, a device is written to. Raises InputError."""
    data = {"format": FORMAT, "target": machine_of(target), "choices": dict(sorted(answers.items()))}
    text = json.dumps(data, indent=1) + "\n"
    write_text(path, text)


def read_choices(path: str | os.PathLike[str], target: TargetAttr) -> dict[str, str]:
    """The answers of a choice file. Raises InputError for one that is none, or is for another machine."""
    where = os.fspath(path)
    hint = "`lamina tune` writes them"
    try:
        read: Any = json.loads(Path(path).read_text("utf-8"))
    except OSError as e:
        raise InputError(f"cannot read: {e.strerror}", where=where) from None
    except ValueError as e:
        raise InputError(f"no choice file: {e}", where=where, hint=hint) from None
    data = cast("dict[str, Any]", read) if isinstance(read, dict) else {}
    found = cast("dict[str, Any] | None", data.get("choices"))
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        raise InputError("no choice file: there are no 'choices'", where=where, hint=hint)
    if data.get("format") != FORMAT:
        what = f"a choice file of format {data.get('format')!r}; this version reads {FORMAT}"
        raise InputError(what, where=where, hint=AGAIN)
    if data.get("target") != machine_of(target):
        what = f"the choices are for {data.get('target')}, the target is {machine_of(target)}"
        raise InputError(what, where=where, hint=AGAIN)
    return found
