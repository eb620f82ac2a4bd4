"""Import as `lamina.backends`: any other name would make a second copy of every class."""

if __name__ != "lamina.backends":
    raise ImportError(f"import lamina.backends, not {__name__}")
