"""Tables of conversion rules: how a stair goes from one dialect to the next, one rule for each source op.

    tir_to_llvm = Conversion("tir-to-llvm", "a kernel")

    @tir_to_llvm.lowers(ForOp)
    def loop(op: ForOp, replay: Replay) -> Step:
        '''A loop whose iterations run one after the other is a block that branches to itself.'''

The model is MLIR's conversion pattern: found by the op's name, one for each op, applied once. What a rule is given
beside the op, and what it gives, is the table's matter. The module of an outside dialect declares the rules of its ops
with the same decorator. Ops that state themselves how they are lowered, by a facet, need no entry: `states` finds it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Generic, NamedTuple, TypeVar

from xdsl.ir import Operation

from lamina.dialects import edit
from lamina.dialects.rules.terms import RuleError
from lamina.errors import InputError

State = TypeVar("State")
Lowered = TypeVar("Lowered")
Function = TypeVar("Function", bound=Callable[..., Any])


class ConversionRule(NamedTuple):
    """The rule by which one op is lowered."""

    op: type[Operation]
    function: Callable[[Any, Any], Any]
    """Gets the op and the state of the lowering."""
    text: str
    """Its effect, in a line."""
    where: str
    """The file and line where it is written."""


class Conversion(Generic[State, Lowered]):
    """The rules of a stair for the ops of one place, by class of op.

    `place` says in messages where the ops stand, `hint` what to do about one without a rule. An op of which this table
    has no rule is lowered by that of `base`, another table.
    """

    def __init__(
        self,
        name: str,
        place: str,
        hint: str = "",
        base: Conversion[Any, Lowered] | None = None,
        states: Callable[[type[Operation]], ConversionRule | None] = lambda _: None,
    ) -> None:
        self.name = name
        self.place = place
        self.hint = hint or f"`opt-tool --list-rules {name}` lists what can"
        self.base = base
        self._states = cache(states)
        self._rules: dict[type[Operation], ConversionRule] = {}

    # -- rules ---------------------------------------------------------------------------------------------------

    def lowers(self, *ops: type[Operation]) -> Callable[[Function], Function]:
        """Makes a function of an op and a state the rule of ops; its docstring says in a line what it does."""

        def declare(function: Function) -> Function:
            text = (function.__doc__ or "").strip().partition("\n")[0]
            if not text:
                raise RuleError(f"{function.__name__}: a rule has a docstring")
            for op in ops:
                self.add(ConversionRule(op, function, text, where_written(function)))
            return function

        return declare

    def add(self, rule: ConversionRule) -> None:
        """Enter a rule. Raises RuleError where the op has another one."""
        other = self._rules.get(rule.op)
        if other is not None:
            raise RuleError(f"{self.name}: {rule.op.name} has two rules, {other.where} and {rule.where}")
        self._rules[rule.op] = rule

    def find(self, op: type[Operation]) -> ConversionRule | None:
        """The rule of a class of ops."""
        found = self._rules.get(op) or self._states(op)
        return found if found is not None or self.base is None else self.base.find(op)

    def rules(self, known: Iterable[type[Operation]] = ()) -> list[ConversionRule]:
        """The rules that are declared, and those that known ops state themselves, by the ops' names."""
        declared = set(self._rules) if self.base is None else {*self._rules, *(r.op for r in self.base.rules())}
        found = {op: self.find(op) for op in (*declared, *known)}
        return sorted((r for r in found.values() if r is not None), key=lambda r: (r.op.name, r.where))

    # -- lowering ------------------------------------------------------------------------------------------------

    def lower(self, op: Operation, state: State, place: str = "") -> Lowered:
        """Apply the rule of an op. Raises InputError, naming the op and the place, where it has none."""
        rule = self._rules.get(type(op)) or self.find(type(op))
        if rule is None:
            raise InputError(f"{self.name}: {op.name} cannot stand in {place or self.place}", hint=self.hint, op=op)
        edit.tell_part(rule.where, op, "lowered")
        return rule.function(op, state)


def where_written(function: Callable[..., Any]) -> str:
    """The file and line of a function."""
    code = inspect.unwrap(function).__code__
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def where_of_frame(frame: FrameType) -> str:
    """The file and line that a frame is at."""
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
