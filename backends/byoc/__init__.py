"""External compilers: a folder for each, found by its name. `patterns.py` says what one takes."""
