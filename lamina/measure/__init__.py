"""Times and their statistics, profiles of kernels, how far results are apart."""
