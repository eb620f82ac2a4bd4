"""`relay.op.contrib`: pattern tables of external compilers."""

from __future__ import annotations

from lamina.passes.pattern_tables import get_pattern_table, register_pattern_table

__all__ = ["get_pattern_table", "register_pattern_table"]
