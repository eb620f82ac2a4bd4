"""Gradients of ops that are more than a line."""
