"""AUC between groups: every group's positives against every group's negatives, in one release."""
