"""How many records there are of each of some declared categories."""
