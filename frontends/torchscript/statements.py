"""Statements of a script, followed one by one: assignments, branches, loops, calls of functions."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from lamina.errors import UnsupportedError
from lamina.frontends.torchscript.objects import ScriptObject

STEPS = 1 << 20
"""Statements that are followed."""
DEEPEST = 200
"""Calls in calls."""


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class StatementFollower(ABC):
    """Follows the statements of functions; what expressions are worth its subclasses know."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.steps = 0
        self.depth = 0

    @abstractmethod
    def _value(self, e: Any, names: dict[str, Any]) -> Any:
        """The value of an expression, where names stand for values."""

    @abstractmethod
    def _truth(self, test: Any, names: dict[str, Any]) -> bool:
        """Whether a condition holds."""

    @abstractmethod
    def _method(self, owner: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The value of a call of an object's method."""

    @abstractmethod
    def _set_attribute(self, owner: ScriptObject, name: str, value: Any) -> None:
        """Assign an attribute."""

    def _function(self, function: ast.FunctionDef, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The value of a call."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnsupportedError(f"calls are nested deeper than {DEEPEST}", where=self.label)
        formal = function.args.args
        names: dict[str, Any] = {}
        defaults = function.args.defaults
        for k, a in enumerate(formal):
            if k < len(args):
                names[a.arg] = args[k]
            elif a.arg in kwargs:
                names[a.arg] = kwargs[a.arg]
            else:
                names[a.arg] = self._value(defaults[k - len(formal)], {})
        try:
            self._block(function.body, names)
        except _Return as e:
            return e.value
        finally:
            self.depth -= 1
        return None

    def _block(self, body: Sequence[ast.stmt], names: dict[str, Any]) -> None:
        for statement in body:
            self.steps += 1
            if self.steps > STEPS:
                raise UnsupportedError(f"more than {STEPS} statements are run", where=self.label)
            self._statement(statement, names)

    def _statement(self, s: ast.stmt, names: dict[str, Any]) -> None:
        if isinstance(s, ast.Assign):
            self._assign(s.targets[0], self._value(s.value, names), names)
        elif isinstance(s, ast.AnnAssign) and s.value is not None:
            self._assign(s.target, self._value(s.value, names), names)
        elif isinstance(s, ast.Return):
            raise _Return(None if s.value is None else self._value(s.value, names))
        elif isinstance(s, ast.If):
            self._block(s.body if self._truth(s.test, names) else s.orelse, names)
        elif isinstance(s, ast.For):
            self._loop(s, names)
        elif isinstance(s, ast.While):
            while self._truth(s.test, names) and self._round(s.body, names):
                pass
        elif isinstance(s, ast.Expr):
            self._value(s.value, names)
        elif isinstance(s, (ast.Break, ast.Continue)):
            raise _Break() if isinstance(s, ast.Break) else _Continue()
        elif isinstance(s, ast.With):
            self._within(s, names)
        elif not isinstance(s, ast.Pass):
            raise UnsupportedError(f"{ast.unparse(s)[:80]} is not supported", where=self.label)

    def _loop(self, s: ast.For, names: dict[str, Any]) -> None:
        for value in self._value(s.iter, names):
            self._assign(s.target, value, names)
            if not self._round(s.body, names):
                break

    def _within(self, s: ast.With, names: dict[str, Any]) -> None:
        """Run a block between what its context does at the beginning and at the end."""
        (item,) = s.items
        context = self._value(item.context_expr, names)
        entered = self._method(context, "__enter__", [context], {})
        if item.optional_vars is not None:
            self._assign(item.optional_vars, entered, names)
        try:
            self._block(s.body, names)
        finally:
            self._method(context, "__exit__", [context, None, None, None], {})

    def _round(self, body: Sequence[ast.stmt], names: dict[str, Any]) -> bool:
        """Run the body of a loop once; whether the loop goes on."""
        try:
            self._block(body, names)
        except (_Continue, _Break) as e:
            return isinstance(e, _Continue)
        return True

    def _assign(self, target: Any, value: Any, names: dict[str, Any]) -> None:
        if isinstance(target, ast.Name):
            names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            for t, v in zip(target.elts, value, strict=True):
                self._assign(t, v, names)
        elif isinstance(target, ast.Subscript):
            self._value(target.value, names)[self._value(target.slice, names)] = value
        elif isinstance(target, ast.Attribute) and isinstance(owner := self._value(target.value, names), ScriptObject):
            self._set_attribute(owner, target.attr, value)
        else:
            raise UnsupportedError(
                f"{ast.unparse(target)} is changed", where=self.label, hint="export with torch.export"
            )
