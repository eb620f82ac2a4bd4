"""The rule engine: matching, rewriting, tests of equations, patterns of dataflow, PDL."""
