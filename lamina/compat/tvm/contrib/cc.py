"""`tvm.contrib.cc`: programs that link what `save` wrote into a library. Ours is one already: no compiler is called.

fadd.save("myadd.o")
cc.create_shared("myadd.so", ["myadd.o"])
fadd = tvm.runtime.load_module("myadd.so")
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from lamina.compat.tvm.relay.library_files import is_object, object_of
from lamina.driver import artefact
from lamina.driver.export import link_object
from lamina.errors import UnsupportedError


def create_shared(
    output: str | os.PathLike[str], objects: str | os.PathLike[str] | Sequence[Any], options: Any = None, cc: Any = None
) -> None:
    """The library of one saved program, or of the object of one (`lib0.o` of a .tar).

    Raises LaminaError for several files, and for one that is no such program.
    """
    files: list[Any] = [objects] if isinstance(objects, (str, os.PathLike)) else list(objects)
    if len(files) != 1:
        what = f"a library is made of one saved program, not of {len(files)} files"
        raise UnsupportedError(what, hint="export_library writes one file")
    if is_object(files[0]):
        link_object(object_of(files[0]), output, str(files[0]))
        return
    kinds = artefact.PROGRAM, artefact.MACHINE, artefact.KERNEL
    artefact.write(output, artefact.read(files[0], kinds))


def get_cc() -> str:
    """The name of the compiler: none is needed."""
    return ""


__all__ = ["create_shared", "get_cc"]
