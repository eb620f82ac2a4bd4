"""A file for --load that fails in line 3."""

value = undefined_name  # noqa: F821
