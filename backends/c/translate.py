"""`python -m lamina.backends.c.translate [FILE]`: the kernels of a module of the tir level as C.

The counterpart of `lamina.backends.cpu.translate`, for tests and for looking.
"""

from __future__ import annotations

import argparse
import sys

from lamina.backends.c.emit import emit_module
from lamina.dialects.translation import translate


def main(arguments: list[str] | None = None) -> int:
    """Print the kernels of a module of the tir level as C; returns the exit status."""
    from xdsl.dialects.arith import Arith
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func
    from xdsl.dialects.math import Math

    from lamina.dialects.target import LAMINA
    from lamina.dialects.tir import TIR

    options = argparse.ArgumentParser(prog="translate", description=__doc__)
    options.add_argument("file", nargs="?", default="-")
    return translate(options.parse_args(arguments).file, (Builtin, Arith, Math, Func, TIR, LAMINA), emit_module)


if __name__ == "__main__":
    sys.exit(main())
