"""Relay passes that choose how tensors lie in memory, and in which form ops are computed."""
