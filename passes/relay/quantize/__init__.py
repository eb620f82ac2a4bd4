"""Relay passes on quantised programs and on narrower number types."""
