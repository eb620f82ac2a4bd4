"""What `relay.build` gives, and what `tvm.runtime.load_module` reads back from `lib.export_library`.

    lib.export_library("net.tar")                         one file, whatever its suffix: lamina/driver/artefact.py
    lib = tvm.runtime.load_module("net.tar")
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))

The weights are in it. The graph is TVM's JSON, made from ours: its nodes are the kernels in the order of their calls.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.compat.tvm.nd import NDArray, array
from lamina.compat.tvm.runtime import Device, cpu
from lamina.dialects.relay.params import array_digest
from lamina.driver import artefact
from lamina.driver.api import Executable
from lamina.errors import InputError, UsageError, did_you_mean

if TYPE_CHECKING:
    from lamina.compat.tvm.contrib.graph_executor import BenchmarkResult, GraphModule
    from lamina.compat.tvm.ir import IRModule

_PARAMS, _NAME = "tvm.params", "tvm.name"


class GraphExecutorFactoryModule:
    """A compiled module: `lib["default"](dev)` is the program for `graph_executor.GraphModule`."""

    def __init__(
        self, executable: Executable, mod: IRModule | None, params: Mapping[str, Any], name: str = "default"
    ) -> None:
        self.executable = executable
        self.ir_mod = mod
        self.params: dict[str, NDArray] = {k: as_ndarray(v) for k, v in params.items()}
        self.libmod_name = name
        self.imported_modules: list[Any] = []

    type_key = "GraphExecutorFactory"

    def __getitem__(self, name: str) -> Any:
        if name in ("debug_create", "create"):

            def made(module_name: str, *devices: Any) -> Any:
                return self[module_name](*devices[:1])

            return made
        if name not in ("default", self.libmod_name):
            raise UsageError(f"the library has no {name!r}", hint='its program is lib["default"]')

        def program(device: Device | None = None) -> GraphProgram:
            return GraphProgram(self, device or cpu(0))

        return program

    def __iter__(self) -> Iterator[Any]:
        """The graph, the library and the weights, as `relay.build` gave them before TVM 0.7."""
        return iter((self.get_graph_json(), self, self.params))

    def get_params(self) -> dict[str, NDArray]:
        """The weights that were given to `relay.build`."""
        return dict(self.params)

    def get_lib(self) -> GraphExecutorFactoryModule:
        return self

    @property
    def lib(self) -> GraphExecutorFactoryModule:
        return self

    module = lib

    def get_graph_json(self) -> str:
        """The graph in TVM's format: nodes, arg_nodes, heads, attrs, node_row_ptr."""
        return graph_json(self.executable.graph)

    graph_json = property(get_graph_json)
    get_executor_config = get_graph_json

    def get_source(self, fmt: str = "") -> str:
        """The program at a level: `relay`, `te`, `tir`, `llvm`, `ll` or `asm`. A loaded one has none."""
        return self.executable.text({"": "ll"}.get(fmt, fmt))

    def export_library(
        self, file_name: str | os.PathLike[str], *, fcompile: Any = None, addons: Any = None, **_: Any
    ) -> str:
        """Write the library into one file, in our format whatever the suffix; its path. No compiler is called.

        `fcompile`, which links in TVM, is left out; `addons` cannot be part of the file. Raises LaminaError.
        """
        if addons:
            raise UsageError("addons cannot be exported", hint="the file holds the program and its weights")
        digests = {name: array_digest(value.numpy_view) for name, value in self.params.items()}
        known = self.executable.notes if not self.params else {_PARAMS: digests, _NAME: self.libmod_name}
        self.executable.save(file_name, known or {_PARAMS: {}, _NAME: self.libmod_name})
        return str(file_name)

    def is_weight(self, name: str, value: Any) -> bool:
        """Whether a name is that of a weight, which is part of the program. Raises InputError for other values."""
        if name in self.params:
            same = np.array_equal(self.params[name].numpy_view, as_ndarray(value).numpy_view)
        else:
            digests: dict[str, str] = self.executable.notes.get(_PARAMS, {})
            if name not in digests:
                return False
            same = array_digest(as_ndarray(value).numpy_view) == digests[name]
        if not same:
            what = f"the weight {name!r} is part of the program and has another value there"
            raise InputError(what, hint="give it to relay.build, or build without params")
        return True


class GraphProgram:
    """A program on a device, with the inputs that are set: `program["set_input"]("x", x)`, `program["run"]()`."""

    FUNCTIONS = (
        *("set_input", "run", "get_output", "get_input", "get_num_inputs", "get_num_outputs"),
        *("get_input_index", "get_input_info", "load_params"),
    )
    """What it is asked for by name."""

    def __init__(self, library: GraphExecutorFactoryModule, device: Device) -> None:
        self.library = library
        self.device = device
        self.session: GraphModule | None = None
        """Who holds the inputs and outputs."""

    def get_function(self, name: str) -> Callable[..., Any]:
        """A function by its name. Raises UsageError where there is none."""
        if name not in self.FUNCTIONS:
            near = did_you_mean(name, list(self.FUNCTIONS)) or f"there are {', '.join(self.FUNCTIONS)}"
            raise UsageError(f"the program has no function {name!r}", hint=near)
        if self.session is None:
            from lamina.compat.tvm.contrib.graph_executor import GraphModule

            self.session = GraphModule(self)
        return getattr(self.session, name)

    __getitem__ = get_function

    def time_evaluator(
        self,
        func_name: str = "run",
        dev: Device | None = None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: float = 0,
        **_: Any,
    ) -> Callable[..., BenchmarkResult]:
        """What times a function: each of `repeat` figures is the mean of `number` calls, after a first one."""
        from lamina.compat.tvm.contrib.graph_executor import timed

        function = self.get_function(func_name)

        def evaluate(*args: Any) -> BenchmarkResult:
            function(*args)
            return timed(lambda: function(*args), number, repeat, min_repeat_ms)

        return evaluate


def load_library(path: str | os.PathLike[str]) -> Any:
    """What `export_library` wrote, of `relay.build`, `relay.vm.compile` or `tvm.build`. Raises InputError."""
    from lamina.compat.tvm.relay.backend import vm
    from lamina.tensor.module import Module

    saved = artefact.read(path, (artefact.PROGRAM, artefact.MACHINE, artefact.KERNEL))
    if saved.kind == artefact.KERNEL:
        return Module.of_saved(saved)
    machine = vm.Executable.of_saved(saved)
    if machine is not None:
        return machine
    executable = Executable.of_saved(saved)
    return GraphExecutorFactoryModule(executable, None, {}, executable.notes.get(_NAME, "default"))


def as_ndarray(value: Any) -> NDArray:
    """A value as an array of ours."""
    return value if isinstance(value, NDArray) else array(np.asarray(value))


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
