"""StableHLO's text, which JAX and other users of XLA write."""
