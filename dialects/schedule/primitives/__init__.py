"""The schedule primitives, a file each: the op, a picture of what it does to the loops, and the edit that does it."""
