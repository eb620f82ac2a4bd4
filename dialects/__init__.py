"""Import as `lamina.dialects`: any other name would make a second copy of every class."""

if __name__ != "lamina.dialects":
    raise ImportError(f"import lamina.dialects, not {__name__}")
