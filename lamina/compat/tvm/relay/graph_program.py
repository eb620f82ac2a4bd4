"""The library that `relay.build` makes, and that `tvm.runtime.load_module` reads back from `lib.export_library`.

    lib.export_library("net.so")                          or .o, .a, .tar: library_files.py
    lib = tvm.runtime.load_module("net.tar")
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))

The weights are in it. The graph is TVM's JSON, made from ours: its nodes are the kernels in the order of their calls.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.compat.tvm.devices import Device, cpu
from lamina.compat.tvm.nd import NDArray, as_ndarray
from lamina.compat.tvm.relay.graph_json import graph_json
from lamina.compat.tvm.relay.library_files import rewrite_library, write_library
from lamina.compat.tvm.relay.param_dict import load_param_dict
from lamina.dialects.relay.params import array_digest
from lamina.driver.api import Executable
from lamina.driver.exportable import ExportableProgram
from lamina.driver.relay_source import ValuePort
from lamina.errors import InputError, UnsupportedError, UsageError, did_you_mean
from lamina.measure.summaries import BenchmarkResult, timed
from lamina.runtime.exported import ExportedNet

if TYPE_CHECKING:
    from lamina.compat.tvm.ir_module import IRModule

_PARAMS, NAME = "tvm.params", "tvm.name"


class GraphExecutorFactoryModule:
    """A compiled module: `lib["default"](dev)` is the program for `graph_executor.GraphModule`."""

    def __init__(
        self,
        executable: Executable | ExportedNet | ExportableProgram,
        mod: IRModule | None,
        params: Mapping[str, Any],
        name: str = "default",
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
        self.runnable()

        def program(device: Device | None = None) -> GraphProgram:
            return GraphProgram(self, device or cpu(0))

        return program

    def runnable(self) -> Executable | ExportedNet:
        """The program. Raises UnsupportedError for one of another machine."""
        if isinstance(self.executable, ExportableProgram):
            what = f"code for {self.executable.target.triple.data} does not run here"
            raise UnsupportedError(what, hint="lib.export_library(...) writes it for where it does")
        return self.executable

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
        if isinstance(self.executable, ExportedNet):
            raise UnsupportedError("an exported library has no texts", where=self.executable.path)
        return self.executable.text({"": "ll"}.get(fmt, fmt))

    def export_library(
        self, file_name: str | os.PathLike[str], *, fcompile: Any = None, addons: Any = None, **_: Any
    ) -> str:
        """Write the library into one file; its path. No compiler is called.

        The suffix says which (`library_files.py`): .so, a shared library with the C interface of `lamina.h`, .o and .a
        for a linker, .tar with the object in it, any other our own format. The net is called as the module,
        `lamina_default` in C.
        `fcompile`, which links in TVM, is left out; `addons` cannot be part of the file. Raises LaminaError.
        """
        if addons:
            raise UsageError("addons cannot be exported", hint="the file holds the program and its weights")
        if isinstance(self.executable, ExportedNet):
            rewrite_library(self.executable, file_name)
            return str(file_name)
        digests = {name: array_digest(value.numpy_view) for name, value in self.params.items()}
        known = {_PARAMS: digests, NAME: self.libmod_name}
        if not self.params and isinstance(self.executable, Executable) and self.executable.notes:
            known = self.executable.notes
        write_library(self.executable, file_name, self.libmod_name, known)
        return str(file_name)

    def is_weight(self, name: str, value: Any) -> bool:
        """Whether a name is that of a weight, which is part of the program. Raises InputError for other values."""
        if name in self.params:
            same = np.array_equal(self.params[name].numpy_view, as_ndarray(value).numpy_view)
        else:
            notes = {} if isinstance(self.executable, ExportableProgram) else self.executable.notes
            digests: dict[str, str] = notes.get(_PARAMS, {})
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
    """Names of the functions that `get_function` finds."""

    def __init__(self, library: GraphExecutorFactoryModule, device: Device) -> None:
        self.library = library
        self.device = device
        self.session: GraphModule | None = None
        """The session that holds the inputs and outputs, made when it is first needed."""

    def get_function(self, name: str) -> Callable[..., Any]:
        """A function by its name. Raises UsageError where there is none."""
        if name not in self.FUNCTIONS:
            near = did_you_mean(name, list(self.FUNCTIONS)) or f"there are {', '.join(self.FUNCTIONS)}"
            raise UsageError(f"the program has no function {name!r}", hint=near)
        if self.session is None:
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
        """Return a timer of a function: each of `repeat` figures is the mean of `number` calls, after a first one."""
        function = self.get_function(func_name)

        def evaluate(*args: Any) -> BenchmarkResult:
            function(*args)
            return timed(lambda: function(*args), number, repeat, min_repeat_ms)

        return evaluate


class GraphModule:
    """A compiled model: `set_input`, `run`, `get_output`."""

    def __init__(self, module: Any) -> None:
        if isinstance(module, GraphExecutorFactoryModule):
            module = module["default"]()
        if not isinstance(module, GraphProgram):
            raise UsageError("GraphModule takes a program", hint='graph_executor.GraphModule(lib["default"](dev))')
        self.module = module
        """The program; its functions work on what is set here: `module["run"]`, `module.time_evaluator("run")`."""
        module.session = self
        self._executable = module.library.runnable()
        self._ports = {p.name: p for p in self._executable.inputs}
        self._arrays: dict[str, Any] = {}
        self._outputs: list[Any] = []

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """A function by its name."""
        return self.module[name]

    def set_input(self, key: Any = None, value: Any = None, **params: Any) -> None:
        """Give an input by name or number, and more by keyword. Weights that are in the program are left out."""
        given: dict[Any, Any] = dict(params)
        if key is not None:
            given[key] = value
        for k, v in given.items():
            name = list(self._ports)[k] if isinstance(k, int) and 0 <= k < len(self._ports) else k
            if name not in self._ports:
                if self.module.library.is_weight(str(name), v) or k in params:
                    continue
                hint = did_you_mean(str(name), list(self._ports)) or f"there are {', '.join(self._ports) or 'none'}"
                raise InputError(f"the program has no input {name!r}", hint=hint)
            self._arrays[name] = self._fitted(name, v)

    def _fitted(self, name: str, value: Any) -> Any:
        port = self._ports[name]
        if isinstance(port, ValuePort):
            return value.numpy_view if isinstance(value, NDArray) else value
        array = value.numpy_view if isinstance(value, NDArray) else np.asarray(value)
        if tuple(array.shape) != tuple(port.shape):
            raise InputError(f"input {name!r} has shape {list(port.shape)}, not {list(array.shape)}")
        try:
            return np.array(array, port.dtype if port.dtype != "bool" else bool, order="C")
        except (ValueError, TypeError) as e:
            said = " ".join(str(e).split())[:120]
            raise InputError(f"input {name!r} is {port.dtype}, not {array.dtype}: {said}") from None

    set_input_zero_copy = set_input

    def load_params(self, params_bytes: bytes | bytearray) -> None:
        """Give inputs from `relay.save_param_dict`."""
        self.set_input(**load_param_dict(params_bytes))

    def run(self, **input_dict: Any) -> None:
        """Run on the inputs that are set."""
        self.set_input(**input_dict)
        missing = [n for n in self._ports if n not in self._arrays]
        for name in missing:
            port = self._ports[name]
            if isinstance(port, ValuePort):
                raise InputError(f"input {name!r} is not set")
            self._arrays[name] = np.zeros(port.shape, port.dtype if port.dtype != "bool" else bool)
        self._outputs = list(self._executable.run(self._arrays).values())

    def get_num_outputs(self) -> int:
        return len(self._executable.outputs)

    def get_num_inputs(self) -> int:
        return len(self._ports)

    def get_input(self, index: Any, out: NDArray | None = None) -> NDArray:
        """An input that is set."""
        name = list(self._ports)[index] if isinstance(index, int) else index
        found = NDArray(self._arrays[name], self.module.device)
        return out.copyfrom(found) if out is not None else found

    def get_input_index(self, name: str) -> int:
        """The number of an input, -1 for a name of none."""
        return list(self._ports).index(name) if name in self._ports else -1

    def get_input_info(self) -> tuple[dict[str, tuple[int, ...]], dict[str, str]]:
        """Shapes and dtypes of the inputs by their names."""
        return {n: p.shape for n, p in self._ports.items()}, {n: p.dtype for n, p in self._ports.items()}

    def get_output(self, index: int, out: NDArray | None = None) -> NDArray:
        """A result of the last run, put into `out` where that is given."""
        if not self._outputs:
            raise UsageError("there is no output yet", hint="run() comes before get_output()")
        if not 0 <= index < len(self._outputs):
            raise UsageError(f"there is no output {index}; there are {len(self._outputs)}")
        found = NDArray(self._outputs[index], self.module.device)
        return out.copyfrom(found) if out is not None else found

    def benchmark(
        self,
        device: Any = None,
        func_name: str = "run",
        repeat: int = 5,
        number: int = 5,
        min_repeat_ms: int | None = None,
        end_to_end: bool = False,
        **_: Any,
    ) -> BenchmarkResult:
        """The mean time of `number` runs, `repeat` times, in seconds."""
        self.run()
        return timed(self.run, number, repeat, min_repeat_ms)
