"""Edits of loop nests: what schedule primitives do to tir."""
