def astext(x, meta=True): return "TODO"
def type_text(t): return type(t).__name__ + str(vars(t))
