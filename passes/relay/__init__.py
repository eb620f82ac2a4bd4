"""Passes over relay: one file each, the pass named after the file."""
