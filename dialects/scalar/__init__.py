"""Arithmetic on numbers and on vectors, lane by lane: what xDSL's arith and math ops compute, and their terms."""
