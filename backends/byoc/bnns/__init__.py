"""Apple's BNNS: what it takes, so that programs can be parted; nothing is run."""
