"""`python -m lamina.backends.c.translate [FILE]`: the kernels of a module of the tir level as C.

The counterpart of `lamina.backends.cpu.translate`, for tests and for looking.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lamina.backends.c.emit import emit_module
from lamina.errors import LaminaError, exit_status, render_error


def main(arguments: list[str] | None = None) -> int:
    """Print the kernels of a module of the tir level as C; returns the exit status."""
    from xdsl.context import Context
    from xdsl.dialects.arith import Arith
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func
    from xdsl.dialects.math import Math
    from xdsl.parser import Parser
    from xdsl.utils.exceptions import ParseError, VerifyException

    from lamina.dialects.target import LAMINA
    from lamina.dialects.tir import TIR

    options = argparse.ArgumentParser(prog="translate", description=__doc__)
    options.add_argument("file", nargs="?", default="-")
    given = options.parse_args(arguments)
    context = Context()
    for dialect in (Builtin, Arith, Math, Func, TIR, LAMINA):
        context.load_dialect(dialect)
    try:
        text = sys.stdin.read() if given.file == "-" else Path(given.file).read_text()
        module = Parser(context, text, given.file).parse_module()
        module.verify()
        shown = emit_module(module)
    except (LaminaError, ParseError, VerifyException, OSError) as error:
        print(render_error(error), file=sys.stderr)
        return exit_status(error) if isinstance(error, LaminaError) else 1
    print(shown, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
