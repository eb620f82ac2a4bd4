"""Files that `lib.export_library` writes of a program, by suffix.

    net.so               a shared library with the C interface of `lamina.h`
    net.dll, net.dylib   the same for Windows and macOS, where a program is for these
    net.o, net.obj, net.a  for a linker of the user's
    net.tar              as TVM's: lib0.o, the object, which `tvm.runtime.load_module` links, without a compiler
    any other            our own format (lamina/driver/artefact.py)

A program that cannot be an object, as one that calls external compilers, is in our own format as .so and as lib0.lamina
in a .tar, for this Python alone.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lamina.compat.tvm.tar_files import read_tar, replace_file, write_tar
from lamina.driver.api import Executable
from lamina.driver.export import link_object, net_name
from lamina.driver.exportable import ExportableProgram
from lamina.errors import InputError, UnsupportedError, UsageError
from lamina.ir.suffixes import ARCHIVE, LIBRARIES_TO_LINK, LIBRARY, LINKABLE, OBJECT, SAVED
from lamina.runtime.exported import ExportedNet, is_net

TAR = ".tar"
OBJECT_IN_TAR, SAVED_IN_TAR = "lib0.o", f"lib0{SAVED}"
_RELOCATABLE = 1
"""The type of a file of ELF that is an object."""


def is_object(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as an object does."""
    if not is_net(path):
        return False
    with open(path, "rb") as file:
        return int.from_bytes(file.read(18)[16:], "little") == _RELOCATABLE


def can_be_object(executable: Executable | ExportableProgram) -> bool:
    """Whether a program is machine code alone: kernels in a fixed order, without external compilers."""
    # One for another machine says what is in the way when it is written.
    return isinstance(executable, ExportableProgram) or executable.is_exportable


def write_library(
    executable: Executable | ExportableProgram, path: str | os.PathLike[str], name: str, notes: Mapping[str, Any]
) -> None:
    """Write a program; `name` is that of the net in the library. Raises LaminaError."""
    suffix, symbol = Path(path).suffix, net_name(name)
    machine_code = can_be_object(executable)
    linked = suffix in LIBRARIES_TO_LINK and isinstance(executable, ExportableProgram)
    if suffix in LINKABLE or linked or (suffix == LIBRARY and machine_code):
        executable.export(path, symbol, notes)
    elif suffix == TAR:
        with TemporaryDirectory(prefix="tvm-") as folder:
            member = OBJECT_IN_TAR if machine_code else SAVED_IN_TAR
            file = Path(folder) / member
            if machine_code:
                executable.export(file, symbol, notes)
            elif isinstance(executable, Executable):
                executable.save(file, notes)
            write_tar(path, {member: file})
    elif isinstance(executable, Executable):
        executable.save(path, notes)
    else:
        raise UsageError("a library for another machine is .so, .o, .a or .tar", where=str(path))


def rewrite_library(net: ExportedNet, path: str | os.PathLike[str]) -> None:
    """Write a library that was loaded, from the file that it came from. Raises LaminaError."""
    source, suffix = Path(net.path), Path(path).suffix
    given = OBJECT if is_object(source) else LIBRARY if is_net(source) else TAR
    wanted = suffix if suffix in (OBJECT, ARCHIVE, LIBRARY, TAR) else given
    if wanted == given:
        if not (Path(path).exists() and source.exists() and os.path.samefile(path, source)):
            replace_file(path, lambda temporary: shutil.copyfile(source, temporary))
    elif given == LIBRARY or wanted == ARCHIVE:
        what = f"a library that was loaded from {source.name} is not written as {wanted}"
        raise UnsupportedError(what, where=str(path), hint="build it again, and export that")
    elif wanted == LIBRARY:
        link_object(object_of(source), path, str(source))
    elif wanted == OBJECT:
        data = object_of(source)
        replace_file(path, lambda temporary: temporary.write_bytes(data))
    else:
        write_tar(path, {OBJECT_IN_TAR: source})


def object_of(path: str | os.PathLike[str]) -> memoryview:
    """The object of a net in a file: the file itself, or lib0.o of an archive. Raises InputError."""
    if is_object(path):
        return memoryview(Path(path).read_bytes())
    found = read_tar(path)
    if OBJECT_IN_TAR not in found:
        raise InputError(f"holds no {OBJECT_IN_TAR}", where=str(path), hint="lib.export_library writes it")
    return found[OBJECT_IN_TAR]
