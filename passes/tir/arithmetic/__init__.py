"""Tir passes on arithmetic: expansions, contractions, rounding."""
