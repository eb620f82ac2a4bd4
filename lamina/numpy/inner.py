"""Functions that are traced inside another one, changed as modules, and put in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from lamina.frontends.builder import Value
from lamina.frontends.numpy.array import TracedArray, current


def lifted(arrays: Sequence[Any]) -> list[TracedArray]:
    """Arrays as traced ones of the function that is traced now."""
    outer = current()
    assert outer is not None
    return [a if isinstance(a, TracedArray) else outer.lift(a) for a in arrays]


def called_inside(
    run: Callable[..., Any], leaves: Sequence[TracedArray], name: str, results: Callable[[Any], list[Value]],
    change: Callable[[ModuleOp], None], shapes: Sequence[tuple[int, ...]] | None = None,
) -> list[TracedArray]:  # fmt: skip
    """The results of a function of traced arrays that is changed as a module before it stands among the others' ops.

    `run` is called on arrays like `leaves`, or of `shapes`; `results` takes the tensors from what it gives; `change`
    rewrites the module, whose @main takes these arrays and then what the function has captured.
    """
    outer = current()
    assert outer is not None
    inner = outer.inner(name)
    arguments = [
        inner.argument(f"x{k}", np.broadcast_to(np.zeros((), leaf.dtype), leaf.shape if shapes is None else shapes[k]))
        for k, leaf in enumerate(leaves)
    ]
    found: list[Value] = inner.run(lambda: results(run(*arguments)))
    module, captured = inner.module(found)
    change(module)
    b = outer.builder
    with outer.calling(name):
        operands = [b.ssa(leaf.tensor()) for leaf in leaves]
        # What is captured may stand around the outer function as well.
        made = b.inlined(module, [*operands, *map(b.frame.here, captured)])
        return [TracedArray(outer, v) for v in made]
