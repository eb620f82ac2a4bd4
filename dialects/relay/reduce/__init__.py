"""Sums and other reductions along axes."""
