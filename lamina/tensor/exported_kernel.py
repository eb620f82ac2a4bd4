"""Kernels as libraries with the C interface of `lamina.h`, which C++ calls on tensors.

fadd.export_library("fadd.so")                       # lamina_<name>: sizes, inputs, outputs
tvm.runtime.load_module("fadd.so")                   # the kernel, from a note in the library

An extent below zero stands for a size: -1 - n is the value of input n, a number (`lamina.h`).
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any

from lamina.dialects.index.linear import Linear
from lamina.driver import artefact
from lamina.errors import InputError
from lamina.ir.suffixes import ARCHIVE, LIBRARY
from lamina.runtime.exported import is_net, read_net
from lamina.runtime.packed import PackedSignature
from lamina.runtime.program_file import StoredProgram
from lamina.store.program_cache import object_cache

_KERNEL = "tensor.kernel"
"""The note that holds the kernel for Python."""


@dataclass(frozen=True)
class KernelPorts:
    """The inputs, sizes first, and the outputs of a kernel: name, extents and dtype of each."""

    inputs: list[list[Any]]
    outputs: list[list[Any]]

    @staticmethod
    def of(signature: PackedSignature) -> KernelPorts | None:
        """The ports of a kernel; None where an extent is neither known nor a size itself."""
        inputs: list[list[Any]] = [[name, [], "int64"] for name in signature.sizes]
        outputs: list[list[Any]] = []
        for argument in signature.arguments:
            extents = [_extent(form) for form in argument.extents]
            if None in extents:
                return None
            (outputs if argument.output else inputs).append([argument.name, extents, argument.dtype])
        return KernelPorts(inputs, outputs)


def _extent(form: Linear) -> int | None:
    """An extent as a port has it."""
    if not form.terms:
        return form.const
    # Sizes are the first inputs.
    atom, factor = next(iter(form.terms.items()))
    return -1 - atom if isinstance(atom, int) and (len(form.terms), factor, form.const) == (1, 1, 0) else None


def is_linked(path: str | os.PathLike[str]) -> bool:
    """Whether a file's name says that C loads it, or links with it."""
    return os.fspath(path).endswith((LIBRARY, ARCHIVE))


def export_kernel(path: str | os.PathLike[str], saved: artefact.Saved, name: str, ports: KernelPorts) -> None:
    """Write a kernel as a library or an archive with the symbol `lamina_<name>`. Raises LaminaError."""
    from lamina.driver.export import ExportedFile, export_program

    contents = saved.contents
    described = {**contents.description, "inputs": ports.inputs, "outputs": ports.outputs}
    program = StoredProgram(described, contents.objects, contents.params)
    note = b64encode(artefact.to_bytes(saved)).decode()
    export_program(ExportedFile(path, name), program, saved.settings.target, object_cache(), {_KERNEL: note})


def saved_kernel(path: str | os.PathLike[str]) -> artefact.Saved | None:
    """The kernel of a library; None for another file. Raises InputError for one that is damaged."""
    if not is_net(path):
        return None
    note = read_net(path).description.get("notes", {}).get(_KERNEL)
    if note is None:
        return None
    try:
        return artefact.of_bytes(b64decode(note), (artefact.KERNEL,))
    except InputError as e:
        e.where = str(path)
        raise
