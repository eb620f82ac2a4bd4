"""Elementwise and broadcasting arithmetic."""
