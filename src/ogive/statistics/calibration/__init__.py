"""The Hosmer-Lemeshow test of predicted probabilities."""
