"""`python -m lamina.backends.cpu.translate [--assembly] [--target NAME] [FILE]`: the llvm level as LLVM text.

The counterpart of mlir-translate for our emitter, for tests and for looking. The module's own target counts;
`--target` stands in where it has none.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from lamina.backends.cpu.jit import assembly, named_target
from lamina.backends.llvm.emit import emit_module
from lamina.dialects.target import module_target
from lamina.dialects.translation import translate

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def main(arguments: list[str] | None = None) -> int:
    """Print a module of the llvm level as LLVM text, or as machine code in text; returns the exit status."""
    from xdsl.dialects.builtin import Builtin

    from lamina.dialects.llvm_target import LLVM
    from lamina.dialects.target import LAMINA

    options = argparse.ArgumentParser(prog="translate", description=__doc__)
    options.add_argument("file", nargs="?", default="-")
    options.add_argument("--assembly", action="store_true", help="machine code as text")
    options.add_argument("--target", default="x86-64", help="of a module that names none")
    given = options.parse_args(arguments)

    def text_of(module: ModuleOp) -> str:
        shown = emit_module(module)
        return assembly(shown, module_target(module) or named_target(given.target)) if given.assembly else shown

    return translate(given.file, (Builtin, LLVM, LAMINA), text_of)


if __name__ == "__main__":
    sys.exit(main())
