"""`tvm.contrib.graph_executor`: compiled models with inputs that are set and outputs that are asked for."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm.relay.graph_program import BenchmarkResult, GraphModule, timed


def create(graph_json: Any, libmod: Any = None, device: Any = None) -> GraphModule:
    """The program of a library; its graph is in the library."""
    return GraphModule(libmod if libmod is not None else graph_json)


__all__ = ["BenchmarkResult", "GraphModule", "create", "timed"]
