"""Puts matches of patterns into functions, and rewrites them by callbacks.

    partition(pattern, op, {"Composite": "dnnl.conv2d_relu"}, check)
    rewrite([MyCallback()], op)

Matches are looked for from the end of a block to its beginning; an op belongs to one match at most. A match is taken
if its inner ops serve nothing else (`Match.closed`) and the check allows it; if not, the other ways to match there
are tried. Function bodies that are partitions already are not entered. Candidates come from an index by op class:
a pattern costs as much as there are ops that can be its root.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from typing import Any

from xdsl.builder import Builder
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects import edit
from lamina.dialects.relay.base import RelayOp, arity, to_attribute
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp, ReturnOp
from lamina.dialects.rules.graph_patterns import FunctionPattern
from lamina.dialects.rules.patterns import Pattern
from lamina.dialects.rules.terms import inserting
from lamina.errors import InputError
from lamina.passes.base import fused_location, inherit_location, inherit_name
from lamina.passes.rules.dataflow_matching import CompiledPattern, Match, NodeMap, find, match
from lamina.passes.rules.pattern_conditions import Classes
from lamina.passes.rules.rewriting import Driver, Entry, Lowering, Rules

__all__ = ["DFPatternCallback", "OpIndex", "find", "match", "partition", "rewrite"]

Check = Callable[[SSAValue], object]
"""Says by its truth whether a match is taken."""
MARKS = frozenset({"PartitionedFromPattern", "Composite", "Compiler", "Primitive"})
"""The attributes of functions that are not entered."""


class OpIndex:
    """The ops of all blocks by class, with their places in program order; partitioning keeps it up to date."""

    def __init__(self, root: Operation) -> None:
        self._by_class: dict[type[Operation], list[tuple[int, Operation]]] = {}
        self._unsorted: set[type[Operation]] = set()
        self.place: dict[Operation, int] = {}
        stack: list[Iterator[Operation]] = [iter([root])]
        while stack:
            op = next(stack[-1], None)
            if op is None:
                stack.pop()
                continue
            if op is not root:
                self.place[op] = place = len(self.place)
                self._by_class.setdefault(type(op), []).append((place, op))
            if op.regions and not (op is not root and is_closed(op)):
                stack.append(_inner(op))

    def candidates(self, classes: Classes) -> Iterator[Operation]:
        """The ops of these classes, of all where None, from the last to the first."""
        kinds = list(self._by_class) if classes is None else [c for c in classes if c in self._by_class]
        for kind in self._unsorted.intersection(kinds):
            self._by_class[kind].sort(key=lambda e: e[0])
            self._unsorted.discard(kind)
        lists = [reversed(self._by_class[c]) for c in kinds]
        for _, op in merge(*lists, key=lambda e: -e[0]) if len(lists) != 1 else lists[0]:
            if op in self.place:
                yield op

    def remove(self, op: Operation) -> None:
        """Forget an op that was moved into a function."""
        self.place.pop(op, None)

    def add(self, op: Operation, place: int) -> None:
        """Take in an op that stands where another one was."""
        self.place[op] = place
        self._by_class.setdefault(type(op), []).append((place, op))
        self._unsorted.add(type(op))


def _inner(op: Operation) -> Iterator[Operation]:
    for region in op.regions:
        for block in region.blocks:
            yield from block.ops


def is_closed(op: Operation) -> bool:
    """Whether an op holds a function that has been partitioned, or belongs to a compiler or a kernel."""
    return not MARKS.isdisjoint(op.attributes)


def find_matches(compiled: CompiledPattern, index: OpIndex, check: Check | None = None) -> list[Match]:
    """Disjoint matches that can be taken out of the program, the last in program order first."""
    taken: set[Operation] = set()

    def accept(found: Match) -> bool:
        return taken.isdisjoint(found.ops) and found.closed() and (check is None or bool(check(found.value)))

    matches: list[Match] = []
    for op in index.candidates(compiled.root_types):
        if op in taken or isinstance(op, ConstantOp) or op.parent_op() is None:
            continue
        values = op.results[:1] if compiled.whole else op.results
        if compiled.whole and all(r.first_use is None for r in op.results):
            continue
        for value in values:
            if not compiled.whole and value.first_use is None:
                continue
            found = compiled.match(value, accept)
            if found is not None:
                matches.append(found)
                taken.update(found.ops)
                break
    return matches


def partition(
    pattern: Pattern | CompiledPattern,
    op: Operation,
    attrs: dict[str, Any] | None = None,
    check: Check | None = None,
    index: OpIndex | None = None,
) -> int:
    """Put every match inside an op into a function that is called in its place: how many.

    Before: %1 = relay.nn.relu %0
    After:  %f = relay.fn (%p: ...) -> ... attributes {PartitionedFromPattern = "nn.relu_"} {...}
            %1 = relay.call %f(%0)

    `attrs` are further attributes of the functions. `check` sees the value a match stands for and may refuse it.
    """
    if isinstance(pattern, FunctionPattern):
        warnings.warn(f"{pattern!r} alone is not partitioned: a function is no part of the program", stacklevel=2)
        return 0
    compiled = pattern if isinstance(pattern, CompiledPattern) else CompiledPattern(pattern)
    index = index or OpIndex(op)
    matches = find_matches(compiled, index, check)
    given = {name: to_attribute(value) for name, value in (attrs or {}).items()}
    for found in matches:
        with edit.transaction(found.value.owner if isinstance(found.value.owner, Operation) else None):
            outline(found, given, index)
    return len(matches)


def outline(found: Match, attrs: dict[str, Attribute], index: OpIndex | None = None) -> CallOp:
    """Move a match into a function and call it where the root was."""
    root = found.value.owner
    assert isinstance(root, Operation) and root.parent is not None and root.next_op is not None
    block, place = root.parent, root.next_op
    order, name = in_order(found)
    attrs = {**attrs, "PartitionedFromPattern": StringAttr(name)}
    stays = _staying(order, found)
    arguments = list(found.inputs)
    body = Block(arg_types=[v.type for v in arguments])
    mapped: dict[SSAValue, SSAValue] = dict(zip(arguments, body.args, strict=True))
    for argument in body.args:
        argument.name_hint = "FunctionVar"
    for constant in found.constants:
        copy = constant.clone()
        body.add_op(copy)
        mapped[constant.results[0]] = copy.results[0]
    outputs = [r for r in found.results if r is found.value or r.first_use is not None]
    for op in order:
        if op in stays:
            inner = op.clone(mapped)
            for old, new in zip(op.results, inner.results, strict=True):
                inherit_name(new, old)
                mapped[old] = new
        else:
            inner = op
            op.detach()
            _redirect(op, mapped)
        body.add_op(inner)
    returned = ReturnOp.make(*(mapped.get(v, v) for v in outputs))
    body.add_op(returned)
    function = FnOp.make(body, attrs)
    call = CallOp.make(function, *arguments)
    function.location = call.location = returned.location = fused_location(order)
    block.insert_ops_before([function, call], place)
    for old, new in zip(outputs, call.results, strict=True):
        inherit_name(new, old)
        old.replace_uses_with_if(new, lambda use: use.operation is not returned and not _within(use.operation, body))
    for constant in found.constants:
        if constant.results[0].first_use is None:
            edit.erase(constant)
    if index is not None and root in index.place:
        at = index.place[root]
        for op in order:
            if op not in stays:
                index.remove(op)
        for made in (function, call):
            index.add(made, at)
    return call


def _within(op: Operation, body: Block) -> bool:
    at: Block | None = op.parent
    while at is not None:
        if at is body:
            return True
        parent = at.parent_op()
        at = parent.parent if parent is not None else None
    return False


def _redirect(op: Operation, mapped: dict[SSAValue, SSAValue]) -> None:
    """Make an op, and what is in its regions, read the parameters."""
    inner = [op] if not op.regions or isinstance(op, FnOp) else op.walk()
    for o in inner:
        for i, value in enumerate(o.operands):
            new = mapped.get(value)
            if new is not None:
                o.operands[i] = new


def _staying(order: Sequence[Operation], found: Match) -> set[Operation]:
    """The ops of a match that others use too: they stay, the match gets copies."""
    stays: set[Operation] = set()
    root = found.value.owner
    for op in reversed(order):
        if op is root:
            continue
        users = {u.operation for r in op.results for u in r.uses}
        if any(u in stays or (u not in found.ops and not _inside_of(u, found.ops)) for u in users):
            stays.add(op)
    return stays


def _inside_of(op: Operation, ops: dict[Operation, None]) -> bool:
    at = op.parent_op()
    while at is not None:
        if at in ops:
            return True
        at = at.parent_op()
    return False


def in_order(found: Match) -> tuple[list[Operation], str]:
    """The ops of a match, operands first, and TVM's name for them: `nn.conv2d_add_nn.relu_`."""
    order: dict[Operation, None] = {}
    words: list[str] = []
    items: set[SSAValue] = set()
    block = found.value.owner.parent if isinstance(found.value.owner, Operation) else None
    start = found.value
    stack: list[tuple[SSAValue, bool]] = [(start, False)]
    while stack:
        value, ready = stack.pop()
        op = value.owner
        if not isinstance(op, Operation) or op not in found.ops or op.parent is not block:
            continue
        if op not in order:
            if not ready:
                stack.append((value, True))
                stack.extend((v, False) for v in reversed(op.operands))
                continue
            order[op] = None
            words += _words(op)
        # Which result is meant is a TupleGetItem of its own in TVM.
        if len(op.results) > 1 and value not in items and not (value is start and found.whole):
            items.add(value)
            words.append(f"TupleGetItem{op.results.index(value)}")  # pyright: ignore[reportArgumentType]
    return list(order), "_".join(words) + "_"


