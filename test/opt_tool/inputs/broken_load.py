"""A file for --load that fails in line 3."""

VALUE = 1 // int("0")
