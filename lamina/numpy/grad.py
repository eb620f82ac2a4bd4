"""`lamina.grad` and `lamina.value_and_grad`: gradients of functions of NumPy, by relay-first-order-gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from lamina.dialects.dtypes import is_float
from lamina.errors import UsageError
from lamina.frontends.builder import Value, function_of
from lamina.frontends.numpy.array import TracedArray
from lamina.numpy.inner import called_inside, lifted
from lamina.numpy.jit import CompiledFunction, JitOptions
from lamina.numpy.trees import arrays_in, filled
from lamina.passes.relay.functional.first_order_gradient import add_gradients


def grad(function: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that gives the gradient of a function of one number, with respect to one argument or several.

    `argnums` are the numbers of the arguments; each may be an array, or nested tuples, lists and dicts of arrays, whose
    form the gradient has. The result is compiled like one of `lamina.jit`, and can be differentiated, batched and
    compiled again. Raises UsageError where the function does not give one float, or an argument is not of floats.
    """
    both = value_and_grad(function, argnums)

    @wraps(function)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return gradient


def value_and_grad(function: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that gives a function's value and its gradient, as `grad` does."""
    name = getattr(function, "__name__", "function")

    def traced(*args: Any, **kwargs: Any) -> Any:
        numbers = [argnums] if isinstance(argnums, int) else list(argnums)
        for n in numbers:
            if not 0 <= n < len(args):
                raise UsageError(f"{name} has no argument {n} here", where="lamina.grad", hint="argnums counts from 0")
        trees = [args[n] for n in numbers]
        leaves = [a for tree in trees for a in arrays_in(tree)]

        def run(*inner: Any) -> Any:
            rest = iter(inner)
            given = list(args)
            for n, tree in zip(numbers, trees, strict=True):
                given[n] = filled(tree, [next(rest) for _ in arrays_in(tree)])
            return function(*given, **kwargs)

        value, gradients = _differentiated(run, leaves, name)
        rest = iter(gradients)
        made = [filled(tree, [next(rest) for _ in arrays_in(tree)]) for tree in trees]
        return value, made[0] if isinstance(argnums, int) else tuple(made)

    compiled = CompiledFunction(traced, JitOptions())

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return compiled(*args, **kwargs)

    return call


def _differentiated(run: Callable[..., Any], given: Sequence[Any], name: str) -> tuple[Any, list[Any]]:
    """The value of a function of arrays, and its gradients."""
    leaves = lifted(given)
    for leaf in leaves:
        if not is_float(leaf.dtype.name):
            what = f"the gradient of {name} with respect to an array of {leaf.dtype}"
            raise UsageError(what, where="lamina.grad", hint="floats have gradients")
    if not leaves:
        raise UsageError(f"there is no array to differentiate {name} by", where="lamina.grad")

    def results(inner: Any) -> list[Value]:
        if not isinstance(inner, TracedArray) or inner.shape or not is_float(inner.dtype.name):
            given = f"{inner.dtype}{list(inner.shape)}" if isinstance(inner, TracedArray) else type(inner).__name__
            what = f"{name} gives {given}, and a gradient is one of a float alone"
            raise UsageError(what, where="lamina.grad", hint="give the sum or the mean")
        return [inner.tensor()]

    def change(module: Any) -> None:
        add_gradients(module, function_of(module))

    value, *gradients = called_inside(run, leaves, name, results, change)
    # What the function has captured has gradients as well, behind those of its arguments.
    return value, gradients[: len(leaves)]
