"""`relay.ScopeBuilder`: lets and branches written one after the other.

sb = relay.ScopeBuilder()
with sb.if_scope(relay.equal(i, relay.const(0))):
    sb.ret(total)
with sb.else_scope():
    rest = sb.let("rest", i - relay.const(1))
    sb.ret(again(rest, total))
body = sb.get()
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from lamina.errors import UsageError
from lamina.frontends.tvm_text.expr import Expr, If, Let, Var, as_expr


class _Open:
    """A block that is being written."""

    def __init__(self) -> None:
        self.lets: list[tuple[Var, Expr]] = []
        self.result: Expr | None = None
        self.condition: tuple[Any, Expr] | None = None
        """The condition and first branch of an if whose second branch is still to come."""

    def body(self) -> Expr:
        if self.result is None:
            hint = "`with sb.else_scope():` comes after if_scope" if self.condition else "sb.ret(value)"
            raise UsageError("the scope gives no value", hint=hint)
        body = self.result
        for variable, value in reversed(self.lets):
            body = Let(variable, value, body)
        return body


class ScopeBuilder:
    """Collects lets, branches and a result; `get` gives the expression."""

    def __init__(self) -> None:
        self._scopes = [_Open()]

    def let(self, var: Any, value: Any) -> Var:
        """Bind a value to a variable, or to a new one of that name."""
        variable = var if isinstance(var, Var) else Var(str(var))
        self._scopes[-1].lets.append((variable, as_expr(value)))
        return variable

    @contextmanager
    def if_scope(self, cond: Any) -> Generator[None]:
        """Open a scope that is the first branch; the if is the result of the scope around it."""
        around = self._scopes[-1]
        if around.result is not None or around.condition is not None:
            raise UsageError("the scope has a result already")
        self._scopes.append(_Open())
        yield
        around.condition = (cond, self._scopes.pop().body())

    @contextmanager
    def else_scope(self) -> Generator[None]:
        """Open a scope that is the second branch. Raises UsageError where no first one is before it."""
        around = self._scopes[-1]
        if around.condition is None:
            raise UsageError("else_scope follows if_scope")
        self._scopes.append(_Open())
        yield
        around.result = If(*around.condition, self._scopes.pop().body())
        around.condition = None

    def ret(self, value: Any) -> None:
        """The result of the scope."""
        scope = self._scopes[-1]
        if scope.result is not None or scope.condition is not None:
            raise UsageError("the scope has a result already")
        scope.result = as_expr(value)

    def get(self) -> Expr:
        """The expression that was written."""
        return self._scopes[-1].body()
