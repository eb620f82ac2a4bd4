"""`tvmc.run`: a package run on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lamina.compat.tvm.contrib import graph_executor
from lamina.compat.tvm.devices import cpu
from lamina.compat.tvm.driver.tvmc.model import TVMCPackage, TVMCResult
from lamina.compat.tvm.relay.graph_program import GraphModule
from lamina.compat.tvm.runtime import load_module
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.driver.api import Executable
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError, did_you_mean
from lamina.measure.summaries import check_counts
from lamina.measure.timing import check_fill_mode, filled_inputs
from lamina.runtime.ports import Port

DEVICES = ("cpu", "cuda", "cl", "metal", "vulkan", "rocm", "micro")


def run_module(
    tvmc_package: TVMCPackage,
    device: str = "cpu",
    hostname: str | None = None,
    port: int | str = 9090,
    rpc_key: str | None = None,
    inputs: Mapping[str, Any] | None = None,
    fill_mode: str = "random",
    repeat: int = 10,
    number: int = 10,
    profile: bool = False,
) -> TVMCResult:
    """Run a package `repeat` times `number` times: its outputs, and the mean seconds of each repeat.

    Inputs that are not given are filled: with "zeros", "ones" or "random" numbers from -1 to 1 (integers of 8 bits
    from 0 to 127). With `profile` the time of each kernel is printed. Raises LaminaError.
    """
    if not isinstance(tvmc_package, TVMCPackage):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"a package is run, not a {type(tvmc_package).__name__}", hint="tvmc.compile(model, target)")
    if hostname is not None or rpc_key is not None:
        raise UnsupportedError("packages run on this machine, not through RPC", hint="copy the package there")
    if device != "cpu":
        near = did_you_mean(device, [*DEVICES]) if device not in DEVICES else ""
        raise UnsupportedError(f"packages run on the device 'cpu', not on {device!r}", hint=near)
    check_fill_mode(fill_mode)
    check_counts(repeat=repeat, number=number)
    module = _module(tvmc_package)
    executable = module.module.library.executable
    if profile and not isinstance(executable, Executable):
        what = "--profile: the library keeps no times of its kernels"
        raise UnsupportedError(what, where=tvmc_package.package_path, hint="`lamina profile MODEL` times each")
    module.set_input(**made_inputs(module, inputs or {}, fill_mode))
    times = module.module.time_evaluator("run", cpu(), number=number, repeat=repeat)().results
    if profile:
        assert isinstance(executable, Executable)
        print(executable.profile({n: module.get_input(n).numpy() for n in _names(module)}).table())
    outputs = {f"output_{n}": module.get_output(n).numpy() for n in range(module.get_num_outputs())}
    return TVMCResult(outputs, times)


def _module(package: TVMCPackage) -> GraphModule:
    if package.lib_path is None:
        what = "a package in the model library format is for a program of yours"
        raise UnsupportedError(
            what, where=package.package_path, hint="`tvmc compile -f so` writes one that is run here"
        )
    try:
        library = load_module(package.lib_path)
        module = graph_executor.create(package.graph, library, cpu())
        module.load_params(package.params)
    except LaminaError as e:
        e.where = f"{package.package_path}: {package.lib_name}"
        raise
    return module


def _names(module: GraphModule) -> list[str]:
    return list(module.get_input_info()[0])


def made_inputs(module: GraphModule, given: Mapping[str, Any], fill_mode: str) -> dict[str, Any]:
    """The inputs of a program: those that are given, the others filled. Raises InputError for a name of none."""
    shapes, dtypes = module.get_input_info()
    for name in given:
        if name not in shapes:
            hint = did_you_mean(name, list(shapes)) or f"it has {', '.join(shapes) or 'none'}"
            raise InputError(f"the program has no input {name!r}", hint=hint)
    filled = {n: filled_array(tuple(shapes[n]), dtypes[n], fill_mode) for n in shapes if n not in given}
    return {**filled, **given}


def filled_array(shape: tuple[int, ...], dtype: str, fill_mode: str) -> np.ndarray[Any, np.dtype[Any]]:
    """An array of zeros, of ones, or of random numbers."""
    if fill_mode != "random":
        return filled_inputs([Port("", shape, dtype)], fill_mode)[""]
    kind: Any = bool if dtype == "bool" else numpy_dtype(dtype)
    if "int8" in dtype:
        return np.random.randint(128, size=shape).astype(kind)
    return np.random.uniform(-1, 1, shape).astype(kind)


__all__ = ["run_module"]
