"""Shared libraries, archives and objects from the objects of a program, without a linker or a compiler."""
