"""Keys, shares, masks and proofs of them: bytes in, bytes out; knows nothing of records, statistics or noise."""
