"""The parts of the stair `tir-to-llvm`; the pass itself is `passes/tir_to_llvm.py`."""
