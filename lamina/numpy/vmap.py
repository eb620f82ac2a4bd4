"""`lamina.vmap`: a function of one example as a function of many, by relay-vmap."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from lamina.errors import UsageError
from lamina.frontends.builder import function_of
from lamina.frontends.numpy.array import TracedArray
from lamina.frontends.numpy.trace import traced_in
from lamina.numpy.inner import called_inside, lifted
from lamina.numpy.jit import CompiledFunction, JitOptions
from lamina.numpy.trees import arrays_in, filled, replaced
from lamina.passes.relay.functional.vmap import add_axis


def vmap(function: Callable[..., Any], in_axes: Any = 0, out_axes: int = 0) -> Callable[..., Any]:
    """A function of arrays with one more axis, for which a function is computed at every place of the axis at once.

    `in_axes` is the axis of every argument, or a tuple with the axis of each; None for one that is the same at each
    place. `out_axes` is the axis of every result. Arrays that the function captures are the same at each place. The
    result is compiled like one of `lamina.jit`, and can be differentiated, batched and compiled again.

    Raises UsageError where axes differ in size; UnsupportedError where an operation has no rule for many examples.
    """
    name = getattr(function, "__name__", "function")

    def traced(*args: Any) -> Any:
        axes = [in_axes] * len(args) if in_axes is None or isinstance(in_axes, int) else list(in_axes)
        if len(axes) != len(args):
            raise UsageError(f"{len(axes)} axes for {len(args)} arguments of {name}", where="lamina.vmap")
        leaves: list[TracedArray] = []
        places: list[int | None] = []
        for axis, argument in zip(axes, args, strict=True):
            found = lifted(arrays_in(argument))
            leaves += found
            places += [axis if axis is None else _checked(axis, a, name) for a in found]
        size = _size(leaves, places, name)
        moved: list[Any] = [a if p is None else np.moveaxis(a, p, 0) for a, p in zip(leaves, places, strict=True)]  # type: ignore[call-overload]
        shape = [a.shape if p is None else a.shape[1:] for a, p in zip(moved, places, strict=True)]
        kept: list[Any] = []

        def run(*inner: Any) -> Any:
            return function(*filled(list(args), inner))

        def results(found: Any) -> list[Any]:
            kept.append(found)
            return [a.tensor() for a in traced_in(found)]

        def change(module: Any) -> None:
            main = function_of(module)
            has = [p is not None for p in places]
            add_axis(main, size, [*has, *[False] * (len(main.body.block.args) - len(has))])

        made = iter(called_inside(run, moved, name, results, change, shape))

        def grown(a: Any) -> Any:
            # What is no traced array does not depend on the arguments.
            known = not isinstance(a, TracedArray)
            many: Any = np.broadcast_to(a, (size, *a.shape)).copy() if known else next(made)
            return np.moveaxis(many, 0, out_axes)

        return replaced(kept[0], grown)

    compiled = CompiledFunction(traced, JitOptions())

    @wraps(function)
    def call(*args: Any) -> Any:
        return compiled(*args)

    return call


def _checked(axis: int, array: TracedArray, name: str) -> int:
    if not -array.ndim <= axis < array.ndim:
        what = f"an argument of {name} has the shape {array.shape}, which has no axis {axis}"
        raise UsageError(what, where="lamina.vmap")
    return axis % array.ndim


def _size(leaves: list[TracedArray], places: list[int | None], name: str) -> int:
    sizes = {a.shape[p] for a, p in zip(leaves, places, strict=True) if p is not None}
    if len(sizes) != 1:
        what = f"the axes have {sorted(sizes)} elements" if sizes else "no argument has an axis"
        raise UsageError(f"{name}: {what}", where="lamina.vmap", hint="in_axes names one axis of the same size in each")
    return sizes.pop()
