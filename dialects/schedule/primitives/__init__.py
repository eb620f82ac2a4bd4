"""The schedule primitives: one op each, with a picture of what it does to the loops."""
