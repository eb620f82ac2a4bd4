"""Declaration of passes, and what a pass owes the ops it makes.

The tree is the registry: `passes/relay/fusion/fuse_ops.py` holds the pass `relay-fuse-ops`, `relay_to_te.py` the
stair `relay-to-te`, `backends/cpu/passes/schedule.py` the backend pass `cpu-schedule`. Such a file has exactly one
`ModulePass` dataclass, whose `name` is the derived one, and options are its fields:

    @dataclass(frozen=True)
    class FuseOps(ModulePass):
        name = "relay-fuse-ops"
        opt_level: ClassVar[int] = 0
        required: ClassVar[tuple[str, ...]] = ()
        numerics: ClassVar[str] = "exact"
        max_depth: int = 256

        def apply(self, ctx: Context, op: ModuleOp) -> None: ...

The file's docstring is its help text: what the pass does, `Before:` and `After:` with IR of at most 12 lines, what
it assumes. `opt_level` is the lowest level at which a graph pass runs (0 where nothing is said), `required` the graph
passes that must have run before it: `lamina.transform` and the compiler read them. `numerics` is "fast" for a pass
that changes results by more than the order of their sums: exact compilation leaves it out (docs/numerics.md). One of
which only a part does has a field `exact: bool = False`, which exact compilation sets. A file without
`name = "<derived name>"` is no pass (a family of rules beside the pass that runs it).

An op that a pass inserts without a location gets the one of the op that it replaces: rewriting drivers do it by
`inherit_location`, builders inside `located(op)`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import cast

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from lamina.dialects.edit import inherit_location, inherit_name

__all__ = [
    "Context",
    "ModuleOp",
    "ModulePass",
    "fused_location",
    "has_location",
    "inherit_location",
    "inherit_name",
    "located",
    "node_names",
]


def has_location(op: Operation) -> bool:
    """Whether the op knows where it comes from."""
    return type(op.location) is not UnknownLoc


def node_names(location: Attribute) -> list[str]:
    """The model's nodes that a location names, each once."""
    if isinstance(location, NameLoc):
        return [location.desc.data]
    if isinstance(location, FusedLoc):
        parts = cast("ArrayAttr[Attribute]", location.locations)
        return list(dict.fromkeys(n for part in parts for n in node_names(part)))
    return []


def fused_location(ops: Sequence[Operation]) -> LocationAttr:
    """One location for an op made of several: theirs, each once, in order."""
    locations = list(dict.fromkeys(op.location for op in ops if not isinstance(op.location, UnknownLoc)))
    if not locations:
        return UNKNOWN_LOC
    return locations[0] if len(locations) == 1 else FusedLoc(tuple(locations), NoneAttr())


@contextmanager
def located(builder: Builder, source: Operation | LocationAttr) -> Generator[None]:
    """While it lasts, whatever the builder inserts gets the location of `source`."""

    def stamp(op: Operation) -> None:
        inherit_location(op, source)

    handlers = builder.operation_insertion_handler
    builder.operation_insertion_handler = [*handlers, stamp]
    try:
        yield
    finally:
        builder.operation_insertion_handler = handlers
