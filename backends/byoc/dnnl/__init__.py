"""oneDNN, under the name that TVM gives it."""
