"""Tir passes on threads, of CPUs and GPUs."""
