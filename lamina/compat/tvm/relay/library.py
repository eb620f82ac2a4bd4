"""Files of `lib.export_library`, read back by `tvm.runtime.load_module`."""

from __future__ import annotations

import os
from typing import Any

from lamina.compat.tvm.relay.backend import vm
from lamina.compat.tvm.relay.graph_program import NAME, GraphExecutorFactoryModule
from lamina.driver import artefact
from lamina.driver.api import Executable
from lamina.runtime.exported import ExportedNet, is_net
from lamina.tensor.exported_kernel import saved_kernel
from lamina.tensor.module import Module


def load_library(path: str | os.PathLike[str]) -> Any:
    """Load what `export_library` wrote of `relay.build`, `relay.vm.compile` or `tvm.build`. Raises InputError."""
    kernel = saved_kernel(path)
    if kernel is not None:
        return Module.of_saved(kernel)
    if is_net(path):
        net = ExportedNet(path)
        return GraphExecutorFactoryModule(net, None, {}, net.notes.get(NAME, "default"))
    saved = artefact.read(path, (artefact.PROGRAM, artefact.MACHINE, artefact.KERNEL))
    if saved.kind == artefact.KERNEL:
        return Module.of_saved(saved)
    machine = vm.Executable.of_saved(saved)
    if machine is not None:
        return machine
    executable = Executable.of_saved(saved)
    return GraphExecutorFactoryModule(executable, None, {}, executable.notes.get(NAME, "default"))
