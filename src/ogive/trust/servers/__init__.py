"""Non-colluding servers that answer from shares, which clients upload once."""
