"""The CPU backend: LLVM assembly, machine code, the run-time pool."""
