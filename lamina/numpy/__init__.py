"""Plain NumPy functions, compiled, differentiated and batched: `lamina.jit`, `lamina.grad`, `lamina.vmap`.

@lamina.jit
def step(w, x, y):
    error = x @ w - y
    return w - 0.1 * x.T @ error

lamina.grad(loss)(w, x)                         the gradient with respect to the first argument
lamina.vmap(distance, in_axes=(0, None))(x, y)  a function of one row, of all rows
"""
