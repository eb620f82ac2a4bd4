"""`debug_executor`: a program node by node, with the time and the outputs of each.

    m = debug_executor.create(lib.get_graph_json(), lib, tvm.cpu(), dump_root="/tmp/dumps")
    m.set_input("x", data)
    m.run()
    m.debug_get_output("fused_nn_conv2d_add_nn_relu")

A node is one of the functions that the graph passes leave, compiled by itself: its times are those of a call, and its
outputs are there however the whole program shares its memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from lamina.compat.tvm.contrib.debugger.debug_result import DebugResult
from lamina.compat.tvm.devices import Device
from lamina.compat.tvm.nd import NDArray
from lamina.compat.tvm.profiling import Report
from lamina.compat.tvm.relay.graph_json import check_graph
from lamina.compat.tvm.relay.graph_program import GraphModule
from lamina.dialects.dtypes import dtype_name
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp, constant_array
from lamina.dialects.relay.params import ParamStore
from lamina.driver.api import Executable
from lamina.errors import UnsupportedError, UsageError, did_you_mean
from lamina.runtime.exported import ExportedNet

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Node:
    """An input, a weight, or a call: then with its program."""

    name: str
    kernel: str
    reads: list[tuple[int, int]]
    results: list[tuple[tuple[int, ...], str]]
    device: Device
    run: Callable[[list[Array]], list[Array]] | None = None
    values: list[Array] = field(default_factory=list[Any])
    """Its outputs in the last run."""


class GraphModuleDebug(GraphModule):
    """A compiled model that is run node by node."""

    def __init__(
        self, module: Any, device: Any = None, graph_json_str: str | None = None, dump_root: str | None = None
    ) -> None:
        super().__init__(module)
        library = self.module.library
        if library.ir_mod is None:
            raise UnsupportedError(
                "a library that was loaded from a file is not run node by node", hint="relay.build it here"
            )
        self._dump_root = dump_root
        folder = f"_tvmdbg_device_{str(self.module.device.kind).upper()}_{self.module.device.device_id}"
        self.nodes = _nodes(library, self.module.device)
        self.debug_datum = DebugResult(self.nodes, Path(dump_root) / folder if dump_root else None)
        self._dump_path = str(Path(dump_root) / folder) if dump_root else None

    def _given(self) -> dict[str, Any]:
        for name, port in self._ports.items():
            if name not in self._arrays:
                self._arrays[name] = np.zeros(port.shape, port.dtype if port.dtype != "bool" else bool)
        return self._arrays

    def _step(self, node: Node) -> None:
        assert node.run is not None
        node.values = node.run([self.nodes[place].values[number] for place, number in node.reads])

    def _compute(self) -> None:
        """Every node once."""
        given = self._given()
        for node in self.nodes:
            if node.run is not None:
                self._step(node)
            elif node.name in given:
                node.values = [np.asarray(given[node.name])]

    def run(
        self,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: int = 1,
        limit_zero_time_iterations: int = 100,
        cooldown_interval_ms: int = 0,
        repeats_to_cooldown: int = 1,
        **input_dict: Any,
    ) -> None:
        """Run every node, print the times, and write the files where a folder for them is given."""
        self.set_input(**input_dict)
        self.run_individual(number, repeat, min_repeat_ms)
        self._outputs = list(self._executable.run(self._arrays).values())
        if self._dump_root is not None:
            self.debug_datum.dump_graph_json({"nodes": self.debug_datum.get_graph_nodes()})
            self.debug_datum.dump_output_tensor()
            self.debug_datum.dump_chrome_trace()
        self.debug_datum.display_debug_result()

    def run_individual(
        self,
        number: int,
        repeat: int = 1,
        min_repeat_ms: int = 0,
        limit_zero_time_iterations: int = 100,
        cooldown_interval_ms: int = 0,
        repeats_to_cooldown: int = 1,
    ) -> list[list[float]]:
        """The mean seconds of each node in each repeat; inputs and weights take none."""
        self._compute()
        found = [self.run_individual_node(n, number, repeat, min_repeat_ms) for n in range(len(self.nodes))]
        self.debug_datum.times = found
        return found

    def run_individual_node(
        self, index: int, number: int = 10, repeat: int = 1, min_repeat_ms: int = 0, *_: object
    ) -> list[float]:
        """The mean seconds of a node in each repeat."""
        node = self.nodes[index]
        if node.run is None:
            return [0.0] * repeat
        if any(not self.nodes[place].values for place, _ in node.reads):
            self._compute()
        times: list[float] = []
        for _n in range(repeat):
            count, spent = 0, 0.0
            while count < max(1, number) or spent * 1000 < min_repeat_ms:
                start = perf_counter()
                self._step(node)
                spent += perf_counter() - start
                count += 1
            times.append(spent / count)
        return times

    def _place(self, node: Any) -> int:
        if isinstance(node, int):
            if not 0 <= node < len(self.nodes):
                raise UsageError(f"there is no node {node}; there are {len(self.nodes)}")
            return node
        names = [n.name for n in self.nodes]
        if node not in names:
            raise UsageError(f"there is no node {node!r}", hint=did_you_mean(str(node), names) or "see get_graph_nodes")
        return names.index(node)

    def debug_get_output(self, node: Any, out: Any = None) -> NDArray:
        """The first output of a node by its name or number, computed now from the inputs that are set."""
        self._compute()
        return self._value(self._place(node), 0, out)

    def get_node_output(self, node: Any, index: int = 0, out: Any = None) -> NDArray:
        """An output of a node in the last run."""
        place = self._place(node)
        if not self.nodes[place].values:
            self._compute()
        return self._value(place, index, out)

    def execute_node(self, node_name: str) -> NDArray:
        """Run a node on what stands before it; its first output."""
        place = self._place(node_name)
        if any(not self.nodes[p].values for p, _ in self.nodes[place].reads):
            self._compute()
        elif self.nodes[place].run is not None:
            self._step(self.nodes[place])
        return self._value(place, 0, None)

    def _value(self, place: int, number: int, out: Any) -> NDArray:
        found = NDArray(self.nodes[place].values[number], self.module.device)
        return out.copyfrom(found) if isinstance(out, NDArray) else found

    def profile(self, collectors: Any = None, **input_dict: Any) -> Report:
        """The time of each node in one run."""
        self.set_input(**input_dict)
        times = self.run_individual(1)
        shapes = [[self.nodes[p].results[r] for p, r in n.reads] for n in self.nodes]
        rows = [(n.kernel, times[i][0], shapes[i]) for i, n in enumerate(self.nodes) if n.run is not None]
        return Report.of(rows, str(self.module.device))

    def exit(self) -> None:
        """TVM removes its dumps; here they are the user's."""


