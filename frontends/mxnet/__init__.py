"""Symbols of MXNet: a graph as JSON, and `.params` files of arrays."""
