"""Path noise: every point gets the noise of the blocks above it."""
