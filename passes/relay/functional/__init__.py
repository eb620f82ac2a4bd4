"""Relay passes on functions, scopes, data types and gradients."""
