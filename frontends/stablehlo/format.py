"""StableHLO as MLIR's text: what `jax.export.export(jax.jit(f))(*args).mlir_module()` gives.

It is a dialect of ours, so the parser of our own texts reads it; a pass makes Relay of it.
"""

from __future__ import annotations

from lamina.frontends.formats import TextFormat

FORMAT = TextFormat(
    name="stablehlo",
    what="StableHLO as MLIR's text",
    suffixes=(".stablehlo.mlir", ".stablehlo"),
    marks=("stablehlo.", "chlo."),
    pipeline="stablehlo-to-relay",
)
