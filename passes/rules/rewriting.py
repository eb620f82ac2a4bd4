"""Sets of rules, and the driver that applies them.

    simplify = Rules("relay-simplify-expr")
    simplify += r.nn.relu(r.nn.relu(x)) >> r.nn.relu(x)

    @simplify.lower(BatchNormOp)
    def decompose(op: BatchNormOp) -> SSAValue | None:
        '''Before: ...   After: ...'''

An equation replaces the value of its root. Ops inside a match must have no other use, unless `.shared()`; larger
left sides are tried first, then file order. A right side that gets another type than the left, or that no type
fits, does not apply there. The driver is deterministic and linear: a queue in program order, one dispatch on the
class of the op, and after a firing only the neighbourhood again. Rules that do not end are stopped and named.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

from xdsl.builder import Builder
from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import Pure

from lamina.dialects import edit
from lamina.dialects.edit import inherit_location, inherit_name
from lamina.dialects.fast_ir import all_ops, operands_of, type_of
from lamina.dialects.infos import TypeMismatch, has_unknown_extents
from lamina.dialects.rules.terms import Constrained, Equation, OpPattern, RuleError, Term, inserting
from lamina.errors import InternalError, about
from lamina.passes.rules.matching import CompiledEquation, looks_around, reach_of, root_types, size_of
from lamina.passes.rules.pattern_conditions import root_classes

Outcome: TypeAlias = "SSAValue | Operation | Sequence[SSAValue] | bool | None"
_F = TypeVar("_F", bound=Callable[..., Any])

FUEL_PER_OP = 16
FUEL = 1024
# How many users of a changed value are looked at again at once; the next sweep finds the rest.
NEAR_USERS = 32


class Lowering:
    """A rewrite by a function: for ops with regions, and for what depends on more than the dataflow.

    The function gets an op and returns the values that replace its results, True when it changed the op in place,
    or None when it does not apply. Terms that it applies to SSA values are inserted before the op.
    """

    def __init__(self, function: Callable[[Any], Outcome], op_types: tuple[type[Operation], ...]) -> None:
        if not (function.__doc__ and "Before" in function.__doc__ and "After" in function.__doc__):
            raise RuleError(f"{function.__name__}: a lowering has a docstring with Before: and After:")
        self.function = function
        self.root_types = list(op_types)
        self.written = (function.__code__.co_filename, function.__code__.co_firstlineno)


def lower(*ops: type[Operation] | Term) -> Callable[[Callable[[Any], Outcome]], Lowering]:
    """Makes a function of an op a lowering; `rules += f` adds it to a set."""
    types = tuple(o.op if isinstance(o, Term) else o for o in ops)
    return lambda function: Lowering(function, types)


class Entry:
    """One rule of a set, with its counts. It is compiled when it is first tried: most programs need few of them."""

    def __init__(self, rule: Equation | Lowering, number: int) -> None:
        self.rule = rule
        self.number = number
        self.where = f"{Path(rule.written[0]).name}:{rule.written[1]}"
        self.tried = self.hits = 0
        self.seconds = 0.0
        self.root_types = root_types(rule) if isinstance(rule, Equation) else rule.root_types
        self.size = size_of(rule.left) if isinstance(rule, Equation) else 1

    @cached_property
    def compiled(self) -> CompiledEquation | Lowering:
        return CompiledEquation(self.rule) if isinstance(self.rule, Equation) else self.rule

    @cached_property
    def needs(self) -> tuple[frozenset[type[Operation]], ...]:
        """Of each of these sets of classes an operand must come from an op; where none does, nothing is tried."""
        left = self.rule.left if isinstance(self.rule, Equation) else None
        while isinstance(left, Constrained):
            left = left.pattern
        wanted = [root_classes(a) for a in left.args] if isinstance(left, OpPattern) and not left.any_args else []
        return tuple(c for c in wanted if c is not None)

    def order(self) -> tuple[int, int]:
        return -self.size, self.number


class Rules:
    """An ordered set of equations and lowerings under the name of the pass that runs it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rules: list[Equation | Lowering] = []
        self._entries: list[Entry] | None = None
        self._dispatch: dict[type[Operation], list[Entry]] = {}
        self._looks_around: bool | None = None
        self._reach: int | None = None

    def __iadd__(self, rule: Equation | Lowering | Rules) -> Rules:
        if isinstance(rule, Rules):
            self.rules += rule.rules
        elif isinstance(rule, (Equation, Lowering)):  # pyright: ignore[reportUnnecessaryIsInstance]
            self.rules.append(rule)
        else:
            raise RuleError(f"{rule!r} is no rule: write `left >> right`")
        self._entries = self._looks_around = self._reach = None
        return self

    def lower(self, *ops: type[Operation] | Term) -> Callable[[Callable[[Any], Outcome]], Lowering]:
        """As `lower`, and adds the lowering to this set."""

        def add(function: Callable[[Any], Outcome]) -> Lowering:
            made = lower(*ops)(function)
            self.__iadd__(made)
            return made

        return add

    @property
    def equations(self) -> list[Equation]:
        return [r for r in self.rules if isinstance(r, Equation)]

    @property
    def entries(self) -> list[Entry]:
        """The rules in the order they are tried."""
        if self._entries is None:
            self._entries = sorted((Entry(r, n) for n, r in enumerate(self.rules)), key=Entry.order)
            self._dispatch = {}
            for e in self._entries:
                for t in e.root_types:
                    self._dispatch.setdefault(t, []).append(e)
        return self._entries

    @property
    def looks_around(self) -> bool:
        """Whether a rule may depend on more than the ops that it matches: lowerings do, and guards that see values."""
        if self._looks_around is None:
            self._looks_around = any(not isinstance(r, Equation) or looks_around(r) for r in self.rules)
        return self._looks_around

    @property
    def reach(self) -> int:
        """From how many users away another value may make a rule match."""
        if self._reach is None:
            self._reach = max((reach_of(r.left) if isinstance(r, Equation) else 1 for r in self.rules), default=1)
        return self._reach

    @property
    def dispatch(self) -> dict[type[Operation], list[Entry]]:
        """The rules to try at an op, by its class."""
        _ = self.entries
        return self._dispatch

    def apply(self, root: Operation, fuel: int | None = None, only: Callable[[Operation], bool] | None = None) -> int:
        """Rewrite everything inside an op until no rule applies: how often one did.

        With `only` rules fire at the ops that it allows.

        Raises InternalError, naming the rules that go in a circle, when the fuel is spent.
        """
        return Driver(self, root, fuel, only).run()

    def statistics(self) -> str:
        """Hit counts and times, the most frequent first."""
        rows = sorted(self.entries, key=lambda e: (-e.hits, e.number))
        lines = [f"{self.name}: {sum(e.hits for e in rows)} rewrites"]
        lines += [f"  {e.hits:6}  {e.seconds * 1e3:8.2f} ms  {e.where}" for e in rows if e.hits or e.seconds]
        return "\n".join(lines)


