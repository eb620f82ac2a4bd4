"""Relay passes that decide which ops become one kernel."""
