"""Tir passes that change loops and conditions."""
