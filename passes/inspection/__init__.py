"""Passes of any level that change nothing: they show what is there, under the names and in the formats of MLIR."""
