"""A pattern table that no package holds, for `--load`: a unit that adds, and takes the absolute value of a sum."""

from lamina.dialects import relay as r
from lamina.dialects.rules.terms import composite, var
from lamina.passes.relay.partition.pattern_tables import PatternTable

x, y = var("x y")
patterns = PatternTable("np-unit")
patterns += r.abs(r.add(x, y)) >> composite("np-unit.add_abs")
patterns.takes("add")
