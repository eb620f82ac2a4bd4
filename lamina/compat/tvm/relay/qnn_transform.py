"""`relay.qnn.transform`: what makes quantised operators fit a target, and what makes them integer arithmetic."""

from __future__ import annotations

from lamina import transform as ours
from lamina.compat.tvm.transform import Pass


def Legalize() -> Pass:  # noqa: N802
    """Quantised operators in the dtypes that the target multiplies fast, then as integer arithmetic, as in TVM."""
    return Pass(ours.Sequential([ours.QnnLegalize(), ours.QnnCanonicalize()], 1, "qnn.Legalize"))


def CanonicalizeOps() -> Pass:  # noqa: N802
    """Quantised operators as integer arithmetic."""
    return Pass(ours.QnnCanonicalize())


__all__ = ["CanonicalizeOps", "Legalize"]