def _words(op: Operation) -> list[str]:
    name = op.name.removeprefix("relay.")
    if name == "tuple_get_item":
        return [f"TupleGetItem{op.properties['index'].value.data}"]  # type: ignore[attr-defined]
    special = {"tuple": "Tuple", "if": "If", "call": "FunctionCall", "fn": "Function", "match": "Match"}
    if name in special:
        return [special[name]]
    is_list = isinstance(op, RelayOp) and arity(type(op)) is None
    return ["Tuple", name] if is_list else [name]


# -- rewriting ---------------------------------------------------------------------------------------------------


class DFPatternCallback:
    """A rewrite of what a pattern matches: subclass, set `pattern`, write `callback`.

    class Halve(DFPatternCallback):
        def __init__(self):
            super().__init__()
            self.x = wildcard()
            self.pattern = is_op("divide")(self.x, is_constant())
        def callback(self, pre, post, node_map):
            return r.multiply(node_map[self.x][0], 0.5)

    `callback` gets the value matched, and what the parts stand for; the program is changed in place, so `pre` and
    `post` are the same value. It returns the value to stand there from now on, of the same type; `post` or None
    leaves things as they are. Terms that it applies to values are inserted there. With `rewrite_once` it stops
    after its first change. `require_type` is TVM's: types are always known here.
    """

    pattern: Pattern | None = None

    def __init__(self, require_type: bool = False, rewrite_once: bool = False) -> None:
        self.require_type = require_type
        self.rewrite_once = rewrite_once

    def callback(self, pre: SSAValue, post: SSAValue, node_map: NodeMap) -> SSAValue | Operation | None:
        raise TypeError(f"{type(self).__name__} has no callback")

    @property
    def written(self) -> type[Any]:
        """The class whose `callback` a user has written: this one, unless it stands for another one."""
        return type(self)

    def rewrite(self, op: Operation) -> int:
        """As `rewrite([self], op)`."""
        return rewrite([self], op)


