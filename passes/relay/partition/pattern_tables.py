"""Pattern tables: which composites an external compiler takes, in order, and which single ops.

    dnnl = PatternTable("dnnl")
    dnnl += r.nn.relu(conv) >> composite("dnnl.conv2d_relu")                      an equation, with `.when(guards)`
    dnnl += ("dnnl.dense_bias", is_op("nn.bias_add")(dense, bias), check)         TVM's tuples
    dnnl.takes("nn.relu", "exp")                                                  TVM's `target.dnnl` attributes

or, as in TVM, `@register_pattern_table("dnnl")` above a function that returns such tuples. Tables stand in
`backends/byoc/<name>/patterns.py`, or in another package that names the module (or the table) in an entry point of
the group `lamina.backends`; they are loaded when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from xdsl.ir import Operation, SSAValue

from lamina.dialects.rules.patterns import Composite, Equation, Pattern
from lamina.dialects.rules.values import Expr, RuleError
from lamina.errors import InputError, UsageError, did_you_mean
from lamina.passes.relay.partition.external_backends import ENTRY_POINTS
from lamina.passes.rules.dataflow_matching import CompiledPattern


@dataclass(frozen=True)
class Unfit:
    """A reason that a check or a guard may return instead of False."""

    reason: str

    def __bool__(self) -> bool:
        return False


Check = Callable[[SSAValue], bool | Unfit]
OpCheck = Callable[[Operation], bool | Unfit]
_F = TypeVar("_F", bound=Callable[[], Any])


@dataclass
class TableEntry:
    """One composite: its name, what it looks like, and a check of the value that it would give."""

    name: str
    pattern: Pattern
    check: Check | None = None
    guards: Sequence[Expr] = ()

    @cached_property
    def compiled(self) -> CompiledPattern:
        return CompiledPattern(self.pattern, self.guards)

    def whole_check(self) -> Check | None:
        """The check and the guards as one check, for who has the pattern without them."""
        if not self.guards:
            return self.check
        compiled, check = self.compiled, self.check

        def holds(value: SSAValue) -> bool | Unfit:
            return compiled.match(value) is not None and (check is None or check(value))

        return holds


@dataclass
class PatternTable:
    """The composites of a compiler, the first of which that fits is taken, and the ops it takes by themselves."""

    name: str
    entries: list[TableEntry] = field(default_factory=list[TableEntry])
    ops: dict[str, OpCheck | None] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        _TABLES[self.name] = self

    @staticmethod
    def of(name: str) -> PatternTable:
        """The table of a compiler as far as it was declared, an empty one at first."""
        return _TABLES.get(name) or PatternTable(name)

    def __iadd__(self, entry: Equation | Sequence[Any] | TableEntry) -> PatternTable:
        """Add an equation whose right side is `composite(name)`, or a tuple (name, pattern[, check])."""
        if isinstance(entry, Equation):
            if not isinstance(entry.right, Composite):
                raise RuleError(f"{entry.right!r}: the right side in a pattern table is composite(name)")
            entry = TableEntry(entry.right.composite, entry.left, None, entry.guards)
        elif not isinstance(entry, TableEntry):
            entry = TableEntry(*entry)
        if not isinstance(entry.pattern, Pattern):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise RuleError(f"{entry.name}: {entry.pattern!r} is no pattern")
        self.entries.append(entry)
        return self

    def takes(self, *ops: str, check: OpCheck | None = None) -> None:
        """The compiler takes these ops by themselves, by TVM's names, where the check of the op holds."""
        for op in ops:
            self.ops[f"relay.{op}"] = check

    def admits(self, op: Operation) -> bool | Unfit:
        """Whether the compiler takes an op by itself."""
        if op.name not in self.ops:
            return False
        check = self.ops[op.name]
        return check is None or check(op)


_TABLES: dict[str, PatternTable] = {}
_BYOC = "lamina.backends.byoc"


def register_pattern_table(name: str, declared: Callable[[], Iterable[Sequence[Any]]] | None = None) -> Any:
    """TVM's way to declare a table: above a function that returns (name, pattern[, check]) tuples, or given one."""

    def register(function: _F) -> _F:
        table = PatternTable.of(name)
        table.entries.clear()
        for entry in function():
            table += entry
        return function

    return register if declared is None else register(declared)


def get_pattern_table(name: str) -> list[tuple[str, Pattern, Check | None]]:
    """The composites of a table as TVM's tuples: guards are part of the check. Raises UsageError for no such table."""
    return [(e.name, e.pattern, e.whole_check()) for e in find_table(name).entries]


def find_table(name: str) -> PatternTable:
    """A table by the name of its compiler, loaded at need. Raises UsageError where there is none."""
    if name not in _TABLES:
        _load(name)
    found = _TABLES.get(name)
    if found is None:
        near = did_you_mean(name, table_names())
        raise UsageError(f"there is no pattern table {name!r}", hint=near or f"there are {', '.join(table_names())}")
    return found


def table_names() -> list[str]:
    """The names of all tables: those made so far, the tree's, and those of other packages."""
    tree = [p.parent.name.replace("_", "-") for p in _folders()]
    others = [e.name for e in entry_points(group=ENTRY_POINTS)]
    return sorted({*_TABLES, *tree, *others})


def _folders() -> list[Path]:
    spec = find_spec(_BYOC)
    roots = list(spec.submodule_search_locations or ()) if spec is not None else []
    return sorted(p for root in roots for p in Path(root).glob("*/patterns.py"))


def _load(name: str) -> None:
    """Import what declares a table: a backend is found by its folder, as passes are, and never imported by name."""
    folder = name.replace("-", "_")
    if any(p.parent.name == folder for p in _folders()):
        import_module(f"{_BYOC}.{folder}.patterns")
        return
    for entry in entry_points(group=ENTRY_POINTS, name=name):
        try:
            loaded: Any = entry.load()
        except Exception as e:
            raise InputError(f"the backend {name!r} ({entry.value}) does not load: {type(e).__name__}: {e}") from e
        if isinstance(loaded, PatternTable):
            _TABLES[name] = loaded
        elif callable(loaded):
            declared: Any = loaded
            register_pattern_table(name, declared)
        return
