"""The stair `tir-to-llvm`: the parts of a body that is replayed as llvm ops; the pass itself is `tir_to_llvm.py`."""
