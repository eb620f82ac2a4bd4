"""Running of compiled programs, and the interpreters that define what they should give."""
