"""Writes `docs/reference/`: every schedule primitive, te op, tir op and pass on tir, from what the code declares.

    python -m tools.reference            rewrite the pages
    python -m tools.reference --check    exit 1 when they are out of date

What there is comes from the dialects and from the tree (`lamina.ir.registry`), what it takes from its IRDL fields and
dataclass fields, what it refuses from the diagnostics that its tests expect. The pictures are the lit tests, run while
the page is written: an op without an example, or an example without the op, stops the build.
"""
