"""Nothing that `--load` takes."""
