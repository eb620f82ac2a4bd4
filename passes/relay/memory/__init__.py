"""Relay passes that place values on devices and in memory."""
