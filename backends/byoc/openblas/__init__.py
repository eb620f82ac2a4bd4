"""OpenBLAS, as NumPy's wheel brings it: products of matrices, and convolutions as such products."""
