"""Relay passes that replace ops by fewer or simpler ones."""
