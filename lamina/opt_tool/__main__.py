"""`python -m lamina.opt_tool`."""

from lamina.opt_tool import main

main()
