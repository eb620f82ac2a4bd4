"""`python -m lamina.compat.tvm.driver.tvmc`."""

import sys

from lamina.cli.shell import end_with


def main() -> None:
    """The `tvmc` command. What it imports is imported where the interrupt key may end it."""

    def run() -> int:
        from lamina.compat.tvm.driver.tvmc.main import run

        return run(sys.argv[1:], sys.stdout, sys.stderr)

    end_with(run)


main()
