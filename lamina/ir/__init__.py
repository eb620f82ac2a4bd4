"""Texts of programs at every level: contexts, parsing, printing, diagnostics, verification, pipelines."""
