"""`python -m lamina.backends.opencl.translate [FILE]`: the kernels of a device of the tir level as OpenCL C.

The module is what `tir-split-host-device` leaves; for tests and for looking, as `lamina.backends.c.translate` is.
"""

from __future__ import annotations

import argparse
import sys

from lamina.backends.opencl.emit import compile_device
from lamina.dialects.translation import translate


def main(arguments: list[str] | None = None) -> int:
    """Print the kernels of a device of the tir level as OpenCL C; returns the exit status."""
    from xdsl.dialects.arith import Arith
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func
    from xdsl.dialects.math import Math

    from lamina.dialects.target import LAMINA
    from lamina.dialects.te import TE
    from lamina.dialects.tir import TIR

    options = argparse.ArgumentParser(prog="translate", description=__doc__)
    options.add_argument("file", nargs="?", default="-")
    dialects = (Builtin, Arith, Math, Func, TE, TIR, LAMINA)
    return translate(options.parse_args(arguments).file, dialects, compile_device)


if __name__ == "__main__":
    sys.exit(main())
