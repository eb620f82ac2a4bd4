"""`TVMCModel`, `TVMCPackage` and `TVMCResult`: a model, what was compiled of it, and what a run gave.

A package is a tar as tvmc writes it:

    mod.so        the library, with the weights: one that C loads as well (docs/deploy.md)
    mod.json      the graph of its kernels
    mod.params    no weights: they are in the library, as in TVM where parameters are linked

A program that calls external compilers is no library; then there is mod.tar, for this Python.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

import numpy as np

from lamina.compat.tvm.contrib.folders import tempdir
from lamina.compat.tvm.ir import load_json, save_json
from lamina.compat.tvm.ir_module import IRModule
from lamina.compat.tvm.nd import NDArray, as_ndarray
from lamina.compat.tvm.relay.graph_program import GraphExecutorFactoryModule
from lamina.compat.tvm.relay.library_files import can_be_object
from lamina.compat.tvm.relay.param_dict import load_param_dict, save_param_dict
from lamina.compat.tvm.tar_files import read_tar, replace_file, write_tar
from lamina.dialects.machine_spec import TargetSpec
from lamina.driver.api import Executable
from lamina.driver.exportable import ExportableProgram
from lamina.driver.linker import system_to_link
from lamina.errors import InputError, UnsupportedError, UsageError, did_you_mean
from lamina.ir.array_files import write_arrays
from lamina.measure.summaries import BenchmarkResult, top_elements

LIBRARIES = ("mod.so", "mod.tar")
GRAPH, PARAMS, METADATA = "mod.json", "mod.params", "metadata.json"
_MODEL, _WEIGHTS, _RECORDS, _PACKAGE = "model.json", "model.params", "tuning_records", "model_package.tar"
FORMATS = ("so", "mlf")
"""Formats of packages: tvmc's own, and the model library format."""


class TVMCModel:
    """A model: its module `mod` and its weights `params`, which are parameters of `main`."""

    def __init__(
        self,
        mod: IRModule | None = None,
        params: Mapping[str, Any] | None = None,
        model_path: str | os.PathLike[str] | None = None,
    ) -> None:
        """Give a module and its weights, or a file that `save` has written. Raises LaminaError."""
        self._folder = tempdir()
        self.mod: IRModule = IRModule()
        self.params: dict[str, NDArray] = {}
        if model_path is not None:
            self.load(model_path)
        elif mod is None:
            raise UsageError("a model is a module with its weights, or a file", hint="tvmc.load(path)")
        else:
            self.mod = mod
            self.params = {name: as_ndarray(value) for name, value in (params or {}).items()}

    def save(self, model_path: str | os.PathLike[str]) -> None:
        """Write the model, its weights, and what `tune` and `compile` have made of it, into a tar."""
        members: dict[str, bytes | Path] = {
            _MODEL: save_json(self.mod).encode(),
            _WEIGHTS: bytes(save_param_dict(self.params)),
        }
        made = ((_RECORDS, self.default_tuning_records_path()), (_PACKAGE, self.default_package_path()))
        members |= {name: Path(path) for name, path in made if os.path.exists(path)}
        write_tar(model_path, members)

    def load(self, model_path: str | os.PathLike[str]) -> None:
        """Read what `save` has written. Raises InputError for other files; TVM's hold a module as TVM's own nodes."""
        found = read_tar(model_path)
        for name in (_MODEL, _WEIGHTS):
            if name not in found:
                raise InputError(f"holds no {name}", where=str(model_path), hint="TVMCModel.save writes models")
        text = bytes(found[_MODEL]).decode("utf-8", "replace")
        if text.startswith("{"):
            what = f"{_MODEL} holds nodes of TVM's, not a text of Relay"
            raise InputError(what, where=str(model_path), hint="give the file that the model was imported from")
        self.mod, self.params = load_json(text), load_param_dict(bytes(found[_WEIGHTS]))
        for name, path in ((_RECORDS, self.default_tuning_records_path()), (_PACKAGE, self.default_package_path())):
            if name in found:
                Path(path).write_bytes(found[name])

    def default_tuning_records_path(self) -> str:
        """The path of records that `tune` writes where no other is given."""
        return self._folder.relpath(_RECORDS)

    def default_package_path(self) -> str:
        """The path of the package that `compile` writes where no other is given."""
        return self._folder.relpath(_PACKAGE)

    def export_package(
        self,
        executor_factory: GraphExecutorFactoryModule,
        package_path: str | os.PathLike[str] | None = None,
        cross: Any = None,
        cross_options: str | None = None,
        output_format: str = "so",
    ) -> str:
        """Write the package of a library; its path. `cross` and its options change nothing: nothing is linked."""
        if output_format not in FORMATS:
            hint = did_you_mean(output_format, [*FORMATS]) or f"there are {', '.join(FORMATS)}"
            raise UsageError(f"no format of packages {output_format!r}", hint=hint)
        path = str(package_path or self.default_package_path())
        executable = executor_factory.executable
        if isinstance(executable, Executable) and not executable.is_fixed:
            what = "the model has no kernels in a fixed order of known extents, which a package holds"
            raise UnsupportedError(what, where=path, hint="lib.export_library writes it for this Python")
        if output_format == "mlf":
            from lamina.compat.tvm.micro import export_model_library_format

            return str(export_model_library_format(executor_factory, path))
        assert isinstance(executable, (Executable, ExportableProgram))
        if system := system_to_link(TargetSpec.of(executable.target)):
            hint = "-f mlf holds an object, and `lamina compile -o` links a library"
            raise UnsupportedError(f"a package of the format so holds no library of {system}", where=path, hint=hint)
        graph = executor_factory.get_graph_json()
        with TemporaryDirectory(prefix="tvm-") as folder:
            library = Path(folder) / LIBRARIES[0 if can_be_object(executable) else 1]
            executor_factory.export_library(library)
            members = {library.name: library, GRAPH: graph.encode(), PARAMS: bytes(save_param_dict({}))}
            write_tar(path, members)
        return path

    def summary(self, file: TextIO | None = None) -> None:
        """Print the module as text."""
        print(self.mod, file=file)


