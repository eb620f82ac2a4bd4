"""Results of a run node by node: times, shapes, values, and the files that TVM's tools read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lamina.compat.tvm.nd import NDArray
from lamina.compat.tvm.relay.param_dict import save_param_dict
from lamina.measure.timing import columns

if TYPE_CHECKING:
    from lamina.compat.tvm.contrib.debugger.debug_executor import Node

GRAPH_DUMP_FILE_NAME = "_tvmdbg_graph_dump.json"
CHROME_TRACE_FILE_NAME = "_tvmdbg_execution_trace.json"
OUTPUT_FILE = "output_tensors.params"


class DebugResult:
    """The nodes of a graph with their times, in seconds, and their outputs."""

    def __init__(self, nodes: Sequence[Node], dump_path: Path | None) -> None:
        self.nodes = list(nodes)
        self._dump_path = dump_path
        self.times: list[list[float]] = [[0.0] for _ in self.nodes]
        """The mean time of each node in each repeat."""

    def get_graph_nodes(self) -> list[dict[str, Any]]:
        """The nodes as TVM's graph dump has them: name, op, inputs, attributes, shape."""
        return [
            {
                "name": n.name,
                "op": n.kernel or "param",
                "inputs": [self.nodes[place].name for place, _ in n.reads],
                "attrs": {"func_name": n.kernel, "T": "type: " + n.results[0][1]},
                "shape": list(n.results[0][0]),
            }
            for n in self.nodes
        ]

    def get_graph_nodes_list(self) -> list[str]:
        return [n.name for n in self.nodes]

    def get_graph_node_shapes(self) -> list[list[int]]:
        """The shape of each output of each node, in order."""
        return [list(shape) for n in self.nodes for shape, _ in n.results]

    def get_graph_node_output_num(self, node: Any) -> int:
        """The number of outputs that a node has (by its name or its entry of `get_graph_nodes`)."""
        name: Any = cast("dict[str, Any]", node)["name"] if isinstance(node, dict) else node
        return next(len(n.results) for n in self.nodes if n.name == name)

    def get_output_tensors(self) -> dict[str, NDArray]:
        """The outputs of all nodes: `name____topo-index:3____output-num:0`, as TVM calls them."""
        found: dict[str, NDArray] = {}
        for place, n in enumerate(self.nodes):
            for number, array in enumerate(n.values):
                found[f"{n.name}____topo-index:{place}____output-num:{number}"] = NDArray(array, n.device)
        return found

    def rows(self) -> list[tuple[int, Node, float]]:
        """The nodes that compute something, with their mean times over all repeats."""
        means = [sum(t) / len(t) for t in self.times]
        return [(place, n, means[place]) for place, n in enumerate(self.nodes) if n.kernel]

    def get_debug_result(self, sort_by_time: bool = True) -> str:
        """The table of times."""
        rows = self.rows()
        total = sum(seconds for *_, seconds in rows) or 1.0
        if sort_by_time:
            rows.sort(key=lambda r: -r[2])
        lines = [("Time(us)", "Time(%)", "Outputs", "Shape", "Ops")]
        lines += [
            (f"{s * 1e6:.3f}", f"{s / total * 100:.3f}", str(len(n.results)), str(tuple(n.results[0][0])), n.name)
            for _, n, s in rows
        ]
        return columns([*lines, (f"{sum(r[2] for r in rows) * 1e6:.3f}", "100.000", "-", "-", "Total_time")])

    def display_debug_result(self, sort_by_time: bool = True) -> None:
        """Print the table."""
        print(self.get_debug_result(sort_by_time))

    # -- files --------------------------------------------------------------------------------------------------

    def _write(self, name: str, data: bytes) -> None:
        if self._dump_path is not None:
            self._dump_path.mkdir(parents=True, exist_ok=True)
            (self._dump_path / name).write_bytes(data)

    def dump_graph_json(self, graph: Any) -> None:
        """Write the nodes for a viewer of graphs."""
        self._write(GRAPH_DUMP_FILE_NAME, json.dumps(graph, indent=4).encode())

    def dump_output_tensor(self) -> None:
        """Write the outputs of all nodes, for `relay.load_param_dict`."""
        self._write(OUTPUT_FILE, bytes(save_param_dict(self.get_output_tensors())))

    def dump_chrome_trace(self) -> None:
        """Write the times for the viewer of traces in a browser."""
        events: list[dict[str, Any]] = []
        at = 0.0
        for _, n, seconds in self.rows():
            for phase, moment in (("B", at), ("E", at + seconds)):
                events.append({"ts": moment * 1e6, "ph": phase, "tid": 1, "pid": 1, "name": n.name, "args": {}})
            at += seconds
        self._write(CHROME_TRACE_FILE_NAME, json.dumps({"displayTimeUnit": "ns", "traceEvents": events}).encode())


__all__ = ["DebugResult"]