def _nodes(library: Any, device: Device) -> list[Node]:
    """The inputs, weights and calls of a program, in order."""
    from lamina.compat.tvm.relay.build_module import optimized, with_params

    if isinstance(library.executable, ExportedNet):
        raise UnsupportedError("an exported library is not run node by node", hint="debug what relay.build gave")
    executable: Executable = library.executable
    bound = with_params(library.ir_mod, library.params)
    module, store = optimized(bound, executable.target, executable.context)
    main = next(op for op in module.body.block.ops if isinstance(op, func.FuncOp) and op.sym_name.data == "main")
    nodes: list[Node] = []
    places: dict[SSAValue, tuple[int, int]] = {}
    taken: set[str] = set()

    def add(wanted: str, kernel: str, reads: list[tuple[int, int]], values: list[SSAValue]) -> Node:
        name, count = wanted, 0
        while name in taken:
            count += 1
            name = f"{wanted}_{count}"
        taken.add(name)
        places.update({v: (len(nodes), n) for n, v in enumerate(values)})
        types = [cast("Any", v.type) for v in values]
        results = [(tuple(t.get_shape()), dtype_name(t.element_type)) for t in types]
        nodes.append(Node(name, kernel, reads, results, device))
        return nodes[-1]

    for port, argument in zip(executable.inputs, main.body.block.args, strict=True):
        add(port.name, "", [], [argument])
    weights = 0
    for op in main.body.block.ops:
        if isinstance(op, ConstantOp):
            node = add(f"p{weights}", "", [], [op.result])
            node.values = [constant_array(op, store)]
            weights += 1
        elif isinstance(op, (CallOp, func.CallOp)):
            callee = op.function() if isinstance(op, CallOp) else None
            name = (callee.result.name_hint or "call") if callee else cast(func.CallOp, op).callee.string_value()
            node = add(name, name, [places[a] for a in op.arguments], list(op.results))
            node.run = _program(op, callee, module, store, executable)
        elif not isinstance(op, (FnOp, func.ReturnOp)):
            raise UnsupportedError(f"a program with {op.name} is not run node by node", hint="relay.vm.compile")
    return nodes


def _program(
    op: CallOp | func.CallOp, callee: FnOp | None, module: ModuleOp, store: ParamStore, like: Executable
) -> Callable[[list[Array]], list[Array]]:
    """The program of one call."""
    import lamina
    from lamina.compat.tvm.composite_targets import compile_target
    from lamina.compat.tvm.ir_module import IRModule
    from lamina.compat.tvm.relay.build_module import model_of

    block = Block(arg_types=[a.type for a in op.arguments])
    if callee is not None:
        function = callee.clone()
        function.result.name_hint = callee.result.name_hint
        call: Operation = CallOp.make(function.result, *block.args)
        block.add_ops([function, call])
    else:
        call = func.CallOp(cast(func.CallOp, op).callee, list(block.args), list(op.result_types))
        block.add_op(call)
    block.add_op(func.ReturnOp(*call.results))
    type_ = FunctionType.from_lists(list(block.arg_types), list(call.result_types))
    used = cast(func.CallOp, call).callee.string_value() if callee is None else ""
    others = [o.clone() for o in module.body.block.ops if isinstance(o, func.FuncOp) and o.sym_name.data == used]
    made = ModuleOp([func.FuncOp("main", type_, Region(block)), *others])
    model = model_of(IRModule.of_ir(made, store), "node")
    # What goes to external compilers is decided: the target names none.
    executable = lamina.compile(model, compile_target("llvm"), opt_level=like.context)
    names = [p.name for p in executable.inputs]
    return lambda arrays: list(executable.run(dict(zip(names, arrays, strict=True))).values())


def create(
    graph_json_str: Any, libmod: Any = None, device: Any = None, dump_root: str | None = None
) -> GraphModuleDebug:
    """The program of a library, to be run node by node.

    Its graph is in the library; raises LaminaError where another one is given.
    """
    if libmod is None:
        return GraphModuleDebug(graph_json_str, device, None, dump_root)
    made = GraphModuleDebug(libmod, device, None, dump_root)
    if graph_json_str is not None:
        check_graph(graph_json_str, made.module.library.get_graph_json())
    return made


__all__ = ["GraphModuleDebug", "Node", "create"]
