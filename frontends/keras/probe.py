"""A first look at an HDF5 file in a process of its own: libhdf5 may run for ever, or crash, on a damaged one.

The process goes through all that a reader of the file may ask for. What it raises there is of no interest, as the
reader meets it, too; but where it ends by a signal, that of its limit of processor time among them, nobody must read
the file here.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from lamina.errors import InputError

SECONDS = 1.25
"""Of processor time, behind the import of h5py; and another second for each 100 MB."""
MOST_SECONDS = 120
_LOOK = """
import io, resource, signal, sys
import h5py
signal.setitimer(signal.ITIMER_PROF, float(sys.argv[1]))  # processor time; the signal ends the process
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

def look(name, found):
    for key in found.attrs:
        try:
            found.attrs[key]
        except Exception:
            pass
    if isinstance(found, h5py.Dataset):
        found.shape, found.dtype, found.external, found.is_virtual, found.id.get_storage_size()

try:
    source = io.BytesIO(sys.stdin.buffer.read()) if sys.argv[2] == "" else sys.argv[2]
    with h5py.File(source, "r") as file:
        look("", file)
        file.visititems(look)
except Exception:
    pass
"""


def probe(source: Any, size: int, label: str) -> None:
    """Look at a file, of a path or of bytes. Raises InputError where that ends by a signal or does not end."""
    if not sys.executable or sys.platform == "win32":
        return
    data = source if isinstance(source, bytes) else None
    command = [sys.executable, "-c", _LOOK, str(SECONDS + size // 100_000_000), "" if data is not None else str(source)]
    try:
        ended = subprocess.run(command, input=data or b"", capture_output=True, timeout=MOST_SECONDS, check=False)
    except OSError:
        return
    except subprocess.TimeoutExpired:
        code = -1
    else:
        code = ended.returncode
    if code < 0:
        raise InputError("the HDF5 library does not come to an end with it", where=label, hint="is the file whole?")
