"""`tvm.contrib.graph_executor`: compiled models with inputs that are set and outputs that are asked for."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from lamina.compat.tvm.nd import NDArray
from lamina.compat.tvm.relay.build_module import GraphExecutorFactoryModule, GraphProgram
from lamina.driver.relay_source import ValuePort
from lamina.errors import InputError, UsageError, did_you_mean


class BenchmarkResult:
    """Seconds of runs."""

    def __init__(self, results: list[float]) -> None:
        self.results = results

    @property
    def mean(self) -> float:
        return float(np.mean(self.results))

    @property
    def median(self) -> float:
        return float(np.median(self.results))

    @property
    def min(self) -> float:
        return float(np.min(self.results))

    @property
    def max(self) -> float:
        return float(np.max(self.results))

    @property
    def std(self) -> float:
        return float(np.std(self.results))

    def __str__(self) -> str:
        names = ("mean (ms)", "median (ms)", "max (ms)", "min (ms)", "std (ms)")
        values = (self.mean, self.median, self.max, self.min, self.std)
        return (
            "Execution time summary:\n"
            + "".join(f" {n:^12} " for n in names)
            + "\n"
            + "".join(f" {v * 1000:^12.4f} " for v in values)
        )

    __repr__ = __str__


def timed(run: Callable[[], object], number: int, repeat: int, min_repeat_ms: float | None = None) -> BenchmarkResult:
    """The mean time of `number` runs, of more where these take less than `min_repeat_ms`, `repeat` times."""
    times: list[float] = []
    for _ in range(repeat):
        count, spent = 0, 0.0
        while count < number or spent * 1000 < (min_repeat_ms or 0):
            start = perf_counter()
            run()
            spent += perf_counter() - start
            count += 1
        times.append(spent / count)
    return BenchmarkResult(times)


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
        self._executable = module.library.executable
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
        return np.array(array, port.dtype if port.dtype != "bool" else bool, order="C")

    set_input_zero_copy = set_input

    def load_params(self, params_bytes: bytes) -> None:
        """Give inputs from `relay.save_param_dict`."""
        from lamina.compat.tvm.relay.param_dict import load_param_dict

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


def create(graph_json: Any, libmod: Any = None, device: Any = None) -> GraphModule:
    """The program of a library; its graph is in the library."""
    return GraphModule(libmod if libmod is not None else graph_json)


__all__ = ["BenchmarkResult", "GraphModule", "create", "timed"]
