"""Commands that print a module of some level as another text, for tests and for looking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lamina.errors import LaminaError, exit_status, render_error

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Dialect


def translate(file: str, dialects: Sequence[Dialect], text_of: Callable[[ModuleOp], str]) -> int:
    """Print the text that is made of the module of a file, `-` for the standard input; returns the exit status."""
    from xdsl.context import Context
    from xdsl.parser import Parser
    from xdsl.utils.exceptions import ParseError, VerifyException

    context = Context()
    for dialect in dialects:
        context.load_dialect(dialect)
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text()
        module = Parser(context, text, file).parse_module()
        module.verify()
        shown = text_of(module)
    except (LaminaError, ParseError, VerifyException, OSError) as error:
        print(render_error(error), file=sys.stderr)
        return exit_status(error) if isinstance(error, LaminaError) else 1
    print(shown, end="")
    return 0
