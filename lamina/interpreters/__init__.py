"""Meaning of programs, without code generation: relay by the ops' oracles, te and tir by interpreters."""
