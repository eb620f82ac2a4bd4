"""`relay.loops`: a loop as a function that calls itself in tail position, which takes no memory.

loop = while_loop(lambda i, total: i < n, [i, total], lambda i, total: (i + one, total + i))
result = loop(relay.const(0), relay.const(0))          a tuple of the variables after the loop
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lamina.errors import UsageError
from lamina.frontends.tvm_text import expr as e
from lamina.frontends.tvm_text import ty


def while_loop(cond: Callable[..., Any], loop_vars: Sequence[Any], loop_bodies: Callable[..., Any]) -> e.Let:
    """The function of some variables that gives them as they are when `cond` of them no longer holds.

    `loop_bodies` of the variables are the next ones. Raises UsageError where it gives another number of them.
    """
    given = [e.as_expr(v) for v in loop_vars]
    names = [v.name_hint if isinstance(v, e.Var) else f"arg{n}" for n, v in enumerate(given)]
    fresh = [e.Var(name, v.checked_type) for name, v in zip(names, given, strict=True)]
    loop = e.Var("while_loop")
    made: Any = loop_bodies(*fresh)
    following = list(made) if isinstance(made, (tuple, list, e.Tuple)) else [made]  # pyright: ignore[reportUnknownArgumentType]
    if len(following) != len(fresh):
        raise UsageError(f"a loop of {len(fresh)} variables gives {len(following)} next ones")
    body = e.If(cond(*fresh), loop(*following), e.Tuple(fresh))
    function = e.Function(fresh, body, ty.TupleType([v.checked_type for v in fresh]))
    return e.Let(loop, function, loop)


__all__ = ["while_loop"]
