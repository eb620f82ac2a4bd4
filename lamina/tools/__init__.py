"""Generators of files that are kept in the repository; a test checks that each is fresh."""