class TVMCPackage:
    """A package, read back.

    `type` is "classic" or "mlf", `graph` the JSON of its graph, `params` the bytes of its parameters, and `lib_path`
    the library, which lies in a folder of a while (None of an mlf).
    """

    def __init__(self, package_path: str | os.PathLike[str]) -> None:
        """Read a package. Raises InputError for a file that is none."""
        self._folder = tempdir()
        self.package_path = str(package_path)
        self.import_package(self.package_path)

    def import_package(self, package_path: str) -> None:
        """Read a package in the place of the one that was read before. Raises InputError for a file that is none."""
        found = read_tar(package_path)
        library = next((name for name in LIBRARIES if name in found), None)
        if METADATA in found and library is None:
            from lamina.compat.tvm.micro import read_model_library_format

            self.type, self.lib_name, self.lib_path = "mlf", None, None
            self.graph, self.params = read_model_library_format(found, package_path)
            return
        for name in (library or LIBRARIES[0], GRAPH, PARAMS):
            if name not in found:
                raise InputError(f"holds no {name}", where=package_path, hint="`tvmc compile` writes packages")
        assert library is not None
        self.type, self.lib_name = "classic", library
        self.lib_path = self._folder.relpath(library)
        self.graph = bytes(found[GRAPH]).decode("utf-8", "replace")
        self.params = bytearray(found[PARAMS])
        replace_file(self.lib_path, lambda temporary: temporary.write_bytes(found[library]))


class TVMCResult:
    """The outputs of a run by their names, `output_0` the first, and the seconds of each repeat."""

    def __init__(self, outputs: Mapping[str, Any], times: Sequence[float]) -> None:
        self.outputs = dict(outputs)
        self.times = list(times)

    def format_times(self) -> str:
        """A table of the times: mean, median, max, min and standard deviation in milliseconds."""
        return str(BenchmarkResult(self.times))

    def get_output(self, name: str) -> Any:
        """An output by its name. Raises UsageError where there is none."""
        if name not in self.outputs:
            names = list(self.outputs)
            raise UsageError(f"there is no output {name!r}", hint=did_you_mean(name, names) or f"it has {names}")
        return self.outputs[name]

    def get_top_results(self, max_results: int) -> np.ndarray[Any, np.dtype[Any]]:
        """The places and the values of the largest elements in the first output, of its first in a batch: two rows."""
        return top_elements(self.outputs["output_0"], max_results)

    def save(self, output_path: str | os.PathLike[str]) -> None:
        """Write the outputs into an npz file."""
        write_arrays(str(output_path), self.outputs)

    def __str__(self) -> str:
        return f"{self.format_times()}\nOutput Names:\n {list(self.outputs)}"


__all__ = ["TVMCModel", "TVMCPackage", "TVMCResult"]
