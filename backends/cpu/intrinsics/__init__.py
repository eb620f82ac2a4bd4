"""Tensor intrinsics of the CPU, each found by the name of its file (`lamina/ir/intrinsics.py`)."""