# -- trace -----------------------------------------------------------------------------------------


class _Names:
    """Names of values as the printer gives them at the start; values made later count on."""

    def __init__(self, root: Operation) -> None:
        self._names: dict[SSAValue, str] = {}
        self._next = 0
        self._taken: dict[str, int] = {}
        for op in root.walk():
            for value in op.results:
                self.of(value)

    def of(self, value: SSAValue) -> str:
        found = self._names.get(value)
        if found is None:
            if value.name_hint:
                n = self._taken.get(value.name_hint, 0)
                self._taken[value.name_hint] = n + 1
                found = f"%{value.name_hint}_{n}" if n else f"%{value.name_hint}"
            else:
                found = f"%{self._next}"
                self._next += 1
            self._names[value] = found
        return found


# -- the driver ------------------------------------------------------------------------------------


@cache
def _is_pure(kind: type[Operation]) -> bool:
    return kind.has_trait(Pure)


class Driver:
    """One run of a set of rules over an op."""

    def __init__(
        self, rules: Rules, root: Operation, fuel: int | None, only: Callable[[Operation], bool] | None = None
    ) -> None:
        self.rules = rules
        self.only = only
        self.root = root
        self.dispatch = rules.dispatch
        self.queue: deque[Operation] = deque()
        self.queued: set[Operation] = set()
        self.fired = 0
        self.missed = False
        """Whether something may apply that this sweep does not look at again."""
        self.fuel = fuel
        self.recent: deque[Entry] = deque(maxlen=256)
        self.stream = edit.traced()
        self.names = _Names(root) if self.stream is not None else None

    def run(self) -> int:
        # Sweeps until one changes nothing: what the neighbourhood of a firing missed, the next sweep finds.
        while True:
            before, self.missed = self.fired, False
            ops, dispatch = all_ops(self.root), self.dispatch
            if self.fuel is None:
                self.fuel = FUEL + FUEL_PER_OP * len(ops)
            found = [op for op in ops if type(op) in dispatch]
            self.queue.extend(found)
            self.queued.update(found)
            self.drain()
            if self.fired == before or not (self.missed or self.rules.looks_around):
                break
        if self.stream is not None and self.fired:
            print(self.rules.statistics(), file=self.stream)
        return self.fired

    def push(self, op: Operation) -> None:
        if op not in self.queued:
            self.queued.add(op)
            self.queue.append(op)

    def drain(self) -> None:
        queue, queued, dispatch = self.queue, self.queued, self.dispatch
        if edit.is_spent():
            queue.clear()
        while queue:
            op = queue.popleft()
            queued.discard(op)
            if op.parent is None or self.only is not None and not self.only(op):
                continue
            owners: set[type[Operation | Block]] | None = None
            for entry in dispatch[type(op)]:
                if entry.needs and owners is None:
                    owners = {type(v.owner) for v in operands_of(op)}
                for classes in entry.needs:
                    if classes.isdisjoint(owners):  # type: ignore[arg-type]
                        break
                else:
                    if self.attempt(entry, op):
                        if edit.is_spent():
                            queue.clear()
                        break

    def attempt(self, entry: Entry, op: Operation) -> bool:
        """Try one rule at an op."""
        start = perf_counter() if self.stream is not None else 0.0
        compiled = entry.compiled
        try:
            if isinstance(compiled, Lowering):
                fired = self.fire_lowering(entry, compiled, op)
            else:
                fired = self.fire_equation(entry, compiled, op)
        except Exception as e:
            e.add_note(f"in the rule {entry.where} of {self.rules.name}, at {op.name}")
            about(e, op)
            raise
        if self.stream is not None:
            entry.seconds += perf_counter() - start
        if fired:
            entry.hits += 1
            self.fired += 1
            edit.spend()
            self.recent.append(entry)
            if self.fuel is not None and self.fired > self.fuel:
                raise InternalError(
                    f"the rules of {self.rules.name} do not end: {self.cycle()}",
                    hint="one of them must make the program smaller",
                )
        return fired

    def fire_equation(self, entry: Entry, compiled: CompiledEquation, op: Operation) -> bool:
        old = op.results[compiled.root_index[type(op)]]  # type: ignore[index]
        if old.first_use is None:
            return False  # nothing would change
        try:
            env = compiled.match(op)
        except TypeMismatch:
            return False  # a condition asks for an extent that is unknown
        if env is None:
            return False
        made: list[Operation] = []
        new, refusal = None, ""
        try:
            new = compiled.build(env, made)
        except TypeMismatch as e:
            refusal = str(e)
        if new is None or new is old or (type_of(new) is not type_of(old) and new.type != old.type):
            for m in reversed(made):
                m.drop_all_references()
            if self.names is not None and new is not old:
                why = refusal if new is None else f"{new.type} in the place of {old.type}"
                self.tell(entry, [old], f"is not rewritten: {why}")
            return False
        if type(op.location) is not UnknownLoc:
            for m in made:
                inherit_location(m, op)
        if made:
            assert op.parent is not None
            op.parent.insert_ops_before(made, op)
        self.replaced(entry, op, [old], [new], made)
        return True

    def fire_lowering(self, entry: Entry, lowering: Lowering, op: Operation) -> bool:
        builder = Builder(InsertPoint.before(op))
        made: list[Operation] = []
        builder.operation_insertion_handler = [made.append]
        with inserting(builder), edit.counted_elsewhere():
            try:
                outcome = lowering.function(op)
            except TypeMismatch:
                if not has_unknown_extents([*op.operand_types, *op.result_types]):
                    raise
                for m in reversed(made):
                    m.detach()
                    m.erase()
                return False
        if outcome is None or outcome is False:
            if made:
                raise InternalError(f"the lowering {entry.where} made ops and then did not apply")
            return False
        for m in made:
            inherit_location(m, op)
        if outcome is True:
            self.tell(entry, op.results, "changed in place")
            self.changed_in_place(op, made)
            return True
        if isinstance(outcome, Operation):
            outcome = outcome.results
        new = [outcome] if isinstance(outcome, SSAValue) else list(outcome)
        if [v.type for v in new] != [v.type for v in op.results]:
            raise InternalError(f"the lowering {entry.where} gives other types than {op.name} has")
        self.replaced(entry, op, list(op.results), new, made)
        return True

    def tell(self, entry: Entry, old: Sequence[SSAValue], what: str, new: Sequence[SSAValue] = ()) -> None:
        """Print a firing, where firings are traced, in one line."""
        if self.names is None:
            return
        before, after = (", ".join(map(self.names.of, values)) for values in (old, new))
        print(entry.where, f" {before}", what, *([after] if after else []), file=self.stream)

    def changed_in_place(self, op: Operation, made: Sequence[Operation]) -> None:
        for m in (*made, op):
            if type(m) in self.dispatch:
                self.push(m)
        for r in op.results:
            self.push_users(r)

    def replaced(
        self, entry: Entry, op: Operation, old: Sequence[SSAValue], new: Sequence[SSAValue], made: Sequence[Operation]
    ) -> None:
        """Put new values in the place of old ones, drop what nobody uses any more, look at the neighbours again."""
        if self.names is not None:
            self.tell(entry, old, "->", new)
        for a, b in zip(old, new, strict=True):
            inherit_name(b, a)
            self.push_users(a)
            a.replace_all_uses_with(b)
        for m in made:
            if type(m) in self.dispatch:
                self.push(m)
        self.drop_dead(op)

    def push_users(self, value: SSAValue) -> None:
        """Queue the ops whose matches may contain the value: its users, theirs, as deep as rules look."""
        level = [value]
        for further in range(self.rules.reach - 1, -1, -1):
            above: list[SSAValue] = []
            for v in level:
                use = v.first_use
                near = 0
                while use is not None:
                    if near == NEAR_USERS:
                        self.missed = True
                        break
                    user = use.operation
                    if type(user) in self.dispatch:
                        self.push(user)
                    if further:
                        above.extend(user.results)
                    near += 1
                    use = use._next_use  # pyright: ignore[reportPrivateUsage]
            self.missed = self.missed or len(above) > NEAR_USERS
            level = above[:NEAR_USERS]

    def drop_dead(self, op: Operation) -> None:
        """Erase an op without uses, and what only it used."""
        stack = [op]
        while stack:
            dead = stack.pop()
            if dead.parent is None or (dead is not op and not _is_pure(type(dead))):
                continue
            for r in dead.results:
                if r.first_use is not None:
                    break
            else:
                operands = operands_of(dead)
                dead.detach()
                dead.drop_all_references()
                for value in operands:
                    owner: Any = value.owner
                    if type(owner) is Block:
                        continue
                    use = value.first_use
                    if use is None:
                        stack.append(owner)
                    elif use._next_use is None:  # pyright: ignore[reportPrivateUsage]
                        # It may be inside a match now.
                        self.push_users(value)

    def cycle(self) -> str:
        """The rules that fire in a circle, from the latest firings."""
        recent = list(self.recent)
        for period in range(1, len(recent) // 2 + 1):
            if recent[-period:] == recent[-2 * period : -period]:
                circle = recent[-period:]
                break
        else:
            circle = list(dict.fromkeys(recent))
        return " -> ".join(e.where for e in [*circle, circle[0]])
