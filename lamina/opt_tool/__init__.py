"""The command opt-tool: passes on texts of any level."""

import sys

from lamina.cli.shell import end_with


def main() -> None:
    """The `opt-tool` command. What it imports, which takes a while, is imported where the interrupt key may end it."""

    def run() -> int:
        import gc

        from lamina.opt_tool.command import run

        # IR is one big cyclic structure that lives to the end: collecting it costs up to half the time of a rewrite.
        gc.freeze()
        gc.disable()
        return run(sys.argv[1:], sys.stdin or "", sys.stdout, sys.stderr)

    end_with(run)
