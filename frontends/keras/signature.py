"""The first bytes of HDF5 files."""

MAGIC = b"\x89HDF\r\n\x1a\n"
"""The signature (HDF5 File Format Specification, II.A)."""
