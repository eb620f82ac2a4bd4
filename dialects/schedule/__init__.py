"""Schedule primitives: the ops inside a te.schedule, each with its edit of the loops (`primitives/`)."""
