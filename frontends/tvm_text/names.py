"""Names of TVM's programs as names of values of our IR."""

from __future__ import annotations

import re

_BAD = re.compile(r"[^\w$.-]")


def value_name(name: str) -> str | None:
    """A name that our text takes: `conv1/weight:0` is `conv1_weight_0`. None where nothing is left of it."""
    text = _BAD.sub("_", name)
    if text and not (text[0].isalpha() or text[0] == "_"):
        text = f"v{text}"
    return text or None
