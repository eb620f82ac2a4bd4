"""Import as `lamina.passes`: any other name would make a second copy of every class."""

if __name__ != "lamina.passes":
    raise ImportError(f"import lamina.passes, not {__name__}")
