"""Files of `lib.export_library`, read back by `tvm.runtime.load_module`."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lamina.compat.tvm.relay.backend import vm
from lamina.compat.tvm.relay.graph_program import NAME, GraphExecutorFactoryModule
from lamina.compat.tvm.relay.library_files import OBJECT_IN_TAR, SAVED_IN_TAR, is_object
from lamina.compat.tvm.tar_files import read_tar
from lamina.driver import artefact
from lamina.driver.api import Executable
from lamina.driver.export import link_object
from lamina.errors import InputError
from lamina.runtime.exported import ExportedNet, is_net
from lamina.tensor.exported_kernel import saved_kernel
from lamina.tensor.module import Module

_KINDS = artefact.PROGRAM, artefact.MACHINE, artefact.KERNEL


def load_library(path: str | os.PathLike[str]) -> Any:
    """Load what `export_library` wrote of `relay.build`, `relay.vm.compile` or `tvm.build`. Raises InputError."""
    if is_object(path):
        return _linked(memoryview(Path(path).read_bytes()), path)
    if is_net(path):
        kernel = saved_kernel(path)
        return _of_net(ExportedNet(path)) if kernel is None else Module.of_saved(kernel)
    if os.path.isfile(path) and tarfile.is_tarfile(path):
        return _of_tar(path)
    return _of_saved(artefact.read(path, _KINDS))


def _of_tar(path: str | os.PathLike[str]) -> Any:
    found = read_tar(path)
    if SAVED_IN_TAR in found:
        try:
            return _of_saved(artefact.of_bytes(bytes(found[SAVED_IN_TAR]), _KINDS))
        except InputError as e:
            e.where = f"{path}: {SAVED_IN_TAR}"
            raise
    if OBJECT_IN_TAR not in found:
        what = f"holds neither {OBJECT_IN_TAR} nor {SAVED_IN_TAR}"
        raise InputError(what, where=str(path), hint="lib.export_library writes libraries, `tvmc run` takes packages")
    return _linked(found[OBJECT_IN_TAR], path)


def _linked(data: memoryview, path: str | os.PathLike[str]) -> GraphExecutorFactoryModule:
    """The library of an object: it is linked into a file of a while, which the loader keeps open."""
    with TemporaryDirectory(prefix="tvm-") as folder:
        file = Path(folder) / f"{Path(path).stem}.so"
        link_object(data, file, str(path))
        try:
            net = ExportedNet(file)
        except InputError as e:
            e.where = str(path)
            raise
    net.path = str(path)
    return _of_net(net)


def _of_net(net: ExportedNet) -> GraphExecutorFactoryModule:
    return GraphExecutorFactoryModule(net, None, {}, net.notes.get(NAME, "default"))


def _of_saved(saved: artefact.Saved) -> Any:
    if saved.kind == artefact.KERNEL:
        return Module.of_saved(saved)
    machine = vm.Executable.of_saved(saved)
    if machine is not None:
        return machine
    executable = Executable.of_saved(saved)
    return GraphExecutorFactoryModule(executable, None, {}, executable.notes.get(NAME, "default"))
