"""`tvm.contrib.graph_executor`: compiled models with inputs that are set and outputs that are asked for."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm.relay.graph_json import check_graph
from lamina.compat.tvm.relay.graph_program import GraphModule
from lamina.measure.summaries import BenchmarkResult, timed


def create(graph_json: Any, libmod: Any = None, device: Any = None) -> GraphModule:
    """The program of a library.

    Its graph is in the library; raises LaminaError where another one is given: the kernels of that are machine code of
    the library that it was written with.
    """
    if libmod is None:
        return GraphModule(graph_json)
    made = GraphModule(libmod)
    if graph_json is not None:
        check_graph(graph_json, made.module.library.get_graph_json())
    return made


__all__ = ["BenchmarkResult", "GraphModule", "create", "timed"]
