"""Relay passes that compute or merge while the program is compiled: constants, pads, factors, transposes."""
