"""Models of Keras: `.keras` archives and whole models in HDF5 files, read without Keras."""
