"""The run-time as IR: what compiled programs need beside their kernels, as modules of the llvm level."""
