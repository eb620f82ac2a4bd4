"""JAX's functions, compiled by Lamina: `lamina.jax.jit(f)`.

@lamina.jax.jit
def predict(params, x): ...

step = lamina.jax.jit(jax.value_and_grad(loss), threads=2)
compiled = lamina.jax.jit(apply, static_argnames="train")

A file needs no jax: `lamina.compile("f.stablehlo.mlir")` reads what `jax.export` gives as text.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lamina.jax.functions import JaxFunction, jit

__all__ = ["JaxFunction", "jit"]

_HOME = {"jit": "functions", "JaxFunction": "functions"}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'lamina.jax' has no attribute {name!r}")
    return getattr(import_module(f"lamina.jax.{home}"), name)
