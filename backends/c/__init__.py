"""Whole nets as C source, and the kernels of a module as C: a printer of the tir level."""
