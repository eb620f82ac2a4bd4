"""The parts of opt-tool: its options, what it shows between passes, expected diagnostics, lists and help."""
