"""The tir dialect: loops over buffers (`ops.py`), vector forms of arith (`vectors.py`), and the edits that schedules
make to them (`nest/edits.py`, `nest/regions.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.ir import Dialect

    TIR: Dialect


def __getattr__(name: str) -> Any:
    if name != "TIR":
        raise AttributeError(name)
    from xdsl.ir import Dialect

    from lamina.dialects.tir import checks, intrinsics, launch, ops, prefetch, shuffle, team, vectors

    classes: list[Any] = [*(getattr(ops, n) for n in ops.__all__), vectors.CastOp, vectors.CompareOp, checks.CheckOp]
    classes += [intrinsics.BitcastOp, intrinsics.IntrinsicOp, launch.LaunchOp, prefetch.PrefetchOp, shuffle.ShuffleOp]
    classes += [team.TeamOp, team.TeamBarrierOp]
    globals()["TIR"] = tir = Dialect("tir", classes, [])
    return tir
