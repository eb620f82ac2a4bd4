"""PyTorch's models, compiled: `torch.compile(model, backend="lamina")`.

    model = torch.compile(model, backend="lamina")                      inference and training
    model = torch.compile(model, backend="lamina", options={"freeze": True, "threads": 2})
    print(lamina.torch.explain(model, x))                               what stays eager, and where

An exported program needs no torch once it is read: `lamina.compile(torch.export.export(model, (x,)))`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lamina.torch.dynamo import backend
    from lamina.torch.report import Explanation, explain

__all__ = ["Explanation", "backend", "explain"]

_HOME = {"backend": "dynamo", "explain": "report", "Explanation": "report"}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'lamina.torch' has no attribute {name!r}")
    return getattr(import_module(f"lamina.torch.{home}"), name)
