"""Tir passes on buffers: where they lie, when they are filled."""