class _CallbackRule(Lowering):
    """A callback as a rule of the rewriting driver."""

    def __init__(self, callback: DFPatternCallback) -> None:
        if callback.pattern is None:
            raise TypeError(f"{type(callback).__name__} has no pattern")
        self.callback = callback
        self.compiled = CompiledPattern(callback.pattern)
        self.function = self.apply
        self.root_types = list(self.compiled.root_types or ())
        code = callback.written.callback.__code__
        self.written = (code.co_filename, code.co_firstlineno)
        self.size = 1
        self.looks_around = True
        self.reach = max(1, min(8, len(self.compiled.compiler.patterns)))
        self.done = False

    def apply(self, op: Operation) -> Any:
        if self.done or op.parent is None or not any(r.first_use is not None for r in op.results):
            return None
        for value in op.results:
            found = self.compiled.match(value, Match.closed)
            if found is None:
                continue
            new = self.run(value, found)
            if new is not None:
                self.done = self.callback.rewrite_once
                return [new if r is value else r for r in op.results]
        return None

    def run(self, value: SSAValue, found: Match) -> SSAValue | None:
        op = value.owner
        assert isinstance(op, Operation) and op.parent is not None
        builder = Builder(InsertPoint.before(op))
        made: list[Operation] = []
        builder.operation_insertion_handler = [made.append]
        with inserting(builder):
            new = self.callback.callback(value, value, found.node_map)
        if isinstance(new, Operation):
            new = new.results[0]
        if new is None or new is value:
            edit.undo(m for m in made if all(r.first_use is None for r in m.results))
            return None
        if isinstance(new.owner, Operation) and new.owner.parent is None:
            _insert_with_operands(new.owner, op)
        for m in made:
            inherit_location(m, op)
        if new.type != value.type:
            raise InputError(
                f"{self.callback.written.__name__} replaces a value of type {value.type} by one of type {new.type}",
                hint="its users would not fit: give a value of the same type",
                op=op,
            )
        return new


