"""`python -m lamina.backends.cpu.translate [--assembly] [--target NAME] [FILE]`: the llvm level as LLVM text.

The counterpart of mlir-translate for our emitter, for tests and for looking. The module's own target counts;
`--target` stands in where it has none.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lamina.backends.cpu.jit import assembly, named_target
from lamina.backends.llvm.emit import emit_module
from lamina.dialects.target import module_target
from lamina.errors import LaminaError, exit_status, render_error


def main(arguments: list[str] | None = None) -> int:
    """Print a module of the llvm level as LLVM text, or as machine code in text; returns the exit status."""
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.parser import Parser
    from xdsl.utils.exceptions import ParseError

    from lamina.dialects.llvm_target import LLVM
    from lamina.dialects.target import LAMINA

    options = argparse.ArgumentParser(prog="translate", description=__doc__)
    options.add_argument("file", nargs="?", default="-")
    options.add_argument("--assembly", action="store_true", help="machine code as text")
    options.add_argument("--target", default="x86-64", help="of a module that names none")
    given = options.parse_args(arguments)
    context = Context()
    for dialect in (Builtin, LLVM, LAMINA):
        context.load_dialect(dialect)
    try:
        text = sys.stdin.read() if given.file == "-" else Path(given.file).read_text()
        module = Parser(context, text, given.file).parse_module()
        module.verify()
        shown = emit_module(module)
        if given.assembly:
            shown = assembly(shown, module_target(module) or named_target(given.target))
    except (LaminaError, ParseError, OSError) as error:
        print(render_error(error), file=sys.stderr)
        return exit_status(error) if isinstance(error, LaminaError) else 1
    print(shown, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
