"""Linear scores that rank one class above the other, learnt from noisy gradients over pairs of records."""
