"""Tir passes that compile checks into kernels."""
