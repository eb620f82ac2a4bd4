"""`tvm.micro`: the model library format, a tar with what a program of the user's is built from.

    ./metadata.json                               names, target, memory; version 5, as TVM 0.8 writes
    ./codegen/host/lib/lib0.o                     the net with its weights: one symbol, `lamina_<name>`
    ./codegen/host/include/lamina.h               how it is called
    ./executor-config/graph/graph.json            the graph of its kernels
    ./parameters/default.params                   no weights: they are in lib0.o
    ./src/relay.txt                               the module that was built, in TVM's format where it has the operators

Kernels work in the arena of the net, which `main` counts: by themselves they need nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lamina.compat.tvm.devices import KINDS
from lamina.compat.tvm.relay.graph_json import kernels_of
from lamina.compat.tvm.relay.graph_program import GraphExecutorFactoryModule
from lamina.compat.tvm.relay.param_dict import save_param_dict
from lamina.compat.tvm.tar_files import TarMember, write_tar
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.driver.api import Executable
from lamina.driver.exportable import ExportableProgram
from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError
from lamina.ir.tvm_names import missing

FORMAT = 5
"""The version of the format."""
METADATA, GRAPH, LIBRARY = "metadata.json", "executor-config/graph/graph.json", "codegen/host/lib/lib0.o"
_HEADER = Path(__file__).parents[2] / "runtime" / "include" / "lamina.h"
_DEVICE = KINDS["cpu"]


def export_model_library_format(mod: Any, file_name: str | os.PathLike[str]) -> Path:
    """Write a library of `relay.build` in the model library format; its path. Raises LaminaError.

    The time in it is now, or what SOURCE_DATE_EPOCH says.
    """
    if not isinstance(mod, GraphExecutorFactoryModule):
        raise UsageError(f"a library of relay.build is exported, not {type(mod).__name__}")
    executable = mod.executable
    if mod.ir_mod is None or not isinstance(executable, (Executable, ExportableProgram)):
        what = "a library that was loaded from a file has no module to write"
        raise UnsupportedError(what, where=str(file_name), hint="relay.build it here")
    graph = mod.get_graph_json()
    described = {
        "version": FORMAT,
        "style": "full-model",
        "model_name": mod.libmod_name,
        "export_datetime": _now().strftime("%Y-%m-%d %H:%M:%SZ"),
        "executors": ["graph"],
        "target": {str(_DEVICE): _target_text(executable)},
        "memory": _memory(json.loads(graph), executable),
    }
    with TemporaryDirectory(prefix="tvm-") as folder:
        library = Path(folder) / "lib0.o"
        mod.export_library(library)
        members: dict[str, TarMember] = {
            METADATA: json.dumps(described, indent=2, sort_keys=True).encode(),
            LIBRARY: library,
            "codegen/host/include/lamina.h": _HEADER,
            GRAPH: graph.encode(),
            f"parameters/{mod.libmod_name}.params": bytes(save_param_dict({})),
            "src/relay.txt": _relay_text(mod.ir_mod, executable).encode(),
        }
        write_tar(file_name, {f"./{name}": content for name, content in members.items()})
    return Path(file_name)


def read_model_library_format(members: Mapping[str, memoryview], where: str) -> tuple[str, bytearray]:
    """The graph and the bytes of the parameters in an archive, also one of TVM's. Raises InputError for another one."""
    try:
        described: Any = json.loads(bytes(members[METADATA]))
        name = f"parameters/{described['model_name']}.params"
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(f"{METADATA} is not that of a model library", where=where) from None
    # Before version 5 the graph was the configuration of a runtime.
    graph = next((n for n in (GRAPH, GRAPH.replace("executor", "runtime")) if n in members), GRAPH)
    for each in (graph, name):
        if each not in members:
            raise InputError(f"holds no {each}", where=where)
    return bytes(members[graph]).decode("utf-8", "replace"), bytearray(members[name])


def _now() -> datetime:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(epoch), UTC) if epoch.isdigit() else datetime.now(UTC)


def _relay_text(mod: Any, executable: Executable | ExportableProgram) -> str:
    """The module in TVM's format, in ours where it has operators that TVM has not."""
    try:
        return str(mod)
    except LaminaError:
        return executable.text("relay")


def _target_text(executable: Executable | ExportableProgram) -> str:
    target = executable.target
    return f"llvm -mtriple={target.triple.data} -mcpu={target.cpu.data} -mattr={target.features.data}"


def _memory(graph: Mapping[str, Any], executable: Executable | ExportableProgram) -> dict[str, Any]:
    """Bytes of the values of a graph, and what the net needs beside its inputs and outputs."""
    inputs = {graph["nodes"][n]["name"]: n for n in graph["arg_nodes"]}
    bound = {graph["node_row_ptr"][n]: name for name, n in inputs.items()}
    columns = (graph["attrs"][name][1] for name in ("storage_id", "shape", "dltype"))
    sids = [
        {
            "storage_id": sid,
            "size_bytes": _bytes_of(shape, dtype),
            **({"input_binding": bound[n]} if n in bound else {}),
        }
        for n, (sid, shape, dtype) in enumerate(zip(*columns, strict=True))
    ]
    ports = (*executable.inputs, *executable.outputs)
    none = [{"device": _DEVICE, "workspace_size_bytes": 0}]
    memory = executable.memory
    main = {
        "device": _DEVICE,
        "workspace_size_bytes": memory.arena,
        "constants_size_bytes": memory.weights,
        "io_size_bytes": sum(_bytes_of(p.shape, p.dtype) for p in ports),
    }
    kernels = [{"function_name": name, "workspace": none} for name in sorted(kernels_of(graph))]
    return {"sids": sids, "functions": {"main": [main], "operator_functions": kernels}}


def _bytes_of(shape: Any, dtype: str) -> int:
    return prod(shape) * (1 if dtype == "bool" else numpy_dtype(dtype).itemsize)


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, globals())


__all__ = ["export_model_library_format"]
