"""The virtual machine: programs with control flow, data types and extents that only arrays tell."""
