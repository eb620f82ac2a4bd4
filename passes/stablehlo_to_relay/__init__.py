"""The stair from StableHLO to Relay, its rules by subject."""
