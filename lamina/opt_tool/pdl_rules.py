"""The rules of a pass as pdl.patterns: `python -m lamina.opt_tool.pdl_rules relay-simplify-expr`."""

from __future__ import annotations

import sys
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp

from lamina.errors import LaminaError, UsageError, render_error
from lamina.ir.registry import find_our_pass


def rules_module(name: str) -> ModuleOp:
    """All equations of the file of a pass. Raises UsageError where the pass has none."""
    from lamina.passes.rules.pdl_printing import pdl_module
    from lamina.passes.rules.rewriting import Rules

    found = find_our_pass(name)
    if found is None:
        raise UsageError(f"unknown pass {name!r}", hint="see `opt-tool --list-passes`")
    sets = {id(v): v for v in vars(import_module(found.module)).values() if isinstance(v, Rules)}
    equations = [e for rules in sets.values() for e in rules.equations]
    if not equations:
        raise UsageError(f"{name} has no equations")
    return pdl_module(equations)


def main() -> int:
    """Print the rules of each pass named on the command line; the exit status of the error where one has none."""
    try:
        for name in sys.argv[1:]:
            print(rules_module(name))
    except LaminaError as e:
        print(render_error(e), file=sys.stderr)
        return e.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main())
