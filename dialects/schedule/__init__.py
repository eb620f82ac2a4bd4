"""Schedule primitives: the ops inside a te.schedule, and what each does to the loops (`nest/`)."""
