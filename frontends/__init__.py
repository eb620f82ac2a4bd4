"""Import as `lamina.frontends`: any other name would make a second copy of every class."""

if __name__ != "lamina.frontends":
    raise ImportError(f"import lamina.frontends, not {__name__}")
