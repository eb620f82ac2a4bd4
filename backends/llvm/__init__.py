"""LLVM assembly from the llvm dialect: the text that all targets of LLVM share."""
