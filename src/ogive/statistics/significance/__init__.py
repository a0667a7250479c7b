"""The result of a hypothesis test, and tails of laws of sampling and noise together."""
