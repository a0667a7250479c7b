"""The volume under a ROC surface from randomized reports."""
