"""TVM's operator inventory on te tensors: each is the meaning that a Relay op declares, there is no second list.

    y = topi.nn.softmax(topi.add(x, 1.0), axis=-1)
    s = te.create_schedule(y.op)

Attributes are the Relay op's. Where TVM's topi has another name or signature than Relay, `spellings.py` has it.
"""

from __future__ import annotations

from typing import Any

from lamina.topi.namespaces import Namespace

_ROOT = Namespace("")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_ROOT, name)


def __dir__() -> list[str]:
    return dir(_ROOT)
