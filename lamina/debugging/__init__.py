"""Finding faults: random programs (`lamina fuzz`), what they are compared with, and how a find is made small."""
