"""Attributes that a script's `forward` assigns: what one call leaves is what the next one finds.

They become inputs and outputs of the program (`dialects/relay/program_state.py`), numbers among them constants. A first
call may find other things than later ones, such as an empty tensor for no state yet: the script is followed until it
leaves what it has found, and the first call must then compute what a later one computes from zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from xdsl.transforms.common_subexpression_elimination import cse

from lamina.dialects.infos import TensorInfo
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.dialects.relay.program_state import StateVariable
from lamina.errors import UnsupportedError
from lamina.frontends.aten.graph import AtenGraph, Ref
from lamina.frontends.aten.importer import import_graph

Kept: TypeAlias = "Mapping[str, TensorInfo | bool | int | float | str | None]"
"""Attributes by their paths: types of tensors, and values of what is none."""
MOST_ROUNDS = 4
"""Calls after which a script must leave what it has found."""


@dataclass
class Followed:
    """A call of a script: its graph, with an output for each tensor that it leaves, and what it leaves."""

    graph: AtenGraph
    left: Kept
    begins: Mapping[str, Any]
    """The arrays of the file that attributes had before."""


def next_name(path: str) -> str:
    """The name of the output that leaves an attribute."""
    return f"{path}:next"


def graph_of_later_calls(follow: Callable[[Kept], Followed]) -> AtenGraph:
    """The graph of a script's calls; `follow` gives that of a call which finds some attributes.

    Raises UnsupportedError where each call leaves something else, or the first one computes something else.
    """
    first = follow({})
    if not first.left:
        return first.graph
    now, found = first, first.left
    for _ in range(MOST_ROUNDS):
        now = follow(found)
        if now.left == found:
            break
        found = now.left
    else:
        raise _refused(first, "each call leaves something else")
    states: list[StateVariable] = []
    same = first.left == found
    for path, info in found.items():
        if isinstance(info, TensorInfo):
            begin = first.begins.get(path)
            fits = begin is not None and (begin.shape, str(begin.dtype)) == (info.shape, info.dtype)
            same = same and fits
            initial = begin if fits and begin is not None else np.zeros(info.shape, numpy_dtype(info.dtype))
            states.append(StateVariable(path, next_name(path), initial))
    if not same and not _computes(now.graph, states, first.graph):
        raise _refused(first, "its first call computes something else than later calls from zeros")
    return replace(now.graph, states=tuple(states))


def _computes(later: AtenGraph, states: list[StateVariable], first: AtenGraph) -> bool:
    """Whether a graph is the first call's where it finds the initial values."""
    initial = {s.input: s.initial for s in states}
    begun = [replace(i, array=initial[i.name]) if i.name in initial else i for i in later.inputs]
    one, other = (import_graph(g).module for g in (replace(later, inputs=begun), first))
    for module in (one, other):
        cse(module)
    return one.is_structurally_equivalent(other)


def _refused(followed: Followed, what: str) -> UnsupportedError:
    return UnsupportedError(
        f"the script keeps {', '.join(followed.left)} from call to call, and {what}", where=followed.graph.label,
        hint="give its state as inputs and outputs of forward",
    )  # fmt: skip


def leaves(value: Any) -> list[Any]:
    """The tensors of a result, in order."""
    if isinstance(value, Ref):
        return [value]
    if isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in leaves(v)]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return [leaf for v in value.values() for leaf in leaves(v)]  # pyright: ignore[reportUnknownVariableType]
    return []
