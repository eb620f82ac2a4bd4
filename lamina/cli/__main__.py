"""`python -m lamina.cli`."""

from lamina.cli import main

main()
