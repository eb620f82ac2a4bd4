"""Relay passes that give parts of a graph to external compilers, and what these declare."""
