"""Graphs of kernels as TVM writes them for its graph executor: nodes, arg_nodes, heads, attrs, node_row_ptr.

A graph names its kernels; what they compute is machine code of a library. So one that another compiler has written can
be read, and not run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from lamina.errors import InputError, UnsupportedError, UsageError

_NO_CALL = "__nop"
"""In the place of a kernel: a node whose result lies where its argument does."""


def graph_json(graph: Mapping[str, Any]) -> str:
    """TVM's JSON of a graph of calls (`lamina.driver.call_graph`). Each value has a storage of its own."""
    nodes: list[dict[str, Any]] = []
    rows = [0]
    shapes: list[list[int]] = []
    dtypes: list[str] = []
    for name, kernel, reads, results in graph["nodes"]:
        node: dict[str, Any] = {"op": "null", "name": name, "inputs": []}
        if kernel:
            node |= {
                "op": "tvm_op",
                "attrs": {
                    "num_outputs": str(len(results)),
                    "num_inputs": str(len(reads)),
                    "flatten_data": "0",
                    "func_name": kernel,
                },
                "inputs": [[place, result, 0] for place, result in reads],
            }
        nodes.append(node)
        shapes += [shape for shape, _ in results]
        dtypes += [dtype for _, dtype in results]
        rows.append(rows[-1] + len(results))
    found = {
        "nodes": nodes,
        "arg_nodes": [n for n, node in enumerate(nodes) if node["op"] == "null"],
        "heads": [[node, result, 0] for node, result in graph["outputs"]],
        "attrs": {
            "dltype": ["list_str", dtypes],
            "device_index": ["list_int", [1] * len(dtypes)],
            "storage_id": ["list_int", list(range(len(dtypes)))],
            "shape": ["list_shape", shapes],
        },
        "node_row_ptr": rows,
    }
    return json.dumps(found, indent=2)


def check_graph(given: Any, own: str) -> None:
    """Compare a graph with that of a library, both as JSON.

    Raises InputError for what is no graph, and for one that differs; UnsupportedError for one with kernels that the
    library has not; UsageError for another type.
    """
    if not isinstance(given, (str, bytes, bytearray)):
        raise UsageError(f"a graph is JSON, not {type(given).__name__}", hint="lib.get_graph_json()")
    graph, known = _parsed(given), _parsed(own)
    if graph == known:
        return
    foreign = sorted(kernels_of(graph) - kernels_of(known) - {_NO_CALL})
    if foreign:
        what = f"the graph calls {foreign[0]!r}, which the library does not have"
        hint = "kernels are machine code: a graph runs with the library that it was written with"
        raise UnsupportedError(what, hint=hint)
    raise InputError("the graph is not that of the library", hint="lib.get_graph_json() gives it")


def kernels_of(graph: Mapping[str, Any]) -> set[str]:
    """The names of the kernels that a graph calls."""
    return {str(n["attrs"]["func_name"]) for n in graph["nodes"] if n.get("op") == "tvm_op"}


def _parsed(text: str | bytes | bytearray) -> dict[str, Any]:
    try:
        found: Any = json.loads(text)
        kernels_of(found)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InputError("this is no graph of TVM's as JSON", hint="lib.get_graph_json() gives one") from None
    return cast("dict[str, Any]", found)
