"""Libraries for systems whose formats are not linked here, by a linker of the user's or by the package `ziglang`.

    lamina compile net.onnx -o net.dll --target x86-64-v3-windows                     # ziglang, where it is installed
    lamina compile net.onnx -o net.dylib --target aarch64-macos --linker "zig cc -target aarch64-macos"

A linker is the driver of a C compiler: it takes `-shared -o FILE` and an object. It is started without a shell.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from lamina.dialects.machine_spec import TargetSpec, is_macos, is_windows
from lamina.errors import InputError, UsageError
from lamina.ir.suffixes import LIBRARIES_TO_LINK

KERNEL32 = frozenset(
    "AcquireSRWLockExclusive ReleaseSRWLockExclusive SleepConditionVariableSRW WakeAllConditionVariable CreateThread"
    " WaitForSingleObject CloseHandle SwitchToThread".split()
)
"""Functions that the threads of a net ask of Windows."""
EXTRA = "pip install 'lamina[link]' brings one"


def system_to_link(target: TargetSpec) -> str:
    """The system of a target whose libraries another linker has to link; empty where that is done here."""
    return "Windows" if is_windows(target.triple) else "macOS" if is_macos(target.triple) else ""


def linker_words(text: str | None) -> list[str] | None:
    """The words of a command line, as a shell takes it apart. Raises UsageError."""
    if text is None:
        return None
    try:
        words = shlex.split(text)
    except ValueError as e:
        raise UsageError(f"--linker: {e}", hint='as in --linker "zig cc -target x86_64-windows-gnu"') from None
    if not words:
        raise UsageError("--linker names no program", hint='as in --linker "zig cc -target x86_64-windows-gnu"')
    return words


def check_linker(target: TargetSpec, linker: Sequence[str] | None, where: str) -> None:
    """Raise UsageError where a library is to be linked and nothing is there to do it, or the other way round."""
    suffix, system = Path(where).suffix, system_to_link(target)
    wanted = LIBRARIES_TO_LINK.get(suffix)
    if wanted is None:
        if linker is not None:
            what = "no linker takes part"
            raise UsageError(what, where=where, hint=f"--linker is for {' and '.join(LIBRARIES_TO_LINK)}")
        return
    if wanted != system:
        hint = next((f"write FILE{s}" for s, of in LIBRARIES_TO_LINK.items() if of == system), "write FILE.so")
        raise UsageError(f"a library of {wanted} has no code for {target.triple}", where=where, hint=hint)
    if linker is None and find_spec("ziglang") is None:
        raise UsageError(f"libraries for {system} need a linker", where=where, hint=f"{EXTRA}, or --linker names yours")


def link_shared(
    target: TargetSpec, linker: Sequence[str] | None, obj: Path, needed: Sequence[str], where: Path
) -> Path:
    """Link an object into a library of the target's system, beside the object; its path. `needed` are the functions
    that the object asks for, and `where` is the file that the library is for.

    Raises UsageError for a linker that is not there, InputError for one that fails, with its last line.
    """
    library = obj.with_name(where.name)
    words = [*(linker or _of_ziglang(target, needed)), "-shared", "-o", str(library), str(obj)]
    if is_macos(target.triple):
        words.append(f"-Wl,-install_name,@rpath/{where.name}")
    try:
        ended = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            text=True,
            errors="replace",
        )
    except OSError as e:
        said = e.strerror or str(e)
        raise UsageError(f"cannot start the linker {words[0]!r}: {said}", where=str(where), hint=EXTRA) from None
    if ended.returncode or not library.is_file():
        lines = [line for line in (ended.stderr + ended.stdout).splitlines() if line.strip()]
        last = lines[-1].strip() if lines else f"it ends with status {ended.returncode} and no library"
        raise InputError(f"the linker {words[0]!r} fails: {last}", where=str(where))
    return library


def _of_ziglang(target: TargetSpec, needed: Sequence[str]) -> list[str]:
    """The linker of the package `ziglang`, with the system's libraries as far as they are needed."""
    words = [sys.executable, "-m", "ziglang", "cc", "-s"]
    if is_macos(target.triple):
        # What a net calls is in the one library that all programs have there.
        return [*words, "-target", "aarch64-macos", "-nostdlib", *(["-lSystem"] if needed else [])]
    words += ["-target", "x86_64-windows-gnu"]
    if KERNEL32.issuperset(needed):
        # Without a C library nothing has to be built for it first, which takes zig a minute or more.
        words += ["-nostdlib", "-Wl,--no-entry", *(["-lkernel32"] if needed else [])]
    return words


def linking_folder() -> TemporaryDirectory[str]:
    """A folder for an object and what a linker makes of it."""
    return TemporaryDirectory(prefix="lamina-link-")
