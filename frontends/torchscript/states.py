"""Attributes that a script's `forward` assigns or changes in place: what one call leaves is what the next one finds.

They become inputs and outputs of the program (`dialects/relay/program_state.py`), numbers among them constants. A first
call may find other things than later ones, such as an empty tensor for no state yet: the script is followed until it
leaves what it has found, and each call before must compute what a later one computes, the first one from the arrays of
the file or from zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.common_subexpression_elimination import cse

from lamina.dialects.infos import TensorInfo
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.dialects.relay.program_state import StateVariable
from lamina.errors import UnsupportedError
from lamina.frontends.aten.functional import functional, next_name, share_memory
from lamina.frontends.aten.graph import AtenGraph

Kept: TypeAlias = "Mapping[str, TensorInfo | bool | int | float | str | None]"
"""Attributes by their paths: types of tensors, and values of what is none."""
MOST_CALLS = 4
"""Calls after which a script must leave what it has found."""


@dataclass
class Followed:
    """A call of a script: its graph, with an output for each tensor that it leaves, and what it leaves."""

    graph: AtenGraph
    left: Kept
    begins: Mapping[str, Any]
    """The arrays of the file that attributes had before."""


def followed_call(graph: AtenGraph, left: Kept, begins: Mapping[str, Any], attribute: Callable[[str], Any]) -> Followed:
    """A followed call that leaves some attributes, and the weights that it changes in place.

    `attribute` gives what an attribute's path holds. Raises UnsupportedError where a weight is none of a module's, so
    that the next call would not find it.
    """
    assigned = [replace(i, array=None) if i.key in left else i for i in graph.inputs]
    made = functional(replace(graph, inputs=assigned), keeps=True)
    for weight in made.states:
        if attribute(weight.input) is not weight.initial:
            raise UnsupportedError(f"{weight.input} is changed, and is no attribute of a module", where=graph.label)
    changed = {w.input: TensorInfo(w.initial.shape, str(w.initial.dtype)) for w in made.states}
    return Followed(
        replace(made, inputs=graph.inputs, states=()), {**left, **changed},
        {**begins, **{w.input: w.initial for w in made.states}},
    )  # fmt: skip


def graph_of_later_calls(follow: Callable[[Kept], Followed], imported: Callable[[AtenGraph], ModuleOp]) -> AtenGraph:
    """The graph of a script's calls; `follow` gives that of a call which finds some attributes, `imported` its Relay.

    Raises UnsupportedError where each call leaves something else, or the first ones compute something else.
    """
    calls = [follow({})]
    first = calls[0]
    if not first.left:
        return first.graph
    while len(calls) < 2 or calls[-1].left != calls[-2].left:
        if len(calls) > MOST_CALLS:
            raise _refused(first, "each call leaves something else")
        calls.append(follow(calls[-1].left))
    later = calls[-1].graph
    begins = {path: first.begins.get(path) for path, info in first.left.items() if isinstance(info, TensorInfo)}
    ports = {i.name: i for i in later.inputs if i.name in begins}
    for path, port in ports.items():
        begin = begins[path]
        fits = begin is not None and (begin.shape, str(begin.dtype)) == (port.shape, port.dtype)
        # A weight has its name in the file, as in the first call; zeros stand for what the file has otherwise.
        array = begin if fits else np.zeros(port.shape, numpy_dtype(port.dtype))
        ports[path] = replace(port, array=array, key=path if fits else "")
    for port in (i for c in calls for i in c.graph.inputs if i.array is not None):
        shared = [p for p, a in begins.items() if p != port.key and share_memory(a, port.array)]
        if shared:
            raise _refused(first, f"{shared[0]} shares its memory with {port.key}")
    begun = replace(later, inputs=[ports.get(i.name, i) for i in later.inputs])
    pairs = [(begun, first.graph), *((later, c.graph) for c in calls[1:-1])]
    if not all(_alike(imported(one), imported(other)) for one, other in pairs):
        raise _refused(first, "its first calls compute something else than later ones from zeros")
    states = [
        StateVariable(path, next_name(path), port.array) for path, port in ports.items() if port.array is not None
    ]
    return replace(later, states=tuple(states))


def _alike(one: ModuleOp, other: ModuleOp) -> bool:
    """Whether two programs have the same inputs and compute the same, op by op."""
    cse(one)
    cse(other)
    return one.is_structurally_equivalent(other)


def _refused(followed: Followed, what: str) -> UnsupportedError:
    return UnsupportedError(
        f"the script keeps {', '.join(followed.left)} from call to call, and {what}", where=followed.graph.label,
        hint="give its state as inputs and outputs of forward",
    )  # fmt: skip
