"""The place of a stage before compute_at moved it, so that compute_root finds the way back.

What compute_at took off every index of the stage, the first element that an iteration needs, is kept as index ops that
stand nowhere. They use the loop variables, so what splits or fuses those loops keeps them up to date.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.linear import Linear
from lamina.dialects.tir.ops import IndexOp


@dataclass
class Attachment:
    """The beginning of a stage's tile in the whole, once for each move of the stage, and the extents of the whole."""

    extents: list[Linear]
    anchors: list[list[IndexOp]] = field(default_factory=list[list[IndexOp]])

    def base(self) -> list[Linear]:
        """The first element of the tile, over the loop variables as they are now."""
        total = [Linear() for _ in self.extents]
        for anchors in self.anchors:
            forms = [over_values(a.map.data.results, a.operands)[0] for a in anchors]
            total = [t + f for t, f in zip(total, forms, strict=True)]
        return total
