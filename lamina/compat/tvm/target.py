"""`tvm.target`: targets by their strings."""

from __future__ import annotations

from typing import Any

from lamina.tensor_target import Target as _Target
from lamina.tensor_target import target_of


def Target(target: Any, host: Any = None) -> _Target:  # noqa: N802
    """A target; what runs on the host needs no target of its own."""
    return target_of(target)


create = Target