def _insert_with_operands(op: Operation, place: Operation) -> None:
    """Insert a detached op, and the detached ones that it reads, before another."""
    assert place.parent is not None
    order: dict[Operation, None] = {}
    stack = [(op, False)]
    while stack:
        at, ready = stack.pop()
        if ready:
            order[at] = None
        elif at not in order and at.parent is None:
            stack.append((at, True))
            stack.extend((v.owner, False) for v in at.operands if isinstance(v.owner, Operation))
    for o in order:
        inherit_location(o, place)
    place.parent.insert_ops_before(list(order), place)


class _Anything(dict[type[Operation], list[Entry]]):
    """A dispatch in which every op finds the rules of any root."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        super().__init__()
        self.entries = list(entries)

    def __contains__(self, kind: object) -> bool:
        return isinstance(kind, type) and bool(self[kind])

    def __missing__(self, kind: type[Operation]) -> list[Entry]:
        found = self[kind] = [
            e
            for e in self.entries
            if isinstance(e.rule, _CallbackRule)
            and (e.rule.compiled.root_types is None or kind in e.rule.compiled.root_types)
            and kind is not ConstantOp
        ]
        return found


class _CallbackRules(Rules):
    @property
    def dispatch(self) -> dict[type[Operation], list[Entry]]:
        return _Anything(self.entries)


def rewrite(callbacks: DFPatternCallback | Sequence[DFPatternCallback], op: Operation, fuel: int | None = None) -> int:
    """Apply callbacks to everything inside an op until none changes anything: how many changes.

    Raises InternalError, naming the callbacks that go in a circle, when they do not end.
    """
    several = [callbacks] if isinstance(callbacks, DFPatternCallback) else callbacks
    rules = _CallbackRules("rewrite")
    for c in several:
        rules += _CallbackRule(c)
    return Driver(rules, op, fuel).run()
