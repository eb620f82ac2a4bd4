"""C source that `lamina.export` has written, built by the C compiler of this machine and run in this process."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lamina.backends.cpu.runtime.interface import CNet, CPort, type_name
from lamina.dialects.aligned_arrays import aligned_bytes
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.errors import InputError, UnsupportedError
from lamina.runtime.direct_call import address_of
from lamina.runtime.exported import RUN_FUNCTION, SIZES_FUNCTION, START_FUNCTION, STOP_FUNCTION, TEXT_FUNCTION
from lamina.runtime.ports import Port, check_inputs

HEADERS = Path(__file__).resolve().parents[1] / "runtime" / "include"
"""The folder of `lamina.h`."""
STANDARD = ("-std=c11", "-Wall", "-Wextra", "-pedantic")
"""Options that the source is written for: it compiles without a warning."""


def c_compiler() -> str | None:
    """The path of the C compiler of this machine; None where it has none."""
    return shutil.which("cc")


def build(source: Path, output: Path, options: Sequence[str] = (), compiler: str | None = None) -> None:
    """Compile and link C files. Raises UnsupportedError where there is no compiler, InputError where it refuses."""
    compiler = compiler or c_compiler()
    if compiler is None:
        raise UnsupportedError("there is no C compiler `cc`", where=str(source))
    words = [compiler, *STANDARD, "-Werror", "-I", str(HEADERS), str(source), *options, "-o", str(output), "-lm"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"the C compiler refuses it: {done.stderr.strip()[:1000]}", where=str(source))


class CSourceNet:
    """A net in a library that was built of C source: what it takes and gives is read from its record."""

    def __init__(self, library: Path, name: str, params: Any = None) -> None:
        """Load a library; `params` are the bytes of a file of weights, where the net has such, at a multiple of 64."""
        self._library = ctypes.CDLL(str(library))
        record = CNet.in_dll(self._library, f"lamina_{name}")
        ports = ctypes.POINTER(CPort)
        self.record = record
        self.inputs = _ports(ctypes.cast(record.inputs, ports), record.n_inputs)
        self.outputs = _ports(ctypes.cast(record.outputs, ports), record.n_outputs)
        self._run, self._text = RUN_FUNCTION(record.run), TEXT_FUNCTION(record.text)
        self._stop = STOP_FUNCTION(record.stop)
        size = ctypes.c_uint64()
        SIZES_FUNCTION(record.sizes)(None, 1, None, ctypes.addressof(size))
        self._state = aligned_bytes(size.value)
        self._params = params
        given = None if params is None else address_of(params)
        self.check(START_FUNCTION(record.start)(address_of(self._state), given, 1, 0))

    def check(self, code: int) -> None:
        """Raise InputError for a code that is not 0."""
        if code:
            raise InputError(self._text(code).decode())

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Run on arrays by name. Raises InputError for what does not fit, and for what the net refuses."""
        arrays = check_inputs(self.inputs, inputs)
        results = {p.name: np.empty(p.shape, numpy_dtype(p.dtype)) for p in self.outputs}
        given, wanted = (
            (ctypes.c_void_p * max(len(found), 1))(*map(address_of, found)) for found in (arrays, results.values())
        )
        self.check(self._run(address_of(self._state), given, wanted))
        return results

    def stop(self) -> None:
        """End the state."""
        self._stop(address_of(self._state))


def _ports(records: Any, count: int) -> tuple[Port, ...]:
    found: list[Port] = []
    for port in records[:count]:
        shape = ctypes.cast(port.shape, ctypes.POINTER(ctypes.c_int64))[: port.ndim]
        name = ctypes.cast(port.name, ctypes.c_char_p).value or b""
        found.append(Port(name.decode(), tuple(shape), type_name(port.code, port.bits)))
    return tuple(found)
