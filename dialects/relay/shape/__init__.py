"""Ops that move, choose or make elements."""
