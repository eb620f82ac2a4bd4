"""Plain NumPy programs: a function runs once on traced arrays, and what it does to them is Relay.

    lamina.jit(f), lamina.grad(f), lamina.vmap(f)        functions of arrays (lamina/numpy)
    trace(f, arguments) -> Traced                        a function as a module

NumPy hands its calls to the traced arrays (NEP 13 for ufuncs, NEP 18 for functions). A row of `ufuncs.py` names the
operator of ATen that a ufunc is; the files `functions_*.py` have NumPy's functions by the same operators. Element types
are those of NumPy, which is asked for them. A traced array can be written to; what has been a view of it sees that.
"""
